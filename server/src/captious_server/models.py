"""All models of the database: boards, people and teams, challenges, notices, the queue, and submissions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models, transaction
from django.db.models import F
from django.db.models.functions import Lower
from django.dispatch import Signal
from django.urls import reverse
from django.utils import timezone

from captious_server.challenges.definition import ChallengeDefinition, ReferencesDefinition
from captious_server.submissions.upload import Problem, printable

# Boards in the database.


class Standing(models.Model):
    """A board as it is shown: the submissions of a phase in the order of one output, the best first, with ranks.

    The lists have an item for each row. Those without a score are last; their score and rank are None.
    """

    phase = models.ForeignKey("Phase", models.CASCADE, related_name="standings")
    #: The key of the reference set.
    references = models.CharField(max_length=200)
    output = models.CharField(max_length=200)
    #: All submissions, not only the entry of each team.
    everything = models.BooleanField()
    #: ``Scores.version`` of its rows.
    version = models.PositiveIntegerField()
    #: ``Phase.digits`` to which its scores are rounded.
    digits = models.PositiveSmallIntegerField()
    #: Ids of submissions, and when they were scored, in microseconds; 0 where ranks come from scores alone, as these
    #: ranks do not stay if the challenge changes to tests.
    submissions = models.JSONField()
    finished = models.JSONField()
    scores = models.JSONField()
    ranks = models.JSONField()
    #: output -> the best score of the rows, rounded; None if there is none or no direction.
    best = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["phase", "references", "output", "everything"], name="one_standing")
        ]

    @property
    def rank_of(self) -> dict[int, int | None]:
        """Submission -> its rank."""
        return dict(zip(self.submissions, self.ranks, strict=True))


# People and teams in the database: accounts, memberships, invitations, tokens, and what people did.


class User(AbstractUser):
    """An account. Superusers are administrators; organizers are named by their challenges."""

    #: Mail that the user wants: about ended submissions and closing phases.
    mail_ended = models.BooleanField(default=False)
    mail_closing = models.BooleanField(default=False)

    class Meta(AbstractUser.Meta):
        constraints = [models.UniqueConstraint(Lower("username"), name="one_name_in_any_case")]

    # Managers of what allauth, which has no types, keeps for an account.
    authenticator_set: models.QuerySet[Any]
    emailaddress_set: models.QuerySet[Any]
    socialaccount_set: models.QuerySet[Any]
    usersession_set: models.QuerySet[Any]

    @property
    def confirmed_email(self) -> str:
        """The address, if its owner has confirmed it; otherwise empty."""
        is_confirmed = self.emailaddress_set.filter(email=self.email.lower(), verified=True).exists()
        return self.email if is_confirmed else ""

    @property
    def has_second_step(self) -> bool:
        """Whether signing in takes more than a password."""
        return self.authenticator_set.exists()


class Team(models.Model):
    """People who submit together and share quotas."""

    name = models.CharField(max_length=80, unique=True)
    slug = models.SlugField(max_length=80, unique=True)
    #: The team of one user, made with the account.
    is_personal = models.BooleanField(default=False)
    #: The team of baselines, which organizers submit; it has no members.
    is_baselines = models.BooleanField(default=False)
    created = models.DateTimeField(auto_now_add=True)
    members = models.ManyToManyField(User, through="Membership", related_name="teams")

    def __str__(self) -> str:
        return self.name

    @property
    def url(self) -> str:
        return reverse("captious:team", args=[self.slug])


class Membership(models.Model):
    """A user in a team."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    is_captain = models.BooleanField(default=False)
    joined = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "user"], name="one_membership")]
        ordering = ["joined"]


