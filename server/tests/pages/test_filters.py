"""How scores, times, sizes and addresses look on pages."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace

import pytest
from django.core.paginator import Paginator
from django.template.loader import render_to_string
from django.test import RequestFactory

from captious_server.templatetags import captious_pages
from server.tests.support.site import Site


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.298, ".2980"),
        (1.2748071, "1.2748"),
        (-0.0312, "−.0312"),
        (-0.00001, ".0000"),
        (0.99999, "1.0000"),
        (0, ".0000"),
        (None, "–"),
        (math.nan, "–"),
        ("", "–"),
        (".2980", ".2980"),
    ],
)
def test_score_has_no_leading_zero(value: object, text: str) -> None:
    assert captious_pages.score(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.0392, "+.0392"), (-0.0392, "−.0392"), (1.5, "+1.5000"), (None, "–"), (math.nan, "–")]
)
def test_signed_score_has_its_sign(value: object, text: str) -> None:
    assert captious_pages.signed(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.0004, "<.001"), (0.001, ".001"), (0.0421, ".042"), (1.0, "1.000"), (None, "–")]
)
def test_p_value_is_formatted(value: object, text: str) -> None:
    assert captious_pages.p_value(value) == text


def test_filters_use_the_digits_of_the_phase() -> None:
    assert [captious_pages.score(0.2981, digits) for digits in (1, 2, 6)] == [".3", ".30", ".298100"]
    assert [captious_pages.p_value(0.004, digits) for digits in (1, 2, 6)] == ["<.1", "<.01", ".004"]
    assert [captious_pages.effect(value, digits) for value, digits in ((0.0392, 1), (-0.0392, 4))] == ["+.0", "−.04"]


def test_interval_has_both_ends() -> None:
    assert captious_pages.interval({"low": 1.2494, "high": 1.3}) == "1.249 – 1.300"
    assert captious_pages.interval({"low": -0.0031, "high": 0.0694}) == "−.003 – .069"
    assert captious_pages.interval(SimpleNamespace(low=-0.0231, high=-0.0142), 3) == "−.02 – −.01"


def test_interval_of_a_difference_has_signs() -> None:
    assert captious_pages.ends({"low": -0.0122, "high": 0.139}) == "[−.012, +.139]"
    assert captious_pages.ends({"low": None, "high": 0.139}) == ""


@pytest.mark.parametrize(("low", "high"), [(None, 0.3), (0.2, None), (math.nan, 0.3), ("", "")])
def test_interval_with_one_end_is_a_dash(low: object, high: object) -> None:
    assert captious_pages.interval({"low": low, "high": high}) == ""


def test_count_has_thousands_separators() -> None:
    assert captious_pages.count(5000) == "5,000"
    assert captious_pages.count(12) == "12"
    assert captious_pages.count(None) == "–"


def test_times_are_converted_to_utc() -> None:
    amsterdam = datetime(2026, 11, 22, 0, 5, tzinfo=timezone(timedelta(hours=1)))
    assert captious_pages.moment(amsterdam) == '<time datetime="2026-11-21T23:05:00Z">2026-11-21 23:05 UTC</time>'
    assert captious_pages.day(amsterdam) == '<time datetime="2026-11-21T23:05:00Z">2026-11-21</time>'


def test_times_are_safe_html() -> None:
    assert hasattr(captious_pages.moment(datetime(2026, 1, 1, tzinfo=UTC)), "__html__")


def test_missing_time_is_a_dash() -> None:
    assert captious_pages.moment(None) == captious_pages.day("") == "–"


def test_item_of_a_missing_key_is_none() -> None:
    assert captious_pages.item({"bleu-1": 0.7}, "bleu-1") == 0.7
    assert captious_pages.item({"bleu-1": 0.7}, "meteor") is None
    assert captious_pages.item("", "meteor") is None


def test_query_lists_parameters() -> None:
    assert captious_pages.query("/compare?phase=dev&systems=1&systems=2&a=") == [
        ("phase", "dev"),
        ("systems", "1"),
        ("systems", "2"),
        ("a", ""),
    ]
    assert captious_pages.query("/compare") == captious_pages.query("") == captious_pages.query(None) == []


def test_page_link_keeps_the_rest_of_the_query(site: Site) -> None:
    page = Paginator(range(100), 10).get_page(7)
    request = RequestFactory().get("/captions?systems=1&systems=2&page=7&by=cider-d")
    html = render_to_string("captious/parts/pages.html", {"page": page}, request)
    assert 'rel="next" href="?systems=1&amp;systems=2&amp;page=8&amp;by=cider-d"' in html


def test_scores_are_drawn_on_a_common_scale() -> None:
    svg = str(captious_pages.interval_drawing({"low": 0.25, "score": 0.5, "high": 0.75}, (0.0, 1.0)))
    assert 'x1="27.0%" x2="73.0%"' in svg
    assert 'cx="50.0%"' in svg
    labels = re.findall(r'<text x="([^"]+)"', str(captious_pages.axis_drawing((0.0, 1.0))))
    assert len(labels) > 1
    assert re.findall(r'<line x1="([^"]+)" x2="\1"', svg) == labels


@pytest.mark.parametrize("ends", [(0.0, 1.0), (0.613, 1.121), (-0.02, 0.3), (41.2, 57.9), (0.7081, 0.7086)])
def test_scores_lie_within_the_numbers_of_the_axis(ends: tuple[float, float]) -> None:
    ticks = re.findall(r'<text x="([^"]+)%" y="11">([^<]+)', str(captious_pages.axis_drawing(ends)))
    values = [float(label.replace("−", "-")) for _, label in ticks]
    assert values[0] <= ends[0] < ends[1] <= values[-1]
    assert (ticks[0][0], ticks[-1][0]) == ("4.0", "96.0")
    assert 2 <= len(ticks) <= 4


def test_scores_with_attributes_are_drawn() -> None:
    assert 'cx="50.0%"' in captious_pages.difference_drawing(SimpleNamespace(low=-1, difference=0, high=1))


@pytest.mark.parametrize("missing", [None, math.nan])
def test_score_without_an_interval_is_not_drawn(missing: float | None) -> None:
    assert captious_pages.difference_drawing({"low": missing, "difference": 0.1, "high": 0.2}) == ""
    assert captious_pages.interval_drawing({"low": missing, "score": 0.1, "high": 0.2}, (0.0, 1.0)) == ""


#: What the module has for the styles of pages, which are no filters.
OF_STYLES = {"DigestStorage", "digest", "style", "style_policy"}


def test_every_filter_is_registered() -> None:
    assert {*vars(captious_pages)} >= OF_STYLES
    functions = {
        name
        for name, value in vars(captious_pages).items()
        if getattr(value, "__module__", "") == captious_pages.__name__
    }
    public = {name for name in functions if not name.startswith("_")} - OF_STYLES
    assert public == {*captious_pages.register.filters, *captious_pages.register.tags}
