"""A challenge as a streamed zip file: captions, scores, signatures, its folder, and instructions to reproduce it.

A public archive has only public data: submissions on leaderboards, captions and references of public
captions files, and captions only of teams that agreed. It includes metadata for a DOI. No archive
contains private references.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.crypto import salted_hmac

from captious.files.row_files import csv_row, csv_text
from captious.server.boards.archive_definition import archive_definition, baselines
from captious.server.boards.archive_readme import archive_readme
from captious.server.boards.datacite import datacite_record
from captious.server.boards.formulas import harmless
from captious.server.boards.visible_scores import rounded_outputs
from captious.server.challenges.challenge_metrics import FILE_SETTINGS
from captious.server.challenges.folder import FILE_NAME
from captious.server.local_times import utc_time
from captious.server.models import Challenge, Phase, Submission
from captious.server.scoring.board_outputs import sets_of
from captious.server.streamed_zip import content, zip_blocks
from captious.server.submissions import storage

#: The columns of the table of scores: a row for each submission, reference set and output.
COLUMNS = (
    *("submission", "method", "team", "submitted", "entry", "baseline", "human", "link", "phase", "captions"),
    *("references", "output", "score", "low", "high", "signature"),
)


@dataclass(frozen=True)
class ChallengeArchive:
    """The submissions of a challenge that have scores, the oldest first.

    Args:
        phase: only this one; by default, all phases.
        is_public: whether only public data is included.
        anonymous: whether submissions, methods and teams are numbered, without times and links.
    """

    challenge: Challenge
    phase: Phase | None = None
    is_public: bool = False
    anonymous: bool = False
    _teams: dict[object, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        phase = "" if self.phase is None else f"-{self.phase.name}"
        return f"{self.challenge.slug}{phase}{'-public' if self.is_public else ''}.zip"

    @property
    def title(self) -> str:
        return f"{self.challenge.title}{'' if self.phase is None else f': {self.phase}'}"

    @cached_property
    def phases(self) -> list[Phase]:
        """The phases whose submissions are in the archive."""
        return [phase for phase in self._requested_phases if not self.is_public or phase.is_board_open]

    @cached_property
    def withheld(self) -> list[Phase]:
        """The phases that are left out because their scores are not public."""
        return [phase for phase in self._requested_phases if phase not in self.phases]

    @cached_property
    def _requested_phases(self) -> list[Phase]:
        if self.phase is not None:
            return [self.phase]
        phases = self.challenge.phase_list
        if self.is_public:
            return phases
        retired = (phase for phase in self.challenge.phases.all() if phase.is_retired)
        return phases + [phase for phase in retired if Submission.objects.scored().filter(phase=phase).exists()]

    def submissions(self) -> QuerySet[Submission]:
        """The submissions in the archive."""
        rows = Submission.objects.scored().filter(phase__in=self.phases).exclude(status=Submission.Status.DELETED)
        if self.is_public:
            rows = rows.filter(~Q(phase__entries="one") | Q(is_entry=True), public=True, is_hidden=False)
        return rows.select_related("team", "phase__challenge", "shown_scores").order_by("pk")

    def captions_files(self, phase: Phase) -> list[str]:
        """The captions files in the archive: all, or the public ones in a public archive."""
        return [name for name in phase.captions if not self.is_public or self.challenge.is_public(name)]

    def with_captions(self) -> QuerySet[Submission]:
        """The submissions with captions in the archive: all, or baselines and teams that agreed in a public one."""
        rows = self.submissions().filter(phase__in=[phase for phase in self.phases if self.captions_files(phase)])
        return rows.filter(Q(may_publish=True) | Q(is_baseline=True)) if self.is_public else rows

    def setting_files(self) -> list[str]:
        """The files of the challenge that settings of metrics name.

        They are included only if all captions files are public: they may derive from private references.
        """
        folder, values = self.challenge.folder, self.challenge.definition.settings
        paths = [folder / values[name] for name in FILE_SETTINGS if name in values and not Path(values[name]).anchor]
        files = [file for path in paths for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file()]
        return sorted(file.relative_to(folder).as_posix() for file in files)

    @property
    def has_setting_files(self) -> bool:
        return all(captions.public for captions in self.challenge.definition.captions)

    def rows(self) -> Iterator[list[Any]]:
        """The table of scores. Scores are exact where references are public, and otherwise rounded as on pages."""
        sets = {phase.pk: sets_of(phase) for phase in self.phases}
        for submission in self._in_order(self.submissions()):
            number, time = self._number(submission), utc_time(submission.created)
            shows_names = not self.anonymous or submission.is_baseline
            cells = [number, submission.method if shows_names else f"Submission {number}", self._team(submission)]
            cells.append(time if shows_names else "")
            cells += [submission.is_entry, submission.is_baseline, submission.is_human]
            cells += ["" if self.anonymous else submission.link, submission.phase.name]
            for key, references in sets[submission.phase_id].items():
                scores = submission.outputs(key)
                is_exact = self.challenge.is_public(references.captions)
                outputs = scores if is_exact else rounded_outputs(scores, submission.phase)
                for output, entry in outputs.items():
                    values = [entry[name] for name in ("score", "low", "high", "signature")]
                    yield [*cells, references.captions, references.name, output, *values]

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

    def _in_order(self, rows: QuerySet[Submission]) -> Iterable[Submission]:
        """Submissions by their names in the archive."""
        return sorted(rows, key=self._number) if self.anonymous else rows.iterator(chunk_size=100)

    def _number(self, submission: Submission) -> int:
        """The name of a submission in the archive."""
        return self._numbers[submission.pk] if self.anonymous else int(submission.pk)

    @cached_property
    def _numbers(self) -> dict[int, int]:
        """Numbers for submissions without names, in an order that nothing on the site reveals."""
        ids = self.submissions().values_list("pk", flat=True)
        order = sorted(ids, key=lambda pk: salted_hmac("captious.archive", str(pk), algorithm="sha256").hexdigest())
        return {pk: number for number, pk in enumerate(order, 1)}

    def _files(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        yield "README.md", iter([archive_readme(self).encode()])
        lines = (csv_row([*map(harmless, row)]) for row in self.rows())
        yield "scores.csv", (text.encode() for text in chain([csv_text(COLUMNS, [])], lines))
        if self.submissions().exists():
            yield "scores.parquet", _parquet(self.rows())
        if self.is_public:
            yield "datacite.json", iter([self._metadata().encode()])
        challenge = self.challenge
        yield f"challenge/{FILE_NAME}", iter([archive_definition(self).encode()])
        names = {text.file for text in challenge.definition.texts}
        names |= {row["file"] for row in challenge.downloads}
        names |= {challenge.definition.logo} - {""}
        names |= {row.file for row in challenge.definition.references if challenge.is_public(row.captions)}
        names |= {*baselines(self)}
        names |= {*self.setting_files()} if self.has_setting_files else set()
        for name in sorted(names):
            if (challenge.folder / name).is_file():
                yield f"challenge/{name}", content(challenge.folder / name)
        for submission in self._in_order(self.with_captions()):
            for captions in self.captions_files(submission.phase):
                path = storage.captions_file(submission.folder, captions)
                if path.is_file():
                    yield f"captions/{self._number(submission)}/{captions}.json", content(path)

    def _metadata(self) -> str:
        names = [self._team(row) for row in self.with_captions() if not row.is_baseline and not row.anonymous]
        formats = ["text/csv", "application/vnd.apache.parquet", "application/json", "application/toml"]
        teams = [] if self.anonymous else names
        record = datacite_record(self.challenge, self.title, self.phases, teams, formats)
        return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def _parquet(rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """The table of scores as a parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.table(dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))), out)
    yield out.getvalue()
