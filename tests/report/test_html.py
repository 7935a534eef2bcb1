"""Results as HTML."""

from __future__ import annotations

import pytest

import captious
from captious.evaluation import compare_reports
from tests.support.pages import parsed

NASTY = "<script>alert(\"1\")</script> & 'x'"


def test_html_of_a_report_is_a_table(first: captious.Report) -> None:
    page = parsed(first._repr_html_())
    assert "first: 3 images, 6 references" in page.text
    assert page.text[page.text.index("share") + 1] == ".2500"
    assert page.tags.count("tr") == 3


def test_html_of_a_comparison_is_a_table(first: captious.Report, second: captious.Report) -> None:
    page = parsed(compare_reports(first, second, resamples=9)._repr_html_())
    assert {"first", "second", "difference", "+.2500"} <= set(page.text)


@pytest.mark.filterwarnings("ignore:.*another language:captious.CaptiousWarning")
@pytest.mark.filterwarnings("ignore:.*single letters:captious.CaptiousWarning")
def test_everything_is_escaped() -> None:
    comparison = captious.compare(
        {NASTY: dict.fromkeys(range(10), "a"), "b": dict.fromkeys(range(10), "b")},
        {i: ["a d", "c"] for i in range(10)},
        ["rouge-l"],
        resamples=5,
    )
    for html in (comparison._repr_html_(), comparison.a._repr_html_()):
        page = parsed(html)
        assert "script" not in page.tags
        assert any(NASTY in text for text in page.text)


def test_signatures_are_on_the_rows(first: captious.Report) -> None:
    html = first._repr_html_()
    assert html is not None
    for result in first.values():
        assert f'title="{result.signature}"' in html
