"""Nebula: crowdsourced ratings of machine and human captions with references. Matsuda et al. 2024 (DENEB).

Only the test split is used; the others are for training. The images in the files are not read. Some ratings were
corrected later in the files of Spica, by image and caption; protocols whose names begin with "corrected-" use those.

The formats are taken from the description of the owners' files and from a program that reads both; the protocols have
not been run on the files.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from captious.judgment import Benchmark, DataFolder, Files, Protocol, RatedCaption
from captious.judgment.files.judgment_files import number_within

_TEST = "nebula/test-*.parquet"
_CORRECTIONS = tuple(f"nebula/spica_{split}.csv" for split in ("train", "val", "test"))


def _read(folder: DataFolder) -> tuple[DataFolder, list[RatedCaption]]:
    rows = folder.parquet(_TEST, ("file_name", "mt", "refs", "human_score"))
    names = [f"row {number}" for number in range(1, len(rows) + 1)]
    return folder, [
        RatedCaption(name, image, candidate, references, [number_within(score, 0, None, folder.place(_TEST, name))])
        for name, (image, candidate, references, score) in zip(names, rows, strict=True)
    ]


def _items(protocol: Protocol, content: tuple[DataFolder, Sequence[RatedCaption]]) -> Sequence[RatedCaption]:
    folder, rated = content
    if not protocol.name.startswith("corrected-"):
        return rated
    corrected: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for name in _CORRECTIONS:
        for line, row in folder.csv_rows(name, ("imgid", "mt", "score")):
            rating = number_within(row["score"], 0, None, folder.place(name, line))
            corrected[_key(row["imgid"], row["mt"])].append(rating)
    means = {key: sum(ratings) / len(ratings) for key, ratings in corrected.items()}
    return [
        replace(item, ratings=[means.get(_key(str(item.image), item.candidate), item.ratings[0])]) for item in rated
    ]


def _key(image: str, candidate: str) -> tuple[str, str]:
    """Return the key of corrections: the image without its extension, and the words of the caption."""
    return PurePath(image).stem, " ".join(candidate.split())


NEBULA = Benchmark(
    "nebula",
    tuple(
        Protocol("nebula", name, f"kendall-{name[-5:]}", "given", "captions", source=source)
        for name, source in (
            ("tau-c", "Matsuda et al. 2024"),
            ("tau-b", ""),
            ("corrected-tau-c", "arXiv:2512.21582"),
            ("corrected-tau-b", ""),
        )
    ),
    (Files((_TEST,), _read),),
    "Ka2ukiMatsuda/Nebula on the Hugging Face hub, data/test-*.parquet; corrections: hiranohachiman/Spica, spica_*.csv",
    items=_items,
)