class Invitation(models.Model):
    """A link that lets its holder join a team until it expires. Only a hash of its secret is kept."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="invitations")
    hash = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(User, models.CASCADE, related_name="+")
    #: Its label, given by its author.
    label = models.CharField(max_length=80, blank=True)
    created = models.DateTimeField(auto_now_add=True)
    expires = models.DateTimeField()


class Token(models.Model):
    """A token of a user for the API. Only a hash of it is kept."""

    user = models.ForeignKey(User, models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=80)
    hash = models.CharField(max_length=64, unique=True)
    #: The first characters, by which its owner recognizes it.
    prefix = models.CharField(max_length=12)
    created = models.DateTimeField(auto_now_add=True)
    last_used = models.DateTimeField(null=True)
    #: What it can do besides reading: words of ``people.secrets.SCOPES`` with spaces between them.
    scopes = models.CharField(max_length=100, blank=True, default="submit")
    #: The only challenge that it is for, deleted with it; None for all that its user may see.
    challenge = models.ForeignKey("Challenge", models.CASCADE, null=True, related_name="+")
    expires = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created"]

    def may(self, scope: str) -> bool:
        """Return whether it can do what a scope names."""
        return scope in self.scopes.split()

    @property
    def use(self) -> str:
        """The scopes of the token in words: "read, submit, teams; demo only"."""
        return ", ".join(["read", *self.scopes.split()]) + (f"; {self.challenge.slug} only" if self.challenge else "")


class Participant(models.Model):
    """A user who may see a challenge that is for participants only."""

    challenge = models.ForeignKey("Challenge", models.CASCADE, related_name="participations")
    user = models.ForeignKey(User, models.CASCADE, related_name="participations")
    added = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["challenge", "user"], name="one_participation")]


class AuditEvent(models.Model):
    """An entry of the audit log: actor, action, object, time and address. Entries do not change until they expire."""

    time = models.DateTimeField(auto_now_add=True, db_index=True)
    #: The user name: it stays when the account goes.
    actor = models.CharField(max_length=150)
    address = models.CharField(max_length=45, blank=True)
    action = models.CharField(max_length=60)
    target = models.CharField(max_length=200)
    detail = models.TextField(blank=True)
    challenge = models.ForeignKey("Challenge", models.SET_NULL, null=True, related_name="events")
    submission = models.ForeignKey("Submission", models.SET_NULL, null=True, related_name="events")

    class Meta:
        ordering = ["-time", "-id"]


class RateCount(models.Model):
    """The number of actions of a party within a minute."""

    key = models.CharField(max_length=200)
    minute = models.BigIntegerField()
    count = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["key", "minute"], name="one_count")]


# Challenges in the database, with their phases, drafts, versions, news, terms, approvals and bans.

#: Where image ids and public words are, in the folder of a challenge; no organizer has a folder of this name.
IDS_FOLDER = ".captious-ids"


@lru_cache(maxsize=128)
def parsed_definition(text: str) -> ChallengeDefinition:
    """A definition. That of each version of a challenge is parsed once in a process, however often it is asked for."""
    return ChallengeDefinition.model_validate(json.loads(text))


class Challenge(models.Model):
    """A challenge. The contents of its folder are in ``definition``; each version has a folder of files."""

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    summary = models.TextField(blank=True)
    access = models.CharField(max_length=20, default="public")
    #: challenge.toml as plain values.
    definition_values = models.JSONField()
    #: The pages of the organizers: [{"title", "slug", "html"}], sanitized.
    texts = models.JSONField(default=list)
    #: Downloads: [{"title", "file", "size", "sha256"}].
    downloads = models.JSONField(default=list)
    #: A checksum of the terms that teams accept; empty if there are none.
    terms_version = models.CharField(max_length=16, blank=True)
    #: What may be a mistake in it, a sentence each, for organizers.
    warnings = models.JSONField(default=list)
    #: Number of images of each reference set.
    counts = models.JSONField(default=dict)
    #: Increases whenever the challenge is loaded; names the folder of its files.
    version = models.PositiveIntegerField(default=1)
    organizers = models.ManyToManyField(User, related_name="organized", blank=True)
    participants = models.ManyToManyField(User, through="Participant", related_name="challenges")
    created = models.DateTimeField(auto_now_add=True)
    loaded = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-created"]

    def __str__(self) -> str:
        return self.title

    @property
    def definition(self) -> ChallengeDefinition:
        return parsed_definition(json.dumps(self.definition_values))

    @property
    def url(self) -> str:
        return reverse("captious:challenge", args=[self.slug])

    @property
    def folder(self) -> Path:
        """The folder of the files of this version, which is never served."""
        return settings.CAPTIOUS.data / "challenges" / self.slug / str(self.version)

    @property
    def logo_url(self) -> str:
        """The address of the logo, which changes with every version; empty if there is none."""
        logo = reverse("captious:logo", args=[self.slug])
        return f"{logo}?v={self.version}" if self.definition.logo else ""

    def is_public(self, captions: str) -> bool:
        """Return whether captions, references and scores per image of a captions file may be seen."""
        return any(file.public for file in self.definition.captions if file.name == captions)

    def ids_file(self, captions: str) -> Path:
        """The file with the image ids of a captions file, which a submission must have."""
        return self.folder / IDS_FOLDER / f"{captions}.json"

    @property
    def words_file(self) -> Path:
        """The file with the words of references that everybody may see."""
        return self.folder / IDS_FOLDER / "words.txt"

    @cached_property
    def phase_list(self) -> list[Phase]:
        return [phase for phase in self.phases.all() if not phase.is_retired]

    @property
    def is_open(self) -> bool:
        return any(phase.state == "open" for phase in self.phase_list)


class Phase(models.Model):
    """A phase of a challenge: when submissions are taken, and how many."""

    challenge = models.ForeignKey(Challenge, models.CASCADE, related_name="phases")
    name = models.SlugField(max_length=80)
    title = models.CharField(max_length=200)
    position = models.PositiveIntegerField()
    opens = models.DateTimeField(null=True)
    closes = models.DateTimeField(null=True)
    scored_per_day = models.PositiveIntegerField(default=0)
    scored_in_total = models.PositiveIntegerField(default=0)
    attempts_per_day = models.PositiveIntegerField(default=0)
    board = models.CharField(max_length=20, default="public")
    #: Decimal places of the scores that are shown.
    digits = models.PositiveSmallIntegerField(default=4)
    #: "at-once", "at-end" or "never": when scores are shown to others than organizers.
    scores_shown = models.CharField(max_length=20, default="at-once")
    #: The largest share of images that may have the same caption.
    equal_captions = models.FloatField(default=0.1)
    #: "all" or "one": which submissions of a team everybody can see.
    entries = models.CharField(max_length=20, default="all")
    #: Names of the captions files that its submissions contain.
    captions = models.JSONField(default=list)
    #: The phase is no longer in the challenge's folder; its submissions stay.
    is_retired = models.BooleanField(default=False)
    #: Increases when ``set_keys`` or ``program``, which scores depend on, change; see scoring/queue.py.
    scoring_version = models.PositiveIntegerField(default=1)
    #: The version of the scores on its board: an older one until all of the new one is there.
    shown_version = models.PositiveIntegerField(default=1)
    #: The columns of its board, which change with ``shown_version``; see scoring/queue.py.
    board_values = models.JSONField(default=dict)
    #: key of a reference set -> checksum of its references, the metrics and their settings.
    set_keys = models.JSONField(default=dict)
    #: The version of captious that scores it.
    program = models.CharField(max_length=40, blank=True)
    #: Increases with every change to its board, in the same transaction; see boards/ranking.py.
    board_changes = models.PositiveBigIntegerField(default=0)
    #: The change whose board is stored. Less than ``board_changes`` until ranks are computed.
    board_stored = models.PositiveBigIntegerField(default=0)

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["challenge", "name"], name="one_phase")]

    def __str__(self) -> str:
        return self.title or self.name

    def state_at(self, time: datetime) -> str:
        """ "upcoming", "open" or "closed"."""
        if self.is_retired:
            return "closed"
        if self.opens is not None and time < self.opens:
            return "upcoming"
        return "closed" if self.closes is not None and time > self.closes else "open"

    @property
    def state(self) -> str:
        return self.state_at(timezone.now())

    @property
    def scores_open_at(self) -> datetime | None:
        """The time at which withheld scores are shown; None for phases that were removed early, which have no end."""
        return self.ends_at if self.scores_shown == "at-end" else None

    @property
    def ends_at(self) -> datetime | None:
        """The time when no more uploads can arrive: one that began before the phase closed may take a while."""
        return None if self.closes is None else self.closes + timedelta(seconds=settings.CAPTIOUS.upload_seconds)

    @property
    def has_scores_open(self) -> bool:
        """Whether scores are now shown to others than organizers."""
        end = self.scores_open_at
        return self.scores_shown == "at-once" or (end is not None and timezone.now() > end)

    def shows(self, at_end: bool) -> bool:
        """Return whether scores on a reference set are now shown to others than organizers.

        Args:
            at_end: ``ReferenceSet.at_end``.
        """
        return self.has_scores_open and not (at_end and (self.ends_at is None or timezone.now() <= self.ends_at))

    @property
    def held_sets(self) -> list[str]:
        """The names of the reference sets whose scores are shown later than others."""
        return [
            row.name
            for row in self.reference_sets.values()
            if row.scores_shown == "at-end" and self.has_scores_open and not self.shows(at_end=True)
        ]

    @property
    def is_board_open(self) -> bool:
        """Whether the leaderboard is now shown to everybody who sees the challenge."""
        return self.board == "public" and self.has_scores_open

    @property
    def reference_sets(self) -> dict[str, ReferencesDefinition]:
        """The reference sets of this phase, by key, in the order of the challenge's folder."""
        definition = self.challenge.definition
        return {definition.key(row): row for row in definition.references if row.captions in self.captions}


