"""``PaperIndex``: all tables of papers that ``reproduce`` knows, as one table."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import shorten

from captious.errors import CaptiousError
from captious.judgment.papers import paper_names
from captious.judgment.papers.paper import Paper
from captious.judgment.reproduction.paper_checks import check_table, one_line
from captious.judgment.reproduction.reproduction_result import FOLD
from captious.results.displayed import Displayed
from captious.results.table import Cell, Column, Row, Table
from captious.version import __version__

_MOST_IN_CELL = 50  # characters

#: Meanings of the states of tables.
STATES = {
    "reproduced": "published figures are the same here, or within our interval",
    "differs": "some published figures differ, and it is known why",
    "not comparable": "figures are published, but ours are of other data or training",
    "computed": "captious computes it, but no figure is published or at hand",
    "command": "another command computes it",
    "needs": "nothing can be computed without what captious does not bring",
}


class PaperIndex(Displayed):
    """All tables and figures of all papers, with their state and the reason.

    A paper of another package that cannot be loaded, or has unknown names, has the state "broken".

    Args:
        papers: by default, all known papers.
    """

    def __init__(self, papers: Sequence[Paper] | None = None) -> None:
        self.papers: list[Paper] = []
        self.broken: dict[str, str] = {}
        for name in paper_names.names() if papers is None else ():
            try:
                paper = paper_names.get(name)
                for table in paper.tables:
                    check_table(paper, table)
                self.papers.append(paper)
            except CaptiousError as error:
                self.broken[name] = one_line(error)
        self.papers += papers or ()

    def to_table(self) -> Table:
        """Return a table with one row per table, in a section for every paper."""
        keys = ("paper", "table", "place", "state", "needs", "differs", "shows", "status")
        records: list[dict[str, object]] = [
            {
                "paper": paper.name,
                "table": table.name,
                "place": table.place,
                "state": table.state,
                "needs": table.needs_text,
                "differs": table.differs,
                "shows": table.shows,
                "status": table.status,
            }
            for paper in self.papers
            for table in paper.tables
        ]
        records += [
            {**dict.fromkeys(keys, ""), "paper": name, "state": "broken", "status": reason}
            for name, reason in self.broken.items()
        ]
        rows = [
            Row(
                str(record["table"] or "(all)"),
                [
                    Cell(record["place"]),
                    Cell(record["state"]),
                    Cell(shorten(str(record["needs"]), _MOST_IN_CELL, placeholder=" ...")),
                ],
                section=str(record["paper"]),
            )
            for record in records
        ]
        title = "Tables and figures of papers: captious reproduce PAPER TABLE"
        return Table(
            columns=[Column(head, align="left") for head in ("place", "state", "needs")],
            rows=rows,
            records=records,
            document={"version": __version__, "tables": records},
            title=title,
            caption=title,
            fold=FOLD,
            notes=[
                *(f"{paper.name}: {paper.title}" for paper in self.papers),
                *(
                    f"{record['paper']} {record['table']}: {record['status']}".replace(" :", ":")
                    for record in records
                    if record["needs"] or record["differs"] or record["state"] == "broken"
                ),
                *(f"{state}: {meaning}." for state, meaning in STATES.items()),
            ],
        )
