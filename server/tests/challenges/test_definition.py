"""captious_server.challenges.definition"""

from __future__ import annotations

import json
import re
import tomllib
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from captious.metrics.contract.selection import select
from captious_server.challenges.definition import ChallengeDefinition, definition_from, directions_of
from captious_server.challenges.problems import ChallengeError
from server.tests.challenges.conftest import TOML
from tests.support.tables import tables

SMALL = """
title = "Small"
metrics = ["bleu", "rouge-l"]
[[references]]
name = "c5"
file = "c5.json"
[[phases]]
name = "main"
[[baselines]]
method = "Human captions"
file = "human.json"
"""


def values(text: str = SMALL, **changes: Any) -> dict[str, Any]:
    return {**tomllib.loads(text), **changes}


def problems_of(data: dict[str, Any]) -> list[str]:
    with pytest.raises(ChallengeError) as caught:
        definition_from(data)
    return caught.value.problems


class TestDefaults:
    def test_single_captions_file_is_the_default_of_references_and_phases(self) -> None:
        definition = definition_from(values())
        (captions,), (references,), (phase,), (baseline,) = (
            definition.captions,
            definition.references,
            definition.phases,
            definition.baselines,
        )
        assert (captions.name, captions.pattern, captions.public) == ("captions", "*", False)
        assert references.captions == "captions"
        assert phase.captions == ("captions",)
        assert (phase.title, phase.opens, phase.closes, phase.board) == ("main", None, None, "public")
        assert (phase.scored_per_day, phase.scored_in_total, phase.attempts_per_day) == (0, 0, 0)
        assert baseline.phases == ("main",)
        assert definition.access == "public"

    def test_phases_take_all_captions_files_by_default(self) -> None:
        definition = definition_from(tomllib.loads(TOML))
        assert definition.phase("dev").captions == ("val2014",)
        assert definition.phase("test").captions == ("val2014", "test2014")

    @pytest.mark.parametrize(
        ("metrics", "rank_by"),
        [(["bleu", "cider-d", "rouge-l"], "cider-d"), (["rouge-l", "bleu"], "bleu-4"), (["cider-d@paper"],) * 2],
    )
    def test_ranking_output_defaults_to_the_last_metric(self, metrics: list[str], rank_by: Any) -> None:
        definition = definition_from(values(metrics=metrics))
        assert definition.rank_by == (rank_by if isinstance(rank_by, str) else rank_by[0])

    def test_label_joins_captions_file_and_reference_set(self) -> None:
        assert definition_from(values()).label("captions", "c5") == "c5"
        assert definition_from(tomllib.loads(TOML)).label("val2014", "c5") == "val2014 · c5"


class TestRoundTrip:
    @pytest.mark.parametrize("text", [SMALL, TOML], ids=["small", "coco"])
    def test_definition_survives_plain_values(self, text: str) -> None:
        definition = definition_from(tomllib.loads(text))
        _ = definition.outputs  # what is computed once does not make it another
        stored = json.loads(json.dumps(definition.model_dump(mode="json")))
        assert ChallengeDefinition.model_validate(stored) == definition
        assert definition_from(stored).model_dump(mode="json") == stored

    def test_definition_is_immutable(self) -> None:
        with pytest.raises(ValidationError):
            definition_from(values()).title = "other"  # type: ignore[misc]


_OUTSIDE = "must be between the years 2000 and 2999; leave it out for no limit"


