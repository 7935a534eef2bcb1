"""captious challenge"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run, assert_refused


def test_initialized_challenge_passes_check(folder: Path, run: Run) -> None:
    outcome = run("challenge", "init", "mine", "--references", "references.json")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == (
        "mine: challenge.toml, overview.md, rules.md, references/references.json\n"
        "edit them, then run: captious challenge check mine\n"
    )
    checked = run("challenge", "check", "mine")
    assert checked.code == 0
    assert "The summary still has the words of the starter: “Describe the challenge in one sentence …”." in checked.err
    assert "The text 'Overview' still has the words of the starter" in checked.err
    (folder / "mine" / "overview.md").write_text("Birds.")
    text = (folder / "mine" / "challenge.toml").read_text().replace("Describe the challenge in one sentence", "Birds")
    (folder / "mine" / "challenge.toml").write_text(text)
    assert run("challenge", "check", "mine").err == ""
    lines = [line.rstrip() for line in checked.out.splitlines()]
    assert lines[0] == "challenge   Mine (mine)"
    assert "references  c5: 120 captions of 24 images, 5.0 each, references/references.json" in lines
    assert "            Rules: rules.md" in lines


def test_challenges_are_initialized_from_ready_ones_and_bundles(folder: Path, run: Run) -> None:
    outcome = run("challenge", "init", "coco", "--like", "coco-captions")
    assert outcome.code == 0
    assert "to be added: references/captions_val2014.json" in outcome.err
    assert "by domain" not in outcome.err
    assert "are split by domain" in run("challenge", "init", "novel", "--like", "nocaps").err
    (folder / "competition.yaml").write_text("title: Streets\nimage: logo.png\nphases: [{name: Only}]\n")
    outcome = run("challenge", "init", "streets", "--from", "competition.yaml", "--references", "references.json")
    assert outcome.code == 0, outcome.err
    assert "left out: of the bundle: image" in outcome.err
    assert run("challenge", "check", "streets").code == 0
    assert_refused(run("challenge", "init", "x", "--like", "none"), "none of coco-captions, nocaps", "init --help")
    both = run("challenge", "init", "x", "--like", "nocaps", "--from", "competition.yaml")
    assert_refused(both, "exclude each other", "init --help")
    three = ("--references", "references.json", "--references", "baseline.json", "--references", "improved.json")
    assert_refused(run("challenge", "init", "x", *three), "only --like takes so many", "init --help")


def test_current_folder_is_accepted_as_challenge_folder(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "new").mkdir()
    monkeypatch.chdir(folder / "new")
    assert run("challenge", "init", ".", "--references", "../references.json").code == 0
    assert "(new)" in run("challenge", "check", ".").out


def test_all_problems_of_a_challenge_are_reported(folder: Path, run: Run) -> None:
    assert run("challenge", "init", "mine").code == 0
    (folder / "mine" / "rules.md").unlink()
    assert_refused(
        run("challenge", "check", "mine"),
        "mine has 2 problems",
        "texts[2].file: there is no file rules.md",
        "references[1].file: there is no file references/c5.json",
        "help: tables are counted from 1; captious challenge init creates a folder that shows the format",
    )


def test_file_instead_of_challenge_folder_is_refused(folder: Path, run: Run) -> None:
    assert run("challenge", "init", "mine").code == 0
    refused = run("challenge", "check", "mine/challenge.toml")
    assert_refused(refused, "give the folder, not the file")
    assert "counted from 1" not in refused.err  # no table is named


def test_warnings_of_a_challenge_are_shown(folder: Path, run: Run) -> None:
    assert run("challenge", "init", "mine", "--references", "baseline.json").code == 0
    checked = run("challenge", "check", "mine")
    assert checked.code == 0
    assert "warning: references[1].file: every image has only one reference" in checked.err


def test_invalid_challenge_commands_are_refused(folder: Path, run: Run) -> None:
    assert_refused(run("challenge", "init", "."), ". is not empty", "name a folder that does not exist yet")
    assert_refused(run("challenge", "init", "x", "--references", "none.json"), "there is no such file", "none.json")
    assert not (folder / "x").exists()
    assert_refused(run("challenge", "check", "x"), "x has 1 problem", "there is no such folder")
    assert_refused(run("challenge", "check", "."), "create one with captious challenge init FOLDER")


def test_challenge_help_does_not_import_django(folder: Path) -> None:
    code = (
        "import sys; from captious_server.challenges import folder, starter; "
        "from pathlib import Path; starter.write_demo(Path('demo')); folder.check_folder(Path('demo')); "
        "assert 'django' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=folder)
