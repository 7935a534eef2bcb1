"""score_shards: the scores of captious.score from shards, with every engine; resuming, failures, interruption."""

from __future__ import annotations

import json
import os
import pickle
import random
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import captious
from captious import scale
from captious.data import read_references
from captious.errors import (
    CaptiousError,
    DuplicateCandidateError,
    MissingCandidatesError,
    MissingExtraError,
    OutputError,
    ParameterError,
    ResourceError,
    ShardError,
    UnknownImageError,
    UnknownNameError,
)
from captious.evaluation.report import score_table
from captious.metrics.contract.settings import Settings
from captious.progress import observed
from captious.report.formats import csv, json_text
from tests.scale.conftest import EXAMPLES, example_rows, write
from tests.support.observers import Events

METRICS = ["bleu", "rouge-l", "cider-d", "cider", "rouge-n", "unigram-recall"]

pytestmark = pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")


def scored(metrics: Sequence[str] = METRICS, **options: Any) -> captious.Report:
    options = {"system": "candidates", **options}
    return captious.score(EXAMPLES / "improved.json", EXAMPLES / "references.json", metrics, **options)


def sharded(folder: Path, metrics: Any = METRICS, **options: Any) -> scale.ShardReport:
    return scale.score_shards(f"{folder}/part-*.jsonl", metrics, **options)


def texts(report: captious.Report) -> tuple[str, str]:
    return json_text(score_table([report])), csv(score_table([report]))


# ---- the same numbers


@pytest.mark.parametrize("batch_rows", [1, 4, 8192])
def test_shards_give_the_bits_of_score(shards: Path, batch_rows: int) -> None:
    assert texts(sharded(shards, batch_rows=batch_rows)) == texts(scored())


def test_shards_accept_references_joined_as_one_text(shards: Path) -> None:
    settings = Settings(references_as="cat")
    assert texts(sharded(shards, settings=settings)) == texts(scored(settings=settings))


def test_shards_use_the_document_frequencies_of_settings(shards: Path) -> None:
    settings = Settings(idf="coco")
    assert texts(sharded(shards, ["cider-d"], settings=settings)) == texts(scored(["cider-d"], settings=settings))


def test_processes_give_the_same_bits(shards: Path) -> None:
    assert texts(sharded(shards, engine="processes", workers=2)) == texts(scored())


def test_scores_do_not_depend_on_order_or_size_of_shards(tmp_path: Path) -> None:
    rows = example_rows()
    random.Random(1).shuffle(rows)
    for number, (start, end) in enumerate([(0, 1), (1, 20), (20, 24)]):
        write(tmp_path / f"part-{number}.jsonl", rows[start:end])
    assert texts(sharded(tmp_path)) == texts(scored())


def test_file_named_twice_is_one_shard(shards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shards)
    patterns = ["part-*.jsonl", "./part-0.jsonl", f"../{shards.name}/part-1.jsonl", f"{shards}/part-2.jsonl"]
    assert texts(scale.score_shards(patterns, METRICS)) == texts(scored())


def test_references_come_from_a_separate_table(tmp_path: Path) -> None:
    rows = [{"id": row["id"], "candidate": row["candidate"]} for row in example_rows()]
    for number in range(3):
        write(tmp_path / f"part-{number}.jsonl", rows[number * 8 : number * 8 + 8])
    assert texts(sharded(tmp_path, references=EXAMPLES / "references.json")) == texts(scored())
    table = read_references(EXAMPLES / "references.json")
    assert texts(sharded(tmp_path, references=table)) == texts(scored())


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
def test_text_ids_match_numeric_references(tmp_path: Path, form: str) -> None:
    rows = example_rows()
    references = write(
        tmp_path / "references.jsonl", [{"image_id": row["id"], "references": row["references"]} for row in rows]
    )
    write(
        tmp_path / f"part-0.{form}", [{"id": str(r["id"]), "candidate": r["candidate"], "references": []} for r in rows]
    )
    shard = str(tmp_path / f"part-0.{form}")
    assert texts(scale.score_shards(shard, METRICS, references=references)) == texts(scored())


