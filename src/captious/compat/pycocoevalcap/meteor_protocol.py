"""The protocol between METEOR's program and its callers, and a simulated process that implements it.

    SCORE ||| reference ||| ... ||| candidate   -> 23 numbers, the statistics of the best reference
    EVAL ||| statistics ||| ...                 -> a score for each, and the score of all of them
    SING ||| statistics                         -> the score

Some evaluation programs, such as those for news captions, write these lines to ``Meteor().meteor_p``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.compat.pycocoevalcap.harness_input import captions
from captious.metrics import meteor

__all__ = ["Process", "statistics_line", "statistics_scores"]

#: Columns of the statistics: words of both sides, chunks, matched words of both sides.
_WORDS, _CHUNKS, _MATCHED = slice(0, 2), 20, slice(21, 23)
_COLUMNS = 23
_SEPARATOR = "|||"


def statistics_line(metric: meteor.Meteor, candidate: str, references: Sequence[str]) -> str:
    """Return the statistics of a candidate, formatted as by METEOR's program."""
    (row,) = metric.statistics(captions({0: list(references)}, {0: [candidate]})).tolist()
    if row[_CHUNKS] == 0 and any(row[_MATCHED]):  # a perfect match, whose one chunk the metric does not count
        row[_CHUNKS] = 1.0
    return " ".join(map(str, row))


def statistics_scores(metric: meteor.Meteor, lines: Sequence[str]) -> tuple[list[float], float]:
    """Return the score of each line of statistics, and of all together; a ValueError for other lines."""
    rows = np.array([_numbers(line) for line in lines]).reshape(-1, _COLUMNS)
    perfect = (rows[:, _MATCHED] == rows[:, _WORDS]).all(axis=1) & (rows[:, _CHUNKS] == 1)
    rows[perfect, _CHUNKS] = 0
    return metric.aggregate(rows)[:, 0].tolist(), float(metric.aggregate(rows.sum(axis=0))[0])


def _numbers(line: str) -> NDArray[np.float64]:
    numbers = np.array(line.split(), dtype=np.float64)
    if numbers.shape != (_COLUMNS,):
        raise ValueError("not the 23 numbers of METEOR's statistics")
    return numbers


class Process:
    """A replacement of METEOR's process, with ``stdin.write(line)`` and ``stdout.readline()``.

    Args:
        scorer: a ``Meteor`` of the toolkit, whose tables are read at the first line.
    """

    def __init__(self, scorer: Any) -> None:
        self.stdin = _In(scorer)
        self.stdout = _Out(self.stdin, self.stdin.answers)
        self.stderr = _Out(self.stdin, deque())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return None until ``kill`` or ``terminate``."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the status of an ended process, 0."""
        self.kill()
        return 0

    def kill(self) -> None:
        """Set ``returncode``, and do nothing else."""
        self.returncode = 0

    terminate = kill

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"captious computes METEOR without Java: meteor_p is not a process, and has no {name!r}, but it takes the "
            "lines of METEOR's protocol by stdin.write, stdin.flush and stdout.readline"
        )


class _In:
    def __init__(self, scorer: Any) -> None:
        self.answers: deque[bytes | str] = deque()
        self.nothing: bytes | str = b""  # read without an answer; the type is that of the last write
        self._scorer = scorer
        self._rest = ""

    def write(self, data: bytes | str) -> int:
        text = data.decode() if isinstance(data, bytes | bytearray) else data
        self.nothing = "" if isinstance(data, str) else b""
        *lines, self._rest = (self._rest + text).split("\n")
        answers = (f"{answer}\n" for line in lines for answer in self._answers(line))
        self.answers.extend(answers if isinstance(data, str) else map(str.encode, answers))
        return len(data)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def _answers(self, line: str) -> list[str]:
        verb, *fields = (field.strip() for field in line.split(_SEPARATOR))
        metric: meteor.Meteor = self._scorer._metric
        if verb == "SCORE" and len(fields) > 1:
            *references, candidate = fields
            return [statistics_line(metric, candidate, references)]
        if verb not in ("EVAL", "SING"):
            return ["Error: specify SCORE or EVAL or SING"]
        try:
            scores, total = statistics_scores(metric, fields)
        except ValueError:
            fields = []
        if not fields:
            return ["Error: specify Meteor stats"]
        return [str(scores[0])] if verb == "SING" else [*map(str, scores), str(total)]


class _Out:
    def __init__(self, written: _In, lines: deque[bytes | str]) -> None:
        self._written, self._lines = written, lines

    def readline(self) -> bytes | str:
        """Return the next answer, text for text and bytes for bytes; empty if all have been read.

        A real process would block the reader.
        """
        return self._lines.popleft() if self._lines else self._written.nothing

    def close(self) -> None:
        pass
