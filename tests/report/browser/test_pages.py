"""Pages of results in a browser: what they show, with mouse and keyboard, in light and dark, on paper."""

from __future__ import annotations

import base64
import re
import warnings
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious import drawing
from captious.judgment import Study
from captious.judgment.results import Cloud, Clouds, Curve, Curves, Dot, Dots, Matrix
from captious.layouts import SIGNS
from captious.metrics.meteor import align
from captious.report.page import write_report
from captious.tables import scatter
from tests.report.conftest import HOSTILE, systems
from tests.report.results import agreement, judgment
from tests.support.browser import check_access
from tests.support.pages import Page

sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect

Opener = Callable[..., Any]

#: An image of one pixel.
PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=")


def number_of(text: str) -> float:
    """Return the number that a page shows."""
    return float(text.replace("−", "-"))


def rows(page: Any) -> list[str]:
    """Return the ids in sight, from top to bottom."""
    options = page.locator(".option").all()
    places = sorted((int(option.get_attribute("aria-posinset")), option) for option in options)
    return [option.locator(".id").inner_text() for _, option in places]


def test_scores_in_hundredths(open_page: Opener, tmp_path: Path) -> None:
    reports = systems(["rouge-l", "cider-d"])
    write_report(reports, tmp_path / "percent.html", resamples=20, percent=True)
    page = open_page(tmp_path / "percent.html")
    first = page.locator(".option").first
    image = [*map(str, reports[0].ids)].index(first.locator(".id").inner_text())
    ours, theirs = (100 * report["cider-d"].per_caption[image] for report in reports)
    assert [value.inner_text() for value in first.locator(".value").all()] == [f"{ours:.1f}", f"{theirs:.1f}"]
    assert first.locator(".key").inner_text() == drawing.with_minus_signs(f"{theirs - ours:+.1f}")
    shown = page.locator("article dl.scores div", has_text="rouge-l").first.locator("dd").inner_text()
    assert shown == f"{100 * reports[0]['rouge-l'].per_caption[image]:.1f}"
    texts = page.locator("#distributions figure").first.locator("svg text").all_text_contents()
    assert max(float(text) for text in texts if "%" not in text) > 10


def test_captions_are_sorted_and_filtered(open_page: Opener, examples: Path) -> None:
    page = open_page(examples)
    data = Page(examples.read_text(encoding="utf-8"))
    ids = [*map(str, data.integers(data.manifest["ids"]["numbers"]).tolist())]
    scores = {o["name"]: [data.numbers(column) for column in o["scores"]] for o in data.manifest["outputs"]}
    difference = scores["cider-d"][1] - scores["cider-d"][0]

    def in_order(values: Any) -> list[str]:
        return [ids[i] for i in np.argsort(-np.asarray(values), kind="stable")]

    status = page.locator("[role=status]")
    expect(status).to_contain_text("24 images · cider-d, improved − baseline")
    first = rows(page)
    assert first == in_order(np.abs(difference))[: len(first)]
    page.get_by_label("Sort by").select_option("score")
    page.get_by_label("in metric").select_option("rouge-l")
    page.get_by_label("System", exact=True).select_option("improved")
    expect(status).to_contain_text("rouge-l of improved")
    assert rows(page)[:5] == in_order(-scores["rouge-l"][1])[:5]
    page.get_by_label("Order").select_option("highest first")
    page.get_by_label("From").fill("0.5")
    page.get_by_label("to", exact=True).fill("0.7")
    inside = (scores["rouge-l"][1] >= 0.5) & (scores["rouge-l"][1] <= 0.7)
    expect(status).to_contain_text(f"{inside.sum()} images of 24")
    page.get_by_label("Sort by").select_option("disagreement")
    expect(status).to_contain_text("percentile in rouge-l − percentile in bleu-4 of improved")
    page.get_by_label(data.manifest["groups"]["by"], exact=True).select_option("odd")
    expect(status).to_contain_text(f"{sum(int(i) % 2 for i in ids)} images of 24")


