"""What others call the outputs of metrics: the COCO caption toolkit and its leaderboard, and tables of papers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias, get_args

from captious.errors import UnknownNameError

__all__ = ["NAMES", "TOOLKIT_NAMES", "Names", "renamed"]

Names: TypeAlias = Literal["captious", "toolkit", "paper"]
#: Whose names tables can show.
NAMES: tuple[Names, ...] = get_args(Names)

_ORDERS = (1, 2, 3, 4)
#: Output -> its name in the toolkit.
TOOLKIT_NAMES: Mapping[str, str] = {f"bleu-{n}": f"Bleu_{n}" for n in _ORDERS} | {
    "meteor": "METEOR",
    "rouge-l": "ROUGE_L",
    "cider-d": "CIDEr",
    "spice": "SPICE",
}
_PAPER_NAMES: Mapping[str, str] = {f"bleu-{n}": f"B@{n}" for n in _ORDERS} | {
    "meteor": "M",
    "rouge-l": "R-L",
    "cider-d": "C",
    "spice": "S",
    "spider": "SPIDEr",
    "bertscore-p": "BERTScore-P",
    "bertscore-r": "BERTScore-R",
    "bertscore-f": "BERTScore",
    "clipscore": "CLIP-S",
    "refclipscore": "RefCLIP-S",
    "chair-s": "CHAIR-s",
    "chair-i": "CHAIR-i",
    "wmd": "WMD",
}
_BY_WHOSE: Mapping[str, Mapping[str, str]] = {"captious": {}, "toolkit": TOOLKIT_NAMES, "paper": _PAPER_NAMES}


def renamed(label: str, names: Names) -> str:
    """A label with the name of its output as others have it; its variant and parameters stay.

    Args:
        label: such as "cider-d" or "bleu-4:tokenizer=whitespace".
        names: whose names; what they have no name for keeps ours.

    Raises:
        UnknownNameError: nobody's names.
    """
    if names not in _BY_WHOSE:
        raise UnknownNameError(f"there are no names {names!r}", help=f"choose {', '.join(NAMES)}")
    end = next((place for place, c in enumerate(label) if c in "@: "), len(label))
    return _BY_WHOSE[names].get(label[:end], label[:end]) + label[end:]
