"""Properties of all results: mappings are mappings, and every format has the same records."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import captious
from captious.errors import UnknownNameError
from captious.scale import ShardReport
from tests.report.results import (
    GOOD,
    GROUPS,
    METRICS,
    REFERENCES,
    RESULTS,
    comparison,
    of_shards,
    report,
    reports,
)

pytestmark = pytest.mark.filterwarnings("ignore:with 37 resamples:captious.CaptiousWarning")


@pytest.fixture(params=RESULTS)
def result(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return RESULTS[request.param](tmp_path)


def test_results_are_mappings(result: Any) -> None:
    if not isinstance(result, Mapping):
        pytest.skip("not here: not a mapping")
    keys = [*result]
    assert len(result) == len(keys) > 0
    assert all(key in result and result[key] is result[key] for key in keys)
    assert [*result.values()] == [result[key] for key in keys]
    assert result._ipython_key_completions_() == keys  # type: ignore[attr-defined]
    for key in ("nothing", 3, None):
        assert key not in result
        assert result.get(key) is None
        with pytest.raises(UnknownNameError, match=r"nothing|3|None"):
            result[key]


def test_an_unknown_name_comes_with_a_suggestion() -> None:
    for mapping, name, close in [
        (report(), "rougel", "rouge-l"),
        (reports(), "godo", "good"),
        (comparison(), "rougel", "rouge-l"),
        (captious.by_group(report(), GROUPS), "eve", "even"),
    ]:
        with pytest.raises(UnknownNameError) as caught:
            mapping[name]
        assert caught.value.hint.startswith(f"did you mean {close}?")


def rows(result: Any, folder: Path) -> list[dict[str, str]]:
    result.to_csv(folder / "rows.csv")
    return [*csv.DictReader(io.StringIO((folder / "rows.csv").read_text(encoding="utf-8"), newline=""))]


def text(value: object) -> object:
    """Return a value as a number if it is one, since formats write numbers differently; empty if there is none."""
    if isinstance(value, bool):
        return str(value)
    if value is None or value != value or value == "nan":
        return ""
    try:
        return float(value)  # type: ignore[arg-type]
    except ValueError:
        return value


def test_data_frames_have_the_records_of_csv(result: Any, tmp_path: Path) -> None:
    if not hasattr(result, "to_csv"):
        pytest.skip("not here: not shown by itself")
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    if isinstance(result, ShardReport):
        with pytest.raises(captious.CaptiousError, match="are not kept when shards are scored"):
            result.to_csv(tmp_path / "rows.csv")
        return
    written = rows(result, tmp_path)
    for frame, records in (
        (result.to_pandas(), result.to_pandas().to_dict("records")),
        (result.to_polars(), result.to_polars().to_dicts()),
    ):
        assert len(frame) == len(written) > 0
        assert [*frame.columns] == [*written[0]]
        for record, row in zip(records, written, strict=True):
            assert {key: text(value) for key, value in record.items()} == {key: text(v) for key, v in row.items()}


def test_columns_do_not_depend_on_what_captions_hold(tmp_path: Path) -> None:
    clean, empty = captious.check(GOOD, REFERENCES), captious.check({**GOOD, 3: ""}, REFERENCES)
    assert len(rows(clean, tmp_path)) == len(rows(empty, tmp_path))


def test_numbers_of_a_grouped_report_have_their_seed() -> None:
    uneven = {**GOOD, 0: "cats", 1: "dogs", 2: "a dog", 3: "the dog"}
    grouped = captious.by_group(captious.score(uneven, REFERENCES, METRICS), GROUPS)
    first, second = (grouped.to_dict(intervals=True, resamples=50, seed=seed) for seed in (1, 2))
    assert (first["resamples"], first["seed"]) == (50, 1)
    assert first["groups"] != second["groups"]


def test_results_are_numbers() -> None:
    result = report()["bleu-1"]
    assert float(result) == result.score
    assert f"{result:.3f}" == f"{result.score:.3f}"
    assert f"{result}" == repr(result)


def test_reports_of_shards_are_plotted_with_intervals(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert of_shards(tmp_path, intervals=True).plot().axes
    with pytest.raises(captious.CaptiousError, match="what intervals need was not summed") as caught:
        of_shards(tmp_path, intervals=False).plot()
    assert "score with intervals" in caught.value.hint


def test_pages_have_names_of_pages(tmp_path: Path) -> None:
    with pytest.raises(captious.CaptiousError, match=r"page\.xyz is not the name of a page"):
        captious.write_report(report(), tmp_path / "page.xyz")
    with pytest.raises(captious.CaptiousError, match="is not a path"):
        captious.write_report(tmp_path / "page.html", report())  # type: ignore[arg-type]
    assert not [*tmp_path.iterdir()]


def test_options_of_other_results_are_refused() -> None:
    with pytest.raises(captious.CaptiousError, match="the table of a Report has no option 'examples'") as caught:
        report().to_markdown(examples=3)
    assert "its options are intervals" in caught.value.hint
    assert any(caption in comparison().to_markdown(examples=1) for caption in GOOD.values())
