"""``CaptionSets``: several candidates per image with their references, one row per image.

Metrics of sets, such as diversity, receive all candidates of an image together. Metrics of single captions receive
``slots``: tables with one candidate per image, which share the references and their annotations.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from captious.data.captions import Captions, References
from captious.data.ids import ImageId
from captious.errors import ParameterError
from captious.phrases import counted


@dataclass(frozen=True, eq=False)
class Slot:
    """The k-th candidate of each image: int64[n] rows of a table, and the index of the candidate in each.

    Images with fewer candidates have rows that do not count. Indices refer to ``CaptionSets.candidates``.
    """

    captions: Captions
    rows: NDArray[np.int64]
    candidates: NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class CaptionSets:
    """Candidates of one system, one or more per image, with their references: an immutable table, one row per image.

    Args:
        candidates: the candidates as a ragged table, with the images of the references in the same order. Annotation
            layers of references, such as n-grams of all references of an image, apply to it as well.
        references: the images and their human captions.
        n_candidates_left_out, n_references_left_out, subset, clean: as in ``Captions``.

    Raises:
        ParameterError: candidates and references do not have the same images in the same order.
    """

    candidates: References
    references: References
    n_candidates_left_out: int = field(default=0, kw_only=True)
    n_references_left_out: int = field(default=0, kw_only=True)
    subset: bool = field(default=False, kw_only=True)
    clean: tuple[str, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        if self.candidates.ids != self.references.ids:
            raise ParameterError(
                "candidates and references do not have the same images",
                where=f"{self.candidates.name}, {self.references.name}",
                help="give the images of both in the same order; captious.read_captions(..., several=True) does",
            )

    @property
    def ids(self) -> tuple[ImageId, ...]:
        """The images, in the order of the references."""
        return self.references.ids

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of candidates of each image, int64[n_images]."""
        return np.diff(self.candidates.offsets)

    @property
    def texts(self) -> list[list[str]]:
        """The candidates of each image."""
        return [[*self.candidates.texts[start:end]] for start, end in pairwise(self.candidates.offsets.tolist())]

    def __len__(self) -> int:
        """Return the number of images."""
        return len(self.references)

    def __getstate__(self) -> dict[str, object]:
        """Omit the slots from copies and pickles; they are recomputed on demand."""
        return {name: value for name, value in self.__dict__.items() if name != "slots"}

    def __repr__(self) -> str:
        return f"<CaptionSets: {counted(len(self.candidates.texts), 'candidate')} with {self.references!r}>"

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """Tables with one candidate per image: the first of each image, the second, and so on.

        As long as at least half of the images have k candidates, the table has all images, so that it uses
        ``references`` itself and shares its layers. Images with fewer candidates repeat one of them.
        """
        starts, counts = self.candidates.offsets[:-1], self.counts
        texts = self.candidates.texts
        slots: list[Slot] = []
        for number in range(int(counts.max(initial=0))):
            images = np.flatnonzero(counts > number)
            if 2 * len(images) >= len(counts):
                table, rows, candidates = self.references, images, starts + number % counts
            else:
                same = bool(slots) and len(slots[-1].captions) == len(images)
                table = slots[-1].captions.references if same else self.references.select(images)
                rows, candidates = np.arange(len(images)), starts[images] + number
            captions = Captions(tuple(map(texts.__getitem__, candidates.tolist())), table, subset=self.subset)
            slots.append(Slot(captions, rows, starts[images] + number))
        return tuple(slots)

    def select(self, indices: ArrayLike) -> CaptionSets:
        """Return these images in this order; the object itself if these are all images in order.

        Raises as ``References.select`` does. The counts of items that matching left out are not changed.
        """
        references = self.references.select(indices)
        if references is self.references:
            return self
        return replace(self, candidates=self.candidates.select(indices), references=references)

    @cached_property
    def concatenated(self) -> CaptionSets:
        """These candidates with ``References.concatenated``."""
        return replace(self, references=self.references.concatenated)

    def with_references_as(self, references_as: str) -> CaptionSets:
        """See ``Captions.with_references_as``."""
        return self.concatenated if references_as == "cat" else self
