"""Attributes that SPICE counts separately: numbers, colours and sizes.

Numbers and colours are those of the official program. The first list of sizes has those that show in its scores of some
80,000 captions; the others are words for size that none of these captions has.
"""

from __future__ import annotations

__all__ = ["CATEGORY_OF"]

_NUMBERS = "one two three four five six seven eight nine ten"
_COLORS = "beige black blue brown cream dark gray green grey light maroon orange pink purple red violet white yellow"
_SIZES = (
    "baby big bony compact curvy enormous expansive fat full-size gaunt giant gigantic grand great heavy huge large "
    "lean life-size little massive mini miniature narrow overweight plump scanty short skinny slender small squat "
    "sturdy tall thick thin tiny trim vast wide"
)
_OTHER_SIZES = (
    "ample boundless brawny bulky burly colossal cosmic elephantine elfin emaciated endless epic extensive fleshy "
    "gargantuan hefty hulking illimitable immeasurable immense infinitesimal lanky limitless mammoth meager measly "
    "mega microscopic minuscule minute monstrous obese oversize petite pint-size pocket-size portly prodigious puny "
    "rangy scraggy scrawny sizable skeletal skimpy slim stocky stout strapping teensy teeny thickset titanic "
    "towering tubby undersized unlimited wee whopping"
)

#: cardinality, color or size, by word.
CATEGORY_OF: dict[str, str] = {
    **dict.fromkeys(_NUMBERS.split(), "cardinality"),
    **dict.fromkeys(_COLORS.split(), "color"),
    **dict.fromkeys(f"{_SIZES} {_OTHER_SIZES}".split(), "size"),
}
