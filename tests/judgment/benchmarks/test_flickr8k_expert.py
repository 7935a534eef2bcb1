"""Flickr8k-Expert: all forms of its files give the same judgments, and errors name the line."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from captious.errors import CaptionFileError, CaptiousError, EmptyInputError, ParameterError, ResourceError
from captious.judgment import judge
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


def test_cui2018_protocol_has_the_first_reference(shared_data: Path) -> None:
    """METEOR and CIDEr-D have the published .308 and .289 to a few thousandths."""
    found = load(shared_data, "flickr8k-expert@cui2018")
    assert isinstance(found, RatedCaptions)
    every = load(shared_data, "flickr8k-expert")
    assert isinstance(every, RatedCaptions)
    assert found.captions.references.texts == every.captions.references.texts[::5]
    result = judge(found, ["meteor", "cider-d"], resamples=1)["flickr8k-expert@cui2018"]
    assert [result[name].value for name in ("meteor", "cider-d")] == pytest.approx([0.309, 0.291], abs=5e-4)


def test_rounded_scores_of_captions_without_a_common_ngram_tie(shared_data: Path) -> None:
    """BLEU-2 and BLEU-3 have the published .212 and .209 to a few thousandths; constants keep them apart otherwise."""
    for name, expected in {"cui2018": [0.1995, 0.1963], "cui2018-rounded": [0.2106, 0.2126]}.items():
        result = judge(load(shared_data, f"flickr8k-expert@{name}"), ["bleu-2", "bleu-3"], resamples=1)
        assert [figure.value for figure in result[f"flickr8k-expert@{name}"].values()] == pytest.approx(
            expected, abs=1e-4
        )


def test_words_between_blanks_have_the_figures_of_smurf(shared_data: Path) -> None:
    """Feinglass and Yang 2021, table 4: .527, .577 and .511 without ties; near .305, .316 and .277 for all images."""
    metrics = [f"{name}:tokenizer=spaces" for name in ("bleu-1", "bleu-2", "rouge-l")]
    for name, expected, tolerance in (("-untied", [0.527, 0.577, 0.511], 5e-4), ("", [0.305, 0.316, 0.277], 0.01)):
        protocol = f"flickr8k-expert@smurf2021{name}"
        result = judge(load(shared_data, protocol), metrics, resamples=1)[protocol]
        assert [figure.value for figure in result.values()] == pytest.approx(expected, abs=tolerance)


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


def test_missing_formats_are_listed(tmp_path: Path) -> None:
    write(tmp_path, "flickr8k/ExpertAnnotations.txt", ["a.jpg\ta.jpg#0\t1\t1\t1"])
    with pytest.raises(ResourceError) as caught:
        load(tmp_path, "flickr8k-expert")
    assert "flickr8k/expert.jsonl" in caught.value.where
    assert "or flickr8k/Flickr8k.token.txt" in caught.value.where


def test_the_normalized_form_comes_first(expert_files: Path) -> None:
    shutil.copytree(expert_files / "published", expert_files, dirs_exist_ok=True)
    assert list(load(expert_files, "flickr8k-expert").data) == ["expert.jsonl"]


GOOD = "a.jpg\ta.jpg#0\t1\t2\t4"
TOKENS = "a.jpg#0\ta dog\na.jpg#1\ta cat\n"


@pytest.mark.parametrize(
    ("ratings", "captions", "place", "kind"),
    [
        (f"{GOOD}\na.jpg\ta.jpg#0\t1\t2", TOKENS, "ExpertAnnotations.txt, line 2", CaptionFileError),
        (f"{GOOD}\n\na.jpg\ta.jpg#0\t1\t2\tx", TOKENS, "ExpertAnnotations.txt, line 3", CaptionFileError),
        ("a.jpg\ta.jpg#0\t1\t2\t5", TOKENS, "ExpertAnnotations.txt, line 1", CaptionFileError),
        ("a.jpg\ta.jpg#0\t1\tnan\t4", TOKENS, "ExpertAnnotations.txt, line 1", CaptionFileError),
        ("a.jpg\tb.jpg#0\t1\t2\t4", TOKENS, "ExpertAnnotations.txt, line 1", CaptionFileError),
        ("b.jpg\ta.jpg#0\t1\t2\t4", TOKENS, "ExpertAnnotations.txt, line 1", CaptionFileError),
        (GOOD, TOKENS + "a.jpg#1\ta cat\n", "Flickr8k.token.txt, line 3", CaptionFileError),
        (GOOD, TOKENS + "a.jpg\ta cat\n", "Flickr8k.token.txt, line 3", CaptionFileError),
        (GOOD, TOKENS + "a.jpg#2 a cat\n", "Flickr8k.token.txt, line 3", CaptionFileError),
        ("\n", TOKENS, "ExpertAnnotations.txt", EmptyInputError),
    ],
)
def test_broken_lines_are_named(
    ratings: str, captions: str, place: str, kind: type[CaptiousError], tmp_path: Path
) -> None:
    write(tmp_path, "flickr8k/ExpertAnnotations.txt", ratings)
    write(tmp_path, "flickr8k/Flickr8k.token.txt", captions)
    with pytest.raises(kind) as caught:
        load(tmp_path, "flickr8k-expert")
    assert caught.value.where.endswith(place)
    assert caught.value.hint


def record(candidate: str, *ratings: int) -> dict[str, Any]:
    refs = ["a dog runs", "the dog"]
    return {"image": "a.jpg", "caption_id": candidate, "candidate": candidate, "scores": ratings, "refs": refs}


def test_benchmark_with_all_items_excluded_is_refused(tmp_path: Path) -> None:
    write_jsonl(tmp_path, "flickr8k/expert.jsonl", [record("the dog", 1, 2, 3)])
    with pytest.raises(EmptyInputError, match="after excluding candidates that are among the references"):
        load(tmp_path, "flickr8k-expert")
