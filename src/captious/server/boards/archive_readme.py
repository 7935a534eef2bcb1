"""The README.md of an archive: its contents, missing parts, and the commands that reproduce its scores."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.conf import settings

from captious.evaluation.inference.resampling import DEFAULT_RESAMPLES
from captious.server.challenges.challenge_metrics import public_label, public_path
from captious.server.local_times import local_time
from captious.server.people.access import why_hidden
from captious.server.scoring.board_outputs import sets_of

if TYPE_CHECKING:
    from captious.server.boards.challenge_archive import ChallengeArchive
    from captious.server.models import Phase


def archive_readme(archive: ChallengeArchive) -> str:
    """The text of README.md."""
    definition = archive.challenge.definition
    lines = [f"# {archive.title}", ""]
    lines += [archive.challenge.summary, ""] if archive.challenge.summary else []
    lines += [f"License: {definition.license}", ""] if definition.license else []
    if definition.citation:
        lines += ["How to cite:", "", *(f"    {line}" for line in definition.citation.splitlines()), ""]
    lines += _metadata_section(archive) if archive.is_public else []
    lines.append("`scores.csv` has a row for each submission, reference set and output, with intervals and signatures.")
    lines += [_captions_section(archive), _loading_section(archive), *_programs(archive), ""]
    lines += ["## Phases", "", *_phases(archive), ""]
    return "\n".join([*lines, "## Scores", "", *_scoring_commands(archive)])


def _metadata_section(archive: ChallengeArchive) -> Iterator[str]:
    yield "`datacite.json` has the attributes of a DOI by DataCite's schema 4.5."
    if not archive.challenge.definition.organized_by:
        site = settings.CAPTIOUS.site_name
        yield f"The challenge does not say who organized it, so the creator there is this site, {site}: edit it."


def _captions_section(archive: ChallengeArchive) -> str:
    """The section on the folders of captions, or the reason why there are none."""
    n, n_with = archive.submissions().count(), archive.with_captions().count()
    if n_with:
        whom = "each submission" if n == n_with else f"{n_with:,} of {n:,} submissions, whose teams agreed to it"
        return f"`captions/` has the captions of {whom}, `challenge/` the challenge.{_not_public(archive)}"
    if not n:
        why = "no submission has scores"
    elif not any(map(archive.captions_files, archive.phases)):
        why = "the captions files are not public"
    else:
        why = "no team has agreed to that"
    return f"`challenge/` has the challenge. There are no captions, as {why}."


def _loading_section(archive: ChallengeArchive) -> str:
    if not any(captions.public for captions in archive.challenge.definition.captions):
        return "`challenge/` cannot be loaded into a server, as no references are public."
    return "`captious challenge load challenge --data DIR` loads the public part of `challenge/` into a server."


def _not_public(archive: ChallengeArchive) -> str:
    """The section on captions files that no public archive contains."""
    names = [name for phase in archive.phases for name in phase.captions if name not in archive.captions_files(phase)]
    return f" Captions for {', '.join(dict.fromkeys(names))} are not public." if names else ""


def _programs(archive: ChallengeArchive) -> Iterator[str]:
    """The versions of captious that computed the scores."""
    programs = archive.submissions().values_list("shown_scores__program", flat=True).order_by().distinct()
    if versions := " and ".join(sorted(programs)):
        yield f"Scores were computed with captious {versions}."


def _phases(archive: ChallengeArchive) -> Iterator[str]:
    """A line for each phase: those in the archive, and those that are not, with the reason."""
    for phase in archive.phases:
        n = archive.submissions().filter(phase=phase).count()
        note = ""
        if phase.shown_version != phase.scoring_version:
            note = " They are being scored again; these scores are with earlier references, metrics or programs."
        yield f"- {phase} (`{phase.name}`){_dates(phase)}: {n:,} {'submission' if n == 1 else 'submissions'}.{note}"
    for phase in archive.withheld:
        yield f"- {phase} (`{phase.name}`){_dates(phase)}: not in this archive. {why_hidden(phase)}"


def _dates(phase: Phase) -> str:
    opens = f", from {local_time(phase.opens)}" if phase.opens is not None else ""
    return opens + (f", until {local_time(phase.closes)}" if phase.closes is not None else "")


def _scoring_commands(archive: ChallengeArchive) -> list[str]:
    """The commands that compute the scores again, one for each public reference set."""
    definition, with_captions = archive.challenge.definition, archive.with_captions()
    names = {(row.captions, row.name) for phase in archive.phases for row in sets_of(phase).values()}
    sets = [row for row in definition.references if (row.captions, row.name) in names]
    public = [row for row in sets if archive.challenge.is_public(row.captions)]
    if not public:
        return ["They cannot be computed again from this archive, as no references are public.", ""]
    promise = "they can be reproduced to the last bit" if with_captions.exists() else "captions can be scored"
    where = "../captions/SUBMISSION/" if with_captions.exists() else ""
    placeholder = "Replace SUBMISSION by a folder in `captions/`." if where else "The captions file is one of yours."
    lines = [f"Where references are public, {promise}, in the folder `challenge/`. {placeholder}"]
    lines.append("`--format json` shows all digits, as in `scores.csv`; the default is a table with four.")
    if not archive.has_setting_files and (files := archive.setting_files()):
        lines.append(f"That needs files which are not in the archive, as references are private: {', '.join(files)}.")
    if (n := settings.CAPTIOUS.resamples) != DEFAULT_RESAMPLES:
        lines.append(
            f"Intervals come from {n:,} resamples: in Python, `report.to_dict(intervals=True, resamples={n})`."
        )
    for row in public:
        words = ["captious", "score", f"{where}{row.captions}.json", row.file]
        words += ["--ci", "--format", "json"]
        words += [word for metric in definition.metrics for word in ("-m", public_label(metric))]
        for name, value in definition.settings.items():
            words += [f"--{name.replace('_', '-')}", public_path(value)]
        lines += ["", f"    {shlex.join(words)}"]
    if private := [f"{row.captions}/{row.name}" for row in sets if row not in public]:
        lines += ["", f"The references of {', '.join(private)} are private; their scores are rounded."]
    return [*lines, ""]
