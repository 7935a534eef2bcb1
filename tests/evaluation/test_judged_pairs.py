"""judge-pairwise: both orders, ties, win rates and Bradley-Terry strengths, with a server process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import captious
from captious.cli import main
from captious.cli.judge_pairwise import judge_pairwise as command
from captious.errors import CaptiousWarning, EmptyInputError, EndpointError, ParameterError
from captious.evaluation.judged_pairs import strengths
from captious.metrics.shared.judges import preference
from captious.models.chat import Answer, ChatModel
from tests.support.chat_server import ChatServer

pytest.importorskip("httpx")

pytestmark = pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")

REFERENCES = {image: ["a dog"] for image in range(4)}
#: The server prefers longer captions, and the first one if a caption has "first".
LONG = {0: "a long caption", 1: "a long caption", 2: "same", 3: "first of all"}
SHORT = {0: "short", 1: "a longer caption than that", 2: "same", 3: "other"}


@pytest.fixture
def model(endpoint: ChatServer, tmp_path: Path) -> ChatModel:
    return ChatModel("pair", endpoint.url, first_wait=0.01, cache=tmp_path / "answers.sqlite")


def test_verdicts_are_asked_in_both_orders(model: ChatModel, endpoint: ChatServer) -> None:
    before = len(endpoint.log)
    result = captious.judge_pairwise({"long": LONG, "short": SHORT}, REFERENCES, model, resamples=200)
    (pair,) = result.pairs
    np.testing.assert_array_equal(pair.points, [1, 0, 0.5, 0.5])
    np.testing.assert_array_equal(pair.changed, [False, False, False, True])
    assert pair.counts == {"wins": 1, "ties": 2, "losses": 1, "changed": 1, "invalid": 0}
    assert pair.win_rate == 0.5
    assert 0 <= pair.interval[0] < 0.5 < pair.interval[1] <= 1
    assert len(endpoint.log) == before + 6  # nothing is asked about equal captions
    assert result.signature.startswith("judge-pairwise|variant:references|judge:pair|temperature:0|")
    assert "|prompt:pairwise-references@" in result.signature
    assert "|references:1|" in result.signature
    assert result.strengths == {}
    swapped = captious.judge_pairwise({"short": SHORT, "long": LONG}, REFERENCES, model)
    np.testing.assert_array_equal(swapped.pairs[0].points, 1 - pair.points)
    assert len(endpoint.log) == before + 6  # the same questions


@pytest.mark.parametrize(
    ("systems", "references", "error", "message"),
    [
        ({"long": LONG}, REFERENCES, ParameterError, "two systems are needed"),
        ({"long": LONG, "short": SHORT}, None, ParameterError, "needs references"),
        ({"long": {}, "short": {}}, {}, EmptyInputError, "there are no captions"),
    ],
)
def test_nothing_is_asked_without_pairs_of_captions(
    model: ChatModel, endpoint: ChatServer, systems: Any, references: Any, error: type[Exception], message: str
) -> None:
    before = len(endpoint.log)
    with pytest.raises(error, match=message):
        captious.judge_pairwise(systems, references, model)
    assert len(endpoint.log) == before


def test_answers_of_another_model_are_warned_of(endpoint: ChatServer, tmp_path: Path) -> None:
    dated = ChatModel("pair-dated", endpoint.url, cache=tmp_path / "answers.sqlite")
    result = captious.judge_pairwise({"a": LONG, "b": SHORT}, REFERENCES, dated)
    assert any("asked for pair-dated, but pair-2026-01-01 answered" in warning for warning in result.warnings)


def test_the_order_of_images_does_not_matter(model: ChatModel) -> None:
    turned = dict(reversed(SHORT.items()))
    points = captious.judge_pairwise({"a": LONG, "b": turned}, REFERENCES, model).pairs[0].points
    np.testing.assert_array_equal(points, [1, 0, 0.5, 0.5])
    with pytest.raises(ParameterError, match="different images"):
        captious.judge_pairwise(
            {"a": {1: "x"}, "b": {2: "y"}}, judge=captious.PairwiseJudge(judge=model, variant="images", images=".")
        )


def test_invalid_answers_have_no_verdict(model: ChatModel) -> None:
    bad = {**SHORT, 0: "FAULT:never"}
    with pytest.warns(CaptiousWarning, match=r"no verdict on a and b for 1 of 4 images \(25.0%\)"):
        (pair,) = captious.judge_pairwise({"a": LONG, "b": bad}, REFERENCES, model).pairs
    np.testing.assert_array_equal(pair.points, [np.nan, 0, 0.5, 0.5])
    assert pair.win_rate == pytest.approx(1 / 3)


def test_an_image_without_verdict_is_no_error_if_others_have_one(model: ChatModel) -> None:
    """Even if it is the only one on which two of the systems differ."""
    systems = {"a": LONG, "b": {**LONG, 1: "FAULT:never"}, "c": SHORT}
    result = captious.judge_pairwise(systems, REFERENCES, model)
    assert [pair.counts["invalid"] for pair in result.pairs] == [1, 0, 1]


@pytest.mark.parametrize("n", [4, 30])
def test_no_verdict_at_all_is_an_error_that_shows_an_answer(endpoint: ChatServer, tmp_path: Path, n: int) -> None:
    talker = ChatModel(f"I am a model {n}", endpoint.url, cache=tmp_path / "answers.sqlite")
    systems = {name: {i: name * (i + 1) for i in range(n)} for name in "abc"}
    before = len(endpoint.log)
    with pytest.raises(EndpointError, match="of the model gives a judgment that can be read") as caught:
        captious.judge_pairwise(systems, {i: ["x"] for i in range(n)}, talker)
    assert f"it says 'I am a model {n}'" in caught.value.where
    pairs = 3 if n < 10 else 1  # pairs of systems that are asked about until it is known
    tries = captious.PairwiseJudge(judge=talker).asking.tries
    assert len(endpoint.log) - before == 2 * n * pairs * tries


def test_three_systems_have_strengths(model: ChatModel) -> None:
    systems = {name: {i: name * (length + i) for i in range(20)} for name, length in [("a", 1), ("b", 2), ("c", 9)]}
    result = captious.judge_pairwise(systems, {i: ["x"] for i in range(20)}, model, resamples=50)
    assert sorted(result.strengths, key=result.strengths.get) == ["a", "b", "c"]  # type: ignore[arg-type]
    assert sum(result.strengths.values()) == pytest.approx(0)
    for name, value in result.strengths.items():
        low, high = result.strength_intervals[name]
        assert np.isfinite([low, high]).all()
        assert low <= value <= high
    assert "strength" in repr(result)


def test_no_system_is_the_best_of_equals(model: ChatModel) -> None:
    captions = {i: "a" * (i + 1) for i in range(20)}
    result = captious.judge_pairwise(dict.fromkeys("abc", captions), {i: ["x"] for i in range(20)}, model, resamples=50)
    assert {*result.strengths.values()} == {0.0}
    assert "◀" not in repr(result)


def test_strengths_maximize_the_likelihood() -> None:
    rng = np.random.default_rng(3)
    points = rng.integers(0, 30, (4, 4)).astype(float)
    np.fill_diagonal(points, 0)
    values = strengths(points)
    odds = values[:, None] - values[None, :]
    share = 1 / (1 + np.exp(-odds))
    smoothed = (points + 0.5) * (1 - np.eye(4))
    # Where the likelihood is largest, each system has the points that its strength predicts.
    np.testing.assert_allclose(smoothed.sum(axis=1), ((smoothed + smoothed.T) * share).sum(axis=1), rtol=1e-6)
    np.testing.assert_allclose(strengths(np.stack([points, points.T]))[0], values, atol=1e-8)
    two = strengths(np.array([[0, 3.0], [1.0, 0]]))
    assert two[0] - two[1] == pytest.approx(np.log(3.5 / 1.5))


def test_judge_pairwise_command_prints_win_rates(
    endpoint: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAPTIOUS_ENDPOINT", endpoint.url)
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path))
    for name, captions in {"long": LONG, "short": SHORT}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(captions))
    (tmp_path / "references.json").write_text(json.dumps(REFERENCES))
    files = [str(tmp_path / f"{name}.json") for name in ("long", "short", "references")]
    done = CliRunner().invoke(command, [*files, "--judge", "pair", "--format", "json"])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["pairs"][0]["win_rate"] == 0.5
    done = CliRunner().invoke(command, [*files, "--judge", "pair"])
    assert "long / short" in done.output
    assert "win rate" in done.output


@pytest.mark.parametrize(
    "arguments",
    [
        ["judge-pairwise", "long", "short", "references"],
        ["score", "long", "references", "-m", "judge-clair"],
        ["score", "long", "short", "references", "-m", "judge-geval:value=integer"],
        ["compare", "long", "short", "references", "-m", "judge-clair"],
    ],
    ids=lambda arguments: " ".join(arguments[:1]),
)
def test_commands_fail_where_no_answer_can_be_read(
    arguments: list[str],
    endpoint: ChatServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CAPTIOUS_ENDPOINT", endpoint.url)
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path))
    files = {"long": LONG, "short": SHORT, "references": REFERENCES}
    for name, captions in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(captions))
    words = [str(tmp_path / f"{word}.json") if word in files else word for word in arguments]
    monkeypatch.setattr("sys.argv", ["captious", *words, "--judge", "what a caption"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    shown = capsys.readouterr()
    assert not shown.out
    assert "it says 'what a caption'" in " ".join(shown.err.split())


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ('{"reason": "x", "better": "A"}', 1.0),
        ('{"better": "b"}', 0.0),
        ('<think>A</think> {"better": "Tie"}', 0.5),
        ('{"better": "C"}', None),
        ('{"better": 1}', None),
        ("A", None),
    ],
)
def test_verdicts_are_parsed_from_answers(text: str, points: float | None) -> None:
    assert preference(Answer(text)) == points
