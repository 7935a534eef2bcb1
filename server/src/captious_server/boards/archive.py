"""The archive of a challenge: a zip file with captions, scores, its folder, a README and metadata for a DOI."""

from __future__ import annotations

import io
import json
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import tomlkit
from django.conf import settings
from django.db.models import Q, QuerySet
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.crypto import salted_hmac

from captious.files import csv_row
from captious.statistics import DEFAULT_RESAMPLES
from captious.version import __version__
from captious_server.boards.fields import Value, as_text
from captious_server.boards.query import rounded_outputs
from captious_server.challenges.definition import (
    FILE_SETTINGS,
    ChallengeDefinition,
    FieldDefinition,
    ReferencesDefinition,
    public_label,
    public_path,
)
from captious_server.challenges.folder import FILE_NAME
from captious_server.models import Challenge, Phase, Submission
from captious_server.people.access import why_hidden
from captious_server.scoring.queue import sets_of
from captious_server.scoring.results import n_resamples
from captious_server.settings import utc_time
from captious_server.submissions import storage
from captious_server.submissions.storage import content, zip_blocks

# Metadata of a public archive in DataCite's schema 4.5, with which a DOI can be registered for it.

_CREATIVE_COMMONS = re.compile(r"CC[ -]?(?P<kind>0|BY(?:-(?:NC|SA|ND)){0,2})[ -](?P<version>\d\.\d)", re.IGNORECASE)
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"{}<>,;]*[^\s\"{}<>,;.)]")
_ARXIV = re.compile(r"\barxiv[.:/\s]{0,3}(?:org/abs/)?(\d{4}\.\d{4,5})", re.IGNORECASE)


def datacite_record(
    challenge: Challenge, title: str, phases: Sequence[Phase], teams: Iterable[str], formats: Iterable[str]
) -> dict[str, Any]:
    """The attributes of a DOI for the archive of a challenge, for DataCite's REST API, which adds the DOI.

    Args:
        phases: the phases in the archive, at least one.
        teams: the teams with captions in the archive.
        formats: media types of the files.
    """
    definition, now = challenge.definition, timezone.now()
    end = max(now if phase.closes is None or phase.closes > now else phase.closes for phase in phases)
    abstract = (
        f"Submissions with their scores, computed with captious {__version__}; README.md says how to do it again."
    )
    record: dict[str, Any] = {
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": "Captions of images with scores"},
        "titles": [{"title": title}],
        "creators": [*map(_creator, definition.organized_by)] or [_site()],
        "publisher": {"name": settings.CAPTIOUS.site_name},
        "publicationYear": str(end.year),
        "version": str(challenge.version),
        "formats": [*formats],
        "subjects": [{"subject": "image captioning"}, {"subject": "evaluation"}],
        "descriptions": [{"descriptionType": "Abstract", "description": f"{challenge.summary} {abstract}".strip()}],
    }
    optional = {
        "contributors": [{"name": name, "contributorType": "Producer"} for name in dict.fromkeys(teams)],
        "dates": [date for phase in phases for date in _dates(phase)],
        "rightsList": [_rights(definition.license)] if definition.license else [],
        "relatedIdentifiers": [*_publications(definition.citation), *_page(challenge)],
    }
    return record | {name: values for name, values in optional.items() if values}


def _creator(text: str) -> dict[str, Any]:
    """A person or institution; the text after a comma is the affiliation."""
    name, _, affiliation = text.partition(",")
    return {"name": name.strip(), **({"affiliation": [{"name": affiliation.strip()}]} if affiliation.strip() else {})}


def _site() -> dict[str, Any]:
    return {"name": settings.CAPTIOUS.site_name, "nameType": "Organizational"}


def _dates(phase: Phase) -> list[dict[str, str]]:
    ends = ["" if time is None else time.date().isoformat() for time in (phase.opens, phase.closes)]
    return [{"date": "/".join(ends), "dateType": "Collected", "dateInformation": str(phase)}] if all(ends) else []


