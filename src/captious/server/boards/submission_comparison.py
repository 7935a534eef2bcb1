"""Two submissions compared: the paired bootstrap of the library, from what was stored when they were scored."""

from __future__ import annotations

from dataclasses import dataclass

from captious.evaluation.paired_tests import effect_size
from captious.evaluation.resampling import Sampling, bootstrap_p_value
from captious.server.boards.leaderboard_query import Query
from captious.server.models import Submission
from captious.server.scoring.stored_results import read_results

__all__ = ["ComparedOutput", "compare_submissions"]


@dataclass(frozen=True)
class ComparedOutput:
    """The difference between two submissions in one output, b minus a, as ``captious compare`` computes it.

    Attributes:
        low, high: 95% paired bootstrap interval of the difference.
        p: two-sided p value of the paired bootstrap.
        effect_size: Cohen's d of paired caption scores.
        lower_is_better: whether a negative difference means that b is better.
    """

    name: str
    score_a: float
    score_b: float
    difference: float
    low: float
    high: float
    p: float
    effect_size: float
    lower_is_better: bool
    signature: str


def compare_submissions(a: Submission, b: Submission, query: Query) -> list[ComparedOutput]:
    """Compare two submissions in every output that both have. The files are read; nothing is scored."""
    stored_a, stored_b = (read_results(submission.results_path, query.key) for submission in (a, b))
    if stored_a is None or stored_b is None:
        return []
    compared = []
    for name in stored_a.outputs:
        if name not in stored_b.outputs:
            continue
        i, j = stored_a.outputs.index(name), stored_b.outputs.index(name)
        entries = [submission.outputs(query.key)[name] for submission in (a, b)]
        scores = [entry["score"] for entry in entries]
        if None in scores:
            continue
        difference = scores[1] - scores[0]
        n = min(len(stored_a.resampled), len(stored_b.resampled))  # the first of more are the same
        resampled = stored_b.resampled[:n, j] - stored_a.resampled[:n, i]
        low, high = Sampling().interval(resampled)
        compared.append(
            ComparedOutput(
                name=name,
                score_a=scores[0],
                score_b=scores[1],
                difference=difference,
                low=low,
                high=high,
                p=bootstrap_p_value(difference, resampled, scale=max(map(abs, scores))),
                effect_size=effect_size(stored_b.per_caption[:, j] - stored_a.per_caption[:, i]),
                lower_is_better=name in query.challenge.definition.lower_is_better,
                signature=entries[0]["signature"],
            )
        )
    return compared
