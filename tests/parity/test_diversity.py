"""Diversity of five captions of each of 1,000 images, and of odd ones, as the published programs compute it."""

from __future__ import annotations

import gzip
import json
import warnings
from typing import Any

import numpy as np
import pytest

import captious
from captious.data import CaptionSets, read_captions, read_references
from captious.evaluation.description import describe
from captious.text import PTB, WHITESPACE
from tests.support.shared_data import DATA, with_data

pytestmark = with_data


@pytest.fixture(scope="module")
def images() -> list[dict[str, Any]]:
    with gzip.open(DATA / "diversity" / "diversity_official.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.fixture(scope="module")
def official() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DATA / "diversity" / "diversity_official.json").read_text())
    return found


@pytest.fixture(scope="module")
def sets(images: list[dict[str, Any]]) -> CaptionSets:
    # No metric of these looks at references: document frequencies are given.
    captions = {image["image_id"]: image["captions"] for image in images}
    return read_captions(captions, {image: ["a photo"] for image in captions}, several="mean")


@pytest.fixture(scope="module")
def report(sets: CaptionSets) -> captious.Report:
    metrics = ["div", "mbleu", "mbleu@mean", "lsa", "self-cider", "self-cider@cider-d"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", captious.CaptiousWarning)  # one reference each
        return captious.score(sets, metrics=metrics, settings=captious.Settings(idf="coco"))


def column(images: list[dict[str, Any]], name: str) -> Any:
    return np.array([image[name] for image in images])


def close(actual: Any, expected: Any, tolerance: float) -> None:
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance)


def test_div_equals_self_critical(
    report: captious.Report, images: list[dict[str, Any]], official: dict[str, Any]
) -> None:
    for n in (1, 2):
        close(report[f"div-{n}"].per_caption, column(images, f"div{n}"), 1e-9)
        close(report[f"div-{n}"].score, official["self_critical"][f"Div{n}"], 1e-12)


def test_mbleu_equals_self_critical(
    report: captious.Report, images: list[dict[str, Any]], official: dict[str, Any]
) -> None:
    for n in (1, 2, 3, 4):
        of_images = column(images, "mbleu")[:, n - 1]
        close(report[f"mbleu-{n}"].per_caption, of_images, 1e-9)
        close(report[f"mbleu-{n}@mean"].per_caption, of_images, 1e-9)
        close(report[f"mbleu-{n}"].score, official["self_critical"][f"mBLeu_{n}"], 1e-12)
        close(report[f"mbleu-{n}@mean"].score, official["qingzwang"]["mBLEU_mean_of_per_image"][n - 1], 1e-12)


def test_self_cider_equals_the_official_code(
    report: captious.Report, images: list[dict[str, Any]], official: dict[str, Any]
) -> None:
    distinct = np.array([len(set(image["tokens"])) == 5 for image in images])
    wang = official["qingzwang"]
    for name, theirs, score in (
        ("self-cider", "self_cider", official["self_critical"]["self_cider"]),
        ("self-cider@cider-d", "wang_self_cider", wang["self_cider_ciderD_kernel_val2014_idf"]),
    ):
        close(report[name].per_caption, column(images, theirs), 1e-7)
        close(report[name].per_caption[distinct], column(images, theirs)[distinct], 1e-9)
        close(report[name].score, score, 1e-9)
    close(report["lsa"].per_caption, column(images, "wang_lsa"), 1e-9)
    close(report["lsa"].score, wang["LSA"], 1e-12)


def test_description_of_sets_equals_self_critical(sets: CaptionSets, official: dict[str, Any]) -> None:
    found = describe(sets, PTB)
    assert (found.n_candidates, found.fewest, found.most) == (5000, 5, 5)
    assert found.vocabulary == official["self_critical"]["gDiv1"]
    close(found.bigrams, official["self_critical"]["gDiv2"], 1e-12)
    formulas = official["language_eval_formulas"]
    ptb, raw = formulas["ptb_captions_against_other_39504_images_references"], formulas["raw_captions"]
    assert found.distinct * 5000 == ptb["distinct_sentences"]
    found = describe(sets, WHITESPACE)
    assert (found.vocabulary, found.distinct * 5000) == (raw["vocab_size"], raw["distinct_sentences"])


@pytest.mark.slow
def test_novel_captions_equal_self_critical(sets: CaptionSets, official: dict[str, Any]) -> None:
    references = read_references(DATA / "coco" / "captions_val2014.json.gz")
    scored = set(sets.ids)
    others = references.select([row for row, image in enumerate(references.ids) if image not in scored])
    assert len(others) == 39504
    expected = official["language_eval_formulas"]["ptb_captions_against_other_39504_images_references"]
    assert describe(sets, PTB, others).novel == expected["novel_sentences"]


def test_odd_sets_equal_self_critical() -> None:
    """Equal, disjoint, short, unknown and empty captions; every score there is, the same as of the images."""
    edges = json.loads((DATA / "diversity" / "diversity_edge.json").read_text())
    metrics = ["div", "self-cider"]
    for name, edge in edges.items():
        captions = {1: edge["captions"]}
        outputs = [("div-1", "Div1_fn", 1e-15), ("div-2", "Div2_fn", 1e-15), ("self-cider", "self_cider", 1e-7)]
        if len(edge["captions"]) > 1:
            outputs += [(f"mbleu-{n}", f"mBLeu_{n}", 1e-12) for n in (1, 2, 3, 4)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", captious.CaptiousWarning)
            found = captious.score(
                read_captions(captions, {1: ["a photo"]}, several="mean"),
                metrics=[*metrics, *["mbleu"] * (len(edge["captions"]) > 1)],
                settings=captious.Settings(idf="coco"),
            )
        for output, theirs, tolerance in outputs:
            np.testing.assert_allclose(found[output].score, edge[theirs], rtol=0, atol=tolerance, err_msg=name)