def test_search_filters_images_by_text(open_page: Opener, examples: Path) -> None:
    page = open_page(examples)
    data = Page(examples.read_text(encoding="utf-8"))
    counts = data.integers(data.manifest["references"])
    starts = np.cumsum([0, *counts.tolist()])
    lists = [data.captions(which) for which in range(3)]
    expected = sum(
        any("oranges" in text.lower() for text in [*lists[0][starts[i] : starts[i + 1]], lists[1][i], lists[2][i]])
        for i in range(24)
    )
    assert 0 < expected < 24
    page.get_by_label("Search").fill("ORANGES")
    expect(page.locator("[role=status]")).to_contain_text(re.compile(f"^{expected} images? of 24"))
    page.get_by_label("Search").fill("no such words")
    expect(page.locator("[role=status]")).to_contain_text("0 images of 24")
    expect(page.get_by_role("listbox")).to_be_hidden()


def test_keyboard_moves_between_images(open_page: Opener, examples: Path) -> None:
    page = open_page(examples)
    heading = page.locator("section.image h3")
    page.get_by_role("listbox").focus()
    order = rows(page)
    for key, place in (("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1), ("Home", 0)):
        page.keyboard.press(key)
        expect(heading).to_have_text(f"Image {order[place]}")
    page.keyboard.press("End")
    expect(page.locator(".steps")).to_contain_text("24 of 24")
    active = page.get_by_role("listbox").get_attribute("aria-activedescendant")
    expect(page.locator(f"#{active}")).to_have_attribute("aria-selected", "true")
    expect(page.locator(f"#{active}")).to_be_in_viewport()
    page.get_by_role("button", name="Previous image").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".steps")).to_contain_text("23 of 24")
    expect(page.get_by_role("button", name="Previous image")).to_be_focused()


def test_explanations_are_drawn_for_each_metric(open_page: Opener, examples: Path) -> None:
    page = open_page(examples)
    why = page.locator(".why")
    for label in ("cider-d", "cider-d@paper", "cider", "cider-r"):
        page.get_by_label("Explain").select_option(label)
        for _ in range(3):  # what n-grams add is the score, for several images
            expect(why.first).to_contain_text("sum to the score")
            for candidate in page.locator("article.candidate").all():
                score = (
                    candidate.locator("dl.scores div")
                    .filter(has_text=re.compile(rf"^{re.escape(label)}[.\d]"))
                    .locator("dd")
                )
                added = re.search(r" score (\S+)", candidate.locator(".facts").last.inner_text())
                assert abs(float(added[1]) - float(score.inner_text())) < 1.5e-4
            page.get_by_role("button", name="Next image").click()
    for label, metric in (("bleu", captious.Bleu()), ("rouge-l", captious.RougeL())):
        page.get_by_label("Explain").select_option(label)
        for _ in range(3):
            expect(why.first).to_contain_text("in no reference" if label == "bleu" else "Underlined")
            references = page.locator("ul.references li").all_inner_texts()
            for candidate in page.locator("article.candidate").all():
                explained = metric.explain(candidate.locator("p.caption").inner_text(), references)
                message = candidate.locator(".why").text_content()
                for value in _values(explained):
                    assert drawing.format_score(value) in message
            page.get_by_role("button", name="Next image").click()
    page.get_by_label("Explain").select_option("meteor")
    expect(why.first).to_contain_text(re.compile(r"match(es)? in \d+ chunks? · precision \.\d+"))
    page.get_by_label("Explain").select_option("spice")
    expect(why.first.get_by_role("img")).to_have_count(1)
    page.get_by_label("Explain").select_option("wmd")
    expect(why.first).to_contain_text("Cost: share times distance")


def _values(explained: Any) -> list[float]:
    """Return the numbers of an explanation by BLEU or ROUGE-L that a page shows."""
    if explained.kind == "ngram-matches":
        return [*explained.scores.values(), explained.brevity_penalty, *(order.precision for order in explained.orders)]
    parts = [value for part in explained.references for value in (part.precision, part.recall)]
    return [explained.score, explained.precision, explained.recall, *parts]


def test_sorting_metric_selects_its_explanation(open_page: Opener, examples: Path) -> None:
    page = open_page(examples)
    explained = page.get_by_label("Explain")
    expect(explained.locator("option:checked")).to_have_text("cider-d")
    for metric, label in (("spice", "spice"), ("bleu-4", "bleu"), ("meteor", "meteor")):
        page.get_by_label("in metric").select_option(metric)
        expect(explained.locator("option:checked")).to_have_text(label)


