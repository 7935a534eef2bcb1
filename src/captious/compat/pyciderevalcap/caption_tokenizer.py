"""The PTB tokenizer under the name of the authors' code, ``pyciderevalcap.tokenizer.ptbtokenizer.PTBTokenizer``."""

from __future__ import annotations

from typing import Any

from captious.compat.pycocoevalcap import ptb_tokenizer
from captious.compat.pycocoevalcap.ptb_tokenizer import PUNCTUATIONS
from captious.errors import InputError, ParameterError

__all__ = ["PUNCTUATIONS", "PTBTokenizer"]

_SOURCES = ("gts", "res")


class PTBTokenizer:
    """Penn Treebank tokens, as in ``captious.compat.pycocoevalcap``.

    Args:
        _source: "gts" for references by image, "res" for a list of candidates.

    Raises:
        ParameterError: an unknown source.
    """

    def __init__(self, _source: str = "gts") -> None:
        if _source not in _SOURCES:
            raise ParameterError(f"{_source!r} is not a source of captions", help=f"give {' or '.join(_SOURCES)}")
        self.source = _source

    def tokenize(self, captions_for_image: Any) -> Any:
        """Tokenize captions.

        Args:
            captions_for_image: image id -> list of ``{"caption": text}`` for "gts"; for "res" a list of
                ``{"image_id": id, "caption": text}``.

        Returns:
            image id -> list of tokenized captions, or a list of ``{"image_id": id, "caption": [tokenized]}``.

        Raises:
            InputError: a value that is not a caption.
        """
        tokenizer = ptb_tokenizer.PTBTokenizer()
        if self.source == "gts":
            return tokenizer.tokenize(captions_for_image)
        try:
            images = [candidate["image_id"] for candidate in captions_for_image]
        except (KeyError, TypeError):
            raise InputError('a candidate is not a dictionary with "image_id" and "caption"', where="res") from None
        tokenized = tokenizer.tokenize({number: [candidate] for number, candidate in enumerate(captions_for_image)})
        return [
            {"image_id": image, "caption": captions} for image, captions in zip(images, tokenized.values(), strict=True)
        ]
