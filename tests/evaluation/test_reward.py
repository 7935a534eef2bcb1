"""Rewards give the caption scores of ``captious.score``, with its settings and signatures."""

from __future__ import annotations

import multiprocessing
import pickle
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious.errors import CaptionTypeError, ParameterError, UnknownImageError, UnknownNameError
from captious.evaluation import checks
from captious.evaluation.reward import RewardTerm
from captious.metrics.contract.settings import Settings
from tests.support.corpora import large_corpus

CAPTIONS = large_corpus(120, seed=6).table()


@pytest.mark.filterwarnings("ignore:.* references are empty or without words:captious.CaptiousWarning")
@pytest.mark.parametrize("references_as", ["each", "cat"])
@pytest.mark.parametrize("metric", ["rouge-l", "cider-d", "bleu-2", "rouge-s:gap=2"])
def test_rewards_are_caption_scores(metric: str, references_as: str) -> None:
    settings = Settings(references_as=references_as)
    (result,) = captious.score(CAPTIONS, None, [metric], settings=settings).values()
    reward = captious.reward(CAPTIONS.references, metric, settings=settings)
    scores = reward(CAPTIONS.ids, CAPTIONS.candidates)
    np.testing.assert_allclose(scores, result.per_caption, rtol=1e-12, atol=1e-14)
    assert reward.signature == result.signature


def test_metrics_without_rewards_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="no metric 'all'"):
        captious.reward(CAPTIONS.references, "all")
    with pytest.raises(ParameterError, match="judges several candidates") as caught:
        captious.reward(CAPTIONS.references, "div")
    assert caught.value.hint == "choose a metric of single captions, such as cider-d"
    with pytest.raises(UnknownNameError, match="rouge-l has no output 'rouge'"):
        captious.Reward([RewardTerm(captious.RougeL(), "rouge")], CAPTIONS.references)


IDS = [7, 3, 7]
TEXTS = ["a dog runs", "a cat", "the dog is running"]
REFERENCES = {7: ["a dog runs fast"], 3: ["two cats", "a cat sits"]}


class Tensor:
    """The part of torch's tensors that is needed here."""

    def __init__(self, values: object) -> None:
        self.values = values

    def tolist(self) -> object:
        return self.values

    def item(self) -> object:
        return self.values


@pytest.mark.parametrize(
    ("ids", "texts"),
    [
        (np.array(IDS), np.array(TEXTS)),
        (Tensor(IDS), tuple(TEXTS)),
        ([Tensor(image) for image in IDS], TEXTS),
        (iter(IDS), (text for text in TEXTS)),
        (IDS, [text.split() for text in TEXTS]),
        (IDS, [np.str_(text) for text in TEXTS]),
    ],
    ids=["arrays", "tensor", "list of tensors", "generators", "lists of words", "numpy's strings"],
)
def test_ids_and_captions_of_training_loops_are_accepted(ids: Any, texts: Any) -> None:
    reward = captious.reward(REFERENCES, "rouge-l")
    assert reward(ids, texts).tolist() == reward(IDS, TEXTS).tolist()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frame_columns_are_accepted(library: str) -> None:
    series = pytest.importorskip(library).Series
    reward = captious.reward(REFERENCES, "rouge-l")
    assert reward(series(IDS), series(TEXTS)).tolist() == reward(IDS, TEXTS).tolist()


@pytest.mark.parametrize(("known", "given"), [(7, "7"), ("7", 7)])
def test_an_integer_and_its_text_are_one_image(known: Any, given: Any) -> None:
    reward = captious.reward({known: ["a dog runs fast"]}, "rouge-l")
    assert reward([given], ["a dog"]).tolist() == reward([known], ["a dog"]).tolist()


def test_ids_that_are_written_differently_are_explained() -> None:
    reward = captious.reward({7: ["a dog runs fast"], 8: ["a cat"]}, "rouge-l")
    for given in ("007", "photos/7.jpg", "7 "):
        with pytest.raises(UnknownImageError) as caught:
            reward([given], ["a dog"])
        assert "the references have it as 7" in caught.value.hint


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("rouge-n", "name one of rouge-1, rouge-2, rouge-3, rouge-4"),
        ("bleu", "name one of bleu-1, bleu-2, bleu-3, bleu-4"),
        (captious.Bleu(), "name one of bleu-1"),
        ("chair", 'name one of chair-s, chair-i, chair-recall; lower is better for chair-s, chair-i: {"chair-s": -1}'),
        ("chair-i", '{"chair-i": -1}'),
        ({"chair-i": 0.5}, '"chair-i": -0.5'),
        ("length-words", '{"length-words": -1}'),
        ({"length": 1}, "neither direction is better"),
        ({"bleu-4": 0}, "a finite number"),
        ({"bleu-4": float("nan")}, "a finite number"),
        ({"bleu-4": True}, "a finite number"),
        ({}, "name one, such as cider-d"),
    ],
)
def test_a_reward_is_one_number_of_which_more_is_better(metric: Any, words: str) -> None:
    with pytest.raises(ParameterError) as caught:
        captious.reward(REFERENCES, metric)
    assert words in caught.value.hint


