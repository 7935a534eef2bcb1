"""Scores in files of other programs: the captions that they belong to, and damaged files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import captious
from captious.cli import captious as command_line
from captious.errors import ParameterError, ResourceError

JUDGED = [
    ("7.jpg", "a dog  runs", 3, "0.9"),
    ("7.jpg", "a cat", 1, "0.2"),
    ("COCO_val2014_000000000008.jpg", "two", 2, "0.5"),
]


@pytest.fixture
def judgments(tmp_path: Path) -> Path:
    path = tmp_path / "mine.jsonl"
    lines = [
        {"image": image, "candidate": text, "references": ["a dog"], "rating": rating}
        for image, text, rating, _ in JUDGED
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def fleur(path: Path, rows: list[tuple[str, str, int, str]]) -> Path:
    blocks = [
        f"image file : Flickr8k_Dataset/{image}\ncaption : {' '.join(text.split())}\n"
        f"model score : {score}\nour score : {score}\n\n"
        for image, text, _, score in rows
    ]
    path.write_text("flickr8k dataset\n\n" + "".join(blocks) + "true count : 3\n")
    return path


def item(image: str, caption: str, score: object, **more: object) -> dict[str, Any]:
    return {
        "caption": caption,
        "image": f"/x/{image}",
        "references": [],
        "ground_truth_score": 1,
        "score": score,
    } | more


def test_fleur_scores_are_judged(judgments: Path, tmp_path: Path) -> None:
    rows = [JUDGED[2], JUDGED[0], JUDGED[1], ("9.jpg", "another", 0, ".1")]  # another order, and more
    file = fleur(tmp_path / "reffleur_mine.txt", rows)
    (tmp_path / "reffleur_mine.txt.gz").write_bytes(gzip.compress(file.read_bytes()))
    result = captious.judge(judgments, scores=tmp_path / "reffleur_mine.txt.gz", resamples=10)["mine"]
    assert result["reffleur"].value == 1.0
    assert result["reffleur"].signature.startswith("reffleur|given:")


def test_scores_in_several_files_are_combined(judgments: Path, tmp_path: Path) -> None:
    parts = [fleur(tmp_path / f"fleur_{k}.txt", JUDGED[k : k + 1]) for k in range(3)]
    assert captious.judge(judgments, scores=parts, resamples=10)["mine"]["fleur"].value == 1.0
    with pytest.raises(ParameterError, match=r"fleur_0.txt does not have scores for a whole benchmark") as caught:
        captious.judge(judgments, "bleu-1", scores=parts[:2], resamples=10)
    assert "1 of 3 captions of mine@own" in caught.value.where


def test_constant_scores_are_refused(judgments: Path, tmp_path: Path) -> None:
    file = fleur(tmp_path / "fleur.txt", [(*row[:3], "1") for row in JUDGED])
    with pytest.raises(ParameterError, match=r"all scores are 1"):
        captious.judge(judgments, scores=file)


def test_a_caption_that_is_scored_more_often_has_the_mean(judgments: Path, tmp_path: Path) -> None:
    rows = [*JUDGED, (*JUDGED[1][:3], "2.0")]  # a mean of 1.1, more than .9
    items = {str(k): item(image, text, float(score)) for k, (image, text, _, score) in enumerate(rows)}
    file = tmp_path / "polos.json"
    file.write_text(json.dumps({"score_name": "Polos", "raw_metric_output": {"Polos": {"per_item": items}}}))
    assert captious.judge(judgments, scores=file, resamples=10)["mine"]["polos"].value < 0.5


@pytest.mark.parametrize("nested", [True, False])
def test_caption_eval_kit_scores_are_judged(judgments: Path, tmp_path: Path, nested: bool) -> None:
    scores = {
        f"{k}_1": item(image, text, 0, scores={"CLIPScore": float(score), "RefCLIPScore": -float(score)})
        for k, (image, text, _, score) in enumerate(JUDGED)
    }
    document = {"raw_metric_output": {"CLIPScore": 0.7, "per_item": scores}} if nested else {"per_item": scores}
    file = tmp_path / "clipscore.json"
    file.write_text(json.dumps(document))
    result = captious.judge(judgments, scores=file, resamples=10)["mine"]
    assert result["clipscore"].value == 1.0
    assert result["refclipscore"].value == -1.0


def test_published_computed_and_tabled_scores_share_a_table(judgments: Path, tmp_path: Path) -> None:
    table = tmp_path / "table.json"
    table.write_text(json.dumps({"mine": {"x": [1, 2, 3]}}))
    files = [str(table), str(fleur(tmp_path / "fleur.txt", [(*row[:3], row[3]) for row in JUDGED]))]
    command = ["judge", str(judgments), "-m", "bleu-1", "--scores", files[0], "--scores", files[1], "--format", "csv"]
    result = CliRunner().invoke(command_line, command)
    assert [line.split(",")[4] for line in result.stdout.splitlines()[1:4]] == ["bleu-1", "x", "fleur-model-score"]
    with pytest.raises(ParameterError, match="scores for x were given twice"):
        captious.judge(judgments, scores=[table, {"mine": {"x": [1, 2, 4]}}])


def test_missing_score_file_is_named(judgments: Path) -> None:
    with pytest.raises(ResourceError, match="cannot read scores"):
        captious.judge(judgments, scores="no.txt")


@pytest.mark.parametrize(
    ("name", "file", "value"), [("flickr8k-expert", "flickr8k_expert", 53.0), ("composite", "composite", 63.5)]
)
def test_published_figures_of_fleur_are_reproduced(shared_data: Path, name: str, file: str, value: float) -> None:
    scores = shared_data / "fleur" / f"fleur_{file}.txt.gz"
    agreement = captious.judge(name, scores=scores, data=shared_data, resamples=10)[name]["fleur"]
    assert 100 * agreement.value == pytest.approx(value, abs=0.05)
