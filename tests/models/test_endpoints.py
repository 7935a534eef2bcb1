"""Models behind endpoints: a real server process with faults; cache, limits, repetitions, secrets."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from captious.errors import EndpointError, ParameterError, ResourceError
from captious.models.chat import Answer, ChatModel, Question, Token, as_chat_model
from tests.support.chat_server import ChatServer

pytest.importorskip("httpx")

Make = Callable[..., ChatModel]


@pytest.fixture
def make(endpoint: ChatServer, tmp_path: Path) -> Make:
    def made(name: str = "hello", **arguments: Any) -> ChatModel:
        settings = {"endpoint": endpoint.url, "first_wait": 0.01, "cache": tmp_path / "answers.sqlite", **arguments}
        return ChatModel(name, **settings)

    return made


def calls(endpoint: ChatServer, text: str) -> list[dict[str, Any]]:
    """Return the requests with a text."""
    return [call for call in endpoint.log if text in json.dumps(call["body"])]


def test_an_answer_is_asked_for_once(make: Make, endpoint: ChatServer) -> None:
    questions = [Question("once 1"), Question("once 2"), Question("once 1")]
    first = make().ask(questions)
    assert [answer.text for answer in first] == ["hello"] * 3
    assert make().ask(questions) == first
    assert len(calls(endpoint, "once")) == 2
    body = calls(endpoint, "once 1")[0]["body"]
    assert body["messages"] == [{"role": "user", "content": "once 1"}]
    assert {"temperature": 0.0, "max_tokens": 512}.items() <= body.items()
    assert "seed" not in body
    assert "logprobs" not in body


@pytest.mark.parametrize(
    "other",
    [
        Question("key 2"),
        Question("key", temperature=0.5),
        Question("key", seed=1),
        Question("key", answer_tokens=9),
        Question("key", alternatives=5),
        Question("key", attempt=1),
        Question("key", image=Path(__file__)),
    ],
)
def test_cache_key_contains_all_that_changes_answers(other: Question) -> None:
    assert other.key("a") != Question("key").key("a") != Question("key").key("b")


def test_models_with_other_requests_are_others(make: Make) -> None:
    models = [make(), make("bye"), make(body={"top_p": 0.9}), make(omit=["seed"]), make(endpoint="http://else/v1")]
    assert len({model.identity for model in models}) == len(models)
    assert len({hash(model) for model in models}) > 1
    assert make(concurrency=2, timeout=9).identity == make().identity
    assert make().label == "hello"
    assert make(body={"top_p": 0.9}).label.startswith("hello+")


def test_an_image_is_part_of_the_question(make: Make, endpoint: ChatServer, tmp_path: Path) -> None:
    image = tmp_path / "1.png"
    image.write_bytes(b"\x89PNG and so on")
    make().ask([Question("what is this", image)])
    content = calls(endpoint, "what is this")[0]["body"]["messages"][0]["content"]
    assert content[0] == {"type": "text", "text": "what is this"}
    assert content[1]["image_url"]["url"].startswith("data:image/png;base64,iVBORyBhbmQg")


@pytest.mark.parametrize("fault", ["busy", "error", "cut", "html"])
def test_failures_that_pass_are_repeated(make: Make, endpoint: ChatServer, fault: str) -> None:
    (answer,) = make().ask([Question(f"FAULT:{fault}")])
    assert answer.text == "hello"
    times = [call["time"] for call in calls(endpoint, f"FAULT:{fault}")]
    assert len(times) == (3 if fault == "error" else 2)
    if fault == "busy":
        assert times[1] - times[0] >= 0.5  # as the server said


@pytest.mark.parametrize("fault", ["slow", "drip"])
def test_answers_that_take_too_long_are_repeated(make: Make, endpoint: ChatServer, fault: str) -> None:
    (answer,) = make(timeout=1).ask([Question(f"FAULT:{fault}")])
    assert answer.text == "hello"
    assert len(calls(endpoint, f"FAULT:{fault}")) == 2


def test_a_failure_that_does_not_pass_ends_the_run_and_keeps_the_rest(make: Make, endpoint: ChatServer) -> None:
    questions = [*(Question(f"kept {i}") for i in range(5)), Question("FAULT:down kept")]
    model = make(retries=2, concurrency=1)
    with pytest.raises(EndpointError, match="no answer in 3 calls: status 503: down") as caught:
        model.ask(questions)
    assert "5 answers are in the cache: the next run asks for the other 1" in caught.value.hint
    assert len(model.ask(questions[:5])) == 5
    assert len(calls(endpoint, "kept")) == 5 + 3


def test_overlong_retry_delay_ends_the_run(make: Make) -> None:
    with pytest.raises(EndpointError, match="asks to wait 86,400 seconds"):
        make().ask([Question("FAULT:later")])


def test_a_question_that_is_refused_has_an_answer_without_text(make: Make, endpoint: ChatServer) -> None:
    for _ in range(2):
        (answer,) = make().ask([Question("FAULT:filter")])
        assert answer.is_refusal
        assert not answer.text
    assert len(calls(endpoint, "FAULT:filter")) == 1


def test_unreachable_server_is_named(make: Make) -> None:
    with pytest.raises(EndpointError, match="no server can be reached") as caught:
        make(endpoint="http://127.0.0.1:9/v1").ask([Question("hello")])
    assert "http://127.0.0.1:9/v1" in caught.value.where


def test_a_failure_ends_the_run_when_many_questions_wait(make: Make) -> None:
    questions = [Question(f"waiting {number}") for number in range(400)]
    errors: list[EndpointError] = []

    def ask() -> None:
        with pytest.raises(EndpointError, match="no server can be reached") as caught:
            make(endpoint="http://127.0.0.1:9/v1", concurrency=4).ask(questions)
        errors.append(caught.value)

    thread = Thread(target=ask, daemon=True)
    thread.start()
    thread.join(20)
    assert errors, "the run does not end"


def test_the_limit_is_checked_before_the_first_call(make: Make, endpoint: ChatServer) -> None:
    questions = [Question(f"limit {i}") for i in range(4)]
    make().ask(questions[:1])
    with pytest.raises(ParameterError, match="limit of 2 calls") as caught:
        make(most_calls=2).ask(questions)
    assert "3 calls, about 3 tokens, with at most 1,536 tokens of answers; 1 answer is in the cache" in str(
        caught.value
    )
    with pytest.raises(ParameterError, match="limit of 1,000 tokens"):
        make(most_tokens=1000).ask(questions)
    assert len(calls(endpoint, "limit")) == 1
    model = make(most_calls=2)
    model.ask(questions[:3])
    with pytest.raises(ParameterError, match="2 calls were spent before"):
        model.ask(questions)


def test_requests_respect_concurrency_and_rate(make: Make, endpoint: ChatServer) -> None:
    make(concurrency=3).ask([Question(f"at once {i}") for i in range(12)])
    assert 1 < max(call["at_once"] for call in calls(endpoint, "at once")) <= 3
    make(calls_per_minute=600).ask([Question(f"rate {i}") for i in range(4)])
    times = sorted(call["time"] for call in calls(endpoint, "rate"))
    assert times[-1] - times[0] >= 0.25  # three times a tenth of a second, but for the way to the server


def test_the_key_reaches_the_server_and_nothing_else(
    make: Make, endpoint: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    monkeypatch.setenv("MY_KEY", "sk-secret")
    model = make(key_variable="MY_KEY")
    model.ask([Question("secret")])
    assert [call["key"] for call in calls(endpoint, "secret")] == ["Bearer sk-secret"]
    with pytest.raises(EndpointError, match="status 401: wrong key Bearer \\*\\*\\*") as caught:
        model.ask([Question("FAULT:key")])
    assert "MY_KEY" in caught.value.hint
    kept = (tmp_path / "answers.sqlite").read_bytes().decode("latin-1")
    assert "sk-secret" not in str(caught.value) + caplog.text + repr(model) + model.label + kept


def test_damaged_answer_cache_is_refused(make: Make, tmp_path: Path) -> None:
    (tmp_path / "answers.sqlite").write_text("this is no database, but long enough to be one" * 99)
    with pytest.raises(ResourceError, match="the cache of answers cannot be used"):
        make().ask([Question("hello")])
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(ResourceError, match="another version"):
        make(cache=other).ask([Question("hello")])


def test_parts_of_an_answer_are_joined_without_thoughts() -> None:
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "a "}, {"type": "text", "text": "cat"}]
    response = {"choices": [{"message": {"content": parts}, "finish_reason": "stop"}]}
    assert Answer.of_response(response) == Answer("a cat")


def test_answers_are_read_as_they_were_written() -> None:
    answer = Answer("ü $8", "stop", "m", (Token("ü"), Token("8", (("8", -0.1), ("9", -2.5)))), (3, 4))
    assert Answer.from_json(answer.to_json()) == answer


def test_model_descriptions_are_read_from_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTIOUS_ENDPOINT", "http://localhost:11434/v1/")
    assert as_chat_model("llama3.2:3b") == ChatModel("llama3.2:3b", "http://localhost:11434/v1")
    file = tmp_path / "judge.toml"
    file.write_text('name = "m"\nendpoint = "https://host/v1/chat/completions"\nconcurrency = 2\n[body]\ntop_p = 0.5\n')
    assert as_chat_model(file) == ChatModel("m", "https://host/v1", concurrency=2, body={"top_p": 0.5})


@pytest.mark.parametrize(
    "arguments",
    [
        {"name": "a|b"},
        {"name": " "},
        {"endpoint": "ftp://host/v1"},
        {"endpoint": "localhost:8000"},
        {"endpoint": "http://[host"},
        {"endpoint": 5},
        {"endpoint": "https://me:sk-secret@host/v1"},
        {"endpoint": "https://host/v1?key=sk-secret"},
        {"concurrency": 0},
        {"concurrency": 1.5},
        {"timeout": 0},
        {"most_calls": -1},
        {"body": {"model": "other"}},
    ],
)
def test_invalid_chat_models_are_refused_without_their_key(arguments: dict[str, Any]) -> None:
    with pytest.raises(ParameterError) as caught:
        ChatModel(**{"name": "m", "endpoint": "http://host/v1", **arguments})
    assert "secret" not in str(caught.value)


def test_chat_model_needs_an_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CAPTIOUS_ENDPOINT", raising=False)
    with pytest.raises(ParameterError, match="no endpoint is known"):
        ChatModel("m")
