"""``ImageObjects``: the objects in each image, the ground truth of CHAIR; read, looked up and saved."""

from __future__ import annotations

import io
import json
import os
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from captious.data import ImageId, References, read_rows
from captious.data.ids import IdForm, are_numbers, numbers_from_text, read_alike
from captious.data.reading.caption_rows import CaptionRows
from captious.errors import ParameterError, needed_for
from captious.files.atomic_write import whole_file
from captious.files.checksum import checksum
from captious.phrases import counted, counted_of


@dataclass(frozen=True, eq=False)
class ImageObjects:
    """The objects of images.

    Args:
        by_image: image -> names of its objects, possibly none.
        name: name of the source in messages.
        id_form: how the source wrote its ids; see ``captious.data.ids``.
    """

    by_image: Mapping[ImageId, frozenset[str]]
    name: str = field(default="objects", kw_only=True)
    id_form: IdForm = field(default="typed", kw_only=True)

    @classmethod
    def read(cls, source: object) -> ImageObjects:
        """Read objects from a file or a Python object: COCO's instances, ``{image: [names]}``, or records.

        Raises:
            InputError: an invalid source.
            MissingExtraError: a parquet file without pyarrow.
        """
        return cls.of_rows(read_rows(source, "objects"))

    @classmethod
    def of_rows(cls, rows: CaptionRows) -> ImageObjects:
        """Create from rows, each of which names one object, read with the role "objects"."""
        names_of: dict[ImageId, set[str]] = {image: set() for image in rows.known_images}
        for image, name in zip(rows.ids, rows.texts, strict=True):
            names_of.setdefault(image, set()).add(name)
        shared: dict[frozenset[str], frozenset[str]] = {}  # many images have equal sets
        by_image = {}
        for image, names in names_of.items():
            objects = frozenset(names)
            by_image[image] = shared.setdefault(objects, objects)
        return cls(by_image, name=rows.name, id_form=rows.id_form)

    def __len__(self) -> int:
        """Return the number of images."""
        return len(self.by_image)

    def __repr__(self) -> str:
        return f"<ImageObjects {self.name!r}: {counted(len(self), 'image')}>"

    @cached_property
    def label(self) -> str:
        """The objects in signatures: the number of images, and a checksum of all objects."""
        content = sorted((str(image), *sorted(names)) for image, names in self.by_image.items())
        return f"{len(self)}-{checksum(json.dumps(content))}"

    @property
    def contents(self) -> str:
        """Short description."""
        return f"{counted(sum(map(len, self.by_image.values())), 'object')} of {counted(len(self), 'image')}"

    @property
    def warnings(self) -> list[str]:
        """A warning if some images have no objects."""
        if not (empty := sum(not names for names in self.by_image.values())):
            return []
        what = "every object that a caption of them names will count as hallucinated."
        return [f"{counted_of(empty, len(self), 'image', 'have')} no objects: {what}"]

    @cached_property
    def _images(self) -> tuple[ImageId, ...]:
        return tuple(self.by_image)

    def look_up(self, references: References) -> list[frozenset[str] | None]:
        """Return the objects in the image of each row; None for unknown images.

        Ids match as those of candidates and references do.

        Raises:
            ParameterError: one side has ids, the other only positions.
        """
        by_position = [side.name for side in (self, references) if side.id_form == "position"]
        if len(by_position) == 1 and len(references):
            raise ParameterError(
                "images cannot be matched with their objects, because one side has only positions",
                where=f"without ids: {by_position[0]}",
                help="give captions and objects with image ids, as {image_id: caption} and {image_id: [objects]}",
            )
        own, images = read_alike(self._images, self.id_form, references.images, references.id_form)
        table = self.by_image if own is self._images else dict(zip(own, self.by_image.values(), strict=True))
        return [table.get(image) for image in images]

    def union(self, other: ImageObjects) -> ImageObjects:
        """Return the objects of both, for the images of either.

        Raises:
            ParameterError: one side has ids, the other only positions.
        """
        if {self.id_form, other.id_form} == {"text", "typed"}:
            sides = read_alike(self._images, self.id_form, other._images, other.id_form)
            self, other = (
                ImageObjects(dict(zip(ids, side.by_image.values(), strict=True)), name=side.name)
                for ids, side in zip(sides, (self, other), strict=True)
            )
        elif self.id_form != other.id_form:
            raise ParameterError(
                "one side has image ids and the other only positions, so they cannot be matched",
                where=f"{self.name}, {other.name}",
                help="give both with ids",
            )
        by_image: defaultdict[ImageId, frozenset[str]] = defaultdict(frozenset, self.by_image)
        for image, names in other.by_image.items():
            by_image[image] |= names
        return ImageObjects(dict(by_image), name=f"{self.name}, {other.name}", id_form=self.id_form)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file for ``read``: parquet by its extension, else JSON, ``{image: [names]}``, names sorted.

        Raises:
            OutputError: the file cannot be written.
            MissingExtraError: parquet without pyarrow.
        """
        if Path(path).suffix.lower() == ".parquet":
            self._save_parquet(path)
            return
        lines = (
            f"{json.dumps(str(image), ensure_ascii=False)}: {json.dumps(sorted(names), ensure_ascii=False)}"
            for image, names in self.by_image.items()
        )
        text = "{\n" + ",\n".join(lines) + "\n}\n"
        with whole_file(path) as file:
            file.write(text)

    def _save_parquet(self, path: str | os.PathLike[str]) -> None:
        with needed_for("parquet", "parquet"):
            import pyarrow as pa
            import pyarrow.parquet as pq
        images = list(numbers_from_text(self.by_image) if self.id_form == "text" else self.by_image)
        if not are_numbers(images):
            images = [str(image) for image in images]
        names = pa.array([*map(sorted, self.by_image.values())], pa.list_(pa.string()))
        content = io.BytesIO()
        pq.write_table(pa.table({"image_id": images, "objects": names}), content)
        with whole_file(path, "wb") as file:
            file.write(content.getvalue())


def as_image_objects(objects: object) -> ImageObjects:
    """Return objects of images; anything else is read.

    Raises as ``ImageObjects.read`` does.
    """
    return objects if isinstance(objects, ImageObjects) else ImageObjects.read(objects)
