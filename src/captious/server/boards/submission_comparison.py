"""The comparison of two submissions with the library's paired bootstrap, from their stored results."""

from __future__ import annotations

from dataclasses import dataclass

from captious.evaluation.inference.paired_tests import effect_size
from captious.evaluation.inference.resampling import Sampling, bootstrap_p_value
from captious.server.boards.leaderboard_query import Query
from captious.server.boards.ranking import SIGNIFICANCE
from captious.server.boards.shown_digits import effect_digits, p_digits, rounded, rounded_ends
from captious.server.models import Submission
from captious.server.scoring.stored_results import read_results


@dataclass(frozen=True)
class ComparedOutput:
    """The difference between two submissions in one output, b minus a, as ``captious compare`` computes it.

    All numbers are rounded to the digits of the phase. If the rounded difference is 0, there are no p value and effect
    size, which would reveal which submission is better.

    Attributes:
        difference: between the scores that are shown.
        low, high: 95% paired bootstrap interval of the difference.
        p: two-sided p value of the paired bootstrap.
        effect_size: Cohen's d of paired caption scores.
        lower_is_better: whether a negative difference means that b is better.
    """

    name: str
    score_a: float
    score_b: float
    difference: float
    low: float | None
    high: float | None
    p: float | None
    effect_size: float | None
    lower_is_better: bool
    signature: str

    @property
    def is_significant(self) -> bool:
        return self.p is not None and self.p < SIGNIFICANCE

    @property
    def is_better(self) -> bool:
        """Whether b is better than a."""
        return self.difference != 0 and (self.difference < 0) == self.lower_is_better


def compare_submissions(a: Submission, b: Submission, query: Query) -> list[ComparedOutput]:
    """Compare two submissions in every shared output, in the order of the leaderboard: the ranking one first.

    The files are read; nothing is scored.
    """
    results_a, results_b = (read_results(submission.results_path, query.key) for submission in (a, b))
    if results_a is None or results_b is None:
        return []
    outputs = []
    digits = query.phase.digits
    for name in dict.fromkeys([query.output, *query.outputs.names, *results_a.outputs]):
        if name not in results_a.outputs or name not in results_b.outputs:
            continue
        i, j = results_a.outputs.index(name), results_b.outputs.index(name)
        entries = [submission.outputs(query.key)[name] for submission in (a, b)]
        score_a, score_b = (entry["score"] for entry in entries)
        if score_a is None or score_b is None:
            continue
        rounded_a, rounded_b = round(score_a, digits), round(score_b, digits)
        n = min(len(results_a.resampled), len(results_b.resampled))  # the first resamples are the same
        resampled = results_b.resampled[:n, j] - results_a.resampled[:n, i]
        difference = round(rounded_b - rounded_a, digits)
        ends = Sampling().interval(resampled)
        low, high = rounded_ends(min(ends[0], difference), max(ends[1], difference), digits)
        n_images = len(results_a.per_caption)
        p = bootstrap_p_value(score_b - score_a, resampled, scale=max(abs(score_a), abs(score_b)), n_images=n_images)
        effect = effect_size(results_b.per_caption[:, j] - results_a.per_caption[:, i])
        differs = rounded_a != rounded_b
        outputs.append(
            ComparedOutput(
                name=name,
                score_a=rounded_a,
                score_b=rounded_b,
                difference=difference,
                low=low,
                high=high,
                p=rounded(p, p_digits(digits)) if differs else None,
                effect_size=rounded(effect, effect_digits(digits)) if differs else None,
                lower_is_better=name in query.outputs.lower_is_better,
                signature=entries[0]["signature"],
            )
        )
    return outputs
