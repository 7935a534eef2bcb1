"""Uploads on their way in: streamed to the data folder, within size limits that hold before anything is read."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.core.files.uploadhandler import TemporaryFileUploadHandler

__all__ = ["ToDataFolder", "incoming_folder"]


def incoming_folder() -> Path:
    """Where uploads are while they are received and read."""
    folder: Path = settings.CAPTIOUS.data / "incoming"
    folder.mkdir(exist_ok=True)
    return folder


class ToDataFolder(TemporaryFileUploadHandler):
    """Streams an uploaded file to the data folder, so that it can be moved into place when it is accepted."""

    def new_file(self, *args: object, **kwargs: object) -> None:
        settings.FILE_UPLOAD_TEMP_DIR = str(incoming_folder())
        super().new_file(*args, **kwargs)
        assert isinstance(self.file, TemporaryUploadedFile)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        try:
            super().receive_data_chunk(raw_data, start)
        except OSError:  # the disk may be full: give the space back now
            self.upload_interrupted()
            raise