class Draft(models.Model):
    """A challenge, new or existing, that is edited on the site. Its files are in a folder."""

    slug = models.SlugField(max_length=80, unique=True)
    #: The user who created it.
    user = models.ForeignKey(User, models.CASCADE, related_name="drafts")
    #: The version of the challenge when the draft was created; 0 for a new challenge.
    version = models.PositiveIntegerField(default=0)
    title = models.CharField(max_length=200)
    #: The result of the last check: problems and warnings, a sentence each, and rows of a heading and a text.
    problems = models.JSONField(default=list)
    warnings = models.JSONField(default=list)
    summary = models.JSONField(default=list)
    #: The contents of its preview, see challenges/drafts.py; empty while there are problems.
    shown = models.JSONField(default=dict)
    #: Whether publishing it would change anything.
    is_changed = models.BooleanField(default=True)
    created = models.DateTimeField(auto_now_add=True)
    changed = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-changed"]

    def __str__(self) -> str:
        return self.title

    @property
    def why_not_published(self) -> str:
        """The reason why it cannot be published, in one sentence; empty if it can."""
        if self.problems:
            return "Fix its problems first."
        return "" if self.is_changed else "There are no changes since it was published."

    @property
    def challenge(self) -> Challenge | None:
        """The challenge as it is; None before the draft of a new one is published."""
        return Challenge.objects.filter(slug=self.slug).first()

    @property
    def is_outdated(self) -> bool:
        """Whether the challenge was loaded since the draft was begun."""
        return self.version != (0 if self.challenge is None else self.challenge.version)

    @property
    def url(self) -> str:
        return reverse("captious:draft", args=[self.slug])

    @property
    def folder(self) -> Path:
        """The folder of its files, which is never served."""
        return settings.CAPTIOUS.data / "drafts" / self.slug


