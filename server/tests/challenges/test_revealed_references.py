"""Phases that withhold scores which teams can have from another phase: the check and the page say so."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from captious_server.challenges.folder import check_folder
from captious_server.models import User
from server.tests.support.site import Site
from server.tests.support.small_challenge import as_toml

N = 100


@pytest.fixture
def references(shared_data: Path) -> dict[str, list[str]]:
    with gzip.open(shared_data / "coco" / "karpathy_test_refs.json.gz", "rt", encoding="utf-8") as file:
        all_references: dict[str, list[str]] = json.load(file)
    return dict([*all_references.items()][:N])


def write(folder: Path, files: dict[str, dict[str, list[str]]], phases: list[dict[str, Any]], **captions: Any) -> Path:
    """Return a challenge in which each captions file has a reference set."""
    folder.mkdir()
    for name, texts in files.items():
        (folder / f"{name}.json").write_text(json.dumps(texts))
    values: dict[str, Any] = {
        **{"title": "Real", "slug": "real", "metrics": ["bleu", "cider-d"]},
        "captions": [{"name": name, "pattern": f"{name}.json", **captions} for name in files],
        "references": [{"name": "all", "captions": name, "file": f"{name}.json"} for name in files],
        "phases": phases,
    }
    (folder / "challenge.toml").write_text(as_toml(values))
    return folder


OPEN = {"name": "dev"}
HIDDEN = {"name": "test", "scores_shown": "never"}


def test_same_references_reveal_a_hidden_phase(tmp_path: Path, references: dict[str, list[str]], site: Site) -> None:
    folder = write(tmp_path / "real", {"val": references}, [OPEN, HIDDEN])
    said = (
        "phases[2]: NOTHING IS HIDDEN: 100 of 100 images are also in the phase 'dev', with the same references, and "
        "that one shows scores at once. Give it other images."
    )
    assert check_folder(folder).warnings == (said,)
    site.load(folder)
    root = User.objects.create_superuser("root", password="x")
    page = site.client(root).get("/challenges/real/manage").content.decode()
    assert "phases[2]: NOTHING IS HIDDEN: 100 of 100 images" in page


def test_copies_of_references_are_found(tmp_path: Path, references: dict[str, list[str]]) -> None:
    """In another file, in another order, with others, and under another name."""
    images = [*references]
    some = {image: references[image][::-1] for image in images[:40]}
    others = {image: [f"{text} too" for text in references[image]] for image in images[40:]}
    phases = [{**OPEN, "captions": ["val"]}, {**HIDDEN, "captions": ["test"]}]
    [said] = check_folder(write(tmp_path / "real", {"val": references, "test": some | others}, phases)).warnings
    assert said.startswith("phases[2]: NOTHING IS HIDDEN: 40 of 100 images are also in the phase 'dev'")


def test_public_captions_hide_nothing(tmp_path: Path, references: dict[str, list[str]]) -> None:
    [said] = check_folder(write(tmp_path / "real", {"val": references}, [HIDDEN], public=True)).warnings
    assert said == "phases[1]: NOTHING IS HIDDEN: 'val' is public, so everybody has its references."


def test_public_copies_of_private_references_are_found(tmp_path: Path, references: dict[str, list[str]]) -> None:
    folder = write(tmp_path / "real", {"val": references, "test": references}, [OPEN])
    toml = (folder / "challenge.toml").read_text()
    (folder / "challenge.toml").write_text(toml.replace('name = "val"\n', 'name = "val"\npublic = true\n', 1))
    assert check_folder(folder).warnings == (
        "references[2]: NOTHING IS HIDDEN: 100 of 100 images are also in a public captions file, with the same "
        "references. Give it other images.",
    )


@pytest.mark.parametrize("phases", [[OPEN], [HIDDEN], [HIDDEN, {**HIDDEN, "name": "last"}]], ids=len)
def test_phases_that_reveal_nothing(
    tmp_path: Path, references: dict[str, list[str]], phases: list[dict[str, Any]]
) -> None:
    assert check_folder(write(tmp_path / "real", {"val": references}, phases)).warnings == ()


def test_other_images_stay_hidden(tmp_path: Path, references: dict[str, list[str]]) -> None:
    rows = [*references.items()]
    files = {"val": dict(rows[:50]), "test": dict(rows[50:])}
    phases = [{**OPEN, "captions": ["val"]}, {**HIDDEN, "captions": ["test"]}]
    assert check_folder(write(tmp_path / "real", files, phases)).warnings == ()
