"""What new users write in Python before they read the docs, and what must happen: one row a guess.

A guess works and means what it says, or an error names what to write instead. Those on the command line are in
``tests/cli/test_guesses.py``.
"""

from __future__ import annotations

import json
import math
import pickle
import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import captious
from captious.errors import CaptiousError
from tests.support.tables import tables

CANDIDATES = {
    1: "a yellow tram drives over a bridge",
    2: "three goats climb a steep rock",
    3: "a boy with a kite stands on a beach",
    4: "two wooden chairs beside a lamp",
}
REFERENCES = {
    1: ["a yellow tram passes an old bridge", "a tram drives over a bridge in a town"],
    2: ["three goats stand on a steep rock", "some goats climb rocks on a hill"],
    3: ["a boy holds a kite by the sea", "a child with a kite stands on a beach"],
    4: ["two chairs stand beside a lamp", "a lamp lights two wooden chairs"],
}


def bleu_1() -> float:
    """Return BLEU-1 by its definition (Papineni et al. 2002): clipped precision times the brevity penalty."""
    matches = closest_lengths = 0
    for image, candidate in CANDIDATES.items():
        words, references = candidate.split(), [reference.split() for reference in REFERENCES[image]]
        most: Counter[str] = Counter()
        for reference in references:
            most |= Counter(reference)
        matches += (Counter(words) & most).total()
        closest_lengths += min(map(len, references), key=lambda length: (abs(length - len(words)), length))
    n_words = sum(len(candidate.split()) for candidate in CANDIDATES.values())
    return matches / n_words * min(1.0, math.exp(1 - closest_lengths / n_words))


#: A call, what must happen, and what it says; in words that the table explains.
GUESSES = tables(__file__)["guesses"]
ERRORS = {"refused": CaptiousError, "TypeError": TypeError, "KeyError": KeyError}


def exact(candidate: str, references: Sequence[str]) -> float:
    """Return whether a candidate is one of its references."""
    return float(candidate in references)


def records(captions: Mapping[int, str]) -> list[dict[str, object]]:
    """Return captions in the form of COCO's results."""
    return [{"image_id": image, "caption": caption} for image, caption in captions.items()]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The names that the guesses use; D is a folder with the captions in files."""
    folder = tmp_path_factory.mktemp("captions")
    (folder / "c.json").write_text(json.dumps(records(CANDIDATES)))
    (folder / "r.json").write_text(json.dumps(REFERENCES))
    (folder / "wrapped.json").write_text(json.dumps({"model": "mine", "predictions": records(CANDIDATES)}))
    rows = [f"{image},{caption}\n" for image, caption in CANDIDATES.items()]
    (folder / "c.csv").write_text("image_id,caption\n" + "".join(rows))
    (folder / "other.csv").write_text("key,text\n" + "".join(rows))
    (folder / "c.txt").write_text("".join(f"{caption}\n" for caption in CANDIDATES.values()))
    (folder / "lines.log").write_text("".join(json.dumps(record) + "\n" for record in records(CANDIDATES)))
    annotations = [{"id": 9, "image_id": image, "caption": one} for image, many in REFERENCES.items() for one in many]
    images = [{"id": image} for image in REFERENCES]
    (folder / "coco.json").write_text(json.dumps({"images": images, "annotations": annotations}))
    return {
        "C": CANDIDATES,
        "TWICE": {image: [caption, caption] for image, caption in CANDIDATES.items()},
        "PADDED": {f"{image:012}": caption for image, caption in CANDIDATES.items()},
        "FILE_NAMES": {f"photos/{image}.jpg": caption for image, caption in CANDIDATES.items()},
        "COLUMNS": {"id": "key", "caption": "text"},
        "CHAT": [{"role": "assistant", "content": CANDIDATES[1]}],
        "R": REFERENCES,
        "D": folder,
        "BLEU_1": bleu_1(),
        "np": np,
        "pd": pytest.importorskip("pandas"),
        "pl": pytest.importorskip("polars"),
        "pa": pytest.importorskip("pyarrow"),
        "json": json,
        "again": lambda value: pickle.loads(pickle.dumps(value)),
        "exact": exact,
        "records": records,
        "captious": captious,
        "CaptionFile": captious.CaptionFile,
    } | {name: getattr(captious, name) for name in FUNCTIONS}


FUNCTIONS = ("score", "score_systems", "compare", "reward", "explain", "judge", "check")


@pytest.mark.parametrize(
    ("guess", "outcome", "words"),
    [(guess, outcome, words) for guess, outcome, *words in GUESSES],
    ids=[guess for guess, *_ in GUESSES],
)
def test_a_guess_works_or_is_answered(guess: str, outcome: str, words: list[str], names: dict[str, Any]) -> None:
    captious.evaluation.checks.issued.clear()
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        if outcome == "is":
            (expected,) = words
            value, right = eval(guess, names), eval(expected, names)
            assert value == (pytest.approx(right, abs=1e-9) if isinstance(right, float) else right)
            return
        if outcome == "warns":
            eval(guess, names)
            text = "\n".join(str(warning.message) for warning in issued)
        else:
            with pytest.raises(ERRORS[outcome]) as caught:
                eval(guess, names)
            text = str(caught.value)
    assert all(word in text for word in words), text
    assert not re.search(r"(^|[\s(])--[a-z]", text), "the dialect of the command line"


def test_there_are_as_many_guesses_as_were_tried() -> None:
    assert len({guess for guess, *_ in GUESSES}) >= 98
