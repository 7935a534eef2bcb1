"""Settings of the metrics of a challenge, and the files in its folder that they name."""

from __future__ import annotations

from pathlib import Path

import pytest

from captious import CiderD
from captious_server.challenges.definition import metric_problems, settings_in
from captious_server.challenges.folder import check_folder
from server.tests.challenges.conftest import Problems, change, write_json


def test_document_frequencies_in_the_folder(folder: Path) -> None:
    learned = CiderD().fit_resource(check_folder(folder).references["val2014", "c5"])
    learned.save(folder / "own.idf")
    change(folder, 'tokenizer = "ptb"', 'idf = "own.idf"')
    checked = check_folder(folder)
    assert "own.idf" in checked.checksums
    assert settings_in(folder, checked.definition.settings, threads=2).threads == 2
    assert settings_in(folder, checked.definition.settings).idf is not None


def test_training_captions_in_the_folder(folder: Path, problems: Problems) -> None:
    write_json(folder / "train.json", {"1": ["a cat"]})
    change(folder, 'tokenizer = "ptb"', 'tokenizer = "ptb"\ntraining = "train.json"')
    (said,) = problems()
    assert said.startswith("settings: the setting training was given, but no requested metric uses it")
    change(folder, 'metrics = ["', 'metrics = ["novel", "')
    assert "train.json" in check_folder(folder).checksums


def test_files_of_a_folder_in_the_folder(folder: Path, problems: Problems) -> None:
    (folder / "features").mkdir()
    (folder / "features" / "7.jpg").write_bytes(b"x")
    change(folder, 'tokenizer = "ptb"', 'images = "features"')
    (said,) = problems()  # but nothing about the folder
    assert said.startswith("settings: the setting images was given, but no requested metric uses it")
    (folder / "features" / "3.jpg").symlink_to("../../outside.jpg")
    assert "settings.images: features/3.jpg is outside the folder" in problems()


def test_files_where_the_command_runs_are_not_taken(
    folder: Path, problems: Problems, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder.parent / "own.idf").write_text("{}")
    monkeypatch.chdir(folder.parent)
    change(folder, 'tokenizer = "ptb"', 'idf = "own.idf"')
    assert problems() == ["settings.idf: there is no file own.idf in the folder"]


def test_server_refuses_to_send_captions_to_a_judge(tmp_path: Path) -> None:
    (problem,) = metric_problems(["judge-clair:judge=a-model"], tmp_path, {})
    assert "judge-clair cannot run here: it sends captions to an endpoint, which servers do not do" in problem
