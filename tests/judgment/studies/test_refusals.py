"""Studies of what they cannot study: the errors, as they are recorded."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from captious.errors import CaptiousError
from captious.judgment import studies
from captious.metrics.length import Length
from tests.golden.command_line import clean
from tests.golden.outcomes import LIBRARIES, refusal
from tests.golden.record import Record
from tests.support.judgments import write_jsonl

FOUR: Any = {i: [f"a dog runs on road {i}", f"the dog {i}", f"a {i} dog", f"dog {i}"] for i in range(6)}
ONE: Any = {"a": ["one"], "b": ["two"]}
TWO: Any = {"a": ["one", "two"], "b": ["three"]}
SYSTEMS: Any = {name: {i: f"{name} dog {i}" for i in FOUR} for name in ("good", "fair", "poor")}
PAIR: Any = {name: SYSTEMS[name] for name in ("good", "poor")}
PEOPLE: Any = {"people": SYSTEMS["good"]}
HUMAN = {"good": 0.9, "fair": 0.5, "poor": 0.2}


def never(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
    return [0.0] * len(candidates)


def asked(study: Callable[..., Any], *arguments: Any, **usual: Any) -> Callable[..., Callable[[Path], Any]]:
    """Return a function that asks for a study with some options; "{rated}" and other files stand for their paths."""

    def with_options(**options: Any) -> Callable[[Path], Any]:
        def ask(folder: Path) -> Any:
            given = [
                folder / value[1:-1] if str(value).startswith("{") and isinstance(value, str) else value
                for value in arguments
            ]
            named = {k: folder / v[1:-1] if isinstance(v, str) and v.startswith("{") else v for k, v in options.items()}
            return study(*given, **{**usual, **named})

        return ask

    return with_options


agreement, robust = asked(studies.human_agreement, metrics=never), asked(studies.robustness, FOUR, metrics="bleu-1")
counted = asked(studies.reference_counts, "{rated.jsonl}", "rouge-l")
words, systems = asked(studies.word_agreement), asked(studies.system_correlations, references=FOUR, metrics="rouge-l")
failures = asked(studies.critical_failures, references=FOUR, metrics="bleu-1", human=HUMAN, evaluator="rouge-l")
distributions = asked(studies.score_distributions, references=FOUR, metrics="rouge-l", resamples=5)
frequencies, sentences = asked(studies.word_frequencies, references=FOUR), asked(studies.sentence_scores)
timing = asked(studies.scoring_time, ["a cat"], [["the cat"]])
REFUSED: dict[str, dict[str, Callable[[Path], Any]]] = {
    "human agreement": {
        "single captions": agreement(references=ONE),
        "one image with two": agreement(references=TWO),
        **{
            f"{name} {value}": agreement(references=FOUR, **{name: value})
            for name, value in (
                ("counts", 4),
                ("counts", [1, 0]),
                ("place", 4),
                ("place", -1),
                ("resamples", 0),
                ("seed", -1),
            )
        },
    },
    "robustness": {
        **{f"strengths {some}": robust(strengths=some) for some in ([0.5, 1.5], [-0.5], [0])},
        "one image": robust(sample=1),
        "no resamples": robust(resamples=0),
        "scores of 0": robust(metrics=never, strengths=[1.0]),
        "single references": asked(studies.robustness, ONE, metrics="bleu-1")(),
    },
    "numbers of references": {
        f"{name} {value}": counted(**{name: value})
        for name, value in (("counts", [0]), ("counts", [2, 6]), ("draws", 0), ("resamples", 0), ("seed", -1))
    },
    "agreement on words": {
        **{
            f"{name} {value}": words(references={0: ["a", "b", "c"]}, **{name: value})
            for name, value in (("n_words", 0), ("k", 3), ("k", 0), ("seed", -1))
        },
        "no words": words(references={0: ["", ".", "!"]}),
        "no noun": words(references={0: ["cat"] * 3}, tagger=lambda captions: [["NOUN"] * len(c) for c in captions]),
    },
    "systems": {
        "two": systems(systems=PAIR),
        "human scores of two": systems(systems=SYSTEMS, human={"good": 1, "fair": 2}),
        "measure of a metric's name": systems(systems=SYSTEMS, human={"rouge-l": HUMAN}),
        "unknown statistic": systems(systems=SYSTEMS, statistic="tau"),
        **{
            name: systems(systems=SYSTEMS, human=f"{{{name}}}")
            for name in ("none.json", "list.json", "text.json", "empty.json", "word.json", "null.json")
        },
    },
    "failures": {
        "two": failures(systems=PAIR),
        "several measures": failures(systems=SYSTEMS, human={"m1": HUMAN, "m2": HUMAN}),
        "human scores of two": failures(systems=SYSTEMS, human={"good": 1, "fair": 2}),
    },
    "distributions": {
        "no systems": distributions(systems={}),
        "people": distributions(systems=PEOPLE),
        "one image": distributions(systems=SYSTEMS, sample=1),
        "one caption": distributions(systems={"good": {0: "a dog"}}, match="common"),
    },
    "frequencies": {
        "no systems": frequencies(systems={}),
        "people": frequencies(systems=PEOPLE),
        "no words": frequencies(systems=PAIR, n_words=0),
    },
    "sentences": {
        "none": sentences(systems={}, metrics=[Length()]),
        "one": sentences(systems={"one": {1: "a dog"}}, metrics=[Length()]),
        "of a metric with references": sentences(systems=PAIR, metrics="bleu-1"),
    },
    "time": {"no repeats": timing(metrics="bleu-1", repeats=0), "no metric": timing(metrics=[])},
    "rules": {"people": asked(studies.collection_rules, FOUR)(systems=PEOPLE)},
    "correlations of metrics": {
        "accuracy": asked(studies.metric_correlations, "{rated.jsonl}", ["bleu-1"])(statistic="accuracy")
    },
    "items": {"unknown": asked(studies.item_scores, "{rated.jsonl}", ["1", "w"], "bleu-1")()},
}


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
@pytest.mark.parametrize("study", REFUSED)
def test_studies_are_refused_as_recorded(study: str, record: Record, tmp_path: Path) -> None:
    lines = [{"candidate": f"a dog {i}", "references": FOUR[i], "rating": i % 4, "image": i} for i in FOUR]
    write_jsonl(tmp_path, "rated.jsonl", lines)
    human = {"list": "[1, 2]", "text": "not json", "empty": "{}"}
    human |= {"word": json.dumps({**HUMAN, "fair": "good"}), "null": json.dumps({**HUMAN, "fair": None})}
    for name, content in human.items():
        (tmp_path / f"{name}.json").write_text(content)
    found = {}
    for name, ask in REFUSED[study].items():
        with pytest.raises(CaptiousError) as caught:
            ask(tmp_path)
        found[name] = refusal(caught.value)
    record(f"refusals/{study}", clean(found, {str(tmp_path): "FOLDER"}, LIBRARIES))
