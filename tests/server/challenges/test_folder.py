"""captious.server.challenges.folder"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from captious.data import read_captions
from captious.server.challenges import baselines
from captious.server.challenges.challenge_metrics import settings_in
from captious.server.challenges.challenge_summary import summary_rows
from captious.server.challenges.folder import check_folder, read_reference_set
from captious.server.challenges.problems import ChallengeError
from captious.server.submissions.upload import Problem
from captious.server.submissions.upload_process import read_upload
from tests.server.challenges.conftest import Problems, change, coco, write_json
from tests.support.small_challenge import write_folder


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
            again, first = read_reference_set(folder, row), checked.references[row.captions, row.name]
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

    def test_baselines_are_read_once(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        readings: list[Path] = []

        def read(path: Path, *arguments: object) -> list[Problem]:
            readings.append(path)
            return read_upload(path, *arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(baselines, "read_upload", read)
        monkeypatch.setattr(baselines, "_cached_problems", {})
        check_folder(folder)
        change(folder, 'title = "COCO', 'title = "The COCO')
        check_folder(folder)
        assert len(readings) == 1
        write_json(folder / "baselines" / "human.json", [{"image_id": 3, "caption": "a dog"}])
        for _ in range(2):
            with pytest.raises(ChallengeError, match="has no caption"):
                check_folder(folder)
        assert len(readings) == 2
        write_json(folder / "references" / "val2014_c5.json", coco({3: ["a dog", "dogs"], 9: ["a", "b"]}))
        with pytest.raises(ChallengeError):
            check_folder(folder)
        assert len(readings) == 3  # other images are expected

    def test_summary(self, folder: Path) -> None:
        rows = [*summary_rows(check_folder(folder))]
        assert ("challenge", "COCO captions (coco-captions)") in rows
        assert ("captions", "test2014: 3 images, not public") in rows
        assert (
            "references",
            "test2014 · c40: 80 captions of 2 images, 40.0 each, references/test2014_c40.json",
        ) in rows
        assert (
            "phases",
            "test: val2014, test2014; opens 2026-06-01 00:00:00 UTC, closes 2026-12-31 23:59:59 UTC; no limits; "
            "leaderboard hidden",
        ) in rows
        assert ("metrics", "bleu-1, bleu-2, bleu-3, bleu-4, rouge-l, cider-d") in rows
        assert ("baselines", "Human captions: baselines/human.json, in dev, human") in rows

    @pytest.mark.parametrize(
        ("lines", "said"),
        [
            ('scores_shown = "at-end"', "; leaderboard public when the phase has closed"),
            ('board = "hidden"\nscores_shown = "at-end"', "; leaderboard hidden, scores when the phase has closed"),
            ('scores_shown = "never"', "; leaderboard and scores for organizers only"),
            ('entries = "one"', "; leaderboard public; one entry of each team"),
        ],
    )
    def test_summary_of_what_is_shown(self, tmp_path: Path, lines: str, said: str) -> None:
        folder = write_folder(tmp_path / "small", limits=f"closes = 2120-01-01T00:00:00Z\n{lines}")
        toml = folder / "challenge.toml"
        toml.write_text(f"team_size = 5\nteams_close = 2119-01-01T00:00:00Z\n{toml.read_text()}")
        rows = [*summary_rows(check_folder(folder))]
        [phase] = [text for heading, text in rows if heading == "phases"]
        assert phase.endswith(f"; no limits{said}")
        assert ("teams", "at most 5 members") in rows
        assert ("teams", "close 2119-01-01 00:00:00 UTC") in rows


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


class TestBaselines:
    def test_a_zip_file_is_read(self, folder: Path, problems: Problems) -> None:
        change(folder, "human.json", "human.zip")
        with zipfile.ZipFile(folder / "baselines" / "human.zip", "w") as archive:
            archive.writestr("captions_val2014_human_results.json", '{"3": "a dog"}')
        name = "captions_val2014_human_results.json"
        assert problems() == [f"baselines[1].file: {name}: 1 image has no caption (image_id 7)"]
        (folder / "baselines" / "human.zip").write_bytes(b"PK")
        assert problems() == ["baselines[1].file: This is not a zip file"]

    def test_the_phase_that_refuses_it_is_named(self, folder: Path, problems: Problems) -> None:
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

    def test_they_may_be_constant_and_long(self, folder: Path) -> None:
        write_json(folder / "baselines" / "human.json", dict.fromkeys(("3", "7"), "a " * 200))
        check_folder(folder)

    def test_ids_written_as_text(self, folder: Path) -> None:
        write_json(folder / "baselines" / "human.json", {"3": "a dog", "7": "a cat"})
        check_folder(folder)


class TestSettings:
    def test_document_frequencies_in_the_folder(self, folder: Path) -> None:
        from captious import CiderD

        learned = CiderD().fit_resource(check_folder(folder).references["val2014", "c5"])
        assert learned is not None
        learned.save(folder / "own.idf")
        change(folder, 'tokenizer = "ptb"', 'idf = "own.idf"')
        checked = check_folder(folder)
        assert "own.idf" in checked.checksums
        assert settings_in(folder, checked.definition.settings, threads=2).threads == 2
        assert settings_in(folder, checked.definition.settings).idf is not None

    def test_training_captions_in_the_folder(self, folder: Path, problems: Problems) -> None:
        write_json(folder / "train.json", {"1": ["a cat"]})
        change(folder, 'tokenizer = "ptb"', 'tokenizer = "ptb"\ntraining = "train.json"')
        (said,) = problems()
        assert said.startswith("settings: the setting training was given, but no requested metric uses it")
        change(folder, 'metrics = ["', 'metrics = ["novel", "')
        assert "train.json" in check_folder(folder).checksums

    def test_files_of_a_folder_in_the_folder(self, folder: Path, problems: Problems) -> None:
        (folder / "features").mkdir()
        (folder / "features" / "7.jpg").write_bytes(b"x")
        change(folder, 'tokenizer = "ptb"', 'images = "features"')
        (said,) = problems()  # but nothing about the folder
        assert said.startswith("settings: the setting images was given, but no requested metric uses it")
        (folder / "features" / "3.jpg").symlink_to("../../outside.jpg")
        assert "settings.images: features/3.jpg is outside the folder" in problems()

    def test_files_where_the_command_runs_are_not_taken(
        self, folder: Path, problems: Problems, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (folder.parent / "own.idf").write_text("{}")
        monkeypatch.chdir(folder.parent)
        change(folder, 'tokenizer = "ptb"', 'idf = "own.idf"')
        assert problems() == ["settings.idf: there is no file own.idf in the folder"]


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