def test_bars_are_parts_of_a_score(open_page: Opener, examples: Path) -> None:
    data = Page(examples.read_text(encoding="utf-8"))
    best = max(next(o["corpus"] for o in data.manifest["outputs"] if o["name"] == "cider-d"))
    page = open_page(examples)
    expect(page.locator(".why").first).to_contain_text(
        f"A full bar is {drawing.format_score(best)}, the best corpus score"
    )
    for row in page.locator(".why tbody tr:visible").all():
        added = float(row.locator(".number").last.inner_text())
        width = float(row.locator("rect").get_attribute("width").rstrip("%"))
        assert width == pytest.approx(100 * min(added / best, 1), abs=0.1)


def test_numbers_below_zero_are_sorted_and_drawn(open_page: Opener, examples: Path) -> None:
    page = open_page(examples)
    page.get_by_label("Order").select_option("lowest first")
    expect(page.locator(".option .key").first).to_have_text(re.compile(r"^−\.\d{3}$"))


def test_share_of_scores_near_zero_is_labeled(open_page: Opener, tmp_path: Path) -> None:
    candidates = {image: "a dog runs on grass" if image < 4 else "no such words" for image in range(10)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        references = {image: ["a dog runs on grass"] for image in candidates}
        report = captious.score(candidates, references, ["bleu-4", "rouge-l"])
    write_report(report, tmp_path / "page.html", resamples=5)
    page = open_page(tmp_path / "page.html")
    heads = page.locator("#distributions figcaption").all_inner_texts()
    assert heads == ["bleu-4 · below .001: 60%", "rouge-l · below .001: 60%"]
    expect(page.locator("#distributions .explained")).to_contain_text("Where many are near 0")


def test_alignment_figures_equal_those_of_python(open_page: Opener, meteor_tables: object, tmp_path: Path) -> None:
    references = {1: ["a dog is running", "two dogs"], 2: ["a dog runs fast"], 3: ["nothing alike"]}
    candidates = {1: "two dogs", 2: "a fast dog runs", 3: "dog"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = captious.score(candidates, references, ["meteor"])
    write_report(report, tmp_path / "page.html", resamples=5)
    page = open_page(tmp_path / "page.html")
    for image, candidate in candidates.items():
        expected = max((align(candidate, reference) for reference in references[image]), key=attrgetter("score"))
        page.get_by_label("Search").fill(str(image))
        expect(page.locator("section.image h3")).to_have_text(f"Image {image}")
        for name in ("precision", "recall", "fragmentation"):
            expect(page.locator(".why")).to_contain_text(f"{name} {drawing.format_score(getattr(expected, name))}")
        expect(page.locator(".why")).to_contain_text(f"in {expected.chunks} chunk")


def test_images_are_shown_or_reported_missing(open_page: Opener, examples: Path) -> None:
    last = sorted((examples.parent / "images").iterdir())[-1]
    last.rename(last.with_suffix(".gone"))
    page = open_page(examples, missing="images/")
    expect(page.get_by_role("img", name=re.compile(r"^Image \d+$"))).to_have_count(1)
    page.get_by_label("Search").fill(last.stem.lstrip("0"))
    expect(page.locator(".picture")).to_contain_text("cannot be loaded from")
    last.with_suffix(".gone").rename(last)


def test_thumbnails_are_shown(open_page: Opener, examples: Path, tmp_path: Path) -> None:
    page = open_page(examples)
    expect(page.locator(".option .thumbnail").first).to_have_attribute("src", re.compile(r"^images/\d{6}\.svg$"))
    assert page.locator(".option .thumbnail").count() == page.locator(".option").count()
    (tmp_path / "a folder").mkdir()
    (tmp_path / "a folder" / "1.png").write_bytes(PIXEL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = captious.score({1: "a cat"}, {1: ["a cat"]}, ["rouge-l"])
    write_report(report, tmp_path / "page.html", resamples=2, image_url=tmp_path / "a folder")
    page = open_page(tmp_path / "page.html")
    for picture in (page.locator(".option .thumbnail"), page.get_by_role("img", name="Image 1")):
        expect(picture).to_have_js_property("naturalWidth", 1)


def test_page_passes_the_accessibility_check(open_page: Opener, examples: Path) -> None:
    page = open_page(examples)
    for label in ("meteor", "spice", "cider-d", "wmd"):
        page.get_by_label("Explain").select_option(label)
        expect(page.locator(".why")).to_have_count(2)
        page.wait_for_timeout(200)
        if label == "spice":
            page.locator(".why summary").first.click()
        check_access(page)
    page.get_by_label("Search").fill("no such words")
    expect(page.locator("[role=status]")).to_contain_text("0 images")
    check_access(page)


def test_hostile_captions_are_shown_as_text(open_page: Opener, awkward: Path) -> None:
    page = open_page(awkward)
    page.get_by_label("Sort by").select_option("order of the references")
    shown = page.locator("section.image article").first.locator("p.caption")
    page.get_by_role("listbox").focus()
    for text in HOSTILE.values():
        expect(page.locator(".why")).to_have_count(2)
        assert shown.evaluate("node => node.textContent") == text
        page.keyboard.press("ArrowDown")
    assert page.evaluate("document.querySelectorAll('main b, main script').length") == 0
    page.get_by_label("Search").fill("<B>BOLD")
    expect(page.locator("[role=status]")).to_contain_text("images of 7")
    check_access(page)


def test_printed_page_hides_the_controls(open_page: Opener, examples: Path) -> None:
    page = open_page(examples)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator(".option")).to_have_count(24)
    for option in (page.locator(".option").first, page.locator(".option").last, page.locator("section.image")):
        expect(option).to_be_visible()
    boxes = [option.bounding_box()["y"] for option in page.locator(".option").all()]
    assert boxes == sorted(set(boxes))  # one below the other
    expect(page.get_by_label("Search")).to_be_hidden()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    expect(page.locator(".option").first).to_be_visible()


def test_page_without_javascript_keeps_its_tables(open_page: Opener, examples: Path) -> None:
    page = open_page(examples, scripts=False)
    expect(page.get_by_role("heading", name="Differences")).to_be_visible()
    expect(page.get_by_text("need JavaScript")).to_be_visible()
    assert page.locator("table.results").first.locator("tbody tr").count() == 9


def test_judgments_and_studies_are_drawn(open_page: Opener, tmp_path: Path) -> None:
    judged = judgment(*(agreement(name, 0.3, rank) for rank, name in enumerate(("a", "</b>", "c"), 1)))
    x = np.array([1.0, 2, 3])
    square = np.array([[0.0, 0], [1, 0], [1, 1]])
    pictures = {
        "curves": Curves(
            "Curves", "x", "y", {"a": Curve(x, x, x - 1, x + 1), "b": Curve(x, x * np.nan, points=True)}, True
        ),
        "scatter": scatter("Systems", x, x, ["one", "</b>", "three"], "meteor", "M1"),
        "matrix": Matrix("Matrix", ["a", "b"], np.array([[1.0, np.nan], [-0.5, 1]])),
        "clouds": Clouds("Clouds", "x", "y", {"a": Cloud(square, square, square[0])}),
        "dots": Dots("Dots", "x", {"a": Dot(0.5), "b": Dot(0.25, (0.1, 0.4))}),
    }
    study = Study("s", "A study", ("metric", "value"), [{"metric": "a", "value": 0.5}], pictures=pictures)
    for name, result, charts in (("judgment", judged, 1), ("study", study, 5)):
        write_report(result, tmp_path / f"{name}.html")
        page = open_page(tmp_path / f"{name}.html")
        expect(page.locator("svg.plot")).to_have_count(charts)
        if name == "study":
            expect(page.locator("svg.plot").nth(1)).to_contain_text("one</b>three")
        check_access(page)


def test_single_image_with_equal_values_is_drawn(open_page: Opener, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = captious.score({1: "a cat"}, {1: ["a cat", "two dogs"]}, ["rouge-l", "cider-d"])
        write_report(report, tmp_path / "one.html", resamples=2)
    page = open_page(tmp_path / "one.html")
    chart = page.locator("#distributions figure").first
    expect(chart.locator("svg")).to_contain_text("0.00.20.40.60.81.0")
    expect(page.locator("section.image")).to_contain_text("over 1 image.")


@pytest.mark.filterwarnings("ignore:1 of 5 references:captious.CaptiousWarning")
def test_sentence_coverage_is_explained(open_page: Opener, tmp_path: Path) -> None:
    references = {
        "qa": ["A brown dog runs. It is near a barn. 😀 The sky is blue.", "A dog."],
        "qb": ["", "Two men play guitars. They <b>sing</b>."],
        "qc": ["A cat sleeps on a mat."],
    }
    candidates = {"qa": "A dog is running. Two children eat.", "qb": "A man plays. A man sings! A crowd.", "qc": ""}
    reports = [
        captious.score(side, references, ["coverage", "coverage-cider:idf=coco"], system=name)
        for name, side in (("one", candidates), ("two", {**candidates, "qc": "A cat sleeps."}))
    ]
    write_report(reports, tmp_path / "coverage.html", resamples=20)
    page = open_page(tmp_path / "coverage.html")
    metrics = {"coverage": captious.Coverage(), "coverage-cider:idf=coco": captious.CoverageCider(idf="coco")}
    for label, metric in metrics.items():
        page.get_by_label("Explain").select_option(label=label)
        for image in references:
            page.get_by_label("Search").fill(image)
            expect(page.locator("section.image h3")).to_have_text(f"Image {image}")
            for report, candidate in zip(reports, page.locator("article.candidate").all(), strict=True):
                caption = report.captions.candidates[report.ids.index(image)]
                explained = metric.explain(caption, references[image])
                means = (explained.precision, explained.recall, explained.score)
                expect(candidate.locator(".why .facts")).to_contain_text("precision")
                message = re.findall(r"[.\d]+", candidate.locator(".why .facts").inner_text())
                assert [*map(float, message)] == pytest.approx(means, abs=1.5e-4)  # cells are rounded
                shown = [float(cell) for cell in candidate.locator(".why .matrix td.number").all_inner_texts()]
                assert shown == pytest.approx([value for row in explained.matrix for value in row], abs=0.0051)
                texts = candidate.locator(".why table:not(.matrix) td:nth-child(2)").all_inner_texts()
                assert texts == [
                    sentence.text for side in (explained.candidate, explained.references) for sentence in side
                ]


@pytest.mark.filterwarnings("ignore:.*ends within a sentence:captious.CaptiousWarning")
@pytest.mark.filterwarnings("ignore:1 of 5 references:captious.CaptiousWarning")
def test_word_agreement_is_explained(open_page: Opener, tmp_path: Path) -> None:
    references = {
        "qa": ["a dog bites a man", "a dog bites the man's leg"],
        "qb": ["a woman with an umbrella walks in the rain"],
        "qc": ["<b>two</b> cats 😀 on a bed", ""],
    }
    candidates = {"qa": "a man bites a dog", "qb": "a woman walks the", "qc": "zzqqxx cats"}
    reports = [
        captious.score(side, references, ["concur", "rouge-l"], system=name)
        for name, side in (("one", candidates), ("two", {**candidates, "qc": ""}))
    ]
    write_report(reports, tmp_path / "agreement.html", resamples=20)
    page = open_page(tmp_path / "agreement.html")
    page.get_by_label("Explain").select_option(label="concur")
    for image in references:
        page.get_by_label("Search").fill(image)
        expect(page.locator("section.image h3")).to_have_text(f"Image {image}")
        for report, candidate in zip(reports, page.locator("article.candidate").all(), strict=True):
            caption = report.captions.candidates[report.ids.index(image)]
            explained = captious.Concur().explain(caption, references[image])
            expect(candidate.locator(".why .facts")).to_contain_text("cosines")
            message = [*map(number_of, re.findall(r"−?[.\d]+", candidate.locator(".why .facts").inner_text()))]
            facts = (explained.centroid, *explained.cosines, explained.precision, explained.recall, explained.score)
            assert message == pytest.approx(facts, abs=1.5e-4)
            cells = [row.locator("td").all_inner_texts()[:4] for row in candidate.locator(".why table tr").all()]
            words = [
                (f"{word.word} → {word.closest or drawing.NOTHING}", SIGNS[word.status][0], word.share, word.similarity)
                for word in explained.words
            ]
            shown = [
                (row[0], row[1], number_of(row[2]), number_of(row[3]))
                for row in cells
                if len(row) == 4 and "→" in row[0]
            ]
            assert shown == [
                (text, sign, pytest.approx(share, abs=6e-5), pytest.approx(cosine, abs=6e-5))
                for text, sign, share, cosine in words
            ]
            text = candidate.locator(".why").inner_text()
            for word, loss in explained.missing[:6]:
                assert f"{word} {drawing.format_score(loss)}" in text
            n_more = len(explained.missing) - 6
            assert n_more <= 0 or f"and {n_more} more" in text
            for word in explained.words:
                assert word.instead is None or f"{word.instead} for {word.word}" in text
            assert ("unsound" in candidate.locator(".why .side").all_inner_texts()) == bool(explained.unsound)
