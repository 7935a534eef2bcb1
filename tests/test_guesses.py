"""What new users write in Python before they read the docs, and what must happen: one row a guess.

A guess works and means what it says, or an error names what to write instead. Those on the command line are in
``tests/cli/test_guesses.py``.
"""

from __future__ import annotations

import json
import math
import pickle
import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import captious
from captious.errors import CaptiousError

CANDIDATES = {
    1: "a yellow tram drives over a bridge",
    2: "three goats climb a steep rock",
    3: "a boy with a kite stands on a beach",
    4: "two wooden chairs beside a lamp",
}
REFERENCES = {
    1: ["a yellow tram passes an old bridge", "a tram drives over a bridge in a town"],
    2: ["three goats stand on a steep rock", "some goats climb rocks on a hill"],
    3: ["a boy holds a kite by the sea", "a child with a kite stands on a beach"],
    4: ["two chairs stand beside a lamp", "a lamp lights two wooden chairs"],
}


def bleu_1() -> float:
    """Return BLEU-1 by its definition (Papineni et al. 2002): clipped precision times the brevity penalty."""
    matches = closest_lengths = 0
    for image, candidate in CANDIDATES.items():
        words, references = candidate.split(), [reference.split() for reference in REFERENCES[image]]
        most: Counter[str] = Counter()
        for reference in references:
            most |= Counter(reference)
        matches += (Counter(words) & most).total()
        closest_lengths += min(map(len, references), key=lambda length: (abs(length - len(words)), length))
    n_words = sum(len(candidate.split()) for candidate in CANDIDATES.values())
    return matches / n_words * min(1.0, math.exp(1 - closest_lengths / n_words))


@dataclass(frozen=True)
class Refused:
    """An error of captious with all of these words in its message, place or hint."""

    words: tuple[str, ...]

    def __init__(self, *words: str) -> None:
        object.__setattr__(self, "words", words)


@dataclass(frozen=True)
class Raises:
    """An error of Python, such as TypeError, with these words."""

    error: type[Exception]
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Warned:
    """The call works, and warns with these words."""

    words: tuple[str, ...]

    def __init__(self, *words: str) -> None:
        object.__setattr__(self, "words", words)


