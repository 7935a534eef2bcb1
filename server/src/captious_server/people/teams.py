"""Teams: their members, approval by organizers, the terms that they accept, and their admission to challenges."""

from __future__ import annotations

import hashlib
import secrets
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from itertools import chain, count

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, F, Max, OuterRef, Prefetch, Q, QuerySet
from django.utils import timezone
from django.utils.text import slugify

from captious.drawing import counted
from captious_server.models import (
    Attempt,
    Challenge,
    Membership,
    Submission,
    Team,
    TeamApproval,
    TeamBan,
    TermsAcceptance,
    User,
)
from captious_server.people.access import UserRequest, Visitor
from captious_server.people.accounts import invitation_of, record
from captious_server.settings import local_time

# Approval of teams: in some challenges, a team asks to take part, and the organizers approve or refuse it.

_Status = TeamApproval.Status


def approvals_of(challenge: Challenge, teams: Iterable[Team] | None = None) -> QuerySet[TeamApproval]:
    """Requests and decisions of some teams or all; pending requests come first, then the latest decisions."""
    rows = TeamApproval.objects.filter(challenge=challenge).select_related("team")
    if teams is not None:
        rows = rows.filter(team__in=[*teams])
    return rows.prefetch_related("team__members").order_by(F("decided").desc(nulls_first=True), "-asked", "-pk")


def teams_to_approve(challenge: Challenge, teams: Iterable[Team]) -> list[Team]:
    """The teams that are not approved, in a challenge that asks for it."""
    if not challenge.definition.team_approval:
        return []
    teams = [*teams]
    rows = TeamApproval.objects.filter(challenge=challenge, team__in=teams, status=_Status.APPROVED)
    approved_ids = {*rows.values_list("team", flat=True)}
    return [team for team in teams if team.pk not in approved_ids]


def ask(challenge: Challenge, team: Team, message: str = "") -> TeamApproval:
    """Request approval, also after a refusal; an approved team stays approved."""
    values = {"status": _Status.ASKED, "message": message, "asked": timezone.now(), "decided": None}
    row, is_new = TeamApproval.objects.get_or_create(challenge=challenge, team=team, defaults=values)
    if not is_new:
        TeamApproval.objects.filter(pk=row.pk).exclude(status=_Status.APPROVED).update(**values)
        row.refresh_from_db()
    return row


def decide(row: TeamApproval, *, approved: bool, reason: str = "") -> None:
    """Approve or refuse a team. What it has submitted before stays."""
    row.status = _Status.APPROVED if approved else _Status.REFUSED
    row.reason = "" if approved else reason
    row.decided = timezone.now()
    row.save(update_fields=["status", "reason", "decided"])


def why_not_approved(submission: Submission) -> str:
    """The reason why an unapproved team cannot submit, in one sentence; empty if it can."""
    team, challenge = submission.team, submission.challenge
    if submission.is_baseline or not teams_to_approve(challenge, [team]):
        return ""
    row = TeamApproval.objects.filter(challenge=challenge, team=team).first()
    if row is None:
        return f"This challenge requires approval of teams. Request approval for {team}: {challenge.url}teams"
    if row.status == _Status.ASKED:
        return f"{team} requested approval on {local_time(row.asked)} and is waiting for the organizers."
    return f"The organizers did not approve {team}: {row.reason}"


# Teams: the personal one of every account, those that users create, and that of the baselines.

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


def teams_in(challenge: Challenge) -> QuerySet[Team]:
    """The teams that take part in a challenge, by name: that uploaded something, asked for approval, or accepted
    terms. Their ``n`` submissions that count, and the time of the ``last``, come with them.
    """
    counted_ones = Q(submissions__phase__challenge=challenge, submissions__counts=True)
    takes_part = Q(attempts__phase__challenge=challenge) | Q(approvals__challenge=challenge)
    pks = Team.objects.filter(takes_part | Q(acceptances__challenge=challenge)).values("pk")
    members = Prefetch("memberships", Membership.objects.select_related("user"))
    rows = Team.objects.filter(pk__in=pks).prefetch_related(members).order_by("name")
    return rows.annotate(
        n=Count("submissions", filter=counted_ones), last=Max("submissions__created", filter=counted_ones)
    )


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


# Terms of a challenge: a team accepts each version once before it submits; user and time are recorded.


def terms_of(challenge: Challenge) -> dict[str, str] | None:
    """The text of the terms, as pages show it; None if there are none."""
    title = challenge.definition.terms
    return next((text for text in challenge.texts if text["title"] == title), None) if title else None


def accepted_by(challenge: Challenge, teams: Iterable[Team]) -> QuerySet[TermsAcceptance]:
    """The terms that teams have accepted, all versions, the latest first."""
    return TermsAcceptance.objects.filter(challenge=challenge, team__in=[*teams]).select_related("team")


