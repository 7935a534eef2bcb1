"""Answers to questions: from the cache, or else from the endpoint, concurrently and within the limits."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from captious.errors import EndpointError, ParameterError, ResourceError
from captious.models.endpoints.questions import Answer, Question
from captious.phrases import counted
from captious.progress import Progress
from captious.resources.cache import cache_folder, make_folder

if TYPE_CHECKING:
    from captious.models.endpoints.chat_model import ChatModel


@dataclass(frozen=True)
class Cost:
    """The cost of questions, estimated before they are sent.

    Args:
        calls: number of calls.
        prompt_tokens: approximate number of tokens of the questions.
        answer_tokens: maximum number of tokens of the answers.
    """

    calls: int
    prompt_tokens: int
    answer_tokens: int

    @classmethod
    def of(cls, questions: Sequence[Question]) -> Cost:
        """Return the cost of questions that are not in the cache."""
        prompt_tokens, answer_tokens = (
            sum(values) for values in ([q.tokens for q in questions], [q.answer_tokens for q in questions])
        )
        return cls(len(questions), prompt_tokens, answer_tokens)

    def __str__(self) -> str:
        calls = counted(self.calls, "call")
        return f"{calls}, about {self.prompt_tokens:,} tokens, with at most {self.answer_tokens:,} tokens of answers"


def ask(model: ChatModel, questions: Sequence[Question]) -> list[Answer]:
    """See ``ChatModel.ask``."""
    keys = [question.key(model.identity) for question in questions]
    by_key = dict(zip(keys, questions, strict=True))
    with AnswerCache(model.cache) as cache:
        answers = cache.find([*by_key])
        waiting = {key: question for key, question in by_key.items() if key not in answers}
        if waiting:
            cost = Cost.of([*waiting.values()])
            _check_limits(model, cost, n_known=len(answers))
            answers |= _ask(model, waiting, cache, cost)
    return [answers[key] for key in keys]


def _check_limits(model: ChatModel, cost: Cost, *, n_known: int) -> None:
    new = (cost.calls, cost.prompt_tokens + cost.answer_tokens)
    calls, tokens = (before + more for before, more in zip(model._spent, new, strict=True))
    assert model.most_calls is not None
    for what, number, limit in (("calls", calls, model.most_calls), ("tokens", tokens, model.most_tokens)):
        if limit is not None and number > limit:
            before = model._spent[what == "tokens"]
            raise ParameterError(
                f"the limit of {limit:,} {what} does not allow this run",
                where=f"{model.name}: {cost}; {counted(n_known, 'answer', 'are')} in the cache"
                + (f", and {before:,} {what} were spent before" if before else ""),
                help=f"raise most_{what} of the model"
                + (" (CAPTIOUS_MOST_CALLS)" if what == "calls" else "")
                + ", or judge fewer captions",
            )
    model._spent[:] = calls, tokens


def _ask(model: ChatModel, questions: dict[str, Question], cache: AnswerCache, cost: Cost) -> dict[str, Answer]:
    """Return the answers of the endpoint; each is in the cache as soon as it arrives."""
    from captious.models.endpoints.chat_client import ChatClient  # httpx is only needed here

    answers: dict[str, Answer] = {}
    with Progress(len(questions)) as progress, ChatClient(model) as client:
        progress.reach(0, f"{model.name}: {cost}")
        pool = ThreadPoolExecutor(min(model.concurrency, len(questions)), thread_name_prefix="captious-endpoint")
        futures = {pool.submit(client.answer, question): key for key, question in questions.items()}
        failure: EndpointError | None = None
        try:
            for future in as_completed(futures):
                try:
                    answer = future.result()
                except EndpointError as error:
                    if failure is None:
                        failure = error
                        client.stop()  # the questions that wait fail at once; cancelled ones would never be completed
                    continue
                answers[futures[future]] = cache.add(futures[future], answer)
                progress.reach(len(answers), f"{model.name}: {cost}")
        finally:
            client.stop()
            pool.shutdown(wait=True, cancel_futures=True)
    if failure is not None:
        unanswered = len(questions) - len(answers)
        model._spent[0] -= unanswered
        if answers:
            known = counted(len(answers), "answer", "are")
            failure.help += f". {known} in the cache: the next run asks for the other {unanswered:,}"
        raise failure
    return answers


_FORMAT = 1
_KEYS_PER_QUERY = 500  # keys in a query
_PATIENCE = 60.0  # seconds to wait for another process that writes


class AnswerCache:
    """A file of answers that processes can share. Answers are on disk once ``add`` returns.

    Args:
        path: the file; None for answers.sqlite in the cache folder.

    Raises:
        ResourceError: the file cannot be used.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = cache_folder() / "answers.sqlite" if path is None else Path(path)
        make_folder(self.path.parent)
        with self._usable():
            self._connection = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self) -> None:
        version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, _FORMAT):
            raise sqlite3.DatabaseError("another version of captious wrote it")
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL) WITHOUT ROWID"
        )
        self._connection.execute(f"PRAGMA user_version = {_FORMAT}")

    def __enter__(self) -> AnswerCache:
        return self

    def __exit__(self, *exception: object) -> None:
        self._connection.close()

    def find(self, keys: Sequence[str]) -> dict[str, Answer]:
        """Return the answers in the cache, by key."""
        answers: dict[str, Answer] = {}
        with self._usable():
            for start in range(0, len(keys), _KEYS_PER_QUERY):
                batch = keys[start : start + _KEYS_PER_QUERY]
                marks = ",".join("?" * len(batch))
                rows = self._connection.execute(f"SELECT key, answer FROM answers WHERE key IN ({marks})", batch)
                answers |= {key: Answer.from_json(text) for key, text in rows}
        return answers

    def add(self, key: str, answer: Answer) -> Answer:
        """Add an answer unless the key is present, and return the stored answer."""
        with self._usable():
            self._connection.execute("INSERT OR IGNORE INTO answers VALUES (?, ?)", (key, answer.to_json()))
        return self.find([key])[key]

    @contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise ResourceError(
                f"the cache of answers cannot be used: {error}",
                where=str(self.path),
                help="remove the file, or name another one",
            ) from error
