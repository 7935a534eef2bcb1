"""The folder of a challenge for participants: two phases, a public captions file with images, and a private one."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from server.tests.support.site import EXAMPLES, example
from server.tests.support.small_challenge import as_toml

_LOGO = """<svg xmlns="http://www.w3.org/2000/svg" width="96" height="48" viewBox="0 0 96 48">
<path d="M4 44 L30 8 L50 34 L62 20 L92 44 Z"/></svg>
"""
_VALUES: dict[str, Any] = {
    "title": "Scenes",
    "summary": "Captions of images.",
    "logo": "logo.svg",
    "access": "participants",
    "organized_by": ["Ann Smith, University of Scenes"],
    "license": "CC BY 4.0",
    "citation": "@misc{scenes, title = {Scenes: Captions of Twenty-Four Drawings of Everyday Scenes}, year = {2026}}",
    "downloads": [{"title": "Images", "file": "kit/a-rather-long-name-of-a-list-of-images.csv"}],
    "image_url": "https://images.example.org/scene_{id:06d}.svg",
    "metrics": ["bleu", "rouge-l", "cider-d"],
    "texts": [{"title": "Overview", "file": "overview.md"}],
    "captions": [
        {"name": "val", "pattern": "captions_val_*_results.json", "public": True},
        {"name": "test", "pattern": "captions_test_*_results.json"},
    ],
    "references": [
        {"name": name, "captions": captions, "file": f"{captions}_{name}.json"}
        for captions, name in (("val", "c5"), ("test", "c5"), ("test", "c2"))
    ],
    "phases": [
        {"name": "dev", "title": "Development", "captions": ["val"]},
        {"name": "test", "title": "Final", "scored_per_day": 3, "attempts_per_day": 50},
        {"name": "late", "title": "Late", "opens": "2120-01-01T00:00:00Z"},
    ],
    "baselines": [
        {"method": "Baseline", "file": "baseline.zip", "phases": ["test"]},
        {"method": "Improved", "file": "improved.zip", "phases": ["test"]},
        {"method": "Improved on val", "file": "improved_val.json", "phases": ["dev"]},
    ],
}


def write_scenes(folder: Path, organizer: str) -> Path:
    """Make the folder."""
    folder.mkdir()
    (folder / "challenge.toml").write_text(as_toml({**_VALUES, "organizers": [organizer]}))
    (folder / "overview.md").write_text("Describe each *scene*.\n\n| set | images |\n|---|---|\n| val | 16 |\n")
    (folder / "logo.svg").write_text(_LOGO)
    (folder / "kit").mkdir()
    ids = [row["image_id"] for row in example()]
    parts = {"val": ids[:16], "test": ids[16:]}
    (folder / "kit" / "a-rather-long-name-of-a-list-of-images.csv").write_text("\n".join(map(str, ["image", *ids])))
    references = json.loads((EXAMPLES / "references.json").read_text())
    for name, chosen in parts.items():
        for n in (5, 2):
            (folder / f"{name}_c{n}.json").write_text(
                json.dumps({image: references[str(image)][:n] for image in chosen})
            )
    for system in ("baseline", "improved"):
        with zipfile.ZipFile(folder / f"{system}.zip", "w") as archive:
            for name, chosen in parts.items():
                archive.writestr(f"captions_{name}_x_results.json", json.dumps(_rows(system, chosen)))
    (folder / "improved_val.json").write_text(json.dumps(_rows("improved", parts["val"])))
    return folder


def _rows(system: str, ids: list[int]) -> list[dict[str, Any]]:
    return [row for row in example(system) if row["image_id"] in ids]


def write_wide(folder: Path) -> Path:
    """Make the folder of a challenge whose leaderboard has twenty columns, and whose first phase takes one submission
    of each team.
    """
    folder.mkdir()
    metrics = ["bleu", "rouge-l", "rouge-n", "cider", "chrf", "gleu", "ngram-precision", "unigram-recall"]
    metrics += ["rouge-s", "cider-r", "cider-d"]
    values = {
        "title": "Wide",
        "metrics": metrics,
        "references": [{"name": "c5", "file": "c5.json"}],
        "phases": [{"name": "first", "scored_in_total": 1}, {"name": "main"}],
        "baselines": [
            {"method": name, "file": f"{name}.json", "phases": ["main"]} for name in ("baseline", "improved")
        ],
    }
    (folder / "challenge.toml").write_text(as_toml(values))
    (folder / "c5.json").write_bytes((EXAMPLES / "references.json").read_bytes())
    for name in ("baseline", "improved"):
        (folder / f"{name}.json").write_bytes((EXAMPLES / f"{name}.json").read_bytes())
    return folder
