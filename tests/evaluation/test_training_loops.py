"""What docs/rewards.md promises to training loops: TRL's calls, threads, processes, pickles and warnings."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious.native import threads
from tests.support.corpora import large_corpus

CORPUS = large_corpus(300, seed=4).table()
pytestmark = pytest.mark.filterwarnings("ignore:.* references are empty or without words:captious.CaptiousWarning")
IDS, CAPTIONS = [*CORPUS.ids] * 3, [*CORPUS.candidates] * 3


@pytest.fixture
def reward() -> captious.Reward:
    return captious.reward(CORPUS.references, {"cider-d": 1, "bleu-4": 0.5})


def grpo_rewards(
    functions: Sequence[Callable[..., Any]],
    inputs: Sequence[Mapping[str, Any]],
    prompts: Sequence[Any],
    completions: Sequence[Any],
) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return rewards float32[n, n_functions] as ``GRPOTrainer._calculate_rewards`` of TRL computes them (July 2026)."""
    logged: dict[str, Any] = {}
    keys = [key for key in inputs[0] if key not in ["prompt", "completion", "completion_ids"]]
    reward_kwargs: dict[str, Any] = {key: [example[key] for example in inputs] for key in keys}
    reward_kwargs["trainer_state"] = object()
    reward_kwargs["log_extra"] = logged.__setitem__
    reward_kwargs["log_metric"] = logged.__setitem__
    rewards = np.zeros((len(prompts), len(functions)), np.float32)
    for i, function in enumerate(functions):
        assert isinstance(getattr(function, "__name__", None), str)
        given = function(
            prompts=prompts, completions=completions, completion_ids=[[1, 2]] * len(prompts), **reward_kwargs
        )
        rewards[:, i] = [np.nan if value is None else value for value in given]
    return rewards


@pytest.mark.parametrize("is_chat", [False, True])
def test_trl_gets_rewards_of_its_generations(reward: captious.Reward, is_chat: bool) -> None:
    prompt = [{"role": "user", "content": "Describe the image."}] if is_chat else "Describe the image."
    inputs: list[dict[str, Any]] = [
        {"prompt": prompt, "image": None, "photo": image}
        for image in CORPUS.ids[:8]
        for _ in range(3)  # generations
    ]
    texts = [CORPUS.candidates[(i * 5) % 40] for i in range(24)]
    completions = [[{"role": "assistant", "content": text}] for text in texts] if is_chat else texts
    functions = [reward.trl(column="photo"), captious.reward(CORPUS.references, "rouge-l").trl("photo")]
    scores = grpo_rewards(functions, inputs, [row["prompt"] for row in inputs], completions)
    np.testing.assert_array_equal(scores[:, 0], reward([row["photo"] for row in inputs], texts).astype(np.float32))
    assert len(np.unique(scores)) > 20


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
