"""A page about systems holds their scores, captions and explanations."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious import drawing
from captious.drawing import axis_drawing, interval_drawing, scores_drawing
from captious.errors import OutputError, ParameterError
from captious.report.page import report_page, write_report
from captious.report.page_data import document
from captious.tables import Cell
from tests.report.conftest import EXAMPLES, HOSTILE, hostile, systems
from tests.support.pages import Page, imports_of

pytestmark = pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")


@pytest.fixture(scope="module")
def page(examples: list[captious.Report]) -> Page:
    return Page(report_page(examples, resamples=50))


def test_scores_of_every_caption(page: Page, examples: list[captious.Report]) -> None:
    assert [output["name"] for output in page.manifest["outputs"]] == [*examples[0]]
    for output in page.manifest["outputs"]:
        for column, report in zip(output["scores"], examples, strict=True):
            np.testing.assert_allclose(page.numbers(column), report[output["name"]].per_caption, atol=0.51e-4)
    assert page.integers(page.manifest["ids"]["numbers"]).tolist() == [*examples[0].ids]


def test_systems_that_were_scored_together_have_the_page_of_a_list(examples: list[captious.Report]) -> None:
    assert report_page(captious.Reports(examples), resamples=50) == report_page(examples, resamples=50)


def test_captions_are_sorted_by_cider_d_with_any_parameters() -> None:
    files = EXAMPLES / "improved.json", EXAMPLES / "references.json"
    report = captious.score(*files, ["bleu-1", "cider-d:idf=coco", "rouge-l"])
    assert Page(report_page(report)).manifest["by"] == "cider-d:idf=coco"


def test_tables_show_scores_intervals_and_tests(page: Page, examples: list[captious.Report]) -> None:
    compared = captious.evaluation.compare_reports(*examples, resamples=50)
    for name in examples[0]:
        for report in examples:
            low, high = report[name].confidence_interval(resamples=50)
            assert drawing.format_score(report[name].score) in page.text
            assert drawing.format_interval(low, high) in page.text
            assert report[name].signature in page.text
        d = compared[name]
        for message in (
            drawing.format_difference(d.difference),
            drawing.format_interval(*d.interval),
            drawing.format_p_value(d.p_randomization),
        ):
            assert drawing.with_minus_signs(message) in page.text


def test_scores_in_hundredths(examples: list[captious.Report]) -> None:
    page = Page(report_page(examples, resamples=50, percent=True, groups=dict.fromkeys(examples[0].ids, "all")))
    assert page.manifest["percent"] is True
    compared = captious.evaluation.compare_reports(*examples, resamples=50)
    for name in examples[0]:
        for report in examples:
            assert f"{100 * report[name].score:.1f}" in page.text
            assert drawing.format_score(report[name].score) not in page.text
        assert drawing.with_minus_signs(f"{100 * compared[name].difference:+.1f}") in page.text
    picture = re.findall(r'<svg class="scores".*?</svg>', page.html)[[*examples[0]].index("rouge-l")]
    ticks = [float(tick) for tick in re.findall(r"<text[^>]*>(.*?)</text>", picture)]
    low, high = (100 * end for end in examples[0]["rouge-l"].confidence_interval(resamples=50))
    assert len(ticks) > 1
    assert min(ticks) < high
    assert max(ticks) > low
    assert max(ticks) > 1


def test_scores_are_drawn_in_the_colors_of_systems(page: Page, examples: list[captious.Report]) -> None:
    drawings = re.findall(r'<svg class="scores".*?</svg>', page.html)
    assert len(drawings) == len(examples[0])
    for name, picture in zip(examples[0], drawings, strict=True):
        ends = [report[name].confidence_interval(resamples=50) for report in examples]
        low, high = min(low for low, _ in ends), max(high for _, high in ends)
        dots = re.findall(r'series-(\d)"><line class="interval" x1="(\S+)%" x2="(\S+)%".*?cx="(\S+)%"', picture)
        assert [series for series, *_ in dots] == ["0", "1"]
        for (_, *places), report, interval in zip(dots, examples, ends, strict=True):
            values = [*interval, report[name].score]
            expected = [4 + 92 * (value - low) / (high - low) for value in values]
            assert [*map(float, places)] == pytest.approx(expected, abs=0.01)


def test_ticks_are_round_numbers() -> None:
    cells = [Cell(value, (value - 0.02, value + 0.02)) for value in (-0.01, 0.05)]
    assert re.findall(r"<text[^>]*>(.*?)</text>", scores_drawing(cells)) == ["−.02", "0", ".02", ".04", ".06"]
    assert re.findall(r"<text[^>]*>(.*?)</text>", scores_drawing(cells[1:])) == ["0", ".02", ".04", ".06"]
    assert scores_drawing([Cell(0.5), None, Cell(math.nan, (0.1, 0.2))]) == ""
    assert scores_drawing([Cell(1.0, (1.0, 1.0)), Cell(1.0, (1.0, 1.0))]) == ""


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.013, 0.187, ["0", ".1", ".2"]),
        (0.61, 0.66, [".60", ".62", ".64", ".66"]),
        (-0.02, 0.05, ["−.05", "0", ".05"]),
        (0.5, 0.5, []),
    ],
)
def test_axes_end_at_round_numbers_around_all_intervals(low: float, high: float, labels: list[str]) -> None:
    assert re.findall(r"<text[^>]*>(.*?)</text>", axis_drawing(low, high)) == labels
    drawn = interval_drawing(Cell((low + high) / 2, (low, high)), low, high)
    assert drawn.count("<line x1") == len(labels)  # one at each number
    for end in map(float, re.findall(r'class="interval" x1="(\S+)%" x2="(\S+)%"', drawn)[0] if labels else ()):
        assert 4 <= end <= 96
    assert interval_drawing(Cell(math.nan), 0, 1) == ""


def test_the_title_says_what_is_shown(page: Page, examples: list[captious.Report]) -> None:
    assert "<title>baseline and improved on 24 images</title>" in page.html
    best = sum(examples[1][name].score > examples[0][name].score for name in examples[0])
    assert f"improved in {best}" in page.text
    one = Page(report_page(examples[0], resamples=5))
    assert "<h1>baseline on 24 images</h1>" in one.html
    assert "Best score" not in one.text


def test_commands_are_at_the_end(meteor_tables: object) -> None:
    [report, _] = systems(["spice"])
    warned = [
        captious.Report(name, report.captions, dict(report), ["It is so. For more, run: captious doctor --all."])
        for name in ("a", "b")
    ]
    page = Page(report_page(warned, resamples=5, explain=2))
    note = page.html[page.html.index('<div class="note"') : page.html.index("<h2>Scores")]
    assert "It is so." in note
    assert "captious doctor" not in note
    end = page.html[page.html.index("need JavaScript") :]
    assert end.count("For more, run: <code>captious doctor --all</code>") == 1
    assert "<code>captious report --explain NUMBER</code>" in end


def test_captions_are_kept_byte_for_byte(page: Page, examples: list[captious.Report]) -> None:
    lists = [examples[0].captions.references.texts, *(report.captions.candidates for report in examples)]
    for which, texts in enumerate(lists):
        assert page.captions(which) == list(texts)


def test_hostile_captions_are_data() -> None:
    reports = hostile(["bleu", "cider-d"])
    page = Page(report_page(reports, resamples=5, title="<b>\0"))
    for which, report in enumerate(reports, 1):
        assert page.captions(which) == list(report.captions.candidates)
    assert page.captions(0) == list(reports[0].captions.references.texts)
    tokens = page.tokens(0, 1)
    assert tokens[6] == captious.text.PTB(HOSTILE[7])
    assert tokens[4] == [word for token in captious.text.PTB(HOSTILE[5]) for word in token.split()]
    assert "alert" not in re.sub(r"<(script|style).*?</\1>", "", page.html, flags=re.DOTALL)
    assert sum(tag == "script" for tag, _ in page.tags) == len(page.scripts)
    assert page.html.count("</script>") == len(page.scripts)
    assert "\0" not in page.html


def test_page_loads_no_external_resource(page: Page) -> None:
    assert [address for address in page.addresses() if not address.startswith("#")] == []
    assert [address for style in page.styles for address in imports_of(style)] == []
    assert page.policy["default-src"] == ["'none'"]
    assert page.policy["img-src"] == ["'none'"]


def test_policy_allows_only_the_scripts_and_styles_of_the_page(page: Page) -> None:
    def hashed(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    code = [text for about, text in page.scripts if about.get("type") in (None, "module")]
    assert sorted(page.policy["script-src"]) == sorted(map(hashed, code))
    assert {hashed(style) for style in page.styles} < set(page.policy["style-src"])
    for sources in page.policy.values():
        assert not {"'unsafe-inline'", "'unsafe-eval'", "*", "data:"} & set(sources)


def test_licences_of_libraries_are_in_the_page(page: Page) -> None:
    assert page.html.count("Permission to use, copy, modify, and/or distribute this software") == 2


def test_the_page_without_data_is_below_a_megabyte() -> None:
    assert len(document("", "", {})) < 1_000_000


def test_page_of_systems_is_deterministic(examples: list[captious.Report]) -> None:
    again = systems(["bleu", "rouge-l", "cider-d", "cider", "cider-d@paper", "wmd", "wmd@lceval"])
    assert report_page(again, resamples=10) == report_page(examples, resamples=10)


# ---- explanations


def test_page_contains_the_alignments(meteor_tables: object) -> None:
    reports = systems(["meteor"])
    page = Page(report_page(reports, resamples=5))
    about = page.explanation("meteor")
    modules = ("exact", "stem", "synonym", "paraphrase")
    metric = captious.Meteor()
    references = page.tokens(about["table"], 0)
    texts, offsets = reports[0].captions.references.texts, reports[0].captions.references.offsets
    for number, (report, of) in enumerate(zip(reports, about["systems"], strict=True), 1):
        candidates = page.tokens(about["table"], number)
        best, counts = page.integers(of["reference"]), page.integers(of["counts"]).tolist()
        names = ("gaps", "lengths", "reference_gaps", "reference_lengths", "modules")
        columns = np.stack([page.integers(of[name]).astype(int) for name in names], axis=1)
        at = 0
        for image, candidate in enumerate(report.captions.candidates):
            row = int(offsets[image] + best[image])
            expected = metric.align(candidate, texts[row])
            assert tuple(candidates[image]) == expected.candidate
            assert tuple(references[row]) == expected.reference
            assert expected.score == pytest.approx(report["meteor"].per_caption[image])
            assert page.numbers(of["precision"])[image] == pytest.approx(expected.precision, abs=1e-4)
            assert page.numbers(of["recall"])[image] == pytest.approx(expected.recall, abs=1e-4)
            links, end, reference_end = [], 0, 0
            for gap, length, reference_gap, reference_length, module in columns[at : at + counts[image]].tolist():
                start, reference_start = end + gap, reference_end + reference_gap
                end, reference_end = start + length, reference_start + reference_length
                links.append((start, end, reference_start, reference_end, modules[module]))
            at += counts[image]
            assert links == [(m.start, m.end, m.reference_start, m.reference_end, m.module) for m in expected.matches]
        assert at == len(columns)


def test_page_contains_the_scene_matches(meteor_tables: object) -> None:
    reports = systems(["spice"])
    page = Page(report_page(reports, resamples=5))
    about = page.explanation("spice")
    names = page.strings(about["names"])

    def graphs(packed: dict[str, Any]) -> list[list[tuple[str, ...]]]:
        counts = [page.integers(column).tolist() for column in packed["counts"]]
        concepts = iter(page.integers(packed["concepts"]).tolist())
        return [
            [
                tuple(names[next(concepts)] for _ in range(size))
                for size, of_kind in enumerate(counts, 1)
                for _ in range(of_kind[row])
            ]
            for row in range(len(counts[0]))
        ]

    theirs = graphs(about["references"])
    references = reports[0].captions.references
    metric = captious.Spice()
    for report, of in zip(reports, about["systems"], strict=True):
        matches = iter(page.integers(of["matches"]).tolist())
        for image, (candidate, facts) in enumerate(zip(report.captions.candidates, graphs(of), strict=True)):
            texts = references.texts[references.offsets[image] : references.offsets[image + 1]]
            expected = metric.explain(candidate, texts)

            def plain(fact: Any) -> tuple[str, ...]:
                return tuple("\x1f".join(concept) for concept in fact)

            assert facts == [plain(fact.names) for fact in expected.candidate]
            assert theirs[image] == [plain(fact.names) for fact in expected.references]
            matched = [next(matches) for _ in facts]
            assert [theirs[image][m - 1] if m else None for m in matched] == [
                None if fact.match is None else plain(fact.match) for fact in expected.candidate
            ]


@pytest.mark.parametrize("label", ["wmd", "wmd@lceval"])
def test_page_contains_the_transport_plans(page: Page, examples: list[captious.Report], label: str) -> None:
    about = page.explanation(label)
    words, distances = page.strings(about["words"]), page.numbers(about["distances"])
    pairs = [page.integers(column).tolist() for column in about["pairs"]]
    metric = examples[0][label].statistics.metric
    assert isinstance(metric, captious.Wmd)
    references = examples[0].captions.references
    for report, of in zip(examples, about["systems"], strict=True):
        best, shares = page.integers(of["reference"]), page.numbers(of["shares"])
        at = 0
        for image, (candidate, moves) in enumerate(
            zip(report.captions.candidates, page.lists(_moves(of)), strict=True)
        ):
            expected = metric.transport(candidate, references.texts[references.offsets[image] + best[image]])
            assert [(words[pairs[0][k]], words[pairs[1][k]]) for k in moves] == [
                (move.word, move.reference_word) for move in expected.moves
            ]
            cost = sum(shares[at + i] * distances[k] for i, k in enumerate(moves))
            if moves:
                assert cost == pytest.approx(-math.log(report[label].per_caption[image]) * metric.sigma, abs=2e-3)
            at += len(moves)


def _moves(of: dict[str, Any]) -> dict[str, Any]:
    return {"counts": of["counts"], "values": of["moves"]}


@pytest.mark.parametrize("label", ["cider-d", "cider"])
def test_page_contains_the_document_frequencies(page: Page, examples: list[captious.Report], label: str) -> None:
    about = page.explanation(label)
    names = page.strings(page.manifest["explanations"]["tables"][about["table"]]["tokens"])
    rows = zip(
        *(page.integers(about["ngrams"][part]).tolist() for part in ("lengths", "words", "documents")), strict=True
    )
    packed: dict[tuple[str, ...], int] = {}
    path: list[str] = []
    for length, word, documents in rows:
        path = [*path[: length - 1], names[word]]
        packed[tuple(path)] = documents
    expected = captious.DocumentFrequencies.of(examples[0].captions.references).by_ngram()
    assert {ngram: n for ngram, n in packed.items() if n > 1} == {ngram: n for ngram, n in expected.items() if n > 1}
    assert about["documents"] == 24


def test_page_contains_frequencies_of_another_corpus() -> None:
    idf = captious.DocumentFrequencies.of_counts({("a", "b", "c"): 5, ("a",): 9, ("z",): 3, ("q", "z"): 2}, 20)
    reports = [captious.score({1: "a b c q"}, {1: ["a b c"]}, [captious.CiderD(idf=idf)])]
    page = Page(report_page(reports, resamples=5))
    about = page.explanation("cider-d:idf=counts-20")["ngrams"]
    # "a b", which the corpus lacks, is between "a" and "a b c"; "z" is in no caption
    assert [page.integers(about[part]).tolist() for part in ("lengths", "documents")] == [[1, 2, 3], [9, 1, 5]]


def test_parts_of_a_combined_metric_are_explained(meteor_tables: object) -> None:
    page = Page(report_page(systems(["spider", "cider-d"]), resamples=5))
    explained = page.manifest["explanations"]["metrics"]
    assert {metric["label"]: metric["explains"] for metric in explained} == {
        "spice": ["spider"],
        "cider-d": ["spider", "cider-d"],
    }


def test_concatenated_references_are_not_explained() -> None:
    reports = systems(["cider-d"], captious.Settings(references_as="cat"))
    assert Page(report_page(reports, resamples=5)).manifest["explanations"]["metrics"] == []


def test_page_explains_the_requested_images(meteor_tables: object) -> None:
    reports = systems(["meteor", "cider-d"])
    page = Page(report_page(reports, resamples=5, explain=3))
    spread = np.abs(reports[0]["cider-d"].per_caption - reports[1]["cider-d"].per_caption)
    expected = sorted(np.argsort(-spread)[:3].tolist())
    assert page.integers(page.manifest["explanations"]["rows"]).tolist() == expected
    assert len(page.integers(page.explanation("meteor")["systems"][0]["counts"])) == 3
    assert "3 of 24 images" in page.text


# ---- forms and refusals


def test_pairs_are_shown_for_several_systems(examples: list[captious.Report]) -> None:
    one = Page(report_page(examples[0], resamples=5))
    assert one.manifest["systems"] == ["baseline"]
    assert "Differences" not in one.text
    third = captious.Report("third", examples[0].captions, dict(examples[0]), [])
    three = Page(report_page([*examples, third], resamples=5))
    assert sum(about.get("class") == "pair" for _, about in three.tags) == 3
    assert "Holm’s correction" in three.text


def test_page_of_a_comparison_equals_that_of_its_reports(examples: list[captious.Report]) -> None:
    compared = captious.evaluation.compare_reports(*examples, resamples=7, seed=3)
    assert report_page(compared) == report_page(examples, resamples=7, seed=3)


def test_page_shows_scores_by_group(examples: list[captious.Report]) -> None:
    of = {image: "even" if image % 2 == 0 else "odd <b>" for image in examples[0].ids}
    page = Page(report_page(examples, resamples=5, groups=of))
    about = page.manifest["groups"]
    assert [about["names"][k] for k in page.integers(about["of_images"])] == [of[image] for image in examples[0].ids]
    score = captious.by_group(examples[0], of)["even"]["cider-d"].score
    assert drawing.format_score(score) in page.text


def test_ids_that_are_text() -> None:
    references = {"a b.jpg": ["a dog"], "07": ["a cat"], 2**40: ["a man"]}
    report = captious.score({"a b.jpg": "a dog", "07": "a cat", 2**40: "a man"}, references, ["bleu-1"])
    page = Page(report_page(report, resamples=5))
    ids = page.manifest["ids"]
    assert page.strings(ids["texts"]) == ["a b.jpg", "07", str(2**40)]
    assert page.integers(ids["are_numbers"]).tolist() == [0, 0, 1]


def test_scores_that_do_not_exist() -> None:
    class Partly(captious.MeanMetric):
        name = "partly"

        def scores(self, captions: Any, state: Any = None) -> Any:
            return np.array([1.0, np.nan, 0.5])[: len(captions)]

    report = captious.score(["a", "b", "c"], [["a"], ["b"], ["c"]], Partly())
    page = Page(report_page(report, resamples=5))
    np.testing.assert_allclose(page.numbers(page.manifest["outputs"][0]["scores"][0]), [1, np.nan, 0.5])
    assert page.manifest["outputs"][0]["corpus"] == [None]


def test_image_urls_set_the_policy(examples: list[captious.Report]) -> None:
    page = Page(report_page(examples, resamples=5, image_url="https://images.example.org/{id:012d}.jpg"))
    assert page.manifest["url"] == ["https://images.example.org/", 12, ".jpg"]
    assert page.policy["img-src"] == ["https://images.example.org"]
    local = Page(report_page(examples, resamples=5, image_url="images/{id}.jpg"))
    assert local.manifest["url"] == ["images/", 0, ".jpg"]
    assert local.policy["img-src"] == ["'self'", "file:"]


def test_local_images_need_no_url(examples: list[captious.Report], tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    for image in examples[0].ids:
        (tmp_path / "images" / f"{image:012d}.jpg").touch()
    captious.write_report(examples, tmp_path / "page.html", resamples=5, image_url=tmp_path / "images")
    page = Page((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert page.strings(page.manifest["files"]) == [f"./images/{image:012d}.jpg" for image in examples[0].ids]
    assert page.manifest["url"] is None
    assert page.policy["img-src"] == ["'self'", "file:"]


def test_reports_of_different_images_are_refused(examples: list[captious.Report], tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="at least one system"):
        report_page([])
    with pytest.raises(ParameterError, match="two systems are called 'baseline'"):
        report_page([examples[0], examples[0]])
    with pytest.raises(ParameterError, match="-1 images cannot be explained"):
        report_page(examples, explain=-1)
    with pytest.raises(ParameterError, match="is not a result"):
        report_page("a.json")  # type: ignore[arg-type]
    other = captious.score({1: "a"}, {1: ["a"]}, [*examples[0]][:1], system="other")
    with pytest.raises(ParameterError, match="not scored on the same images"):
        report_page([examples[0], other])
    with pytest.raises(OutputError):
        write_report(examples[0], tmp_path / "no" / "folder.html", resamples=5)


def test_write_report(tmp_path: Path, examples: list[captious.Report]) -> None:
    captious.write_report(examples[0], tmp_path / "page.html", title="A title", resamples=5)
    written = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<title>A title</title>" in written
    assert EXAMPLES.name not in written
