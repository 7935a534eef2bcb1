"""``CaptionRows``: captions as read from a source, one per row, before candidates are matched with references.

Every reader calls ``caption_rows``, which checks ids and captions of all input forms.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, filterfalse
from typing import Any

import numpy as np

from captious.data.ids import IdForm, ImageId, as_image_id
from captious.data.reading.caption_file import Role
from captious.data.reading.source import Source, is_unicode, repeated_positions
from captious.errors import (
    CaptionTypeError,
    DuplicateCandidateError,
    EmptyInputError,
    EncodingError,
    MissingCandidatesError,
    option,
)
from captious.phrases import counted_of, sample_of


@dataclass(frozen=True)
class CaptionRows:
    """Captions of one source, one per row, checked but not yet matched.

    Args:
        name: the source in messages: the file, or "candidates", "references".
        role: "candidates", "references" or "groups".
        ids: the image of each row; an image may have several rows, except where each has one candidate.
        texts: the caption of each row.
        unit: the kind of row in messages: "line", "record", "annotation", "key", "row", "index".
        numbers: the line, record, ... of each row, counted from 1 in files; "index" counts from 0.
        id_form: how the source wrote its ids; see ``captious.data.ids``.
        known_images: images that the source lists without captions: COCO's "images", empty lists.
        are_categories: whether texts are category names, as in COCO's instances.
    """

    name: str
    role: Role
    ids: tuple[ImageId, ...]
    texts: tuple[str, ...]
    unit: str
    numbers: Sequence[ImageId]
    id_form: IdForm = "typed"
    known_images: tuple[ImageId, ...] = ()
    are_categories: bool = False

    def place(self, row: int) -> str:
        """Return the place of a row in its source, such as "line 12"."""
        return f"{self.unit} {self.numbers[row]!r}"


def caption_rows(
    source: Source,
    ids: Sequence[Any],
    values: Sequence[Any],
    *,
    unit: str,
    numbers: Sequence[ImageId],
    id_form: IdForm = "typed",
    known_images: Sequence[Any] = (),
) -> CaptionRows:
    """Check ids and captions, and expand lists of captions to one row per caption.

    Args:
        source: the source of the rows.
        ids: one image per entry.
        values: for each entry a caption, a list of captions, or a list of ``{"caption": ...}``.
        unit, numbers: as in ``CaptionRows``.
        id_form: how the source writes ids.
        known_images: images that the source lists in addition to its entries.

    Raises:
        CaptionTypeError: an id that is neither an int nor a string, or a caption that is not a string.
        EncodingError: an id or a caption with a lone surrogate, which no file can hold.
        DuplicateCandidateError: two candidates for one image, where only one is allowed.
        MissingCandidatesError: an image whose list of candidates is empty.
        EmptyInputError: no captions.
        InputError: a value that is neither a caption nor a list of them (CaptionFileError in a file).
    """

    def place(entry: int) -> str:
        return f"{unit} {numbers[entry]!r}"

    images = _checked_ids(source, ids, place)
    all_images = _checked_ids(source, known_images, lambda entry: f"image {entry + 1}")
    if source.role == "groups":
        groups = [_group(source, value, place(entry)) for entry, value in enumerate(values)]
        all_images = [*all_images, *(image for image, group in zip(images, groups, strict=True) if group is None)]
        grouped = [entry for entry, group in enumerate(groups) if group is not None]
        images, numbers = [images[entry] for entry in grouped], [numbers[entry] for entry in grouped]
        values = [groups[entry] for entry in grouped]
    if set(map(type, values)) != {str}:
        lists = (
            values
            if _are_lists_of_strings(values)
            else [_captions_of(source, value, place(entry)) for entry, value in enumerate(values)]
        )
        if source.role == "candidates":
            _check_counts(source, lists, place)
        all_images = [*all_images, *(image for image, captions in zip(images, lists, strict=True) if not captions)]
        entries = np.repeat(np.arange(len(lists)), [*map(len, lists)]).tolist()
        images = [*map(images.__getitem__, entries)]
        numbers = tuple(map(numbers.__getitem__, entries))
        values = [*chain.from_iterable(lists)]
    rows = CaptionRows(
        name=source.name,
        role=source.role,
        ids=tuple(images),
        texts=tuple(values),
        unit=unit,
        numbers=numbers,
        id_form=id_form,
        known_images=tuple(all_images),
    )
    _check_texts(rows)
    if not rows.texts and not (source.role == "objects" and rows.known_images):  # images may be without objects
        what = source.role if source.role in ("groups", "objects") else "captions"
        raise EmptyInputError(f"there are no {what}", where=source.name, help=f"are these the {source.role}?")
    if source.one_each and (n_images := len(set(rows.ids))) != len(rows.ids):
        twice = repeated_positions(rows.ids)
        examples = [f"image_id {image!r} in {sample_of(map(rows.place, at))}" for image, at in twice.items()]
        raise DuplicateCandidateError(
            f"{counted_of(len(twice), n_images, 'image', 'have')} more than one candidate",
            where=f"{rows.name}: {sample_of(examples, separator='; ')}",
            help=f"keep one candidate per image; {_several_help()}",
        )
    return rows


def _checked_ids(source: Source, ids: Sequence[Any], place: Callable[[int], str]) -> Sequence[ImageId]:
    """Return the ids, each checked to be an int or a str."""
    types = set(map(type, ids))
    if types <= {int}:
        return ids
    if types == {str}:
        _check_unicode(source.name, "image id", ids, place)
        return ids
    checked = [as_image_id(value) for value in ids]
    wrong = [entry for entry, image in enumerate(checked) if image is None]
    if wrong:
        raise CaptionTypeError(
            f"{counted_of(len(wrong), len(ids), 'image id', 'have')} another type than integer or string",
            where=f"{source.name}: " + sample_of([f"{place(entry)} has {reprlib.repr(ids[entry])}" for entry in wrong]),
            help="image ids must be integers or strings",
        )
    _check_unicode(source.name, "image id", [str(image) for image in checked], place)
    return [image for image in checked if image is not None]


def _are_lists_of_strings(values: Sequence[Any]) -> bool:
    """Detect the common case quickly."""
    return set(map(type, values)) <= {list, tuple} and set(map(type, chain.from_iterable(values))) <= {str}


def _captions_of(source: Source, value: object, place: str) -> Sequence[Any]:
    """Return the captions of one entry. Items that are not strings are left for ``_check_texts`` to report."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_caption_of(source, item, place) for item in value]
    if isinstance(value, Mapping | set | frozenset):
        raise source.error("this is neither a caption nor a list of captions", where=f"{place}: {reprlib.repr(value)}")
    return (value,)


