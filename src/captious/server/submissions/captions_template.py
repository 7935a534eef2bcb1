"""Templates of submissions: captions files with every image of a phase, to be filled in by teams."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from captious.data.ids import ImageId
from captious.server.models import Phase
from captious.server.submissions.intake import expected_files
from captious.server.submissions.upload import ExpectedFile

_EXAMPLE_CAPTION = "a dog runs along a beach"


@dataclass(frozen=True)
class NeededCaptions:
    """A captions file that submissions to a phase need.

    Attributes:
        label: its name in the challenge.
        pattern: pattern of its name in an archive.
        name: name of its template, which matches the pattern.
        ids: ids of the images that need a caption.
    """

    label: str
    pattern: str
    name: str
    ids: tuple[ImageId, ...]

    @property
    def example(self) -> str:
        """The first row of a captions file: '{"image_id": 42, "caption": "..."}'."""
        return next(_rows(self.ids[:1], _EXAMPLE_CAPTION), "")

    @property
    def template(self) -> Iterator[bytes]:
        """A captions file without captions, in parts."""
        yield b"["
        for place, row in enumerate(_rows(self.ids, "")):
            yield f"{',' if place else ''}\n{row}".encode()
        yield b"\n]\n"


def needed_captions(phase: Phase) -> list[NeededCaptions]:
    """The captions files that submissions to a phase need."""
    return [
        NeededCaptions(file.name, file.pattern, _template_name(file), tuple(json.loads(file.ids_file.read_bytes())))
        for file in expected_files(phase)
    ]


def _rows(ids: tuple[ImageId, ...], caption: str) -> Iterator[str]:
    return (json.dumps({"image_id": image, "caption": caption}, ensure_ascii=False) for image in ids)


def _template_name(file: ExpectedFile) -> str:
    name = file.pattern.replace("*", "template").replace("?", "x")
    is_json = name.endswith(".json") or not fnmatchcase(f"{name}.json", file.pattern)
    return name if is_json else f"{name}.json"
