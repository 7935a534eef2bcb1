"""What is known about images from elsewhere, and the error for images about which nothing is."""

from __future__ import annotations

from collections.abc import Sequence

from captious.data import Captions
from captious.data.source import images
from captious.errors import MissingObjectsError, option


def check_known_images(
    captions: Captions, entries: Sequence[object | None], what: str, source: str, help: str, *, kind: str = "images"
) -> None:
    """Refuse captions of images about which nothing is known, unless a subset was asked for.

    Args:
        captions: n captions.
        entries: what is known about the image of each, None for nothing.
        what: the beginning of the message, "the objects of".
        source: where it comes from.
        help: what ids should look like.
        kind: what an image stands for, in the plural.

    Raises:
        MissingObjectsError: of how many images, and the first of them.
    """
    image_ids = captions.references.images
    unknown = dict.fromkeys(image for image, entry in zip(image_ids, entries, strict=True) if entry is None)
    if unknown and not captions.subset:
        raise MissingObjectsError(
            f"{what} {len(unknown):,} of {len(set(image_ids)):,} {kind} are not known",
            where=f"{source}: {images(unknown)}",
            help=f"{help}. captious score and compare leave these {kind} out with {option('subset')}",
        )
