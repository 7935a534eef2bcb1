"""Input and output of the process that reads an upload: limits, expected files, and problems.

The process that reads uploads has to start fast: nothing that it imports needs numpy.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from captious.data.ids import ImageId
from captious.errors import ParameterError

#: Number of image ids listed in a problem; others are only counted.
_N_LISTED_IDS = 20
_NAME_LENGTH = 100
#: CPU time for a small file, and its growth with the size of the file.
_LEAST_SECONDS, _SECONDS_PER_SHARE = 10, 4
_UNITS = ((1 << 30, "GiB"), (10**9, "GB"), (1 << 20, "MiB"), (10**6, "MB"), (1 << 10, "KiB"), (10**3, "kB"))


@dataclass(frozen=True)
class UploadLimits:
    """The limits on the resources that an upload may take.

    Args:
        upload_bytes: size of the uploaded file.
        unpacked_bytes: unpacked size.
        entries: entries of a zip file.
        ratio: how many times its packed size a file may unpack to. Captions pack 5 to 15 times.
        memory_bytes: address space of the process that reads it.
        seconds: CPU time of that process.
        caption_characters: length of one caption.
        caption_words: words and punctuation marks in one caption.
        equal_captions: the largest share of images that may have the same caption.
    """

    upload_bytes: int = 100 << 20
    unpacked_bytes: int = 500 << 20
    entries: int = 64
    ratio: int = 200
    memory_bytes: int = 2 << 30
    seconds: int = 60
    caption_characters: int = 5000
    caption_words: int = 150
    equal_captions: float = 1.0

    @property
    def wall_seconds(self) -> int:
        """The wall-time limit of the process, which allows for a busy machine."""
        return 3 * self.seconds + 10

    def of_size(self, size: int) -> UploadLimits:
        """The limits for a file of this size: small files get less time, however large they are when unpacked."""
        seconds = _LEAST_SECONDS + _SECONDS_PER_SHARE * self.seconds * size / self.upload_bytes
        return replace(self, seconds=min(self.seconds, int(seconds)))

    @property
    def of_baselines(self) -> UploadLimits:
        """The limits of organizers' own submissions: these may be constant, with captions of any number of words."""
        return replace(self, caption_words=self.caption_characters, equal_captions=1.0)


@dataclass(frozen=True)
class ExpectedFile:
    """A captions file that a challenge expects.

    Args:
        name: lower-case letters, digits and hyphens.
        pattern: pattern of its name in a zip file, such as ``captions_val2014_*_results.json``.
        ids_file: a JSON list of the ids of all required images, integers or strings.

    Raises:
        ParameterError: a name with other characters.
    """

    name: str
    pattern: str
    ids_file: Path

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9-]+", self.name):
            raise ParameterError(
                f"a captions file cannot be called {self.name!r}", help="use lower-case letters, digits and hyphens"
            )


@dataclass(frozen=True)
class Problem:
    """A problem of an upload, worded for those who uploaded it.

    Args:
        file: name of the file in the upload.
        message: one sentence.
        ids: some of the images concerned, at most 20.
        n: how many images are concerned; 0 where the problem is not one of images.
        is_slow: whether reading the file took too long.
    """

    file: str
    message: str
    ids: tuple[ImageId, ...] = ()
    n: int = 0
    is_slow: bool = field(default=False, compare=False)

    @classmethod
    def about(cls, file: str, message: str, ids: Collection[ImageId]) -> Problem:
        """A problem of images; names the first 20 and counts all."""
        listed_ids = tuple(
            printable(image) if isinstance(image, str) else image for image in islice(ids, _N_LISTED_IDS)
        )
        return cls(file, message, listed_ids, len(ids))

    def to_dict(self) -> dict[str, Any]:
        """The problem as JSON can hold it."""
        return {"file": self.file, "message": self.message, "ids": list(self.ids), "n": self.n}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Problem:
        """The inverse of ``to_dict``."""
        return cls(str(fields["file"]), str(fields["message"]), tuple(fields["ids"]), int(fields["n"]))


def printable(text: str) -> str:
    """A name from an upload that can be shown and stored: shortened, with unprintable characters escaped."""
    short = text if len(text) <= _NAME_LENGTH else text[: _NAME_LENGTH - 1] + "…"
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape", "surrogatepass").decode("ascii")
        for letter in short
    )


def amount(n: int) -> str:
    """A number of bytes in the largest unit that gives a whole number: "2 GiB", "100 MB", "1,234 bytes"."""
    for size, unit in _UNITS:
        if n >= size and n % size == 0:
            return f"{n // size:,} {unit}"
    return f"{n:,} bytes"
