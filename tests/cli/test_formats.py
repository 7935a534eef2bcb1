"""Files of every form, scored from the command line, give the same numbers."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run


def records(folder: Path) -> list[dict[str, Any]]:
    return json.loads((folder / "baseline.json").read_text())


def reference_rows(folder: Path) -> list[tuple[int, str]]:
    table = json.loads((folder / "references.json").read_text())
    return [(int(image), caption) for image, captions in table.items() for caption in captions]


def write_rows(path: Path, rows: list[tuple[int, str]]) -> None:
    """Rows of image and caption in the form of the extension."""
    as_records = [{"image_id": image, "caption": caption} for image, caption in rows]
    kind = path.name.removesuffix(".gz").rpartition(".")[2]
    if kind == "parquet":
        arrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(arrow.Table.from_pylist(as_records), path)
        return
    opened = gzip.open if path.name.endswith(".gz") else open
    with opened(path, "wt", encoding="utf-8", newline="") as file:
        if kind == "json":
            json.dump(as_records, file)
        elif kind == "jsonl":
            file.writelines(json.dumps(record) + "\n" for record in as_records)
        else:
            writer = csv.writer(file, delimiter="\t" if kind == "tsv" else ",")
            writer.writerow(["image_id", "caption"])
            writer.writerows(rows)


@pytest.fixture
def expected(folder: Path, run: Run) -> dict[str, Any]:
    return metrics_of(
        run("score", "baseline.json", "references.json", "-m", "cider-d", "-m", "bleu", "--format", "json").json
    )


def metrics_of(document: dict[str, Any]) -> dict[str, Any]:
    (system,) = document["systems"]
    assert system["n_images"] == 24
    return system["metrics"]


FORMS = ["x.json", "x.json.gz", "x.jsonl", "x.jsonl.gz", "x.csv", "x.csv.gz", "x.tsv", "x.parquet"]


@pytest.mark.parametrize("name", FORMS)
def test_candidates_of_every_format_have_equal_scores(
    folder: Path, run: Run, expected: dict[str, Any], name: str
) -> None:
    write_rows(folder / name, [(record["image_id"], record["caption"]) for record in records(folder)])
    outcome = run("score", name, "references.json", "-m", "cider-d", "-m", "bleu", "--format", "json")
    assert metrics_of(outcome.json) == expected
    assert outcome.json["systems"][0]["name"] == "x"


@pytest.mark.parametrize("name", FORMS)
def test_references_of_every_format_have_equal_scores(
    folder: Path, run: Run, expected: dict[str, Any], name: str
) -> None:
    write_rows(folder / name, reference_rows(folder))
    outcome = run("score", "baseline.json", name, "-m", "cider-d", "-m", "bleu", "--format", "json")
    assert metrics_of(outcome.json) == expected


@pytest.mark.parametrize("packed", [False, True])
def test_coco_annotations_are_read(folder: Path, run: Run, expected: dict[str, Any], packed: bool) -> None:
    rows = reference_rows(folder)
    document = json.dumps(
        {
            "info": {"year": 2014, "nested": [{"annotations": None}]},
            "images": [{"id": image, "file_name": f"{image}.jpg"} for image in dict(rows)],
            "licenses": [],
            "type": "captions",
            "annotations": [
                {"image_id": image, "id": number, "caption": caption} for number, (image, caption) in enumerate(rows)
            ],
        }
    ).encode()
    name = "captions_val.json.gz" if packed else "captions_val.json"
    (folder / name).write_bytes(gzip.compress(document) if packed else document)
    outcome = run("score", "baseline.json", name, "-m", "cider-d", "-m", "bleu", "--format", "json")
    assert metrics_of(outcome.json) == expected


def test_order_of_rows_does_not_change_scores(folder: Path, run: Run, expected: dict[str, Any]) -> None:
    (folder / "x.json").write_text(json.dumps(records(folder)[::-1]))
    outcome = run("score", "x.json", "references.json", "-m", "cider-d", "-m", "bleu", "--format", "json")
    assert metrics_of(outcome.json) == expected


def test_text_ids_match_numbers(folder: Path, run: Run, expected: dict[str, Any]) -> None:
    """References are a JSON object, whose keys can only be text, so both kinds of candidates fit them."""
    as_text = [{**record, "image_id": str(record["image_id"])} for record in records(folder)]
    (folder / "x.json").write_text(json.dumps(as_text))
    outcome = run("score", "x.json", "references.json", "-m", "cider-d", "-m", "bleu", "--format", "json")
    assert metrics_of(outcome.json) == expected


def test_similar_ids_are_different_images(folder: Path, run: Run) -> None:
    ids = ["1", "01", "+1", "1.0", "a b", "猫", "", "é", "e\u0301"]
    (folder / "c.json").write_text(json.dumps([{"image_id": image, "caption": "a cat"} for image in ids]))
    (folder / "r.json").write_text(json.dumps({image: ["a cat sits", "cat"] for image in ids}))
    outcome = run("score", "c.json", "r.json", "-m", "rouge-l", "--per-caption", "s.jsonl")
    assert outcome.code == 0
    lines = (folder / "s.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    assert [json.loads(line)["id"] for line in lines] == ids
