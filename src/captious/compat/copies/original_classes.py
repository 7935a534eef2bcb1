"""The scorers and tokenizers of the toolkits: how to recognize copies of them, and what replaces them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["ORIGINALS", "Original"]


def _words(*words: str) -> frozenset[str]:
    return frozenset(words)


@dataclass(frozen=True)
class Original:
    """A class of a toolkit.

    A copy has the same public methods, with the same parameters. What else must hold, so that its scores are those of
    the replacement, is listed here.
    """

    name: str
    #: The module below ``captious.compat`` that has its replacement, under the same name.
    module: str
    #: The method that does its work, and the parameters that this method requires.
    method: str = "compute_score"
    required: tuple[str, ...] = ("gts", "res")
    #: A parameter of ``__init__`` by which it is told from the classes of other toolkits that have its name.
    told_by: str = ""
    #: Whether its code must call ``min``, or must not: CIDEr-D clips counts, CIDEr does not. None for either.
    clips: bool | None = None
    #: Texts that its code must have, such as options of a Java program.
    texts: frozenset[str] = frozenset()
    #: The only numbers that its code may have; empty where numbers do not matter.
    numbers: frozenset[float] = frozenset()
    #: The class that counts for it: if that is no copy, this one is none either.
    counter: str = ""
    #: Whether it starts Java, so that its copies may have parameters about files and processes, which are ignored.
    starts_java: bool = False


_COCO, _AUTHORS, _MESHED = "pycocoevalcap", "pyciderevalcap", "meshed_memory"
_COUNTER: dict[str, Any] = {"required": (), "numbers": frozenset({0, 1, 2, 4, 6, 10})}
_TOKENIZER: dict[str, Any] = {
    "method": "tokenize",
    "required": ("captions_for_image",),
    "texts": _words("-preserveLines", "-lowerCase"),
    "starts_java": True,
}

#: Of those that have the same name, the first that fits counts.
ORIGINALS = (
    Original("Bleu", f"{_COCO}.bleu.bleu", texts=_words("closest"), counter="BleuScorer"),
    Original(
        "BleuScorer",
        f"{_COCO}.bleu.bleu_scorer",
        required=(),
        texts=_words("closest", "average", "shortest"),
        numbers=frozenset({0, 1, 2, 4, 1e-9, 1e-15}),
    ),
    Original("Cider", f"{_AUTHORS}.cider.cider", told_by="df", texts=_words("image_id"), counter="CiderScorer"),
    Original("Cider", f"{_MESHED}.cider.cider", told_by="gts", counter="CiderScorer"),
    Original("Cider", f"{_COCO}.cider.cider", counter="CiderScorer"),
    Original("CiderD", f"{_AUTHORS}.ciderD.ciderD", told_by="df", texts=_words("image_id"), counter="CiderScorer"),
    Original("CiderScorer", f"{_AUTHORS}.ciderD.ciderD_scorer", told_by="df_mode", clips=True, **_COUNTER),
    Original("CiderScorer", f"{_AUTHORS}.cider.cider_scorer", told_by="df_mode", clips=False, **_COUNTER),
    Original("CiderScorer", f"{_MESHED}.cider.cider_scorer", told_by="doc_frequency", clips=True, **_COUNTER),
    Original("CiderScorer", f"{_COCO}.cider.cider_scorer", clips=True, **_COUNTER),
    Original("Meteor", f"{_COCO}.meteor.meteor", texts=_words("-l", "en", "-norm", "-stdio"), starts_java=True),
    Original("Rouge", f"{_COCO}.rouge.rouge", numbers=frozenset({0, 1, 1.2, 2})),
    Original("Spice", f"{_COCO}.spice.spice", texts=_words("-cache", "-subset"), starts_java=True),
    Original("PTBTokenizer", f"{_AUTHORS}.tokenizer.ptbtokenizer", told_by="_source", **_TOKENIZER),
    Original("PTBTokenizer", f"{_COCO}.tokenizer.ptbtokenizer", **_TOKENIZER),
    Original("PTBTokenizer", f"{_MESHED}.tokenizer", **{**_TOKENIZER, "required": ("corpus",)}),
)