class ChallengeVersion(models.Model):
    """The contents of a challenge when it was loaded. Versions are only ever added."""

    challenge = models.ForeignKey("Challenge", models.CASCADE, related_name="versions")
    #: ``Challenge.version``.
    number = models.PositiveIntegerField()
    #: challenge.toml as plain values, without user names, which would outlive accounts.
    definition_values = models.JSONField()
    #: sha256 of every file by its path in the folder.
    files = models.JSONField()
    #: ``Phase.scoring_version`` of each phase, by name.
    scoring_versions = models.JSONField()

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["challenge", "number"], name="one_load")]


class TermsAcceptance(models.Model):
    """A version of the terms of a challenge that a team has accepted. Acceptances are only ever added."""

    challenge = models.ForeignKey("Challenge", models.CASCADE, related_name="acceptances")
    team = models.ForeignKey(Team, models.CASCADE, related_name="acceptances")
    #: The user who accepted them for the team; the name outlives the account.
    user = models.CharField(max_length=150)
    #: ``Challenge.terms_version``.
    version = models.CharField(max_length=16)
    time = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-time"]
        constraints = [models.UniqueConstraint(fields=["challenge", "team", "version"], name="accepted_once")]


class TeamApproval(models.Model):
    """A request for approval of a team in a challenge, and the decision of the organizers."""

    class Status(models.TextChoices):
        ASKED = "asked"
        APPROVED = "approved"
        REFUSED = "refused"

    challenge = models.ForeignKey("Challenge", models.CASCADE, related_name="approvals")
    team = models.ForeignKey(Team, models.CASCADE, related_name="approvals")
    status = models.CharField(max_length=10, choices=Status, default=Status.ASKED)
    #: The message of the team.
    message = models.CharField(max_length=500, blank=True)
    #: The reason of a refusal, which is shown to the team.
    reason = models.CharField(max_length=500, blank=True)
    asked = models.DateTimeField()
    decided = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-asked", "-pk"]
        constraints = [models.UniqueConstraint(fields=["challenge", "team"], name="one_approval")]


