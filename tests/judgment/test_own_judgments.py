"""Your own judgments: reading, statistics, and errors that name the line."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau

import captious
from captious.errors import CaptionFileError, EmptyInputError, ParameterError, ResourceError, UnknownNameError
from captious.judgment import judging, load_judgments
from captious.judgment.studies import reference_counts, robustness

GOOD = [
    {"candidate": "a dog", "references": ["a dog runs"], "rating": 3, "image": 1},
    {"candidate": "a cat runs", "references": ["a dog runs"], "rating": 2, "image": 1},
    {"candidate": "two men", "references": ["a dog runs"], "rating": 1, "image": 2},
]


def written(folder: Path, *records: object, name: str = "own.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in (*GOOD, *records)))
    return path


@pytest.mark.parametrize("packed", [lambda content: b"\xef\xbb\xbf" + content, gzip.compress], ids=["mark", "gzip"])
def test_byte_order_marks_and_gzip_without_extension_are_read(packed: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = written(tmp_path)
    expected = load_judgments(path)
    path.write_bytes(packed(path.read_bytes()))
    assert load_judgments(path).items == expected.items


def test_a_line_without_image_is_an_image_of_its_own(tmp_path: Path) -> None:
    nameless = {"candidate": "a", "references": ["a"], "rating": 1}
    path = written(tmp_path, nameless, nameless | {"image": None}, nameless | {"image": "2"})
    assert load_judgments(path).n_units == 4


PAIRS = ({"better": "a dog runs", "worse": "a cat", "references": ["a dog runs"]},)


def lengths(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> list[int]:
    return [len(candidate) for candidate in candidates]


@pytest.mark.parametrize(
    "record", [{"candidate": "a dog", "rating": 3}, {"better": "a red dog", "worse": "a dog"}], ids=["ratings", "pairs"]
)
def test_references_may_be_empty_on_every_line_for_metrics_without_them(tmp_path: Path, record: Any) -> None:
    def unknown(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> list[int]:
        assert not any(references)
        return lengths(candidates, references)

    bare, own = record | {"references": []}, tmp_path / "own.jsonl"
    rows = [bare, bare | ({"candidate": "two dogs", "rating": 5} if "rating" in bare else {})]
    own.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert captious.judge(own, unknown, resamples=2)["own"]["unknown"].value == pytest.approx(1)
    with pytest.raises(ParameterError, match="bleu cannot be computed without references"):
        captious.judge(own, "bleu-1")
    with own.open("a") as file:
        file.write(json.dumps(bare | {"references": ["a dog"]}) + "\n")
    with pytest.raises(CaptionFileError, match="references must be a non-empty list of strings") as caught:
        captious.judge(own, unknown)
    assert caught.value.where.endswith("line 1")


def test_default_statistic_is_tau_c_or_accuracy(tmp_path: Path) -> None:
    path = written(tmp_path)
    assert load_judgments(path).protocol.statistic == "kendall-tau-c"
    assert load_judgments(path).protocol.full_name == load_judgments(f"{path}@own").protocol.full_name == "own@own"
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text("".join(json.dumps(pair) + "\n" for pair in PAIRS))
    assert load_judgments(pairs).protocol.statistic == "accuracy"
    assert load_judgments(f"{pairs}@accuracy").values(np.array([1.0, 0.0])).tolist() == [1.0]


def test_one_file_with_several_statistics_shares_a_table(tmp_path: Path) -> None:
    path = written(tmp_path)
    judgment = captious.judge([path, f"{path}@spearman", f"{path}.gz@pearson"], "rouge-l", resamples=2)
    assert [*judgment] == ["own@own", "own@spearman", "own@pearson"]
    (tmp_path / "b").mkdir()
    with pytest.raises(ParameterError, match="two benchmarks are called own"):
        captious.judge([path, f"{written(tmp_path / 'b', GOOD[0])}@spearman"], "rouge-l")


def test_file_names_with_an_at_sign_are_read(tmp_path: Path) -> None:
    path = written(tmp_path, name="me@home.jsonl")
    assert load_judgments(path).protocol.full_name == "me@home@own"
    assert load_judgments(f"{path}@spearman").protocol.statistic == "spearman"


def constant(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
    return [0.25 + 1e-17 * number for number in range(len(candidates))]


def test_a_metric_that_is_constant_gets_no_number(tmp_path: Path) -> None:
    path = written(tmp_path, *GOOD)
    references = {number: ["a dog runs", "the dog"] for number in range(3)}
    for study in (
        lambda: captious.judge(path, constant),
        lambda: reference_counts(path, constant),
        lambda: robustness(references, constant),
    ):
        with pytest.raises(ParameterError, match=r"all scores are 0\.25"):
            study()


def test_a_function_has_to_give_every_sentence_of_a_system_a_score(shared_data: Path) -> None:
    def one_more(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
        return [float(len(text)) for text in candidates] + [5.0]

    with pytest.raises(ParameterError, match="1,313 scores for 1,312 items"):
        captious.judge("conll14-gec", one_more, data=shared_data)


@pytest.mark.parametrize(
    ("benchmarks", "metrics", "scores", "message"),
    [
        (0, ["rouge-l"], None, "no benchmarks were requested"),
        (1, [], None, "no metrics were requested"),
        (2, ["rouge-l"], None, "own@own is requested twice"),
        (1, None, {"other": {"mine": [1, 2, 3]}}, "scores were given for other, which is not among"),
        (1, None, {"own": {"mine": {"1": 0.1, "3": 0.3}}}, "mine: scores are missing for 1 of 3 items"),
        (1, None, {"own": {"mine": [1, float("inf"), 3]}}, "scores that are not finite: 1"),
        (1, None, {"own": {"mine": [1, 2]}}, "there are 2 scores for 3 items"),
        (1, None, {"own": {"mine": ["good", "bad", "ugly"]}}, "the scores are not numbers"),
        (1, ["rouge-l"], {"own": {"rouge-l": [1, 2, 3]}}, "rouge-l is requested twice"),
        (1, None, {"own": {"mine": {"1": 0.1, "2": 0.2, "3": 0.3, "17": 0.4}}}, "scores for 1 unknown item"),
        (1, None, {"own": {"x": [1, 2, 3]}, "own@own": {"x": [1, 2, 3]}}, "given twice"),
        (1, None, {"own": {}}, "neither metrics nor scores were given"),
        (1, None, {"own": {"mine": {1: 0.1, "1": 0.2, 2: 0.2, 3: 0.3}}}, "mine has two scores for an item"),
    ],
)
def test_wrong_requests_are_refused(
    tmp_path: Path, benchmarks: int, metrics: list[str] | None, scores: Any, message: str
) -> None:
    judgments = load_judgments(written(tmp_path))
    with pytest.raises(ParameterError, match=message):
        captious.judge([judgments] * benchmarks, metrics, scores=scores)


def test_scores_are_matched_by_their_ids(tmp_path: Path) -> None:
    path = written(tmp_path)
    pandas = pytest.importorskip("pandas")
    series = pandas.Series([0.3, 0.1, 0.2], index=[3, 1, 2])
    results = [
        next(iter(captious.judge(path, scores={"own": {"m": scores}}, resamples=10).values()))["m"].value
        for scores in (series, series.to_dict(), series.sort_index().to_list(), series.to_list())
    ]
    assert results[0] == results[1] == results[2] != results[3]


def test_scores_that_a_file_gives_twice_are_refused(tmp_path: Path) -> None:
    path, scores = written(tmp_path), tmp_path / "scores.json"
    scores.write_text('{"own": {"m": {"1": 3, "1": 0, "2": 1, "3": 2}}}')
    with pytest.raises(CaptionFileError, match="'1' occurs twice"):
        captious.judge(path, scores=scores)


def test_two_raters_agree_as_scipy_says(tmp_path: Path) -> None:
    ratings = [(1, 2), (3, 3), (2, 1), (4, 4), (2, 3)]
    lines = [{"candidate": f"a dog {n}", "references": ["a dog"], "ratings": pair} for n, pair in enumerate(ratings)]
    (tmp_path / "two.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (result,) = captious.judge(
        tmp_path / "two.jsonl@kendall-tau-b", scores={"two": {"m": [1, 2, 3, 4, 5]}}, resamples=10
    ).values()
    assert result.people is not None
    assert result.people.value == pytest.approx(kendalltau(*zip(*ratings, strict=True)).statistic, abs=1e-12)


def test_images_have_another_key_than_in_captions(tmp_path: Path) -> None:
    path = written(tmp_path, {"image_id": 1, "candidate": "a", "references": ["a"], "rating": 1})
    with pytest.raises(CaptionFileError, match="image_id is called image"):
        load_judgments(path)


def test_judgments_that_do_not_exist_are_named(tmp_path: Path) -> None:
    """Of folders and benchmarks, the record has it."""
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(EmptyInputError, match="there are no judgments"):
        load_judgments(tmp_path / "empty.jsonl")
    with pytest.raises(ResourceError, match="judgment file not found"):
        load_judgments(tmp_path / "missing.jsonl")


def test_nobody_is_told_to_download_a_file_of_their_own(tmp_path: Path) -> None:
    for content in (b'{"image": 1,\n', b"\xff\n"):
        (tmp_path / "own.jsonl").write_bytes(content)
        with pytest.raises(CaptionFileError) as caught:
            load_judgments(tmp_path / "own.jsonl")
        assert caught.value.hint.startswith('write {"candidate":')


def test_metrics_that_were_not_judged_are_named(tmp_path: Path) -> None:
    (result,) = captious.judge(written(tmp_path), "rouge-l", resamples=10).values()
    with pytest.raises(UnknownNameError, match="'rouge-k' was not judged") as caught:
        result["rouge-k"]
    assert "this result has rouge-l" in caught.value.hint


def test_default_metrics_are_those_of_coco(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The metrics of the COCO evaluation, as everywhere; with scores, only these."""
    monkeypatch.setattr(judging, "coco_available", lambda: (["bleu-1", "rouge-l"], ["meteor was left out."]))
    path = written(tmp_path)
    judgment = captious.judge(path, resamples=5)
    assert [*judgment["own"].agreements] == ["bleu-1", "rouge-l"]
    assert "meteor was left out." in judgment.warnings
    scored = captious.judge(path, scores={"own": {"mine": [1, 2, 3]}}, resamples=5)
    assert [*scored["own"].agreements] == ["mine"]
    assert "meteor was left out." not in scored.warnings


