"""Every protocol of every benchmark on its own files: which captions, references and judgments it has, as recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from captious.errors import ResourceError
from captious.judgment.benchmarks import names
from captious.judgment.judgments import (
    CaptionJudgments,
    CaptionPairs,
    HumanJudgments,
    RatedCaptions,
    RatedSystems,
    SystemRanking,
)
from tests.golden.files import array, checksum
from tests.golden.record import Record
from tests.support.judgments import load


def texts(found: Any) -> dict[str, Any]:
    return {"n": len(found), "checksum": checksum("\n".join(map(str, found)))}


def numbers(found: NDArray[Any]) -> Any:
    return found.tolist() if found.size < 30 else array(np.asarray(found))


def described(judgments: HumanJudgments) -> dict[str, Any]:
    """Return what judgments consist of, and their statistic of lengths, with many ties, and of nearly equal scores."""
    found: dict[str, Any] = {
        "class": type(judgments).__name__,
        "n": judgments.n,
        "images": judgments.n_units,
        "parts": [*judgments.part_names],
        "items": texts(judgments.items),
        "files": [*judgments.data],
        "protocol": judgments.protocol.facts(),
    }
    if isinstance(judgments, SystemRanking):
        scores = np.linspace(0, 1, len(judgments.systems)) ** 2
        published = {name: values.tolist() for name, values in judgments.published.items()}
        found |= {"systems": judgments.systems, "human": judgments.human.tolist(), "published": published}
        found["outputs"] = judgments.outputs and [texts(output) for output in judgments.outputs]
        return found | {"values": judgments.values(scores).tolist()}
    assert isinstance(judgments, CaptionJudgments)
    table = judgments.captions
    scores = np.array([len(text.split()) for text in table.candidates], float)
    found |= {
        "candidates": texts(table.candidates),
        "references": texts(table.references.texts),
        "offsets": numbers(table.references.offsets),
        "units": numbers(judgments.units),
    }
    if isinstance(judgments, CaptionPairs):
        found |= {"preferred": numbers(judgments.preferred), "of parts": numbers(judgments.parts)}
    elif isinstance(judgments, RatedCaptions):
        found |= {
            "ratings": numbers(np.concatenate(judgments.ratings)),
            "each": [len(r) for r in judgments.ratings[:3]],
        }
        found["of parts"] = judgments.parts is not None and numbers(judgments.parts)
    elif isinstance(judgments, RatedSystems):
        found |= {"systems": [*judgments.names], "ratings": numbers(judgments.ratings)}
    found["values"] = judgments.values(scores).tolist()
    found["values of close scores"] = judgments.values(1e-7 * (scores + np.arange(len(scores)) % 3)).tolist()
    counts = np.arange(2 * judgments.n_units, dtype=np.int32).reshape(2, -1) % 3
    found["resampled"] = judgments.resampled(scores, counts).tolist()
    return found


#: Benchmarks whose files are not ours to have; tests of their own have files of that form.
ELSEWHERE = {"distractors", "foil-coco", "hat", "nebula", "polaris", "thumb", "vatex-eval"}


@pytest.mark.parametrize("name", [name for name in names.names() if name not in ELSEWHERE])
def test_judgments_are_as_recorded(name: str, record: Record, shared_data: Path) -> None:
    found = {}
    for protocol in names.get(name).protocols:
        try:
            found[protocol.name] = described(load(shared_data, protocol.full_name))
        except ResourceError as error:
            found[protocol.name] = {"error": error.message}
    record(f"judgments/{name}", found)
