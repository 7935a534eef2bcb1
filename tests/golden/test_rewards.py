"""Rewards: in this process, in one that is forked and in one that is spawned."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.golden.calls import reward_of, signature
from tests.golden.captions import EXAMPLES, REFERENCES, coco
from tests.golden.record import Record

pytestmark = [
    pytest.mark.filterwarnings("ignore::captious.CaptiousWarning"),
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),  # of fork
    pytest.mark.usefixtures("meteor_tables"),
]

METRICS = (
    *("cider-d", "cider-d:idf=coco", "cider", "cider-r", "bleu-1", "bleu-4", "bleu-4@paper", "rouge-l", "meteor"),
    *("spice", "spider", "rouge-2", "rouge-s", "chrf", "length-words", "sparcs", "concur", "coverage-cider"),
)
#: Whose values are also recorded from processes of their own.
IN_PROCESSES = ("cider-d", "cider-d:idf=coco", "bleu-4", "rouge-l", "meteor", "spice")


def batch(samples: Mapping[int, Sequence[str]]) -> tuple[list[int], list[str]]:
    """Return the ids and captions of a batch: all captions of an image together, and an empty one of the first."""
    ids = [image for image, captions in samples.items() for _ in captions]
    texts = [text for captions in samples.values() for text in captions]
    return [*ids, ids[0]], [*texts, ""]


def examples() -> tuple[list[int], list[str]]:
    from captious import read_captions

    captions = read_captions(str(EXAMPLES / "samples.json"), REFERENCES, several="mean")
    return batch({image: captions.texts[row] for row, image in enumerate(captions.ids)})  # type: ignore[misc]


def values(reward: Any, ids: list[int], texts: list[str]) -> list[float]:
    rewards: list[float] = reward(ids, texts).tolist()
    return rewards


def in_process(kind: str, rewards: Sequence[Any], ids: list[int], texts: list[str]) -> list[list[float]]:
    """Return the values of rewards that another process computes."""
    with multiprocessing.get_context(kind).Pool(1) as pool:
        return pool.starmap(values, [(reward, ids, texts) for reward in rewards])


def test_rewards_of_examples(record: Record) -> None:
    ids, texts = examples()
    rewards = {metric: reward_of(metric, REFERENCES) for metric in METRICS}
    record(
        "rewards/examples",
        {
            metric: {"signature": signature(reward.signature), "values": values(reward, ids, texts)}
            for metric, reward in rewards.items()
        },
    )


def test_rewards_of_coco(record: Record, shared_data: Path) -> None:
    ids, texts = batch(coco().samples)
    rewards = {metric: reward_of(metric, coco().references) for metric in ("cider-d", "bleu-4", "rouge-l", "meteor")}
    record("rewards/coco", {metric: values(reward, ids, texts) for metric, reward in rewards.items()})


@pytest.mark.parametrize("kind", ["fork", "spawn"])
def test_rewards_of_other_processes(kind: str, record: Record) -> None:
    """Rewards are pickled for a process; a fork also has those that its parent prepared."""
    if kind not in multiprocessing.get_all_start_methods():
        pytest.skip(f"not here: {sys.platform} has no {kind}")
    ids, texts = examples()
    rewards = [reward_of(metric, REFERENCES) for metric in IN_PROCESSES]
    here = [values(reward, ids, texts) for reward in rewards]
    assert in_process(kind, rewards, ids, texts) == here
    record("rewards/processes", dict(zip(IN_PROCESSES, here, strict=True)))
