"""SugarCrepe: a correct caption and an altered one, with seven kinds of alterations. Hsieh et al. 2023.

Its files have no references: COCO's captions are used, of val2017 or of val2014, which has the same images.
"""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from pathlib import PurePath

from captious.errors import CaptionFileError
from captious.judgment import Benchmark, CaptionPair, DataFolder, Files, Protocol, Rule
from captious.judgment.benchmark_items import letters
from captious.judgment.files.judgment_files import COCO_CAPTIONS, entry_of, number_within, read_coco_captions

#: The kinds of change, a file each.
CHANGES = ("add_att", "add_obj", "replace_att", "replace_obj", "replace_rel", "swap_att", "swap_obj")
_NORMALIZED = tuple(f"sugarcrepe/{change}.jsonl" for change in CHANGES)
_PUBLISHED = tuple(f"sugarcrepe/{change}.json" for change in CHANGES)


def _other_references(item: CaptionPair) -> list[str]:
    """Return the references that differ from the right caption in letters or digits."""
    right = letters(item.captions[item.preferred])
    return [text for text in item.references if letters(text) != right]


def _read_normalized(folder: DataFolder) -> list[CaptionPair]:
    return [
        CaptionPair(r["image_id"], (r["pos"], r["neg"]), 0, r["refs"], change)
        for change, name in zip(CHANGES, _NORMALIZED, strict=True)
        for r in folder.records(name)
    ]


def _read_published(folder: DataFolder, coco: str) -> list[CaptionPair]:
    """Read ``{"0": {"filename": "000000085329.jpg", "caption": ..., "negative_caption": ...}}`` from every file."""
    captions = read_coco_captions(folder, coco)
    pairs = []
    for change, name in zip(CHANGES, _PUBLISHED, strict=True):
        for key, entry in folder.entries(name, ("filename", "caption", "negative_caption")):
            where = folder.place(name, f"entry {key!r}")
            # COCO_val2014_000000085329.jpg in 2014, 000000085329.jpg in 2017
            digits = PurePath(str(entry["filename"])).stem.rpartition("_")[2]
            image = int(number_within(digits, 0, None, where))
            texts = (str(entry["caption"]), str(entry["negative_caption"]))
            pair = CaptionPair(image, texts, 0, entry_of(captions, image, where), change)
            if not _other_references(pair):
                raise CaptionFileError(f"image {image} has no other caption", where=where, help=f"check {coco}")
            pairs.append(pair)
    return pairs


SUGARCREPE = Benchmark(
    "sugarcrepe",
    (
        Protocol(
            "sugarcrepe",
            "forced-choice",
            "accuracy",
            "known",
            "pairs",
            references=Rule("the image's references, without the correct caption", _other_references),
            parts=Rule("kinds of change", attrgetter("part")),
            part_order=CHANGES,
            source="Hsieh et al. 2023",
        ),
    ),
    (
        Files(_NORMALIZED, _read_normalized),
        *(Files((*_PUBLISHED, coco), partial(_read_published, coco=coco)) for coco in COCO_CAPTIONS),
    ),
    "Hsieh et al. 2023",
)
