"""Polaris: ratings from 0 to 1 of captions by ten systems and by people. Wada et al. 2024 (Polos).

Only the test split is used; the others are for training. References are written as a Python list in one cell.

The format is taken from the owners' program; the protocols have not been run on their files.
"""

from __future__ import annotations

import ast

from captious.errors import CaptionFileError
from captious.judgment import Benchmark, DataFolder, Files, Protocol, RatedCaption
from captious.judgment.files.judgment_files import number_within

_TEST = "polaris/polaris_test.csv"


def _read(folder: DataFolder) -> list[RatedCaption]:
    return [
        RatedCaption(
            f"line {line}",
            row["imgid"],
            row["mt"],
            _texts(row["refs"], folder.place(_TEST, line)),
            [number_within(row["score"], 0, None, folder.place(_TEST, line))],
        )
        for line, row in folder.csv_rows(_TEST, ("imgid", "mt", "refs", "score"))
    ]


def _texts(cell: str, where: str) -> list[str]:
    """Parse the texts of a Python list; only literals are evaluated."""
    try:
        texts = ast.literal_eval(cell)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        texts = None
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise CaptionFileError(
            "the references are not a list of texts", where=where, help="they are written as ['a cat', 'the cat']"
        )
    return texts


POLARIS = Benchmark(
    "polaris",
    tuple(
        Protocol("polaris", name, f"kendall-{name}", "given", "captions", source=source)
        for name, source in (("tau-c", "Wada et al. 2024"), ("tau-b", ""))
    ),
    (Files((_TEST,), _read),),
    "polaris.zip, which keio-smilab24/Polos on GitHub links to",
)
