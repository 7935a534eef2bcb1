"""captious_server.challenges.starter"""

from __future__ import annotations

import json
import os
import stat
import tomllib
from importlib import resources
from pathlib import Path
from unittest.mock import Mock

import pytest
from click.testing import CliRunner

from captious import read_captions, score
from captious.data.formats import EXTENSIONS
from captious.errors import CaptionFileError, OutputError, ParameterError
from captious.metrics.meteor import Meteor
from captious.metrics.spice import Spice
from captious_server import commands
from captious_server.challenges import starter
from captious_server.challenges.folder import check_folder
from captious_server.challenges.problems import ChallengeError
from captious_server.challenges.starter import DEMO, new_folder, write_demo, write_starter

EXAMPLES = Path(__file__).parents[3] / "examples"
REFERENCES = EXAMPLES / "references.json"


def everything(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


class TestStarter:
    def test_starter_with_references_has_no_problems(self, tmp_path: Path) -> None:
        files = write_starter(tmp_path / "my-challenge", REFERENCES)
        checked = check_folder(tmp_path / "my-challenge")
        assert checked.slug == "my-challenge"
        assert checked.definition.title == "My challenge"
        assert (
            checked.references["captions", "c5"].texts
            == read_captions(EXAMPLES / "baseline.json", REFERENCES).references.texts
        )
        assert sorted(checked.checksums) == sorted(files)
        assert {*checked.texts} == {"overview.md", "rules.md"}
        assert "24 in all" in checked.texts["overview.md"]

    def test_starter_without_references_lacks_only_them(self, tmp_path: Path) -> None:
        write_starter(tmp_path / "new")
        with pytest.raises(ChallengeError) as caught:
            check_folder(tmp_path / "new")
        assert caught.value.problems == ["references[1].file: there is no file references/c5.json"]

    @pytest.mark.parametrize(
        "name", ["My Challenge", "Défi", "a\nb", 'x"y\\z', "...", "\x7f", "x" * 100, "a\u2028b", os.fsdecode(b"\xff")]
    )
    def test_any_folder_name_gives_a_slug(self, tmp_path: Path, name: str) -> None:
        write_starter(tmp_path / name, REFERENCES)
        assert check_folder(tmp_path / name).slug

    def test_commented_out_settings_are_valid(self, tmp_path: Path) -> None:
        """What is commented out is right once it is wanted."""
        folder = tmp_path / "new"
        write_starter(folder, REFERENCES)
        lines = (folder / "challenge.toml").read_text().splitlines()[3:]
        (folder / "challenge.toml").write_text(
            "\n".join(line.removeprefix("# ") for line in lines).replace("012d", "d")
        )
        (folder / "baselines").mkdir()
        (folder / "baselines" / "human.json").write_bytes((EXAMPLES / "baseline.json").read_bytes())
        (folder / "images.csv").write_text("image\n")
        (folder / "logo.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
        definition = check_folder(folder).definition
        assert definition.baselines[0].human
        assert (definition.terms, definition.downloads[0].title) == ("Rules", "Images")
        assert definition.phases[0].closes is not None
        assert definition.settings == {"tokenizer": "ptb"}
        assert definition.image_url

    def test_meteor_is_included_where_its_tables_are_installed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Meteor, "missing", classmethod(lambda cls: "captious resources get meteor"))
        write_starter(tmp_path / "new", REFERENCES)
        assert "meteor" not in check_folder(tmp_path / "new").definition.metrics
        assert 'add "meteor" after: captious resources get meteor' in (tmp_path / "new" / "challenge.toml").read_text()

    @pytest.mark.parametrize(
        ("options", "names"), [([], "meteor"), (["--like", "coco-captions"], "meteor, spice")], ids=["starter", "ready"]
    )
    def test_command_names_metrics_that_are_left_out(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], names: str
    ) -> None:
        for metric in (Meteor, Spice):
            monkeypatch.setattr(metric, "missing", classmethod(lambda cls: "pip install 'captious[meteor]'"))
        run = CliRunner().invoke(commands.challenge, ["init", str(tmp_path / "new"), *options])
        line = f"left out: {names}: run pip install 'captious[meteor]', then add to metrics in challenge.toml"
        assert [each for each in run.output.splitlines() if each.startswith("left out")] == [line]
        written = (tmp_path / "new" / "challenge.toml").read_text()
        assert f"""    # add {names.replace("meteor", '"meteor"').replace("spice", '"spice"')} after: pip""" in written
        assert tomllib.loads(written)["metrics"] == ["bleu", "rouge-l", "cider-d"]

    @pytest.mark.parametrize("extension", [each for each in EXTENSIONS if each in {".json", ".jsonl"}])
    def test_references_keep_their_name(self, tmp_path: Path, extension: str) -> None:
        source = tmp_path / f"c2{extension}"
        rows = [{"image_id": 1, "caption": "a"}, {"image_id": 1, "caption": "b"}, {"image_id": 2, "caption": "c"}]
        source.write_text(json.dumps(rows) if extension == ".json" else "\n".join(map(json.dumps, rows)))
        assert f"references/c2{extension}" in write_starter(tmp_path / "new", source)
        assert [*check_folder(tmp_path / "new").references] == [("captions", "references")]

    def test_two_files_make_a_public_and_a_private_phase(self, tmp_path: Path) -> None:
        """What everybody may see of the one is hidden of the other."""
        for name, image in (("val", 1), ("test", 2)):
            (tmp_path / f"{name}.json").write_text(json.dumps({str(image): ["a", "b"]}))
        folder = tmp_path / "new"
        options = [word for name in ("val", "test") for word in ("--references", str(tmp_path / f"{name}.json"))]
        run = CliRunner().invoke(commands.challenge, ["init", str(folder), *options])
        assert run.exit_code == 0, run.output
        definition = check_folder(folder).definition
        assert [(row.name, row.public) for row in definition.captions] == [("public", True), ("private", False)]
        assert [(row.captions, row.file) for row in definition.references] == [
            ("public", "references/val.json"),
            ("private", "references/test.json"),
        ]
        assert [(phase.captions, phase.board) for phase in definition.phases] == [
            (("public",), "public"),
            (("private",), "hidden"),
        ]
        with pytest.raises(ParameterError, match="the same name"):
            write_starter(tmp_path / "other", tmp_path / "val.json", folder.parent / "val.json")

    def test_unreadable_references_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(CaptionFileError):
            write_starter(tmp_path / "new", tmp_path / "none.json")
        assert everything(tmp_path) == []

    def test_a_failure_leaves_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(starter.shutil, "copyfile", Mock(side_effect=OSError(28, "No space left on device")))
        (tmp_path / "empty").mkdir()
        for name in ("new", "empty"):
            with pytest.raises(OutputError, match="No space left"):
                write_starter(tmp_path / name, REFERENCES)
        assert everything(tmp_path) == ["empty"]


