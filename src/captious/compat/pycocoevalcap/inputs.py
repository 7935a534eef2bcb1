"""Inputs of the scorers: captions by image id, their errors, and the PTB tokenizer."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from captious.compat.counted import table_of
from captious.compat.reexports import note_changes
from captious.data import Captions, References
from captious.data.rows import is_unicode
from captious.errors import (
    CaptionTypeError,
    DuplicateCandidateError,
    EmptyInputError,
    EncodingError,
    InputError,
    MissingCandidatesError,
    MissingReferencesError,
    ParameterError,
    UnknownImageError,
)
from captious.native import Vocabulary
from captious.text.tokenizers import PTB_HARNESS
from captious.words import counted, counted_of, shortened, with_article

# Errors for input that the toolkit rejects with a bare assertion or a ValueError.
#
# They name the image. They are also instances of the toolkit's exceptions, so that ``except`` clauses written for it
# work. The names say what was wrong; each is an error of captious and of Python.


class DuplicateCandidate(DuplicateCandidateError, AssertionError):
    """An image with several candidates."""


class MissingCandidates(MissingCandidatesError, AssertionError):
    """An image without a candidate."""


class MissingReferences(MissingReferencesError, AssertionError):
    """An image without references."""


class NotAList(CaptionTypeError, AssertionError):
    """Captions of an image that are not in a list."""


class UnknownArgument(ParameterError, TypeError):
    """An argument that no supported fork has."""


class UnknownImage(UnknownImageError, AssertionError):
    """A candidate for an image without references."""


class NoImages(EmptyInputError, ValueError):
    """A corpus without images."""


# Validation of the inputs of the COCO harness: captions by image id, raw or tokenized.
#
# Every error is an ``InputError`` that names the image. Ids may be any hashable values.

#: Tokenized captions by image id, or in a list: any number of references, or one candidate. Words are set apart by
#: spaces.
Texts: TypeAlias = Mapping[Any, list[str]] | list[list[str]]

#: Tables that take the place of equal ones, since more is known about them; see ``use_prepared_references``.
tables_in_use: list[References] = []

_SUBSET = "to evaluate a subset of the images, set params['image_id'] to their ids, e.g. cocoRes.getImgIds()"


def is_nothing(gts: object, res: object) -> bool:
    """Return whether there are no images at all, neither references nor candidates."""
    return isinstance(gts, Mapping | list) and isinstance(res, Mapping | list) and not gts and not res


def captions(gts: object, res: object) -> Captions:
    """Return a table of tokenized references and one candidate each, in the order of gts; ids count images from 0."""
    references, candidates = _checked(gts, res)
    return Captions(tuple(text for (text,) in candidates.values()), table(references, "gts"))


def captions_of_several(gts: object, res: object) -> tuple[References, References]:
    """Return tables of the references and of the candidates, of which an image may have several."""
    references, candidates = _checked(gts, res, several=True)
    return table(references, "gts"), table(candidates, "res")


def references_table(gts: object) -> References:
    """Return a table of tokenized references, in their order; ids count images from 0."""
    return table(_checked_references(gts), "gts")


def image_annotations(
    annotations: Mapping[Any, Iterable[Any]], images: Iterable[Hashable], name: str, *, several: bool = False
) -> dict[Hashable, list[Any]]:
    """Return the annotations of some images: at least one reference each, or exactly one candidate.

    Args:
        annotations: image id -> annotations; the ``imgToAnns`` of a ``pycocotools.coco.COCO``.
        images: their ids; duplicates count once.
        name: "coco" for references, "cocoRes" for candidates.
        several: allow several candidates for an image.
    """
    # Not by subscript: pycocotools keeps a defaultdict, which would add the image.
    rows = {image: list(annotations.get(image, ())) for image in images}
    _check_numbers(rows, name, several=several)
    return rows


def raw_texts(captions_for_image: object) -> dict[Hashable, list[str]]:
    """Return the texts of raw captions, ``{image id: [{"caption": text}, ...]}``."""
    return {image: _raw(image, value) for image, value in captions_by_image(captions_for_image, "captions").items()}


def table(texts_of: Mapping[Hashable, Sequence[str]], name: str) -> References:
    """Return a table of texts, or one in use that equals it."""
    found = table_of(texts_of.values(), name)
    for known_table in tables_in_use:
        if known_table.texts == found.texts and np.array_equal(known_table.offsets, found.offsets):
            return known_table
    return found


def _checked(
    gts: object, res: object, *, several: bool = False
) -> tuple[dict[Hashable, list[str]], dict[Hashable, list[str]]]:
    """Return references and candidates, both in the order of gts."""
    if isinstance(gts, list) != isinstance(res, list):
        names = ("gts", "res") if isinstance(gts, list) else ("res", "gts")
        raise InputError(
            f"{names[0]} is a list, and {names[1]} is not", hint="give two dictionaries by image id, or two lists"
        )
    of_references, of_candidates = captions_by_image(gts, "gts"), captions_by_image(res, "res")
    _check_keys(of_references, of_candidates)
    references = _checked_references(of_references)
    candidates = {image: _tokenized(image, of_candidates[image], "res") for image in references}
    _check_numbers(candidates, "res", several=several)
    return references, candidates


def _checked_references(gts: object) -> dict[Hashable, list[str]]:
    references = {image: _tokenized(image, value, "gts") for image, value in captions_by_image(gts, "gts").items()}
    if not references:
        raise NoImages("gts has no images", where="gts", hint="give references for at least one image")
    _check_numbers(references, "gts")
    return references


def captions_by_image(value: object, name: str) -> Mapping[Any, Any]:
    """Return captions by image id; those of a list by their positions.

    Raises:
        InputError: neither a dictionary nor a list.
    """
    note_changes()
    if isinstance(value, list):
        return dict(enumerate(value))
    if not isinstance(value, Mapping):
        raise InputError(
            f"{name} is {with_article(type(value).__name__)}, not a dictionary",
            hint="give {image id: [captions]}, or a list of such lists",
        )
    return value


def _check_keys(gts: Mapping[Hashable, object], res: Mapping[Hashable, object]) -> None:
    unknown, missing = [image for image in res if image not in gts], [image for image in gts if image not in res]
    help = f"gts and res must have the same images; {_SUBSET}"
    if {*map(str, unknown)} & {*map(str, missing)}:
        help = "ids are strings on one side and numbers on the other: make them the same, as with {int(i): ...}"
    if unknown:
        some = counted_of(len(unknown), len(res), "candidate", "are")
        raise UnknownImage(f"{some} for images that have no references", where=f"res: {_some(unknown)}", hint=help)
    if missing:
        some = counted_of(len(missing), len(gts), "image", "have")
        raise MissingCandidates(f"{some} references but no candidate", where=f"gts: {_some(missing)}", hint=help)


def _check_numbers(rows: Mapping[Hashable, Sequence[object]], name: str, *, several: bool = False) -> None:
    """Check that every image has references, or one candidate, or several if that is allowed."""
    is_references = name in ("gts", "coco")
    for image, row in rows.items():
        place = _place(name, image)
        if not row and is_references:
            raise MissingReferences("an image has no references", where=place, hint=f"give it one or more; {_SUBSET}")
        if not row:
            raise MissingCandidates("an image has no candidate", where=place, hint=f"give it one; {_SUBSET}")
        if len(row) > 1 and not is_references and not several:
            raise DuplicateCandidate(
                f"an image has {counted(len(row), 'candidate')}",
                where=place,
                hint="give one candidate per image; are these the references?",
            )


def _tokenized(image: Hashable, value: object, name: str) -> list[str]:
    """Return the tokenized captions of one image."""
    place = _place(name, image)
    texts: list[str] = _listed(value, place, list, NotAList, "give {image id: [captions]}, even for a single caption")
    for text in texts:
        _check_text(text, place, help="give tokenized strings; PTBTokenizer().tokenize makes them from raw captions")
    return texts


def _raw(image: Hashable, value: object) -> list[str]:
    """Return the texts of the raw captions of one image."""
    place, help = _place("captions", image), 'give {image id: [{"caption": text}, ...]}'
    for annotation in _listed(value, place, list | tuple, CaptionTypeError, help):
        if not isinstance(annotation, Mapping) or "caption" not in annotation:
            raise CaptionTypeError(
                'a caption is not a dictionary with a "caption"',
                where=f"{place} has {shortened(annotation)}",
                hint=help,
            )
        _check_text(annotation["caption"], place, help=help)
    return [annotation["caption"] for annotation in value]  # type: ignore[attr-defined]


def _listed(value: Any, place: str, kind: Any, error: type[CaptionTypeError], help: str) -> Any:
    """Return the captions of an image, which are in a list."""
    if not isinstance(value, kind):
        what = with_article(type(value).__name__)
        raise error(
            f"the captions of an image are not in a list, but in {what}",
            where=f"{place} has {shortened(value)}",
            hint=help,
        )
    return value


def _check_text(text: object, place: str, *, help: str) -> None:
    if not isinstance(text, str):
        raise CaptionTypeError("a caption is not a string", where=f"{place} has {shortened(text)}", hint=help)
    if not is_unicode(text):
        raise EncodingError(
            "a caption contains a lone surrogate (half of a character)",
            where=f"{place} has {shortened(text)}",
            hint="write the full character, or remove it",
        )


def _place(name: str, image: Hashable) -> str:
    return f"{name}: image_id {image!r}"


def _some(images: Sequence[Hashable]) -> str:
    """Format the first few ids."""
    return "image_id " + ", ".join(map(repr, images[:5])) + (", ..." if len(images) > 5 else "")


# The PTB tokenizer under the toolkit's name, ``pycocoevalcap.tokenizer.ptbtokenizer.PTBTokenizer``.

#: The tokens that are dropped. Brackets are not: they are lower-cased before.
PUNCTUATIONS = [
    *("''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-"),
    *(".", "?", "!", ",", ":", "-", "--", "...", ";"),
]


class PTBTokenizer:
    """Penn Treebank tokens as the toolkit gets them from CoreNLP 3.4.1: lower-cased, most punctuation dropped.

    All captions of a call are one text, as in the toolkit: the tokens of a few of them depend on the beginning of the
    next one.

    Args:
        verbose: accepted and ignored; this tokenizer prints nothing.
    """

    def __init__(self, verbose: bool = True) -> None:
        self.verbose = verbose

    def tokenize(self, captions_for_image: Mapping[Any, Sequence[Mapping[str, Any]]]) -> dict[Any, list[str]]:
        """Tokenize captions.

        Args:
            captions_for_image: image id -> list of ``{"caption": text}``; other keys are ignored.

        Returns:
            image id -> list of tokenized captions, a space between tokens, in the original order. Ids
            without captions are left out, as in the toolkit.

        Raises:
            CaptionTypeError, EncodingError: a value that is not a caption; the error names the image.
        """
        texts = raw_texts(captions_for_image)
        vocabulary = Vocabulary()
        ids, offsets = PTB_HARNESS.encode([text for group in texts.values() for text in group], vocabulary)
        tokens = list(map(vocabulary.words().__getitem__, ids.tolist()))
        lines = (" ".join(tokens[start:end]) for start, end in pairwise(offsets.tolist()))
        return {image: [next(lines) for _ in group] for image, group in texts.items() if group}