IS_TRUE = "True"
#: A call, and what must happen: another expression with the same value, or an error or warning.
GUESSES: Sequence[tuple[str, str | Refused | Raises | Warned]] = [
    # The forms of candidates and references.
    ('float(score(C, R, "bleu-1")["bleu-1"])', "BLEU_1"),
    ('float(score(list(C.values()), list(R.values()), "bleu-1")["bleu-1"])', "BLEU_1"),
    ('float(score(tuple(C.values()), tuple(R.values()), "bleu-1")["bleu-1"])', "BLEU_1"),
    ('float(score(np.array(list(C.values())), list(R.values()), "bleu-1")["bleu-1"])', "BLEU_1"),
    ('float(score(iter(C.values()), list(R.values()), "bleu-1")["bleu-1"])', "BLEU_1"),
    ('float(score(records(C), R, "bleu-1")["bleu-1"])', "BLEU_1"),
    ('float(score(pd.DataFrame(records(C)), R, "bleu-1")["bleu-1"])', "BLEU_1"),
    ('float(score(pd.Series(C), pd.Series(R), "bleu-1")["bleu-1"])', "BLEU_1"),
    ('float(score(pl.DataFrame(records(C)), R, "bleu-1")["bleu-1"])', "BLEU_1"),
    ('float(score(pa.Table.from_pylist(records(C)), R, "bleu-1")["bleu-1"])', "BLEU_1"),
    ('float(score({str(i): c for i, c in C.items()}, R, "bleu-1")["bleu-1"])', "BLEU_1"),
    ('float(score(C, {str(i): r for i, r in R.items()}, "bleu-1")["bleu-1"])', "BLEU_1"),
    ('float(score({np.int64(i): c for i, c in C.items()}, R, "bleu-1")["bleu-1"])', "BLEU_1"),
    ('float(score({i: [c] for i, c in C.items()}, R, "bleu-1")["bleu-1"])', "BLEU_1"),
    ('float(score(str(D / "c.json"), str(D / "r.json"), "bleu-1")["bleu-1"])', "BLEU_1"),
    ('float(score(D / "c.json", D / "r.json", "bleu-1")["bleu-1"])', "BLEU_1"),
    ('float(score(D / "c.csv", D / "r.json", "bleu-1")["bleu-1"])', "BLEU_1"),
    ('float(score(D / "c.txt", list(R.values()), "bleu-1")["bleu-1"])', "BLEU_1"),
    ('float(score(D / "wrapped.json", D / "r.json", "bleu-1")["bleu-1"])', "BLEU_1"),
    ('float(score(CaptionFile(D / "other.csv", columns=COLUMNS), R, "bleu-1")["bleu-1"])', "BLEU_1"),
    ('float(score(CaptionFile(D / "lines.log", format="jsonl"), R, "bleu-1")["bleu-1"])', "BLEU_1"),
    ('float(score(captious.read_captions(C, R), None, "bleu-1")["bleu-1"])', "BLEU_1"),
    ('float(score(C, captious.read_references(R), "bleu-1")["bleu-1"])', "BLEU_1"),
    ('float(score(["a dog"], ["a dog"], "bleu-1")["bleu-1"]) > .99', IS_TRUE),
    ('float(score({"x": "a dog"}, {"x": "a dog"}, "bleu-1")["bleu-1"]) > .99', IS_TRUE),
    ('sorted(score(C, R))[:4]', '["bleu-1", "bleu-2", "bleu-3", "bleu-4"]'),
    # Shapes that cannot be meant.
    ('score("a dog", ["a dog"], "bleu-1")', Refused("a dog", "[")),
    ('score(["c.json", "d.json"], ["r.json", "s.json"], "bleu-1")', Refused("file", "path")),
    ('score(["a.jpg", "b.jpg"], [["a dog"], ["a cat"]], "bleu-1")', Refused("file")),
    ('score({"base": "base.json", "mine": "mine.json"}, R, "bleu-1")', Refused("score_systems")),
    ('score({"base": C, "mine": C}, R, "bleu-1")', Refused("score_systems")),
    ('score({"base": D / "c.json", "mine": D / "c.json"}, R, "bleu-1")', Refused("score_systems")),
    ('score_systems(C, R, "bleu-1")', Refused("score(")),
    ('score_systems([C, C], R, "bleu-1")', Refused("mapping")),
    ('score(C, json.loads((D / "coco.json").read_text()), "bleu-1")', Refused("path")),
    ('score(C, D / "missing.json", "bleu-1")', Refused("missing.json")),
    ('score(C, D / "R.json", "bleu-1")', Refused("did you mean", "r.json")),
    ('score(None, R, "bleu-1")', Refused("None")),
    ('score(b"a dog", R, "bleu-1")', Refused("bytes")),
    ('score(C, None, "bleu-1")', Refused("references")),
    ('score([1, 2, 3, 4], list(R.values()), "bleu-1")', Refused("string")),
    ('score([["a", "dog"]], [["a dog"]], "bleu-1")', Refused("more than one candidate")),
    ('score({**C, 5: "a dog"}, R, "bleu-1")', Refused("no references", 'match="common"')),
    ('score({1: C[1]}, R, "bleu-1")', Refused("no candidate", 'match="common"')),
    ('score({**C, 5: "a dog"}, R, "bleu-1", match="common").n_images', "4"),
    ('score(C, list(R.values()), "bleu-1")', Refused("ids", "position")),
    ('score(["a dog"], [["a dog"], ["a cat"]], "bleu-1")', Refused("1 candidate", "2 images")),
    ('score(C, {i: [] for i in R}, "bleu-1")', Refused("reference")),
    ('score({i: "" for i in C}, R, "bleu-1")', Warned("empty")),
    ('score(C, {i: [""] for i in R}, "bleu-1")', Warned("references", "empty")),
    ('score({i: None for i in C}, R, "bleu-1")', Refused("string")),
    ('score({1: float("nan")}, {1: ["a dog"]}, "bleu-1")', Refused("string")),
    # Arguments in another order.
    ('score("cider-d", C, R)', Refused("takes candidates first, then references, then metrics")),
    ('score(C, "bleu-4", R)', Refused("takes candidates first", "references: 'bleu-4'")),
    ('score(C, "rouge-l")', Refused("takes candidates first", "references: 'rouge-l'")),
    ('score(C, C, R)', Refused("takes candidates first", "score_systems(")),
    ('score(C, R, D / "r.json")', Refused("takes candidates first")),
    ('score_systems({"a": C}, "bleu-4", R)', Refused("takes systems first, then references, then metrics")),
    ('compare("bleu-4", {"a": C, "b": C}, R)', Refused("takes systems first")),
    ('captious.prepare("cider-d", R, path=D / "p.refs")', Refused("takes references first, then metrics")),
    ('reward(R, R)', Refused("takes references first, then metric")),
    ('reward(R, ["bleu-4", "cider-d"])', Refused("give weights: {'bleu-4': 1, 'cider-d': 1}")),
    ('reward(R, {"bleu-4": "1"})', Refused("the weight of bleu-4 is '1'", "a finite number")),
    ('reward(R, {"chair-i": 1, "cider-d": 1})', Refused('"chair-i": -1')),
    ('reward(R, {"cider-d": 10**400})', Refused("the weight of cider-d", "a finite number")),
    ('explain(C[1], "rouge-l", R[1])', Refused("takes candidate first, then references, then metric")),
    ('explain(C[1], R[1], ["rouge-l"])', Refused("one metric")),
    # Ids and captions of rewards.
    ('reward(R, "rouge-l")("12", [C[1], C[2]])', Refused("a str was given instead of a list of image ids")),
    ('reward(R, "rouge-l")({1: 1}, [C[1]])', Refused("a dict was given instead of a list of image ids")),
    ('reward(R, "rouge-l")({1, 2}, [C[1], C[2]])', Refused("a set was given instead of a list of image ids")),
    ('reward(R, "rouge-l")([1], {1: C[1]})', Refused("a dict was given instead of a list of captions")),
    ('reward(R, "rouge-l")([1], {C[1]})', Refused("a set was given instead of a list of captions")),
    ('reward(R, "rouge-l")([1], C[1])', Refused("a str was given instead of a list of captions")),
    ('reward(R, "rouge-l")(1, [C[1]])', Refused("an int was given instead of a list of image ids")),
    # Names of files.
    ('score_systems({"a": ["x.json"]}, R)', Refused("'a'", "give the path itself: {'a': 'x.json'}")),
    ('compare({"a": ["x.json"], "b": C}, R)', Refused("'a'", "give the path itself: {'a': 'x.json'}")),
    ('score(C, [D / "r.json"])', Refused("names of files", "path of one file")),
    ('score({1: "photo_1.jpg"}, {1: ["a dog"]}, "bleu-1")', Refused("are these captions?")),
    ('score({1: "https://a.b/1"}, {1: ["a dog"]}, "bleu-1")', Warned("a file name, an address")),
    # Values of another type.
    ('score(C, R, "bleu-1", ids=["integer", "stem"])', Refused("ids is ['integer', 'stem']", "'stem'")),
    ('score(C, R, "bleu-1", clean=True)', Refused("clean is True", "markdown")),
    ('score(C, R, b"bleu-4")', Refused("b'bleu-4' is not a metric")),
    ('CaptionFile(D / "c.json", columns=["image_id"])', Refused("['image_id']", '"id": NAME')),
    ('CaptionFile([D / "c.json"])', Refused("not the path of a file", "one path")),
    ('CaptionFile(D / "c.json", "coco")', Raises(TypeError, ("takes path, the rest by name", "layout="))),
    ('CaptionFile(D / "c.json", columns={"image_id": "img"})', Refused("write id for the column of ids")),
    ('reward(R, "rouge-l")([1], [[{"role": "assistant"}]])', Refused("no answer of the assistant")),
    ('reward(R, "rouge-l")([1], CHAT)', Refused("a chat is a list of messages")),
    ('reward(R, "rouge-l")([1], [1])', Refused("a caption is an int")),
    ('explain(C[1], None, "rouge-l")', Refused("are None")),
    ('score(list(C.items()), R, "bleu-1")', Refused("pairs of ids and captions", "{id: caption}")),
    ('score(pd.DataFrame(records(C)).values, R, "bleu-1")', Refused("pairs of ids and captions", "{id: caption}")),
    ('score(pd.DataFrame(records(C)).to_dict(), R, "bleu-1")', Refused("these are columns", "the data frame itself")),
    ('float(score(pd.DataFrame(records(C)).set_index("image_id"), R, "bleu-1")["bleu-1"])', "BLEU_1"),
    ('score(pd.DataFrame(records(C)).astype({"image_id": float}), R, "bleu-1")', Refused(".astype(int)")),
    ('score(["a dog runs"], ["a dog", "the dog runs"])', Refused("[['a dog', 'the dog runs']]")),
    ('score(C, R, [])', Refused("captious.list_metrics()")),
    ('score({i: [c, c] for i, c in C.items()}, R)', Refused("? score and compare take several")),
    ('score(5, R)', Refused("a path                 of a file, also in place of what json.load returned")),
    # Ids.
    ('score(PADDED, R, "bleu-1")', Refused('ids="integer"')),
    ('float(score(PADDED, R, "bleu-1", ids="integer")["bleu-1"])', "BLEU_1"),
    ('score(FILE_NAMES, R, "bleu-1")', Refused('ids="stem"')),
    ('float(score(FILE_NAMES, R, "bleu-1", ids="stem")["bleu-1"])', "BLEU_1"),
    ('score({float(i): c for i, c in C.items()}, R, "bleu-1")', Refused("integer")),
    ('score({f"{i} ": c for i, c in C.items()}, R, "bleu-1")', Refused('ids="integer"')),
    ('score({"cafe\\u0301": "a dog"}, {"caf\\u00e9": ["a dog"]}, "bleu-1")', Refused('ids="composed"')),
    ('score({"a.jpg": "a dog", "b/a.jpg": "a cat"}, {"a": ["a"]}, "bleu-1", ids="stem")', Refused("a.jpg", "b/a.jpg")),
    ('score(C, R, "bleu-1", ids="basename")', Refused("ids", "stem")),
    # Names of metrics.
    ('float(score(C, R, "BLEU-1")["bleu-1"])', "BLEU_1"),
    ('float(score(C, R, ["bleu-1", "rouge-l"])["bleu-1"])', "BLEU_1"),
    ('float(score(C, R, ("bleu-1",))["bleu-1"])', "BLEU_1"),
    ('float(score(C, R, captious.Bleu())["bleu-1"])', "BLEU_1"),
    ('list(score(C, R, "bleu"))', '["bleu-1", "bleu-2", "bleu-3", "bleu-4"]'),
    ('float(next(iter(score(C, R, exact).values())))', "0.0"),
    ('score(C, R, "blue-4")', Refused("bleu-4")),
    ('score(C, R, "bleu4")', Refused("bleu-4")),
    ('float(score(C, R, "Bleu_4")["bleu-4"])', 'float(score(C, R, "bleu-4")["bleu-4"])'),
    ('score(C, R, "rouge")', Refused("rouge-l")),
    ('score(C, R, "hallucination")', Refused("chair")),
    ('score(C, R, "bertscore-f1")', Refused("bertscore")),
    ('score(C, R, "captious")', Refused("concur")),
    ('score(C, R, "cider")', Warned("cider-d")),
    ('score(C, R, [])', Refused("metric")),
    ('score(C, R, 4)', Refused("metric")),
    ('score(C, R, "bleu-4,meteor")', Refused("[")),
    # Keywords that other libraries have.
    ('score(C, refs=R)', Raises(TypeError, ("references",))),
    ('score(preds=C, target=R)', Raises(TypeError, ("candidates",))),
    ('score(C, R, "cider-d", idf="coco")', Raises(TypeError, ("settings=", "idf"))),
    ('captious.Settings(endpoint="http://localhost:8000/v1")', Raises(TypeError, ("ChatModel", "judge"))),
    ('score(C, R, "bleu-1", split="test")', Raises(TypeError, ("CaptionFile",))),
    ('score(C, R, "bleu-1", columns={"id": "key"})', Raises(TypeError, ("CaptionFile",))),
    ('score(C, R, "bleu-1", subset=True)', Raises(TypeError, ('match="common"',))),
    ('score(C, R, "bleu-1", n_jobs=4)', Raises(TypeError, ("threads",))),
    ('score(C, R, "bleu-1", of_k="best")', Raises(TypeError, ("several",))),
    ('score(C, R, "bleu-1", names=["mine"])', Raises(TypeError, ("system",))),
    ('score(C, R, metric="bleu-1")', Raises(TypeError, ("metrics",))),
    ('score(C, R, "bleu-1", frobnicate=1)', Raises(TypeError, ("frobnicate",))),
    ('score(C, R, "bleu-1", match="some")', Refused("match", "common")),
    ('score(C, R, "bleu-1", several=True)', Refused("several", "mean", "best")),
    ('score(C, R, "bleu-1", clean="markdwon")', Refused("markdown")),
    ('score(C, R, "cider-d", ci=True)', Raises(TypeError, ("confidence_interval", "intervals=True"))),
    ('score(C, R, "cider-d", confidence=.9)', Raises(TypeError, ("confidence_interval",))),
    ('score(C, R, "cider-d", seed=1)', Raises(TypeError, ("confidence_interval",))),
    ('score(C, R, "cider-d", resamples=10)', Raises(TypeError, ("confidence_interval",))),
    ('score(C, R, "cider-d", device="cuda")', Raises(TypeError, ("captious.Encoder",))),
    ('score(C, R, "cider-d", percent=True)', Raises(TypeError, ("to_markdown(percent=",))),
    ('score(C, R, "cider-d", naming="paper")', Raises(TypeError, ("naming=",))),
    ('score(C, R, "cider-d", weights=[1])', Raises(TypeError, ("captious.reward",))),
    ('compare({"a": C, "b": C}, R, "bleu-1", alpha=.05)', Raises(TypeError, ("level=..., which is 1 - alpha",))),
    ('captious.read_captions(C, refs=R)', Raises(TypeError, ("references=...",))),
    ('captious.read_captions(C, R, columns={"id": "key"})', Raises(TypeError, ("CaptionFile",))),
    ('captious.read_references(R, columns={"id": "key"})', Raises(TypeError, ("CaptionFile",))),
    ('captious.Settings(lang="de")', Raises(TypeError, ("Settings() has no parameter", "language=..."))),
    ('captious.metric_info("bleu-4", idf="coco")', Raises(TypeError, ("captious.Settings(idf=",))),
    ('captious.Bleu().score(C, refs=R)', Raises(TypeError, ("score() has", "references=..."))),
    ('captious.Stream("bleu-4", idf="coco")', Raises(TypeError, ("Stream() has", "captious.Settings(idf="))),
    ('captious.Stream(metric="bleu-4")', Raises(TypeError, ("metrics=...",))),
    ('reward(R, "rouge-l")(ids=[1], captions=[C[1]])', Raises(TypeError, ("reward() has", "image_ids=..."))),
    ('reward(R, "rouge-l", ids=[1])', Raises(TypeError, ("unexpected keyword argument 'ids'",))),
    ('reward(R, "rouge-l")([1], candidates=[C[1]])', Raises(TypeError, ("captions=...",))),
    # Several candidates of an image.
    ('float(score(TWICE, R, "rouge-l", several="mean")["rouge-l"])', 'float(score(C, R, "rouge-l")["rouge-l"])'),
    ('score(TWICE, R, "rouge-l")', Refused("more than one candidate", 'several="mean"')),
    ('score(TWICE, R, "div-1")', Refused("several")),
    ('len(score(TWICE, R, "rouge-l", several=("mean", "best")))', "2"),
    # Results.
    ('round(score(C, R, "bleu-1")["bleu-1"], 4)', "round(BLEU_1, 4)"),
    ('score(C, R, "bleu-1")["bleu-1"] > .3', IS_TRUE),
    ('score(C, R, "bleu-1")["bleu-1"] < score(C, R, "bleu-1")["bleu-1"]', Raises(TypeError, ("compare",))),
    ('f"{score(C, R, \'bleu-1\')[\'bleu-1\']:.4f}"', 'f"{BLEU_1:.4f}"'),
    ('score(C, R, "bleu-1")["bleu-1"] == score(C, R, "bleu-1")["bleu-1"]', IS_TRUE),
    ('again(score(C, R, "bleu-1")) == score(C, R, "bleu-1")', IS_TRUE),
    ('list(score(C, R, "bleu-1")["bleu-1"].by_image)', "[1, 2, 3, 4]"),
    ('score(C, R, "bleu-1")["bleu-1"].by_image["1"]', 'score(C, R, "bleu-1")["bleu-1"].by_image[1]'),
    ('list(score(C, R, "bleu").metrics)', '["bleu-1", "bleu-2", "bleu-3", "bleu-4"]'),
    ('float(score(C, R, "bleu-1")["Bleu_1"])', "BLEU_1"),
    ('"Bleu_1" in score(C, R, "bleu-1")', IS_TRUE),
    ('score(C, R, "bleu")["bleu"]', Refused("bleu-1", "bleu-4")),
    ('"bleu" in score(C, R, "bleu")', "False"),
    ('score(C, R, "bleu-1")["meteor"]', Refused("bleu-1")),
    ('score(C, R, "bleu-1")["nothing"]', Raises(KeyError)),
    ('list(score(C, R, "bleu-1").to_pandas()["id"])', "[1, 2, 3, 4]"),
    ('json.loads(score(C, R, "bleu-1").to_json())["metrics"]["bleu-1"]["score"]', "BLEU_1"),
    ('score(C, R, "bleu-1").worst("bleu-1", 2)[0] in C', IS_TRUE),
    ('len(score(C, R, "rouge-l")["rouge-l"].confidence_interval())', "2"),
    ('score(C, R, "rouge-l").explain("rouge-l", 1).to_html().strip()[:1]', '"<"'),
    ('float(score_systems({"base": C, "mine": C}, R, "bleu-1")["mine"]["bleu-1"])', "BLEU_1"),
    ('score_systems({"base": C, "mine": C}, R, "bleu-1")["bleu-1"]', Refused("base", "mine")),
    # Comparisons.
    ('float(compare({"base": C, "mine": C}, R, "bleu-1")["bleu-1"].difference)', "0.0"),
    ('float(compare(score_systems({"base": C, "mine": C}, R, "bleu-1"))["bleu-1"].difference)', "0.0"),
    ('float(compare({"a": C, "b": C, "c": C}, R, "bleu-1")["bleu-1", "a", "c"].difference)', "0.0"),
    ('compare({"a": C, "b": C, "c": C}, R, "bleu-1")["bleu-1"]', Refused("a", "c")),
    ('compare(C, C, R, "bleu-1")', Raises(TypeError, ("systems, references",))),
    ('compare({"mine": C}, R, "bleu-1")', Refused("1 system", "2")),
    ('compare(score(C, R, "bleu-1"), score(C, R, "bleu-1"))', Refused("by name", "compare({")),
    # Rewards.
    ('reward(R, "rouge-l")([1], [C[1]])[0]', 'score(C, R, "rouge-l")["rouge-l"].by_image[1]'),
    ('reward("cider-d", R)', Refused("references", "first")),
    ('score(C, R, "rouge-l")["rouge-l"].by_image[99]', Raises(KeyError, ("no image 99 among 4 images",))),
    ('reward(R, "CIDEr")', Warned("cider-d")),
    ('reward(R, "rouge-n")', Refused("rouge-1", "rouge-4")),
    ('reward(R, "bleu")', Refused("bleu-1", "bleu-4")),
    ('reward(R, "rouge-l")([1, 1], [["a red bus", "a bus"]])', Refused("id")),
    ('reward(R, "rouge-l")([1], [["a red bus", "a bus"]])', Refused("[")),
    ('reward(R, "rouge-l")([1], [["a", "red", "bus"]])[0] == reward(R, "rouge-l")([1], ["a red bus"])[0]', IS_TRUE),
    ('reward(R, "rouge-l")([1], [CHAT])[0] == reward(R, "rouge-l")([1], [C[1]])[0]', IS_TRUE),
    ('reward(R, "rouge-l")(["1"], [C[1]])[0] == reward(R, "rouge-l")([1], [C[1]])[0]', IS_TRUE),
    ('reward(R, "rouge-l")([9], ["a dog"])', Refused("9", "no references")),
    ('reward(R, {"rouge-l": 1, "bleu-4": .5})([1], [C[1]])[0] > reward(R, "rouge-l")([1], [C[1]])[0]', IS_TRUE),
    ('reward(R, {"length": 1})([1], [C[1]])', Refused("direction")),
    ('type(reward(R, "rouge-l").trl()(prompts=[""], completions=[C[1]], image_id=[1])[0])', "float"),
    ('reward(R, "rouge-l").trl()(prompts=[""], completions=[C[1]])', Refused("image_id")),
    ('reward({1: ["a dog", "a dog"]}, "cider-d")', Warned("0")),
    # Explanations, judgments, checks, metrics.
    ('"tram" in explain(C[1], R[1], "rouge-l").to_text()', IS_TRUE),
    ('"tram" in explain(C[1], R[1][0], "rouge-l").to_text()', IS_TRUE),
    ('explain("rouge-l", C[1], R[1])', Refused("candidate", "references", "metric")),
    ('explain(C[1], R[1], "cider-d")', Refused("idf")),
    ('explain(C, R, "rouge-l")', Refused("report.explain")),
    ('judge("rouge-l", "flickr8k-expert")', Refused("benchmarks")),
    ('judge("flickr8k", "rouge-l")', Refused("expert", "cf")),
    ('len(check(C).warnings)', "0"),
    ('any("Markdown" in str(warning) for warning in check({i: f"**{c}**" for i, c in C.items()}).warnings)', IS_TRUE),
    ('"bleu-4" in [output for metric in captious.list_metrics() for output in metric.outputs]', IS_TRUE),
    ('captious.metric_info("bleu-4").lower_is_better["bleu-4"]', "False"),
    ('captious.metric_info("blue-4")', Refused("bleu-4")),
    ('float(captious.CiderD(idf="coco").score(C, R)) > 0', IS_TRUE),
    ('len(captious.prepare(R, "bleu-1", path=D / "prepared.refs"))', "4"),
    ('captious.prepare(R, D / "prepared.refs")', Refused("path=")),
]  # fmt: skip


