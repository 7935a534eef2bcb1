"""captious compared with pycocoevalcap, which needs Java, on the four Karpathy systems."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captious.compat import pycocoevalcap as ours
from tests.compat.conftest import FakeCoco, NoSpice, closing_its_pipes

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def toolkit() -> dict[str, Any]:
    """The classes of pycocoevalcap."""
    homes = {"Bleu": "bleu.bleu", "Rouge": "rouge.rouge", "Cider": "cider.cider"}
    homes |= {"PTBTokenizer": "tokenizer.ptbtokenizer", "Meteor": "meteor.meteor"}
    if shutil.which("java") is None:
        pytest.skip("no java")
    classes = {name: getattr(pytest.importorskip(f"pycocoevalcap.{home}"), name) for name, home in homes.items()}
    return {**classes, "Meteor": closing_its_pipes(classes["Meteor"])}


@pytest.fixture(scope="module")
def records(shared_data: Path) -> list[dict[str, Any]]:
    with gzip.open(shared_data / "smurf" / "karpathy_4captioners.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize("system", [0, *(pytest.param(n, marks=pytest.mark.nightly) for n in (1, 2, 3))])
def test_scorers_equal_the_toolkit_on_karpathy_captions(
    toolkit: dict[str, Any], records: list[dict[str, Any]], system: int
) -> None:
    raw_gts = {i: [{"caption": text} for text in record["refs"]] for i, record in enumerate(records)}
    raw_res = {i: [{"caption": record["captions"][system]}] for i, record in enumerate(records)}

    official, tokenizer = toolkit["PTBTokenizer"](), ours.PTBTokenizer()
    gts, res = official.tokenize(raw_gts), official.tokenize(raw_res)
    assert tokenizer.tokenize(raw_gts) == gts
    tokenized = tokenizer.tokenize(raw_res)
    assert list(tokenized) == list(res)
    assert tokenized == res  # "... Nintendo Wii U." included, whose tokens depend on the beginning of the next caption

    for name in ("Bleu", "Rouge", "Cider"):
        verbose = {"verbose": 0} if name == "Bleu" else {}
        score, scores = toolkit[name]().compute_score(gts, res, **verbose)
        our_score, our_scores = getattr(ours, name)().compute_score(gts, res, **verbose)
        np.testing.assert_allclose(our_score, score, rtol=0, atol=1e-12)
        np.testing.assert_allclose(our_scores, scores, rtol=0, atol=1e-12)
        assert type(our_score) is type(score)
        assert type(our_scores) is type(scores)


@pytest.mark.nightly
@pytest.mark.usefixtures("meteor_tables")
def test_meteor_equals_the_toolkit(toolkit: dict[str, Any], records: list[dict[str, Any]]) -> None:
    """Captions of all four systems, one after the other; the gold scores of the rest are held elsewhere."""
    tokenizer = ours.PTBTokenizer()
    gts = tokenizer.tokenize({i: [{"caption": text} for text in records[i]["refs"]] for i in range(400)})
    res = tokenizer.tokenize({i: [{"caption": records[i]["captions"][i % 4]}] for i in range(400)})
    official = toolkit["Meteor"]()
    score, scores = official.compute_score(gts, res)
    our_score, our_scores = ours.Meteor().compute_score(gts, res)
    assert our_score == pytest.approx(score, rel=0, abs=1e-12)
    np.testing.assert_allclose(our_scores, scores, rtol=0, atol=1e-12)
    assert (type(our_score), type(our_scores), type(our_scores[0])) == (type(score), type(scores), type(scores[0]))
    assert ours.Meteor().method() == official.method()


@pytest.mark.usefixtures("meteor_tables")
def test_cocoevalcap_equals_the_toolkit(
    toolkit: dict[str, Any],
    records: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Printed lines and results are equal, except those of SPICE."""
    official = pytest.importorskip("pycocoevalcap.eval")

    monkeypatch.setattr(official, "Meteor", toolkit["Meteor"])
    monkeypatch.setattr(official, "Spice", NoSpice)
    few = records[:200]
    coco = FakeCoco({2 * i: record["refs"] for i, record in enumerate(few)})
    results = FakeCoco({2 * i: [few[i]["captions"][1]] for i in reversed(range(len(few)))})

    theirs = official.COCOEvalCap(coco, results)
    theirs.evaluate()
    absent = ("computing SPICE", "SPICE")
    expected = [line for line in capsys.readouterr().out.splitlines() if not line.startswith(absent)]
    mine = ours.COCOEvalCap(coco, results)
    mine.evaluate()
    printed = [line for line in capsys.readouterr().out.splitlines() if not line.startswith(absent)]
    assert printed == expected

    assert mine.params == theirs.params
    assert list(mine.imgToEval) == list(theirs.imgToEval)
    assert [*mine.eval] == [*theirs.eval]
    for name, score in mine.eval.items():
        if name == "SPICE":
            continue
        assert score == pytest.approx(theirs.eval[name], abs=1e-12)
    for record, their_record in zip(mine.evalImgs, theirs.evalImgs, strict=True):
        assert list(record) == list(their_record)
        for name, score in record.items():
            if name == "SPICE":
                continue
            assert score == pytest.approx(their_record[name], abs=1e-12)
            assert type(score) is type(their_record[name])
