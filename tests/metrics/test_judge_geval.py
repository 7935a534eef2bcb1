"""judge-geval: expected values over token probabilities, with a server process."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import captious
from captious.errors import EndpointError, ParameterError
from captious.metrics.judges import JudgeGeval, expected_score, integer_score
from captious.models.chat import Answer, ChatModel, Token
from tests.support.chat_server import ChatServer

pytest.importorskip("httpx")

pytestmark = pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")

CANDIDATES = {1: "a dog", 2: "a big brown dog", 3: "one two three four five six seven eight nine ten"}
REFERENCES = {1: ["a dog runs", "dogs"], 2: ["a dog"], 3: ["a cat"]}


@pytest.fixture
def settings(endpoint: ChatServer, tmp_path: Path) -> captious.Settings:
    return captious.Settings(judge=ChatModel("geval", endpoint.url, cache=tmp_path / "answers.sqlite"))


def test_variants_ask_for_expected_values_or_integers(settings: captious.Settings, endpoint: ChatServer) -> None:
    metrics = ["judge-geval", "judge-geval:value=integer"]
    expected, integer = captious.score(CANDIDATES, REFERENCES, metrics, settings=settings).values()
    shares = np.array([0.5, 0.3]) / 0.8
    scores = np.array([[20, 10], [40, 30], [100, 90]]) @ shares / 100
    np.testing.assert_allclose(expected.per_caption, scores)
    np.testing.assert_allclose(integer.per_caption, [0.2, 0.4, 1.0])
    assert "|temperature:1|" in expected.signature
    assert "|value:expected|" in expected.signature
    assert "|value:integer|" in integer.signature
    bodies = [call["body"] for call in endpoint.log]
    assert {body.get("top_logprobs") for body in bodies} == {5, None}
    assert len(bodies) == 6


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        ("digits", ParameterError, "writes numbers in several tokens"),
        ("silent", EndpointError, "gives no probabilities of tokens"),
    ],
)
def test_a_model_without_probabilities_of_scores_costs_one_call(
    endpoint: ChatServer, tmp_path: Path, model: str, error: type[Exception], message: str
) -> None:
    judge = ChatModel(model, endpoint.url, cache=tmp_path / "answers.sqlite")
    before = len(endpoint.log)
    settings = captious.Settings(judge=judge)
    with pytest.raises(error, match=message) as caught:
        captious.score(CANDIDATES, REFERENCES, ["judge-geval"], settings=settings)
    assert "value=integer" in str(caught.value)
    assert len(endpoint.log) == before + 1
    report = captious.score(CANDIDATES, REFERENCES, ["judge-geval:value=integer"], settings=settings)
    np.testing.assert_allclose(report["judge-geval:value=integer"].per_caption, [0.2, 0.4, 1.0])


def test_images_are_needed(settings: captious.Settings) -> None:
    with pytest.raises(ParameterError, match="judge-geval@images needs the images"):
        JudgeGeval(judge=settings.judge, variant="images")


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("Fine.\n$85", 0.85),
        ("**$0.**", 0.0),
        ("costs $5, so\n$ 100 $\n", 1.0),
        ("<think>$3</think> $70", 0.7),
        ("<think>$3", None),
        ("$101", None),
        ("$1000", None),
        ("$85 or so", None),
        ("$8.5", None),
        ("85", None),
        ("", None),
    ],
)
def test_integer_scores_are_read_from_answers(text: str, score: float | None) -> None:
    assert integer_score(Answer(text)) == score


def answer(*tokens: str, **alternatives: float) -> Answer:
    """Return an answer whose last token has alternatives with these probabilities, ``n7`` for 7."""
    last = tuple((name.removeprefix("n"), math.log(p)) for name, p in alternatives.items())
    return Answer("".join(tokens), tokens=(*map(Token, tokens[:-1]), Token(tokens[-1], last)))


def test_expected_scores_come_from_token_probabilities() -> None:
    assert expected_score(answer("$", "80", n80=0.5, n90=0.25, n101=0.2, many=0.05)) == pytest.approx(
        (80 * 0.5 + 90 * 0.25) / 0.75 / 100
    )
    assert expected_score(answer("no", "ne")) is None
    assert expected_score(answer("$", "80", many=1.0)) is None
    spaced = Answer("$ 7", tokens=(Token("$"), Token(" 7", ((" 7", math.log(0.5)), ("7", math.log(0.1)), ("9", -1.0)))))
    weight = math.exp(-1)
    assert expected_score(spaced) == pytest.approx((7 * 0.6 + 9 * weight) / (0.6 + weight) / 100)
    other_text = Answer("$80", tokens=(Token("<0x24>"), Token("eighty", (("80", 0.0),))))
    assert expected_score(other_text) is None