def exact(candidate: str, references: Sequence[str]) -> float:
    """Return whether a candidate is one of its references."""
    return float(candidate in references)


def records(captions: Mapping[int, str]) -> list[dict[str, object]]:
    """Return captions in the form of COCO's results."""
    return [{"image_id": image, "caption": caption} for image, caption in captions.items()]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The names that the guesses use; D is a folder with the captions in files."""
    folder = tmp_path_factory.mktemp("captions")
    (folder / "c.json").write_text(json.dumps(records(CANDIDATES)))
    (folder / "r.json").write_text(json.dumps(REFERENCES))
    (folder / "wrapped.json").write_text(json.dumps({"model": "mine", "predictions": records(CANDIDATES)}))
    rows = [f"{image},{caption}\n" for image, caption in CANDIDATES.items()]
    (folder / "c.csv").write_text("image_id,caption\n" + "".join(rows))
    (folder / "other.csv").write_text("key,text\n" + "".join(rows))
    (folder / "c.txt").write_text("".join(f"{caption}\n" for caption in CANDIDATES.values()))
    (folder / "lines.log").write_text("".join(json.dumps(record) + "\n" for record in records(CANDIDATES)))
    annotations = [{"id": 9, "image_id": image, "caption": one} for image, many in REFERENCES.items() for one in many]
    images = [{"id": image} for image in REFERENCES]
    (folder / "coco.json").write_text(json.dumps({"images": images, "annotations": annotations}))
    return {
        "C": CANDIDATES,
        "TWICE": {image: [caption, caption] for image, caption in CANDIDATES.items()},
        "PADDED": {f"{image:012}": caption for image, caption in CANDIDATES.items()},
        "FILE_NAMES": {f"photos/{image}.jpg": caption for image, caption in CANDIDATES.items()},
        "COLUMNS": {"id": "key", "caption": "text"},
        "CHAT": [{"role": "assistant", "content": CANDIDATES[1]}],
        "R": REFERENCES,
        "D": folder,
        "BLEU_1": bleu_1(),
        "np": np,
        "pd": pytest.importorskip("pandas"),
        "pl": pytest.importorskip("polars"),
        "pa": pytest.importorskip("pyarrow"),
        "json": json,
        "again": lambda value: pickle.loads(pickle.dumps(value)),
        "exact": exact,
        "records": records,
        "captious": captious,
        "CaptionFile": captious.CaptionFile,
    } | {name: getattr(captious, name) for name in FUNCTIONS}


FUNCTIONS = ("score", "score_systems", "compare", "reward", "explain", "judge", "check")


@pytest.mark.parametrize(("guess", "expected"), GUESSES, ids=[guess for guess, _ in GUESSES])
def test_a_guess_works_or_is_answered(
    guess: str, expected: str | Refused | Raises | Warned, names: dict[str, Any]
) -> None:
    captious.evaluation.checks.issued.clear()
    if isinstance(expected, Refused):
        with pytest.raises(CaptiousError) as refused, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            eval(guess, names)
        assert all(word in str(refused.value) for word in expected.words), str(refused.value)
        assert not re.search(r"(^|[\s(])--[a-z]", str(refused.value)), "the dialect of the command line"
    elif isinstance(expected, Raises):
        with pytest.raises(expected.error) as raised:
            eval(guess, names)
        assert all(word in str(raised.value) for word in expected.words), str(raised.value)
    elif isinstance(expected, Warned):
        with warnings.catch_warnings(record=True) as issued:
            warnings.simplefilter("always")
            eval(guess, names)
        text = "\n".join(str(warning.message) for warning in issued)
        assert all(word in text for word in expected.words), text
        assert not re.search(r"(^|[\s(])--[a-z]", text), "the dialect of the command line"
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value, right = eval(guess, names), eval(expected, names)
            assert value == (pytest.approx(right, abs=1e-9) if isinstance(right, float) else right)


def test_there_are_as_many_guesses_as_were_tried() -> None:
    assert len({guess for guess, _ in GUESSES}) >= 98
