"""Pages as they are recorded: their texts, the drawings of scores, and the data that their programs read."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import captious
from captious.judgment import Judgment, Study
from captious.judgment.results import Cloud, Clouds, Curve, Curves, Dot, Dots, Matrix
from captious.report.page import report_page
from tests.golden.command_line import clean
from tests.golden.files import page as shown
from tests.golden.record import Record
from tests.report.conftest import systems
from tests.report.results import agreement, judgment
from tests.support.pages import Page

pytestmark = pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")

NASTY = "</script><b>\0 & 'x'"
#: Two systems, and the same with explanations.
SCORED = ["bleu", "rouge-l", "cider-d", "cider", "cider-d@paper", "wmd", "wmd@lceval"]
FREQUENCIES = captious.DocumentFrequencies.of_counts({("a", "b", "c"): 5, ("a",): 9, ("z",): 3, ("q", "z"): 2}, 20)


def of_texts() -> captious.Report:
    captions = {"a b.jpg": "a dog", "07": "a cat", 2**40: "a man"}
    return captious.score(captions, {image: [text] for image, text in captions.items()}, ["bleu-1"])


class Partly(captious.Metric):
    """A metric that some captions have no score of."""

    name = "partly"

    def statistics(self, captions: Any, state: Any = None) -> Any:
        return np.array([[1.0, 1], [0, 2], [0.5, 1]])[: len(captions)]

    def aggregate(self, statistics: Any) -> Any:
        return np.where(statistics[..., 1:] == 1, statistics[..., :1], np.nan)


def three() -> list[captious.Report]:
    first, second = systems(["bleu-4", "rouge-l"])
    return [first, second, captious.Report("third", first.captions, dict(first), [])]


def judged() -> Judgment:
    agreements = agreement("bleu-4", 0.31, 2), agreement("cider-d", 0.44, 1), agreement(NASTY, float("nan"), 2)
    return judgment(*agreements, warnings=["beware of this"])


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


def groups(reports: list[captious.Report]) -> dict[int | str, str]:
    return {image: "odd <b>" if int(image) % 2 else "even" for image in reports[0].ids}


def page(reports: Any, **options: Any) -> str:
    return report_page(reports, resamples=20, **options)


BUNDLED = captious.Settings(parser="bundled")
PAGES: dict[str, Callable[[], str]] = {
    "two systems": lambda: page(systems(SCORED)),
    "one system": lambda: page(systems(["bleu-4"])[0]),
    "three systems": lambda: page(three()),
    "percent and groups": lambda: page(found := systems(["bleu-1", "rouge-l"]), percent=True, groups=groups(found)),
    "alignments": lambda: page(systems(["meteor"])),
    "scene graphs": lambda: page(systems(["spice"], BUNDLED)),
    "parts of a combined metric": lambda: page(systems(["spider", "cider-d"], BUNDLED), explain=2),
    "explained images": lambda: page(systems(["meteor", "cider-d"]), explain=3),
    # "a b", which the corpus lacks, is between "a" and "a b c"; "z" is in no caption
    "frequencies of another corpus": lambda: page(
        captious.score({1: "a b c q"}, {1: ["a b c"]}, [captious.CiderD(idf=FREQUENCIES)])
    ),
    "concatenated references": lambda: page(systems(["cider-d"], captious.Settings(references_as="cat"))),
    "ids that are text": lambda: page(of_texts()),
    "scores that do not exist": lambda: page(captious.score(["a", "b", "c"], [["a"], ["b"], ["c"]], Partly())),
    "images of a site": lambda: page(systems(["bleu-1"]), image_url="https://images.example.org/{id:012d}.jpg"),
    "images of a folder": lambda: page(systems(["bleu-1"]), image_url="images/{id}.jpg"),
    "judgment": lambda: report_page(judged()),
    "study": lambda: report_page(study()),
}


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_as_recorded(name: str, record: Record, meteor_tables: object) -> None:
    html = PAGES[name]()
    read = Page(html)
    assert html.count("</script>") == len(read.scripts)
    found = {name: shown(html)[name] for name in ("text", "elements")}
    found["drawings"] = re.findall(r'<svg class="scores".*?</svg>', html)
    found["policy"] = {rule: read.policy[rule] for rule in ("default-src", "img-src")}
    record(f"pages/{name}", clean({**found, "data": read.data()}, {}, [r"(?<=class:)[0-9a-f]+"]))


def test_the_same_results_have_the_same_page() -> None:
    for result in (judged(), study()):
        assert report_page(result) == report_page(result)
