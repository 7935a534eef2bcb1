"""What code written for the COCO harness passes around, checked: captions by image id, raw or tokenized.

Every error names the image. Ids may be anything that can be a key.
"""

from __future__ import annotations

import reprlib
from collections.abc import Hashable, Iterable, Mapping
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from captious.compat.pycocoevalcap.input_errors import (
    DuplicateCandidate,
    MissingCandidates,
    MissingReferences,
    NoImages,
    NotAList,
    UnknownImage,
)
from captious.data import Captions, References
from captious.errors import CaptionTypeError, EncodingError, InputError

__all__ = [
    "Texts",
    "captions",
    "captions_of_several",
    "is_nothing",
    "of_images",
    "raw_texts",
    "references_table",
    "tables_in_use",
]

#: Tokenized captions by image id: any number of references, or one candidate. Words are set apart by spaces.
Texts: TypeAlias = Mapping[Any, list[str]]

#: Tables that take the place of equal ones, since more is known about them; see ``use_prepared_references``.
tables_in_use: list[References] = []

_SUBSET = "to evaluate a subset of the images, set params['image_id'] to their ids, e.g. cocoRes.getImgIds()"


def is_nothing(gts: object, res: object) -> bool:
    """Whether there are no images at all, neither references nor candidates."""
    return isinstance(gts, Mapping) and isinstance(res, Mapping) and not gts and not res


def captions(gts: object, res: object) -> Captions:
    """The table of tokenized captions, in the order of gts; its ids count the images from 0.

    Args:
        gts: image id -> list of references.
        res: image id -> list of exactly one candidate.

    Raises:
        InputError: what is wrong, as a specific subclass; the error names the image.
    """
    references, candidates = _checked(gts, res)
    for image, found in candidates.items():
        _refuse_other_than_one(image, found, "res")
    return Captions(tuple(text for (text,) in candidates.values()), _table(references, "gts"))


def captions_of_several(gts: object, res: object) -> tuple[References, References]:
    """Tables of the references and of the candidates, of which there may be several for an image.

    Raises:
        InputError: as ``captions``.
    """
    references, candidates = _checked(gts, res)
    for image, found in candidates.items():
        if not found:
            _refuse_other_than_one(image, found, "res")
    return _table(references, "gts"), _table(candidates, "res")


def references_table(gts: object) -> References:
    """The table of tokenized references, in their order; its ids count the images from 0.

    Raises:
        InputError: what is wrong, as a specific subclass; the error names the image.
    """
    return _table(_checked_references(gts), "gts")


def _checked(gts: object, res: object) -> tuple[dict[Hashable, list[str]], dict[Hashable, list[str]]]:
    """References and candidates, both in the order of gts."""
    references, candidates = _mapping(gts, "gts"), _mapping(res, "res")
    _refuse_different_keys(references, candidates)
    of_references = _checked_references(references)
    return of_references, {image: _strings(image, candidates[image], "res") for image in of_references}


def _checked_references(gts: object) -> dict[Hashable, list[str]]:
    lists = {image: _strings(image, value, "gts") for image, value in _mapping(gts, "gts").items()}
    if not lists:
        raise NoImages("gts has no images", where="gts", help="give references for at least one image")
    for image, found in lists.items():
        if not found:
            raise _no_references(image, "gts")
    return lists


def _table(texts_of: Mapping[Hashable, list[str]], name: str) -> References:
    texts = tuple(text for texts in texts_of.values() for text in texts)
    offsets = np.cumsum([0, *map(len, texts_of.values())])
    for table in tables_in_use:
        if table.texts == texts and np.array_equal(table.offsets, offsets):
            return table
    return References(ids=tuple(range(len(texts_of))), texts=texts, offsets=offsets, name=name)


def raw_texts(captions_for_image: object) -> dict[Hashable, list[str]]:
    """The texts of raw captions, ``{image id: [{"caption": text}, ...]}``.

    Raises:
        CaptionTypeError, EncodingError: anything of another form; the error names the image.
    """
    return {image: _texts(image, value) for image, value in _mapping(captions_for_image, "captions").items()}


