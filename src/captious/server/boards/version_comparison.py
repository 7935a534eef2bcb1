"""The scores of submissions before and after the references, metrics or program of their phase have changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from captious.server.boards.leaderboard_query import Query
from captious.server.boards.visible_scores import rounded_outputs
from captious.server.models import Phase, Scores, Submission

__all__ = ["ComparedVersions", "VersionRow", "compare_versions", "rows_of"]


@dataclass(frozen=True)
class ComparedVersions:
    """Two versions of a phase, 0 if there is no earlier one.

    Attributes:
        is_shown: the board shows the later one; otherwise it shows the earlier one until all is scored.
        submissions: what has scores of either version, the newest first.
        n_after: how many have those of the later one.
    """

    before: int
    after: int
    is_shown: bool
    submissions: QuerySet[Submission]
    n_after: int


@dataclass(frozen=True)
class VersionRow:
    """An output of a submission in two versions; None where it has no score."""

    submission: Submission
    before: float | None
    after: float | None

    @property
    def difference(self) -> float | None:
        return None if self.before is None or self.after is None else self.after - self.before


def compare_versions(phase: Phase) -> ComparedVersions:
    """The version that is being scored and the one that is shown, or the last two if all is scored."""
    after = phase.scoring_version
    scores = Scores.objects.filter(submission__phase=phase)
    before = phase.shown_version
    if before == after:
        earlier = scores.filter(version__lt=after).order_by("-version").values_list("version", flat=True)
        before = earlier.first() or 0
    with_scores = scores.filter(version__in=[before, after]).values("submission")
    return ComparedVersions(
        before=before,
        after=after,
        is_shown=after == phase.shown_version,
        submissions=Submission.objects.filter(pk__in=with_scores).select_related("team"),
        n_after=scores.filter(version=after).count(),
    )


def rows_of(query: Query, versions: ComparedVersions, submissions: Sequence[Submission]) -> list[VersionRow]:
    """The output of a query for some of the submissions."""
    stored = Scores.objects.filter(submission__in=submissions, version__in=[versions.before, versions.after])
    scores: dict[tuple[int, int], float | None] = {}
    for row in stored:
        outputs: dict[str, dict[str, Any]] = rounded_outputs(row.outputs.get(query.key, {}), query.phase)
        scores[row.submission_id, row.version] = outputs.get(query.output, {}).get("score")
    return [
        VersionRow(row, scores.get((row.pk, versions.before)), scores.get((row.pk, versions.after)))
        for row in submissions
    ]
