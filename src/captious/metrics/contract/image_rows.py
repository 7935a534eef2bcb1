"""Shared code of scorers: map image ids to rows of references, and check captions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from captious.data import ImageId, References
from captious.data.ids import numbers_from_text
from captious.errors import CaptionTypeError, ParameterError, UnknownImageError

__all__ = ["ImageRows"]


class ImageRows:
    """The rows of images among references.

    Args:
        references: the images.
    """

    def __init__(self, references: References) -> None:
        self._row_of: dict[ImageId, int] = {image: row for row, image in enumerate(references.ids)}
        if references.id_form == "text":  # a format that cannot tell "12" from 12
            self._row_of |= {image: row for row, image in enumerate(numbers_from_text(references.ids))}

    def of(self, image_ids: Sequence[ImageId], captions: Sequence[str]) -> NDArray[np.int64]:
        """The row of each caption's image, int64[n].

        Args:
            image_ids: n ids of images that have references.
            captions: n candidates, one for each id.

        Raises:
            ParameterError: not as many ids as captions.
            CaptionTypeError: a caption that is not a string, or one string in place of a list.
            UnknownImageError: an id without references.
        """
        if isinstance(captions, str) or not set(map(type, captions)) <= {str}:
            raise _not_strings(image_ids, captions)
        if len(image_ids) != len(captions):
            raise ParameterError(
                f"{len(image_ids):,} image ids for {len(captions):,} captions", help="give one id per caption"
            )
        try:
            return np.array([self._row_of[image] for image in image_ids], np.int64)
        except KeyError as error:
            raise UnknownImageError(
                "a caption is for an image that has no references",
                where=f"image_id {error.args[0]!r}",
                help="create the scorer with the references of all images of the training set",
            ) from None


def _not_strings(image_ids: Sequence[ImageId], captions: Sequence[object]) -> CaptionTypeError:
    if isinstance(captions, str):
        return CaptionTypeError(
            "a single string was given instead of a list of captions", where=repr(captions[:60]), help="give [caption]"
        )
    at, caption = next((at, caption) for at, caption in enumerate(captions) if type(caption) is not str)
    image = repr(image_ids[at]) if at < len(image_ids) else "none"
    return CaptionTypeError(
        f"a caption is a {type(caption).__name__}, not a string",
        where=f"position {at}, image_id {image}",
        help='captions must be strings; use "" for an empty caption',
    )
