"""captious score and compare with clipscore and refclipscore: a folder of pictures and a small CLIP."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("PIL")

import captious
from captious.metrics.clipscore import ClipScore, RefClipScore
from tests.cli.conftest import Run, assert_refused
from tests.support.tiny_clip import MAX_TOKENS, save_pictures

pytestmark = pytest.mark.models

BOTH = ("-m", "clipscore", "-m", "refclipscore")


@pytest.fixture(autouse=True)
def with_a_small_model(tiny_clip: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ClipScore, "default_models", (tiny_clip,))


@pytest.fixture
def pictures(folder: Path) -> Path:
    """A picture for every image of the examples, named as COCO does."""
    (folder / "pictures").mkdir()
    ids = {record["image_id"] for record in json.loads((folder / "baseline.json").read_text())}
    return save_pictures(folder / "pictures", [f"COCO_val2014_{image:012d}.jpg" for image in sorted(ids)])


def test_clipscore_is_scored_from_a_folder_of_images(folder: Path, pictures: Path, run: Run) -> None:
    outcome = run("score", "baseline.json", "references.json", *BOTH, "--images", "pictures", "--format", "json")
    assert outcome.code == 0, outcome.err
    assert outcome.err == ""
    expected = captious.score(
        "baseline.json", "references.json", [ClipScore(images=pictures), RefClipScore(images=pictures)]
    )
    scores = outcome.json["systems"][0]["metrics"]
    assert list(scores) == list(expected)
    for name, result in expected.items():
        assert scores[name]["score"] == pytest.approx(result.score, abs=1e-6)
        assert scores[name]["signature"] == result.signature
    assert expected["refclipscore"].score > 0.05


def test_long_captions_are_warned_about(folder: Path, pictures: Path, run: Run) -> None:
    records = json.loads((folder / "baseline.json").read_text())
    records[2]["caption"] = "a" * MAX_TOKENS
    (folder / "long.json").write_text(json.dumps(records))
    outcome = run("score", "long.json", "references.json", *BOTH, "--images", "pictures")
    assert outcome.code == 0
    assert outcome.err.count("1 of 24 candidates is longer than the 77 tokens") == 1
    assert len(outcome.err.splitlines()) == 1, "transformers has its say as well"


@pytest.mark.parametrize("command", ["score", "compare"])
def test_images_without_a_file_are_named(command: str, folder: Path, pictures: Path, run: Run) -> None:
    for file in sorted(pictures.iterdir())[:20]:
        file.unlink()
    files = ["baseline.json", "improved.json", "references.json"]
    assert_refused(run(command, *files, *BOTH, "--images", "pictures"), "20 of 24 images have no file", "17 more")


def test_broken_image_file_is_named(folder: Path, pictures: Path, run: Run) -> None:
    broken = sorted(pictures.iterdir())[5]
    broken.write_bytes(b"GIF89a")
    assert_refused(
        run("score", "baseline.json", "references.json", *BOTH, "--images", "pictures"),
        f"the image file {broken.name} cannot be read",
    )