class TestNewFolder:
    @pytest.mark.parametrize("name", ["full", "file"])
    def test_existing_path_is_refused(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "full").mkdir()
        (tmp_path / "full" / "x").touch()
        (tmp_path / "file").touch()
        before = everything(tmp_path)
        with pytest.raises(OutputError, match=name), new_folder(tmp_path / name):
            raise AssertionError
        assert everything(tmp_path) == before

    def test_missing_parents_are_created(self, tmp_path: Path) -> None:
        with pytest.raises(OutputError, match="cannot write"), new_folder(tmp_path / "none" / "new"):
            raise AssertionError

    def test_empty_folder_is_filled_in_place(self, tmp_path: Path) -> None:
        folder = tmp_path / "new"
        folder.mkdir(0o750)
        before = folder.stat().st_ino
        with new_folder(folder) as new:
            (new / "x").touch()
        assert (folder.stat().st_ino, stat.S_IMODE(folder.stat().st_mode)) == (before, 0o750)
        assert everything(folder) == ["x"]

    def test_files_are_moved_back_after_a_failure(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder, moved = tmp_path / "new", []

        def rename(source: Path, target: Path, _rename=os.rename) -> None:
            if source.name == "y":
                raise OSError(28, "No space left on device")
            moved.append(target.name)
            _rename(source, target)

        folder.mkdir()
        monkeypatch.setattr(starter.os, "rename", rename)
        with pytest.raises(OutputError), new_folder(folder) as new:
            (new / "x").touch()
            (new / "y").touch()
        assert moved == ["x", "x"]
        assert everything(folder) == []

    def test_folder_appears_only_when_complete(self, tmp_path: Path) -> None:
        with new_folder(tmp_path / "new") as new:
            (new / "x").touch()
            assert not (tmp_path / "new").exists()
        assert everything(tmp_path) == ["new", "new/x"]


class TestDemo:
    def test_demo_captions_equal_the_examples(self) -> None:
        for name in ("baseline.json", "improved.json"):
            assert (DEMO / "baselines" / name).read_bytes() == (EXAMPLES / name).read_bytes()

    def test_demo_images_are_small_drawings(self, tmp_path: Path) -> None:
        write_demo(tmp_path / "demo")
        checked = check_folder(tmp_path / "demo")
        static = resources.files("captious_server")
        drawings = [
            static.joinpath(checked.definition.url_of(image).removeprefix("/")).read_bytes()
            for image in checked.references["captions", "c4"].ids
        ]
        assert len(drawings) == 24
        assert all(b"<svg" in drawing and b"<script" not in drawing for drawing in drawings)
        assert sum(map(len, drawings)) < 150_000

    def test_demo_has_no_problems(self, tmp_path: Path) -> None:
        write_demo(tmp_path / "demo", ["alice"])
        checked = check_folder(tmp_path / "demo")
        definition = checked.definition
        assert (checked.slug, definition.organizers, checked.warnings) == ("demo", ("alice",), ())
        assert [(baseline.method, baseline.human) for baseline in definition.baselines] == [
            ("Baseline", False),
            ("Improved", False),
            ("Human captions", True),
        ]
        (phase,), (captions,) = definition.phases, definition.captions
        assert (phase.name, phase.opens, phase.scored_per_day, captions.public) == ("main", None, 0, True)

    def test_demo_captions_are_not_references(self, tmp_path: Path) -> None:
        write_demo(tmp_path / "demo")
        references = check_folder(tmp_path / "demo").references["captions", "c4"]
        assert len(references.texts) == 4 * len(references) == 96
        human = read_captions(tmp_path / "demo" / "baselines" / "human.json", references)
        all_five = read_captions(EXAMPLES / "baseline.json", REFERENCES).references
        for row, candidate in enumerate(human.candidates):
            others = references.texts[4 * row : 4 * row + 4]
            assert (candidate, *others) == all_five.texts[5 * row : 5 * row + 5]
            assert candidate not in others

    def test_demo_captions_file_to_upload_is_valid(self, tmp_path: Path) -> None:
        write_demo(tmp_path / "demo")
        checked = check_folder(tmp_path / "demo")
        [download] = checked.definition.downloads
        assert download.title in checked.texts["overview.md"]
        rows = json.loads((tmp_path / "demo" / download.file).read_text())
        assert json.dumps(rows[0]) in checked.texts["overview.md"]
        report = score(rows, checked.references["captions", "c4"], ["rouge-l"])
        assert report["rouge-l"].score > 0.2


def test_starter_texts_ask_for_descriptions(tmp_path: Path) -> None:
    write_starter(tmp_path / "new")
    overview = (tmp_path / "new" / "overview.md").read_text()
    assert overview.startswith("Describe what the challenge is about")
    assert "Say " not in overview


def test_demonstration_names_the_source_of_its_captions(tmp_path: Path) -> None:
    write_demo(tmp_path / "demo")
    overview = " ".join((tmp_path / "demo" / "overview.md").read_text().split())
    assert "The first is the submission *Human captions*, and the other four are the references." in overview
    assert "SPICE is not among the metrics" in overview
    assert "spice" not in (tmp_path / "demo" / "challenge.toml").read_text()
