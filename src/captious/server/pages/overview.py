"""The overview of a challenge, and its preview for a draft."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils import timezone

from captious.server.actions.forms import open_phases
from captious.server.challenges.definition import ChallengeDefinition
from captious.server.challenges.draft_folder import effective, text_of
from captious.server.challenges.news import news_of
from captious.server.challenges.shown_values import shown_texts
from captious.server.models import Challenge, Draft, Phase, Submission
from captious.server.people.admission import bans_of
from captious.server.people.teams import teams_of
from captious.server.scoring.board_outputs import BoardOutputs
from captious.server.submissions.quotas import Quota, quota


def overview_of(challenge: Challenge, user: Any) -> dict[str, Any]:
    """The overview of a challenge for a user or a visitor."""
    teams, now = teams_of(user) if user.is_authenticated else [], timezone.now()
    signatures = _signatures(challenge)
    return {
        **_common_values(challenge, challenge.definition, "captious:download"),
        "metrics": [*signatures],
        "signatures": signatures if any(signatures.values()) else {},
        # those of the default team of the submission form
        "quotas": [quota(phase, teams[0], user, now) for phase in _phases_with_quotas(challenge, now)] if teams else [],
        "bans": bans_of(challenge, teams, user) if teams else {},
        "news": news_of(challenge),
        "logo_url": challenge.logo_url,
        "terms_url": reverse("captious:terms", args=[challenge.slug]),
        "teams_url": reverse("captious:teams", args=[challenge.slug]),
    }


def preview_of(draft: Draft, current: Challenge | None) -> dict[str, Any]:
    """The overview of a draft as seen by a new team; with problems, only the parts that need no check.

    Args:
        published: the current challenge, for its news.
    """
    values = effective(draft.folder)
    if draft.shown:
        challenge = Challenge(slug=draft.slug, **draft.shown)
        definition: ChallengeDefinition | Mapping[str, Any] = challenge.definition
        challenge.phase_list = [
            Phase(challenge=challenge, **phase.model_dump()) for phase in challenge.definition.phases
        ]
        metrics = challenge.definition.outputs
    else:
        texts = shown_texts((str(row.get("title", "")), text_of(draft.folder, row)) for row in values["texts"])
        challenge = Challenge(slug=draft.slug, texts=texts, **{key: values[key] for key in ("title", "summary")})
        challenge.access, challenge.phase_list = values["access"], []
        definition, metrics = values, ()
    terms = next((text["slug"] for text in challenge.texts if text["title"] == values["terms"]), "")
    return {
        **_common_values(challenge, definition, "captious:draft_file"),
        "challenge": challenge,
        "metrics": metrics,
        "quotas": [Quota(phase, 0, 0, 0, 0) for phase in _phases_with_quotas(challenge, timezone.now())],
        "news": [] if current is None else news_of(current),
        "logo_url": reverse("captious:draft_logo", args=[draft.slug]) if draft.shown and values["logo"] else "",
        "terms_url": f"#{terms}",
    }


def _common_values(
    challenge: Challenge, definition: ChallengeDefinition | Mapping[str, Any], file_address: str
) -> dict[str, Any]:
    """The common parts of the overviews of challenges and drafts.

    Args:
        definition: with problems, plain values.
        file_address: URL name of downloads.
    """
    sets = {key: row for phase in challenge.phase_list for key, row in phase.reference_sets.items()}
    return {
        "definition": definition,
        "texts": challenge.texts,
        "phases": challenge.phase_list,
        "sets": [
            {"label": challenge.definition.label(row.captions, row.name), "count": challenge.counts.get(key, 0)}
            for key, row in sets.items()
        ],
        "files": [
            {**row, "url": reverse(file_address, args=[challenge.slug, row["file"]])} for row in challenge.downloads
        ],
    }


def _phases_with_quotas(challenge: Challenge, now: datetime) -> list[Phase]:
    """The open phases that have quotas."""
    return [phase for phase in open_phases(challenge, now) if phase.scored_per_day or phase.scored_in_total]


def _signatures(challenge: Challenge) -> dict[str, list[str]]:
    """The signatures of each output on the boards of the phases, known once something was scored: one for each way in
    which a reference set is scored.
    """
    signatures: dict[str, list[str]] = {}
    for phase in challenge.phase_list:
        submission = Submission.objects.scored().filter(phase=phase).order_by("-shown_scores__finished").first()
        sets = (
            [] if submission is None or submission.shown_scores is None else [*submission.shown_scores.outputs.values()]
        )
        for name in BoardOutputs.of_board(phase).names:
            texts = signatures.setdefault(name, [])
            phase_signatures = dict.fromkeys(outputs[name]["signature"] for outputs in sets if name in outputs)
            texts += [signature for signature in phase_signatures if signature not in texts]
    return signatures
