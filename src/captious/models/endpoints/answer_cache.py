"""Answers of models on disk, by a hash of everything they depend on: a second run costs nothing."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from captious.errors import ResourceError
from captious.models.endpoints.questions import Answer
from captious.resources.cache import cache_folder, make_folder

_FORMAT = 1
_AT_A_TIME = 500  # keys in a query
_PATIENCE = 60.0  # seconds to wait for another process that writes


class AnswerCache:
    """A file of answers. Several processes may use it at the same time; answers are on disk once ``add`` returns.

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
        """The answers that are known, by key."""
        answers: dict[str, Answer] = {}
        with self._usable():
            for start in range(0, len(keys), _AT_A_TIME):
                some = keys[start : start + _AT_A_TIME]
                marks = ",".join("?" * len(some))
                rows = self._connection.execute(f"SELECT key, answer FROM answers WHERE key IN ({marks})", some)
                answers |= {key: Answer.from_json(text) for key, text in rows}
        return answers

    def add(self, key: str, answer: Answer) -> Answer:
        """Keep an answer, unless there is one; the answer that the file has."""
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