class TeamBan(models.Model):
    """A team that is banned from a challenge with its members, and the reason, which is shown to them."""

    challenge = models.ForeignKey("Challenge", models.CASCADE, related_name="bans")
    team = models.ForeignKey(Team, models.CASCADE, related_name="bans")
    #: The members of the team when it was banned.
    users = models.ManyToManyField(User, related_name="bans")
    reason = models.CharField(max_length=500)
    time = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-time"]
        constraints = [models.UniqueConstraint(fields=["challenge", "team"], name="one_ban")]

    def __str__(self) -> str:
        members = "" if self.team.is_personal else " and its members"
        return f"{self.team}{members} may not submit to this challenge: {self.reason}"


class News(models.Model):
    """News from organizers to everybody who sees a challenge, as Markdown."""

    challenge = models.ForeignKey("Challenge", models.CASCADE, related_name="news")
    title = models.CharField(max_length=200)
    text = models.TextField(max_length=20_000, blank=True)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created", "-pk"]

    def __str__(self) -> str:
        return self.title


# Webhooks and notices in the database.


class Webhook(models.Model):
    """An address that receives the events of a challenge."""

    challenge = models.ForeignKey("Challenge", models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=500)
    #: Signs the calls, so it is stored in clear.
    secret = models.CharField(max_length=80)
    created = models.DateTimeField(auto_now_add=True)
    #: The time of the last call, and the status of the answer or the error.
    tried = models.DateTimeField(null=True)
    result = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.shown_url

    @property
    def shown_url(self) -> str:
        """The address for logs and lists. What follows the host is often a secret."""
        parts = urlsplit(str(self.url))
        return f"{parts.scheme}://{parts.netloc}/{'…' * bool(parts.path.strip('/') or parts.query)}"


