"""A model that compares two captions of an image: its parameters, its prompt, and the interpretation of its answers."""

from __future__ import annotations

from captious.metrics.shared.judges.model_judge import ModelJudge, Reading, first_object
from captious.models.endpoints import Answer


class PairwiseJudge(ModelJudge):
    """Preference of a model between two captions. Statistics (k = 2): points of the first, 0, .5 or 1; 1 if there
    is a verdict.
    """

    name = "judge-pairwise"
    summary = "which of two captions a model behind an endpoint prefers"
    prompts = "pairwise"
    places = ("a", "b")

    @property
    def reading(self) -> Reading:
        return preference


def preference(answer: Answer) -> float | None:
    """Return 1 if an answer prefers A, 0 for B, .5 for a tie; None if it does not say so in a JSON object."""
    better = first_object(answer).get("better")
    return {"a": 1.0, "b": 0.0, "tie": 0.5}.get(better.strip().lower()) if isinstance(better, str) else None