def _caption_of(source: Source, item: object, place: str) -> object:
    """Unwrap one item of a list of captions: ``{"caption": ...}`` of the COCO harness, or ``{"raw": ...}`` of
    Karpathy's files.
    """
    if isinstance(item, Mapping) and (field := "caption" if "caption" in item else "raw") in item:
        return item[field]
    if isinstance(item, Mapping | list | tuple | set | frozenset | np.ndarray):
        raise source.error("this is not a list of captions", where=f"{place}: {reprlib.repr(item)}")
    return item


def _group(source: Source, value: object, place: str) -> str | None:
    """Return the name of a group: text, or a number or boolean as text; None where there is none."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # a column of integers in which some are missing is one of floats
    if value is None or value != value or value == "":
        return None
    if isinstance(value, str | int | float):
        return str(value)
    raise source.error("this is not the name of a group", where=f"{place}: {reprlib.repr(value)}")


def _check_counts(source: Source, lists: Sequence[Sequence[Any]], place: Callable[[int], str]) -> None:
    """Refuse several candidates where only one is allowed, and empty lists, which may be a mistake."""
    many = [f"{place(entry)} has {len(captions)}" for entry, captions in enumerate(lists) if len(captions) > 1]
    if many and source.one_each:
        raise DuplicateCandidateError(
            f"{counted_of(len(many), len(lists), 'image', 'have')} more than one candidate",
            where=f"{source.name}: {sample_of(many)}",
            help=f"give one candidate per image; {_several_help()}",
        )
    none = [place(entry) for entry, captions in enumerate(lists) if not captions]
    if none:
        raise MissingCandidatesError(
            f"{counted_of(len(none), len(lists), 'image', 'have')} an empty list of candidates",
            where=f"{source.name}: {sample_of(none)}",
            help=f"give a candidate for every image, or remove the image and use {option('subset')}",
        )


def _check_texts(rows: CaptionRows) -> None:
    """Check that every caption is a string that UTF-8 can encode. Empty captions are legal."""
    try:
        _check_unicode(rows.name, "caption", rows.texts, rows.place)
    except TypeError:
        wrong = [row for row, text in enumerate(rows.texts) if not isinstance(text, str)]
        cases = [f"{rows.place(row)} (image_id {rows.ids[row]!r}) is {reprlib.repr(rows.texts[row])}" for row in wrong]
        raise CaptionTypeError(
            f"{counted_of(len(wrong), len(rows.texts), 'caption', 'are')} not text",
            where=f"{rows.name}: {sample_of(cases)}",
            help='captions must be strings; use "" for an empty caption',
        ) from None


def _check_unicode(name: str, what: str, texts: Sequence[str], place: Callable[[int], str]) -> None:
    """Refuse lone surrogates, which JSON can escape ("\\ud800") but no tokenizer, file or terminal can handle.

    Raises TypeError at the first text that is not a string.
    """
    # Strings know whether they are ASCII, so that only the others need to be looked through.
    if is_unicode("".join(filterfalse(str.isascii, texts))):
        return
    wrong = [f"{place(row)} has {reprlib.repr(text)}" for row, text in enumerate(texts) if not is_unicode(text)]
    raise EncodingError(
        f"{counted_of(len(wrong), len(texts), what, 'contain')} a lone surrogate (half of a character)",
        where=f"{name}: {sample_of(wrong)}",
        help="write the full character, or remove it",
    )


def _several_help() -> str:
    return f"are these the references? captious score and compare take several with {option('several')}"
