"""Polaris: references are a Python list in one cell, of which nothing is evaluated."""

from __future__ import annotations

from pathlib import Path

import pytest

from captious.errors import CaptionFileError
from captious.judgment.judgments import RatedCaptions
from tests.support.judgments import load, write

HEAD = "imgid,mt,refs,score"


def test_polaris_ratings_are_read(tmp_path: Path) -> None:
    lines = [HEAD, '1.jpg,a dog,"[\'a dog""s\', ""it\'s a dog""]",0.75', "2.jpg,,['a cat'],0"]
    write(tmp_path, "polaris/polaris_test.csv", lines)
    found = load(tmp_path, "polaris")
    assert isinstance(found, RatedCaptions)
    assert (found.protocol.name, found.protocol.statistic) == ("tau-c", "kendall-tau-c")
    assert found.captions.candidates == ("a dog", "")
    assert found.captions.references.texts == ('a dog"s', "it's a dog", "a cat")
    assert [each.tolist() for each in found.ratings] == [[0.75], [0.0]]
    assert load(tmp_path, "polaris@tau-b").protocol.statistic == "kendall-tau-b"


@pytest.mark.parametrize(
    "cell", ["a cat", "[]", "[1]", "__import__('os').getcwd()", "['a' * 9]", "[" * 300, "-" * 9000, "'a cat'"]
)
def test_malformed_polaris_references_are_refused(tmp_path: Path, cell: str) -> None:
    write(tmp_path, "polaris/polaris_test.csv", [HEAD, f'1.jpg,a dog,"{cell}",1'])
    with pytest.raises(CaptionFileError, match="not a list of texts") as caught:
        load(tmp_path, "polaris")
    assert "polaris_test.csv, line 2" in caught.value.where
