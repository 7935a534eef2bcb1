"""The functions of aac-metrics that captious does not have: an error when they are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from captious.errors import ParameterError

__all__ = ["NAMES", "bert_score_mrefs", "clap_sim", "fense", "fer", "left_out", "mace", "sbert_sim"]
__all__ += ["spider_fl", "spider_max", "vocab"]

#: What ``evaluate`` calls them.
NAMES = ("bert_score", "clap_sim", "fer", "fense", "mace", "sbert_sim", "spider_max", "spider_fl", "vocab")


def left_out(name: str) -> ParameterError:
    """The error that a metric is."""
    return ParameterError(
        f"captious does not have {name} of aac-metrics",
        help="name the metrics to compute, such as meteor and spider, and compute the others with aac-metrics itself",
    )


def _function(name: str) -> Callable[..., NoReturn]:
    def refuse(*arguments: Any, **options: Any) -> NoReturn:
        raise left_out(name)

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Raises ParameterError: captious does not have this metric."
    return refuse


bert_score_mrefs = _function("bert_score")
clap_sim = _function("clap_sim")
fense = _function("fense")
fer = _function("fer")
mace = _function("mace")
sbert_sim = _function("sbert_sim")
spider_fl = _function("spider_fl")
spider_max = _function("spider_max")
vocab = _function("vocab")
