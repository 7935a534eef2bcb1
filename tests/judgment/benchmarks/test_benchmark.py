"""Requirements and rules of benchmarks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captious.errors import CaptionFileError, EmptyInputError, ParameterError, ResourceError, UnknownNameError
from captious.judgment import (
    Benchmark,
    CaptionPair,
    DataFolder,
    Figure,
    Files,
    Protocol,
    RankedSystem,
    RatedCaption,
    Rule,
)
from captious.judgment.benchmarks import names
from captious.judgment.items import caption_pairs, ranked_systems, rated_captions

PAIRS = Protocol("mine", "first", "accuracy", "majority", "pairs")
RATED = Protocol("mine", "first", "spearman", "each", "captions")


def read(folder: DataFolder) -> list[RatedCaption]:
    ratings = folder.json("mine.json")
    return [RatedCaption(str(n), n, "a", ["b"], [float(rating)]) for n, rating in enumerate(ratings)]


MINE = Benchmark("mine", (RATED, replace(RATED, name="second")), (Files(("mine.json",), read),), "nowhere")


def test_every_file_of_a_benchmark_is_in_the_catalogue() -> None:
    assert list(names._BUILT_IN) == names.names()
    modules = {content["module"] for content in names._BUILT_IN.values()}
    files = {path.stem for path in Path(names.__file__).parent.glob("*.py")}
    assert files == modules | {"__init__", "names"}
    for name in names.names():
        benchmark = names.get(name)
        assert benchmark.name == name
        assert benchmark.obtain
        assert all(each.benchmark == name for each in benchmark.protocols)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"protocols": ()}, "it has no protocol"),
        ({"files": ()}, "it has no files"),
        ({"protocols": (RATED, RATED)}, "two of its protocols have the same name"),
        ({"name": "other"}, "one of its protocols belongs to the benchmark 'mine'"),
        ({"published": {"third": {"bleu-1": Figure(0.5, "me")}}}, "figures for 'third', which is not one of its"),
    ],
)
def test_invalid_benchmarks_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        replace(MINE, **change)


def test_protocols_are_found_by_name() -> None:
    assert MINE.protocol() is MINE.protocol("first") is RATED
    with pytest.raises(UnknownNameError, match="mine has no protocol 'third'") as caught:
        MINE.protocol("third")
    assert caught.value.hint == "its protocols are first, second"


@pytest.mark.parametrize("content", ["[[1]]", '["x"]', "3", "[1, null]"])
def test_data_of_another_form_are_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(content)
    with pytest.raises(CaptionFileError, match="the data of mine do not have the expected format") as caught:
        MINE.judgments(RATED, DataFolder(tmp_path))
    assert "mine.json" in caught.value.where


def test_benchmark_without_judgments_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match="the files of mine are missing"):
        MINE.judgments(RATED, DataFolder(tmp_path))
    (tmp_path / "mine.json").write_text("[]")
    with pytest.raises(EmptyInputError, match="there are no judgments") as caught:
        MINE.judgments(RATED, DataFolder(tmp_path))
    assert caught.value.where == str(tmp_path / "mine.json")


def test_ratings_are_single_points_or_means() -> None:
    items = [RatedCaption("1", "a", "x", ["r"], [1, 2]), RatedCaption("2", "a", "y", ["r"], [4])]
    each = rated_captions(RATED, items, {})
    assert [some.tolist() for some in each.ratings] == [[1, 2], [4]]
    mean = rated_captions(replace(RATED, ratings="mean"), items, {})
    assert [some.tolist() for some in mean.ratings] == [[1.5], [4]]


@pytest.mark.parametrize(
    ("ties", "text", "expected"), [(0.5, "one half", 0.75), (0, "nothing", 0.5), (0.25, "0.25", 0.625)]
)
def test_ties_count_as_the_protocol_says(ties: float, text: str, expected: float) -> None:
    items = [CaptionPair("a", ("x", "y"), 1, ["r"]), CaptionPair("b", ("x", "y"), 0, ["r"])]
    protocol = replace(PAIRS, ties=ties)
    judgments = caption_pairs(protocol, items, {})
    assert judgments.values(np.array([1.0, 2.0, 3.0, 3.0])).tolist() == [expected]
    assert protocol.facts()["ties"] == text


def test_choices_are_applied_to_every_item() -> None:
    items = [CaptionPair(n, ("x", "y"), 1, ["a", "b"], part="even" if n % 2 == 0 else "odd") for n in range(4)]
    protocol = replace(
        PAIRS,
        references=Rule("the first", lambda item: item.references[:1]),
        excluded=Rule("image 0", lambda item: item.image == 0),
        parts=Rule("odd and even", lambda item: item.part),
        part_order=("even", "odd"),
    )
    judgments = caption_pairs(protocol, items, {})
    assert judgments.n == 3
    assert judgments.captions.references.texts == ("a",) * 6
    assert judgments.part_names == ["even", "odd"]
    assert judgments.parts.tolist() == [1, 0, 1]
    assert protocol.facts() == {
        "of": "pairs",
        "ratings": "majority",
        "references": "the first",
        "excluded": "image 0",
        "ties": "one half",
        "parts": "odd and even",
    }


def test_systems_need_a_measure() -> None:
    protocol = Protocol("mine", "first", "pearson", "given", "systems")
    with pytest.raises(ValueError, match="no measure"):
        ranked_systems(protocol, [RankedSystem("a", {})], {})


class TestCsv:
    def rows(self, folder: Path, content: str) -> list[tuple[int, dict[str, str]]]:
        (folder / "mine.csv").write_text(content)
        return list(DataFolder(folder).csv_rows("mine.csv", ("caption", "rating")))

    def test_csv_rows_are_read_with_line_numbers(self, tmp_path: Path) -> None:
        rows = self.rows(tmp_path, '\ufeffcaption,rating,more\n"a dog, running\nfast",3,x\na cat,4,y\n')
        assert rows == [
            (3, {"caption": "a dog, running\nfast", "rating": "3", "more": "x"}),
            (4, {"caption": "a cat", "rating": "4", "more": "y"}),
        ]

    @pytest.mark.parametrize(
        ("content", "message", "line"),
        [
            ("caption,score\na,1\n", "no column rating", 1),
            ("", "no column caption", 1),
            ("caption,rating\na,1\nb\n", "too few cells", 3),
            ("caption,rating\na, b,1\n", "too many cells", 2),
            ("caption,rating\n" + "a" * 200_000 + ",1\n", "not csv", 2),
        ],
    )
    def test_malformed_csv_is_refused_with_its_line(
        self, content: str, message: str, line: int, tmp_path: Path
    ) -> None:
        with pytest.raises(CaptionFileError, match=message) as caught:
            self.rows(tmp_path, content)
        assert caught.value.where.endswith(f"mine.csv, line {line}")
