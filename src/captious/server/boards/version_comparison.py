"""The scores of submissions before and after the references, metrics or program of their phase have changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from math import inf

import numpy as np
from django.db.models import Count, Max, QuerySet
from django.db.models.fields.json import KeyTransform
from numpy.typing import NDArray

from captious.server.boards.leaderboard_query import Query
from captious.server.boards.ranking import HOLM_ROWS, RankedScores, rank_rows
from captious.server.boards.shown_digits import rounded
from captious.server.challenges.challenge_metrics import directions_of
from captious.server.models import Phase, Scores, Submission
from captious.server.scoring.stored_results import read_resampled

#: Submissions of a phase that are ranked in both versions while a page is made.
MAX_RANKED = HOLM_ROWS


@dataclass(frozen=True)
class ScoredVersion:
    """A version of the scores of a phase.

    Attributes:
        n: number of submissions with such scores.
        finished: time of the last scoring.
        program: the version of captious that scored them.
    """

    number: int
    n: int
    finished: datetime
    program: str


@dataclass(frozen=True)
class ComparedVersions:
    """Two versions of a phase.

    Attributes:
        before, after: version numbers; 0 if there is none.
        scored_versions: all versions in which something was scored, the latest first.
        submissions: those with scores of either version, newest first.
    """

    before: int
    after: int
    scored_versions: list[ScoredVersion]
    submissions: QuerySet[Submission]

    def n_scored(self, version: int) -> int:
        """The number of submissions with scores of a version."""
        return next((row.n for row in self.scored_versions if row.number == version), 0)

    @property
    def programs(self) -> tuple[str, str] | None:
        """The versions of captious before and after, if they differ."""
        by = {row.number: row.program for row in self.scored_versions}
        before, after = by.get(self.before, ""), by.get(self.after, "")
        return (before, after) if before and before != after else None


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
    def rank_gain(self) -> int | None:
        """The improvement of the rank; negative if it is worse."""
        if self.rank_before is None or self.rank_after is None:
            return None
        return self.rank_before - self.rank_after


def compare_versions(phase: Phase, before: int = 0, after: int = 0) -> ComparedVersions:
    """Two versions of the scores of a phase.

    Args:
        before, after: their numbers. By default, or if there are no such scores, the last one and the one that the
            board shows, or the last two.
    """
    scores = Scores.objects.filter(submission__phase=phase)
    rows = scores.order_by("-version").values("version")
    scored_versions = [
        ScoredVersion(row["version"], row["n"], row["last"], row["by"])
        for row in rows.annotate(n=Count("pk"), last=Max("finished"), by=Max("program"))
    ]
    numbers = [row.number for row in scored_versions]
    after = after if after in numbers else max(numbers, default=0)
    earlier_numbers = [number for number in numbers if number < after]
    default = phase.shown_version if phase.shown_version < after else next(iter(earlier_numbers), 0)
    before = before if before in numbers else default
    with_scores = scores.filter(version__in=[before, after]).values("submission")
    submissions = Submission.objects.filter(pk__in=with_scores).select_related("team")
    return ComparedVersions(before, after, scored_versions, submissions)


def outputs_of(query: Query, versions: ComparedVersions) -> list[str]:
    """The outputs of either version on a reference set: those of the board, then those that only another one has."""
    names = [*query.outputs.names]
    for version in (versions.after, versions.before):
        row = Scores.objects.filter(submission__phase=query.phase, version=version).order_by("pk").first()
        names += [] if row is None else row.outputs.get(query.key, {})
    return [*dict.fromkeys(names)]


def lower_is_better(query: Query) -> bool:
    """Return whether lower scores of the output are better, also if the board no longer has it."""
    if query.output in query.outputs.names:
        return query.lower_is_better
    try:
        return directions_of(query.output).get(query.output) is True
    except ValueError:  # this version of captious does not have it
        return False


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
    sign = 1 if lower_is_better(query) else -1
    return sorted(rows, key=lambda row: (_order(row.after, sign), _order(row.before, sign), -row.submission.pk))


def _order(score: float | None, sign: int) -> float:
    return inf if score is None else sign * score


def signatures_of(query: Query, versions: ComparedVersions) -> list[tuple[int, list[str]]]:
    """The signatures of the output in each version: several if it changed without a new version."""
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
    """The ranks of public submissions in a version, by the tests of leaderboards; empty if there are too many."""
    if n > MAX_RANKED:
        return {}
    rows = Scores.objects.filter(submission__phase=query.phase, version=version).order_by("pk")
    rows = rows.filter(submission__public=True, submission__is_hidden=False).select_related("submission")
    scores: dict[int, float] = {}
    resampled: list[NDArray[np.floating]] = []
    for row in rows:
        score = row.outputs.get(query.key, {}).get(query.output, {}).get("score")
        values = read_resampled(row.submission.folder / row.results_file, query.key, query.output)
        if score is not None and values is not None:
            scores[row.submission_id] = score
            resampled.append(values)
    if not scores:
        return {}
    sign = -1.0 if lower_is_better(query) else 1.0
    n_resamples = min(map(len, resampled))  # the first resamples are the same
    exact = sign * np.array([*scores.values()])
    rounded_scores = np.array([rounded(score, query.phase.digits) for score in exact.tolist()], dtype=np.float64)
    matrix = sign * np.array([row_values[:n_resamples] for row_values in resampled])
    ranks = rank_rows(RankedScores(exact, rounded_scores, matrix, query.outputs.counts[query.key]))
    return dict(zip(scores, ranks.tolist(), strict=True))
