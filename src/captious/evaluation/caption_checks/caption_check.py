"""``check``: detection of properties of captions that make scores misleading, without scoring."""

from __future__ import annotations

from typing import Any, Unpack

from captious.data import Captions, CaptionSets, read_captions
from captious.data.image_matching import MatchOptions
from captious.errors import EmptyInputError
from captious.evaluation.caption_checks.caption_findings import KINDS, CaptionFindings, Finding
from captious.evaluation.systems import name_of
from captious.phrases import counted
from captious.results.displayed import Displayed
from captious.results.table import Cell, Column, Row, Table, json_document
from captious.version import __version__


class CaptionCheck(Displayed):
    """The result of ``check`` for the captions of a system.

    Attributes:
        system: name of the system.
        findings: all findings about candidates, including those too rare for a warning.
        warnings: the warnings that ``captious.score`` would issue, one sentence each.
        n_candidates, n_references: numbers of captions.
        words: PTB tokens per candidate, and per reference of its image; 0 without references.
    """

    def __init__(self, system: str, captions: Captions | CaptionSets) -> None:
        counted = CaptionFindings.of(captions)
        self.system = system
        self.n_candidates, self.n_references = counted.n, counted.references
        self.words = tuple(words / counted.n for words in counted.words)
        self.findings = [
            Finding(kind, n, counted.n, examples)
            for kind, (n, examples) in ((kind, counted.candidates.get(kind, (0, ()))) for kind in KINDS)
            if n
        ]
        self.warnings = counted.warnings

    def to_table(self) -> Table:
        """Return a table with a row for each kind of finding that these captions can have."""
        columns = [
            Column("candidates", form="count"),
            Column("share", form="percent"),
            Column("image_id", align="left"),
        ]
        by_kind = {finding.kind: finding for finding in self.findings}
        kinds = [kind for kind in KINDS if self.n_references or not KINDS[kind].needs_references]
        findings = [by_kind.get(kind, Finding(kind, 0, self.n_candidates, ())) for kind in kinds]
        rows = [
            Row(finding.kind, [Cell(finding.n), Cell(finding.n / finding.of), Cell(", ".join(finding.examples))])
            for finding in findings
        ]
        records = [
            {
                "system": self.system,
                "kind": finding.kind,
                "candidates": finding.n,
                "share": finding.n / finding.of,
                "examples": " ".join(finding.examples),
            }
            for finding in findings
        ]
        lengths = f"{self.words[0]:.1f} words per candidate"
        if self.n_references:
            lengths += f", {self.words[1]:.1f} per reference"
        title = (
            f"{self.system}: {counted(self.n_candidates, 'candidate')}, "
            f"{counted(self.n_references, 'reference')}, {lengths}."
        )
        notes = self.warnings or ["Nothing that would make scores misleading."]
        return Table(columns, rows, records, self.to_dict(), title=title, caption=title, notes=notes)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values, as printed by ``captious check --format json``."""
        return json_document(
            {
                "version": __version__,
                "name": self.system,
                "n_candidates": self.n_candidates,
                "n_references": self.n_references,
                "words_per_candidate": self.words[0],
                "words_per_reference": self.words[1] if self.n_references else None,
                "findings": {
                    finding.kind: {"candidates": finding.n, "examples": [*finding.examples]}
                    for finding in self.findings
                },
                "warnings": self.warnings,
            }
        )


def check(
    candidates: object,
    references: object = None,
    *,
    system: str | None = None,
    several: bool = False,
    **options: Unpack[MatchOptions],
) -> CaptionCheck:
    """Check captions before they are scored: Markdown, answers to a prompt, lengths, languages, repetitions, ...

    Args:
        candidates, references, several: as for ``score``. Without references, only the candidates themselves are
            checked.
        system: name of the system; by default that of its file, or "candidates".
        options: subset, clean, columns and split, as for ``score``.

    Raises:
        InputError: invalid captions.
        EmptyInputError: no captions.
    """
    captions = read_captions(candidates, references, several=several, **options)
    system = name_of(candidates, "candidates") if system is None else system
    if not len(captions):
        raise EmptyInputError("there are no captions", where=system, help="give the captions of at least one image")
    return CaptionCheck(system, captions)
