"""Names of benchmarks, requests for them, and benchmarks of other packages."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click.testing
import pytest

import captious
from captious.cli import captious as command_line
from captious.errors import ParameterError, UnknownNameError
from captious.judgment import load_judgments
from captious.judgment.benchmarks import names
from captious.judgment.studies import reference_counts

NAMES = names.names()

#: A package with a benchmark, as someone would write it.
PACKAGE = """
from captious.judgment import Benchmark, Rule, Files, Protocol, RatedCaption


def read(folder):
    return [
        RatedCaption(str(line), row["image"], row["caption"], row["references"].split("|"), [float(row["rating"])])
        for line, row in folder.csv_rows("vases/ratings.csv", ("image", "caption", "references", "rating"))
    ]


def one_reference(item):
    return item.references[:1]


VASES = Benchmark(
    "vases",
    (
        Protocol("vases", "all", "kendall-tau-b", "given", "captions"),
        Protocol("vases", "one", "pearson", "given", "captions", references=Rule("the first", one_reference)),
    ),
    (Files(("vases/ratings.csv",), read),),
    "the potter",
)
"""
RATINGS = """image,caption,references,rating
1,a blue vase,a blue vase on a table|a vase,4
1,a red vase,a blue vase on a table|a vase,2
2,a cat,a green vase|the vase is green,1
2,a green vase with a cat,a green vase|the vase is green,3
"""


OF_COMPOSITE = "hessel2021, yi2020, yi2020-tau-b, smurf2021, sharif2019-pearson, sharif2019-spearman, sharif2019-tau-b"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path, with the package and its entry points; points(...) writes other ones."""
    (tmp_path / "potter_benchmarks.py").write_text(PACKAGE)
    points(tmp_path, "vases = potter_benchmarks:VASES")
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "data" / "vases").mkdir(parents=True)
    (tmp_path / "data" / "vases" / "ratings.csv").write_text(RATINGS)
    monkeypatch.setenv("CAPTIOUS_DATA", str(tmp_path / "data"))
    yield tmp_path
    vars(names._PLUGINS).pop("by_name", None)
    sys.modules.pop("potter_benchmarks", None)


def points(folder: Path, *lines: str) -> None:
    info = folder / "potter_benchmarks-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: potter-benchmarks\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("\n".join(["[captious.benchmarks]", *lines, ""]))
    vars(names._PLUGINS).pop("by_name", None)


def run(*arguments: str) -> click.testing.Result:
    return click.testing.CliRunner().invoke(command_line, arguments)


@pytest.mark.parametrize(
    ("asked", "message", "help"),
    [
        ("composit", "there is no benchmark 'composit'", "did you mean composite?"),
        ("PASCAL_50S", "there is no benchmark 'PASCAL_50S'", "did you mean pascal-50s?"),
        ("flickr8k", "flickr8k has several sets of judgments", "name flickr8k-expert or flickr8k-cf"),
        ("xyzzy", "there is no benchmark 'xyzzy'", "available benchmarks: flickr8k-expert,"),
        ("composite@x", "composite has no protocol 'x'", f"its protocols are {OF_COMPOSITE}"),
        ("composite@", "composite has no protocol ''", f"its protocols are {OF_COMPOSITE}"),
    ],
)
def test_unknown_benchmark_names_get_suggestions(asked: str, message: str, help: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        names.protocol(asked)
    assert caught.value.message == message
    assert help in caught.value.hint


def test_protocol_names_are_resolved() -> None:
    assert names.protocol("flickr8k-expert").full_name == "flickr8k-expert@spice2016"
    assert names.protocol("flickr8k-expert@yi2020").ratings == "mean"


def test_a_benchmark_of_another_package_works_everywhere(package: Path) -> None:
    assert names.names() == [*NAMES, "vases"]
    judgment = captious.judge(["vases"], ["rouge-l", "bleu-1"], resamples=10)
    assert judgment["vases@all"].n == 4
    assert list(judgment["vases"].data) == ["ratings.csv"]
    judgments = load_judgments("vases@one")
    assert captious.judge(judgments, "rouge-l", resamples=10)["vases@one"].protocol.facts()["references"] == "the first"
    assert reference_counts("vases", "rouge-l", [1, 2], draws=1, resamples=10).records

    listed = run("data", "list")
    assert listed.exit_code == 0
    assert "vases/ratings.csv" in listed.output
    assert "one: pearson" in listed.output
    assert run("data", "items", "vases").output.count("\n") == 4
    done = run("judge", "vases@one", "-m", "rouge-l", "--format", "csv", "--resamples", "10")
    assert done.exit_code == 0
    assert "vases@one,pearson,,4,rouge-l," in done.output


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("broken = no_such_package:BENCHMARK", "the benchmark broken cannot be loaded: No module named"),
        ("broken = json:dumps", "json:dumps is not a benchmark"),
        ("broken = potter_benchmarks:VASES", "is the benchmark 'vases', but its entry point is called 'broken'"),
    ],
)
def test_entry_points_that_are_wrong_break_nothing_else(line: str, message: str, package: Path) -> None:
    points(package, line, "vases = potter_benchmarks:VASES")
    with pytest.raises(ParameterError, match=message):
        names.get("broken")
    assert captious.judge("vases", "rouge-l", resamples=10)["vases"].n == 4
    listed = run("data", "list")
    assert listed.exit_code == 0
    assert message in listed.output.replace("\n", " ")
    assert "vases/ratings.csv" in listed.output


def test_a_built_in_benchmark_cannot_be_replaced(package: Path) -> None:
    points(package, "composite = potter_benchmarks:VASES")
    assert names.get("composite").name == "composite"
    assert names.names() == NAMES
