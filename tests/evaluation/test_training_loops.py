"""What docs/rewards.md promises to training loops: TRL's calls, threads, processes, pickles and warnings."""

from __future__ import annotations

import multiprocessing
import pickle
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious.errors import CaptiousWarning, ParameterError
from captious.evaluation import checks
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


def test_trl_is_told_which_column_is_missing(reward: captious.Reward) -> None:
    with pytest.raises(ParameterError, match="passed no column 'image_id'") as caught:
        grpo_rewards([reward.trl()], [{"prompt": "x", "photo": 3}], ["x"], ["a dog"])
    assert "photo" in caught.value.where


def test_threads_share_a_reward(reward: captious.Reward) -> None:
    expected = reward(IDS, CAPTIONS)
    with ThreadPoolExecutor(4) as pool:
        for scores in pool.map(lambda _: reward(IDS, CAPTIONS), range(8)):
            np.testing.assert_array_equal(scores, expected)


_inherited: captious.Reward | None = None


def of_inherited(_: int) -> list[float]:
    assert _inherited is not None
    return of_pickled(_inherited)


def of_pickled(reward: Callable[..., Any]) -> list[float]:
    scores = reward(IDS, CAPTIONS)
    return [*map(float, scores)]


def test_processes_inherit_and_receive_rewards(reward: captious.Reward, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = reward(IDS, CAPTIONS).tolist()
    monkeypatch.setattr(f"{__name__}._inherited", reward)
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        assert [*pool.map(of_inherited, range(2))] == [expected] * 2
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(of_pickled, reward).result(60) == expected
    function = pickle.loads(pickle.dumps(reward.trl()))
    assert function(completions=CAPTIONS, image_id=IDS) == expected
    assert function.reward.signature == reward.signature


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


@pytest.mark.parametrize(
    ("references", "metric", "message"),
    [
        (CORPUS.references, "cider", "what papers and the COCO toolkit call CIDEr is cider-d"),
        (CORPUS.references, "CIDEr", "what papers and the COCO toolkit call CIDEr is cider-d"),
        ({1: ["a dog runs", "a dog"]}, "cider-d", "cider-d is 0 for every caption"),
        ({image: ["a dog runs", "a dog"] for image in range(200)}, "cider-d", "cider-d is 0 for every caption"),
    ],
    ids=["cider", "CIDEr", "one image", "same references"],
)
def test_rewards_warn_of_what_the_page_says(
    references: Any, metric: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "issued", set())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        captious.reward(references, metric)
    assert any(message in str(warning.message) for warning in caught if warning.category is CaptiousWarning)


def test_a_reward_of_hallucinations_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="lower chair-i is better") as caught:
        captious.reward(CORPUS.references, "chair-i")
    assert '{"chair-i": -1}' in str(caught.value.hint)
