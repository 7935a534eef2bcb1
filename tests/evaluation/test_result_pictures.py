"""Pictures of scores and differences: the values of tables and their intervals."""

from __future__ import annotations

import pytest

import captious
from captious.evaluation import compare_reports
from captious.evaluation.report import score_table
from captious.tables import Cell, Column, Dot, Dots, Picture, Row, score_pictures

REFERENCES = {i: [f"a dog runs on road {i}", f"the dog on the road {i}"] for i in range(12)}
SYSTEMS = {
    "one": {i: f"a dog on road {i}" for i in REFERENCES},
    "two": {i: f"a bus on road {i % 4}" for i in REFERENCES},
}
METRICS = ["bleu-1", "rouge-l"]

pytestmark = pytest.mark.filterwarnings("ignore:too few images")


def reports() -> list[captious.Report]:
    return [captious.score(captions, REFERENCES, METRICS, system=name) for name, captions in SYSTEMS.items()]


def dots(picture: Picture) -> Dots:
    assert isinstance(picture, Dots)
    return picture


def dot(result: captious.Result) -> Dot:
    return Dot(result.score, result.confidence_interval())


def test_a_system_has_one_picture_of_all_scores() -> None:
    report = reports()[0]
    (picture,) = map(dots, report.to_table(intervals=True).pictures.values())
    assert picture.title == "one"
    assert picture.rows == {name: dot(report[name]) for name in METRICS}
    assert picture.line is None


def test_systems_have_a_picture_for_each_score() -> None:
    both = reports()
    pictures = captious.Reports(both).to_table(intervals=True).pictures
    assert list(pictures) == METRICS
    for name, picture in pictures.items():
        assert dots(picture).title == name
        assert dots(picture).rows == {report.system: dot(report[name]) for report in both}


def test_scores_without_intervals_are_not_drawn() -> None:
    assert score_table(reports()).pictures == {}


def test_sections_are_named() -> None:
    a, b, c = Dot(0.5, (0.25, 0.75)), Dot(0.25, (0.125, 0.5)), Dot(1.0, (0.5, 1.5))
    cells = [Cell(each.value, interval=each.interval) for each in (a, b, c)]
    rows = [Row("bleu-1", [cells[0], cells[1]], section="n-grams"), Row("rouge-l", [cells[2], Cell(0.5)])]
    columns = [Column("one"), Column("two")]
    pictures = {name: dots(picture) for name, picture in score_pictures(columns, rows, "95%").items()}
    assert {name: picture.rows for name, picture in pictures.items()} == {
        "n-grams: bleu-1": {"one": a, "two": b},
        "rouge-l": {"one": c},
    }
    of_one = [Row(row.label, row.cells[:1], section=row.section) for row in rows]
    pictures = {name: dots(picture) for name, picture in score_pictures(columns[:1], of_one, "95%").items()}
    assert {name: (picture.title, picture.rows) for name, picture in pictures.items()} == {
        "n-grams": ("one: n-grams", {"bleu-1": a}),
        "scores": ("one", {"rouge-l": c}),
    }


def test_effect_sizes_share_a_picture_with_a_line_at_zero() -> None:
    comparison = compare_reports(*reports(), resamples=50)
    (picture,) = map(dots, comparison.to_table().pictures.values())
    assert picture.rows == {d.name: Dot(d.effect_size, d.effect_interval) for d in comparison.values()}
    assert (picture.title, picture.line) == ("two − one", 0.0)
    assert picture.x_label == "effect size (Cohen's d); 95% intervals"


def test_differences_of_groups_have_a_picture_for_each_metric() -> None:
    comparison = compare_reports(*reports(), resamples=50)
    grouped = captious.by_group(comparison, {i: "even" if i % 2 == 0 else "odd" for i in REFERENCES})
    pictures = grouped.to_table().pictures
    assert list(pictures) == METRICS
    for name in METRICS:
        picture = dots(pictures[name])
        assert {"even", "odd"} <= picture.rows.keys()
        assert (picture.title, picture.line) == (name, 0.0)
        for difference in grouped.differences:
            if difference.metric == name and difference.part == "group":
                assert picture.rows[difference.group] == Dot(difference.difference, difference.interval)
