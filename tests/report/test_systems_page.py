"""A page about systems holds their scores, captions and explanations."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from pathlib import Path

import pytest

import captious
from captious.drawing import axis_drawing, interval_drawing, scores_drawing
from captious.errors import OutputError, ParameterError
from captious.evaluation import comparison
from captious.report.page import report_page, table_page, write_report
from captious.report.page_data import document
from captious.tables import Cell
from tests.report.conftest import EXAMPLES, HOSTILE, hostile, systems
from tests.report.results import comparison as compared
from tests.support.pages import Page, imports_of

pytestmark = pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")


@pytest.fixture(scope="module")
def page(examples: list[captious.Report]) -> Page:
    return Page(report_page(examples, resamples=50))


def test_systems_that_were_scored_together_have_the_page_of_a_list(examples: list[captious.Report]) -> None:
    assert report_page(captious.Reports(examples), resamples=50) == report_page(examples, resamples=50)


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize(("bootstrap", "randomization"), [(0.001, 0.06), (0.06, 0.001)])
def test_randomization_decides_everywhere(
    n: int, bootstrap: float, randomization: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "bootstrap_p_value", lambda *_, **options: bootstrap)
    monkeypatch.setattr(comparison, "permutation_p_value", lambda *_, **options: randomization)
    result = compared(n)
    shown = [result.to_latex(), result.to_markdown(), table_page(result.to_table()), report_page(result)]
    signs = ["textsuperscript", "<sup>", "class=significant", "class=significant"]
    found = [sign in text for sign, text in zip(signs, shown, strict=True)]
    assert found == [randomization < 0.05] * 4
    assert all("of approximate randomization" in text for text in shown if signs[2] in text)
    assert "p &lt; .05 of approximate randomization" in shown[-1]


def test_captions_are_sorted_by_cider_d_with_any_parameters() -> None:
    files = EXAMPLES / "improved.json", EXAMPLES / "references.json"
    report = captious.score(*files, ["bleu-1", "cider-d:idf=coco", "rouge-l"])
    assert Page(report_page(report)).manifest["by"] == "cider-d:idf=coco"


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


@pytest.mark.parametrize(
    ("name", "shown"), [("نظام 2", "<bdi>نظام 2</bdi>"), ("נ&<", "<bdi>נ&amp;&lt;</bdi>"), ("mine", "mine")]
)
def test_names_from_right_to_left_are_isolated_in_warnings(name: str, shown: str) -> None:
    captions = dict.fromkeys(range(12), "a dog")
    reports = [captious.score(captions, {i: [f"a dog {i}"] for i in captions}, "bleu-1", system=n) for n in ("a", name)]
    warned = captious.Report(name, reports[1].captions, dict(reports[1]), ["12 of 12 candidates are long."])
    silent = captious.Report("a", reports[0].captions, dict(reports[0]), [])
    assert f"<p>{shown}: 12 of 12 candidates" in report_page([silent, warned], resamples=5)


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


# ---- forms and refusals


def test_page_of_a_comparison_equals_that_of_its_reports(examples: list[captious.Report]) -> None:
    compared = captious.evaluation.compare_reports(*examples, resamples=7, seed=3)
    assert report_page(compared) == report_page(examples, resamples=7, seed=3)


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
