"""Files of submissions: incoming uploads, a folder with a random name for each submission, and streamed zip files.

Uploads are streamed to the data folder, within size limits that hold before anything is read.
"""

from __future__ import annotations

import io
import json
import os
import secrets
import shutil
import time
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.db import transaction
from django.db.models import QuerySet
from django.http import StreamingHttpResponse

from captious_server.models import Scores, Submission

# A zip file that is sent while it is made.

_BLOCK_BYTES = 1 << 16
_FIXED_DATE = (1980, 1, 1, 0, 0, 0)  # so that equal content gives equal files


class _Sink(io.RawIOBase):
    """A buffer that keeps written bytes until they are taken."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        data, self._parts = b"".join(self._parts), []
        return data


def zip_blocks(files: Iterable[tuple[str, Iterable[bytes]]]) -> Iterator[bytes]:
    """A zip file of files, each with its name and its content in parts."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, parts in files:
            with archive.open(zipfile.ZipInfo(name, _FIXED_DATE), "w", force_zip64=True) as entry:
                for part in parts:
                    entry.write(part)
                    yield sink.take()
    yield sink.take()


def attachment(parts: Iterable[bytes | str], content_type: str, name: str) -> StreamingHttpResponse:
    """A file of this name that is sent while it is made."""
    response = StreamingHttpResponse(parts, content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def content(path: Path) -> Iterator[bytes]:
    """A file in parts."""
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            yield block


# Incoming uploads and the folders of submissions.

_UPLOAD_NAME = "upload"


def incoming_folder() -> Path:
    """The folder of uploads while they are received and read."""
    folder: Path = settings.CAPTIOUS.data / "incoming"
    folder.mkdir(exist_ok=True)
    return folder


def reading_lock(user: int) -> Path:
    """The file that is locked while an upload of a user is read."""
    return settings.CAPTIOUS.data / "reading" / str(user)


class ToDataFolder(TemporaryFileUploadHandler):
    """Streams an uploaded file to the data folder, so that it can be moved into place when it is accepted."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        settings.FILE_UPLOAD_TEMP_DIR = str(incoming_folder())
        super().new_file(*args, **kwargs)
        assert isinstance(self.file, TemporaryUploadedFile)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        try:
            super().receive_data_chunk(raw_data, start)
        except OSError:  # the disk may be full: give the space back now
            self.upload_interrupted()
            raise


def new_folder() -> Path:
    """A new, empty folder for a submission."""
    folder: Path = settings.CAPTIOUS.data / "submissions" / secrets.token_hex(16)
    (folder / "captions").mkdir(parents=True)
    return folder


def upload_file(folder: Path) -> Path:
    """The path of the uploaded file."""
    return folder / _UPLOAD_NAME


def captions_file(folder: Path, captions: str) -> Path:
    """One of the submission's captions files, checked and in the order of the challenge's images."""
    return folder / "captions" / f"{captions}.json"


def captions_names(folder: Path) -> list[str]:
    """The names of all its captions files."""
    return sorted(file.stem for file in (folder / "captions").glob("*.json"))


def captions_bytes(folder: Path) -> int:
    """The size of all its captions files."""
    return sum(file.stat().st_size for file in (folder / "captions").glob("*.json"))


def candidates_in(folder: Path, captions: str) -> dict[Any, str]:
    """The candidates of one captions file of a submission, by image id."""
    rows = json.loads(captions_file(folder, captions).read_bytes())
    return {row["image_id"]: row["caption"] for row in rows}


def remove_files(folder: Path) -> None:
    """Free the storage of a submission."""
    shutil.rmtree(folder, ignore_errors=True)


def delete(submissions: QuerySet[Submission]) -> int:
    """Delete submissions with their scores and files; return their number. Their rows stay, because they may count."""
    pks = [*submissions.values_list("pk", flat=True)]
    deleted = Submission.objects.filter(pk__in=pks, status=Submission.Status.DELETED)
    with transaction.atomic():
        n = submissions.filter(pk__in=pks).update(
            status=Submission.Status.DELETED,
            **dict.fromkeys(("description", "link", "traceback"), ""),
            is_chosen=False,
            shown_scores=None,
        )
        Scores.objects.filter(submission__in=deleted).delete()
    for submission in deleted:
        remove_files(submission.folder)
    return n


def remove_old_results(submission: Submission) -> None:
    """Remove the files of results that have been replaced."""
    names = set(submission.all_scores.values_list("results_file", flat=True))
    for path in submission.folder.glob("results-*.npz"):
        if path.name not in names:
            path.unlink(missing_ok=True)


def remove_leftovers(min_age: float = 3600) -> int:
    """Remove leftovers of killed processes that are at least so many seconds old; return their number.

    These are uploads that were never finished, folders without a submission, unfinished files, and results that are not
    those of the submission.
    """
    n = 0
    limit = time.time() - min_age
    for path in _leftovers():
        try:
            if path.stat().st_mtime > limit:
                continue
            shutil.rmtree(path) if path.is_dir() else os.unlink(path)
            n += 1
        except OSError:  # another process was faster
            continue
    return n


def _leftovers() -> Iterator[Path]:
    yield from incoming_folder().iterdir()
    yield from settings.CAPTIOUS.data.glob(".backup-*")
    submissions = Submission.objects.exclude(status=Submission.Status.DELETED)
    files_of_folder: dict[str, set[str] | None] = {
        folder: None if status == Submission.Status.RUNNING else set()
        for folder, status in submissions.values_list("folder_name", "status")
    }
    for folder_name, file in Scores.objects.values_list("submission__folder_name", "results_file"):
        if (files := files_of_folder.get(folder_name)) is not None:
            files.add(file)
    for folder in (settings.CAPTIOUS.data / "submissions").glob("*"):
        if folder.name not in files_of_folder:
            yield folder
            continue
        yield from folder.rglob(".*")
        if (results := files_of_folder[folder.name]) is not None:
            yield from (path for path in folder.glob("results-*") if path.name not in results)
