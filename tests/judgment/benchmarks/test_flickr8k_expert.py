"""Flickr8k-Expert: all forms of its files give the same judgments, and errors name the line."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from captious.errors import CaptionFileError, ParameterError
from captious.judgment.judgments import RatedCaptions
from tests.support.judgments import assert_same, load, tokens, write, write_jsonl

N = 300  # pairs of each file


@pytest.fixture
def expert_files(tmp_path: Path, expert: list[dict[str, Any]]) -> Path:
    """Both forms of the expert judgments, the published one apart in ``published``."""
    write_jsonl(tmp_path, "flickr8k/expert.jsonl", expert[:N])
    published = tmp_path / "published"
    lines = ["\t".join([r["image"], r["caption_id"], *map(str, r["scores"])]) for r in expert[:N]]
    write(published, "flickr8k/ExpertAnnotations.txt", lines)
    write(published, "flickr8k/Flickr8k.token.txt", tokens(expert[:N]))
    return tmp_path


@pytest.mark.parametrize("name", ["flickr8k-expert", "flickr8k-expert@yi2020", "flickr8k-expert@cui2018"])
def test_published_and_normalized_flickr8k_expert_are_equal(name: str, expert_files: Path) -> None:
    assert_same(load(expert_files / "published", name), load(expert_files, name))


def test_candidates_among_references_are_detected(
    tmp_path: Path, expert: list[dict[str, Any]], shared_data: Path
) -> None:
    """All 5,822 flags of the normalized file follow from the captions."""
    lines = ["\t".join([r["image"], r["caption_id"], *map(str, r["scores"])]) for r in expert]
    write(tmp_path, "flickr8k/ExpertAnnotations.txt", lines)
    write(tmp_path, "flickr8k/Flickr8k.token.txt", tokens(expert))
    found = load(tmp_path, "flickr8k-expert")
    assert_same(found, load(shared_data, "flickr8k-expert"))
    assert found.n == 3 * (5822 - 158)


def test_means_of_yi_are_the_same_judgments(shared_data: Path, tmp_path: Path) -> None:
    """The file of Yi et al. itself, all 5,664 entries of it."""
    (tmp_path / "yi2020").mkdir()
    shutil.copy(shared_data / "yi2020" / "flickr.json.gz", tmp_path / "yi2020")
    assert_same(load(tmp_path, "flickr8k-expert@yi2020"), load(shared_data, "flickr8k-expert@yi2020"))
    with pytest.raises(ParameterError, match="only their means"):
        load(tmp_path, "flickr8k-expert")


MEANS: dict[str, Any] = {"refs": ["a dog runs", "the dog"], "cand": ["a dog"], "score": 4}


@pytest.mark.parametrize(
    "change",
    [
        *({"score": score} for score in (0.99, 4.01, "x", None)),
        *({"cand": texts} for texts in ("a dog", [], ["a dog", "a cat"], [1])),
        *({"refs": texts} for texts in ("a dog", [], [1])),
    ],
    ids=str,
)
def test_means_are_of_one_to_four_for_one_caption(tmp_path: Path, change: dict[str, Any]) -> None:
    good = {"0": MEANS, "1": MEANS | {"cand": ["a cat"], "score": 1}}
    write(tmp_path, "yi2020/flickr.json", good)
    found = load(tmp_path, "flickr8k-expert@yi2020")
    assert isinstance(found, RatedCaptions)
    assert [ratings.tolist() for ratings in found.ratings] == [[4], [1]]
    write(tmp_path, "yi2020/flickr.json", {**good, "2": MEANS | change})
    with pytest.raises(CaptionFileError) as caught:
        load(tmp_path, "flickr8k-expert@yi2020")
    assert caught.value.where.endswith("flickr.json, entry '2'")


def test_the_normalized_form_comes_first(expert_files: Path) -> None:
    shutil.copytree(expert_files / "published", expert_files, dirs_exist_ok=True)
    assert list(load(expert_files, "flickr8k-expert").data) == ["expert.jsonl"]
