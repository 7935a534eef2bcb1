"""Captions that come in parts give the scores of all together: streams, shards, and prepared references."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from tests.golden.calls import prepared, scored, scores, signature
from tests.golden.captions import EXAMPLES, REFERENCES, coco
from tests.golden.record import Record

pytestmark = [
    pytest.mark.filterwarnings("ignore::captious.CaptiousWarning"),
    pytest.mark.usefixtures("meteor_tables"),
]

METRICS = ["bleu", "meteor", "rouge-l", "rouge-n", "cider-d", "cider-d:idf=coco", "spice", "length", "concur", "chrf"]
#: Fewer, as each process prepares what they need.
OF_SHARDS = ["bleu", "rouge-l", "cider-d", "cider-d:idf=coco", "length"]
IMPROVED = str(EXAMPLES / "improved.json")


def parts() -> list[tuple[dict[int, str], dict[int, list[str]]]]:
    """Return the 200 images in four parts of different sizes."""
    candidates, references = coco().systems["system-0"], coco().references
    images = [*references]
    return [
        ({image: candidates[image] for image in of_part}, {image: references[image] for image in of_part})
        for of_part in (images[:1], images[1:50], images[50:120], images[120:])
    ]


def test_streams_merged_in_any_order(record: Record, shared_data: Path) -> None:
    computed = []
    for order in [*permutations(range(4))][::5]:
        streams = []
        for part in parts():
            stream = captious.Stream(METRICS)
            stream.update(*part)
            streams.append(stream)
        first, *others = (streams[index] for index in order)
        for other in others:
            first.merge(other)
        computed.append((first.compute(), [*map(signature, first.signatures.values())]))
    one = captious.Stream(METRICS)
    for part in parts()[::-1]:
        one.update(*part)
    computed.append((one.compute(), [*map(signature, one.signatures.values())]))
    assert all(each == computed[0] for each in computed)
    record("parts/streams", {"scores": computed[0][0], "signatures": computed[0][1]})


def test_streams_of_several_captions(record: Record) -> None:
    samples = json.loads((EXAMPLES / "samples.json").read_text())
    references = json.loads((EXAMPLES / "references.json").read_text())
    stream = captious.Stream(["div", "mbleu", "distinct"])
    for images in ([*samples][:5], [*samples][5:]):
        stream.update({image: samples[image] for image in images}, {image: references[image] for image in images})
    record("parts/sets", stream.compute())


@pytest.mark.parametrize("engine", ["stream", "processes"])
def test_shards(engine: str, record: Record, shared_data: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for number, (candidates, references) in enumerate(parts()):
        rows = [{"id": image, "candidate": candidates[image], "references": references[image]} for image in candidates]
        (tmp_path / f"{number}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = captious.scale.score_shards(
        f"{tmp_path}/*.jsonl",
        OF_SHARDS,
        engine=engine,
        workers=2 if engine == "processes" else None,
        output=tmp_path / "output",
        per_caption=tmp_path / "captions",
        intervals=True,
        batch_rows=30,
    )
    tables = [parquet.read_table(path).to_pydict() for path in sorted((tmp_path / "captions").glob("*.parquet"))]
    columns: dict[str, list[Any]] = {name: [x for table in tables for x in table[name]] for name in tables[0]}
    record(
        "parts/shards",
        {
            "n_images": report.n_images,
            "scores": {
                name: {
                    "signature": signature(result.signature),
                    "score": result.score,
                    "interval": result.confidence_interval(),
                }
                for name, result in report.items()
            },
            "captions": {name: values for name, values in columns.items() if name != "candidate"},
        },
        tolerance=1e-9,  # intervals: roots of covariances that are nearly dependent
    )


def test_prepared_references(record: Record, tmp_path: Path) -> None:
    """Scores from a prepared file are those of the references themselves, to the last bit."""
    references = prepared(REFERENCES, tmp_path / "references.captious", METRICS)
    direct = scored(IMPROVED, REFERENCES, METRICS)
    for form in (references, str(tmp_path / "references.captious")):
        report = scored(IMPROVED, form, METRICS)
        assert [*report] == [*direct]
        for name, result in report.items():
            np.testing.assert_array_equal(result.per_caption, direct[name].per_caption)
            assert result.signature == direct[name].signature
        record("parts/prepared", scores(report))


def test_prepared_references_of_coco(record: Record, shared_data: Path, tmp_path: Path) -> None:
    prepared(coco().references, tmp_path / "references.captious", METRICS)
    report = scored(coco().systems["system-1"], str(tmp_path / "references.captious"), METRICS)
    direct = scored(coco().systems["system-1"], coco().references, METRICS)
    for name, result in report.items():
        np.testing.assert_array_equal(result.per_caption, direct[name].per_caption)
    record(
        "parts/prepared-coco",
        {name: {"score": x.score, "sum": float(x.per_caption.sum())} for name, x in report.items()},
    )
