"""What ``captious challenge check`` prints about a challenge: one page, as data."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from captious.server.challenges.definition import PhaseDefinition
from captious.server.challenges.folder import CheckedChallenge

__all__ = ["summary_of"]


def summary_of(challenge: CheckedChallenge) -> list[tuple[str, str]]:
    """The rows of a summary, each a heading and a text; what belongs together has the same heading."""
    return [*_rows(challenge)]


def _rows(challenge: CheckedChallenge) -> Iterator[tuple[str, str]]:
    definition = challenge.definition
    yield "challenge", f"{definition.title} ({challenge.slug})"
    yield "pages", "public" if definition.access == "public" else "for participants only"
    yield "organisers", ", ".join(definition.organisers) or "none: only administrators"
    for text in definition.texts:
        yield "texts", f"{text.title}: {text.file}"
    for captions in definition.captions:
        seen = "public" if captions.public else "not public"
        yield "captions", f"{captions.name}: {challenge.n_images[captions.name]:,} images, {seen}"
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
    if phase.opens is None and phase.closes is None:
        when = "always open"
    else:
        ends = (("opens", phase.opens), ("closes", phase.closes))
        when = ", ".join(f"{word} {_moment(moment)}" for word, moment in ends if moment is not None)
    limits = {
        "scored per day": phase.scored_per_day,
        "scored in total": phase.scored_in_total,
        "attempts per day": phase.attempts_per_day,
    }
    limited = ", ".join(f"{limit:,} {name}" for name, limit in limits.items() if limit) or "no limits"
    return f"{phase.name}: {', '.join(phase.captions)}; {when}; {limited}; leaderboard {phase.board}"


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