class TestDates:
    @pytest.mark.parametrize(
        "written", ["2026-03-01T12:00:00", "2026-03-01T12:00:00Z", "2026-03-01T14:00:00+02:00", "2026-03-01 12:00:00"]
    )
    def test_dates_are_converted_to_utc(self, written: str) -> None:
        (phase,) = definition_from(values(SMALL.replace('"main"', f'"main"\nopens = {written}'))).phases
        assert phase.opens == datetime(2026, 3, 1, 12, tzinfo=UTC)
        assert phase.opens.utcoffset() is not None

    @pytest.mark.parametrize(
        ("written", "problem"),
        [
            ("2026-12-31", "phases[1].closes: needs a time, as in 2026-12-31T23:59:59Z"),
            ('"soon"', "phases[1].closes: must be a date and time such as 2026-12-31T23:59:59Z"),
            ("1767225600", "phases[1].closes: must be a date and time such as 2026-12-31T23:59:59Z"),
            ("23:59:59", "phases[1].closes: must be a date and time such as 2026-12-31T23:59:59Z"),
            ("2025-12-31T00:00:00Z", "phases[1].closes: must be later than opens"),
            ("9999-12-31T23:59:59Z", f"phases[1].closes: {_OUTSIDE}"),
            ("9999-12-31T23:59:59-12:00", f"phases[1].closes: {_OUTSIDE}"),
            ("0001-01-01T00:00:00+05:00", f"phases[1].closes: {_OUTSIDE}"),
        ],
    )
    def test_invalid_dates_are_refused(self, written: str, problem: str) -> None:
        dates = f'"main"\nopens = 2026-01-01T00:00:00Z\ncloses = {written}'
        assert problems_of(values(SMALL.replace('"main"', dates))) == [problem]


class TestMetrics:
    @pytest.mark.parametrize(
        "metrics",
        [["bleu"], ["bleu-4", "ROUGE-L"], ["cider-d@paper"], ["rouge-s:gap=1", "rouge-s:gap=2"], ["cider", "rouge-n"]],
        ids=str,
    )
    def test_outputs_equal_those_of_a_run(self, metrics: list[str]) -> None:
        assert definition_from(values(metrics=metrics)).outputs == select(metrics).labels

    @pytest.mark.parametrize(
        ("metric", "problem"),
        [
            ("all", "list the metrics one by one, because 'all' depends on the installed metrics"),
            ("blue", "there is no metric 'blue'; did you mean bleu"),
            ("rouge-s:gap", "expected PARAMETER=VALUE, got 'gap'; "),
            ("rouge-s:gap=two", "invalid parameter value 'two'; "),
        ],
    )
    def test_invalid_metrics_are_refused(self, metric: str, problem: str) -> None:
        with pytest.raises(ValueError) as caught:
            directions_of(metric)
        assert str(caught.value).startswith(problem)
        (said,) = problems_of(values(metrics=["bleu", metric]))
        assert said.startswith(f"metrics[2]: {problem}")

    def test_duplicate_metric_is_refused(self) -> None:
        assert problems_of(values(metrics=["bleu", "bleu-4"])) == ["metrics: bleu-4 is requested twice"]

    def test_unknown_ranking_output_is_refused(self) -> None:
        (said,) = problems_of(values(rank_by="cider-d"))
        assert said.startswith("rank_by: 'cider-d' is not an output of the metrics; these are bleu-1, bleu-2")


