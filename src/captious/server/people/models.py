"""People and teams in the database: accounts, memberships, invitations, tokens."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.urls import reverse

__all__ = ["Invitation", "Membership", "Team", "Token", "User"]


class User(AbstractUser):
    """An account. Superusers are administrators; organizers are named by their challenges."""


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

    class Meta:
        ordering = ["-created"]
