"""A phase as one zip file, sent while it is made: captions, scores, signatures, the challenge, and what reproduces it.

A public archive has only what everybody may see: submissions on the leaderboard, captions and references of public
captions files, and captions only of teams that agreed; it has the metadata with which it is given a DOI. The references
that are private are in no archive.
"""

from __future__ import annotations

import io
import json
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import tomlkit
from django.conf import settings
from django.db.models import Q, QuerySet

from captious.row_files import csv_row, csv_text
from captious.server.boards.board_outputs import sets_of
from captious.server.boards.datacite import datacite_record
from captious.server.boards.formulas import harmless
from captious.server.boards.visible_scores import rounded_outputs
from captious.server.challenges.folder import FILE_NAME
from captious.server.models import Phase, Submission
from captious.server.streamed_zip import content, zip_blocks
from captious.server.submissions import storage
from captious.version import __version__

#: The columns of the table of scores: a row for each submission, reference set and output.
HEADS = (
    *("submission", "method", "team", "submitted", "entry", "baseline", "human", "link", "phase", "captions"),
    *("references", "output", "score", "low", "high", "signature"),
)


@dataclass(frozen=True)
class PhaseArchive:
    """The submissions of a phase that have scores, the oldest first.

    Args:
        is_public: only what everybody may see.
        anonymous: numbers in place of submissions, methods and teams, and neither times nor links.
    """

    phase: Phase
    is_public: bool = False
    anonymous: bool = False
    _teams: dict[object, str] = field(default_factory=dict)
    _numbers: dict[int, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.phase.challenge.slug}-{self.phase.name}{'-public' if self.is_public else ''}.zip"

    def submissions(self) -> QuerySet[Submission]:
        """Those that are in it."""
        rows = Submission.objects.scored().filter(phase=self.phase).exclude(status=Submission.Status.DELETED)
        if self.is_public:
            rows = rows.filter(public=True, is_hidden=False)
            if self.phase.entries == "one":
                rows = rows.filter(is_entry=True)
        return rows.select_related("team", "phase__challenge", "shown_scores").order_by("pk")

    def rows(self) -> Iterator[list[Any]]:
        """The table of scores. Scores are exact where references are public, and otherwise rounded as on pages."""
        sets, challenge = sets_of(self.phase), self.phase.challenge
        for submission in self.submissions().iterator(chunk_size=100):
            number, time = self._number(submission), submission.created.isoformat()
            is_named = not self.anonymous or submission.is_baseline
            about = [number, submission.method if is_named else f"Submission {number}", self._team(submission)]
            about.append(time if is_named else "")
            about += [submission.is_entry, submission.is_baseline, submission.is_human]
            about += ["" if self.anonymous else submission.link, self.phase.name]
            for key, references in sets.items():
                scores = submission.outputs(key)
                shown = scores if challenge.is_public(references.captions) else rounded_outputs(scores, self.phase)
                for output, entry in shown.items():
                    values = [entry[name] for name in ("score", "low", "high", "signature")]
                    yield [*about, references.captions, references.name, output, *values]

    def blocks(self) -> Iterator[bytes]:
        """The zip file."""
        return zip_blocks(self._files())

    def _team(self, submission: Submission) -> str:
        """The name of a team in the archive; in public ones, anonymous submissions have none."""
        if self.is_public and submission.anonymous:
            return submission.team_shown
        if not self.anonymous or submission.is_baseline:
            return str(submission.team.name)
        key = ("anonymous", submission.pk) if submission.anonymous else submission.team_id
        return self._teams.setdefault(key, f"Team {len(self._teams) + 1}")

    def _number(self, submission: Submission) -> int:
        """The name of a submission in the archive."""
        if not self.anonymous:
            return int(submission.pk)
        return self._numbers.setdefault(submission.pk, len(self._numbers) + 1)

    def _files(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        yield "README.md", iter([self._readme().encode()])
        lines = (csv_row([*map(harmless, row)]) for row in self.rows())
        yield "scores.csv", (text.encode() for text in chain([csv_text(HEADS, [])], lines))
        if self.submissions().exists():
            yield "scores.parquet", _parquet(self.rows())
        if self.is_public:
            yield "datacite.json", iter([self._metadata().encode()])
        challenge = self.phase.challenge
        yield f"challenge/{FILE_NAME}", iter([self._definition().encode()])
        names = {text.file for text in challenge.definition.texts}
        names |= {row["file"] for row in challenge.downloads}
        names |= {challenge.definition.logo} - {""}
        names |= {row.file for row in challenge.definition.references if challenge.is_public(row.captions)}
        for name in sorted(names):
            if (challenge.folder / name).is_file():
                yield f"challenge/{name}", content(challenge.folder / name)
        for submission in self._with_captions().iterator(chunk_size=100):
            for captions in self._captions_files():
                path = storage.captions_file(submission.folder, captions)
                if path.is_file():
                    yield f"captions/{self._number(submission)}/{captions}.json", content(path)

    def _captions_files(self) -> list[str]:
        """The captions files of submissions that are in it: all, or for everybody, the public ones."""
        challenge = self.phase.challenge
        return [name for name in self.phase.captions if not self.is_public or challenge.is_public(name)]

    def _with_captions(self) -> QuerySet[Submission]:
        """The submissions whose captions are in it: all, or for everybody, baselines and those of teams that agreed."""
        rows = self.submissions()
        return rows.filter(Q(may_publish=True) | Q(is_baseline=True)) if self.is_public else rows

    def _metadata(self) -> str:
        agreed = [self._team(row) for row in self._with_captions() if not row.is_baseline and not row.anonymous]
        formats = ["text/csv", "application/vnd.apache.parquet", "application/json", "application/toml"]
        teams = [] if self.anonymous else agreed
        return json.dumps(datacite_record(self.phase, teams, formats), indent=2, ensure_ascii=False) + "\n"

    def _definition(self) -> str:
        """challenge.toml, without those who have accounts on this server."""
        document: Any = tomlkit.parse((self.phase.challenge.folder / FILE_NAME).read_text(encoding="utf-8"))
        if self.is_public or self.anonymous:
            document.pop("organizers", None)
        return tomlkit.dumps(document)

    def _contents(self, *, has_captions: bool) -> str:
        """What folders are in it, for the README: whose captions, or why there are none."""
        n, n_with = self.submissions().count(), self._with_captions().count()
        if has_captions:
            whom = "each submission" if n == n_with else f"{n_with:,} of {n:,} submissions, whose teams agreed to it"
            return f"`captions/` has the captions of {whom}, `challenge/` the challenge."
        if not n:
            why = "no submission has scores"
        elif not self._captions_files():
            why = "the captions files of this phase are not public"
        else:
            why = "no team has agreed to that"
        return f"`challenge/` has the challenge. There are no captions, as {why}."

    def _scoring_commands(self, *, has_captions: bool) -> list[str]:
        """What computes scores once more, for the README: a command for each public reference set."""
        challenge, definition = self.phase.challenge, self.phase.challenge.definition
        sets = [row for row in self.phase.reference_sets.values() if challenge.is_public(row.captions)]
        if not sets:
            return ["They cannot be computed once more from this archive, as no references are public."]
        what = "they can be computed once more" if has_captions else "captions can be scored like that"
        lines = [f"Where references are public, {what}:", ""]
        for row in sets:
            words = ["captious", "score", f"captions/SUBMISSION/{row.captions}.json", f"challenge/{row.file}", "--ci"]
            words += [word for metric in definition.metrics for word in ("-m", metric)]
            for name, value in definition.settings.items():
                words += [f"--{name.replace('_', '-')}", value]
            lines += [f"    {shlex.join(words)}", ""]
        return lines

    def _about_metadata(self) -> list[str]:
        """What datacite.json is, for the README of a public archive."""
        lines = ["`datacite.json` has the attributes of a DOI by DataCite's schema 4.5."]
        if not self.phase.challenge.definition.organized_by:
            site = settings.CAPTIOUS.site_name
            lines.append(
                f"The challenge does not say who organized it, so the creator there is this site, {site}: edit it."
            )
        return lines

    def _readme(self) -> str:
        challenge, definition = self.phase.challenge, self.phase.challenge.definition
        has_captions = bool(self._captions_files()) and self._with_captions().exists()
        lines = [f"# {challenge.title}: {self.phase}", "", challenge.summary, ""]
        lines += [f"License: {definition.license}", ""] if definition.license else []
        lines += ["How to cite:", "", *(f"    {line}" for line in definition.citation.splitlines()), ""] * bool(
            definition.citation
        )
        lines += [
            *(self._about_metadata() if self.is_public else []),
            "`scores.csv` has a row for each submission, reference set and output, with 95% intervals and signatures.",
            self._contents(has_captions=has_captions),
            f"Scores were computed with captious {__version__}.",
            *self._scoring_commands(has_captions=has_captions),
        ]
        return "\n".join(lines)


def _parquet(rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """The table of scores as a parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.table(dict(zip(HEADS, map(list, zip(*rows, strict=True)), strict=True))), out)
    yield out.getvalue()
