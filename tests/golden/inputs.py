"""Files that recorded commands read besides the examples: judgments, shards, logs, and files that are wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["WRONG", "write_inputs"]

#: Names of wrong files -> what is in them; lists are JSON.
WRONG: dict[str, Any] = {
    "empty.json": "",
    "cut.json": '[{"image_id": 1207, "cap',
    "words.json": "[1, oops]",
    "twice.json": [{"image_id": 1207, "caption": "a cat"}] * 2,
    "numbers.json": [{"image_id": 1207, "caption": 3}],
    "nothing.json": [],
    "other_keys.json": [{"picture": 1207, "text": "a cat"}],
    "fractions.json": [{"image_id": 1207.5, "caption": "a cat"}],
    "unknown.json": [{"image_id": 5, "caption": "a cat"}],
    "fewer.json": [{"image_id": 1207, "caption": "a cat"}],
    "text.doc": "a cat",
    "columns.csv": "a,b\n1,2\n",
    "lines.jsonl": '{"image_id": 1207, "caption": "a cat"}\noops\n',
}

#: Functions of one's own: a metric, and one that fails.
OWN = """
def words(candidate, references):
    return len(candidate.split()) / 10


def wrong(candidate, references):
    raise ValueError("never")
"""

#: A feature set of three columns.
SMALL = {"name": "small", "features": ["bleu-1", {"metric": "cider-d:idf=coco", "scale": 0.1}, "rouge-l"]}


def write_inputs(folder: Path) -> None:
    """Write the files into a folder that has the examples.

    human.json and four.json are the first and the other references of each image, moved.json the captions of the
    baseline, each for the image before. The three systems are rated in rated.jsonl; systems.jsonl names them.
    """
    for name, content in WRONG.items():
        _write(folder, name, content)
    references = _read(folder, "references")
    _write(folder, "human.json", [{"image_id": int(image), "caption": texts[0]} for image, texts in references.items()])
    _write(folder, "four.json", {image: texts[1:] for image, texts in references.items()})
    places = {image: "indoors" if number % 2 else "outdoors" for number, image in enumerate(references)}
    _write(folder, "groups.json", places)
    baseline = _read(folder, "baseline")
    captions = [record["caption"] for record in baseline]
    moved = [{**r, "caption": text} for r, text in zip(baseline, [*captions[1:], captions[0]], strict=True)]
    _write(folder, "moved.json", moved)
    rows = {name: _rows(_read(folder, name), references) for name in ("baseline", "improved", "moved")}
    rated = [
        {**row, "rating": least + number % 2, "system": name}
        for (name, of_system), least in zip(rows.items(), (2, 4, 1), strict=True)
        for number, row in enumerate(of_system)
    ]
    _write_lines(folder, "systems.jsonl", rated)
    _write_lines(folder, "rated.jsonl", [{key: row[key] for key in row if key != "system"} for row in rated])
    pairs = [
        {"better": good["candidate"], "worse": bad["candidate"], "references": bad["references"], "image": bad["image"]}
        for bad, good in zip(rows["baseline"], rows["improved"], strict=True)
    ]
    _write_lines(folder, "pairs.jsonl", pairs)
    shards = [{"id": row.pop("image"), **row} for row in map(dict, rows["improved"])]
    _write_lines(folder, "shard-0.jsonl", shards[:10])
    _write_lines(folder, "shard-1.jsonl", shards[10:])
    _write_lines(folder, "log.jsonl", [_sample(number, row) for number, row in enumerate(rows["baseline"][:5])])
    _write(folder, "own.py", OWN)
    _write(folder, "small.json", SMALL)


def _rows(records: list[dict[str, Any]], references: dict[str, list[str]]) -> list[dict[str, Any]]:
    return [
        {"candidate": record["caption"], "references": references[str(image)], "image": image}
        for record in records
        for image in [record["image_id"]]
    ]


def _sample(number: int, row: dict[str, Any]) -> dict[str, Any]:
    """Return a line of a log of lmms-eval."""
    answer = {"answer": row["references"], "pred": row["candidate"], "image_id": row["image"], "id": number}
    prompt = "Provide a one-sentence caption for the provided image."
    return {"doc_id": number, "filtered_resps": [row["candidate"]], "input": prompt, "target": "", "coco_CIDEr": answer}


def _read(folder: Path, name: str) -> Any:
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


def _write(folder: Path, name: str, content: Any) -> None:
    (folder / name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def _write_lines(folder: Path, name: str, rows: list[dict[str, Any]]) -> None:
    _write(folder, name, "".join(f"{json.dumps(row)}\n" for row in rows))
