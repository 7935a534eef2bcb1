"""The metrics of ``aac_metrics.classes``, as ``torch.nn.Module``: they keep captions until ``compute``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import torch

from captious.compat.aac_metrics import bert_score, fluency
from captious.compat.aac_metrics import metric_functions as functions
from captious.compat.aac_metrics.inputs import check_metric_inputs
from captious.compat.aac_metrics.several_candidates import spider_max

__all__ = ["BLEU", "BLEU1", "BLEU2", "BLEU3", "BLEU4", "FENSE", "FER", "MACE", "METEOR", "ROUGEL", "SPICE", "AACMetric"]
__all__ += [
    "BERTScoreMRefs",
    "CIDErD",
    "CLAPSim",
    "KeptCaptions",
    "SBERTSim",
    "SPIDEr",
    "SPIDErFL",
    "SPIDErMax",
    "Vocab",
]


class AACMetric(torch.nn.Module):
    """A metric with ``update``, ``compute`` and ``reset``; calling it does all three."""

    full_state_update: ClassVar[bool | None] = False
    higher_is_better: ClassVar[bool | None] = None
    is_differentiable: ClassVar[bool | None] = False
    min_value: ClassVar[float] = -float("inf")
    max_value: ClassVar[float] = float("inf")

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Add captions."""

    def compute(self) -> Any:
        """Return the scores of all captions added so far."""

    def reset(self) -> None:
        """Remove all captions."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return the scores of these captions and those added before, and remove them all."""
        self.update(*args, **kwargs)
        scores = self.compute()
        self.reset()
        return scores


class KeptCaptions(AACMetric):
    """A metric that keeps captions."""

    def __init__(self) -> None:
        super().__init__()
        self.reset()

    def update(self, candidates: list[str], mult_references: list[list[str]]) -> None:
        """Add captions."""
        self._candidates += candidates
        self._mult_references += mult_references

    def reset(self) -> None:
        """Remove all captions."""
        self._candidates: list[str] = []
        self._mult_references: list[list[str]] = []


class _FunctionMetric(KeptCaptions):
    """A metric that is a function of ``metric_functions``.

    Args:
        return_all_scores: whether to return the scores of sentences, too.
        options: further arguments of the function.
    """

    higher_is_better = True
    min_value = 0.0
    max_value = 1.0

    _function: ClassVar[Callable[..., Any]]
    #: Names of the scores.
    _names: tuple[str, ...]

    def __init__(self, return_all_scores: bool = True, **options: Any) -> None:
        super().__init__()
        self._options = {"return_all_scores": return_all_scores, **options}

    def update(self, candidates: list[str], mult_references: list[list[str]]) -> None:
        """Add captions.

        Raises:
            ValueError: not a list of candidates and a list of lists of references.
        """
        check_metric_inputs(candidates, mult_references)
        super().update(candidates, mult_references)

    def compute(self) -> Any:
        """Return the result of the function for all captions added so far."""
        return type(self)._function(self._candidates, self._mult_references, **self._options)

    def get_output_names(self) -> tuple[str, ...]:
        """Return the names of the scores."""
        return self._names


class BLEU(_FunctionMetric):
    """BLEU of order n."""

    _function = functions.bleu

    def __init__(self, return_all_scores: bool = True, *, n: int = 4, **options: Any) -> None:
        super().__init__(return_all_scores, n=n, **options)
        self._names = (f"bleu_{n}",)


def _bleu_of_order(n: int) -> type[BLEU]:
    def init(self: BLEU, return_all_scores: bool = True, **options: Any) -> None:
        BLEU.__init__(self, return_all_scores, n=n, **options)

    contents = {"__init__": init, "__doc__": f"BLEU of order {n}.", "__module__": __name__}
    return type(f"BLEU{n}", (BLEU,), contents)


BLEU1, BLEU2, BLEU3, BLEU4 = map(_bleu_of_order, (1, 2, 3, 4))


class BERTScoreMRefs(_FunctionMetric):
    """BERTScore of several references."""

    _function, _names = bert_score.bert_score_mrefs, bert_score.NAMES


class CIDErD(_FunctionMetric):
    """CIDEr-D."""

    max_value = 10.0
    _function, _names = functions.cider_d, ("cider_d",)


class METEOR(_FunctionMetric):
    """METEOR."""

    _function, _names = functions.meteor, ("meteor",)


class ROUGEL(_FunctionMetric):
    """ROUGE-L."""

    _function, _names = functions.rouge_l, ("rouge_l",)


class SPICE(_FunctionMetric):
    """SPICE."""

    _function, _names = functions.spice, ("spice",)


class SPIDEr(_FunctionMetric):
    """SPIDEr."""

    max_value = 5.5
    _function, _names = functions.spider, ("cider_d", "spice", "spider")


class SPIDErMax(_FunctionMetric):
    """SPIDEr of the best of several candidates."""

    max_value = 5.5
    _function, _names = spider_max, ("cider_d_max", "spice_max", "spider_max")

    def update(self, mult_candidates: list[list[str]], mult_references: list[list[str]]) -> None:  # type: ignore[override]
        """Add captions, several candidates for each recording."""
        self._candidates += mult_candidates  # type: ignore[arg-type]
        self._mult_references += mult_references


class SBERTSim(_FunctionMetric):
    """Cosine of sentence vectors."""

    min_value = -1.0
    _function, _names = fluency.sbert_sim, ("sbert_sim",)


class _WithDetector(_FunctionMetric):
    """A metric with an error detector, which is looked up on construction."""

    _with_probs: ClassVar[bool] = False

    def __init__(self, return_all_scores: bool = True, *, echecker: Any = fluency.DETECTOR, **options: Any) -> None:
        super().__init__(return_all_scores, echecker=fluency.detector_of(echecker), **options)
        if options.get("return_probs", self._with_probs):
            self._names = (*self._names, *fluency.PROBABILITIES)


class FENSE(_WithDetector):
    """FENSE."""

    min_value = -1.0
    _function, _names = fluency.fense, ("sbert_sim", "fer", "fense")


class FER(_WithDetector):
    """Fluency error rate; it takes candidates and ignores references."""

    higher_is_better = False
    _function, _names = fluency.fer, ("fer",)

    def update(self, candidates: list[str], *ignored: Any, **ignored_too: Any) -> None:
        """Add candidates."""
        self._candidates += candidates

    def compute(self) -> Any:
        """Return the result of the function for all candidates added so far."""
        return fluency.fer(self._candidates, **self._options)


class SPIDErFL(_WithDetector):
    """SPIDEr-FL."""

    max_value = 5.5
    _with_probs = True
    _function, _names = fluency.spider_fl, ("cider_d", "spice", "spider", "spider_fl", "fer")


def _unsupported(name: str, metric: str) -> type[AACMetric]:
    def refuse(self: AACMetric, *arguments: Any, **options: Any) -> None:
        raise functions.unsupported(metric)

    summary = "Raises ParameterError when it is made: captious does not have this metric."
    return type(name, (AACMetric,), {"__init__": refuse, "__doc__": summary, "__module__": __name__})


CLAPSim = _unsupported("CLAPSim", "clap_sim")
MACE = _unsupported("MACE", "mace")
Vocab = _unsupported("Vocab", "vocab")
