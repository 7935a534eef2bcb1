"""Pages of judgments and studies."""

from __future__ import annotations

import numpy as np
import pytest

from captious.judgment import Judgment, Study
from captious.judgment.results import Cloud, Clouds, Curve, Curves, Dot, Dots, Matrix
from captious.report.page import report_page
from tests.support.pages import Page
from tests.support.results import agreement, judgment

NASTY = "</script><b>\0 & 'x'"
PLAIN = "</script><b>  & 'x'"


@pytest.fixture
def judged() -> Judgment:
    agreements = agreement("bleu-4", 0.31, 2), agreement("cider-d", 0.44, 1), agreement(NASTY, float("nan"), 2)
    return judgment(*agreements, warnings=["beware of this"])


@pytest.fixture
def study() -> Study:
    x = np.array([0.0, 0.5, 1.0])
    lines = {"falling": Curve(x, 1 - x, -x, 2 - x), NASTY: Curve(x, x, points=True)}
    square = np.array([[0.0, 0], [1, 0], [1, 1]])
    return Study(
        "robustness",
        f"A study of {NASTY}",
        ("metric", "value"),
        [{"metric": NASTY, "value": 0.25}, {"metric": "b", "value": None}],
        signatures={"b": "b|variant:official"},
        notes=["a note"],
        pictures={
            "curves": Curves("Words", "strength", "score", lines),
            "metrics": Matrix("Correlations", ["a", NASTY], np.array([[1.0, -0.25], [-0.25, np.nan]])),
            "clouds": Clouds("Clouds", "x", "y", {"a": Cloud(square, square, square[0])}),
            "dots": Dots("Dots", "x", {"a": Dot(0.5), "b": Dot(0.25, (0.125, 0.375))}),
        },
    )


def test_judgment_page_draws_its_values(judged: Judgment) -> None:
    page = Page(report_page(judged))
    for message in ("composite@hessel2021", "44.0", "42.0 – 45.0", "beware of this", "cider-d|variant:official"):
        assert message in page.text
    [figure] = page.manifest["figures"]
    assert [(row["label"], row["value"], row["series"]) for row in figure["rows"]] == [
        ("cider-d", 44.0, 0),
        ("bleu-4", 31.0, 1),
        (PLAIN, None, 1),
    ]


def test_study_page_draws_its_values(study: Study) -> None:
    page = Page(report_page(study))
    for message in ("a note", "b|variant:official", ".2500", "–", f"A study of {PLAIN}"):
        assert message in page.text
    curves, matrix, clouds, dots = page.manifest["figures"]
    assert [line["label"] for line in curves["lines"]] == ["falling", PLAIN]
    assert curves["lines"][0]["high"] == [2.0, 1.5, 1.0]
    assert matrix["values"] == [[1.0, -0.25], [-0.25, None]]
    assert clouds["clouds"][0]["outline"] == [[0, 0], [1, 0], [1, 1]]
    assert dots["rows"][1]["low"] == 0.125
    assert page.html.count("</script>") == len(page.scripts)


def test_table_page_is_deterministic(judged: Judgment, study: Study) -> None:
    for result in (judged, study):
        assert report_page(result) == report_page(result)
