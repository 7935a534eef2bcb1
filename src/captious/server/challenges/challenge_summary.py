"""A summary of a checked challenge: rows of a heading and a text, for the command line and for drafts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from captious.phrases import counted
from captious.server.challenges.definition import PhaseDefinition
from captious.server.challenges.folder import CheckedChallenge


def summary_rows(challenge: CheckedChallenge) -> Iterator[tuple[str, str]]:
    """The rows of a summary, each a heading and a text; related rows share a heading."""
    definition = challenge.definition
    yield "challenge", f"{definition.title} ({challenge.slug})"
    yield "pages", "public" if definition.access == "public" else "for participants only"
    yield "organizers", ", ".join(definition.organizers) or "none: only administrators"
    for text in definition.texts:
        yield "texts", f"{text.title}: {text.file}"
    for download in definition.downloads:
        yield "downloads", f"{download.title}: {download.file}"
    if definition.logo:
        yield "logo", definition.logo
    if definition.team_approval:
        yield "teams", "approved by the organizers"
    if definition.team_size:
        yield "teams", f"at most {counted(definition.team_size, 'member')}"
    if definition.teams_close is not None:
        yield "teams", f"close {_time(definition.teams_close)}"
    if definition.terms:
        yield "terms", definition.terms
    for captions in definition.captions:
        access = "public" if captions.public else "not public"
        images = counted(len(challenge.image_ids[captions.name]), "image")
        yield "captions", f"{captions.name}: {images}, {access}"
    for references in definition.references:
        table = challenge.references[references.captions, references.name]
        label = definition.label(references.captions, references.name)
        counts = f"{counted(len(table.texts), 'caption')} of {counted(len(table), 'image')}"
        counts += f", {len(table.texts) / len(table):.1f} each"
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
    times = ", ".join(f"{verb} {_time(date)}" for verb, date in dates.items() if date is not None)
    limits = {
        "scored per day": phase.scored_per_day,
        "scored in total": phase.scored_in_total,
        "attempts per day": phase.attempts_per_day,
    }
    quotas = ", ".join(f"{limit:,} {name}" for name, limit in limits.items() if limit) or "no limits"
    parts = [f"{phase.name}: {', '.join(phase.captions)}", times or "always open", quotas, _board(phase)]
    return "; ".join(parts + ["one entry of each team"] * (phase.entries == "one"))


def _board(phase: PhaseDefinition) -> str:
    """Who sees the leaderboard and scores, and when; a public leaderboard is not shown before its scores."""
    if phase.scores_shown == "never":
        return "leaderboard and scores for organizers only"
    if phase.scores_shown == "at-end":
        time = "when the phase has closed"
        return f"leaderboard public {time}" if phase.board == "public" else f"leaderboard hidden, scores {time}"
    return f"leaderboard {phase.board}"


def _time(date: datetime) -> str:
    return f"{date:%Y-%m-%d %H:%M:%S} UTC"
