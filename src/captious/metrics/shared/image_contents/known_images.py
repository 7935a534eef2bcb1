"""The check that data exist for the images of captions, and its error."""

from __future__ import annotations

from collections.abc import Sequence

from captious.data import Captions
from captious.data.reading.source import image_list
from captious.errors import MissingObjectsError, option


def check_known_images(
    captions: Captions, entries: Sequence[object | None], what: str, source: str, help: str, *, kind: str = "images"
) -> None:
    """Refuse captions of images without data, unless a subset was requested.

    Args:
        captions: n captions.
        entries: data of the image of each, None if there are none.
        what: the beginning of the message, "the objects of".
        source: the source of the data.
        help: the expected form of ids.
        kind: what an image stands for, in the plural.

    Raises:
        MissingObjectsError: the number of such images, and the first of them.
    """
    image_ids = captions.references.images
    unknown = dict.fromkeys(image for image, entry in zip(image_ids, entries, strict=True) if entry is None)
    if unknown and not captions.subset:
        raise MissingObjectsError(
            f"{what} {len(unknown):,} of {len(set(image_ids)):,} {kind} are not known",
            where=f"{source}: {image_list(unknown)}",
            help=f"{help}. captious score and compare leave these {kind} out with {option('subset')}",
        )