def test_several_candidates_of_an_image_are_scored(tmp_path: Path) -> None:
    rows = [{"id": row["id"], "candidate": row["candidate"]} for row in example_rows()]
    write(tmp_path / "part-0.jsonl", [*rows, *rows])
    twice, once = sharded(tmp_path, references=EXAMPLES / "references.json"), scored()
    assert twice.n_images == 48
    assert twice["cider-d"].score == once["cider-d"].score
    assert twice["bleu-4"].score == pytest.approx(once["bleu-4"].score, abs=1e-9)
    write(tmp_path / "part-1.jsonl", [{"id": -5, "candidate": "a"}])
    with pytest.raises(UnknownImageError, match="line 1 \\(id -5\\)"):
        sharded(tmp_path, references=EXAMPLES / "references.json")


def test_every_image_of_a_separate_table_needs_a_candidate(shards: Path, tmp_path: Path) -> None:
    (shards / "part-3.jsonl").rename(tmp_path / "last.jsonl")
    references = EXAMPLES / "references.json"
    for _ in range(2):  # the second time from the folder
        with pytest.raises(MissingCandidatesError, match="6 of 24 images have references but no candidate") as caught:
            sharded(shards, references=references, output=tmp_path / "some", batch_rows=4)
    assert all(str(row["id"]) in caught.value.where for row in example_rows()[18:21])
    shutil.copy(shards / "part-0.jsonl", shards / "part-4.jsonl")  # as many rows as images, but of fewer images
    with pytest.raises(MissingCandidatesError, match="6 of 24"):
        sharded(shards, references=references)
    (shards / "part-4.jsonl").unlink()
    (tmp_path / "last.jsonl").rename(shards / "part-3.jsonl")
    for _ in range(2):
        assert texts(sharded(shards, references=references, output=tmp_path / "all")) == texts(scored())


def test_references_that_are_another_shard_are_told(shards: Path) -> None:
    with pytest.raises(UnknownImageError, match="is this another shard\\? Then list it among the shards"):
        scale.score_shards(shards / "part-0.jsonl", ["rouge-l"], references=shards / "part-1.jsonl")


def test_plan_map_and_reduce_check_their_inputs(shards: Path) -> None:
    plan = scale.plan(f"{shards}/part-*.jsonl", METRICS)
    assert plan.needs_fit
    with pytest.raises(ParameterError, match="fitted"):
        plan.map(plan.shards[0])
    plan = pickle.loads(pickle.dumps(plan))
    states = [pickle.loads(pickle.dumps(plan.fit(shard))) for shard in plan.shards[::-1]]
    plan = pickle.loads(pickle.dumps(plan.fitted(states)))
    sums = [pickle.loads(pickle.dumps(plan.map(shard))) for shard in plan.shards[::-1]]
    assert texts(plan.reduce(sums)) == texts(scored())
    assert [scale.ShardSums.from_dict(json.loads(json.dumps(part.to_dict()))) for part in sums] == sums
    with pytest.raises(ShardError, match="no sums"):
        plan.reduce(sums[1:])
    with pytest.raises(ShardError, match="two sums of one shard"):
        plan.reduce([*sums, sums[0]])


def test_other_available_metrics_equal_score(shards: Path) -> None:
    metrics = ["rouge-s", "ngram-precision", "meteor" if captious.Meteor.missing() is None else "rouge-s:gap=3"]
    assert texts(sharded(shards, metrics, batch_rows=5)) == texts(scored(metrics))


# ---- reports


def test_a_report_has_no_captions(shards: Path) -> None:
    report = sharded(shards, ["bleu-4"])
    assert (report.n_images, report.n_references, report.n_shards) == (24, 120, 4)
    for attribute in ("captions", "ids"):
        with pytest.raises(ParameterError, match="not kept"):
            getattr(report, attribute)
    for needs_captions in (
        lambda: report["bleu-4"].per_caption,
        lambda: report["bleu-4"].by_image,
        lambda: report.worst("bleu-4"),
        lambda: report.explain("bleu-4", 1),
        report.to_records,
        report.to_pandas,
    ):
        with pytest.raises(ParameterError, match="not kept"):
            needs_captions()
    assert "bleu-4" in repr(report)


