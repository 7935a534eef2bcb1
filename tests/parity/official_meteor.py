"""Runs the official METEOR, the 1.5 jar as pycocoevalcap carries it, on many segments at once.

The jar is called as the COCO toolkit calls it, and gets what the toolkit would send, but all of it as one file: no
dialogue over pipes, which takes long and can get out of step. Texts are given as the toolkit gives them: tokenized,
the tokens joined by single spaces.

Options are those of the jar, two strings each, and come after the toolkit's own: ``"-m", "exact stem"`` for the
modules, ``"-w", "1.0 0.6"`` for their weights in the same order, ``"-p", "0.85 0.2 0.6 0.75"`` for alpha, beta, gamma
and delta, ``"-x", "40"`` for the width of the beam. Without ``-w``, weights are 1.0, 0.6, 0.8, 0.6 for the first,
second, third and fourth module named, whichever these are, and with ``-p`` 1.0, 1.0, 0.6, 0.8: name the weights.
"""

from __future__ import annotations

import gzip
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.parity.toolkit_jars import toolkit_jar

JAR = "meteor-1.5.jar"
#: Numbers per segment: 4 lengths, 4 counts for each of up to 4 modules, chunks, matched words of both sides.
STATISTICS = 23


def jar() -> Path:
    """Return the official program; skips the test if it or java is missing."""
    return toolkit_jar("meteor", JAR)


def statistics(
    candidates: Sequence[str], references: Sequence[Sequence[str]], *options: str, norm: bool = True
) -> NDArray[np.float64]:
    """Return the jar's statistics of each segment against the reference that scores best, of shape [segments, 23].

    Modules stand in the order in which option ``-m`` names them; what is left of the four is zero.
    """
    requests = [_request(*segment) for segment in zip(candidates, references, strict=True)]
    answers = [answer.split() for answer in _answers(requests, len(requests), options, norm=norm)]
    if any(len(numbers) != STATISTICS for numbers in answers):
        raise RuntimeError(f"not statistics: {next(numbers for numbers in answers if len(numbers) != STATISTICS)}")
    return np.array(answers, dtype=np.float64).reshape(-1, STATISTICS)


def scores(statistics: NDArray[np.float64], *options: str) -> tuple[NDArray[np.float64], float]:
    """Return the score of each segment, and that of all together; options as the statistics were made with."""
    rows = [" ".join(map(str, row)) for row in statistics.tolist()]
    if not rows:
        raise ValueError("no statistics to score")
    with tempfile.NamedTemporaryFile(suffix=".gz") as no_paraphrases:  # the table takes seconds to read
        no_paraphrases.write(gzip.compress(b""))
        no_paraphrases.flush()
        options = ("-a", no_paraphrases.name, *options)
        answers = _answers([" ||| ".join(("EVAL", *rows))], len(rows) + 1, options)
    *segments, corpus = map(float, answers)
    return np.array(segments, dtype=np.float64), corpus


def as_summed(statistics: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return statistics as METEOR adds them up: one chunk that is both texts as a whole counts as none."""
    whole = (statistics[:, 20] == 1) & (statistics[:, 21:] == statistics[:, :2]).all(axis=1)
    summed = statistics.copy()
    summed[whole, 20] = 0
    return summed


def _request(candidate: str, references: Sequence[str]) -> str:
    """Return a line for the jar; only the candidate is cleaned, as the toolkit does it."""
    if not references:
        raise ValueError("no references")
    if any(mark in text for text in (candidate, *references) for mark in "\n\r"):
        raise ValueError(f"line break in {(candidate, *references)}")
    if any("|||" in text for text in references):
        raise ValueError(f"'|||' in {references}")
    return " ||| ".join(("SCORE", *references, candidate.replace("|||", "").replace("  ", " ")))


def _answers(requests: Iterable[str], expected: int, options: Iterable[str], *, norm: bool = True) -> list[str]:
    program = jar()
    command = ["java", "-XX:+UseSerialGC", "-Xmx2G", "-Dfile.encoding=UTF-8", "-jar", program.name, "-", "-", "-stdio"]
    command += ["-l", "en", *(["-norm"] if norm else [])]
    with tempfile.TemporaryFile() as lines, tempfile.TemporaryFile() as output:
        lines.writelines(request.encode() + b"\n" for request in requests)
        lines.seek(0)
        subprocess.run([*command, *options], cwd=program.parent, stdin=lines, stdout=output, check=True)
        output.seek(0)
        answers = output.read().decode().splitlines()
    if len(answers) != expected:
        raise RuntimeError(f"{len(answers)} answers instead of {expected}, the last {answers[-1:]}")
    return answers
