"""Results in every format, as they are recorded, and what holds for all of them."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import captious
from captious import Captions, MeanMetric
from captious.errors import ParameterError, UnknownNameError
from captious.evaluation import compare_reports
from captious.evaluation.groups import grouped_score_table
from captious.evaluation.report import score_table
from captious.judgment import Agreement, BenchmarkResult, Judgment, Study
from captious.judgment.benchmarks.names import protocol
from captious.metrics.contract.metric import State
from captious.report import formats
from captious.report.formats import Presentation
from captious.report.html import notebook_html
from captious.statistics import Sampling
from captious.tables import Cell, Column, Row, Table, json_document
from tests.golden.command_line import clean
from tests.golden.record import Record
from tests.report.conftest import FIRST, REFERENCES, SECOND, Known
from tests.support.pages import parsed

openpyxl = pytest.importorskip("openpyxl")
pytestmark = pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")

#: What readers of tables and pages must not take for markup, formulas, commands or codes of a terminal.
NASTY = "=<b>|a_\x1b[31m\n[red]$5\\input{x} & 'x' :smile:"
NAN = float("nan")
#: metric -> value, interval, rank.
EXPERT: dict[str, tuple[float, tuple[float, float], int]] = {
    "bleu-4": (0.30776, (0.287, 0.327), 3),
    "rouge-l": (0.32314, (0.302, 0.344), 3),
    "cider-d": (0.43891, (0.418, 0.459), 1),
    "meteor": (0.41822, (0.397, 0.439), 2),
    "my_metric": (-0.0312, (-0.0411, 0.0004), 5),
}
LONG = "|".join(["meteor", *(f"option-{i}:{i}" for i in range(20))])
STUDY = Study(
    "references",
    "Agreement by number of references",
    ("metric", "references", "value", "note"),
    [
        {"metric": "bleu-4", "references": 1, "value": 0.25, "note": "few & 100% [red]bad[/]"},
        {"metric": NASTY, "references": np.int64(16992), "value": np.float64("nan"), "note": None},
    ],
    signatures={"bleu-4": "bleu-4|variant:official"},
    data={"pairs.jsonl": "0badcafe"},
    settings={"seed": 3, "draws": (1, 2)},
    notes=["One sentence."],
)


def known(captions: Mapping[str, Any], system: str = "first", images: int = 3) -> captious.Report:
    return captious.score(
        dict(zip([*REFERENCES][:images], captions, strict=False)), REFERENCES, Known(), system=system, match="common"
    )


def scored(metrics: list[Any] | None = None, candidate: str = "a dog", **options: Any) -> captious.Report:
    return captious.score({1: candidate}, {1: ["a dog runs", "c"]}, metrics or ["rouge-l"], **options)


def compared() -> captious.Comparison:
    return compare_reports(known(FIRST), known(SECOND, "second"), resamples=99, seed=1)


@cache
def examples() -> captious.Reports:
    files = {name: f"examples/{name}.json" for name in ("baseline", "improved")}
    return captious.score_systems(files, "examples/references.json", ["bleu-4", "cider-d", "length-words"])


def groups(result: Any) -> dict[Any, str]:
    return {image: "even" if image % 2 == 0 else NASTY for image in result.ids}


def verdict(
    name: str, metrics: Mapping[str, Any], *, ranked: bool = True, parts: dict[str, float] | None = None, **changed: Any
) -> BenchmarkResult:
    results = {
        metric: Agreement(
            metric,
            value,
            interval,
            rank if ranked else None,
            LONG if metric == "meteor" else f"{metric}|variant:official",
            parts or {},
        )
        for metric, (value, interval, rank) in metrics.items()
    }
    return replace(BenchmarkResult(protocol(name), 16992, {"expert.jsonl.gz": "a9f4e7e7"}, results), **changed)


def judged(*verdicts: BenchmarkResult) -> Judgment:
    return Judgment([*verdicts], Sampling(1000, 7))


def other_signature() -> Judgment:
    one, other = (verdict(name, {"bleu-4": EXPERT["bleu-4"]}) for name in ("composite", "flickr8k-cf"))
    return judged(replace(one, agreements={"bleu-4": replace(one["bleu-4"], signature="bleu-4|idf:2")}), other)


def three(*p_values: float) -> Judgment:
    """Return the judgment of metrics of which the first two look alike, with their p values."""
    metrics = {"a": (0.4003, (0.3, 0.5), 1), "b": (0.4001, (0.3, 0.5), 1), "c": (0.3, (0.2, 0.4), 2)}
    pairs = zip([("a", "b"), ("a", "c"), ("b", "c")], p_values, strict=True)
    return judged(verdict("composite", metrics, p_values=dict(pairs)))


class Words(MeanMetric):
    """Words that no reference has, of which fewer are better, and that some has; their number has no direction."""

    name = "words"
    outputs = ("words-wrong", "words-right", "words-all")
    lower_is_better = frozenset({"words-wrong"})
    no_direction = frozenset({"words-all"})

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        known = [{*text.split()} for text in captions.references.texts]
        right = [[word in of for word in text.split()] for text, of in zip(captions.candidates, known, strict=True)]
        return np.array([[len(of) - sum(of), sum(of), len(of)] for of in right], float)


def directed() -> captious.Comparison:
    """Return a comparison of two systems, of which the second is better."""
    references = {i: [f"a dog runs on road {i}"] for i in range(10)}
    systems = {"bad": {i: f"a cat on a road {i}" for i in references}, "good": {i: f"a dog {i}" for i in references}}
    return captious.compare(systems, references, [Words()], resamples=20)


def alone(compare: bool, grouped: bool) -> Any:
    """Return results without numbers: self-similarity of a single candidate has none."""
    references = {i: [f"a dog runs on road {i}", "the dog"] for i in range(4)}
    candidates = {i: ["a dog"] for i in references}
    if compare:
        result: Any = captious.compare(
            {"a": candidates, "b": candidates}, references, ["lsa"], several="mean", resamples=5
        )
    else:
        result = captious.score(candidates, references, ["lsa"], several="mean")
    return captious.by_group(result, {i: i % 2 for i in references}) if grouped else result


#: Results, and tables of results, by what is particular about them.
RESULTS: dict[str, Callable[[], Any]] = {
    "one system": lambda: known(FIRST),
    "two systems": lambda: score_table([known(FIRST), known(SECOND, "second")]),
    "equal systems": lambda: score_table([known(FIRST), known(FIRST, "again")]),
    "intervals": lambda: score_table([known(FIRST), known(SECOND, "second")], Sampling()),
    "other images": lambda: score_table([known(FIRST), known(FIRST, "part", 1)]),
    "tokenizers and concatenated references": lambda: scored(
        ["rouge-l", captious.Bleu(tokenizer="whitespace")], settings=captious.Settings(references_as="cat")
    ),
    "scores of different size": lambda: score_table([*examples().values()], Sampling()),
    "awkward name": lambda: score_table([scored(system=NASTY), scored(system="n" * 130)]),
    "name of a statistic": lambda: scored(system="p"),
    "name of a metric": lambda: scored(["bleu-4:tokenizer=spaces", "rouge-l@lin2004"], system="spice"),
    "comparison": compared,
    "examples": lambda: compared().to_table(examples=3),
    "awkward captions": lambda: captious.compare(
        {"a": dict.fromkeys(range(10), NASTY), NASTY: dict.fromkeys(range(10), "b")},
        {i: ["[blue]a", "c"] for i in range(10)},
        ["rouge-l"],
        resamples=5,
    ).to_table(examples=1),
    "significant difference": lambda: compare_reports(*examples().values(), resamples=100),
    "negative difference": lambda: compare_reports(*[*examples().values()][::-1], resamples=100),
    "lower is better": lambda: score_table([directed().a, directed().b]),
    "difference where lower is better": directed,
    "groups": lambda: captious.by_group(examples()["improved"], groups(examples()["improved"])),
    "groups with intervals": lambda: grouped_score_table(
        [captious.by_group(known(FIRST), groups(known(FIRST)))], Sampling(50)
    ),
    "groups of a comparison": lambda: captious.by_group(compared(), groups(known(FIRST))),
    "judgment": lambda: judged(verdict("flickr8k-expert", EXPERT)),
    "judgment without ranks": lambda: judged(verdict("flickr8k-expert", EXPERT, ranked=False)),
    "benchmarks and parts": lambda: judged(
        verdict("flickr8k-expert", EXPERT),
        verdict("composite", EXPERT),
        verdict(
            "pascal-50s",
            {metric: EXPERT[metric] for metric in ("bleu-4", "meteor")},
            parts={"HC": 0.637, "HI": 0.975, "HM": 0.932, "MM": 0.656},
        ),
    ),
    "wide parts": lambda: judged(
        verdict("sugarcrepe", {"bleu-4": EXPERT["bleu-4"]}, parts={f"kind_of_change_{i}": i / 10 for i in range(5)})
    ),
    "signatures by benchmark": other_signature,
    "ranks that are no clusters": lambda: three(0.2, 0.01, 0.3),
    "ranks with a difference": lambda: three(0.05, 0.01, 0.01),
    "tests of systems": lambda: judged(verdict("coco-2015", {name: EXPERT[name] for name in ("bleu-4", "meteor")})),
    "awkward metric": lambda: judged(verdict("composite", {NASTY: EXPERT["bleu-4"]})),
    "no number in a judgment": lambda: judged(
        verdict("composite", {"odd": (NAN, (NAN, NAN), 1)}, parts={"part": NAN}, p_values={})
    ),
    "no number in a report": lambda: alone(False, False),
    "no number in a comparison": lambda: alone(True, False),
    "no number in groups": lambda: alone(False, True),
    "no number in groups of a comparison": lambda: alone(True, True),
    "study": lambda: STUDY,
    "wide characters": lambda: Table(
        [Column("犬"), Column("name", align="left"), Column("n", "count")],
        [Row("a", [Cell(0.5), Cell("🐕 x"), Cell(12345)]), Row("bb", [Cell(10.25), None, Cell(1)])],
        [],
        {},
    ),
}
#: Presentations, and the results that they are applied to.
PRESENTED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "percent": ({"percent": True}, ["intervals", "significant difference", "groups"]),
    "toolkit": ({"naming": "toolkit"}, ["scores of different size", "name of a metric"]),
    "paper": ({"naming": "paper"}, ["scores of different size", "name of a metric", "judgment", "study"]),
    "transposed": ({"transpose": True}, ["scores of different size", "significant difference"]),
    "intervals below": ({"interval_style": "below"}, ["intervals"]),
    "intervals as subscripts": ({"interval_style": "subscript"}, ["intervals"]),
}
CASES = [(name, "", {}) for name in RESULTS] + [
    (name, way, options) for way, (options, names) in PRESENTED.items() for name in names
]


def sheets(content: bytes) -> dict[str, list[str]]:
    """Return the rows of a spreadsheet: values with their formats, and those of the sheet of data alone."""
    book = openpyxl.load_workbook(io.BytesIO(content))
    assert all(cell.data_type != "f" for sheet in book for row in sheet.iter_rows() for cell in row)
    table = [
        " | ".join(
            f"{cell.value} {cell.number_format}{' bold' * bool(cell.font.b)}" for cell in row if cell.value is not None
        )
        for row in book["table"].iter_rows()
    ]
    return {"sheet": table, "data": [" | ".join(map(str, row)) for row in book["data"].iter_rows(values_only=True)]}


@pytest.mark.parametrize(("name", "way", "options"), CASES, ids=[f"{name} {way}".strip() for name, way, _ in CASES])
def test_results_are_shown_as_recorded(name: str, way: str, options: dict[str, Any], record: Record) -> None:
    result = RESULTS[name]()
    table = result if isinstance(result, Table) else result.to_table()
    if result is not table:
        assert repr(result) == formats.plain_text(table).rstrip("\n")
        assert result._repr_html_() == notebook_html(table)
        document = result.to_dict()
        assert json.loads(json.dumps(document, allow_nan=False)) == document
        written = json.loads(formats.json_text(table))
        assert written == document or {"version": written["version"], **written["systems"][0]} == document
    table = Presentation(**options).apply(table)
    shown: dict[str, Any] = {}
    for form in ("table", "json", "csv", "md", "tex"):
        shown[form] = formats.FORMATS[form](table)
    html = re.sub("<style>.*?</style>", "", notebook_html(table), flags=re.DOTALL)

    if not way:
        json.dumps(json.loads(shown["json"]), allow_nan=False)
    for line in [*shown["table"].splitlines(), *shown["tex"].splitlines(), *shown["md"].splitlines()]:
        assert line.isprintable()
    head, _, body = shown["tex"].partition("\\begin{tabular}")
    assert all(line.startswith("%") for line in head.splitlines())
    rows = [line for line in body.splitlines() if line.endswith("\\\\") and "multicolumn" not in line]
    assert len({len(re.findall(r"(?<!\\)&", line)) for line in rows}) == 1
    assert not {"b", "script"} & {*parsed(html).tags}
    shown["json"] = json.loads(shown["json"])
    lines = {form: text.split("\n") if isinstance(text, str) else text for form, text in shown.items()}
    lines |= {"html": html.replace("</tr>", "</tr>\n").split("\n"), **sheets(formats.xlsx(table))}
    record(f"results/{name}{f', {way}' if way else ''}", clean(lines, {}, [r"(?<=class:)[0-9a-f]+"]))


def test_what_tables_cannot_be_shown_as() -> None:
    for options in ({"naming": "mine"}, {"interval_style": "above"}):
        with pytest.raises(UnknownNameError):
            Presentation(**options)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="groups"):
        formats.plain_text(Presentation(transpose=True).apply(RESULTS["groups"]().to_table()))


def test_results_are_presented_by_their_methods() -> None:
    table = score_table([*examples().values()], Sampling())
    below = formats.latex(Presentation(interval_style="below").apply(table))
    assert examples().to_latex(interval_style="below", intervals=True) == below
    by_metric = formats.markdown(Presentation(percent=True, naming="paper", transpose=True).apply(table))
    assert examples().to_markdown(percent=True, naming="paper", transpose=True, intervals=True) == by_metric


@pytest.mark.parametrize("name", ["[12] SAT", "*ours", "ours [1]"])
def test_brackets_and_stars_at_the_beginning_of_a_row_are_no_arguments_of_latex(name: str) -> None:
    """``\\\\[12]`` is a skip of 12, and ``\\\\*`` forbids a page break."""
    lines = captious.score_systems({name: ["a dog"]}, [["a dog"]], "rouge-l").to_latex().split("\n")
    [row] = [line for line in lines if name in line and not line.startswith("%")]
    assert row.startswith("ours [1] &" if name == "ours [1]" else f"{{}}{name} &")


def test_intervals_say_how_they_were_resampled() -> None:
    assert not {"level", "resamples", "seed"} & known(FIRST).to_dict().keys()
    document = known(FIRST).to_dict(intervals=True)
    assert (document["level"], document["resamples"], document["seed"]) == (0.95, 1000, 12345)
    assert RESULTS["judgment"]().to_dict()["level"] == 0.95


def test_values_become_json_types() -> None:
    values = {"a": (1, np.float32(0.5)), "b": np.array([np.inf, 2.0]), "c": None, "d": "text", "e": True}
    assert json_document(values) == {"a": [1, 0.5], "b": [None, 2.0], "c": None, "d": "text", "e": True}
