"""Tables as text, character for character."""

from __future__ import annotations

import re
from textwrap import dedent, indent

import pytest

import captious
from captious.evaluation import compare_reports
from captious.evaluation.report import score_table
from captious.report.terminal import plain_text
from tests.report.conftest import Known

pytestmark = pytest.mark.filterwarnings("ignore:.*single letters:captious.CaptiousWarning")


def shown(text: str) -> str:
    return dedent(text).removeprefix("\n")


def compared(a: str, b: str, references: list[str], *, systems: tuple[str, str] = ("a", "b")) -> captious.Comparison:
    """Return the comparison of two systems that each have one caption for all ten images."""
    images = range(10)
    return captious.compare(
        dict(zip(systems, (dict.fromkeys(images, a), dict.fromkeys(images, b)), strict=True)),
        dict.fromkeys(images, references),
        ["rouge-l"],
        resamples=5,
    )


def test_table_of_one_system_has_a_row_per_output(first: captious.Report) -> None:
    assert plain_text(score_table([first])) == shown("""
        3 images · 2.0 references each · tokens: ptb

                    first
          share     .2500
          amount  11.0000
        """)


def test_best_of_two_systems_is_marked(first: captious.Report, second: captious.Report) -> None:
    assert plain_text(score_table([first, second])) == shown("""
        3 images · 2.0 references each · tokens: ptb

                    first      second
          share     .2500       .5000  ◀
          amount  11.0000  ◀  10.5000

        ◀ best.
        """)


def test_table_shows_intervals_on_request(first: captious.Report, second: captious.Report) -> None:
    assert plain_text(score_table([first, second], intervals=True)) == shown("""
        3 images · 2.0 references each · tokens: ptb

                    first                      second
          share     .2500     .000 – .500       .5000     .250 – .750  ◀
          amount  11.0000  1.000 – 30.000  ◀  10.5000  1.000 – 28.000

        95% bootstrap over images, 1,000 resamples, seed 12345. ◀ best.
        """)


@pytest.mark.filterwarnings("ignore:all n-grams of 'x'")
def test_decimal_points_stand_below_each_other() -> None:
    report = captious.score(
        {i: f"a dog with {i} cats" for i in range(120)},
        {i: [f"a dog with {i} cats there", "x"] for i in range(120)},
        ["cider-d", "rouge-l", "bleu-4"],
        system="s",
    )
    rows = plain_text(score_table([report, report], intervals=True)).splitlines()[3:6]
    assert report["cider-d"].score > 1
    points = [[match.start() for match in re.finditer(r"\.\d{4}", row)] for row in rows]
    assert points[0] == points[1] == points[2]


def test_equal_scores_are_not_marked(first: captious.Report) -> None:
    text = plain_text(score_table([first, first]))
    assert "◀" not in text.splitlines()[3]


def test_legend_needs_a_mark(first: captious.Report) -> None:
    assert "◀" not in plain_text(score_table([first, first]))


def test_table_names_the_scored_subset() -> None:
    report = captious.score(
        {1: "a", 9: "b"}, {1: ["a x", "c"], 2: ["b", "d"]}, ["rouge-l"], match="common", system="part"
    )
    text = plain_text(score_table([report]))
    assert text.startswith("1 image · 2.0 references each")
    assert "part: common images; excluded 1 candidate" in text
    assert "1 image without a candidate" in text


def test_systems_on_different_images_say_how_many(first: captious.Report) -> None:
    part = captious.score({7: "a dog runs"}, {7: ["a brown dog runs", "x"]}, [Known()], system="part")
    assert plain_text(score_table([first, part])).startswith("first 3 images, part 1 image · ")


def test_systems_on_different_images_are_not_ranked(first: captious.Report) -> None:
    part = captious.score({7: "a dog runs"}, {7: ["a brown dog runs", "x"]}, [Known()], system="part")
    assert "◀" not in plain_text(score_table([first, part]))


def test_tokenizers_are_named_once_each(first: captious.Report) -> None:
    metrics = ["rouge-l", captious.Bleu(tokenizer="whitespace")]
    report = captious.score({1: "a"}, {1: ["a x", "c"]}, metrics)
    assert "tokens: ptb, whitespace\n" in plain_text(score_table([report]))


def test_references_that_are_concatenated_are_said_to_be() -> None:
    report = captious.score({1: "a"}, {1: ["a x", "c"]}, ["rouge-l"], settings=captious.Settings(references_as="cat"))
    assert plain_text(score_table([report])).startswith("1 image · 2.0 references each, concatenated · tokens: ptb\n")


def test_table_of_a_comparison_shows_differences(first: captious.Report, second: captious.Report) -> None:
    comparison = compare_reports(first, second, resamples=99, seed=1)
    assert plain_text(comparison.to_table()) == shown("""
        3 images · 2.0 references each · tokens: ptb

                    first   second  difference                 effect size  p bootstrap  p randomization
          share     .2500    .5000      +.2500    .000 – .500       +1.000         .110             .500
          amount  11.0000  10.5000      -.5000  -2.000 – .500        -.378         .600            1.000

        95% intervals and p values from 99 resamples of images, seed 1. Effect size: Cohen's d of caption scores.
        """)


def test_table_of_a_comparison_shows_examples(first: captious.Report, second: captious.Report) -> None:
    by_hand = shown("""
          3   first   two "cats", on a <chair>   2.00
              second  猫 & cats                  2.50
          7   first   a dog runs                 1.00
              second  the dog, running           1.00
        """)
    text = plain_text(compare_reports(first, second, resamples=9).to_table(examples=3))
    assert "\nlargest differences in amount\n  12  first " in text
    assert text.endswith(indent(by_hand, "  "))


def test_a_line_break_in_a_caption_does_not_break_the_table(first: captious.Report, second: captious.Report) -> None:
    text = plain_text(compare_reports(first, second, resamples=9).to_table(examples=3))
    assert "an old bicycle" in text


@pytest.mark.parametrize("name", ["[bold]x[/bold]", "[/]", "a:smile:"])
def test_names_are_text_and_never_markup(first: captious.Report, name: str) -> None:
    report = captious.score({1: "a"}, {1: ["a x", "c"]}, ["rouge-l"], system=name)
    text = plain_text(score_table([report, report]))
    assert name in text


def test_captions_are_text_and_never_markup() -> None:
    comparison = compared("[red]a[/red]", "b", ["[blue]a", "c"])
    assert "[red]a[/red]" in plain_text(comparison.to_table(examples=1))


@pytest.mark.filterwarnings("ignore:.*codes of a terminal:captious.CaptiousWarning")
def test_control_characters_of_captions_and_names_are_removed() -> None:
    comparison = compared("a \x1b[2J", "b", ["a", "c"], systems=("\x1b[31mred", "y"))
    assert "\x1b" not in plain_text(comparison.to_table(examples=1))
    assert "\x1b" not in plain_text(score_table([comparison.a, comparison.b]))


def test_results_show_themselves(first: captious.Report, second: captious.Report) -> None:
    assert repr(first) == plain_text(score_table([first])).rstrip("\n")
    comparison = compare_reports(first, second, resamples=9)
    assert repr(comparison) == plain_text(comparison.to_table()).rstrip("\n")


def test_wide_names_are_never_cut(first: captious.Report) -> None:
    report = captious.score({1: "a"}, {1: ["a x", "c"]}, ["rouge-l"], system="n" * 500)
    assert "n" * 500 in plain_text(score_table([report, report, report]))