class TestImages:
    @pytest.mark.parametrize(
        ("template", "image", "url"),
        [
            ("https://x.org/{id:012d}.jpg", 42, "https://x.org/000000000042.jpg"),
            ("/media/{id}", "a b?.jpg", "/media/a%20b%3F.jpg"),
            ("http://x.org/{id}#{id:3d}", 7, "http://x.org/7#  7"),
            ("", 7, ""),
        ],
    )
    def test_image_url_is_filled_in(self, template: str, image: int | str, url: str) -> None:
        assert definition_from(values(image_url=template)).url_of(image) == url

    @pytest.mark.parametrize(
        "template",
        [
            "https://x.org/{id.__class__}",
            "https://x.org/{id!r}",
            "https://x.org/{id:999999999d}",
            "https://x.org/{id:{id}}",
            "https://x.org/{id}{0}",
            "https://x.org/{",
            "https://x.org/image.jpg",
            "javascript:alert({id})",
            "data:text/html,{id}",
            "//x.org/{id}",
            "/\\x.org/{id}",
            "/{id}",
            "https://{id}",
            "images/{id}",
        ],
    )
    def test_invalid_image_url_is_refused(self, template: str) -> None:
        (said,) = problems_of(values(image_url=template))
        assert said.startswith("image_url: ")


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        *((values(**changes), problem) for changes, problem in tables(__file__)["problems"]),
        (
            values(baselines=[{"method": "x" * 150, "file": "x.json"}]),
            "baselines[1].method: must not be longer than 120 characters",
        ),
        (
            tomllib.loads(TOML.replace('captions = "val2014"', "")),
            "references[1].captions: must name the captions file that it judges: val2014, test2014",
        ),
        (
            tomllib.loads(TOML.replace('pattern = "captions_test2014_*_results.json"', "")),
            "captions[2].pattern: is required where a phase takes several captions files",
        ),
        (
            tomllib.loads(TOML.replace('pattern = "captions_val2014_*_results.json"', "")),
            "captions[1].pattern: is required where a phase takes several captions files",
        ),
        (
            tomllib.loads(TOML.replace("captions_test2014_", "captions_val2014_")),
            "captions[2].pattern: is also the pattern of captions[1]",
        ),
        (
            tomllib.loads(TOML.replace('captions = "val2014"', 'captions = "test2014"').replace('"c5"', '"c4"', 1)),
            "captions[1]: no reference set judges 'val2014'",
        ),
        (
            tomllib.loads(TOML.replace('name = "test"', 'name = "test"\ncaptions = ["val2014"]')),
            "captions[2]: no phase takes 'test2014'",
        ),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_invalid_definition_has_the_expected_problem(data: dict[str, Any], problem: str) -> None:
    assert problems_of(data) == [problem]


@pytest.mark.parametrize("key", ["title", "metrics", "references", "phases"])
def test_missing_required_key_is_refused(key: str) -> None:
    data = values()
    del data[key]
    assert problems_of(data)[0] == f"{key}: is required"


@pytest.mark.parametrize("pattern", ["", 'pattern = "*.json"'])
def test_captions_files_of_different_phases_need_no_patterns(pattern: str) -> None:
    text = re.sub(r'pattern = ".*"', pattern, TOML).replace('name = "test"', 'name = "test"\ncaptions = ["test2014"]')
    definition = definition_from(tomllib.loads(text))
    assert [phase.captions for phase in definition.phases] == [("val2014",), ("test2014",)]


def test_null_characters_are_refused() -> None:
    """PostgreSQL cannot store them."""
    data = values(SMALL.replace('"main"', r'"main"' + "\n" + r'title = "a\u0000"'), license="\0", terms="none")
    with pytest.raises(ChallengeError) as caught:
        definition_from(data)
    said = "has a null character, which databases do not store"
    assert caught.value.problems[:2] == [f"phases[1].title: {said}", f"license: {said}"]
    assert len(caught.value.problems) == 3  # and that there is no text of terms


def test_problems_within_and_between_keys_are_reported_together() -> None:
    data = values(
        titel="x", rank_by="spice", image_url="ftp://x", phases=[{"name": "A"}, {"name": "b", "captions": ["v"]}]
    )
    said = problems_of(data)
    assert [line.partition(":")[0] for line in said] == [
        "image_url",
        "phases[1].name",
        "titel",
        "phases[2].captions",
        "rank_by",
    ]


@pytest.mark.parametrize("wrong", [3, "x", [], {}, [3], [[]], [{}], None, [{"name": 3}], [{"name": ["x"]}]], ids=repr)
@pytest.mark.parametrize(
    "key", ["title", "metrics", "settings", "texts", "captions", "references", "phases", "baselines", "rank_by"]
)
def test_arbitrary_values_never_crash_the_reader(key: str, wrong: Any) -> None:
    try:
        definition_from(values(**{key: wrong}))
    except ChallengeError as error:
        assert any(problem.startswith(key) for problem in error.problems)
