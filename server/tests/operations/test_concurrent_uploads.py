"""Many uploads at once: none is lost, none is scored twice, and the scores are those of the library."""

from __future__ import annotations

import gzip
import json
from math import ceil, floor
from pathlib import Path
from typing import Any

import pytest

import captious
from server.tests.support.server import Server
from server.tests.support.site import example
from server.tests.support.uploading import upload_at_once

SETTINGS = {"CAPTIOUS_SERVER_REQUESTS_PER_MINUTE": "1000"}

pytestmark = pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")


def check_each_scored_once(
    server: Server, uploads: list[dict[str, Any]], seconds: float, *, interrupted: bool = False
) -> list[dict[str, Any]]:
    """Wait for uploads; gives them as they are when they are done, in the same order.

    Args:
        interrupted: some may have been begun before, and there may be folders of others.
    """
    server.wait_until_idle(seconds)
    assert len({each["id"] for each in uploads}) == len(uploads)
    shown = [server.get(f"/api/v1/submissions/{each['id']}") for each in uploads]
    assert [each["status"] for each in shown] == ["done"] * len(uploads)
    assert [each["method"] for each in shown] == [f"method {number}" for number in range(len(uploads))]
    if not interrupted:
        for folder in (server.data / "submissions").iterdir():
            assert [path.name for path in folder.glob("results-*")] == ["results-1.npz"]
        assert not [*(server.data / "incoming").iterdir()]
    return shown


@pytest.mark.slow
@pytest.mark.nightly
def test_twenty_concurrent_uploads_are_scored(tmp_path: Path) -> None:
    systems = [example("baseline"), example("improved")]
    # Each is different, so that no submission can have the scores of another.
    contents = [[*systems[n % 2][:-1], {**systems[n % 2][-1], "caption": "a cat " * (n + 1)}] for n in range(20)]
    with Server(tmp_path / "data", "--demo", environment={**SETTINGS, "CAPTIOUS_SERVER_WORKERS": "2"}) as server:
        uploads = upload_at_once(server, server.token(), [json.dumps(content).encode() for content in contents])
        shown = check_each_scored_once(server, uploads, 120)
    [references] = (server.data / "challenges" / "demo").glob("*/references/c4.json")
    metrics = [*dict.fromkeys(name.rpartition("-")[0] if "bleu" in name else name for name in shown[0]["scores"])]
    for content, each in zip(contents, shown, strict=True):
        check_scores(each, {row["image_id"]: row["caption"] for row in content}, references, metrics, "c4")


def check_scores(
    shown: dict[str, Any], candidates: dict[int, str], references: object, metrics: list[str], key: str
) -> None:
    """The scores and their intervals are those of the library, rounded."""
    report = captious.score(candidates, references, metrics=metrics)
    for name, result in report.items():
        entry = shown["all_scores"][key][name]
        assert entry["score"] == round(result.score, 4)
        low, high = result.confidence_interval()  # rounded outward
        assert (entry["low"], entry["high"]) == (floor(low * 1000) / 1000, ceil(high * 1000) / 1000)
        assert entry["signature"] == result.signature


@pytest.mark.slow
@pytest.mark.nightly
def test_hundred_concurrent_uploads_of_real_systems_are_scored(tmp_path: Path, shared_data: Path) -> None:
    """Nine systems on 40,504 images, each eleven times or twelve, with BLEU, ROUGE-L and CIDEr-D."""
    with gzip.open(shared_data / "coco" / "captions_val2014.json.gz") as file:
        coco = json.load(file)
    systems = {
        path.name: gzip.decompress(path.read_bytes())
        for path in sorted((shared_data / "coco" / "results_val2014").glob("*.json.gz"))
    }
    folder = tmp_path / "coco"
    folder.mkdir()
    content = {"images": [{"id": image["id"]} for image in coco["images"]], "annotations": coco["annotations"]}
    (folder / "c5.json").write_text(json.dumps(content))
    (folder / "challenge.toml").write_text(
        'title = "COCO"\nmetrics = ["bleu", "rouge-l", "cider-d"]\n'
        '[[references]]\nname = "c5"\nfile = "c5.json"\n[[phases]]\nname = "dev"\n'
    )
    names = [[*systems][n % len(systems)] for n in range(100)]
    with Server(tmp_path / "data", environment=SETTINGS) as server:
        loaded = server.captious("challenge", "load", str(folder), "--data", str(server.data))
        assert loaded.returncode == 0, loaded.stderr
        uploads = upload_at_once(server, server.token(), [systems[name] for name in names], "coco")
        shown = check_each_scored_once(server, uploads, 1800)
    table = captious.read_references(folder / "c5.json")
    reports = {}
    for name, each in zip(names, shown, strict=True):
        if name not in reports:
            candidates = {row["image_id"]: row["caption"] for row in json.loads(systems[name])}
            check_scores(each, candidates, table, ["bleu", "rouge-l", "cider-d"], "c5")
            reports[name] = each["all_scores"]
        assert each["all_scores"] == reports[name]
