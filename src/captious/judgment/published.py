"""Judgments in the files that their owners publish, as the records that the normalised files hold.

A benchmark does not know which of the two it was given. What is read here:

- Flickr8k (Hodosh et al. 2013): ``Flickr8k.token.txt`` with ``ExpertAnnotations.txt`` or
  ``CrowdFlowerAnnotations.txt``. Of the latter's 47,830 pairs, the normalised file has 47,288: nine neighbouring images
  are not in it.
- ``flickr.json`` of Yi et al. 2020: mean ratings of the same pairs, without the 158 whose caption is the image's own.
- SugarCrepe (Hsieh et al. 2023): its seven json files; references are COCO's, of val2017 or of val2014, which has the
  same images.

PASCAL-50S, ABSTRACT-50S and Composite are read in the normalised form alone.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import Any, TypeAlias, TypeVar

from captious.errors import CaptionFileError
from captious.judgment.judgment_files import DataFolder

__all__ = ["PUBLISHED", "SUGARCREPE", "Published", "letters"]

Record: TypeAlias = dict[str, Any]
T = TypeVar("T")

_TOKENS = "flickr8k/Flickr8k.token.txt"
_EXPERT = "flickr8k/ExpertAnnotations.txt"
_CROWD = "flickr8k/CrowdFlowerAnnotations.txt"
_MEANS = "yi2020/flickr.json"
_COCO = ("coco/captions_val2017.json", "coco/captions_val2014.json")

#: The kinds of change in SugarCrepe, a file each.
SUGARCREPE = ("add_att", "add_obj", "replace_att", "replace_obj", "replace_rel", "swap_att", "swap_obj")


@dataclass(frozen=True)
class Published:
    """One way in which a benchmark is published.

    Args:
        files: all of them are needed.
        read: makes records of them; raises CaptionFileError with file and line.
    """

    files: tuple[str, ...]
    read: Callable[[DataFolder], list[Record]]


def letters(text: str) -> str:
    """What two captions have in common that are the same to a reader: small letters and digits."""
    return re.sub("[^a-z0-9]", "", text.lower())


# ---- Flickr8k


def _expert(folder: DataFolder) -> list[Record]:
    """``1056338697_4f7d7ce270.jpg  2718495608_d8533e3ac5.jpg#2  1  1  2`` on every line."""
    text_of, references_of = _flickr8k_captions(folder)
    records = []
    for number, (image, caption, *scores) in folder.rows(_EXPERT, 5):
        where = folder.place(_EXPERT, number)
        candidate = _known(text_of, caption, where)
        references = _known(references_of, image, where)
        records.append(
            {
                "image": image,
                "caption_id": caption,
                "candidate": candidate,
                "scores": [_number(score, 1, 4, where) for score in scores],
                "candidate_in_refs": candidate in references,
                "refs": references,
            }
        )
    return records


def _crowd(folder: DataFolder) -> list[Record]:
    """Image, caption, share of yes, number of yes, number of no.

    References are the image's captions without those that are judged for it: each judged caption takes away one
    reference of the same text, as Hessel et al. 2021 do.
    """
    text_of, references_of = _flickr8k_captions(folder)
    left: dict[str, list[str]] = {}
    records = []
    for number, (image, caption, share, yes, no) in folder.rows(_CROWD, 5):
        where = folder.place(_CROWD, number)
        candidate = _known(text_of, caption, where)
        references = left.setdefault(image, [*_known(references_of, image, where)])
        if candidate in references:
            references.remove(candidate)
        records.append(
            {
                "image": image,
                "caption_id": caption,
                "candidate": candidate,
                "yes_frac": _number(share, 0, 1, where),
                "n_yes": _number(yes, 0, None, where),
                "n_no": _number(no, 0, None, where),
                "refs": references,
            }
        )
    for image, references in left.items():
        if not references:
            raise CaptionFileError(
                f"all captions of {image} are judged, so it has no references",
                where=folder.place(_CROWD),
                help="get the file again",
            )
    return records


