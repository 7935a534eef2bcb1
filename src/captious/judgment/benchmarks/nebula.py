"""Nebula: captions of machines and people with references, rated by the crowd. Matsuda et al. 2024 (DENEB).

Only the test split is judged; the others are for training. The images in the files are not read.

The format was taken from the description of the owners' files; the protocols have not been run on them.
"""

from __future__ import annotations

from captious.judgment import Benchmark, DataFolder, Files, Protocol, RatedCaption
from captious.judgment.judgment_files import number_within

__all__ = ["NEBULA"]

_TEST = "nebula/test-*.parquet"


def _read(folder: DataFolder) -> list[RatedCaption]:
    rows = folder.parquet(_TEST, ("file_name", "mt", "refs", "human_score"))
    names = [f"row {number}" for number in range(1, len(rows) + 1)]
    return [
        RatedCaption(name, image, candidate, references, [number_within(score, 0, None, folder.place(_TEST, name))])
        for name, (image, candidate, references, score) in zip(names, rows, strict=True)
    ]


NEBULA = Benchmark(
    "nebula",
    tuple(
        Protocol("nebula", name, f"kendall-{name}", "given", "captions", source=source)
        for name, source in (("tau-c", "Matsuda et al. 2024"), ("tau-b", ""))
    ),
    (Files((_TEST,), _read),),
    "Ka2ukiMatsuda/Nebula on the Hugging Face hub, data/test-*.parquet",
)
