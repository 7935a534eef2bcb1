"""What docs/rewards.md promises to training loops: threads and processes."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

import captious
from captious.native import threads
from tests.support.corpora import large_corpus

CORPUS = large_corpus(300, seed=4).table()
pytestmark = pytest.mark.filterwarnings("ignore:.* references are empty or without words:captious.CaptiousWarning")
IDS, CAPTIONS = [*CORPUS.ids] * 3, [*CORPUS.candidates] * 3


def maps(path: Path) -> bool:
    """Return whether this process has mapped a file."""
    return str(path) in Path("/proc/self/maps").read_text()


def loaded_reward_maps(content: bytes, path: Path) -> bool:
    reward = pickle.loads(content)
    reward(IDS, CAPTIONS)
    return maps(path)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="not here: no /proc")
def test_processes_map_prepared_references(tmp_path: Path) -> None:
    path = tmp_path / "train.captious"
    captious.prepare(CORPUS.references, ["cider-d"], path=path)
    prepared = captious.reward(path, "cider-d")
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(loaded_reward_maps, pickle.dumps(prepared), path).result(60)


def test_a_reward_uses_the_threads_of_its_settings() -> None:
    counts = []

    def counting(candidate: str, references: Sequence[str]) -> float:
        counts.append(threads())
        return 1.0

    reward = captious.reward({1: ["a dog"]}, counting, settings=captious.Settings(threads=3))
    before = threads()
    reward([1], ["a cat"])
    assert (counts[-1], threads()) == (3, before)
    pickled = captious.reward({1: ["a dog"]}, "rouge-l", settings=captious.Settings(threads=3)).__reduce__()
    assert pickled[1][3] == 3  # type: ignore[index]