@pytest.mark.parametrize("values", [["1", "2", "3"], [True, False, True], [1, 2, False]])
def test_given_scores_are_numbers_as_ratings_are(tmp_path: Path, values: list[float]) -> None:
    with pytest.raises(ParameterError, match=r"the scores are not numbers: (?:'1'|True|False)"):
        captious.judge(written(tmp_path), scores={"own": {"mine": values}}, resamples=5)


def test_a_benchmark_under_several_protocols_is_asked_for_by_protocol(shared_data: Path) -> None:
    judgment = captious.judge(["coco-2015@m1", "coco-2015@m2"], "bleu-4", data=shared_data, resamples=2)
    assert judgment["coco-2015@m2"]["bleu-4"].value > 0
    with pytest.raises(UnknownNameError, match="several protocols"):
        judgment["coco-2015"]
    with pytest.raises(UnknownNameError, match="no protocol ''"):
        captious.judge("coco-2015@", "bleu-4", data=shared_data)


def test_lines_without_an_image_are_of_no_image_with_features(tmp_path: Path) -> None:
    lines = [{"candidate": "a", "references": ["b"], "rating": n} for n in range(3)]
    (tmp_path / "own.jsonl").write_text("\n".join(map(json.dumps, [*lines, {**lines[0], "image": 7}])))
    judgments = load_judgments(tmp_path / "own.jsonl")
    assert judgments.captions.references.images == ("(line 1)", "(line 2)", "(line 3)", "7")


