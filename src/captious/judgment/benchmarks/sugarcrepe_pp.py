"""SugarCrepe++: two captions with the same meaning, and one with similar words but another meaning. Dumpala et al.
2024.

``text-only`` compares only texts: the first caption is the reference, and a metric is right if it scores the second one
higher than the negative one. ``forced-choice`` is that of SugarCrepe: each of the two captions is compared with the
negative one, with COCO's other captions of the image as references.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from pathlib import PurePath
from typing import Any

from captious.judgment import Benchmark, CaptionPair, DataFolder, Files, Protocol, Rule
from captious.judgment.benchmark_items import letters
from captious.judgment.files.judgment_files import coco_captions_file, entry_of, number_within, read_coco_captions

_CHANGES = ("replace_att", "replace_obj", "replace_rel", "swap_att", "swap_obj")
_FILES = tuple(f"scpp/{change}.json" for change in _CHANGES)


@dataclass(frozen=True)
class _Triple:
    where: str
    image: str
    texts: tuple[str, str, str]
    change: str


def _read(folder: DataFolder) -> tuple[DataFolder, list[_Triple]]:
    """Read ``[{"filename": "000000331352.jpg", "caption", "caption2", "negative_caption"}]`` from every file."""
    triples = []
    for change, name in zip(_CHANGES, _FILES, strict=True):
        for number, r in enumerate(folder.json(name), start=1):
            texts = (r["caption"], r["caption2"], r["negative_caption"])
            triples.append(_Triple(folder.place(name, f"record {number}"), str(r["filename"]), texts, change))
    return folder, triples


def _items(protocol: Protocol, content: tuple[DataFolder, Sequence[_Triple]]) -> list[CaptionPair]:
    folder, triples = content
    if protocol.name != "forced-choice":
        return [
            CaptionPair(t.image, (second, negative), 0, [first], t.change)
            for t in triples
            for first, second, negative in (t.texts,)
        ]
    captions = read_coco_captions(folder, coco_captions_file(folder))
    pairs = []
    for t in triples:
        # COCO_val2014_000000085329.jpg in 2014, 000000085329.jpg in 2017
        image = int(number_within(PurePath(t.image).stem.rpartition("_")[2], 0, None, t.where))
        first, second, negative = t.texts
        references = [text for text in entry_of(captions, image, t.where) if letters(text) != letters(first)]
        pairs += [CaptionPair(image, (text, negative), 0, references, t.change) for text in (first, second)]
    return pairs


_protocol: Any = partial(
    Protocol,
    "sugarcrepe-pp",
    statistic="accuracy",
    ratings="known",
    of="pairs",
    parts=Rule("kinds of change", attrgetter("part")),
    part_order=_CHANGES,
)
_TEXT_ONLY = _protocol(
    "text-only", references=Rule("the first caption", attrgetter("references")), source="Dumpala et al. 2024"
)

SUGARCREPE_PP = Benchmark(
    "sugarcrepe-pp",
    (
        _TEXT_ONLY,
        replace(_TEXT_ONLY, name="pooled", parts=None, part_order=()),
        _protocol(
            "forced-choice",
            references=Rule("COCO's captions of the image, without the first caption", attrgetter("references")),
            source="as SugarCrepe, Hsieh et al. 2023",
        ),
    ),
    (Files(_FILES, _read),),
    "Sri-Harsha/scpp on GitHub, data; for forced-choice also COCO's captions_val2017.json or captions_val2014.json",
    items=_items,
)