def _rights(text: str) -> dict[str, str]:
    """A license, with its identifier and address if it is one of Creative Commons."""
    match = _CREATIVE_COMMONS.search(text)
    if match is None:
        return {"rights": text}
    kind, version = match["kind"].upper(), match["version"]
    folder = "publicdomain/zero" if kind == "0" else f"licenses/{kind.lower()}"
    return {
        "rights": text,
        "rightsUri": f"https://creativecommons.org/{folder}/{version}/",
        "rightsIdentifier": f"CC{'' if kind == '0' else '-'}{kind}-{version}",
        "rightsIdentifierScheme": "SPDX",
    }


def _publications(citation: str) -> list[dict[str, str]]:
    """The publications that a citation names by DOI or arXiv number."""
    relation = {"relationType": "IsSupplementTo"}
    dois = [{"relatedIdentifier": doi, "relatedIdentifierType": "DOI"} for doi in _DOI.findall(citation)]
    numbers = [{"relatedIdentifier": f"arXiv:{n}", "relatedIdentifierType": "arXiv"} for n in _ARXIV.findall(citation)]
    return [identifier | relation for identifier in dois + numbers]


def _page(challenge: Challenge) -> list[dict[str, str]]:
    """The page of the challenge, if the settings say where the site is."""
    site = settings.CAPTIOUS.address
    relation = {"relatedIdentifierType": "URL", "relationType": "IsDocumentedBy"}
    return [{"relatedIdentifier": f"{site}{challenge.url}", **relation}] if site else []


# The challenge.toml of an archive, which can be loaded; comments name the parts that the archive does not contain.

_OMISSIONS_COMMENT = """
# The entries below were left out, because their files are not in this archive: private references, and captions
# that are not included. A phase that appears again here also had captions with private references.
#
"""
_PRIVATE_COMMENT = "# This challenge cannot be loaded from the archive, as no references are public.\n"


def archive_definition(archive: ChallengeArchive) -> str:
    """The text of challenge.toml. Unless it is for organizers, it names no users or folders of this server,
    and no seeds with which the shares of private references were drawn.

    If no references are public, the archive cannot be loaded anyway, and nothing is left out of the text.
    """
    challenge = archive.challenge
    document: Any = tomlkit.parse((challenge.folder / FILE_NAME).read_text(encoding="utf-8"))
    if archive.is_public or archive.anonymous:
        document.pop("organizers", None)
        metrics, values = document["metrics"], document.get("settings", {})
        _replace(metrics, enumerate([*metrics]), public_label)
        _replace(values, [*values.items()], public_path)
        for row, references in zip(document["references"], challenge.definition.references, strict=True):
            if not challenge.is_public(references.captions):
                row.pop("seed", None)
    if not any(captions.public for captions in challenge.definition.captions):
        return _PRIVATE_COMMENT + tomlkit.dumps(document)
    if not (omissions := {name: rows for name, rows in _remove_private_entries(archive, document) if rows}):
        return tomlkit.dumps(document)
    comments = tomlkit.dumps(omissions).splitlines()
    return tomlkit.dumps(document) + _OMISSIONS_COMMENT + "".join(f"{f'# {line}'.rstrip()}\n" for line in comments)


def baselines(archive: ChallengeArchive) -> list[str]:
    """The files of baselines all of whose captions are public and in the archive."""
    rows = archive.with_captions().filter(is_baseline=True)
    complete = {
        (row.phase.name, row.method) for row in rows if all(map(archive.challenge.is_public, row.phase.captions))
    }
    definitions = archive.challenge.definition.baselines
    return [row.file for row in definitions if all((phase, row.method) in complete for phase in row.phases)]


