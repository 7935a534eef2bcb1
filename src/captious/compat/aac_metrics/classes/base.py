"""What the classes share, ``aac_metrics.classes.base``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import torch

from captious.compat.aac_metrics.inputs import check_metric_inputs

__all__ = ["AACMetric", "CaptionsMetric"]


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
        """The scores of all captions added so far."""

    def reset(self) -> None:
        """Forget all captions."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The scores of these captions and those added before, which are then forgotten."""
        self.update(*args, **kwargs)
        scores = self.compute()
        self.reset()
        return scores


class CaptionsMetric(AACMetric):
    """A metric that is a function of captions.

    Args:
        function: scores candidates and references.
        names: of its scores.
        return_all_scores: whether to return the scores of sentences, too.
        options: further arguments of the function.
    """

    higher_is_better = True
    min_value = 0.0
    max_value = 1.0

    def __init__(
        self, function: Callable[..., Any], names: tuple[str, ...], return_all_scores: bool = True, **options: Any
    ) -> None:
        super().__init__()
        self._function = function
        self._names = names
        self._options = {"return_all_scores": return_all_scores, **options}
        self._candidates: list[str] = []
        self._mult_references: list[list[str]] = []

    def update(self, candidates: list[str], mult_references: list[list[str]]) -> None:
        """Add captions.

        Raises:
            ValueError: not a list of candidates and a list of lists of references.
        """
        check_metric_inputs(candidates, mult_references)
        self._candidates += candidates
        self._mult_references += mult_references

    def compute(self) -> Any:
        """What the function returns for all captions added so far."""
        return self._function(self._candidates, self._mult_references, **self._options)

    def reset(self) -> None:
        """Forget all captions."""
        self._candidates, self._mult_references = [], []

    def get_output_names(self) -> tuple[str, ...]:
        """The names of the scores."""
        return self._names
