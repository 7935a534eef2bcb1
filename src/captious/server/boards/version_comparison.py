"""The scores of submissions before and after the references, metrics or program of their phase have changed."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from django.db.models import QuerySet
from django.db.models.fields.json import KeyTransform
from numpy.typing import NDArray

from captious.server.boards.leaderboard_query import Query
from captious.server.boards.ranking import HOLM_ROWS, Rows, rank_rows
from captious.server.boards.shown_digits import rounded
from captious.server.models import Phase, Scores, Submission
from captious.server.scoring.stored_results import read_resampled

#: Submissions of a phase that are ranked in both versions while a page is made.
MOST_RANKED = HOLM_ROWS


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
    """An output of a submission in two versions; None where it has no score.

    Attributes:
        rank_before, rank_after: as on leaderboards, among all public submissions with scores of that version.
    """

    submission: Submission
    before: float | None
    after: float | None
    rank_before: int | None
    rank_after: int | None

    @property
    def difference(self) -> float | None:
        return None if self.before is None or self.after is None else self.after - self.before

    @property
    def climbed(self) -> int | None:
        """By how much the rank is better; negative if it is worse."""
        if self.rank_before is None or self.rank_after is None:
            return None
        return self.rank_before - self.rank_after


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


def rows_of(query: Query, versions: ComparedVersions) -> list[VersionRow]:
    """The output of a query for all submissions, the best after the change first, then the best before."""
    before, after = (_scores(query, version) for version in (versions.before, versions.after))
    ranks_before, ranks_after = (
        _ranks(query, version, len(before | after)) for version in (versions.before, versions.after)
    )
    rows = [
        VersionRow(row, before.get(row.pk), after.get(row.pk), ranks_before.get(row.pk), ranks_after.get(row.pk))
        for row in versions.submissions
    ]
    sign = 1 if query.lower_is_better else -1
    return sorted(rows, key=lambda row: (_order(row.after, sign), _order(row.before, sign), -row.submission.pk))


def _order(score: float | None, sign: int) -> float:
    return inf if score is None else sign * score


def signatures_of(query: Query, versions: ComparedVersions) -> list[tuple[int, list[str]]]:
    """Each version, with the signatures of the output's scores: more than one if it was changed without a new one."""
    entry = KeyTransform("signature", KeyTransform(query.output, KeyTransform(query.key, "outputs")))
    changes = []
    for version in (versions.before, versions.after):
        rows = Scores.objects.filter(submission__phase=query.phase, version=version).order_by("pk")
        changes.append((version, [text for text in dict.fromkeys(rows.values_list(entry, flat=True)) if text]))
    return changes


def _scores(query: Query, version: int) -> dict[int, float]:
    """The rounded scores of a version, by submission."""
    entry = KeyTransform("score", KeyTransform(query.output, KeyTransform(query.key, "outputs")))
    rows = Scores.objects.filter(submission__phase=query.phase, version=version).values_list("submission", entry)
    scores = {pk: rounded(score, query.phase.digits) for pk, score in rows if score is not None}
    return {pk: score for pk, score in scores.items() if score is not None}


def _ranks(query: Query, version: int, n: int) -> dict[int, int]:
    """The ranks of public submissions in a version, from the tests of leaderboards; none for very many."""
    if n > MOST_RANKED:
        return {}
    public = Scores.objects.filter(submission__phase=query.phase, version=version).order_by("pk")
    public = public.filter(submission__public=True, submission__is_hidden=False).select_related("submission")
    scores: dict[int, float] = {}
    resampled: list[NDArray[np.floating]] = []
    for row in public:
        score = row.outputs.get(query.key, {}).get(query.output, {}).get("score")
        of_row = read_resampled(row.submission.folder / row.results_file, query.key, query.output)
        if score is not None and of_row is not None:
            scores[row.submission_id] = score
            resampled.append(of_row)
    if not scores:
        return {}
    sign = -1.0 if query.lower_is_better else 1.0
    least = min(map(len, resampled))  # the first of more are the same
    exact = sign * np.array([*scores.values()])
    shown = np.array([rounded(score, query.phase.digits) for score in exact.tolist()], dtype=np.float64)
    ranks = rank_rows(Rows(exact, shown, sign * np.array([each[:least] for each in resampled])))
    return dict(zip(scores, ranks.tolist(), strict=True))
