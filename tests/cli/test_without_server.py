"""The commands of the evaluation server without it, and those that talk to one, which need nothing of it."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from typing import Any

import click
import pytest

from captious import cli
from captious.plugins import EntryPoints
from tests.cli.conftest import Run, assert_refused


@pytest.fixture
def without_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if no package offered commands."""
    found = metadata.entry_points

    def others(**chosen: Any) -> Any:
        return metadata.EntryPoints() if chosen.get("group") == "captious.commands" else found(**chosen)

    monkeypatch.setattr(metadata, "entry_points", others)
    monkeypatch.setattr(cli, "_PLUGINS", EntryPoints("captious.commands", "command", ()))


@pytest.mark.usefixtures("without_server")
@pytest.mark.parametrize("words", ["serve", "serve --demo", "serve web --data x", "serve --help", "challenge init x"])
def test_commands_of_the_server_say_what_to_install(run: Run, words: str) -> None:
    outcome = run(*words.split())
    command = words.split()[0]
    assert_refused(outcome)
    assert outcome.err == (
        f"error: captious {command} is part of the evaluation server\n  help: pip install captious-server\n"
    )


@pytest.mark.usefixtures("without_server")
def test_commands_of_the_server_are_listed(run: Run) -> None:
    outcome = run("--help")
    assert outcome.code == 0
    for name in cli.OF_SERVER:
        assert f"\n  {name} " in outcome.out


def test_a_server_that_cannot_be_imported_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    plugins = EntryPoints("captious.commands", "command", ())
    broken = metadata.EntryPoint("serve", "captious_server_of_another_time:serve", "captious.commands")
    monkeypatch.setitem(vars(plugins), "by_name", {"serve": broken})
    monkeypatch.setattr(cli, "_PLUGINS", plugins)
    assert_refused(run("serve"), "the command serve cannot be loaded", "captious_server_of_another_time:serve")


def test_commands_of_other_packages_are_listed_and_run(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken one does not disable others, and names of captious stay its own."""
    group = "captious.commands"
    points = [
        metadata.EntryPoint("again", "captious.cli.check:check", group),
        metadata.EntryPoint("broken", "no_such_package:command", group),
        metadata.EntryPoint("score", "no_such_package:command", group),
    ]
    monkeypatch.setattr(metadata, "entry_points", lambda **chosen: points)
    monkeypatch.setattr(cli, "_PLUGINS", EntryPoints(group, "command", cli._PLUGINS.built_in))
    listed = run("--help").out
    assert "\nOther packages:\n  again " in listed
    assert " from captious.cli.check:check\n  broken " in listed
    assert run("again", "--help").out.startswith("Usage: captious again ")
    assert run("score", "--help").out.startswith("Usage: captious score ")
    assert_refused(run("broken"), "the command broken cannot be loaded", "no_such_package:command")
    assert_refused(run("agian"), "did you mean again?")
    completed = cli.captious.shell_complete(click.Context(cli.captious), "")
    assert {"score", "again", "broken"} < {item.value for item in completed}


def test_talking_to_a_server_needs_nothing_of_it() -> None:
    """Neither its package nor Django."""
    code = (
        "import sys\n"
        "sys.modules['captious_server'] = sys.modules['django'] = sys.modules['requests'] = None\n"
        "import captious.client, captious.cli.submissions\n"
        "from captious.cli import captious\n"
        "for name in ('challenges', 'submissions', 'submit'):\n"
        "    captious.main([name, '--help'], standalone_mode=False)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("--server URL") == 3