def test_weighted_sums_are_rewards() -> None:
    objects = captious.Settings(objects={7: ["dog"], 3: ["cat"]})
    weights = {"bleu-4": 0.5, "rouge-l": 1, "bleu-1": 0.25, "length-words": -0.01, "chair-i": -2}
    reward = captious.reward(REFERENCES, weights, settings=objects)
    alone = [
        captious.reward(REFERENCES, {name: weight}, settings=objects if name == "chair-i" else None)
        for name, weight in weights.items()
    ]
    np.testing.assert_allclose(reward(IDS, TEXTS), sum(one(IDS, TEXTS) for one in alone), rtol=1e-12)
    assert reward(IDS, ["a dog runs", "a dog", "a dog"])[1] < -1
    assert reward.label == "0.5*bleu-4+0.25*bleu-1+rouge-l-0.01*length-words-2*chair-i"
    assert {*reward.signature.split(" + ")} == {one.signature for one in alone}
    assert captious.reward(REFERENCES, {"rouge-l": 1}).signature == captious.reward(REFERENCES, "rouge-l").signature


def test_arguments_in_the_old_order_are_named() -> None:
    for metric in ("cider-d", "Bleu_4", captious.RougeL()):
        with pytest.raises(ParameterError, match="reward takes references first, then metric"):
            captious.reward(metric, REFERENCES)  # type: ignore[arg-type]


@pytest.fixture
def nothing_issued(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "issued", set())


@pytest.mark.usefixtures("nothing_issued")
@pytest.mark.parametrize("name", ["CIDEr", "cider", "cider:sigma=6"])
def test_plain_cider_warns_as_scores_do(name: str) -> None:
    references = {image: [f"a dog {image}", f"a cat {image}"] for image in range(200)}
    with pytest.warns(captious.CaptiousWarning, match="what papers and the COCO toolkit call CIDEr is cider-d"):
        captious.reward(references, name.partition(":")[0])


@pytest.mark.usefixtures("nothing_issued")
@pytest.mark.parametrize("images", [1, 60])
@pytest.mark.parametrize("metric", ["cider-d", {"cider-d": 1, "rouge-l": 1}])
def test_document_frequencies_by_which_every_reward_is_zero_warn(images: int, metric: Any) -> None:
    with pytest.warns(captious.CaptiousWarning) as caught:
        reward = captious.reward({image: ["a dog runs fast", "a dog runs"] for image in range(images)}, metric)
    assert any("ln 1 = 0" in str(warning.message) for warning in caught)
    assert Path(caught[0].filename) == Path(__file__)
    assert reward.warnings == [str(warning.message) for warning in caught]
    several = captious.reward({image: [f"a dog runs {image}"] for image in range(200)}, metric)
    assert not several.warnings


