"""CoNLL-14: the input is left out, and there are no published scores."""

from __future__ import annotations

from pathlib import Path

import pytest

from captious.errors import CaptionFileError
from captious.judgment.judgments import SystemRanking
from tests.support.judgments import load, write


@pytest.mark.parametrize(
    ("name", "statistic"),
    [("conll14-gec", "spearman"), ("conll14-gec@spearman", "spearman"), ("conll14-gec@pearson", "pearson")],
)
def test_conll14_systems_are_read(name: str, statistic: str, tmp_path: Path) -> None:
    outputs = {"INPUT": ["a"], "X": ["b"], "Y": ["c"]}
    write(tmp_path, "conll14_gec/systems.json", {"outputs": outputs, "expected_wins": {"X": 0.7, "Y": 0.3}})
    found = load(tmp_path, name)
    assert isinstance(found, SystemRanking)
    assert found.protocol.statistic == statistic
    assert found.systems == ["X", "Y"]
    assert found.human.tolist() == [0.7, 0.3]
    assert found.outputs == [["b"], ["c"]]
    assert not found.published


def test_list_instead_of_an_object_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "conll14_gec/systems.json", {"outputs": ["X"]})
    with pytest.raises(CaptionFileError, match="do not have the expected format"):
        load(tmp_path, "conll14-gec")
