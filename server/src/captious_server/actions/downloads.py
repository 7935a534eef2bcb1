"""Files to download: those of organizers, templates of submissions, scores of images, archives of challenges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from django.http import FileResponse, Http404, HttpRequest, StreamingHttpResponse

from captious_server.actions import one_line, open_phases
from captious_server.boards.archive import ChallengeArchive
from captious_server.boards.leaderboard import csv_file
from captious_server.boards.query import UnknownNameError
from captious_server.boards.ranking import rounded_array
from captious_server.challenges import references as reference_cache
from captious_server.models import Challenge, Submission
from captious_server.people.access import ExplainedError, OldScoresError, Request, Visitor, may_browse, why_hidden
from captious_server.scoring.results import read_results
from captious_server.settings import flag
from captious_server.submissions import storage
from captious_server.submissions.intake import needed_captions
from captious_server.submissions.storage import attachment, zip_blocks

# The archive of a challenge as a file to send.


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
    return attachment(archive.blocks(), "application/zip", archive.name)


# Files that teams download.


def published_file(challenge: Challenge, name: str) -> FileResponse:
    """A file that the organizers of a challenge publish. No other file of a challenge is served.

    Raises:
        Http404: there is no such file.
    """
    return file_of(challenge.folder, challenge.downloads, name)


def file_of(folder: Path, downloads: Iterable[Mapping[str, Any]], name: str) -> FileResponse:
    """A file of a challenge folder that can be downloaded.

    Raises:
        Http404: it is not one of the downloads.
    """
    row = next((row for row in downloads if row["file"] == name), None)
    path = folder / name
    if row is None or not path.is_file():
        raise Http404
    response = FileResponse(
        path.open("rb"), as_attachment=True, filename=path.name, content_type="application/octet-stream"
    )
    response["ETag"] = f'"{row["sha256"]}"'
    return response


def captions_template(request: Request, challenge: Challenge) -> StreamingHttpResponse:
    """Empty captions files of the open phase that the address names: JSON, or a zip file if there are several.

    Raises:
        UnknownNameError: there is no such phase, or it is not open.
    """
    phases = open_phases(challenge, request.arrival_time)
    phase = next((phase for phase in phases if phase.name == request.GET.get("phase")), None)
    if phase is None:
        raise UnknownNameError("open phase", request.GET.get("phase", ""), (phase.name for phase in phases))
    files, name = needed_captions(phase), f"{challenge.slug}-{phase.name}-template"
    if len(files) == 1:
        return attachment(files[0].template, "application/json", f"{name}.json")
    return attachment(zip_blocks((file.name, file.template) for file in files), "application/zip", f"{name}.zip")


def scores_of_images(user: Visitor, submission: Submission, captions: str, references: str) -> StreamingHttpResponse:
    """Captions, references and scores of each image as CSV.

    Raises:
        Http404: there are none, or the user may not see them.
        OldScoresError: the references or metrics have changed since the scores were computed.
    """
    challenge = submission.challenge
    keys = {(row.captions, row.name): key for key, row in submission.phase.reference_sets.items()}
    key = keys.get((captions, references), "")
    if not key or not may_browse(user, submission, captions):
        raise Http404
    results = read_results(submission.results_path, key)
    if results is None:
        raise Http404
    if not submission.is_current(key):
        raise OldScoresError
    candidates = storage.candidates_in(submission.folder, captions)
    table = reference_cache.references(challenge, submission.phase.reference_sets[key])
    offsets = table.offsets.tolist()
    n = max(end - start for start, end in pairwise(offsets))
    per_caption = rounded_array(results.per_caption, submission.phase.digits)
    texts = (table.texts[start:end] for start, end in pairwise(offsets))
    rows = (
        [image, candidates[image], *values.tolist(), *reference_texts, *[""] * (n - len(reference_texts))]
        for image, reference_texts, values in zip(table.ids, texts, per_caption, strict=True)
    )
    header = ["image_id", "caption", *results.outputs, *(f"reference_{i}" for i in range(1, n + 1))]
    return csv_file(header, rows, f"submission-{submission.pk}-{captions}-{references}.csv")
