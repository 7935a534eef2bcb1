"""A trained critique, consisting of a network and its vocabulary, and its safetensors file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.errors import ParameterError, ResourceError
from captious.files.checksum import checksum
from captious.learned.critique.critique_network import Critique
from captious.learned.critique.critique_recipes import CritiqueRecipe
from captious.learned.critique.critique_vocabulary import FIRST_WORD, encoded
from captious.learned.weight_files import check_name, read_weights, write_weights
from captious.phrases import counted

_LARGEST = 1 << 30
_HELP = "give a file that 'captious learn critique' wrote"


@dataclass(frozen=True, eq=False)
class CritiqueWeights:
    """A trained critique.

    Args:
        name: name in signatures.
        words: its vocabulary.
        critique: the network.
        image_model: the model that computed the image features of the training data; "" if unknown, or without images.
        about: the training data, and the course of the training.

    Raises:
        ParameterError: a vocabulary that does not match the network.
    """

    name: str
    words: tuple[str, ...]
    critique: Critique
    image_model: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.numbers) != len(self.words) or len(self.words) + FIRST_WORD != len(
            self.critique.arrays["embedding"]
        ):
            raise ParameterError("the vocabulary does not match the network", help=_HELP)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """Number of each word."""
        return {word: number for number, word in enumerate(self.words, FIRST_WORD)}

    @cached_property
    def label(self) -> str:
        """The weights in signatures: the name, and a checksum of recipe, vocabulary and network."""
        text = "\n".join([json.dumps(self.critique.recipe.to_dict(), sort_keys=True), *self.words])
        arrays = [self.critique.arrays[name].astype(np.float32) for name in sorted(self.critique.arrays)]
        return f"{self.name}-{checksum(text, *arrays)}"

    @property
    def contents(self) -> str:
        """A short description."""
        recipe = self.critique.recipe
        return (
            f"{recipe.name}, {recipe.combination}, images: {recipe.images}, {counted(len(self.words), 'word')}, "
            f"{self.label}"
        )

    def sentences(self, captions: tuple[str, ...]) -> NDArray[np.float32]:
        """Return vectors of captions, float32[n, units]; equal captions are read once."""
        rows: dict[str, int] = {}
        of_captions = [rows.setdefault(caption, len(rows)) for caption in captions]
        numbers = encoded([*rows], self.numbers, self.critique.recipe.length)
        return self.critique.sentences(numbers)[np.array(of_captions, np.int64)]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a safetensors file.

        Raises:
            OutputError: the file cannot be written.
        """
        config = {
            **{"name": self.name, "recipe": self.critique.recipe.to_dict()},
            **{"image_model": self.image_model, "about": dict(self.about)},
        }
        words = np.frombuffer(json.dumps(self.words).encode(), np.uint8)
        write_weights(path, {**self.critique.arrays, "words": words}, config)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CritiqueWeights:
        """Read a file written by ``save``.

        Raises:
            ResourceError: no such file, or not a complete file of a critique.
        """
        return read_weights(path, cls._from_arrays, most=_LARGEST, help=_HELP)

    @classmethod
    def _from_arrays(cls, arrays: dict[str, NDArray[Any]], config: dict[str, Any], _: str) -> CritiqueWeights:
        words = tuple(json.loads(arrays.pop("words").tobytes()))
        texts = (config["name"], config["image_model"], *words)
        if not all(isinstance(text, str) for text in texts) or not isinstance(config["about"], dict):
            raise ResourceError("the names in the file are damaged")
        check_name(config["name"])
        if not config["image_model"].isprintable():
            raise ResourceError("the names in the file are damaged")
        if any(array.dtype != np.float32 for array in arrays.values()):
            raise ResourceError("these are not the layers of a critique")
        critique = Critique(CritiqueRecipe.from_dict(config["recipe"]), arrays)
        return cls(config["name"], words, critique, config["image_model"], config["about"])