class Notice(models.Model):
    """A mail to a user, or a call of a webhook. It is kept for some days, so that no event is reported twice.

    Mail about an account, such as a link for a new password, has no user, and is deleted when it is sent.
    """

    #: The event of mail about an account.
    ACCOUNT = "account"
    #: Names the event and the receiver.
    key = models.CharField(max_length=200, unique=True)
    event = models.CharField(max_length=40)
    user = models.ForeignKey(User, models.CASCADE, null=True, related_name="notices")
    #: Where mail goes.
    address = models.EmailField(blank=True)
    webhook = models.ForeignKey(Webhook, models.CASCADE, null=True, related_name="notices")
    subject = models.CharField(max_length=300, blank=True)
    body = models.TextField()
    created = models.DateTimeField(auto_now_add=True)
    sent = models.DateTimeField(null=True)
    #: The time of the next attempt; None once it is given up.
    not_before = models.DateTimeField(null=True)
    tries = models.PositiveIntegerField(default=0)

    class Meta:
        indexes = [models.Index(fields=["not_before"], condition=models.Q(sent=None), name="notices_to_send")]


# Turns and workers in the database.


class QueueTurn(models.Model):
    """The end of the last turn of a party or challenge in the queue; see scoring/queue.py."""

    party = models.CharField(max_length=40, unique=True)
    ended = models.DateTimeField()


class WorkerSeen(models.Model):
    """The last heartbeat of a worker, for the health page."""

    name = models.CharField(max_length=120, unique=True)
    seen = models.DateTimeField()


# Submissions in the database, with their leases and scores, and uploads that were refused.

#: Refused uploads of a team that a challenge keeps, and problems of each.
MAX_REFUSALS, MAX_REFUSAL_PROBLEMS = 20, 20


#: Sent with the ``phase``, its number, when the ranks of its board are to be computed: see boards/ranking.py.
board_is_stale = Signal()
_MAX_ROWS = 500  # rows of a board that is computed at the change; larger ones are left to a worker
#: What decides whether a submission is on a board, and where.
_BOARD_FIELDS = {"public", "anonymous", "is_hidden", "is_chosen", "shown_scores", "fields"}


def board_changed(phase: int) -> None:
    """Count a change to the board of a phase, and compute the board when the transaction is committed.

    Boards of many rows are left to a worker, so that a page does not take seconds.
    """
    Phase.objects.filter(pk=phase).update(board_changes=F("board_changes") + 1)
    if Submission.objects.competing().filter(phase=phase).count() <= _MAX_ROWS:
        transaction.on_commit(lambda: board_is_stale.send(None, phase=phase), robust=True)


class SubmissionQuerySet(models.QuerySet["Submission"]):
    """Submissions, with the queries of boards."""

    def update(self, **values: Any) -> int:
        """Change values, and with them the boards that depend on them; return the number of submissions."""
        if _BOARD_FIELDS.isdisjoint(values):
            return super().update(**values)
        with transaction.atomic():
            phases = {*self.order_by().values_list("phase", flat=True)}
            n = super().update(**values)
            for phase in phases:
                board_changed(phase)
        return n

    def competing(self) -> SubmissionQuerySet:
        """The submissions that can be on the board of their phase, with their scores."""
        return self.scored().filter(public=True, is_hidden=False)

    def scored(self) -> SubmissionQuerySet:
        """The submissions with scores of the version that the board of their phase shows, with these scores."""
        return self.filter(shown_scores__version=F("phase__shown_version")).select_related("shown_scores")


