"""VALSE: a caption of COCO and a foil, by linguistic phenomenon. Parcalabescu et al. 2022.

Three of its parts are about images with captions of COCO: plurals, relations, and nouns (those of FOIL). As in the
paper, only foils that at least two of three people recognized are used. References are COCO's other captions of the
image, so that reference-based metrics can be compared as well.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import PurePath

from captious.errors import CaptionFileError
from captious.judgment import Benchmark, CaptionPair, DataFolder, Files, Protocol, Rule
from captious.judgment.benchmark_items import letters
from captious.judgment.files.judgment_files import COCO_CAPTIONS, entry_of, number_within, read_coco_captions

_PIECES = ("plurals", "relations", "foil-it")
_FILES = tuple(f"valse/{piece}.json" for piece in _PIECES)
_KEYS = ("image_file", "caption", "foil", "mturk")
_AGREED = 2  # annotators, out of three


def _other_references(item: CaptionPair) -> list[str]:
    """Return the references that differ in letters or digits from the caption and from its original."""
    caption_letters = {letters(item.captions[item.preferred]), letters(item.facts["original"])}
    return [text for text in item.references if letters(text) not in caption_letters]


def _read(folder: DataFolder, coco: str) -> list[CaptionPair]:
    """Read ``{key: {"image_file", "caption", "foil", "orig_caption", "mturk": {"caption": 3, "foil": 0, "other":
    0}}}``.
    """
    captions = read_coco_captions(folder, coco)
    pairs = []
    for piece, name in zip(_PIECES, _FILES, strict=True):
        for key, entry in folder.entries(name, _KEYS):
            where = folder.place(name, f"entry {key!r}")
            # COCO_val2014_000000085329.jpg for FOIL, 000000085329.jpg for others
            image = int(number_within(PurePath(entry["image_file"]).stem.rpartition("_")[2], 0, None, where))
            facts = {"votes": entry["mturk"]["caption"], "original": entry.get("orig_caption", entry["caption"])}
            texts = (entry["caption"], entry["foil"])
            pair = CaptionPair(image, texts, 0, entry_of(captions, image, where), piece, facts)
            if not _other_references(pair):
                raise CaptionFileError(f"image {image} has no other caption", where=where, help=f"check {coco}")
            pairs.append(pair)
    return pairs


def _is_unclear(item: CaptionPair) -> bool:
    return bool(item.facts["votes"] < _AGREED)


def _is_not(piece: str, item: CaptionPair) -> bool:
    return item.part != piece or _is_unclear(item)


_UNCLEAR = "foils that fewer than two of three people recognized"
_ALL = Protocol(
    "valse",
    "forced-choice",
    "accuracy",
    "known",
    "pairs",
    references=Rule("COCO's captions of the image, without the one that was changed", _other_references),
    excluded=Rule(_UNCLEAR, _is_unclear),
    parts=Rule("pieces", attrgetter("part")),
    part_order=_PIECES,
    source="Parcalabescu et al. 2022",
)

VALSE = Benchmark(
    "valse",
    (
        _ALL,
        *(
            replace(
                _ALL,
                name=piece,
                parts=None,
                part_order=(),
                excluded=Rule(f"other pieces; {_UNCLEAR}", partial(_is_not, piece)),
            )
            for piece in _PIECES
        ),
    ),
    tuple(Files((*_FILES, coco), partial(_read, coco=coco)) for coco in COCO_CAPTIONS),
    "Heidelberg-NLP/VALSE on GitHub, data; COCO's annotations",
)
