"""The scorers and tokenizers of the toolkits: how to recognize their copies, and their replacements."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

__all__ = ["ORIGINALS", "Original"]


@dataclass(frozen=True)
class Original:
    """A class of a toolkit. A copy has the same public methods, with the same parameters, and gives the same scores."""

    name: str
    #: The module below ``captious.compat`` that has its replacement, under the same name.
    module: str
    #: The method that does its work, and the parameters that this method requires.
    method: str = "compute_score"
    required: tuple[str, ...] = ("gts", "res")
    #: A parameter of ``__init__`` that classes of this name in other toolkits do not have.
    told_by: str = ""
    #: Its trial, one of ``trials``.
    trial: str = "of_images"
    #: Whether it starts Java, so that its copies may have parameters about files and processes, which are ignored.
    starts_java: bool = False

    @property
    def replacement(self) -> type:
        """Captious's class."""
        replacement: type = getattr(import_module(f"captious.compat.{self.module}"), self.name)
        return replacement


_COCO, _AUTHORS, _MESHED = "pycocoevalcap", "pyciderevalcap", "meshed_memory"


def _counter(name: str, module: str, told_by: str = "", trial: str = "counter") -> Original:
    return Original(name, module, required=(), told_by=told_by, trial=trial)


def _tokenizer(module: str, required: str = "captions_for_image", told_by: str = "") -> Original:
    return Original(
        "PTBTokenizer", module, "tokenize", (required,), told_by, trial=f"tokenizer_of_{required}", starts_java=True
    )


#: Of several entries with the same name, the first that fits counts.
ORIGINALS = (
    Original("Bleu", f"{_COCO}.bleu.bleu"),
    _counter("BleuScorer", f"{_COCO}.bleu.bleu_scorer"),
    Original("Cider", f"{_AUTHORS}.cider.cider", told_by="df", trial="of_candidates"),
    Original("Cider", f"{_MESHED}.cider.cider", told_by="gts"),
    Original("Cider", f"{_COCO}.cider.cider"),
    Original("CiderD", f"{_AUTHORS}.ciderD.ciderD", told_by="df", trial="of_candidates"),
    _counter("CiderScorer", f"{_AUTHORS}.ciderD.ciderD_scorer", told_by="df_mode"),
    _counter("CiderScorer", f"{_AUTHORS}.cider.cider_scorer", told_by="df_mode"),
    _counter("CiderScorer", f"{_MESHED}.cider.cider_scorer", told_by="doc_frequency", trial="counter_of_images"),
    _counter("CiderScorer", f"{_COCO}.cider.cider_scorer"),
    Original("Meteor", f"{_COCO}.meteor.meteor", trial="meteor", starts_java=True),
    Original("Rouge", f"{_COCO}.rouge.rouge"),
    Original("Spice", f"{_COCO}.spice.spice", trial="spice", starts_java=True),
    _tokenizer(f"{_AUTHORS}.tokenizer.ptbtokenizer", told_by="_source"),
    _tokenizer(f"{_COCO}.tokenizer.ptbtokenizer"),
    _tokenizer(_MESHED, "corpus"),
)
