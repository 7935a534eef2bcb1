"""Fixtures of the tests of studies: judgments and systems made of the examples."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

#: Metrics without resources.
METRICS = ("-m", "bleu-1", "-m", "cider-d")


@pytest.fixture
def rated(folder: Path) -> Path:
    """Ratings of the example systems: improved captions are better."""
    references = json.loads((folder / "references.json").read_text())
    path = folder / "rated.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for system, rating in (("baseline", 1), ("improved", 5)):
            for record in json.loads((folder / f"{system}.json").read_text()):
                image = str(record["image_id"])
                own = {"candidate": record["caption"], "references": references[image], "image": image}
                file.write(json.dumps({**own, "rating": rating}) + "\n")
    return path
