"""The folder of a challenge: what is read from it, links, and every problem with its place."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from captious.data import read_captions
from captious_server.challenges.folder import check_folder, read_reference_set
from captious_server.challenges.problems import ChallengeError
from server.tests.challenges.conftest import Problems, change, coco, write_json


class TestChecked:
    def test_what_is_in_it(self, folder: Path) -> None:
        checked = check_folder(folder)
        assert checked.slug == "coco-captions"
        assert checked.image_ids == {"val2014": (7, 3), "test2014": (9, 5, 4)}
        assert checked.references["test2014", "c40"].ids == (5, 4)
        assert checked.references["test2014", "c40"].name == "references/test2014_c40.json"
        assert checked.texts == {"overview.md": "# Données\n"}
        assert checked.warnings == ()

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


def _remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def _write(name: str, content: object) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        if isinstance(content, bytes):
            (folder / name).write_bytes(content)
        else:
            write_json(folder / name, content)

    return write


def _file(old: str, new: str) -> Callable[[Path], None]:
    return lambda folder: change(folder, f'file = "{old}"', f'file = "{new}"')


C5, C40, HUMAN = "references/val2014_c5.json", "references/test2014_c40.json", "baselines/human.json"


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (_remove("overview.md"), "texts[1].file: there is no file overview.md"),
        (_remove(C5), f"references[1].file: there is no file {C5}"),
        (_remove(HUMAN), f"baselines[1].file: there is no file {HUMAN}"),
        (_file("overview.md", "references"), "texts[1].file: references is not a file"),
        (_file("overview.md", "../other.md"), "texts[1].file: ../other.md is outside the folder"),
        (_file("overview.md", "x/../overview.md"), "texts[1].file: x/../overview.md must not contain '..'"),
        (_file("overview.md", "/etc/hostname"), "texts[1].file: /etc/hostname is outside the folder"),
        (_file("overview.md", "a\\u0000b"), "texts[1].file: has a null character, which databases do not store"),
        (_write("overview.md", b"x\n\xe9"), "texts[1].file: overview.md is not UTF-8 text, in line 2"),
        (_write(C5, b"{"), f"references[1].file: the JSON is truncated ({C5}: line 1, column 2)"),
        (
            _write(C5, coco({7: ["a cat", " "], 3: ["a dog"]})),
            "references[1].file: 1 image of 2 with an empty reference",
        ),
        (_write(C40, coco({1: ["a"] * 2, 2: ["b"] * 2})), "references[3].file: no image is also in c5"),
        (
            _write(C40, [{"image_id": "9", "caption": "a bus"}, {"image_id": "9", "caption": "the bus"}]),
            "references[3].file: image ids are text (image_id '9'), but those of c5 are numbers (image_id 9)",
        ),
        (
            _write(C40, [{"image_id": 9, "caption": "a bus"}, {"image_id": "5", "caption": "cars"}]),
            "references[3].file: some image ids are numbers and others text",
        ),
        (
            _write(HUMAN, [{"image_id": 3, "caption": "x"}]),
            "baselines[1].file: 1 image has no caption (image_id 7)",
        ),
        (
            _write(HUMAN, [{"image_id": image, "caption": "x"} for image in (3, 7, 9)]),
            "baselines[1].file: 1 image id is not in the challenge, whose ids are such as 7 and 3. "
            "See record 3 (image_id 9)",
        ),
        (
            _write(HUMAN, [{"image_id": image, "caption": "x"} for image in (3, 3, 7)]),
            "baselines[1].file: 1 image has more than one caption. See record 2",
        ),
        (
            _write(HUMAN, coco({3: ["a dog"], 7: ["a cat"]})),
            'baselines[1].file: The captions are wrapped in an object with "annotations"',
        ),
        (_write(HUMAN, {"3": ["a dog"], "7": ["a cat"]}), "baselines[1].file: 2 captions are not text."),
        (
            _write(HUMAN, {"3": "a dog", "7": "x" * 5001}),
            "baselines[1].file: 1 caption is longer than 5,000 characters. See entry 2 (image_id 7)",
        ),
        (_write(HUMAN, {"3": "a dog", "7": "a\0cat"}), "baselines[1].file: 1 caption contains NUL"),
        (_write(HUMAN, {"3": "", "7": " "}), "baselines[1].file: Every caption is empty"),
        (
            lambda folder: change(folder, 'phases = ["dev"]', ""),
            "baselines[1].file: must be a zip file with val2014, test2014, which its phases take",
        ),
        (lambda folder: change(folder, 'tokenizer = "ptb"', 'tokenizer = "ptp"'), "settings.tokenizer: "),
        (
            lambda folder: change(folder, 'tokenizer = "ptb"', 'references_as = "one"'),
            "settings.references_as: references_as must be 'each' or 'cat', not 'one'",
        ),
        (
            lambda folder: change(folder, 'tokenizer = "ptb"', 'idf = "/etc/hostname"'),
            "settings.idf: /etc/hostname is outside the folder",
        ),
        (
            lambda folder: change(folder, 'tokenizer = "ptb"', 'images = "../.."'),
            "settings.images: ../.. is outside the folder",
        ),
        (
            lambda folder: change(folder, 'tokenizer = "ptb"', 'parser = "bundled"'),
            "settings: the setting parser was given, but no requested metric uses it",
        ),
        (lambda folder: change(folder, '"bleu"', '"bleu@typo"'), "metrics[1]: bleu has no variant 'typo'"),
        (lambda folder: change(folder, '"bleu"', '"wmd"'), "metrics[1]: wmd cannot run here: run captious vectors add"),
        (
            lambda folder: change(folder, '"bleu"', '"div"'),
            "metrics[1]: div cannot run here: it judges several candidates per image together",
        ),
        (lambda folder: change(folder, "{id:012d}", "/{id}"), None),
    ],
)
def test_a_problem(
    folder: Path,
    spoil: Callable[[Path], object],
    problem: str | None,
    problems: Problems,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CAPTIOUS_VECTORS", raising=False)
    monkeypatch.setenv("CAPTIOUS_CACHE", str(folder.parent / "cache"))
    spoil(folder)
    if problem is None:
        check_folder(folder)
    else:
        (said,) = problems()
        assert said.startswith(problem)


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
