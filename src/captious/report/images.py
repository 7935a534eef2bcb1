"""Images on pages: by a template of URLs, or from a folder."""

from __future__ import annotations

import os
import re
import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

from captious.data import ImageId
from captious.errors import ParameterError
from captious.words import shortened

# URLs of images: templates such as ``https://images.example.org/{id:012d}.jpg``, and their validation.


def fields_problem(template: str) -> str:
    """Return the problem of a template, in which only ``{id}`` may be replaced; "" if there is none."""
    try:
        fields = _fields(template)
    except ValueError as error:
        return f"is not a template: {error}"
    if not fields or any(name != "id" or conversion for _, name, _, conversion in fields):
        return "must contain {id}, or {id:012d} for numbers with leading zeros, and no other field"
    if any(form and re.fullmatch(r"0?[0-9]{0,2}d", form) is None for _, _, form, _ in fields):
        return "has a field of another format than {id:012d}"
    return ""


def _fields(template: str) -> list[tuple[str, str, str, str]]:
    """Return the text before a field, its name, format and conversion, for each field."""
    pieces = string.Formatter().parse(template)
    return [(text, name, form or "", conversion or "") for text, name, form, conversion in pieces if name is not None]


@dataclass(frozen=True)
class ImageUrls:
    """URLs of images on a page: addresses on the web, or paths relative to the page.

    Args:
        template: with ``{id}``, or ``{id:012d}`` for numbers with leading zeros.

    Raises:
        ParameterError: an invalid template.
    """

    template: str

    def __post_init__(self) -> None:
        problem = fields_problem(self.template) or self._place_problem()
        if problem:
            raise ParameterError(
                f"the image URL {problem}",
                where=self.template,
                hint="give a template such as 'https://images.example.org/{id:012d}.jpg', or a path relative to the "
                "report, such as 'images/{id}.jpg'",
            )

    def _place_problem(self) -> str:
        if re.search(r"[\s\\\x00-\x1f\"'<>;,]", self.template):
            return "holds spaces, quotes or other characters that must be written as %20, %22, ..."
        fixed = self.template.partition("{")[0]
        if re.match(r"[a-z][a-z0-9+.-]*:", fixed, re.IGNORECASE) is None and not fixed.startswith("//"):
            return ""
        parts = urlsplit(fixed)
        on_the_web = parts.scheme in {"https", "http"} and parts.netloc and "@" not in parts.netloc
        if not on_the_web or not parts.path:
            return "must begin with https:// or http:// and a host, or be a relative path"
        return ""

    @property
    def source(self) -> str:
        """Sources that the content security policy of the page has to allow."""
        parts = urlsplit(self.template.partition("{")[0])
        return f"{parts.scheme}://{parts.netloc}" if parts.netloc else "'self' file:"

    @property
    def pieces(self) -> Sequence[str | int]:
        """Pieces of the template: literal text, or for a field the minimum number of digits of the id."""
        pieces: list[str | int] = []
        for text, name, form, _ in string.Formatter().parse(self.template):
            pieces += [text] if text else []
            if name is not None:
                pieces.append(int(form[:-1] or 0) if form else 0)
        return pieces

    def check(self, ids: Iterable[ImageId]) -> None:
        """Refuse ids that do not fit the template.

        Raises:
            ParameterError: a number format with text ids.
        """
        wrong = next((image for image in ids if isinstance(image, str)), None)
        if wrong is not None and any(form for _, _, form, _ in _fields(self.template)):
            raise ParameterError(
                f"the image URL has a format for numbers, but there are image ids such as {shortened(wrong)}",
                where=self.template,
                hint="write {id} without a format",
            )


# Images in a folder on disk, as URLs relative to the page; the folder or a URL template, as users specify.


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
        from captious.models.clip import find_images

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