def test_intervals_over_captions_are_those_of_the_bootstrap(tmp_path: Path) -> None:
    rows = [{**row, "id": 24 * turn + i} for turn in range(40) for i, row in enumerate(example_rows())]
    for number in range(40):
        write(tmp_path / f"part-{number:02}.jsonl", rows[number * 24 : number * 24 + 24])
    metrics = ["bleu", "rouge-l", "rouge-n"]
    candidates = {row["id"]: row["candidate"] for row in rows}
    references = {row["id"]: row["references"] for row in rows}
    report, other = sharded(tmp_path, metrics, intervals=True), captious.score(candidates, references, metrics)
    for name, result in report.items():
        ours, theirs = result.confidence_interval(), other[name].confidence_interval()
        assert ours == pytest.approx(theirs, abs=0.15 * (theirs[1] - theirs[0]))
        # All shards are equal, so scores do not vary over shards.
        low, high = result.confidence_interval(over="shards")
        assert high - low < 1e-12
    with pytest.raises(ParameterError, match="resampled"):
        report["bleu-4"].confidence_interval(over="words")


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("metric", ["bleu", "bleu@paper"])
def test_intervals_of_few_captions_are_of_sums_that_can_be(tmp_path: Path, metric: str) -> None:
    rows = example_rows()[:3]
    rows[1]["candidate"] = rows[2]["candidate"] = "a man"
    write(tmp_path / "part-0.jsonl", rows)
    for result in sharded(tmp_path, [metric], intervals=True).values():
        low, high = result.confidence_interval()
        assert 0 <= low <= result.score <= high < 1.2
        draws = result.statistics.resampled_captions(1000, 1)  # type: ignore[attr-defined]
        assert np.isfinite(draws).all()


def test_sums_that_can_be_negative_vary_below_zero(shards: Path) -> None:
    def difference(candidate: str, references: list[str]) -> float:
        return len(candidate) - 50

    low, high = sharded(shards, [difference], intervals=True)["difference"].confidence_interval()
    assert low < 0 < high


def test_intervals_need_their_sums(shards: Path) -> None:
    report = sharded(shards, ["bleu-4"])
    with pytest.raises(ParameterError, match="score with intervals"):
        report["bleu-4"].confidence_interval()
    low, high = report["bleu-4"].confidence_interval(over="shards")
    assert low < report["bleu-4"].score < high


class Lengths(captious.MeanMetric):
    """A metric that warns about its captions."""

    name = "lengths"

    def scores(self, captions: captious.Captions, state: object = None) -> Any:
        if "fail" in captions.candidates:
            raise RuntimeError("bad luck")
        return np.array([float("nan") if text == "nan" else len(text) for text in captions.candidates])

    def warnings(self, captions: captious.Captions, state: object) -> list[str]:
        long = sum(len(text) > 50 for text in captions.candidates)
        warnings = [f"{long:,} of {len(captions):,} candidates are long"] if long else []
        return [*warnings, "lengths are lengths"]


def test_warnings_of_batches_are_merged(shards: Path) -> None:
    report = sharded(shards, [Lengths()], batch_rows=3)
    assert report.warnings[0].startswith("in ")
    assert " of 8 batches: such as " in report.warnings[0]
    assert report.warnings[1:] == ["lengths are lengths"]


