"""Leaderboards: ranked and sorted rows, the comparison of two submissions, and both as files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import HttpRequest, StreamingHttpResponse

from captious.files import csv_row
from captious.statistics import Sampling, bootstrap_p_value, effect_size
from captious_server.boards.fields import Value, board_fields
from captious_server.boards.query import (
    Query,
    choosers,
    histories,
    matching_submissions,
    own_places,
    query_from,
    rounded_outputs,
    standing_of,
)
from captious_server.boards.query import choices as choices_of
from captious_server.boards.ranking import (
    HOLM_ROWS,
    SIGNIFICANCE,
    corrected_rows,
    effect_digits,
    p_digits,
    rounded,
    rounded_ends,
)
from captious_server.challenges.definition import BOARD_HEADS, FieldDefinition
from captious_server.models import Phase, Scores, Standing, Submission
from captious_server.people.access import Visitor, challenge_for
from captious_server.scoring.results import read_results
from captious_server.settings import utc_time
from captious_server.submissions.storage import attachment

# A leaderboard: the submissions of a phase on one reference set, ranked and sorted, with links to other views.

#: Rows of a page of a leaderboard.
ROWS_PER_PAGE = 100
_MAX_OWN_ROWS = 20
_BATCH_ROWS = 250  # rows in memory while a file is sent


@dataclass(frozen=True)
class BoardCell:
    """A score with its interval."""

    name: str
    score: float | None
    low: float | None
    high: float | None
    best: bool
    signature: str


@dataclass(frozen=True)
class BoardRow:
    """A submission on the board; the rank is None where it has no score.

    Attributes:
        cells: one for each column, in column order.
        fields: the fields of the challenge that are columns, each with its value.
        history: the scores of the team over time in the ranking output.
    """

    rank: int | None
    submission: Submission
    cells: list[BoardCell]
    fields: list[tuple[FieldDefinition, Value | None]]
    history: Sequence[float] = ()


@dataclass(frozen=True)
class Board:
    """A page of a leaderboard.

    Attributes:
        page: the page of places, with 100 each.
        rows: the rows on this page.
        own_rows: the reader's rows on other pages, the first 20.
        own: the submissions of the reader.
        ranks: a sentence on the computation of ranks.
    """

    query: Query
    phases: list[dict[str, Any]]
    sets: list[dict[str, Any]]
    columns: list[dict[str, Any]]
    page: Page[int]
    rows: list[BoardRow]
    own_rows: list[BoardRow]
    own: set[int]
    n_images: int
    ranks: str

    @property
    def phase(self) -> Phase:
        return self.query.phase

    @property
    def main(self) -> str:
        """The ranking output, which comes first and is drawn."""
        return self.query.output

    @property
    def scale(self) -> tuple[float, float]:
        """The common scale of the drawings of scores in ``main``."""
        return scales_of((*self.rows, *self.own_rows)).get(self.main, (0.0, 0.0))

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """Links to the board ranked by each output, for narrow screens, which show only one."""
        lower = self.query.outputs.lower_is_better
        return [
            {
                "text": name,
                "url": replace(self.query, output=name, by_date=False, ascending=name in lower).url(),
                "current": name == self.main,
            }
            for name in self.query.outputs.names
        ]

    @property
    def fields(self) -> list[FieldDefinition]:
        """The fields of submissions that are columns."""
        return board_fields(self.query.challenge)

    @property
    def has_histories(self) -> bool:
        return any(len(row.history) > 1 for row in self.rows)

    @property
    def lower_is_better(self) -> str:
        """The outputs where lower scores are better, separated by commas."""
        return ", ".join(self.query.outputs.lower_is_better)

    @property
    def date_sort_order(self) -> str:
        return "" if not self.query.by_date else "ascending" if self.query.ascending else "descending"

    @cached_property
    def urls(self) -> dict[str, str]:
        """Addresses of other views. "history" reverses the order if it is shown; "captions" is empty if private."""
        query = self.query
        return {
            "entries": replace(query, everything=False).url(),
            "submissions": replace(query, everything=True).url(),
            "history": replace(query, by_date=True, ascending=query.by_date and not query.ascending).url(),
            "unfiltered": replace(query, find="").url(),
            "json": query.url("leaderboard_json"),
            "csv": query.url("leaderboard_csv"),
            "compare": query.url("compare"),
            "captions": query.url("captions") if query.challenge.is_public(query.references.captions) else "",
        }


def board(query: Query, user: Visitor, page: int | str | None = 1) -> Board:
    """A page of the leaderboard, and the reader's own rows of other pages. Nothing is computed: see ranking.py.

    Args:
        page: its number; the nearest one if there is no such page.
    """
    standing = standing_of(query)
    order = _order(query, standing)
    current_page = Paginator(order, ROWS_PER_PAGE).get_page(page)
    own = own_places(query, standing, user)
    distant_places = (
        [i for i in order if i in own and i not in set(current_page.object_list)][:_MAX_OWN_ROWS] if own else []
    )
    rows = _with_histories([*rows_at(query, standing, [*current_page.object_list, *distant_places])], query)
    page_ids = {standing.submissions[i] for i in current_page.object_list}
    return Board(
        query=query,
        **choosers(query, user),
        columns=[_column(name, query, rows) for name in query.outputs.names],
        page=current_page,
        rows=[row for row in rows if row.submission.pk in page_ids],
        own_rows=[row for row in rows if row.submission.pk not in page_ids],
        own={standing.submissions[i] for i in own},
        n_images=int(query.outputs.counts.get(query.key, 0)),
        ranks=_ranks(query, standing),
    )


def all_rows(query: Query) -> Iterator[BoardRow]:
    """Iterate over all rows of the leaderboard, with a limited number in memory at a time."""
    standing = standing_of(query)
    order = _order(query, standing)
    for begin in range(0, len(order), _BATCH_ROWS):
        yield from rows_at(query, standing, order[begin : begin + _BATCH_ROWS])


def as_json(rows: Iterable[BoardRow], query: Query) -> Iterator[str]:
    """The leaderboard as the parts of a JSON document, a list of objects."""
    lower = [*query.outputs.lower_is_better]
    separator = "["
    for row in rows:
        cells = {cell.name: cell for cell in row.cells if cell.signature}
        values = {
            "id": row.submission.pk,
            "method": row.submission.method,
            "team": row.submission.team_shown,
            "rank": row.rank,
            "scores": {cell.name: cell.score for cell in row.cells},
            "intervals": {name: [cell.low, cell.high] for name, cell in cells.items()},
            "signatures": {cell.name: cell.signature for cell in row.cells},
            "lower_is_better": lower,
            "baseline": row.submission.is_baseline,
            "human": row.submission.is_human,
            "submitted": utc_time(row.submission.created),
            "fields": {field.name: value for field, value in row.fields if value is not None},
            "url": row.submission.url,
            "phase": query.phase.name,
            "references": query.key,
        }
        yield f"{separator}{json.dumps(values)}"
        separator = ",\n"
    yield "[]" if separator == "[" else "]"


def as_table(rows: Iterable[BoardRow], query: Query) -> tuple[list[str], Iterator[list[object]]]:
    """The leaderboard as a table: its heads, and its rows."""
    outputs = query.outputs.names
    header = [*BOARD_HEADS, *(field.name for field in board_fields(query.challenge)), *outputs]
    header += [f"{name}_{side}" for name in outputs for side in ("low", "high")]
    header += [f"{name}_signature" for name in outputs]
    lines: Iterator[list[object]] = (
        [
            row.rank,
            row.submission.method,
            row.submission.team_shown,
            utc_time(row.submission.created),
            row.submission.is_baseline,
            row.submission.is_human,
            *(value for _, value in row.fields),
            *(cell.score for cell in row.cells),
            *(end for cell in row.cells for end in (cell.low, cell.high)),
            *(cell.signature or None for cell in row.cells),
        ]
        for row in rows
    )
    return header, lines


def _ranks(query: Query, standing: Standing) -> str:
    """A sentence on the computation of ranks."""
    definition, direction = query.challenge.definition, " (lower is better)" if query.lower_is_better else ""
    begin = f"Ranked by {query.output}{direction}"
    if definition.ranks == "tests":
        begin += ": a rank is 1 plus the number of submissions that are significantly better (paired bootstrap over "
        return f"{begin}images, {_correction(standing)})."
    ties = definition.tie_breaks if query.output == query.outputs.rank_by else ()
    return f"{begin}, without tests{'; ties are broken by ' * bool(ties)}{', '.join(ties)}."


def _correction(standing: Standing) -> str:
    n = sum(rank is not None for rank in standing.ranks)
    level = f"{100 * SIGNIFICANCE:.0f}%"
    if n <= HOLM_ROWS:
        return f"{level}, Holm's correction"
    return f"{level}, Bonferroni's correction for all pairs of {corrected_rows(n):,} submissions"


def _with_histories(rows: list[BoardRow], query: Query) -> list[BoardRow]:
    """Rows with the scores of their teams over time, where the board shows one row of each team."""
    if query.everything:
        return rows
    teams = {row.submission.team_id for row in rows if _has_history(row.submission)}
    histories_by_team = histories(query, teams) if teams else {}
    return [
        replace(row, history=histories_by_team.get(row.submission.team_id, ())) if _has_history(row.submission) else row
        for row in rows
    ]


def _has_history(submission: Submission) -> bool:
    return not (submission.anonymous or submission.is_baseline)


def _order(query: Query, standing: Standing) -> list[int]:
    """Places of a standing in the requested order: equal scores by time of submission, missing ones last."""
    matches = matching_submissions(query)
    places = [i for i, pk in enumerate(standing.submissions) if matches is None or pk in matches]
    if query.by_date:
        rows = Submission.objects.filter(phase=query.phase)
        times = dict(rows.values_list("pk", "created"))
        dated_places = [i for i in places if standing.submissions[i] in times]
        dated_places.sort(key=lambda i: standing.submissions[i])
        return sorted(dated_places, key=lambda i: times[standing.submissions[i]], reverse=not query.ascending)
    if query.ascending == query.lower_is_better:
        return places
    sign = 1.0 if query.ascending else -1.0

    def key(i: int) -> tuple[bool, float, int]:
        score = standing.scores[i]
        return (score is None, 0.0 if score is None else sign * score, standing.submissions[i])

    return sorted(places, key=key)


def rows_at(query: Query, standing: Standing, places: Sequence[int]) -> Iterator[BoardRow]:
    """The rows at those places that a board has, without those hidden or deleted since it was computed."""
    by_id = {standing.submissions[i]: i for i in places if i < len(standing.submissions)}
    scores = Scores.objects.filter(version=standing.version, submission__in=[*by_id])
    visible = scores.filter(submission__public=True, submission__is_hidden=False).select_related("submission__team")
    scores_by_id = {
        row.submission_id: row for row in visible.defer("set_keys", "set_warnings", "submission__traceback")
    }
    outputs, fields = query.outputs.names, board_fields(query.challenge)
    for pk, place in by_id.items():
        if pk in scores_by_id:
            submission = scores_by_id[pk].submission
            values = [(field, submission.fields.get(field.name)) for field in fields]
            entries = rounded_outputs(scores_by_id[pk].outputs.get(query.key, {}), query.phase)
            cells = [_cell(name, entries.get(name, {}), standing.best.get(name)) for name in outputs]
            yield BoardRow(standing.ranks[place], submission, cells, values)


def scales_of(rows: Iterable[BoardRow]) -> dict[str, tuple[float, float]]:
    """Output -> the ends of all its intervals."""
    ends: dict[str, list[float]] = {}
    for cell in (cell for row in rows for cell in row.cells):
        if cell.low is not None and cell.high is not None:
            ends.setdefault(cell.name, []).extend((cell.low, cell.high))
    return {name: (min(values), max(values)) for name, values in ends.items()}


def _cell(name: str, entry: Mapping[str, Any], best: float | None) -> BoardCell:
    score, low, high = (entry.get(key) for key in ("score", "low", "high"))
    return BoardCell(name, score, low, high, score is not None and score == best, entry.get("signature", ""))


def _column(name: str, query: Query, rows: Iterable[BoardRow]) -> dict[str, Any]:
    """An output as the head of a column."""
    is_sorted = name == query.output and not query.by_date
    lower = name in query.outputs.lower_is_better
    link = replace(query, output=name, by_date=False, ascending=not query.ascending if is_sorted else lower)
    signatures = (cell.signature for row in rows for cell in row.cells if cell.name == name)
    return {
        "name": name,
        "url": link.url(),
        "sort_order": "" if not is_sorted else "ascending" if query.ascending else "descending",
        "signatures": [*dict.fromkeys(filter(None, signatures))],
        "lower_is_better": lower,
    }


# The comparison of two submissions with the library's paired bootstrap, from their stored results.


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


# Leaderboards and comparisons that an address asks for, and tables as files.

_PARTS_AT_A_TIME = 100  # parts of a file that are sent together


def requested_comparison(
    request: HttpRequest, slug: str
) -> tuple[Query, list[Submission], list[Submission | None], list[ComparedOutput]]:
    """The requested leaderboard, the submissions to choose from, the two to compare, and their differences.

    A submission that cannot be compared is None; then there are no differences.

    Raises:
        HiddenBoardError: the leaderboard is not shown to the user.
        Http404: there is no such challenge.
    """
    query = query_of(request, slug)
    systems = request.GET.getlist("systems")
    ids = [request.GET.get(name, "") for name in ("a", "b")] if not systems else [*systems, "", ""][:2]
    choices = choices_of(query, request.user, ids)
    a, b = (next((choice for choice in choices if str(choice.pk) == pk), None) for pk in ids)
    rows = compare_submissions(a, b, query) if a is not None and b is not None and a != b else []
    return query, choices, [a, b], rows


def query_of(request: HttpRequest, slug: str) -> Query:
    """The requested leaderboard.

    Raises:
        HiddenBoardError: it is not shown to the user.
        UnknownNameError: there is no such phase or reference set.
        Http404: there is no such challenge.
    """
    return query_from(challenge_for(request.user, slug), request.GET, request.user)


def json_file(query: Query) -> StreamingHttpResponse:
    """A leaderboard as JSON, sent while its rows are read. Scripts of other sites may read what visitors see."""
    blocks = _blocks(as_json(all_rows(query), query))
    return StreamingHttpResponse(blocks, "application/json", headers={"Access-Control-Allow-Origin": "*"})


def csv_file(heads: Sequence[str], rows: Iterable[Sequence[object]], name: str) -> StreamingHttpResponse:
    """A table as a streamed file of this name.

    Text that spreadsheets would run as a formula is made harmless, as in all tables.
    """
    return attachment(_blocks(map(csv_row, chain([heads], rows))), "text/csv; charset=utf-8", name)


def _blocks(parts: Iterable[str]) -> Iterator[str]:
    """Short texts joined to longer ones."""
    block: list[str] = []
    for part in parts:
        block.append(part)
        if len(block) >= _PARTS_AT_A_TIME:
            yield "".join(block)
            block.clear()
    yield "".join(block)