def _flickr8k_captions(folder: DataFolder) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Captions by id, and the captions of each image: ``1000268201_693b08cb0e.jpg#0  A child ...`` on every line."""
    text_of: dict[str, str] = {}
    references_of: dict[str, list[str]] = defaultdict(list)
    for number, (caption, text) in folder.rows(_TOKENS, 2):
        image, mark, _ = caption.partition("#")
        if not mark or caption in text_of:
            raise CaptionFileError(
                f"{caption!r} is there twice" if mark else f"{caption!r} is no caption id",
                where=folder.place(_TOKENS, number),
                help="an id is an image, # and the number of the caption",
            )
        text_of[caption] = text.strip()
        references_of[image].append(text.strip())
    return text_of, dict(references_of)


def _means(folder: DataFolder) -> list[Record]:
    """``{"0": {"refs": [...], "cand": [...], "score": 1.3333}}``; what has the same references is the same image."""
    images: dict[tuple[str, ...], str] = {}
    records = []
    for key, entry in folder.entries(_MEANS, ("refs", "cand", "score")):
        where = folder.place(_MEANS, f"entry {key!r}")
        if not _is_texts(entry["refs"]) or not _is_texts(entry["cand"]) or len(entry["cand"]) != 1:
            raise CaptionFileError("refs and cand are not lists of captions", where=where, help="get the file again")
        records.append(
            {
                "image": images.setdefault(tuple(entry["refs"]), f"image {len(images)}"),
                "caption_id": key,
                "candidate": entry["cand"][0],
                "mean": _number(entry["score"], 1, 4, where),
                "candidate_in_refs": False,
                "refs": entry["refs"],
            }
        )
    return records


# ---- SugarCrepe


def _sugarcrepe(folder: DataFolder, coco: str) -> list[Record]:
    """``{"0": {"filename": "000000085329.jpg", "caption": ..., "negative_caption": ...}}`` in every file."""
    captions = _coco_captions(folder, coco)
    records = []
    for part in SUGARCREPE:
        name = f"sugarcrepe/{part}.json"
        for key, entry in folder.entries(name, ("filename", "caption", "negative_caption")):
            where = folder.place(name, f"entry {key!r}")
            # COCO_val2014_000000085329.jpg in 2014, 000000085329.jpg in 2017
            digits = PurePath(str(entry["filename"])).stem.rpartition("_")[2]
            image = int(_number(digits, 0, None, where))
            others = [
                text for text in _known(captions, image, where) if letters(text) != letters(str(entry["caption"]))
            ]
            if not others:
                raise CaptionFileError(f"image {image} has no other caption", where=where, help=f"check {coco}")
            records.append(
                {
                    "part": part,
                    "id": key,
                    "image_id": image,
                    "pos": entry["caption"],
                    "neg": entry["negative_caption"],
                    "refs": others,
                }
            )
    return records


def _coco_captions(folder: DataFolder, name: str) -> dict[int, list[str]]:
    """Captions of every image, in the order of the file, without the blanks around them."""
    content = folder.json(name)
    found: dict[int, list[str]] = defaultdict(list)
    try:
        for annotation in content["annotations"]:
            found[annotation["image_id"]].append(annotation["caption"].strip())
    except (KeyError, TypeError, AttributeError) as error:
        raise CaptionFileError(
            f"no captions in COCO's format: {type(error).__name__} {error}",
            where=folder.place(name),
            help='it holds {"annotations": [{"image_id": 1, "caption": "..."}]}',
        ) from error
    return dict(found)


# ---- helpers


def _known(table: dict[Any, T], key: object, where: str) -> T:
    if key not in table:
        raise CaptionFileError(f"{key} has no caption", where=where, help="get files of the same release")
    return table[key]


def _number(value: object, low: float, high: float | None, where: str) -> float:
    """A number within bounds."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = float("nan")
    if not number >= low or (high is not None and number > high):
        bounds = f"at least {low}" if high is None else f"between {low} and {high}"
        raise CaptionFileError(f"{value!r} is no number of {bounds}", where=where, help="get the file again")
    return number


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(text, str) for text in value)


_SUGARCREPE_FILES = tuple(f"sugarcrepe/{part}.json" for part in SUGARCREPE)

#: How benchmarks are published: the first whose files are all there is read.
PUBLISHED: dict[str, tuple[Published, ...]] = {
    "flickr8k-expert": (Published((_EXPERT, _TOKENS), _expert), Published((_MEANS,), _means)),
    "flickr8k-cf": (Published((_CROWD, _TOKENS), _crowd),),
    "sugarcrepe": tuple(Published((*_SUGARCREPE_FILES, name), partial(_sugarcrepe, coco=name)) for name in _COCO),
}
