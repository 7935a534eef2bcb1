"""Commands that need an extra: plots, training, and models behind an endpoint.

What is trained differs by version of torch in the last digits, so numbers are left out of texts and shapes are kept.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.golden.command_line import Shell
from tests.golden.inputs import WRONG
from tests.golden.record import Record
from tests.support.chat_server import ChatServer

#: A recipe that trains within a second.
NETWORK = """base = "lceval"
epochs = 3
hidden = [3]
features = {name = "small", features = ["bleu-1", "bleu-2", "rouge-l"]}
"""
CRITIQUE = """base = "leic"
width = 6
units = 4
hidden = 3
images_per_batch = 4
epochs = 2
"""
#: Checksums of what is trained, values, and the best epoch.
NUMBERS = [r"\b[0-9a-f]{8}\b", r"-?\d*\.\d+(e-?\d+)?", r"epoch\"?:? \d+", r"\d+%"]

PLOTS = [
    "study metrics rated.jsonl -m bleu-1 -m rouge-l --plot drawn --transpose --naming paper",
    "study words references.json --words 20 -k 3 --plot drawn",
    "judge rated.jsonl -m bleu-1 -m rouge-l --resamples 20 --plot judged --format csv",
    "explain spice 'a red bus on a street' 'a bus is on a road' --parser bundled --svg graph.svg",
    "explain bleu 'a cat' 'a cat' --svg graph.svg",
    "judge rated.jsonl -m rouge-l --plot baseline.json",
]
TRAINING = [
    "learn data references.json baseline.json improved.json --validation 0.4 -o examples.jsonl",
    "learn train examples.jsonl --recipe network.toml --force -o mine.safetensors",
    "learn train examples.jsonl --recipe nope -o mine.safetensors",
    "learn critique references.json baseline.json --recipe critique.toml -o critique.safetensors",
    "learn leic baseline.json references.json --recipe critique.toml --resamples 10 --format csv",
    "study ablation examples.jsonl --recipe network.toml --seeds 1 --resamples 5 --group a=bleu-1,bleu-2 --format csv",
    "study depth examples.jsonl rated.jsonl --recipe network.toml --depths 0,1 --width 2 --seeds 1 --resamples 5 "
    "--format csv",
    "study size examples.jsonl --recipe network.toml --sizes 4,8 --seeds 1 --resamples 5 --format csv",
    "study epochs examples.jsonl --recipe network.toml --format csv",
    "study critiques baseline.json references.json --recipe critique.toml --sample 20 --resamples 5 --format csv",
    "study depth examples.jsonl --recipe nope",
]
WRONG_EXAMPLES = [
    "learn train {} --recipe lceval -o out.safetensors",
    "learn critique references.json {} -o out.safetensors --recipe critique.toml",
    "learn leic {} references.json --recipe critique.toml",
    "study ablation {} --recipe lceval",
]
PAIRS = [
    "judge-pairwise baseline.json improved.json references.json --judge pair --resamples 50 --format json",
    "judge-pairwise baseline.json improved.json moved.json references.json --judge pair --resamples 50",
    "score baseline.json references.json -m judge-clair --judge clair --format json",
    "judge-pairwise baseline.json improved.json references.json --judge nonsense",
]


def test_plots_are_as_recorded(shell: Shell, record: Record) -> None:
    pytest.importorskip("matplotlib")
    record("extras/plots", [{"command": line, **shell.run(line)} for line in PLOTS])


@pytest.fixture
def trainer(shell: Shell) -> Shell:
    pytest.importorskip("torch")
    (shell.folder / "network.toml").write_text(NETWORK, encoding="utf-8")
    (shell.folder / "critique.toml").write_text(CRITIQUE, encoding="utf-8")
    return shell


@pytest.mark.models
def test_training_is_as_recorded_but_for_numbers(trainer: Shell, record: Record) -> None:
    record("extras/training", [{"command": line, **without_numbers(trainer.run(line, NUMBERS))} for line in TRAINING])


@pytest.mark.models
def test_errors_of_wrong_examples_are_as_recorded(trainer: Shell, record: Record) -> None:
    lines = [line.format(file) for line in WRONG_EXAMPLES for file in ["none.json", "long", *WRONG]]
    record("errors/training", {line: trainer.run(line) for line in lines if "fewer" not in line})


def test_judged_pairs_are_as_recorded(
    shell: Shell, endpoint: ChatServer, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("httpx")
    monkeypatch.setenv("CAPTIOUS_ENDPOINT", endpoint.url)
    shell.names[endpoint.url] = "ENDPOINT"
    record("extras/pairs", [{"command": line, **shell.run(line)} for line in PAIRS])


def without_numbers(value: Any) -> Any:
    """Return a document of a trained network without its numbers."""
    if isinstance(value, dict):
        return {key: without_numbers(item) for key, item in value.items() if key not in ("sum", "weighted", "checksum")}
    if isinstance(value, list):
        return [without_numbers(item) for item in value]
    return "#" if isinstance(value, float) else value