# ---- the folder of a run


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the unchanged names of the shards that are read."""
    read: list[str] = []
    batches = scale.FileShard.batches

    def batches_seen(self: scale.FileShard, *arguments: Any) -> Iterator[scale.RowBatch]:
        read.append(Path(self.name).name)
        return batches(self, *arguments)

    monkeypatch.setattr(scale.FileShard, "batches", batches_seen)
    return read


def test_second_run_reuses_finished_shards(shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, out = texts(scored()), tmp_path / "out"
    good = (shards / "part-2.jsonl").read_text()
    (shards / "part-2.jsonl").write_text("x")
    with pytest.raises(CaptiousError, match=r"part-2\.jsonl: line 1"):
        sharded(shards, output=out, retries=0)
    (shards / "part-2.jsonl").write_text(good)
    read = counted(monkeypatch)
    assert texts(sharded(shards, output=out)) == expected
    assert read == ["part-2.jsonl", *(f"part-{i}.jsonl" for i in range(4))]
    assert json.loads((out / "scores.json").read_text()) == json.loads(expected[0])
    read.clear()
    assert texts(sharded(shards, output=out, engine="stream")) == expected
    assert read == []
    (out / "sums" / "00001.json").unlink()
    assert texts(sharded(shards, output=out)) == expected
    assert read == ["part-1.jsonl"]
    shutil.rmtree(out / "fit")
    (out / "sums" / "00003.json").unlink()
    assert texts(sharded(shards, output=out)) == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metrics": ["bleu"]}, r"other metrics: only then rouge-l\|variant.*; only now bleu-1\|variant"),
        ({"metrics": ["rouge-l", "bleu-4"]}, r"other metrics: only now bleu-1\|variant"),
        ({"batch_rows": 5}, "batch rows was 8192"),
        ({"intervals": True}, "intervals was False"),
        ({"columns": "id=id"}, "columns was"),
        ({"settings": Settings(references_as="cat")}, "references as was 'each'"),
    ],
)
def test_results_of_another_plan_are_refused(
    shards: Path, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    sharded(shards, ["rouge-l"], output=tmp_path / "out")
    with pytest.raises(ParameterError, match=message):
        sharded(shards, change.pop("metrics", ["rouge-l"]), output=tmp_path / "out", **change)


@pytest.mark.parametrize("metric", ["rouge-l", "cider-d"])
def test_results_without_a_plan_are_refused(shards: Path, tmp_path: Path, metric: str) -> None:
    out = tmp_path / "out"
    sharded(shards, [metric], output=out)
    if metric == "cider-d":  # which was interrupted after frequencies were counted
        shutil.rmtree(out / "sums")
    (out / "plan.json").write_text("{")
    with pytest.raises(ResourceError, match=r"plan\.json\n.*remove this one to score everything again"):
        sharded(shards, ["unigram-recall"], output=out)
    (out / "plan.json").unlink()
    with pytest.raises(ParameterError, match=r"results, but no plan\.json"):
        sharded(shards, ["unigram-recall"], output=out)


def test_changed_shards_are_refused(shards: Path, tmp_path: Path) -> None:
    sharded(shards, ["rouge-l"], output=tmp_path / "out")
    os.utime(shards / "part-1.jsonl", ns=(1, 1))
    with pytest.raises(ParameterError, match=r"part-1\.jsonl has changed since"):
        sharded(shards, ["rouge-l"], output=tmp_path / "out")
    (shards / "part-1.jsonl").rename(shards / "part-9.jsonl")
    with pytest.raises(ParameterError, match=r"part-1\.jsonl, which is not among"):
        sharded(shards, ["rouge-l"], output=tmp_path / "out")


@pytest.mark.parametrize("metric", ["rouge-l", "cider-d"])
def test_a_shard_without_results_may_change(shards: Path, tmp_path: Path, metric: str) -> None:
    rows = example_rows()
    bad = [*rows[12:17], {**rows[17], "id": rows[12]["id"]}]  # found at the end of a shard only
    write(shards / "part-2.jsonl", bad)
    with pytest.raises(DuplicateCandidateError):
        sharded(shards, [metric], output=tmp_path / "out", batch_rows=4)
    write(shards / "part-2.jsonl", rows[12:18])
    assert texts(sharded(shards, [metric], output=tmp_path / "out", batch_rows=4)) == texts(scored([metric]))
    write(shards / "part-2.jsonl", bad)
    with pytest.raises(ParameterError, match=r"part-2\.jsonl has changed since"):
        sharded(shards, [metric], output=tmp_path / "out", batch_rows=4)


def test_shards_may_not_change_after_frequencies_were_counted(shards: Path, tmp_path: Path) -> None:
    sharded(shards, ["cider-d"], output=tmp_path / "out")
    shutil.rmtree(tmp_path / "out" / "sums")
    os.utime(shards / "part-1.jsonl", ns=(1, 1))
    with pytest.raises(ParameterError, match=r"part-1\.jsonl has changed since"):
        sharded(shards, ["cider-d"], output=tmp_path / "out")


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"shard": 1}', "x"])
def test_damaged_sums_are_named(shards: Path, tmp_path: Path, content: str) -> None:
    sharded(shards, ["rouge-l"], output=tmp_path / "out")
    (tmp_path / "out" / "sums" / "00002.json").write_text(content)
    with pytest.raises(ResourceError, match=r"00002\.json"):
        sharded(shards, ["rouge-l"], output=tmp_path / "out")


def test_sums_of_another_shard_are_named(shards: Path, tmp_path: Path) -> None:
    sharded(shards, ["rouge-l"], output=tmp_path / "out")
    shutil.copy(tmp_path / "out" / "sums" / "00001.json", tmp_path / "out" / "sums" / "00002.json")
    with pytest.raises(ResourceError, match=r"these are the sums of .*part-1\.jsonl, not of .*part-2\.jsonl"):
        sharded(shards, ["rouge-l"], output=tmp_path / "out")


@pytest.mark.parametrize("content", ["", "[]", "x", '{"shape": [0], "names": []}'])
def test_damaged_states_are_named(shards: Path, tmp_path: Path, content: str) -> None:
    sharded(shards, ["cider-d"], output=tmp_path / "out")
    (tmp_path / "out" / "fit" / "all" / "states.json").write_text(content)
    with pytest.raises(ResourceError, match="all"):
        sharded(shards, ["cider-d"], output=tmp_path / "out")


def test_unusable_work_folder_is_refused(shards: Path) -> None:
    with pytest.raises(OutputError):
        sharded(shards, ["rouge-l"], output=shards / "part-0.jsonl")


def test_caption_scores(shards: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    with pytest.raises(ParameterError, match="output"):
        sharded(shards, per_caption=tmp_path / "captions")
    sharded(shards, output=tmp_path / "out", per_caption=tmp_path / "captions", batch_rows=4)
    rows = [row for file in sorted((tmp_path / "captions").iterdir()) for row in parquet.read_table(file).to_pylist()]
    assert rows == scored().to_records()


def test_caption_scores_of_another_run_are_not_taken(shards: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    sharded(shards, ["bleu-4"], output=tmp_path / "bleu")
    sharded(shards, ["rouge-l"], output=tmp_path / "rouge", per_caption=tmp_path / "captions")
    with pytest.raises(ParameterError, match="caption scores of another run"):
        sharded(shards, ["bleu-4"], output=tmp_path / "bleu", per_caption=tmp_path / "captions")
    sharded(shards, ["bleu-4"], output=tmp_path / "bleu", per_caption=tmp_path / "others")
    assert parquet.read_schema(tmp_path / "others" / "00000.parquet").names == ["id", "candidate", "bleu-4"]
    (tmp_path / "others" / "00002.parquet").write_bytes(b"PAR1")  # damaged: written again
    sharded(shards, ["bleu-4"], output=tmp_path / "bleu", per_caption=tmp_path / "others")
    assert parquet.read_table(tmp_path / "others" / "00002.parquet").num_rows == 6


@pytest.mark.parametrize("last", ["dog.jpg", 1 << 63])
def test_caption_scores_have_ids_of_one_type(tmp_path: Path, last: str | int) -> None:
    """A column of a parquet file has one type, which the first batch decides."""
    pytest.importorskip("pyarrow")
    rows = [{"id": image, "candidate": "a cat", "references": ["the cat"]} for image in (1, 2, last)]
    write(tmp_path / "part-0.jsonl", rows)
    with pytest.raises(ParameterError, match=f"integers of 64 bits in one batch, and others in another\n +{last!r}"):
        sharded(tmp_path, ["rouge-l"], batch_rows=2, output=tmp_path / "out", per_caption=tmp_path / "captions")


def test_caption_scores_need_pyarrow(shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match="parquet"):
        sharded(shards, output=tmp_path / "out", per_caption=tmp_path / "captions")


# ---- failures


def test_a_failing_row_is_named(shards: Path) -> None:
    rows = example_rows()
    rows[4]["candidate"] = "fail"
    write(shards / "part-3.jsonl", rows[:6])
    with pytest.raises(ShardError, match="bad luck") as caught:
        sharded(shards, [Lengths()])
    assert f"part-3.jsonl: line 5 (id {rows[4]['id']})\n" in caught.value.where
    rows[4]["candidate"] = "nan"
    write(shards / "part-3.jsonl", rows[:6])
    with pytest.raises(ShardError, match="not finite") as caught:
        sharded(shards, [Lengths()])
    assert caught.value.hint == "return finite numbers for every image, such as 0 for an empty caption"


def test_a_function_is_at_fault_for_its_scores(shards: Path) -> None:
    def infinite(candidate: str, references: object) -> float:
        return float("inf")

    with pytest.raises(ShardError, match="infinite gave 1 of 1 caption a score that is not finite") as caught:
        sharded(shards, [infinite])
    row, place = caught.value.where.splitlines()
    assert "part-0.jsonl: line 1 " in row
    assert "test_score_shards.py:" in place
    assert caught.value.hint == "return a number for every caption, such as 0"


def test_all_failing_shards_are_named(shards: Path, tmp_path: Path) -> None:
    for number in (0, 2):
        (shards / f"part-{number}.jsonl").write_text("\n")
    with pytest.raises(ShardError, match="2 of 4 shards") as caught:
        sharded(shards, ["rouge-l"], output=tmp_path / "out", retries=1)
    assert "part-0.jsonl: there are no rows" in caught.value.where
    assert "part-2.jsonl: there are no rows" in caught.value.where
    assert len([*(tmp_path / "out" / "sums").iterdir()]) == 2


def test_a_shard_is_tried_again(shards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("captious.scale.run"), "_PAUSE", 0)  # scale.run is its function
    batches, failures = scale.FileShard.batches, [OSError("gone"), OSError("gone again")]

    def failing(self: scale.FileShard, *arguments: Any) -> Iterator[scale.RowBatch]:
        if failures and self.name.endswith("part-1.jsonl"):
            raise failures.pop()
        return batches(self, *arguments)

    monkeypatch.setattr(scale.FileShard, "batches", failing)
    assert texts(sharded(shards)) == texts(scored())
    failures += [OSError("gone")] * 9
    with pytest.raises(ShardError, match="part-1"):
        sharded(shards)


@pytest.mark.parametrize("size", [1, 100])
def test_repeated_id_in_a_shard_is_refused(shards: Path, size: int) -> None:
    rows = example_rows()
    write(shards / "part-0.jsonl", [*rows[:4], rows[1]])
    with pytest.raises(DuplicateCandidateError, match=r"line 2.*line 5"):
        sharded(shards, ["rouge-l"], batch_rows=size)


def test_invalid_plans_are_refused(shards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError, match="engine"):
        sharded(shards, engine="spark")
    for wrong in ({"workers": 0}, {"retries": -1}, {"batch_rows": 0}):
        with pytest.raises(ParameterError):
            sharded(shards, **wrong)
    with pytest.raises(ParameterError, match="ptb-harness"):
        sharded(shards, settings=Settings(tokenizer="ptb-harness"))
    with pytest.raises(ParameterError, match="references come from a file"):
        sharded(shards, references={1: ["a"]}, columns="references=refs")
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(MissingExtraError, match="needs ray"):
        sharded(shards, engine="ray")


def test_progress_counts_shards(shards: Path) -> None:
    events = Events()
    with observed(events):
        sharded(shards, ["cider-d"])
    assert [work.total for work in events.works] == [4, 4]
    assert [done for _, done in events.seen if _ not in ("begin", "end")] == [0, 1, 2, 3, 4] * 2


def test_an_interrupted_run_can_go_on(shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    batches = scale.FileShard.batches

    def interrupted(self: scale.FileShard, *arguments: Any) -> Iterator[scale.RowBatch]:
        if self.name.endswith("part-2.jsonl"):
            raise KeyboardInterrupt
        return batches(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(scale.FileShard, "batches", interrupted)
        with pytest.raises(KeyboardInterrupt):
            sharded(shards, ["bleu"], output=tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out" / "sums").iterdir()) == ["00000.json", "00001.json"]
    assert texts(sharded(shards, ["bleu"], output=tmp_path / "out")) == texts(scored(["bleu"]))


# ---- workers that die


def kills_itself_once(folder: str, number: int) -> list[dict[str, Any]]:
    """Return the rows of a shard. The first call for each shard kills its process."""
    mark = Path(folder) / f"{number}.died"
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return example_rows()[number * 6 : number * 6 + 6]


def test_what_another_process_cannot_load_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("only_here")
    exec("def rows():\n    return []", module.__dict__)
    monkeypatch.setitem(sys.modules, "only_here", module)
    shard = scale.GeneratedShard("s", module.rows)
    with pytest.raises(ShardError) as caught:
        scale.score_shards([shard], ["rouge-l"], engine="processes", workers=1, retries=0)
    assert "No module named 'only_here'" in caught.value.where


@pytest.mark.slow
def test_killed_processes_are_replaced(tmp_path: Path) -> None:
    shards = [scale.GeneratedShard(f"s{i}", kills_itself_once, (str(tmp_path), i)) for i in range(4)]
    assert texts(scale.score_shards(shards, METRICS, engine="processes", workers=2)) == texts(scored())


@pytest.mark.slow
def test_killed_ray_workers_are_restarted(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    shards = [scale.GeneratedShard(f"s{i}", kills_itself_once, (str(tmp_path), i)) for i in range(4)]
    assert texts(scale.score_shards(shards, METRICS, engine="ray", workers=2)) == texts(scored())
