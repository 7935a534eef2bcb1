"""What is known about images from elsewhere, and the error for images about which nothing is."""

from __future__ import annotations

from collections.abc import Sequence

from captious.data import Captions
from captious.data.source import images
from captious.errors import MissingObjectsError, option


def check_known_images(
    captions: Captions, found: Sequence[object | None], what: str, source: str, help: str, *, each: str = "images"
) -> None:
    """Refuse captions of images about which nothing is known, unless a subset was asked for.

    Args:
        captions: n captions.
        found: what is known about the image of each, None for nothing.
        what: the beginning of the message, "the objects of".
        source: where it comes from.
        help: what ids should look like.
        each: what an image stands for.

    Raises:
        MissingObjectsError: of how many images, and the first of them.
    """
    asked = captions.references.images
    unknown = dict.fromkeys(image for image, known in zip(asked, found, strict=True) if known is None)
    if unknown and not captions.subset:
        raise MissingObjectsError(
            f"{what} {len(unknown):,} of {len(set(asked)):,} {each} are not known",
            where=f"{source}: {images(unknown)}",
            help=f"{help}. captious score and compare leave these {each} out with {option('subset')}",
        )