def of_images(
    annotations: Mapping[Any, Iterable[Any]], images: Iterable[Hashable], *, role: str, several: bool = False
) -> dict[Hashable, list[Any]]:
    """The annotations of some images: at least one reference each, or exactly one candidate.

    Args:
        annotations: image id -> annotations; the ``imgToAnns`` of a ``pycocotools.coco.COCO``.
        images: their ids; one that comes twice counts once.
        role: "references" or "candidates".
        several: an image may have several candidates.

    Raises:
        MissingReferencesError, MissingCandidatesError, DuplicateCandidateError: the error names the image.
    """
    where = "coco" if role == "references" else "cocoRes"
    found: dict[Hashable, list[Any]] = {}
    for image in images:
        # Not by subscript: pycocotools keeps a defaultdict, which would add the image.
        found[image] = list(annotations.get(image, ()))
        if role == "candidates" and not (several and found[image]):
            _refuse_other_than_one(image, found[image], where)
        elif not found[image]:
            raise _no_references(image, where)
    return found


def _mapping(value: object, name: str) -> Mapping[Hashable, object]:
    if not isinstance(value, Mapping):
        raise InputError(f"{name} is a {type(value).__name__}, not a dictionary", help="give {image id: [captions]}")
    return value


def _refuse_different_keys(gts: Mapping[Hashable, object], res: Mapping[Hashable, object]) -> None:
    unknown, missing = res.keys() - gts.keys(), gts.keys() - res.keys()
    if not unknown and not missing:
        return
    help = f"gts and res must have the same images; {_SUBSET}"
    if {str(image) for image in unknown} & {str(image) for image in missing}:
        help = "ids are strings on one side and numbers on the other: make them the same, as with {int(i): ...}"
    if unknown:
        shown = _some(image for image in res if image in unknown)
        raise UnknownImage(
            f"{len(unknown):,} of {len(res):,} candidates are for images that have no references",
            where=f"res: {shown}",
            help=help,
        )
    shown = _some(image for image in gts if image in missing)
    raise MissingCandidates(
        f"{len(missing):,} of {len(gts):,} images with references have no candidate", where=f"gts: {shown}", help=help
    )


def _refuse_other_than_one(image: Hashable, found: list[Any], where: str) -> None:
    if not found:
        raise MissingCandidates(
            "an image has no candidate", where=f"{where}: {_name(image)}", help=f"give it one; {_SUBSET}"
        )
    if len(found) > 1:
        raise DuplicateCandidate(
            f"an image has {len(found)} candidates",
            where=f"{where}: {_name(image)}",
            help="give one candidate per image; are these the references?",
        )


def _no_references(image: Hashable, where: str) -> MissingReferences:
    return MissingReferences(
        "an image has no references", where=f"{where}: {_name(image)}", help=f"give it one or more; {_SUBSET}"
    )


def _strings(image: Hashable, value: object, name: str) -> list[str]:
    """The tokenized captions of one image."""
    place = f"{name}: {_name(image)}"
    if not isinstance(value, list):
        raise NotAList(
            f"the captions of an image are not in a list, but in a {type(value).__name__}",
            where=f"{place} has {reprlib.repr(value)}",
            help="give {image id: [captions]}, even for a single caption",
        )
    for text in value:
        _check_text(text, place, help="give tokenized strings; PTBTokenizer().tokenize makes them from raw captions")
    return value


def _texts(image: Hashable, value: object) -> list[str]:
    """The raw captions of one image."""
    place = f"captions: {_name(image)}"
    help = 'give {image id: [{"caption": text}, ...]}'
    if not isinstance(value, list | tuple):
        raise CaptionTypeError(
            f"the captions of an image are not in a list, but in a {type(value).__name__}",
            where=f"{place} has {reprlib.repr(value)}",
            help=help,
        )
    texts: list[str] = []
    for annotation in value:
        if not isinstance(annotation, Mapping) or "caption" not in annotation:
            raise CaptionTypeError(
                'a caption is not a dictionary with a "caption"',
                where=f"{place} has {reprlib.repr(annotation)}",
                help=help,
            )
        _check_text(annotation["caption"], place, help=help)
        texts.append(annotation["caption"])
    return texts


def _check_text(text: object, place: str, *, help: str) -> None:
    if not isinstance(text, str):
        raise CaptionTypeError("a caption is not a string", where=f"{place} has {reprlib.repr(text)}", help=help)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise EncodingError(
                "a caption contains a lone surrogate (half of a character)",
                where=f"{place} has {reprlib.repr(text)}",
                help="write the full character, or remove it",
            ) from None


def _name(image: Hashable) -> str:
    return f"image_id {image!r}"


def _some(images: Iterable[Hashable]) -> str:
    """The first few ids."""
    first = [repr(image) for image in islice(images, 6)]
    return "image_id " + ", ".join(first[:5]) + (", ..." if len(first) > 5 else "")