@pytest.mark.parametrize("part", ["", ', "part": null'])
def test_parts_are_on_every_line_or_on_none(tmp_path: Path, part: str) -> None:
    """A mean over the parts that are named, and one of all other lines, would be called that of all."""
    line = '{{"candidate": "a dog", "references": ["the dog"], "rating": {}{}}}\n'
    named = ', "part": "photos"'
    (tmp_path / "own.jsonl").write_text("".join(line.format(n, named if n < 3 else part) for n in range(5)))
    with pytest.raises(CaptionFileError, match="no part, but other lines have one") as caught:
        load_judgments(str(tmp_path / "own.jsonl"))
    assert caught.value.where.endswith("own.jsonl, line 4")
    (tmp_path / "own.jsonl").write_text("".join(line.format(n, part) for n in range(5)))
    assert load_judgments(str(tmp_path / "own.jsonl")).n_units == 5


def test_judgments_in_another_form_are_told_how_to_write_them(tmp_path: Path) -> None:
    (tmp_path / "rated.csv").write_text("candidate,references,rating\na dog,a dog runs,3\n")
    with pytest.raises(ParameterError, match=r"are read from \.jsonl files") as caught:
        captious.judge(f"{tmp_path}/rated.csv@spearman", "rouge-l")
    assert caught.value.hint.startswith('write {"candidate": "...", "references": ["..."], "rating": 3}')
    (tmp_path / "rated.jsonl").write_text('{"candidate": "a dog", "references": ["a dog runs"], "human": 3}\n')
    with pytest.raises(CaptionFileError, match="no rating") as wrong:
        captious.judge(tmp_path / "rated.jsonl", "rouge-l")
    assert wrong.value.where.endswith("line 1: found 'candidate', 'references', 'human'")
