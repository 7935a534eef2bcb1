"""Material for teams: files to download, templates of submissions, and terms to accept."""

from __future__ import annotations

from pathlib import Path

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from captious.server.actions.downloads import captions_template, file_of, published_file
from captious.server.challenges.logo import LOGO_TYPES
from captious.server.models import TermsAcceptance
from captious.server.pages.challenges import challenge_page
from captious.server.pages.middleware import POLICY
from captious.server.people.access import challenge_for, draft_for, may_manage
from captious.server.people.audit import record
from captious.server.people.rate_limits import limit
from captious.server.people.teams import teams_of
from captious.server.people.terms import accept, accepted_by, teams_without, terms_of


@require_safe
def download(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """A file that the organizers publish."""
    return published_file(challenge_for(request.user, slug), name)


@login_required
@require_safe
def draft_download(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """A file to download of a draft that has no problems."""
    draft = draft_for(request.user, slug)
    return file_of(draft.folder, draft.shown.get("downloads", ()), name)


@login_required
@require_safe
def template(request: HttpRequest, slug: str) -> HttpResponse:
    """A template of the captions files of a phase: JSON, or a zip file if there are several."""
    return captions_template(request, challenge_for(request.user, slug))


@require_safe
def logo(request: HttpRequest, slug: str) -> HttpResponse:
    """The logo."""
    challenge = challenge_for(request.user, slug)
    response = _logo_of(challenge.folder, challenge.definition.logo)
    if request.GET.get("v") == str(challenge.version):
        response["Cache-Control"] = "private, max-age=86400"
    return response


@login_required
@require_safe
def draft_logo(request: HttpRequest, slug: str) -> HttpResponse:
    """The logo of a draft that has no problems."""
    draft = draft_for(request.user, slug)
    return _logo_of(draft.folder, draft.shown.get("definition_values", {}).get("logo", ""))


def _logo_of(folder: Path, name: str) -> HttpResponse:
    """The logo in a challenge folder. An SVG opened by itself can neither run scripts nor act as the site.

    Raises:
        Http404: there is no logo.
    """
    path = folder / name
    kind = LOGO_TYPES.get(path.suffix.lower())
    if not name or kind is None or not path.is_file():
        raise Http404
    response = HttpResponse(path.read_bytes(), kind)
    response["Content-Security-Policy"] = f"{POLICY}; sandbox"
    return response


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def terms(request: HttpRequest, slug: str) -> HttpResponse:
    """Read the terms, and accept them for a team. Organizers see the acceptances."""
    challenge = challenge_for(request.user, slug)
    text = terms_of(challenge)
    if text is None:
        raise Http404
    teams = teams_of(request.user)
    if request.method == "POST":
        limit(request, "team")
        team = next((team for team in teams if team.slug == request.POST.get("team")), None)
        if team is None or request.POST.get("version") != challenge.terms_version:
            messages.error(request, "The terms were not accepted. Choose a team and read the current version.")
            return redirect("captious:terms", slug)
        accept(challenge, team, request.user)
        record("accept terms", team.name, request=request, challenge=challenge, detail=challenge.terms_version)
        messages.success(request, f"Terms accepted for {team}.")
        return redirect("captious:terms", slug)
    acceptances = TermsAcceptance.objects.filter(challenge=challenge).select_related("team")
    return challenge_page(
        request,
        challenge,
        "terms",
        text=text,
        waiting=teams_without(challenge, teams),
        accepted=accepted_by(challenge, teams),
        everybody=acceptances if may_manage(request.user, challenge) else [],
    )
