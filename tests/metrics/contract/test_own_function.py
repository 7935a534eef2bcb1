"""Functions of users as metrics, through every door."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious.errors import ParameterError, UnknownNameError
from captious.metrics.contract.functions import FunctionMetric, function_in_file
from captious.metrics.contract.registry import names_a_file

REFERENCES = {1: ["a dog runs", "the dog"], 2: ["a cat sits"]}
GOOD = {1: "a dog is here", 2: "a cat"}
POOR = {1: "cars", 2: "a bus"}


def overlap(candidate: str, references: Sequence[str]) -> float:
    known = " ".join(references).split()
    return sum(word in known for word in candidate.split()) / len(candidate.split())


def overlaps(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
    return [overlap(*pair) for pair in zip(candidates, references, strict=True)]


def unannotated(cand, refs):  # type: ignore[no-untyped-def]
    return overlap(cand, refs)


@pytest.mark.parametrize("function", [overlap, overlaps, unannotated])
def test_user_function_is_scored_compared_and_judged(function: Callable[..., Any]) -> None:
    name = function.__name__
    report = captious.score(GOOD, REFERENCES, [function, "rouge-l"])
    assert report[name].per_caption.tolist() == [0.5, 1.0]
    assert report[name].score == 0.75
    assert captious.score(GOOD, REFERENCES, function)[name].score == 0.75
    with pytest.warns(captious.CaptiousWarning):
        compared = captious.compare({"a": POOR, "b": GOOD}, REFERENCES, function, resamples=9)
    assert compared[name].difference == 0.5
    assert captious.reward(REFERENCES, function)([2, 1], ["a cat", "a bus"]).tolist() == [1.0, 0.5]


def test_annotations_that_say_nothing_leave_the_choice_to_the_name() -> None:
    def of_one(candidate: Any, references: Any) -> float:
        return overlap(candidate, references)

    def of_optional(candidate: str | None, references: list[str]) -> float:
        return overlap(candidate or "", references)

    def of_unknown(candidate: Caption, references: References) -> float:  # type: ignore[name-defined] # noqa: F821
        return overlap(candidate, references)

    def of_all(candidates: Any, references: Any) -> list[float]:
        return overlaps(candidates, references)

    def of_texts(lines: list[str], references: list[list[str]]) -> list[float]:
        return overlaps(lines, references)

    report = captious.score(GOOD, REFERENCES, [of_one, of_optional, of_unknown, of_all, of_texts])
    assert all(result.per_caption.tolist() == [0.5, 1.0] for result in report.values())


def test_judgment_of_a_function_is_plotted(tmp_path: Path) -> None:
    rows = [
        {"candidate": text, "references": ["a dog runs fast"], "rating": rating}
        for rating, text in enumerate(["bus", "a cat", "a dog runs"])
    ]
    (tmp_path / "own.jsonl").write_text("\n".join(map(json.dumps, rows)))
    judgment = captious.judge(tmp_path / "own.jsonl", [overlap, "rouge-l"])
    assert [*judgment["own"].agreements] == ["overlap", "rouge-l"]
    pytest.importorskip("matplotlib")
    (axes,) = judgment.plot().axes
    assert {label.get_text() for label in axes.get_yticklabels()} == {"overlap", "rouge-l"}


def test_the_signature_has_a_hash_of_the_source() -> None:
    def signature(function: Callable[..., Any]) -> str:
        return FunctionMetric(function).signatures()[0]

    assert signature(overlap).startswith("overlap|function:")
    assert signature(overlap) == signature(overlap)
    assert signature(overlap).split("|")[1] != signature(overlaps).split("|")[1]
    scope: dict[str, Any] = {}
    exec("def made(candidate, references):\n    return 1.0\n", scope)
    other: dict[str, Any] = {}
    exec("def made(candidate, references):\n    return len(candidate)\n", other)
    assert signature(scope["made"]) != signature(other["made"])


def constant(candidate: str, references: object, value: float = 1.0) -> float:
    return value


def twice(candidate: str, references: object, value: float = 1.0) -> float:
    return 2 * value


def closure(value: object) -> Callable[..., float]:
    def enclosed(candidate: str, references: object) -> float:
        return float(value == 1)

    return enclosed


class Constant:
    def __init__(self, value: object) -> None:
        self.value = value

    def __call__(self, candidate: str, references: object) -> float:
        return float(self.value == 1)

    def method(self, candidate: str, references: object) -> float:
        return float(self.value == 1)


class Compiled:
    __slots__ = ("value",)


@pytest.mark.parametrize(
    "make",
    [
        lambda value: partial(constant, value=value),
        closure,
        Constant,
        lambda value: Constant(value).method,
        lambda value: Constant(np.full(3000, value)),
        lambda value: closure(Constant([{"value": value}])),
        lambda value: closure(re.compile(f"{value}")),
    ],
)
def test_functions_with_other_values_have_other_signatures(make: Callable[[int], Callable[..., Any]]) -> None:
    first, same, other = (FunctionMetric(make(value)).signatures() for value in (1, 1, 2))
    assert first == same != other


def test_partials_are_called_as_their_functions() -> None:
    report = captious.score(GOOD, REFERENCES, [partial(constant, value=3.0), partial(partial(twice), value=3.0)])
    assert {name: result.score for name, result in report.items()} == {"constant": 3.0, "twice": 6.0}


def test_constants_of_functions_without_source_count() -> None:
    hashes = set()
    for value in (1.0, 2.0):
        scope: dict[str, Any] = {}
        exec(f"def made(candidate, references):\n    return {value}\n", scope)
        hashes.add(FunctionMetric(scope["made"]).signatures())
    assert len(hashes) == 2


def test_function_name_must_fit_a_signature() -> None:
    function = closure(Compiled())
    with pytest.raises(ParameterError, match="enclosed uses a Compiled, whose content its signature cannot show"):
        captious.score(GOOD, REFERENCES, function)
    function.name = "compiled-2"  # type: ignore[attr-defined]
    assert captious.score(GOOD, REFERENCES, function)["compiled-2"].signature.startswith("compiled-2|function:")
    function.name = "a|b"  # type: ignore[attr-defined]
    with pytest.raises(ParameterError, match="cannot name a metric"):
        FunctionMetric(function)


def words_are_one_candidate(words, references):  # type: ignore[no-untyped-def]
    return len(words.split())


def test_a_function_cannot_take_the_name_of_a_metric() -> None:
    def meteor(candidate: str, references: Sequence[str]) -> float:
        return 0.0

    with pytest.raises(ParameterError, match="the name meteor is taken"):
        captious.score(GOOD, REFERENCES, [meteor, "rouge-l"])


def test_a_function_says_that_lower_is_better() -> None:
    def missed(candidate: str, references: Sequence[str]) -> float:
        return 1 - overlap(candidate, references)

    def table() -> str:
        return captious.score_systems({"a": POOR, "b": GOOD}, REFERENCES, [missed]).to_markdown()

    assert "**.7500**" in table()
    missed.lower_is_better = True  # type: ignore[attr-defined]
    assert "**.2500**" in table()
    missed.lower_is_better = ["missed"]  # type: ignore[attr-defined]
    with pytest.raises(ParameterError, match="as lower_is_better") as caught:
        captious.score(GOOD, REFERENCES, missed)
    assert caught.value.hint == "give True or False"


def test_a_name_that_ends_in_s_is_not_a_plural() -> None:
    assert captious.score(GOOD, REFERENCES, words_are_one_candidate).candidates == ("a dog is here", "a cat")


def empty(candidate: str, references: object) -> None: ...
def not_a_number(candidate: str, references: object) -> float:
    return float("nan") if candidate == "a cat" else 1.0


def too_many(candidate: str, references: object) -> list[float]:
    return [1.0, 2.0]


def too_few(candidates: object, references: object) -> list[float]:
    return [1.0]


def mistaken(candidates, references):  # type: ignore[no-untyped-def]
    return candidates.split()


def of_reference(references: list[str], text: str, weight: float = 1.0) -> float:
    return weight


def of_hypothesis(text: list[str], hypothesis: str) -> float:
    return 0.0


def of_lists(gold: list[list[str]], predictions: list[str]) -> list[float]:
    return [0.0] * len(gold)


def huge(candidate: str, references: object) -> int:
    return 10**400


@pytest.mark.parametrize(
    ("function", "message", "help"),
    [
        (empty, "empty returned nothing", "returns one number"),
        (not_a_number, r"1 of 2 captions a score that is not finite", "such as 0"),
        (too_many, "2 scores for one caption", "call its first parameter candidates"),
        (too_few, "1 score for 2 items", "call its first parameter candidate"),
        (mistaken, "AttributeError: 'list' object has no attribute 'split'", "list of candidates"),
        (lambda candidate, references: 1.0, "needs a name", "def"),
        (len, "cannot be called with candidates and references", "two parameters"),
        (of_reference, "of_reference takes references and text", "def NAME(candidate, references): return of_ref"),
        (of_hypothesis, "of_hypothesis takes text and hypothesis", "return of_hypothesis(references, candidate)"),
        (of_lists, "of_lists takes gold and predictions", "def NAME(candidates, references): return of_lists("),
        (partial(of_reference, weight=2.0), "of_reference takes references and text", "def NAME("),
        (huge, "the scores of huge are not numbers: int too large", "returns one number"),
    ],
)
def test_wrong_shapes_get_our_error(function: Callable[..., Any], message: str, help: str) -> None:
    with pytest.raises(ParameterError, match=message) as caught:
        captious.score(GOOD, REFERENCES, [function])
    assert help in caught.value.hint


def of_length(candidate: str, references: object) -> float:
    return 1 / len(candidate)


def test_caption_that_a_function_fails_for_is_named() -> None:
    reward = captious.reward({7: ["a dog"]}, of_length)
    with pytest.raises(ParameterError, match="of_length failed: ZeroDivisionError") as caught:
        reward([7, 7, 7], ["a dog", "", "ab"])
    assert caught.value.where.endswith(": for ''")
    assert caught.value.hint == "correct it: it must return a number for every caption, such as 0"


class TestFiles:
    def test_function_is_loaded_from_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "helper.py").write_text("BONUS = 1.0\n")
        (tmp_path / "mine.py").write_text(
            "from helper import BONUS\ndef bonus(candidate, references):\n    return BONUS\n"
        )
        function = function_in_file(f"{tmp_path}/mine.py:bonus")
        assert captious.score(GOOD, REFERENCES, function)["bonus"].score == 1.0

    @pytest.mark.parametrize(
        "using",
        [
            "from {0} import weight\ndef bonus(c, r):\n    return weight(c)",
            "import {0}\ndef bonus(c, r):\n    return {0}.weight(c)",
            "from {0} import Weight\ndef bonus(c, r):\n    return Weight().of(c)",
            "import {0}\ndef bonus(c, r):\n    return {0}.FACTOR",
            "import {0}\ndef bonus(c, r):\n    return {0}.other()",
        ],
    )
    def test_modules_beside_the_file_are_part_of_the_signature(self, tmp_path: Path, using: str) -> None:
        hashes = []
        for folder, factor in [("first", 1), ("same", 1), ("other", 2)]:
            (tmp_path / folder).mkdir()
            (tmp_path / folder / "beside.py").write_text(
                f"FACTOR = {factor}\ndef weight(c):\n    return {factor}\ndef other():\n    return weight('')\n"
                f"class Weight:\n    def of(self, c):\n        return {factor}\n"
            )
            (tmp_path / folder / "mine.py").write_text(f"{using.format('beside')}\n")
            sys.modules.pop("beside", None)
            hashes.append(FunctionMetric(function_in_file(f"{tmp_path}/{folder}/mine.py:bonus")).hash)
        first, same, other = hashes
        assert first == same != other

    @pytest.mark.parametrize("content", ["import helper\ndef bonus(c, r):\n    return 1.0\n", "import helper\n1 / 0\n"])
    def test_path_of_modules_is_as_before(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str) -> None:
        """The file finds modules of its folder, before all others; afterwards, nobody does."""
        (tmp_path / "helper.py").write_text("import sys\nPATH = sys.path.copy()\n")
        (tmp_path / "mine.py").write_text(content)
        monkeypatch.delitem(sys.modules, "helper", raising=False)
        monkeypatch.chdir(tmp_path)
        before = sys.path.copy()
        with suppress(ParameterError):
            function_in_file("mine.py:bonus")
        assert sys.path == before
        assert [str(tmp_path), *before] == sys.modules["helper"].PATH
        del sys.modules["helper"]

    def test_path_that_the_file_changes_stays_changed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "mine.py").write_text(
            "import sys\nsys.path.insert(0, 'of the file')\ndef bonus(c, r):\n    return 1.0\n"
        )
        monkeypatch.chdir(tmp_path)
        before = sys.path.copy()
        monkeypatch.setattr(sys, "path", before.copy())
        function_in_file("mine.py:bonus")
        assert sys.path == ["of the file", *before]

    def test_missing_function_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "some.py").write_text("def bonus(candidate, references):\n    return 1\n")
        with pytest.raises(UnknownNameError, match=r"a function is requested as mine\.py:FUNCTION"):
            captious.score(GOOD, REFERENCES, "mine.py")
        with pytest.raises(UnknownNameError, match="it has bonus"):
            function_in_file(f"{tmp_path}/some.py:malus")

    def test_class_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "some.py").write_text("import captious\nclass Own(captious.Metric):\n    pass\n")
        with pytest.raises(ParameterError, match=r"Own is a class, and FILE\.py:FUNCTION names a function") as caught:
            function_in_file(f"{tmp_path}/some.py:Own")
        assert "an object of it, Own()," in caught.value.hint

    def test_missing_function_file_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(ParameterError, match="there is no file"):
            function_in_file(f"{tmp_path}/none.py:bonus")

    def test_failing_function_file_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "broken.py").write_text("1 / 0\n")
        with pytest.raises(ParameterError, match="ZeroDivisionError"):
            function_in_file(f"{tmp_path}/broken.py:bonus")

    @pytest.mark.parametrize("request_", ["rouge-s:gap=2", "cider-d", "smurf:constants=a.py", "x.py"])
    def test_requests_of_metrics_name_no_file(self, request_: str) -> None:
        assert not names_a_file(request_)

    @pytest.mark.parametrize("request_", ["mine.py:overlap", "mine.py:", "mine.py:overlap:k=3"])
    def test_what_takes_names_says_so_to_functions_in_files(self, request_: str) -> None:
        with pytest.raises(ParameterError, match="expected the name of a metric, not a function in a file"):
            captious.metric_info(request_)

    def test_the_library_runs_no_file_by_name(self, tmp_path: Path) -> None:
        """Only the command line does: a server reads requests that others wrote."""
        (tmp_path / "evil.py").write_text("raise SystemExit\n")
        with pytest.raises(captious.CaptiousError):
            captious.score(GOOD, REFERENCES, [f"{tmp_path}/evil.py:run"])