def chat(*texts: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": "Describe it."}, *({"role": "assistant", "content": text} for text in texts)]


@pytest.mark.parametrize(
    "completions",
    [
        [chat("a dog runs"), chat("one moment", "a cat"), chat("the dog is running")[1:]],
        [chat(text)[1:] for text in TEXTS],
        [[{"role": "assistant", "content": [{"type": "text", "text": text}]}] for text in TEXTS],
        [[{"content": text}] for text in TEXTS],
    ],
    ids=["chats", "completions", "parts", "without roles"],
)
def test_chats_are_captions(completions: Any) -> None:
    reward = captious.reward(REFERENCES, "rouge-l")
    assert reward(IDS, completions).tolist() == reward(IDS, TEXTS).tolist()


@pytest.mark.parametrize(
    "messages", [[], (), [{"role": "user", "content": "a"}], [{"role": "assistant", "content": None}]]
)
def test_a_chat_without_an_answer_is_refused(messages: Any) -> None:
    with pytest.raises(CaptionTypeError, match="no answer of the assistant"):
        captious.reward(REFERENCES, "rouge-l")([7], [messages])


def test_samples_of_an_image_are_not_words() -> None:
    reward = captious.reward(REFERENCES, "rouge-l")
    for captions in ([["a red bus", "a bus"]], [("a red bus",)], [["a", "red bus"]]):
        with pytest.raises(CaptionTypeError, match="a word with blanks is a caption") as caught:
            reward([7], captions)
    assert "reward([1, 1], ['a', 'red bus'])" in caught.value.hint


def test_trl_calls_rewards() -> None:
    """As its trainers do: by keyword, with the columns of the data set and more; they log by ``__name__``."""
    reward = captious.reward(REFERENCES, {"rouge-l": 1, "bleu-4": 0.5})
    function = reward.trl()
    assert function.__name__ == "rouge-l+0.5*bleu-4"
    rewards = function(
        prompts=["?"] * 3, completions=TEXTS, completion_ids=[[1], [2], [3]], image_id=IDS, trainer_state=object()
    )
    assert rewards == reward(IDS, TEXTS).tolist()
    assert all(type(one) is float for one in rewards)
    assert reward.trl("image")(["?"] * 3, [chat(text)[1:] for text in TEXTS], image=IDS) == rewards
    with pytest.raises(ParameterError, match="passed no column 'image_id'") as caught:
        function(prompts=["?"] * 3, completions=TEXTS, image=IDS)
    assert "columns: image" in caught.value.where


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
@pytest.mark.parametrize("clean", ["think", "think,compose", ["compose", "markdown", "think"]])
def test_cleaned_rewards_are_cleaned_scores(clean: Any) -> None:
    """With the same signature, up to the name of the output."""
    references = {1: ["a cafe\u0301 in a street", "people at a table"], 2: ["a bus"]}
    texts = {1: "<think>Is it a bar?</think>a **café**", 2: "a bus"}
    reward = captious.reward(references, "rouge-l", clean=clean)
    scored = captious.score(texts, references, "rouge-l", clean=clean)["rouge-l"]
    for again in (reward, pickle.loads(pickle.dumps(reward))):
        assert again([*texts], [*texts.values()]).tolist() == [*scored.by_image.values()]
        assert again.signature == scored.signature
    with pytest.raises(UnknownNameError, match="no rule 'thoughts'"):
        captious.reward(references, "rouge-l", clean="thoughts")


def test_trl_warns_of_what_models_leave_in_completions() -> None:
    """Once, whatever the numbers; and not of what is cleaned."""
    completions = [chat("<think>Is it a bus?</think> a dog")] * 3
    found = {}
    for clean in ("", "think"):
        function = captious.reward({7: ["a dog runs fast"]}, "rouge-l", clean=clean).trl()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            for n in (2, 3):
                function(completions=completions[:n], image_id=[7] * n)
            assert function(completions=[], image_id=[]) == []
        found[clean] = [str(one.message) for one in caught if "Some candidates" in str(one.message)]
    assert found["think"] == []
    assert len(found[""]) == 1
    assert (
        'hold the thoughts of a model: metrics score them as part of the caption: remove them with clean="think"'
        in (found[""][0])
    )


def test_trl_warns_of_a_completion_that_is_a_list() -> None:
    with pytest.warns(captious.CaptiousWarning, match='Some candidates are JSON.*clean="json"'):
        assert captious.reward({7: "a dog"}, "rouge-l").trl()(completions=['["a dog", "a cat"]'], image_id=[7])[0] > 0


def rewarded(function: Any) -> list[float]:
    rewards: list[float] = function(prompts=["?"] * 3, completions=TEXTS, image_id=IDS)
    return rewards


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
@pytest.mark.parametrize("kind", ["fork", "spawn"])
def test_workers_give_the_rewards_of_their_parent(kind: str) -> None:
    """A fork uses what its parent prepared, without a pickle; others get a pickle."""
    if kind not in multiprocessing.get_all_start_methods():
        pytest.skip(f"not here: {sys.platform} has no {kind}")
    function = captious.reward(REFERENCES, {"rouge-l": 1, "cider-d": 0.5, "chrf": 1}).trl()
    here = rewarded(function)
    with multiprocessing.get_context(kind).Pool(2) as pool:
        assert pool.map(rewarded, [function] * 4) == [here] * 4
    if kind == "fork":
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe(duplex=False)
        worker = context.Process(target=lambda: theirs.send(rewarded(function)))
        worker.start()
        assert ours.poll(60)
        assert ours.recv() == here
        worker.join()
    with ThreadPoolExecutor(4) as threads:
        assert [*threads.map(rewarded, [function] * 8)] == [here] * 8


def test_invalid_ids_and_captions_are_refused() -> None:
    reward = captious.reward({7: ["a dog runs fast"]}, "rouge-l")
    with pytest.raises(CaptionTypeError, match="an image id is a list"):
        reward([[7]], ["a dog"])  # type: ignore[list-item]
    with pytest.raises(CaptionTypeError, match="decode token ids first"):
        reward([7], [[101, 102]])  # type: ignore[list-item]
    with pytest.raises(ParameterError, match="1 image id for 2 captions"):
        reward(iter([7]), iter(["a", "b"]))


@pytest.mark.usefixtures("nothing_issued")
def test_a_warning_that_was_suppressed_is_shown_later_and_once() -> None:
    references = {1: ["a dog </s>", "a dog"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        captious.reward(references, "rouge-l")
    for n in (1, 0):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            captious.reward(references, "rouge-l")
        assert len(caught) == n
    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            captious.reward(references, "rouge-l")
        assert len(caught) == 1


@pytest.mark.parametrize("metric", ["concur@light", captious.Concur()])
def test_rewards_that_are_not_safe_warn(metric: captious.MetricLike) -> None:
    references = {1: ["a dog runs on the beach", "a dog at the sea"], 2: ["two cats sleep", "cats nap on a bed"]}
    with pytest.warns(captious.CaptiousWarning, match="concur@light can be raised .* concur@strict is safe"):
        captious.reward(references, metric)
    assert captious.reward(references, "concur").warnings == []
