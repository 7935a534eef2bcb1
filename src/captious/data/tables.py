"""The tables ``Captions``, ``References`` and ``CaptionSets``: the input of every metric, one row per image."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, Generic, Protocol, Self, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from captious.data.cleaning import OF_BOTH_SIDES, cleaned
from captious.data.ids import IdForm, Ids, ImageId, by_rule, find, numbers_from_text
from captious.errors import ParameterError
from captious.words import counted

# Batches of items that are processed together, bounded by cost.

T = TypeVar("T")


def batches(items: Iterable[T], cost: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """Divide items into batches of at least one, in order.

    Args:
        items: the items.
        cost: the cost of an item, such as its memory or time.
        most: maximum cost of a batch of several items.
    """
    batch: list[T] = []
    total = 0
    for item in items:
        item_cost = cost(item)
        if batch and total + item_cost > most:
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += item_cost
    if batch:
        yield batch


# A bounded cache of model outputs for texts, so that systems with equal captions share the work.

V = TypeVar("V")


class TextCache(Generic[V]):
    """A thread-safe least-recently-used cache of values for texts.

    Args:
        size: maximum number of values, at least 1.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[str, V] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Return the number of cached values."""
        return len(self._values)

    def get(self, texts: Sequence[str], compute: Callable[[list[str]], Iterable[V]]) -> list[V]:
        """Return the value of each text.

        Args:
            texts: n texts; equal ones are computed once.
            compute: returns the values of the distinct texts that are not cached, in their order. It runs outside the
                lock.
        """
        distinct = dict.fromkeys(texts)
        with self._lock:
            values = {text: self._values[text] for text in distinct if text in self._values}
            for text in values:
                self._values.move_to_end(text)
        new = [text for text in distinct if text not in values]
        if new:
            computed = dict(zip(new, compute(new), strict=True))
            values |= computed
            with self._lock:
                self._values.update(computed)
                while len(self._values) > self._size:
                    self._values.popitem(last=False)
        return [values[text] for text in texts]


# ``Captions``: one candidate per image with its ``References``.
#
# Both are immutable and carry annotation layers (tokens, parses, embeddings), which are computed when first requested
# and shared by all metrics. The layers of references live in the ``References`` object, so systems scored against the
# same object share them.

R = TypeVar("R")
C = TypeVar("C")
#: Indices of images, or of their references.
Rows: TypeAlias = Sequence[int] | NDArray[np.int64]
C_co = TypeVar("C_co", covariant=True)
R_co = TypeVar("R_co", covariant=True)


class ReferenceLayer(Hashable, Protocol[R_co]):
    """An annotation of references alone. Equal layers have the same annotation, so settings are part of them."""

    def of_references(self, references: References) -> R_co:
        """Annotate all references."""
        ...


class CandidateLayer(Hashable, Protocol[C_co]):
    """An annotation of candidates alone."""

    def of_candidates(self, captions: Captions) -> C_co:
        """Annotate the candidates, one per image."""
        ...


class Layer(Hashable, Protocol[R, C_co]):
    """An annotation of captions, of type R for references and C for candidates.

    The references come first because candidates may need them: token ids of the candidates extend the
    vocabulary of the references.
    """

    def of_references(self, references: References) -> R:
        """Annotate all references."""
        ...

    def of_candidates(self, captions: Captions, references: R) -> C_co:
        """Annotate the candidates, one per image, given the annotation of their references."""
        ...


class LayerStore(ABC):
    """A store that a table of references consults before it computes an annotation."""

    #: Number of annotations that were requested but not stored, though they could have been.
    n_missed: int = 0

    @abstractmethod
    def find(self, layer: object, references: References) -> object | None:
        """Return the annotation of a layer, or None."""

    @property
    @abstractmethod
    def of_concatenated(self) -> LayerStore:
        """The store for ``References.concatenated``."""

    def advice(self, metrics: Sequence[str]) -> str:
        """Return a sentence of advice for users of metrics whose annotations are not in the store."""
        return ""


@dataclass(frozen=True, eq=False, repr=False)
class References:
    """Human captions, one or more per image: an immutable ragged table.

    Args:
        ids: the images, each once.
        texts: all references, image by image.
        offsets: int64[n_images + 1]; the references of image i are ``texts[offsets[i]:offsets[i + 1]]``.
        name: the references in messages: the file, or "references".
        id_form: how the source wrote its ids; see ``captious.data.ids``.
        images: the image of each row, if ids name captions and several may describe one image; by default, the ids.
        without_references: images that the source lists without references. They are not rows.
        ids_read: the rule by which ids of the source were read; see ``captious.data.ids``.
        of: what has captions: "image", "video" or "sound".
        present: whether there are references. If not, each image has one empty text instead, for metrics that need
            none.

    Raises:
        ParameterError: a duplicate image, an image without texts, or offsets that do not match ids and texts.
    """

    ids: tuple[ImageId, ...]
    texts: tuple[str, ...]
    offsets: NDArray[np.int64]
    name: str = field(default="references", kw_only=True)
    id_form: IdForm = field(default="typed", kw_only=True)
    images: tuple[ImageId, ...] = field(default=(), kw_only=True)
    without_references: tuple[ImageId, ...] = field(default=(), kw_only=True)
    ids_read: Ids = field(default="exact", kw_only=True)
    of: str = field(default="image", kw_only=True)
    present: bool = field(default=True, kw_only=True)
    #: Source of precomputed annotations. Not an argument: copies with other texts have none.
    stored: LayerStore | None = field(default=None, init=False)
    _layers: dict[Hashable, object] = field(default_factory=dict, init=False)
    _memos: dict[Hashable, TextCache[Any]] = field(default_factory=dict, init=False)
    _by_rule: dict[Ids, References] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        offsets = np.array(self.offsets, dtype=np.int64)
        offsets.flags.writeable = False
        object.__setattr__(self, "ids", tuple(self.ids))
        object.__setattr__(self, "texts", tuple(self.texts))
        object.__setattr__(self, "images", tuple(self.images) or self.ids)
        object.__setattr__(self, "offsets", offsets)
        if len(set(self.ids)) != len(self.ids):
            raise ParameterError("duplicate image id", where=self.name, hint="give each image id once")
        if offsets.shape != (len(self.ids) + 1,) or offsets[0] != 0 or offsets[-1] != len(self.texts):
            raise ParameterError(
                f"offsets do not match {counted(len(self.ids), 'image')} with {counted(len(self.texts), 'reference')}",
                where=self.name,
                hint="offsets are int64[n_images + 1], from 0 to the number of references",
            )
        if len(self.images) != len(self.ids):
            raise ParameterError(
                f"{counted(len(self.images), 'image')} for {counted(len(self.ids), 'id')}",
                where=self.name,
                hint="give one image per id",
            )
        if (np.diff(offsets) < 1).any():
            raise ParameterError("an image has no references", where=self.name, hint="leave it out of ids")

    def __len__(self) -> int:
        """Return the number of images."""
        return len(self.ids)

    def __getstate__(self) -> dict[str, object]:
        """Omit layers and memos from copies and pickles; they are recomputed on demand."""
        state = {**self.__dict__, "_layers": {}, "_memos": {}, "_by_rule": {}}
        state.pop("rows_by_id", None)
        return state

    def __repr__(self) -> str:
        references = counted(len(self.texts), "reference") if self.present else "no references"
        return f"<References {self.name!r}: {counted(len(self), self.of)}, {references}>"

    def layer(self, layer: ReferenceLayer[R]) -> R:
        """Return an annotation of the references, read from the store or computed at the first request for it."""
        if layer not in self._layers:
            stored = None if self.stored is None else self.stored.find(layer, self)
            # setdefault: if two threads ask at the same time, both get the first object.
            self._layers.setdefault(layer, layer.of_references(self) if stored is None else stored)
        return cast(R, self._layers[layer])

    def attach_store(self, store: LayerStore | None) -> References:
        """Make this object consult a store before it computes an annotation, and return it."""
        object.__setattr__(self, "stored", store)
        return self

    def memo(self, key: Hashable, size: int) -> TextCache[Any]:
        """Return a cache of at most ``size`` values for texts, shared by systems scored against these references."""
        return self._memos.setdefault(key, TextCache(size))

    def select(self, indices: ArrayLike) -> References:
        """Return these images in this order; the object itself, including its layers, if these are all images in order.

        Args:
            indices: integers, each image at most once, or bool[n_images].

        Raises:
            IndexError: an index out of range.
            ParameterError: a duplicate image.
        """
        rows = _rows(len(self), indices)
        if np.array_equal(rows, np.arange(len(self))):
            return self
        # Positions count the source's entries; among a selection they are names like any other.
        return self._part(rows, *self.texts_of(rows), id_form="typed" if self.id_form == "position" else self.id_form)

    def choose(self, texts: Sequence[Rows], images: Rows | None = None) -> References:
        """Return images with some of their references.

        Args:
            texts: by image, which of ``texts``; at least one.
            images: which images; by default all.
        """
        rows = range(len(self)) if images is None else images
        chosen = tuple(self.texts[row] for of_image in texts for row in of_image)
        return self._part(rows, chosen, np.cumsum([0, *map(len, texts)]))

    def _part(self, rows: Rows, texts: tuple[str, ...], offsets: NDArray[np.int64], **changes: Any) -> References:
        """Return images with these references."""
        ids, images = (tuple(values[row] for row in rows) for values in (self.ids, self.images))
        return replace(self, ids=ids, texts=texts, offsets=offsets, images=images, without_references=(), **changes)

    def leave_out(self, texts: Rows, images: Rows | None = None) -> References:
        """Return images without one of their references: the index in ``texts`` of each; images as for ``choose``."""
        rows = range(len(self)) if images is None else images
        at = self.offsets.tolist()
        left = [[row for row in range(at[i], at[i + 1]) if row != out] for i, out in zip(rows, texts, strict=True)]
        return self.choose(left, images)

    def texts_of(self, rows: NDArray[np.int64]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """Return the references of rows, which may repeat, image by image, and their offsets, int64[n + 1]."""
        starts, counts = self.offsets[rows].tolist(), np.diff(self.offsets)[rows]
        parts = (self.texts[start : start + n] for start, n in zip(starts, counts.tolist(), strict=True))
        return tuple(chain.from_iterable(parts)), np.concatenate([[0], np.cumsum(counts)])

    @cached_property
    def rows_by_id(self) -> dict[ImageId, int]:
        """Row of each image by its id as it is here; ``rows_of`` also finds integers by their text."""
        return {image: row for row, image in enumerate(self.ids)}

    def rows_of(self, ids: Sequence[ImageId]) -> list[int | None]:
        """Return the row of each id, and None for unknown ones; an integer is also found by its text."""
        rows = self.rows_by_id
        try:
            return [rows[image] for image in ids]
        except KeyError:
            return [find(rows, image) for image in ids]

    @cached_property
    def with_numbers_for_ids(self) -> References:
        """These references with text ids converted to numbers where possible.

        Cached, so that all systems that need it get the same object and share its layers.
        """
        return self._renamed(numbers_from_text, self.ids_read)

    def by_rule(self, rule: Ids) -> References:
        """Return these references with ids read by a rule; see ``captious.data.ids``. Cached as well.

        Raises:
            UnknownNameError, ParameterError: as ``captious.data.ids.by_rule``.
        """
        if rule not in self._by_rule:
            is_read = rule in ("exact", self.ids_read)
            self._by_rule[rule] = self if is_read else self._renamed(lambda ids: by_rule(ids, rule), rule)
        return self._by_rule[rule]

    def _renamed(self, read: Callable[[Sequence[ImageId]], Sequence[ImageId]], rule: Ids) -> References:
        """Return these references with other ids; the object itself if they are the same."""
        ids, images = read(self.ids), read(self.images)
        if ids is self.ids and images is self.images and rule == self.ids_read:
            return self
        renamed = replace(
            self,
            ids=tuple(ids),
            images=tuple(images),
            without_references=tuple(read(self.without_references)),
            ids_read=rule,
        )
        return renamed.attach_store(self.stored)

    @cached_property
    def composed(self) -> References:
        """These references as the cleaning rule "compose" writes them; the same object if it changes none. Cached."""
        texts = cleaned(self.texts, (OF_BOTH_SIDES,))
        return self if texts == self.texts else replace(self, texts=texts)

    @cached_property
    def concatenated(self) -> References:
        """These images with one reference each: all joined by spaces (Yi et al. 2020, "cat"). Cached."""
        texts = tuple(" ".join(self.texts[start:end]) for start, end in pairwise(self.offsets.tolist()))
        table = replace(self, texts=texts, offsets=np.arange(len(self) + 1))
        return table.attach_store(None if self.stored is None else self.stored.of_concatenated)


@dataclass(frozen=True, eq=False, repr=False)
class MatchedCaptions:
    """What ``Captions`` and ``CaptionSets`` have in common, beside their candidates: references, and what was left out.

    Args:
        candidates: the candidates, in the order of the references.
        references: the images and their human captions.
        n_candidates_left_out: candidates that matching left out, because only a subset was asked for.
        n_references_left_out: images with references that matching left out for the same reason.
        n_unshared_left_out: images that were left out because another system lacks them.
        subset: whether metrics may also leave out images for which they lack data.
        clean: names of the cleaning rules that were applied to candidates, for signatures.
        ids_advice: the warning that the ids of many images that were left out are only written differently; or "".
    """

    candidates: Any
    references: References
    n_candidates_left_out: int = field(default=0, kw_only=True)
    n_references_left_out: int = field(default=0, kw_only=True)
    n_unshared_left_out: int = field(default=0, kw_only=True)
    subset: bool = field(default=False, kw_only=True)
    clean: tuple[str, ...] = field(default=(), kw_only=True)
    ids_advice: str = field(default="", kw_only=True)

    @property
    def ids(self) -> tuple[ImageId, ...]:
        """The images, in the order of the references."""
        return self.references.ids

    def __len__(self) -> int:
        """Return the number of images."""
        return len(self.references.ids)

    @cached_property
    def concatenated(self) -> Self:
        """These candidates with ``References.concatenated``."""
        return replace(self, references=self.references.concatenated)

    def with_references_as(self, references_as: str) -> Self:
        """Return these candidates with separate references ("each"), or ``concatenated`` ones ("cat"); see
        ``Settings``.
        """
        return self.concatenated if references_as == "cat" else self


@dataclass(frozen=True, eq=False, repr=False)
class Captions(MatchedCaptions):
    """Candidates of one system with their references: an immutable table, one row per image.

    Args:
        candidates: one per image, in the order of the references.
        references: the images and their human captions.
        n_candidates_left_out, n_references_left_out, n_unshared_left_out, subset, clean, ids_advice: as in
            ``MatchedCaptions``.

    Raises:
        ParameterError: not exactly one candidate per image.
    """

    candidates: tuple[str, ...]
    _layers: dict[Hashable, object] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "candidates", tuple(self.candidates))
        if len(self.candidates) != len(self.references):
            raise ParameterError(
                f"{counted(len(self.candidates), 'candidate')} for {counted(len(self.references), 'image')}",
                where=self.references.name,
                hint="give one candidate per image, in the order of the references",
            )

    def __getstate__(self) -> dict[str, object]:
        """Omit layers from copies and pickles; they are recomputed on demand."""
        return {**self.__dict__, "_layers": {}}

    def __repr__(self) -> str:
        return f"<Captions: {counted(len(self), 'candidate')} with {self.references!r}>"

    def layer(self, layer: Layer[R, C]) -> tuple[C, R]:
        """Return an annotation of candidates and references, each computed at the first request for it."""
        references = self.references.layer(layer)
        if layer not in self._layers:
            self._layers.setdefault(layer, layer.of_candidates(self, references))
        return cast(C, self._layers[layer]), references

    def own_layer(self, layer: CandidateLayer[C]) -> C:
        """Return an annotation of the candidates alone, computed at the first request for it."""
        if layer not in self._layers:
            self._layers.setdefault(layer, layer.of_candidates(self))
        return cast(C, self._layers[layer])

    def select(self, indices: ArrayLike) -> Captions:
        """Return these images in this order; the object itself if these are all images in order.

        Raises as ``References.select`` does. The counts of items that matching left out are not changed.
        """
        references = self.references.select(indices)
        if references is self.references:
            return self
        candidates = tuple(self.candidates[row] for row in _rows(len(self), indices))
        return replace(self, candidates=candidates, references=references)


def _rows(n: int, indices: ArrayLike) -> NDArray[np.int64]:
    """Return the rows that indices or a mask select from n."""
    positions = np.asarray(indices)
    if positions.size == 0:
        positions = positions.astype(np.int64)  # numpy takes an empty list for floats
    rows: NDArray[np.int64] = np.arange(n)[positions]
    return rows


# ``CaptionSets``: several candidates per image with their references.
#
# Metrics of sets, such as diversity, receive all candidates of an image together. Metrics of single captions receive
# ``slots``: tables with one candidate per image, which share the references and their annotations.


@dataclass(frozen=True, eq=False)
class Slot:
    """The k-th candidate of each image: int64[n] rows of a table, and the index of the candidate in each.

    Images with fewer candidates have rows that do not count. Indices refer to ``CaptionSets.candidates``.
    """

    captions: Captions
    rows: NDArray[np.int64]
    candidates: NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class CaptionSets(MatchedCaptions):
    """Candidates of one system, one or more per image, with their references: an immutable table, one row per image.

    Args:
        candidates: the candidates as a ragged table, with the images of the references in the same order. Annotation
            layers of references, such as n-grams of all references of an image, apply to it as well.
        references: the images and their human captions.
        n_candidates_left_out, n_references_left_out, n_unshared_left_out, subset, clean, ids_advice: as in
            ``MatchedCaptions``.

    Raises:
        ParameterError: candidates and references do not have the same images in the same order.
    """

    candidates: References

    def __post_init__(self) -> None:
        if self.candidates.ids != self.references.ids:
            raise ParameterError(
                "candidates and references do not have the same images",
                where=f"{self.candidates.name}, {self.references.name}",
                hint='give the images of both in the same order; captious.read_captions(..., several="mean") does',
            )

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of candidates of each image, int64[n_images]."""
        return np.diff(self.candidates.offsets)

    @property
    def texts(self) -> list[list[str]]:
        """The candidates of each image."""
        return [[*self.candidates.texts[start:end]] for start, end in pairwise(self.candidates.offsets.tolist())]

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
