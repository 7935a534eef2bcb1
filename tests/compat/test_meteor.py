"""Members of the toolkit's Meteor in use besides compute_score: statistics, the protocol's lines, the lock."""

from __future__ import annotations

import importlib
import pickle
import shutil
import threading
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from captious.compat.pycocoevalcap.meteor.meteor import Meteor
from tests.compat.conftest import CORPUS_METEOR, GTS, METEOR, RES

pytestmark = pytest.mark.usefixtures("meteor_tables")

PAIRS = [
    ("a dog  runs", ["a dog runs", "the dog is running"]),
    ("a dog runs in park", ["a dog is running in the park", "the dog is running"]),
    ("", ["a dog"]),
    ("x", ["a dog", "y"]),
    ("a man ||| rides", ["a man rides a bike"]),
]


@pytest.fixture(scope="module")
def official() -> Any:
    """The toolkit's Meteor, with its process."""
    if shutil.which("java") is None:
        pytest.skip("no java")
    module = pytest.importorskip("pycocoevalcap.meteor.meteor")
    scorer = module.Meteor()
    yield scorer
    process = scorer.meteor_p
    del scorer
    process.kill()
    for pipe in (process.stdin, process.stdout, process.stderr):
        pipe.close()
    process.wait()


def ask(scorer: Any, line: str, answers: int) -> list[bytes]:
    scorer.meteor_p.stdin.write(f"{line}\n".encode())
    scorer.meteor_p.stdin.flush()
    return [scorer.meteor_p.stdout.readline() for _ in range(answers)]


@pytest.mark.slow
def test_statistics_and_lines_are_the_programs(official: Any) -> None:
    ours = Meteor()
    lines = [official._stat(*pair) for pair in PAIRS]
    assert [ours._stat(*pair) for pair in PAIRS] == lines
    evaluation = " ||| ".join(["EVAL", *lines])
    for line, answers in [
        (evaluation, len(lines) + 1),
        (f"SING ||| {lines[1]}", 1),
        (f"EVAL ||| {lines[0]}", 2),
        ("EVAL", 1),
        ("what", 1),
        ("SCORE ||| a dog ||| the dog ||| a dog runs", 1),
    ]:
        for answer, expected in zip(ask(ours, line, answers), ask(official, line, answers), strict=True):
            if expected.startswith(b"Error") or line.startswith("SCORE"):
                assert answer == expected
            else:
                assert float(answer) == pytest.approx(float(expected), rel=0, abs=1e-12)


def test_meteor_statistics_are_those_of_java() -> None:
    ours = Meteor()
    # Five words of the candidate, seven of the reference; of each two and four function words.
    numbers = [float(number) for number in ours._stat(*PAIRS[1]).split()]
    assert numbers[:8] == [5, 7, 2, 4, 2, 2, 2, 2]
    assert numbers[20:] == [3, 5, 5]
    assert ours._stat(*PAIRS[0]).split()[20] == "1.0"  # the one chunk of a perfect match


def test_scores_from_lines() -> None:
    """A program that writes to the process itself, as several evaluators do to keep line breaks out."""
    scorer = Meteor()

    def _stat(self: Any, hypothesis: str, references: list[str]) -> str:
        line = " ||| ".join(("SCORE", " ||| ".join(references), hypothesis.replace("\n", " ")))
        self.meteor_p.stdin.write(f"{line}\n".encode())
        self.meteor_p.stdin.flush()
        return str(self.meteor_p.stdout.readline().decode().strip())

    patched: Any = scorer
    patched._stat = types.MethodType(_stat, scorer)
    line = "EVAL"
    with scorer.lock:
        for image in GTS:
            line += f" ||| {patched._stat(RES[image][0], GTS[image])}"
        answers = [float(answer) for answer in ask(scorer, line, len(GTS) + 1)]
    assert answers == pytest.approx([*(METEOR[image] for image in GTS), CORPUS_METEOR], abs=1e-14)
    assert scorer.meteor_p.stdout.readline() == b""


@pytest.mark.parametrize("encode", [str, str.encode], ids=["text", "bytes"])
def test_protocol_lines_may_arrive_in_pieces(encode: Callable[[str], Any]) -> None:
    """Answers to text are text, also those that have not come yet, and answers to bytes are bytes."""
    process = Meteor().meteor_p
    process.stdin.write(encode("SCORE ||| a dog "))
    assert process.stdout.readline() == process.stderr.readline() == encode("")
    process.stdin.write(encode("||| a dog\nEV"))
    line = process.stdout.readline().strip()
    process.stdin.write(encode("AL ||| ") + line + encode("\n"))
    assert [process.stdout.readline(), process.stdout.readline()] == [encode("1.0\n"), encode("1.0\n")]


def test_meteor_score_of_one_caption() -> None:
    scorer = Meteor()
    for image in GTS:
        assert scorer._score(RES[image][0], GTS[image]) == pytest.approx(METEOR[image], abs=1e-14)


def test_meteor_process_can_be_ended() -> None:
    process = Meteor().meteor_p
    assert process.poll() is None
    process.stdin.close()
    process.kill()
    process.terminate()
    assert (process.wait(timeout=1), process.poll(), process.returncode) == (0, 0, 0)
    process.stdout.close()
    process.stderr.close()
    Meteor().close()


def test_missing_process_attributes_are_explained() -> None:
    with pytest.raises(AttributeError, match=r"without Java: meteor_p is not a process, and has no 'pid'"):
        _ = Meteor().meteor_p.pid
    assert not hasattr(Meteor().meteor_p, "communicate")


@pytest.mark.slow
def test_tuples_and_arrays_are_taken_as_the_toolkit_takes_them(official: Any) -> None:
    gts, res = {1: ("a dog runs", "x"), 2: np.array(["two men"])}, {1: ("a dog",), 2: np.array(["men"])}
    score, scores = official.compute_score(gts, res)
    corpus_score, image_scores = Meteor().compute_score(gts, res)  # type: ignore[arg-type]
    assert corpus_score == pytest.approx(score, abs=1e-12)
    assert image_scores == pytest.approx(scores, abs=1e-12)
    with pytest.raises(AssertionError, match="not in a list, but in a str"):
        Meteor().compute_score({1: "a dog"}, {1: ["a dog"]})  # type: ignore[dict-item]


def test_meteor_without_images_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="gts has no images"):
        Meteor().compute_score({}, {})


def test_meteor_scorer_pickles_and_runs_in_threads() -> None:
    scorer = pickle.loads(pickle.dumps(Meteor()))
    assert scorer.compute_score(GTS, RES)[0] == pytest.approx(CORPUS_METEOR, abs=1e-14)
    again = pickle.loads(pickle.dumps(scorer))
    scores: list[float] = []
    threads = [threading.Thread(target=lambda: scores.append(again.compute_score(GTS, RES)[0])) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert scores == [scorer.compute_score(GTS, RES)[0]] * 3


def test_the_class_is_in_the_package_too() -> None:
    assert importlib.import_module("captious.compat.pycocoevalcap.meteor").Meteor is Meteor
