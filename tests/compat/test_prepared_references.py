"""Scorers of the COCO toolkit whose references are in a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from captious import prepare
from captious.compat.pycocoevalcap import (
    Bleu,
    Cider,
    COCOEvalCap,
    Meteor,
    Rouge,
    Spice,
    prepare_references,
    use_prepared_references,
)
from captious.compat.pycocoevalcap.inputs import references_table
from captious.errors import InputError
from tests.compat.conftest import GTS, RES, FakeCoco
from tests.support.every_metric import MISSING

no_meteor = pytest.mark.skipif("meteor" in MISSING, reason=MISSING.get("meteor", ""))
no_spice = pytest.mark.skipif("spice" in MISSING, reason=MISSING.get("spice", ""))
SCORERS = [Bleu, Rouge, Cider, pytest.param(Meteor, marks=no_meteor), pytest.param(Spice, marks=no_spice)]


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "gts.prepared"
    prepare_references(GTS, path)
    yield path
    use_prepared_references()


@pytest.mark.parametrize("scorer", SCORERS)
def test_scores_stay_the_same(file: Path, scorer: Any) -> None:
    expected = repr(scorer().compute_score(GTS, RES))
    use_prepared_references(file)
    assert repr(scorer().compute_score(GTS, RES)) == expected


@no_spice
def test_references_of_a_file_are_not_parsed_again(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from captious.parsing.sources import CaptionParser

    sentences: list[tuple[str, ...]] = []
    trees = CaptionParser.trees

    def noted(self: CaptionParser, given: Any) -> Any:
        sentences.extend(given)
        return trees(self, given)

    monkeypatch.setattr(CaptionParser, "trees", noted)
    use_prepared_references(file)
    Spice().compute_score(GTS, RES)
    assert {" ".join(words) for words in sentences} <= {text for (text,) in RES.values()}


def test_the_evaluation_uses_the_file(file: Path) -> None:
    evaluation = COCOEvalCap(FakeCoco(GTS), FakeCoco(RES), verbose=False, use_scorers=["CIDEr"])
    use_prepared_references(file)
    evaluation.evaluate()
    assert evaluation.eval["CIDEr"] == Cider().compute_score(GTS, RES)[0]


def test_unprepared_references_are_scored_as_usual(file: Path) -> None:
    others = {**GTS, 5: ["a dog"]}
    expected = repr(Cider().compute_score(others, RES))
    use_prepared_references(file)
    assert references_table(GTS).name == str(file)
    assert references_table(others).name == "gts"
    assert references_table(dict(reversed(GTS.items()))).name == "gts"
    assert repr(Cider().compute_score(others, RES)) == expected
    use_prepared_references()
    assert references_table(GTS).name == "gts"


def test_a_damaged_file_can_be_written_again(file: Path) -> None:
    expected = repr(Cider().compute_score(GTS, RES))
    use_prepared_references(file)
    content = bytearray(file.read_bytes())
    content[len(content) // 2 :] = bytes(len(content) - len(content) // 2)
    file.with_suffix(".new").write_bytes(content)
    file.with_suffix(".new").replace(file)
    prepare_references(GTS, file)
    use_prepared_references(file)
    assert repr(Cider().compute_score(GTS, RES)) == expected


def test_files_without_prepared_references_are_refused(file: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        use_prepared_references(tmp_path / "nothing")
    (tmp_path / "captions.json").write_text('{"1": ["a dog"]}')
    with pytest.raises(InputError, match="not a file of prepared references"):
        use_prepared_references(tmp_path / "captions.json")
    prepare({7: ["a dog"]}, ["bleu"], path=tmp_path / "raw")
    with pytest.raises(InputError, match="not tokenized"):
        use_prepared_references(tmp_path / "raw")
    with pytest.raises(InputError, match="a list is not a path"):
        use_prepared_references([file])  # type: ignore[arg-type]
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(InputError, match="prepare_references"):
        use_prepared_references(file)