def _remove_private_entries(archive: ChallengeArchive, document: Any) -> Iterator[tuple[str, Any]]:
    """Remove entries without files in the archive; return the removed and changed keys and values."""
    definition = archive.challenge.definition
    public = {captions.name for captions in definition.captions if captions.public}
    files = {*baselines(archive)}
    yield "settings", {} if archive.has_setting_files else _remove_file_settings(archive, document)
    presence = {
        "captions": [row.public for row in definition.captions],
        "references": [row.captions in public for row in definition.references],
        "phases": [not public.isdisjoint(row.captions) for row in definition.phases],
        "baselines": [row.file in files for row in definition.baselines],
    }
    for name, flags in presence.items():
        rows = document.get(name, [])
        changes: list[Any] = []
        for place, stays in reversed([*enumerate(flags)]):
            row = rows[place]
            if stays and (name != "phases" or public.issuperset(row.get("captions", ()))):
                continue
            changes.insert(0, row.unwrap())
            if stays:
                row["captions"] = [captions for captions in row["captions"] if captions in public]
            else:
                del rows[place]
        if name in document and not rows:
            del document[name]
        yield name, changes


def _remove_file_settings(archive: ChallengeArchive, document: Any) -> dict[str, str]:
    """Remove settings that name files of the challenge."""
    folder, settings = archive.challenge.folder, document.get("settings", {})
    names = [name for name in FILE_SETTINGS if name in settings and (folder / settings[name]).exists()]
    return {name: str(settings.pop(name)) for name in names}


def _replace(values: Any, cells: Iterable[tuple[Any, Any]], public_form: Callable[[str], str]) -> None:
    """Replace values by their public form where that differs."""
    for key, value in cells:
        if public_form(str(value)) != value:
            values[key] = public_form(str(value))


# The README.md of an archive: its contents, missing parts, and the commands that reproduce its scores.


def archive_readme(archive: ChallengeArchive) -> str:
    """The text of README.md."""
    definition, submissions = archive.challenge.definition, archive.submissions()
    names = {(row.captions, row.name) for phase in archive.phases for row in sets_of(phase).values()}
    sets = [row for row in definition.references if (row.captions, row.name) in names]
    public = [row for row in sets if archive.challenge.is_public(row.captions)]
    captions_files = {name for phase in archive.phases for name in archive.captions_files(phase)}
    names_of_phases = dict.fromkeys(name for phase in archive.phases for name in phase.captions)
    numbers = [n_resamples(path) for row in submissions if (path := row.results_path) is not None]
    resamples = {number for number in numbers if number is not None}
    n_with = archive.with_captions().count()
    values = {
        "archive": archive,
        "definition": definition,
        "site_name": settings.CAPTIOUS.site_name,
        "n": submissions.count(),
        "n_with": n_with,
        "captions_files": captions_files,
        "private_files": [name for name in names_of_phases if name not in captions_files],
        "has_references": any(captions.public for captions in definition.captions),
        "programs": sorted(submissions.values_list("shown_scores__program", flat=True).order_by().distinct()),
        "phases": [
            *((phase, submissions.filter(phase=phase).count(), "") for phase in archive.phases),
            *((phase, 0, why_hidden(phase)) for phase in archive.withheld),
        ],
        "commands": [_scoring_command(definition, row, "../captions/SUBMISSION/" * bool(n_with)) for row in public],
        "private_sets": [f"{row.captions}/{row.name}" for row in sets if row not in public],
        "missing_files": [] if archive.has_setting_files else archive.setting_files(),
        "resamples": [] if resamples <= {DEFAULT_RESAMPLES} else sorted(resamples),
    }
    return render_to_string("captious/archive_readme.txt", values)


def _scoring_command(definition: ChallengeDefinition, row: ReferencesDefinition, folder: str) -> str:
    """The command that computes the scores on a reference set again."""
    words = ["captious", "score", f"{folder}{row.captions}.json", row.file, "--ci", "--format", "json"]
    words += [word for metric in definition.metrics for word in ("-m", public_label(metric))]
    for name, value in definition.settings.items():
        words += [f"--{name.replace('_', '-')}", public_path(value)]
    return shlex.join(words)


