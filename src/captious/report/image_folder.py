"""Images in a folder on disk, as URLs relative to the page; the folder or a URL template, as users specify."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from captious.data import ImageId
from captious.report.image_urls import ImageUrls


@dataclass(frozen=True)
class ImageFolder:
    """A folder of image files named by image id.

    Args:
        folder: the folder.
        page: the folder of the page.
    """

    folder: Path
    page: Path

    @property
    def source(self) -> str:
        """Sources that the content security policy of the page has to allow."""
        return "'self' file:"

    def check(self, ids: Sequence[ImageId]) -> None:
        """Refuse image ids without a file.

        Raises:
            InputError: the folder cannot be read; images without a file, or with more than one.
        """
        self.addresses(ids)

    def addresses(self, ids: Sequence[ImageId]) -> list[str]:
        """Return the URL of each image.

        Raises:
            InputError: as for ``check``.
        """
        from captious.models.images import find_images

        names = [path.name for path in find_images(self.folder, ids)]
        folder, page = self.folder.resolve(), self.page.resolve()
        if folder.drive != page.drive:
            return [(folder / name).as_uri() for name in names]
        relative = Path(os.path.relpath(folder, page)).as_posix()
        return [quote(f"./{relative}/{name}") for name in names]


def image_source(value: str | os.PathLike[str], page: Path) -> ImageUrls | ImageFolder:
    """Return a URL template if the value has a field or is a web address; otherwise, a folder.

    Args:
        value: a template or a folder.
        page: the folder of the page.

    Raises:
        ParameterError: an invalid template.
    """
    if isinstance(value, str) and ("{" in value or "://" in value or not value):
        return ImageUrls(value)
    return ImageFolder(Path(value), page)
