"""People and teams in the database: accounts, memberships, invitations, tokens, and what people did."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Lower
from django.urls import reverse
from django.utils.crypto import salted_hmac


class User(AbstractUser):
    """An account. Superusers are administrators; organizers are named by their challenges."""

    #: The confirmed address; ``email`` may have changed since.
    verified_email = models.EmailField(blank=True)
    #: Mail that the user wants: about ended submissions and closing phases.
    mail_ended = models.BooleanField(default=False)
    mail_closing = models.BooleanField(default=False)
    #: With the key of the server, the source of the secret of the second step; empty without a second step.
    totp_salt = models.CharField(max_length=32, blank=True)
    #: The time step of the last code that was used; only later ones can be.
    totp_used = models.BigIntegerField(default=0)
    #: Wrong codes since the last right one, but for those from known devices, and when the last of them came.
    wrong_codes = models.PositiveIntegerField(default=0)
    wrong_code_time = models.DateTimeField(null=True)

    class Meta(AbstractUser.Meta):
        constraints = [models.UniqueConstraint(Lower("username"), name="one_name_in_any_case")]

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """Sessions end when the password or the second step changes."""
        text = f"{self.password} {self.totp_salt}"
        return salted_hmac("captious.session", text, secret=secret, algorithm="sha256").hexdigest()


class RecoveryCode(models.Model):
    """A code that replaces the second step once. Only a hash of it is kept."""

    user = models.ForeignKey(User, models.CASCADE, related_name="recovery_codes")
    hash = models.CharField(max_length=64)


class KnownDevice(models.Model):
    """A browser in which a user has entered a right code. It keeps a secret, of which there is a hash here."""

    user = models.ForeignKey(User, models.CASCADE, related_name="known_devices")
    hash = models.CharField(max_length=64)
    used = models.DateTimeField()
    #: Wrong codes from this browser, as in ``User``.
    wrong_codes = models.PositiveIntegerField(default=0)
    wrong_code_time = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "hash"], name="one_device")]


class Identity(models.Model):
    """A user's identity on another site, through which they can sign in."""

    user = models.ForeignKey(User, models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=500)
    subject = models.CharField(max_length=255)
    #: The name by which its owner recognizes it.
    label = models.CharField(max_length=200)
    created = models.DateTimeField(auto_now_add=True)
    last_used = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["issuer", "subject"], name="one_identity")]
        ordering = ["created"]


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
        return str(self.name)

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
