"""References given as one text per image: the tables, the scores of metrics, and signatures."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import captious
from captious.errors import UnknownNameError
from tests.support.corpora import TOY, table


def test_references_become_one_text_per_image() -> None:
    captions = table(["a dog", "x"], [["a dog", "the cat ."], [""]])
    joined = captions.concatenated
    assert joined.references.texts == ("a dog the cat .", "")
    assert joined.references.offsets.tolist() == [0, 1, 2]
    assert joined.ids == captions.ids
    assert joined.candidates == captions.candidates
    assert captions.references.texts == ("a dog", "the cat .", "")


def test_systems_share_what_is_known_about_them() -> None:
    captions = table(["a dog"], [["a dog", "the cat"]])
    other = captious.read_captions({0: "a cat"}, captions.references)
    assert captions.concatenated is captions.concatenated
    assert other.concatenated.references is captions.concatenated.references
    assert captions.select([0]).concatenated is captions.concatenated


def test_concatenation_of_one_reference_changes_nothing() -> None:
    captions = TOY.table()
    one = table(list(captions.candidates), [[texts[0]] for texts in map(_texts, TOY.references)])
    candidates = dict(zip(one.ids, one.candidates, strict=True))
    each, cat = (
        _score(candidates, one.references, ["rouge-l", "cider-d"], references_as=way) for way in ("each", "cat")
    )
    for name in each:
        np.testing.assert_array_equal(each[name].per_caption, cat[name].per_caption)


def test_scores_are_those_of_the_joined_text() -> None:
    candidates = ["a dog runs in the park", "two men play"]
    references = [["a dog runs", "the park is green"], ["two men", "they play guitar"]]
    by_hand = [[" ".join(texts)] for texts in references]
    expected = _score(candidates, by_hand, ["rouge-l", "bleu-2"])
    found = _score(candidates, references, ["rouge-l", "bleu-2"], references_as="cat")
    for name in expected:
        np.testing.assert_array_equal(found[name].per_caption, expected[name].per_caption)
        assert found[name].score == expected[name].score


def test_signatures_show_concatenated_references() -> None:
    candidates, references = ["a dog"], [["a dog", "the dog"]]
    each = _score(candidates, references, ["rouge-l"])["rouge-l"].signature
    cat = _score(candidates, references, ["rouge-l"], references_as="cat")["rouge-l"].signature
    version = f"captious:{captious.__version__}"
    assert each.endswith(f"|references:2|{version}")
    assert cat == each.replace("references:2", "references:cat-2")


def test_reports_are_about_the_captions_as_they_were_given() -> None:
    report = _score(["a dog", "x"], [["a dog", "the dog"], ["y", "z"]], ["rouge-l"], references_as="cat")
    assert report.n_references == 4
    assert not any("one reference only" in warning for warning in report.warnings)


@pytest.mark.parametrize(
    ("references", "metrics", "references_as", "title"),
    [
        ([["a dog"], ["y", "z"]], ["rouge-l"], "each", "2 images · 1.5 references each · tokens: ptb"),
        ([["a dog"], ["y", "z"]], ["rouge-l"], "cat", "2 images · 1.5 references each, concatenated · tokens: ptb"),
    ],
)
def test_titles_say_whether_references_were_concatenated(
    references: object, metrics: list[str], references_as: str, title: str
) -> None:
    report = _score(["a dog", "x"], references, metrics, references_as=references_as)
    assert report.to_table().title == title


def test_unknown_references_as_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="not 'best'"):
        captious.score(["a dog"], [["a dog"]], ["rouge-l"], settings=captious.Settings(references_as="best"))


def _texts(references: list[list[str]]) -> list[str]:
    return [" ".join(reference) for reference in references]


def _score(
    candidates: object, references: object, metrics: list[str], *, references_as: str = "each"
) -> captious.Report:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", captious.CaptiousWarning)
        settings = captious.Settings(references_as=references_as)
        return captious.score(candidates, references, metrics, settings=settings)
