"""Options of captious itself, completion in shells, and what is advised when people use other words."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Outcome, Run, assert_refused, plain_environment

FILES = ("baseline.json", "improved.json", "references.json")


def test_quiet_prints_results_alone(folder: Path, run: Run) -> None:
    loud = run("score", *FILES, "-m", "rouge-l")
    assert "Is the difference real?" in loud.err
    for quiet in (("-q", "score", *FILES), ("score", *FILES, "--quiet")):
        assert run(*quiet, "-m", "rouge-l") == Outcome(0, loud.out, "")
    assert run("fit", "cider-d", "references.json", "-o", "own.idf", "-q") == Outcome(0, "", "")


def test_quiet_prints_errors(folder: Path, run: Run) -> None:
    assert_refused(run("score", "-q", "none.json", "references.json"), "none.json")


@pytest.mark.parametrize(("words", "same"), [([], []), (["score"], ["score"]), (["study", "words"],) * 2])
def test_help_is_a_command(run: Run, words: list[str], same: list[str]) -> None:
    expected = run(*same, "--help")
    assert expected.code == 0
    assert run("help", *words) == run("--help", *words) == expected


def test_options_after_two_dashes_are_words(folder: Path, run: Run) -> None:
    outcome = run("explain", "bleu", "--tokenizer", "whitespace", "--", "a cat -q", "-q")
    assert "candidate  a cat -q" in outcome.out


def completions(command: list[str], *words: str, shell: str = "bash") -> list[str]:
    """Return what is offered for the last of these words."""
    environment = {**plain_environment(), "_CAPTIOUS_COMPLETE": f"{shell}_complete"}
    if shell == "fish":
        environment |= {"COMP_WORDS": " ".join(["captious", *words[:-1]]), "COMP_CWORD": words[-1]}
    else:
        environment |= {"COMP_WORDS": " ".join(["captious", *words]), "COMP_CWORD": str(len(words))}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["sc"], "plain,score"),
        (["study", "fail"], "plain,failures"),
        (["score", "--tok"], "plain,--tokenizer"),
        (["score", "-m", "rouge-"], "plain,rouge-l"),
        (["score", "-m", "bleu-4,cider-"], "plain,bleu-4,cider-d"),
        (["explain", "met"], "plain,meteor"),
        (["score", "--format", "t"], "plain,table"),
        (["score", "base"], "file,base"),
        (["score", "--clean", "mar"], "plain,markdown"),
        (["score", "--clean", "prompt,mar"], "plain,prompt,markdown"),
        (["check", "--language", "d"], "plain,de"),
        (["judge", "flickr8k-e"], "plain,flickr8k-expert"),
    ],
)
def test_bash_completes(command: list[str], words: list[str], offered: str) -> None:
    assert offered in completions(command, *words)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_complete(command: list[str], shell: str) -> None:
    assert any("score" in line for line in completions(command, "sc", shell=shell))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(start: Run, shell: str) -> None:
    outcome = start("completion", shell)
    assert outcome.code == 0
    assert "_CAPTIOUS_COMPLETE" in outcome.out
    assert "captious" in outcome.out


def test_completion_in_bash(command: list[str], folder: Path) -> None:
    """Bash itself evaluates the script and completes a line."""
    script = (
        f'PATH={Path(command[0]).parent}:$PATH; eval "$(captious completion bash)"; '
        "COMP_WORDS=(captious score -m meteo); COMP_CWORD=3; _captious_completion captious; echo ${COMPREPLY[@]}"
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["meteor"]


def test_completion_needs_a_shell(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "SHELL", "/bin/sh")
    assert_refused(run("completion"), "which shell is meant?", "bash, zsh, fish")
