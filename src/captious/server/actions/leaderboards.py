"""Leaderboards and comparisons that an address asks for, and tables as files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from django.http import Http404, HttpRequest, StreamingHttpResponse

from captious.files.row_files import csv_row, csv_text
from captious.server.actions.explained_errors import ExplainedError
from captious.server.boards import leaderboard as boards
from captious.server.boards.formulas import harmless
from captious.server.boards.leaderboard_query import Query, phase_from, query_from
from captious.server.boards.leaderboard_query import choices as choices_of
from captious.server.boards.submission_comparison import ComparedOutput, compare_submissions
from captious.server.models import Phase, Submission
from captious.server.people.access import challenge_for, may_see_board, why_hidden
from captious.server.scoring.board_outputs import BoardOutputs

_PARTS_AT_A_TIME = 100  # parts of a file that are sent together


class HiddenBoardError(ExplainedError):
    """A leaderboard that is hidden from the reader, who may know that its phase exists."""

    status = 403

    def __init__(self, phase: Phase) -> None:
        super().__init__(f"The leaderboard of {phase} is not shown. {why_hidden(phase)}")
        self.phase = phase


class UnknownNameError(ExplainedError):
    """An address with an unknown phase or reference set."""

    status = 404

    def __init__(self, kind: str, name: str, names: Iterable[str]) -> None:
        super().__init__(f"There is no {kind} {name!r:.80}; known are {', '.join(names) or 'none'}.")


class ComparisonRequest(NamedTuple):
    """The two requested submissions; None for one that cannot be compared."""

    query: Query
    choices: list[Submission]
    a: Submission | None
    b: Submission | None


def requested_comparison(request: HttpRequest, slug: str) -> tuple[ComparisonRequest, list[ComparedOutput]]:
    """The submissions to compare, and their differences, which are empty unless there are two submissions.

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
    return ComparisonRequest(query, choices, a, b), rows


def query_of(request: HttpRequest, slug: str) -> Query:
    """The requested leaderboard.

    Raises:
        HiddenBoardError: it is not shown to the user.
        UnknownNameError: there is no such phase or reference set.
        Http404: there is no such challenge.
    """
    challenge = challenge_for(request.user, slug)
    query = query_from(challenge, request.GET, request.user)
    if query is None:
        phase = phase_from(challenge.phase_list, request.GET)
        if phase is None and "phase" in request.GET:
            raise UnknownNameError("phase", request.GET["phase"], (row.name for row in challenge.phase_list))
        if phase is None:
            raise Http404
        if may_see_board(request.user, phase):
            name = request.GET.get("references", "")
            raise UnknownNameError("reference set", name, BoardOutputs.of_board(phase).sets)
        raise HiddenBoardError(phase)
    return query


def json_file(query: Query) -> StreamingHttpResponse:
    """A leaderboard as JSON, sent while its rows are read."""
    return StreamingHttpResponse(_blocks(boards.as_json(boards.all_rows(query), query)), "application/json")


def csv_file(heads: Sequence[str], rows: Iterable[Sequence[object]], name: str) -> StreamingHttpResponse:
    """A table as a streamed file of this name.

    Text that spreadsheets would interpret as a formula is prefixed with an apostrophe.
    """
    safe = ([*map(harmless, row)] for row in rows)
    lines = chain([csv_text(heads, [])], (csv_row(row) for row in safe))
    response = StreamingHttpResponse(_blocks(lines), "text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _blocks(parts: Iterable[str]) -> Iterator[str]:
    """Short texts joined to longer ones."""
    block: list[str] = []
    for part in parts:
        block.append(part)
        if len(block) >= _PARTS_AT_A_TIME:
            yield "".join(block)
            block.clear()
    yield "".join(block)
