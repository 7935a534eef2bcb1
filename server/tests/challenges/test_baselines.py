"""Baselines in the folder of a challenge: the files that are taken, and how often they are read."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from unittest.mock import Mock

import pytest

from captious_server.challenges import folder as baselines
from captious_server.challenges.folder import check_folder
from captious_server.challenges.problems import ChallengeError
from captious_server.submissions.upload_process import read_upload
from server.tests.challenges.conftest import Problems, change, coco, write_json


def test_baselines_are_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = Mock(wraps=read_upload)
    monkeypatch.setattr(baselines, "read_upload", read)
    baselines._problems.cache_clear()
    check_folder(folder)
    change(folder, 'title = "COCO', 'title = "The COCO')
    check_folder(folder)
    assert read.call_count == 1
    write_json(folder / "baselines" / "human.json", [{"image_id": 3, "caption": "a dog"}])
    for _ in range(2):
        with pytest.raises(ChallengeError, match="has no caption"):
            check_folder(folder)
    assert read.call_count == 2
    write_json(folder / "references" / "val2014_c5.json", coco({3: ["a dog", "dogs"], 9: ["a", "b"]}))
    with pytest.raises(ChallengeError):
        check_folder(folder)
    assert read.call_count == 3  # other images are expected


def test_a_zip_file_is_read(folder: Path, problems: Problems) -> None:
    change(folder, "human.json", "human.zip")
    with zipfile.ZipFile(folder / "baselines" / "human.zip", "w") as archive:
        archive.writestr("captions_val2014_human_results.json", '{"3": "a dog"}')
    name = "captions_val2014_human_results.json"
    assert problems() == [f"baselines[1].file: {name}: 1 image has no caption (image_id 7)"]
    (folder / "baselines" / "human.zip").write_bytes(b"PK")
    assert problems() == ["baselines[1].file: This is not a zip file"]


def test_the_phase_that_refuses_it_is_named(folder: Path, problems: Problems) -> None:
    """By default, a baseline is for all phases."""
    change(folder, 'human.json"\nphases = ["dev"]', 'human.zip"')
    with zipfile.ZipFile(folder / "baselines" / "human.zip", "w") as archive:
        for name, ids in (("val2014", (3, 7)), ("test2014", (4, 5, 9))):
            archive.writestr(f"captions_{name}_human_results.json", json.dumps(dict.fromkeys(map(str, ids), "a b")))
    refused = (
        "baselines[1].file: dev would refuse it: captions_test2014_human_results.json: The challenge does not "
        "expect a file of this name; it expects captions_val2014_*_results.json"
    )
    assert problems() == [f"{refused}. Name the phases that it is for"]
    with zipfile.ZipFile(folder / "baselines" / "human.zip", "a") as archive:
        archive.writestr("more.json", "{}")  # which no phase takes
    assert [text.partition(":")[2].partition(":")[0] for text in problems()] == [
        *(" dev would refuse it", " test would refuse it")
    ]


def test_baselines_may_be_constant_and_long(folder: Path) -> None:
    write_json(folder / "baselines" / "human.json", dict.fromkeys(("3", "7"), "a " * 200))
    check_folder(folder)


def test_ids_written_as_text(folder: Path) -> None:
    write_json(folder / "baselines" / "human.json", {"3": "a dog", "7": "a cat"})
    check_folder(folder)
