"""Warnings about captions that make scores misleading, and none about others."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import captious
from captious.data import Captions
from captious.data.checks import repeats_itself
from captious.evaluation import evaluate
from captious.evaluation.checks import CaptionFindings
from captious.metrics.contract.selection import select

EXAMPLES = Path(__file__).parents[2] / "examples"
REFERENCES = captious.read_references(EXAMPLES / "references.json")
IMPROVED = captious.read_captions(EXAMPLES / "improved.json", REFERENCES).candidates


def with_candidates(change: dict[int, str]) -> Captions:
    return Captions(tuple(change.get(i, text) for i, text in enumerate(IMPROVED)), REFERENCES)


def kinds(captions: Captions) -> dict[str, int]:
    return {finding.kind: finding.n for finding in CaptionFindings.of(captions).findings}


LONG = "There is a dog. It runs over the grass with a red ball in its mouth. The sky above the trees is blue and clear."


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("empty", " \n"),
        ("copy", None),
        ("markdown", "**A dog** runs over the wide green grass"),
        ("prompt", "The image shows a dog that runs over the grass"),
        ("sentences", LONG),
        ("long", LONG.replace(". ", " and ")),
        ("short", "dog"),
        ("script", "一只狗在公园里跑。"),
        ("language", "ein Hund läuft über eine nasse grüne Wiese"),
        ("repetition", "a dog and a dog and a dog and a dog and"),
        ("parse", f"{LONG} {LONG} {LONG}"),
    ],
)
def test_findings_of_each_kind_name_their_images(kind: str, text: str | None) -> None:
    offsets = REFERENCES.offsets.tolist()
    change = {i: REFERENCES.texts[offsets[i]] if text is None else text for i in range(6)}
    assert kinds(with_candidates(change))[kind] == 6
    findings = CaptionFindings.of(with_candidates(change)).findings
    sentence = next(finding.sentence for finding in findings if finding.kind == kind)
    assert sentence in CaptionFindings.of(with_candidates(change)).warnings
    assert all(str(image) in sentence for image in REFERENCES.ids[:3])


def test_findings_before_scoring_are_not_in_reports() -> None:
    findings = CaptionFindings.of(with_candidates(dict.fromkeys(range(6), f"{LONG} {LONG} {LONG}")))
    assert any("SPICE" in warning for warning in findings.warnings)
    assert not any("SPICE" in warning for warning in findings.warnings_for(["ptb"]))


def test_truncated_captions_are_found() -> None:
    whole = {i: f"{LONG} {text}." for i, text in enumerate(IMPROVED)}
    cut = {**whole, **dict.fromkeys(range(3), f"{LONG} The dog runs towards the")}
    assert "cut" not in kinds(with_candidates(whole))
    assert kinds(with_candidates(cut))["cut"] == 3
    without_marks = {i: text.rstrip(".") for i, text in whole.items()}
    assert "cut" not in kinds(with_candidates(without_marks))


def test_findings_shared_by_references_are_not_reported() -> None:
    both = ["The image shows a dog. It runs.", "This picture shows a cat. It sleeps."]
    references = {i: [f"{text} {i}" for text in both] for i in range(20)}
    candidates = {i: f"The image shows a dog. It sleeps in {i}." for i in range(20)}
    assert kinds(captious.read_captions(candidates, references)) == {}


@pytest.mark.parametrize(("n_of_candidates", "is_reported"), [(40, False), (41, True), (2, False)])
def test_findings_are_reported_from_twice_their_share_in_references(n_of_candidates: int, is_reported: bool) -> None:
    """Here 20 percent of the references, and of 100 candidates as many as given."""
    prompt = "The image shows a dog {}"
    references = {i: [prompt.format(i) if i < 40 else f"A dog {i}", f"One dog {i}"] for i in range(100)}
    candidates = {i: prompt.format(i) if i < n_of_candidates else f"This dog {i}" for i in range(100)}
    found = kinds(captious.read_captions(candidates, references))
    assert found.get("prompt") == (n_of_candidates if is_reported else None)


def test_table_has_numbers_and_shares() -> None:
    table = captious.check({i: "" if i < 3 else f"a dog {i}" for i in range(12)}, system="mine").to_table()
    (row,) = (row for row in table.rows if row.label == "empty")
    assert [cell.value for cell in row.cells if cell is not None] == [3, 0.25, "0, 1, 2"]
    (row,) = (row for row in table.rows if row.label == "markdown")
    assert [cell.value for cell in row.cells if cell is not None] == [0, 0, ""]
    assert "copy" not in {row.label for row in table.rows}  # which needs references


def test_other_scripts_are_reported_unless_all_tokenizers_support_them() -> None:
    candidates = dict.fromkeys(range(10), "一只狗在草地上跑。")
    captions = captious.read_captions(candidates, {i: ["一只棕色的狗在跑。", "一只狗。"] for i in range(10)})
    assert kinds(captions) == {"script": 10}

    def messages(*metrics: str) -> bool:
        return any("Latin script" in warning for warning in evaluate(captions, select(metrics)).warnings)

    assert messages("bleu")
    assert messages("bleu:tokenizer=zh", "rouge-l")
    assert not messages("bleu:tokenizer=zh", "rouge-l:tokenizer=unicode", "chrf")


def test_examples_have_no_findings_and_parts_add_up() -> None:
    captions = with_candidates({2: "", 5: "", 20: "**a** dog and more of it"})
    whole = CaptionFindings.of(captions)
    assert kinds(with_candidates({})) == {}
    parts = [captions.select(np.arange(start, end)) for start, end in pairwise([0, 4, 10, 24])]
    added = sum(map(CaptionFindings.of, parts), CaptionFindings())
    assert (
        added.candidates["empty"] == whole.candidates["empty"] == (2, (str(REFERENCES.ids[2]), str(REFERENCES.ids[5])))
    )
    assert (added.n, added.references, added.most_references) == (whole.n, whole.references, whole.most_references)
    assert CaptionFindings.from_dict(json.loads(json.dumps(added.to_dict()))) == added


def test_pieces_of_one_to_eight_words_are_repetitions_from_the_third_time() -> None:
    captions = ["a b c a b c a b c", "a b c a b c", "b a a a a a a b", "a a a a a b", "1 2 3 4 5 6 7 8 " * 3, "", "a"]
    words = [text.split() for text in captions]
    numbers = {word: i for i, word in enumerate(sorted({word for group in words for word in group}))}
    ids = np.array([numbers[word] for group in words for word in group], np.int32)
    offsets = np.cumsum([0, *map(len, words)])
    assert repeats_itself(ids, offsets).tolist() == [True, False, True, False, True, False, False]
    assert not repeats_itself(np.array([1, 1, 1], np.int32), np.array([0, 1, 2, 3])).any()  # each its own caption


def test_published_system_with_empty_captions_is_reported(shared_data: Path) -> None:
    references = captious.read_references(shared_data / "coco" / "captions_val2014.json.gz")
    for name, expected in [("vinyals-et-al-2017", ["empty"]), ("wu-et-al-2016", [])]:
        path = shared_data / "coco" / "results_val2014" / f"{name}.json.gz"
        findings = CaptionFindings.of(captious.read_captions(path, references)).findings
        assert [finding.kind for finding in findings] == expected


def test_check_reports_findings_without_scoring() -> None:
    result = captious.check(with_candidates({0: "", 1: ""}), system="mine")
    assert [(finding.kind, finding.n) for finding in result.findings if finding.kind == "empty"] == [("empty", 2)]
    report = evaluate(with_candidates({0: "", 1: ""}), select("rouge-l"))
    assert result.warnings == report.warnings
    assert result.to_dict()["findings"]["empty"]["candidates"] == 2
    assert "mine: 24 candidates, 120 references" in str(result)
    assert "copy" not in str(captious.check({1: "a dog"}))  # without references


def test_combined_metrics_join_the_names_of_their_tokens() -> None:
    captions = captious.read_captions(
        dict.fromkeys(range(9), "собака бежит по пляжу"), {i: ["собака", "пляж"] for i in range(9)}
    )
    findings = CaptionFindings.of(captions)
    kinds = [finding.kind for finding in findings.findings_for(["smurf, distilroberta-base"])]
    assert "script" in kinds
    assert "script" not in [finding.kind for finding in findings.findings_for(["distilroberta-base"])]


def test_words_of_both_sides_are_counted() -> None:
    """References have 1.5 words on the first image and 1 on the second."""
    candidates, references = {1: "a dog", 2: "a cat runs fast"}, {1: ["dog", "the dog"], 2: ["cats"]}
    both, alone = captious.check(candidates, references).to_dict(), captious.check(candidates).to_dict()
    assert (both["n_candidates"], both["n_references"]) == (2, 3)
    assert (both["words_per_candidate"], both["words_per_reference"]) == (3.0, 1.25)
    assert (alone["words_per_candidate"], alone["words_per_reference"]) == (3.0, None)