# A challenge as a streamed zip file: captions, scores, signatures, its folder, and instructions to reproduce it.
#
# A public archive has only public data: submissions on leaderboards, captions and references of public
# captions files, and captions only of teams that agreed. It includes metadata for a DOI. No archive
# contains private references.

#: The first columns of the table of scores: a row for each submission, reference set and output. Fields follow.
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

    @cached_property
    def fields(self) -> list[FieldDefinition]:
        """The fields in the archive: only those of leaderboards in a public one, no texts in one without names."""
        fields = self.challenge.definition.fields
        shown = [field for field in fields if field.on_board or not self.is_public]
        return [field for field in shown if not self.anonymous or field.kind != "text"]

    @property
    def columns(self) -> list[str]:
        """The heads of the table of scores."""
        return [*COLUMNS, *(f"field-{field.name}" for field in self.fields)]

    def rows(self) -> Iterator[list[Any]]:
        """The table of scores. Scores are exact where references are public, and otherwise rounded as on pages."""
        sets = {
            phase.pk: {key: row for key, row in sets_of(phase).items() if not self.is_public or phase.shows(row.at_end)}
            for phase in self.phases
        }
        for submission in self._in_order(self.submissions()):
            number, time = self._number(submission), utc_time(submission.created)
            shows_names = not self.anonymous or submission.is_baseline
            cells = [number, submission.method if shows_names else f"Submission {number}", self._team(submission)]
            cells.append(time if shows_names else "")
            cells += [submission.is_entry, submission.is_baseline, submission.is_human]
            cells += ["" if self.anonymous else submission.link, submission.phase.name]
            values_of_fields = [_cell(field, submission.fields.get(field.name)) for field in self.fields]
            for key, references in sets[submission.phase_id].items():
                scores = submission.outputs(key)
                is_exact = self.challenge.is_public(references.captions)
                outputs = scores if is_exact else rounded_outputs(scores, submission.phase)
                for output, entry in outputs.items():
                    values = [entry[name] for name in ("score", "low", "high", "signature")]
                    yield [*cells, references.captions, references.name, output, *values, *values_of_fields]

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
        return self._numbers[submission.pk] if self.anonymous else submission.pk

    @cached_property
    def _numbers(self) -> dict[int, int]:
        """Numbers for submissions without names, in an order that nothing on the site reveals."""
        ids = self.submissions().values_list("pk", flat=True)
        order = sorted(ids, key=lambda pk: salted_hmac("captious.archive", str(pk), algorithm="sha256").hexdigest())
        return {pk: number for number, pk in enumerate(order, 1)}

    def _files(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        yield "README.md", iter([archive_readme(self).encode()])
        yield "scores.csv", (csv_row(row).encode() for row in chain([self.columns], self.rows()))
        if self.submissions().exists():
            yield "scores.parquet", _parquet(self.columns, self.rows())
        if self.is_public:
            yield "datacite.json", iter([self._metadata().encode()])
        challenge = self.challenge
        yield f"challenge/{FILE_NAME}", iter([archive_definition(self).encode()])
        names = {text.file for text in challenge.definition.texts}
        names |= {row["file"] for row in challenge.downloads}
        names |= {challenge.definition.logo} - {""}
        sets = [row for row in challenge.definition.references if challenge.is_public(row.captions)]
        names |= {file for row in sets for file in (row.file, row.images) if isinstance(file, str) and file}
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


def _cell(field: FieldDefinition, value: Value | None) -> str | float | None:
    """The value of a field in the table of scores, of one type in each column, also after the field had another."""
    if field.kind == "number":
        return float(value) if isinstance(value, int | float) else None
    return as_text(value)


def _parquet(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """The table of scores as a parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.table(dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True))), out)
    yield out.getvalue()
