"""What the database holds: challenges, submissions, people, and the audit log."""

from captious.server.models.audit import AuditEvent, RateCount
from captious.server.models.challenges import Challenge, Phase
from captious.server.models.people import Invitation, Membership, Participant, Team, Token, User
from captious.server.models.submissions import Attempt, Submission, WorkerSeen

__all__ = [
    "Attempt",
    "AuditEvent",
    "Challenge",
    "Invitation",
    "Membership",
    "Participant",
    "Phase",
    "RateCount",
    "Submission",
    "Team",
    "Token",
    "User",
    "WorkerSeen",
]
