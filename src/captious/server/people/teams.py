"""Teams: the personal one of every account, those that users create, and that of the baselines."""

from __future__ import annotations

import hashlib
import secrets
import unicodedata
from itertools import chain, count

from django.db import transaction
from django.utils.text import slugify

from captious.server.models import Attempt, Membership, Submission, Team, User
from captious.server.people.secrets import invitation_of

#: Teams that an account may be in.
MAX_TEAMS = 50

#: Alphabets with similar letters, such as Latin a and Cyrillic а.
_SIMILAR_ALPHABETS = {"ARMENIAN", "CHEROKEE", "COPTIC", "CYRILLIC", "GREEK", "LATIN", "LISU"}


def personal_team(user: User) -> Team:
    """The personal team of a user, with the user's name, created when it is first needed."""
    rows = Team.objects.filter(is_personal=True, memberships__user=user)
    team: Team | None = rows.first()
    if team is not None:
        return team
    with transaction.atomic():
        list(User.objects.select_for_update().filter(pk=user.pk))  # first requests of a user may be concurrent
        team = rows.first()
        return team if team is not None else create_team(_free_name(user.username), user, is_personal=True)


def create_team(name: str, user: User, *, is_personal: bool = False) -> Team:
    """A new team with the user as its captain."""
    with transaction.atomic():
        team = Team.objects.create(name=name, slug=_slug(name), is_personal=is_personal)
        Membership.objects.create(team=team, user=user, is_captain=True)
    return team


def lock_team(slug: str) -> Team | None:
    """A team, locked with its members and invitations until the transaction ends."""
    return Team.objects.select_for_update().filter(slug=slug).first()


def join_team(secret: str, user: User) -> bool:
    """Make a user a member of the team that an invitation is for; False if it has been revoked."""
    with transaction.atomic():
        invitation = invitation_of(secret)
        if invitation is None or lock_team(invitation.team.slug) is None or invitation_of(secret) is None:
            return False
        Membership.objects.get_or_create(team=invitation.team, user=user)
        return True


def leave_team(team: Team, user: User) -> bool:
    """End a membership; return whether the team was deleted because it had no other members and no uploads.

    If the last captain leaves, the member who joined first becomes captain.
    """
    with transaction.atomic():
        lock_team(team.slug)
        Membership.objects.filter(team=team, user=user).delete()
        members = Membership.objects.filter(team=team)
        successor = members.first()
        if successor is not None:
            if not members.filter(is_captain=True).exists():
                Membership.objects.filter(pk=successor.pk).update(is_captain=True)
            return False
        # Attempts count toward the quotas of the users who made them, so they stay.
        if Submission.objects.filter(team=team).exists() or Attempt.objects.filter(team=team).exists():
            return False
        Team.objects.filter(pk=team.pk).delete()
        return True


def teams_of(user: User) -> list[Team]:
    """The teams that a user can submit for, the personal one last."""
    personal_team(user)
    return list(Team.objects.filter(memberships__user=user).order_by("is_personal", "name"))


def baselines_team() -> Team:
    """The team of all baselines. Nobody is a member."""
    team, _ = Team.objects.get_or_create(is_baselines=True, defaults={"name": "Baselines", "slug": "baselines"})
    return team


def is_free(name: str) -> bool:
    """Return whether a team can have this name; names that read alike count as one."""
    slug = _slug(name)
    return bool(slug) and not Team.objects.filter(slug=slug).exists() and slug not in {"baselines", "anonymous"}


def mixes_alphabets(name: str) -> bool:
    """Return whether a name mixes letters of similar alphabets, so that it may look like another name."""
    letters = (letter for letter in unicodedata.normalize("NFKC", name) if letter.isalpha())
    alphabets = {unicodedata.name(letter, "").partition(" ")[0] for letter in letters}
    return len(alphabets & _SIMILAR_ALPHABETS) > 1


def _slug(name: str) -> str:
    """The slug of a team; with a checksum of its name if that has characters that addresses cannot have."""
    slug = slugify(name)[:80]  # a ligature becomes several letters
    unicode_slug = slugify(name, allow_unicode=True)
    if len(slugify(unicode_slug)) == len(unicode_slug):
        return slug
    digest = hashlib.sha256(unicodedata.normalize("NFKC", name).casefold().encode()).hexdigest()
    return f"{slug[:60]}-{digest[:12]}".lstrip("-") if unicode_slug else ""


def _free_name(name: str) -> str:
    if is_free(name[:70]):
        return name[:70]
    start = name[:60] or "team"
    numbered_names = (f"{start} {number}" for number in range(2, 10))
    random_names = (f"{start} {secrets.token_hex(4)}" for _ in count())
    return next(candidate for candidate in chain(numbered_names, random_names) if is_free(candidate))
