"""All models of the database, for Django. The packages define them."""

from __future__ import annotations

from captious.server.boards.models import Standing
from captious.server.challenges.models import (
    IDS_FOLDER,
    Challenge,
    ChallengeVersion,
    Draft,
    News,
    Phase,
    TeamApproval,
    TeamBan,
    TermsAcceptance,
)
from captious.server.notices.models import Notice, Webhook
from captious.server.people.models import (
    AuditEvent,
    Identity,
    Invitation,
    KnownDevice,
    Membership,
    Participant,
    RateCount,
    RecoveryCode,
    Team,
    Token,
    User,
)
from captious.server.scoring.models import QueueTurn, WorkerSeen
from captious.server.submissions.models import Attempt, RefusedUpload, Scores, Submission

__all__ = [
    "IDS_FOLDER",
    "Attempt",
    "AuditEvent",
    "Challenge",
    "ChallengeVersion",
    "Draft",
    "Identity",
    "Invitation",
    "KnownDevice",
    "Membership",
    "News",
    "Notice",
    "Participant",
    "Phase",
    "QueueTurn",
    "RateCount",
    "RecoveryCode",
    "RefusedUpload",
    "Scores",
    "Standing",
    "Submission",
    "Team",
    "TeamApproval",
    "TeamBan",
    "TermsAcceptance",
    "Token",
    "User",
    "Webhook",
    "WorkerSeen",
]
