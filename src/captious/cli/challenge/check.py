"""captious challenge check: check the folder of a challenge, and show what is in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from captious.cli.outputs import print_table, warn
from captious.cli.server_extra import server_extra

if TYPE_CHECKING:
    from captious.server.challenges.definition import PhaseDefinition
    from captious.server.challenges.folder import CheckedChallenge

__all__ = ["check", "summary_rows"]


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
def check(folder: Path) -> None:
    """Check the FOLDER of a challenge, and show what is in it.

    All problems are reported at once: in challenge.toml, in the files that it names, and metrics that cannot run
    here.
    """
    from rich.table import Table
    from rich.text import Text

    with server_extra():
        from captious.server.challenges.folder import check_folder
    checked = check_folder(folder)
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    before = ""
    for heading, text in summary_rows(checked):
        table.add_row(Text("" if heading == before else heading), Text(text))
        before = heading
    print_table(table)
    warn(checked.warnings)


def summary_rows(challenge: CheckedChallenge) -> Iterator[tuple[str, str]]:
    """The rows of a summary, each a heading and a text; what belongs together has the same heading."""
    definition = challenge.definition
    yield "challenge", f"{definition.title} ({challenge.slug})"
    yield "pages", "public" if definition.access == "public" else "for participants only"
    yield "organisers", ", ".join(definition.organisers) or "none: only administrators"
    for text in definition.texts:
        yield "texts", f"{text.title}: {text.file}"
    for captions in definition.captions:
        access = "public" if captions.public else "not public"
        yield "captions", f"{captions.name}: {len(challenge.image_ids[captions.name]):,} images, {access}"
    for references in definition.references:
        table = challenge.references[references.captions, references.name]
        label = definition.label(references.captions, references.name)
        counts = f"{len(table.texts):,} captions of {len(table):,} images, {len(table.texts) / len(table):.1f} each"
        yield "references", f"{label}: {counts}, {references.file}"
    for phase in definition.phases:
        yield "phases", _phase(phase)
    yield "metrics", ", ".join(definition.outputs)
    yield "ranked by", definition.rank_by
    for name, value in definition.settings.items():
        yield "settings", f"{name}: {value}"
    for baseline in definition.baselines:
        human = ", human" if baseline.human else ""
        yield "baselines", f"{baseline.method}: {baseline.file}, in {', '.join(baseline.phases)}{human}"
    yield "files", f"{len(challenge.checksums):,}"


def _phase(phase: PhaseDefinition) -> str:
    dates = {"opens": phase.opens, "closes": phase.closes}
    when = ", ".join(f"{verb} {date:%Y-%m-%d %H:%M:%S} UTC" for verb, date in dates.items() if date is not None)
    limits = {
        "scored per day": phase.scored_per_day,
        "scored in total": phase.scored_in_total,
        "attempts per day": phase.attempts_per_day,
    }
    limited = ", ".join(f"{limit:,} {name}" for name, limit in limits.items() if limit) or "no limits"
    return f"{phase.name}: {', '.join(phase.captions)}; {when or 'always open'}; {limited}; leaderboard {phase.board}"
