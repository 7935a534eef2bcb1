"""The scores of submissions before and after the references, metrics or program of their phase have changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import QuerySet
from django.db.models.fields.json import KeyTransform

from captious.server.boards.leaderboard_query import Query
from captious.server.boards.shown_digits import rounded
from captious.server.models import Phase, Scores, Submission


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
        place_before, place_after: 1 for the best score, equal scores share a place. No test is behind it, as behind
            ranks of leaderboards.
    """

    submission: Submission
    before: float | None
    after: float | None
    place_before: int | None
    place_after: int | None

    @property
    def difference(self) -> float | None:
        return None if self.before is None or self.after is None else self.after - self.before

    @property
    def climbed(self) -> int | None:
        """The number of places gained; negative for places lost."""
        if self.place_before is None or self.place_after is None:
            return None
        return self.place_before - self.place_after


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
    """The output of a query for all submissions, by their places after, then before."""
    before, after = (_scores(query, version) for version in (versions.before, versions.after))
    places_before, places_after = _places(query, before), _places(query, after)
    rows = [
        VersionRow(row, before.get(row.pk), after.get(row.pk), places_before.get(row.pk), places_after.get(row.pk))
        for row in versions.submissions
    ]
    last = len(rows) + 1
    return sorted(rows, key=lambda row: (row.place_after or last, row.place_before or last, -row.submission.pk))


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


def _places(query: Query, scores: Mapping[int, float]) -> dict[int, int]:
    order = sorted(scores.values(), reverse=not query.lower_is_better)
    first: dict[float, int] = {}
    for place, score in enumerate(order, 1):
        first.setdefault(score, place)
    return {pk: first[score] for pk, score in scores.items()}
