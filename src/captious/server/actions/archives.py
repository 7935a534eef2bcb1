"""The archive of a challenge as a file to send."""

from __future__ import annotations

from django.http import HttpRequest, StreamingHttpResponse

from captious.server.actions.explained_errors import ExplainedError
from captious.server.actions.forms import one_line
from captious.server.actions.leaderboards import UnknownNameError
from captious.server.boards.challenge_archive import ChallengeArchive
from captious.server.models import Challenge
from captious.server.people.access import why_hidden
from captious.server.request_values import flag


class WithheldArchiveError(ExplainedError):
    """A public archive of phases whose scores are withheld."""

    status = 403

    def __init__(self, archive: ChallengeArchive) -> None:
        why = " ".join(f"{phase}: {why_hidden(phase)}" for phase in archive.withheld)
        super().__init__(f"There is no public archive of {archive.title}, as its scores are withheld. {why}")


def archive_answer(request: HttpRequest, challenge: Challenge) -> StreamingHttpResponse:
    """The archive of a challenge, or of one phase if the address names it, for users who manage the challenge.

    Raises:
        UnknownNameError: there is no such phase.
        WithheldArchiveError: a public archive would have no scores.
    """
    phase = None
    if "phase" in request.GET:
        phase = challenge.phases.filter(name=one_line(request.GET["phase"])).first()
        if phase is None:
            raise UnknownNameError("phase", request.GET["phase"], (row.name for row in challenge.phases.all()))
    # Invalid values select the more private archive.
    is_public, anonymous = (flag(request.GET.get(name, "0")) is not False for name in ("public", "anonymous"))
    archive = ChallengeArchive(challenge, phase, is_public=is_public, anonymous=anonymous)
    if not archive.phases:
        raise WithheldArchiveError(archive)
    response = StreamingHttpResponse(archive.blocks(), "application/zip")
    response["Content-Disposition"] = f'attachment; filename="{archive.name}"'
    return response
