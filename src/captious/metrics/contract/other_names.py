"""What others call the outputs of metrics: the COCO caption toolkit and its leaderboard, and tables of papers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal, TypeAlias, get_args

from captious.errors import UnknownNameError

Names: TypeAlias = Literal["captious", "toolkit", "paper"]
#: Whose names tables can show.
NAMES: tuple[Names, ...] = get_args(Names)

#: Names of a metric with certain parameters, which can be requested like a metric: name -> metric, parameters.
SHORT_NAMES: Mapping[str, tuple[str, Mapping[str, str]]] = {"chrf++": ("chrf", {"word_order": "2"})}

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


def ambiguous_names(labels: Collection[str]) -> list[str]:
    """A sentence about requested outputs whose name means something else in the toolkit.

    Args:
        labels: those of a run. If the toolkit's own output is among them, no sentence is needed.
    """
    outputs = {_parts(label)[0] for label in labels}
    if "cider" not in outputs or "cider-d" in outputs:
        return []
    return [
        "cider is CIDEr without clipping and length penalty; what papers and the COCO toolkit call CIDEr is cider-d."
    ]


def toolkit_hint(name: str) -> str:
    """For help: which names of the COCO toolkit begin with a name that we do not have, then a space; or empty."""
    lowered = name.lower().replace("-", "_")
    names = [
        (toolkit_name, output)
        for output, toolkit_name in TOOLKIT_NAMES.items()
        if toolkit_name.lower().startswith(f"{lowered}_")
    ]
    return "".join(f"the COCO toolkit's {toolkit_name} is {output}; " for toolkit_name, output in names)


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
    output, suffix = _parts(label)
    return _BY_WHOSE[names].get(output, output) + suffix


def _parts(label: str) -> tuple[str, str]:
    """The output of a label, and its variant and parameters."""
    end = next((place for place, c in enumerate(label) if c in "@: "), len(label))
    return label[:end], label[end:]
