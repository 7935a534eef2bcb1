"""The folder of a challenge: what is read from it, links, and every problem with its place."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from captious.data import read_captions
from captious_server.challenges.folder import check_folder, read_reference_set
from captious_server.challenges.problems import ChallengeError
from server.tests.challenges.conftest import Problems, change, coco, write_json
from tests.support.tables import tables


class TestChecked:
    def test_what_is_in_it(self, folder: Path) -> None:
        checked = check_folder(folder)
        assert checked.slug == "coco-captions"
        assert checked.image_ids == {"val2014": (7, 3), "test2014": (9, 5, 4)}
        assert checked.references["test2014", "c40"].ids == (5, 4)
        assert checked.references["test2014", "c40"].name == "references/test2014_c40.json"
        assert checked.texts == {"overview.md": "# Données\n"}
        assert checked.warnings == ()

    def test_warning_of_many_entries_of_a_team(self, folder: Path) -> None:
        change(folder, 'entries = "one"', "")
        [said] = check_folder(folder).warnings
        assert said.startswith("phases[2]: every anonymous submission is an entry of its own")

    def test_checksums_are_of_every_file(self, folder: Path) -> None:
        (folder / "notes.txt").write_text("not part of it")
        files = [path for path in folder.rglob("*") if path.is_file() and path.name != "notes.txt"]
        wanted = {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
        assert check_folder(folder).checksums == wanted

    def test_slug(self, folder: Path) -> None:
        change(folder, 'title = "COCO', 'slug = "coco"\ntitle = "COCO')
        assert check_folder(folder).slug == "coco"

    def test_the_folder_may_be_a_link_or_relative(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (folder.parent / "linked").symlink_to(folder)
        assert check_folder(folder.parent / "linked").checksums == check_folder(folder).checksums
        monkeypatch.chdir(folder)
        assert check_folder(Path(".")).slug == "coco-captions"

    def test_links_within_the_folder(self, folder: Path) -> None:
        os.rename(folder / "overview.md", folder / "other.md")
        (folder / "overview.md").symlink_to("other.md")
        assert check_folder(folder).texts["overview.md"] == "# Données\n"

    def test_reference_sets_are_read_alike_later(self, folder: Path) -> None:
        checked = check_folder(folder)
        for row in checked.definition.references:
            again, first = (
                read_reference_set(folder, checked.definition, row),
                checked.references[row.captions, row.name],
            )
            assert (again.ids, again.texts, again.name) == (first.ids, first.texts, first.name)

    def test_ids_that_are_text_stay_text(self, folder: Path) -> None:
        write_json(folder / "references" / "val2014_c5.json", {"7": ["a cat"] * 2, "03": ["a dog"] * 2})
        write_json(folder / "baselines" / "human.json", {"7": "a cat", "03": "a dog"})
        change(folder, "{id:012d}", "{id}")
        assert check_folder(folder).image_ids["val2014"] == ("7", "03")

    def test_warnings(self, folder: Path) -> None:
        references = coco({7: ["a cat"], 3: ["a dog"]})
        write_json(
            folder / "references" / "val2014_c5.json", {**references, "images": [{"id": 7}, {"id": 3}, {"id": 8}]}
        )
        checked = check_folder(folder)
        assert checked.warnings == (
            "references[1].file: left out 1 image without references (image_id 8)",
            "references[1].file: every image has only one reference; are these the references?",
        )
        assert checked.image_ids["val2014"] == (7, 3)


C5, C40, HUMAN = "references/val2014_c5.json", "references/test2014_c40.json", "baselines/human.json"
TOO_LONG = "baselines[1].file: 1 caption is longer than 5,000 characters. See entry 2 (image_id 7)"


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [*tables(__file__)["problems"], ({"json": [HUMAN, {"3": "a dog", "7": "x" * 5001}]}, TOO_LONG)],
)
def test_a_problem(
    folder: Path, spoil: dict[str, Any], problem: str, problems: Problems, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CAPTIOUS_VECTORS", raising=False)
    monkeypatch.setenv("CAPTIOUS_CACHE", str(folder.parent / "cache"))
    match spoil:
        case {"remove": name}:
            (folder / name).unlink()
        case {"replace": [old, new]}:
            change(folder, old, new)
        case {"write": [name, text]}:
            (folder / name).write_text(text)
        case {"json": [name, document]}:
            write_json(folder / name, document)
    (said,) = problems()
    assert said.startswith(problem)


def test_text_that_is_not_utf_8(folder: Path, problems: Problems) -> None:
    (folder / "overview.md").write_bytes(b"x\n\xe9")
    (said,) = problems()
    assert said.startswith("texts[1].file: overview.md is not UTF-8 text, in line 2")


def test_addresses_of_images_may_hold_a_path(folder: Path) -> None:
    change(folder, "{id:012d}", "/{id}")
    assert check_folder(folder).warnings == ()


@pytest.mark.parametrize("file", ["overview.md", C5, HUMAN, "challenge.toml"])
def test_links_out_of_the_folder(folder: Path, problems: Problems, file: str) -> None:
    outside = folder.parent / "outside"
    os.rename(folder / file, outside)
    (folder / file).symlink_to(outside)
    (said,) = problems()
    assert said.endswith(f": {file} is outside the folder")


def test_a_folder_that_is_a_link_out_of_the_folder(folder: Path, problems: Problems) -> None:
    os.rename(folder / "references", folder.parent / "references")
    (folder / "references").symlink_to("../references")
    assert problems()[0] == f"references[1].file: {C5} is outside the folder"


def test_a_link_to_itself(folder: Path, problems: Problems) -> None:
    (folder / "overview.md").unlink()
    (folder / "overview.md").symlink_to("overview.md")
    (said,) = problems()
    assert said.startswith("texts[1].file: 'overview.md' cannot be read: ")


def test_all_problems_at_once(folder: Path, problems: Problems, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CAPTIOUS_VECTORS", raising=False)
    monkeypatch.setenv("CAPTIOUS_CACHE", str(folder.parent / "cache"))
    change(folder, "title", "titel")
    change(folder, '"bleu",', '"wmd", "blue",')
    change(folder, "2026-12-31T23:59:59Z", "2025-12-31T23:59:59Z")
    change(folder, 'file = "baselines/human.json"\nphases = ["dev"]', 'file = "../human.json"\nphases = ["final"]')
    (folder / "overview.md").write_bytes(b"\xff")
    (folder / C5).write_text("[]")
    (folder / C40).unlink()
    said = [problem.partition(":")[0] for problem in problems()]
    assert sorted(said) == sorted(
        [
            *("title", "titel", "texts[1].titel", "texts[1].title", "phases[1].titel", "metrics[2]", "metrics[1]"),
            *("phases[2].closes", "baselines[1].phases", "baselines[1].file", "texts[1].file", "references[1].file"),
            "references[3].file",
        ]
    )


class TestNotAChallenge:
    def test_toml_says_where(self, folder: Path, problems: Problems) -> None:
        change(folder, "[settings]", "[settings")
        (said,) = problems()
        assert said.startswith("challenge.toml: ")
        assert "line 8" in said

    def test_not_utf_8(self, folder: Path, problems: Problems) -> None:
        (folder / "challenge.toml").write_bytes(b'title = "x"\nsummary = "\xe9"')
        assert problems() == ["challenge.toml: line 2 is not UTF-8 text"]

    def test_nothing_there(self, folder: Path, problems: Problems) -> None:
        (folder / "challenge.toml").unlink()
        (said,) = problems()
        assert "captious challenge init FOLDER" in said
        with pytest.raises(ChallengeError, match="there is no such folder"):
            check_folder(folder / "none")

    def test_the_name_of_the_folder(self, folder: Path) -> None:
        other = folder.parent / "COCO Captions"
        os.rename(folder, other)
        with pytest.raises(ChallengeError, match="slug: is required"):
            check_folder(other)
        change(other, 'title = "COCO', 'slug = "coco"\ntitle = "COCO')
        assert check_folder(other).slug == "coco"


def test_real_captions(shared_data: Path, folder: Path) -> None:
    """COCO's validation images with a real system as the baseline, and a tenth of the images as a second set."""
    with gzip.open(shared_data / "coco" / "captions_val2014.json.gz", "rt", encoding="utf-8") as file:
        annotations = json.load(file)["annotations"]
    wanted = {row["image_id"] for row in annotations[:20_000]}
    rows = [row for row in annotations if row["image_id"] in wanted and row["caption"].strip()]
    with gzip.open(
        shared_data / "coco" / "results_val2014" / "vinyals-et-al-2017.json.gz", "rt", encoding="utf-8"
    ) as file:
        system = [row for row in json.load(file) if row["image_id"] in wanted]
    write_json(folder / "references" / "val2014_c5.json", {"annotations": rows})
    write_json(folder / "baselines" / "human.json", system)
    checked = check_folder(folder)
    assert set(checked.image_ids["val2014"]) == wanted
    table = checked.references["val2014", "c5"]
    assert len(read_captions(folder / "baselines" / "human.json", table)) == len(wanted)
