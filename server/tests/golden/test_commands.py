"""``captious serve`` and ``captious challenge``: help, output and exit status, for right and wrong input."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from server.tests.golden.commands import Outcome, captious
from server.tests.golden.place import Place, write_challenge
from server.tests.golden.plain import Names, file_of, files_of, folder_names, plain_text
from server.tests.support.site import EXAMPLES, PASSWORD
from tests.golden.record import Record

_GROUPS = ("serve", "challenge")
_COMMAND = re.compile(r"^  (\S+)  +\S", flags=re.MULTILINE)
Change: TypeAlias = Callable[[str], str]


def helps() -> dict[str, list[str]]:
    """The words of all commands below the groups -> their help."""
    waiting, found = list(_GROUPS), {}
    for words in waiting:
        outcome = captious(*words.split(), "--help")
        assert outcome.code == 0
        found[words] = outcome.out.splitlines()
        _, _, commands = outcome.out.partition("\nCommands:\n")
        waiting.extend(f"{words} {name}" for name in _COMMAND.findall(commands))
    return found


def shown(outcome: Outcome, names: Names) -> dict[str, Any]:
    """The exit status and the output of a command."""
    texts = {"out": outcome.out, "err": outcome.err}
    lines = {name: plain_text(text, names).splitlines() for name, text in texts.items()}
    return {"status": outcome.code, **{name: text for name, text in lines.items() if text}}


@pytest.fixture
def names(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Names:
    """The test runs in an empty folder; folders -> their names in the record."""
    monkeypatch.chdir(tmp_path)
    return {**folder_names(data=place.site.data, here=tmp_path), version("captious"): "<version>"}


def test_help(record: Record) -> None:
    record("help", helps())


def test_serve_with_wrong_input(place: Place, record: Record, names: Names, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTIOUS_ADMIN_PASSWORD", PASSWORD)  # nothing asks for it
    Path("empty").mkdir()
    Path("file").touch()
    data = place.site.data
    document = {}
    for command in [words for words in helps() if words.startswith("serve ")]:
        words = command.split()
        for words_of_case in (
            [],
            ["--nothing"],
            ["--data", ""],
            ["--data", "nothing"],
            ["--data", "empty", "--user", "captain"],
            ["--data", "file/data", "--user", "captain"],
            ["--data", str(data), "--user", "nobody"],
        ):
            if command == "serve admin" and {"nothing", "empty", str(data)} & {*words_of_case}:
                continue  # makes a server
            if command in {"serve web", "serve worker"} and str(data) in words_of_case and len(words_of_case) < 3:
                continue  # runs until it is stopped
            case = [*words, *words_of_case]
            document[plain_text(" ".join(case), names)] = shown(captious(*case), names)
    others = [
        "serve",
        "serve --port 0 --demo",
        "serve --port x --demo",
        "serve nothing",
        f"serve token --data {data} --user captain --scope nothing",
        f"serve token --data {data} --user captain --challenge nothing",
        f"serve token --data {data} --user captain --challenge open --scope teams",
        f"serve token --data {data} --user captain --days 0",
        f"serve export-user --data {data} --user nobody -o out.zip",
        f"serve export-user --data {data} --user captain -o nowhere/out.zip",
        f"serve delete-user --data {data} --user administrator --yes",
        f"serve reset-second-step --data {data} --user captain",
        f"serve backup --data {data} nowhere/out.tar",
        "serve restore nothing.tar --data new",
        "serve restore file --data new",
        f"serve restore file --data {data}",
    ]
    for line in others:
        document[plain_text(line, names)] = shown(captious(*line.split()), names)
    record("serve_wrong", document)
    assert sorted(path.name for path in Path().iterdir()) == ["empty", "file"]


@pytest.mark.usefixtures("sqlite")  # a backup has other files with PostgreSQL
def test_serve_with_right_input(place: Place, record: Record, names: Names) -> None:
    data = place.site.data
    document: dict[str, Any] = {}
    for line in (
        f"serve token --data {data} --user captain",
        f"serve token --data {data} --user captain --name x --scope read --scope organize --challenge open --days 3",
        f"serve export-user --data {data} --user captain -o captain.zip",
        f"serve delete-user --data {data} --user stranger --yes",
        f"serve delete-user --data {data} --user captain --submissions --yes",
        f"serve delete-user --data {data} --user captain",
        f"serve backup --data {data} backup.tar",
    ):
        with place.undone():
            document[plain_text(line, names)] = shown(captious(*line.split()), names)
    document["captain.zip"] = [*files_of(Path("captain.zip").read_bytes())]
    with tarfile.open("backup.tar") as backup:
        document["backup.tar"] = sorted(
            re.sub(r"[0-9a-f]{12,}", "<folder>", name) for name in backup.getnames() if "boards" not in name
        )
    record("serve_right", document)


@pytest.mark.usefixtures("sqlite")  # a backup has other files with PostgreSQL
def test_restored_server_has_the_same_board(place: Place, record: Record, names: Names) -> None:
    """A server of its own, made of a backup: another process, as one knows one data folder."""
    assert captious("serve", "backup", "--data", place.site.data, "backup.tar").code == 0
    code = (
        "import os, sys, django; from captious.cli import main; sys.argv[1:] = ['serve', 'restore', 'backup.tar', "
        "'--data', 'new']\ntry:\n    main()\nexcept SystemExit as stop:\n    assert not stop.code\n"
        "from django.test import Client\n"
        "print(b''.join(Client().get('/api/v1/challenges/open/leaderboard').streaming_content).decode())"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [[row["rank"], row["method"], row["scores"]] for row in json.loads(done.stdout)]
    record("restored", {"err": plain_text(done.stderr, names).splitlines(), "board": rows})


def test_new_challenges(place: Place, record: Record, names: Names) -> None:
    document: dict[str, Any] = {}
    references = EXAMPLES / "references.json"
    Path("bundle").mkdir()
    Path("bundle/competition.yaml").write_text(
        "title: Streets\nimage: logo.png\nphases: [{name: Only, start: 2020-01-01}]\n", encoding="utf-8"
    )
    names = {**names, str(references): "<references>"}
    arguments: dict[str, list[Any]] = {
        "starter": [],
        "given": ["--references", references],
        "coco": ["--like", "coco-captions"],
        "nocaps": ["--like", "nocaps"],
        "vizwiz": ["--like", "vizwiz-captions"],
        "bundle-of-others": ["--from", "bundle", "--references", references],
    }
    for folder, words in arguments.items():
        outcome = captious("challenge", "init", folder, *words)
        files = {
            str(path.relative_to(folder)): file_of(path.name, path.read_bytes(), names)
            for path in sorted(Path(folder).rglob("*"))
            if path.is_file() and path.suffix != ".json"
        }
        check = shown(captious("challenge", "check", folder), names)
        document[folder] = {"init": shown(outcome, names), "files": files, "check": check}
    record("new_challenges", document)


#: What is wrong with a challenge.toml -> its change.
_WRONG: dict[str, Change] = {
    "malformed": lambda text: text.replace("metrics =", "metrics", 1),
    "empty": lambda text: "",
    "unknown metric": lambda text: text.replace('"rouge-l"', '"rouge-x"'),
    "unknown key": lambda text: f'sumary = "x"\n{text}',
    "unknown ranking output": lambda text: text.replace('rank_by = "cider-d"', 'rank_by = "bleu-5"'),
    "unknown setting": lambda text: f'{text}\n[settings]\ntokeniser = "ptb"\n',
    "unknown tokenizer": lambda text: f'{text}\n[settings]\ntokenizer = "nothing"\n',
    "wrong date": lambda text: text.replace("2020-12-31T00:00:00Z", "2019-12-31T00:00:00Z"),
    "no date": lambda text: text.replace("2120-01-01T00:00:00Z", "soon"),
    "missing file": lambda text: text.replace("overview.md", "nothing.md"),
    "file elsewhere": lambda text: text.replace("overview.md", "../overview.md"),
    "wrong references": lambda text: text.replace("val_c2.json", "rules.md"),
    "references of others": lambda text: text.replace("val_c2.json", "test_c2.json"),
    "wrong logo": lambda text: text.replace("logo.svg", "rules.md"),
    "wrong address of images": lambda text: text.replace("{id}", "{name}"),
    "two phases of one name": lambda text: text.replace('"hidden"', '"main"', 1),
    "everything": lambda text: text.replace('"', "'").replace("main", "Main Phase").replace("{id}", "{}"),
    "organizer unknown": lambda text: text.replace('["organizer"]', '["nobody"]'),
}


def test_wrong_challenges(place: Place, record: Record, names: Names) -> None:
    folder = write_challenge(Path("open"), title="Open")
    file = folder / "challenge.toml"
    right = file.read_text(encoding="utf-8")
    document = {}
    for name, change in _WRONG.items():
        wrong = change(right)
        assert wrong != right, name
        file.write_text(wrong, encoding="utf-8")
        document[name] = {"check": shown(captious("challenge", "check", folder), names)}
        with place.undone():
            document[name]["load"] = shown(captious("challenge", "load", folder, "--data", place.site.data), names)
    record("wrong_challenges", document)


def test_challenge_with_wrong_input(place: Place, record: Record, names: Names) -> None:
    data = place.site.data
    Path("full").mkdir()
    Path("full/file").touch()
    Path("empty").mkdir()
    lines = [
        "challenge",
        "challenge nothing",
        "challenge init",
        "challenge init full",
        "challenge init x --references nothing.json",
        "challenge init x --like nothing",
        "challenge init x --like nocaps --from full",
        "challenge init x --from full",
        "challenge init x --from nothing.zip",
        "challenge init x --references a --references b",
        "challenge check",
        "challenge check nothing",
        "challenge check empty",
        "challenge check full/file",
        "challenge check empty --data nothing",
        "challenge load empty",
        "challenge load empty --data nothing",
        f"challenge load empty --data {data}",
        f"challenge load nothing --data {data}",
        f"challenge export nothing --data {data} -o out",
        f"challenge export open --data {data} -o full",
        f"challenge export open --data {data}",
        "challenge export open --data nothing -o out",
    ]
    record("challenge_wrong", {plain_text(line, names): shown(captious(*line.split()), names) for line in lines})


def test_challenges_of_a_server(place: Place, record: Record, names: Names) -> None:
    """Checking, loading again with and without changes, and exporting."""
    data = place.site.data
    folder = write_challenge(Path("open"), title="Open")
    file = folder / "challenge.toml"
    right = file.read_text(encoding="utf-8")
    changed = right.replace('"rouge-l"', '"rouge-l", "chrf"').replace('title = "Open"', 'title = "Opened"')
    changes: dict[str, str] = {
        "unchanged": right,
        "changed": changed,
        "board": right.replace('board = "hidden"', 'board = "public"'),
        "phase gone": right.replace('[[phases]]\nname = "future"\nopens = "2120-01-01T00:00:00Z"\n', ""),
    }
    document: dict[str, Any] = {}
    for name, text in changes.items():
        file.write_text(text, encoding="utf-8")
        document[name] = {"check": shown(captious("challenge", "check", folder, "--data", data), names)}
        with place.undone():
            document[name]["load"] = shown(captious("challenge", "load", folder, "--data", data), names)
            document[name]["load with --yes"] = shown(
                captious("challenge", "load", folder, "--data", data, "--yes"), names
            )
    outcome = captious("challenge", "export", "open", "--data", data, "-o", "exported")
    document["export"] = shown(outcome, names)
    document["exported"] = {
        str(path.relative_to("exported")): file_of(path.name, path.read_bytes(), names)
        for path in sorted(Path("exported").rglob("*"))
        if path.suffix != ".json"
    }
    record("challenges_of_a_server", document)