class Submission(models.Model):
    """The captions of one method, valid and complete. One row is the job, the lease and the result.

    A worker that takes it raises ``lease`` and must be heard from before ``lease_until``; everything it writes is
    written on the condition that ``lease`` is still its number, so there is exactly one result.
    """

    class Status(models.TextChoices):
        HELD = "held"
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELED = "canceled"
        DELETED = "deleted"

    phase = models.ForeignKey("Phase", models.PROTECT, related_name="submissions")
    team = models.ForeignKey(Team, models.PROTECT, related_name="submissions")
    user = models.ForeignKey(User, models.SET_NULL, null=True, related_name="submissions")
    method = models.CharField(max_length=120)
    link = models.URLField(max_length=500, blank=True)
    description = models.TextField(max_length=5000, blank=True)
    public = models.BooleanField(default=True)
    anonymous = models.BooleanField(default=False)
    #: The team lets the organizers publish its captions in an archive.
    may_publish = models.BooleanField(default=False)
    #: Name of a field that the challenge declares, now or before -> value; see boards/fields.py.
    fields = models.JSONField(default=dict)
    is_baseline = models.BooleanField(default=False)
    is_human = models.BooleanField(default=False)
    #: An organizer has hidden it.
    is_hidden = models.BooleanField(default=False)
    #: The team has chosen it as its entry.
    is_chosen = models.BooleanField(default=False)
    #: It is the entry of its team on the board; see boards/ranking.py. Stored with the board.
    is_entry = models.BooleanField(default=False)

    filename = models.CharField(max_length=255)
    size = models.BigIntegerField()
    #: Bytes of the file and of the captions that were read from it.
    stored = models.BigIntegerField(default=0)
    #: Folder of its files below the data folder.
    folder_name = models.CharField(max_length=64, unique=True)
    created = models.DateTimeField(db_index=True)

    status = models.CharField(max_length=12, choices=Status, default=Status.QUEUED, db_index=True)
    #: Whether it counts towards the quota of scored submissions. A failure of the server does not.
    counts = models.BooleanField(default=True)
    lease = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    #: Not retried before this time, after a failure of the server.
    not_before = models.DateTimeField(null=True)
    #: Number of times that scoring has begun since it was queued.
    tries = models.PositiveIntegerField(default=0)
    worker = models.CharField(max_length=120, blank=True)
    progress = models.PositiveSmallIntegerField(default=0)
    doing = models.CharField(max_length=200, blank=True)
    started = models.DateTimeField(null=True)
    finished = models.DateTimeField(null=True)
    #: Users and webhooks have been notified of its end.
    is_noticed = models.BooleanField(default=False)
    #: Why it failed or is held, for the submitter.
    reason = models.TextField(blank=True)
    #: Why it failed, for the organizer.
    traceback = models.TextField(blank=True)
    #: The scores on pages: those of the board's version or, if there are none, the latest.
    shown_scores = models.ForeignKey("Scores", models.SET_NULL, null=True, related_name="+")

    objects = SubmissionQuerySet.as_manager()

    class Meta:
        ordering = ["-created", "-id"]
        indexes = [
            models.Index(fields=["status", "id"]),
            models.Index(fields=["finished"], condition=models.Q(is_noticed=False), name="to_notice"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["phase", "team"], condition=models.Q(is_chosen=True), name="one_choice")
        ]

    def __str__(self) -> str:
        return self.method

    @property
    def challenge(self) -> Challenge:
        return self.phase.challenge

    @property
    def url(self) -> str:
        return reverse("captious:submission", args=[self.pk])

    @property
    def folder(self) -> Path:
        return settings.CAPTIOUS.data / "submissions" / str(self.folder_name)

    @property
    def team_shown(self) -> str:
        """The name of the team for everybody."""
        return "Anonymous" if self.anonymous else str(self.team.name)

    @property
    def is_on_board(self) -> bool:
        """Whether everybody sees it on the board of its phase.

        The best submission of a team is not revealed while scores are withheld.
        """
        scores, phase = self.shown_scores, self.phase
        is_scored = scores is not None and scores.version == phase.shown_version
        is_shown = phase.entries == "all" or (self.is_entry and phase.has_scores_open)
        return is_scored and self.public and not self.is_hidden and is_shown

    @property
    def was_ended(self) -> bool:
        """Whether scoring has ended before, so that it counts."""
        return self.finished is not None

    def outputs(self, key: str) -> dict[str, dict[str, Any]]:
        """The shown scores on a reference set, output -> {"score", "low", "high", "signature"}; may be empty."""
        return self.shown_scores.outputs.get(key, {}) if self.shown_scores else {}

    def is_current(self, key: str) -> bool:
        """Return whether the shown scores of a reference set come from its current references and metrics."""
        keys = self.shown_scores.set_keys if self.shown_scores else {}
        return key in keys and keys[key] == self.phase.set_keys.get(key)

    @property
    def results_path(self) -> Path | None:
        """The file of the shown scores, for ``read_results``; None if it has no scores."""
        return None if self.shown_scores is None else self.folder / self.shown_scores.results_file