def teams_without(challenge: Challenge, teams: Iterable[Team]) -> list[Team]:
    """The teams that have not accepted the present terms."""
    if not challenge.terms_version:
        return []
    teams = [*teams]
    ids = {row.team_id for row in accepted_by(challenge, teams) if row.version == challenge.terms_version}
    return [team for team in teams if team.pk not in ids]


def accept(request: UserRequest, challenge: Challenge, team: Team) -> TermsAcceptance:
    """Accept the present terms for a team; the first acceptance of a version counts."""
    row, _ = TermsAcceptance.objects.get_or_create(
        challenge=challenge, team=team, version=challenge.terms_version, defaults={"user": request.user.username}
    )
    record("accept terms", team.name, request=request, challenge=challenge, detail=row.version)
    return row


def why_terms_refuse(submission: Submission) -> str:
    """The reason why terms prevent a submission, in one sentence; empty if they do not."""
    if submission.is_baseline or not teams_without(submission.challenge, [submission.team]):
        return ""
    return f"{submission.team} must accept the terms first: {submission.challenge.url}terms"


# Conditions for admitting a team to a challenge: size, date, confirmed members, approval, terms and bans.
#
# Accounts are free, and quotas are those of a team and its members, so a challenge can ask for what is not: an address
# that no other account has confirmed, at certain domains, or the approval of the organizers.


def confirms_members(challenge: Challenge) -> bool:
    """Return whether members need a confirmed address. Sites that send no mail can confirm none."""
    definition = challenge.definition
    return bool(definition.mail_domains or (definition.confirmed_members and settings.CAPTIOUS.email_url))


def why_not_confirmed(submission: Submission) -> str:
    """The reason why the addresses of members prevent a submission, in one sentence; empty if they do not."""
    if not confirms_members(submission.challenge):
        return ""
    domains = submission.challenge.definition.mail_domains
    unconfirmed = [
        member.username
        for member in submission.team.members.order_by("username")
        if not _is_at(member.confirmed_email, domains)
    ]
    if not unconfirmed:
        return ""
    where = f" at {' or '.join(domains)}" if domains else ""
    return (
        f"Each member of a team must confirm a mail address{where}, on the account page. "
        f"In {submission.team}, these have not: {', '.join(unconfirmed)}."
    )


def _is_at(address: str, domains: Sequence[str]) -> bool:
    """Return whether there is an address, at one of the domains or below one if there are any."""
    host = f".{address.rpartition('@')[2].lower()}"
    return bool(address) and (not domains or any(host.endswith(f".{domain}") for domain in domains))


def why_not_admitted(submission: Submission) -> str:
    """The reason why a challenge refuses a submission of a team, in one sentence; empty if it does not."""
    if submission.is_baseline:
        return ""
    team, challenge = submission.team, submission.challenge
    if bans := bans_of(challenge, [team], submission.user):
        return str(bans[team.pk])
    definition, memberships = challenge.definition, Membership.objects.filter(team=team)
    if definition.team_size and (n := memberships.count()) > definition.team_size:
        return f"Teams of this challenge may have {counted(definition.team_size, 'member')}; {team} has {n:,}."
    deadline = definition.teams_close
    if deadline is not None and memberships.filter(user=submission.user, joined__gt=deadline).exists():
        return f"Teams of this challenge closed on {local_time(deadline)}, before you joined {team}."
    return why_not_confirmed(submission) or why_not_approved(submission) or why_terms_refuse(submission)


def bans_of(challenge: Challenge, teams: Collection[Team], user: User | None) -> dict[int, TeamBan]:
    """The bans that keep a user from submitting for these teams, by team number.

    A ban applies to the team, or to another team that the user was a member of.
    """
    is_member = TeamBan.users.through.objects.filter(teamban=OuterRef("pk"), user=user)
    rows = challenge.bans.select_related("team").annotate(bars_user=Exists(is_member))
    bans = [*rows.filter(Q(team__in=teams) | Q(bars_user=True))]
    if not bans:  # the usual case, which needs no query of teams
        return {}
    team_bans = {ban.team_id: ban for ban in bans}
    user_ban = next((ban for ban in bans if ban.bars_user), None)
    pairs = ((team.pk, team_bans.get(team.pk, user_ban)) for team in teams)
    return {team: ban for team, ban in pairs if ban is not None}


def is_banned(challenge: Challenge, user: Visitor) -> bool:
    """Return whether a user is banned from a challenge, for any team."""
    if not user.is_authenticated:
        return False
    teams = Team.objects.filter(members=user)
    bans = bans_of(challenge, teams, user)
    return bool(bans) and len(bans) == len(teams)