class Scores(models.Model):
    """The scores of a submission in one version of its phase. They stay when there are newer ones."""

    submission = models.ForeignKey(Submission, models.CASCADE, related_name="all_scores")
    #: ``Phase.scoring_version``, ``Phase.program`` and ``Phase.set_keys`` when it was scored.
    version = models.PositiveIntegerField()
    program = models.CharField(max_length=40)
    set_keys = models.JSONField()
    #: key of a reference set -> output -> {"score", "low", "high", "signature"}; see scoring/results.py.
    outputs = models.JSONField()
    #: key of a reference set -> reader -> warnings about misleading scores, a sentence each. All warnings are
    #: for readers of "public" captions; "organizers", the "team" and "others" get fewer otherwise.
    set_warnings = models.JSONField()
    #: Name of the file with its statistics, in the folder of the submission.
    results_file = models.CharField(max_length=80)
    finished = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["submission", "version"], name="one_version")]
        ordering = ["version"]


class Attempt(models.Model):
    """An upload that counted as an attempt, whether or not its captions were valid. Dry runs are not attempts."""

    phase = models.ForeignKey("Phase", models.CASCADE, related_name="attempts")
    team = models.ForeignKey("Team", models.CASCADE, related_name="attempts")
    user = models.ForeignKey("User", models.SET_NULL, null=True, related_name="+")
    submission = models.OneToOneField("Submission", models.CASCADE, null=True, related_name="attempt")
    time = models.DateTimeField(db_index=True)
    #: It was read to the end. One that is not, because the server was stopped, no longer counts.
    is_complete = models.BooleanField(default=False)
    #: The idempotency key, with which a retry after a lost answer is recognized; may be empty.
    key = models.CharField(max_length=64, blank=True, db_index=True)
    #: SHA-256 of the request with this key.
    fingerprint = models.CharField(max_length=64, blank=True)


class RefusedUpload(models.Model):
    """A refused upload and the reason. Its file is not kept, and it is not a submission.

    Whether it counted as an attempt is recorded in ``Attempt``.
    """

    phase = models.ForeignKey("Phase", models.CASCADE, related_name="refused")
    team = models.ForeignKey(Team, models.CASCADE, related_name="refused")
    user = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    method = models.CharField(max_length=120)
    filename = models.CharField(max_length=255)
    size = models.BigIntegerField()
    created = models.DateTimeField()
    #: One sentence.
    reason = models.TextField()
    #: The first things that were wrong with its captions, as ``Problem.to_dict`` gives them, and how many there were.
    problems = models.JSONField(default=list)
    n_problems = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["-created", "-id"]

    def __str__(self) -> str:
        return self.method

    @classmethod
    def keep(cls, submission: Submission, size: int, reason: str, problems: Sequence[Problem]) -> None:
        """Keep the refusal of an unsaved submission, and delete the oldest ones if there are many."""
        cls.objects.create(
            phase=submission.phase,
            team=submission.team,
            user=submission.user,
            method=submission.method,
            filename=printable(submission.filename),
            size=size,
            created=submission.created,
            reason=reason,
            problems=[problem.to_dict() for problem in problems[:MAX_REFUSAL_PROBLEMS]],
            n_problems=len(problems),
        )
        refusals = cls.objects.filter(team=submission.team, phase__challenge=submission.challenge)
        cls.objects.filter(pk__in=[*refusals.values_list("pk", flat=True)[MAX_REFUSALS:]]).delete()
