"""Messages name options as their readers write them: none of Python's syntax in a terminal, no flags in Python."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import captious
from captious import CaptiousError, Settings
from captious.data import CaptionFile
from captious.errors import CaptionWarning, shown
from captious.metrics.contract.registry import metric_names
from captious.metrics.contract.selection import availability, select
from captious.resources.vector_files import FORMS
from tests.cli.conftest import Run

PROJECT = Path(__file__).parents[2]
#: A flag that is not part of a whole command, such as "captious fit cider-d FILE -o FILE".
FLAG = re.compile(r"(?<![\w?-])-(?:-[a-z][\w-]*|[a-z](?![\w-]))")
COMMAND = re.compile(r"\b(?:captious|python|pip|hf|iconv|inspect|ulimit) (?:[^.;:]|\.{3}|\.(?!\s|$))*$")
#: Python's syntax: calls of the package, keywords with values, mappings.
PYTHON = re.compile(
    r"""\bcaptious\.[A-Za-z_.]+\( | \bin\ Python\b | with\ \{\w
    | (?<![:,\w])[a-z_]+=(?: \.\.\. | True\b | None\b | False\b | ["'\[{(] | [A-Z]{2,}\b )""",
    re.VERBOSE,
)
MARKS = re.compile("[\ufdd0-\ufdd2]")


def syntax_in(text: str) -> list[str]:
    return PYTHON.findall(re.sub(r"--[a-z-]+ \S+", "", text))


def flags_in(text: str) -> list[str]:
    return [flag[0] for flag in FLAG.finditer(text) if not COMMAND.search(text[: flag.start()])]


# Every literal of the packages outside the command line.

#: What only Python code can meet: it passes objects of its own, or calls what no command calls.
ONLY_IN_PYTHON = {
    "data/tables.py",
    "evaluation/comparison.py",
    "evaluation/judged_pairs.py",
    "evaluation/reward.py",
    "judgment/benchmarks/names.py",
    "judgment/papers/paper.py",
    "plugins.py",
    "metrics/contract/combined.py",
    "metrics/contract/metric.py",
    "metrics/contract/registry.py",
    "report/page.py",
    "scale/plan.py",
    "text/tokenizers.py",
}
#: Markdown of the documentation, and this mechanism itself.
OF_DOCUMENTATION = {"errors.py"}


def literals(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the literals with blanks of a module and their lines, without docstrings and what ``either`` separates."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    left_out: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            left_out.add(id(node.value))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "either":
            left_out |= {id(part) for keyword in node.keywords for part in ast.walk(keyword)}
        elif isinstance(node, ast.JoinedStr):
            left_out |= {id(part) for part in node.values}
    for node in ast.walk(tree):
        if id(node) in left_out:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            yield node.lineno, node.value
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(map(piece, node.values))


def piece(node: ast.expr) -> str:
    """Return a part of an f-string: text, a command that a constant has, or a number for any other value."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    assert isinstance(node, ast.FormattedValue)
    return "captious install" if isinstance(node.value, ast.Name) and node.value.id == "INSTALL" else "0"


@pytest.mark.parametrize("package", ["src/captious", "server/src/captious_server"])
def test_no_literal_outside_the_command_line_is_in_a_dialect(package: str) -> None:
    root = PROJECT / package
    found = []
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if name.startswith(("cli/", "report/html", "report/page_data", "commands")) or name in OF_DOCUMENTATION:
            continue
        speaks_python = name in ONLY_IN_PYTHON or name.startswith("compat/") or package.startswith("server")
        for line, text in literals(path):
            if text.lstrip().startswith("<"):  # HTML
                continue
            dialect = flags_in(text) if "`" not in text else []
            dialect += [] if speaks_python else syntax_in(text)
            found += [f"{package}/{name}:{line}: {piece} in {text[:100]!r}" for piece in dialect]
    assert not found, "\n".join(found)


# Errors and warnings, as both readers see them.

CAPTIONS = {1: "a cat", 2: "a dog"}
REFERENCES = {1: ["a cat sits", "the cat"], 2: ["a dog runs", "the dog"]}


def score(metric: str, **settings: object) -> Callable[[], object]:
    return lambda: captious.score(CAPTIONS, REFERENCES, metric, settings=Settings(**settings))  # type: ignore[arg-type]


def file(content: str, name: str = "captions.json") -> Callable[[], object]:
    def read() -> object:
        Path(name).write_text(content, encoding="utf-8")
        return captious.read_captions(CaptionFile(name))

    return read


ERRORS: dict[str, Callable[[], object]] = {
    **{f"needs of {name}": score(name) for name in metric_names()},
    "metric": score("hallucination"),
    "variant": score("bleu@best"),
    "parameter": score("cider-d:sigma=x"),
    "idf": score("cider-d", idf="nowhere.idf"),
    "tokenizer": score("cider-d", tokenizer="nowhere"),
    "vectors": score("wmd", vectors="nowhere"),
    "parser": score("spice", parser="nowhere"),
    "unused setting": score("bleu-4", idf="coco"),
    "language": score("bleu-4", language="nowhere"),
    "model": score("bertscore", model=""),
    "missing captions": lambda: captious.score({1: "a cat"}, REFERENCES, "bleu-4"),
    "missing references": lambda: captious.score(CAPTIONS, {1: ["a cat"]}, "bleu-4"),
    "other images": lambda: captious.score({3: "a cat"}, REFERENCES, "bleu-4"),
    "ids of another type": lambda: captious.score({"x1": "a cat", "x2": "a dog"}, REFERENCES, "bleu-4"),
    "ids with zeros": lambda: captious.score({"01": "a cat", "02": "a dog"}, REFERENCES, "bleu-4"),
    "several": lambda: captious.score({1: ["a cat", "cats"], 2: ["a dog", "dogs"]}, REFERENCES, "bleu-4"),
    "not captions": lambda: captious.read_captions(5),  # type: ignore[call-overload]
    "not references": lambda: captious.read_references(5),  # type: ignore[arg-type]
    "diversity": score("div"),
    "cleaning": lambda: captious.read_captions(CAPTIONS, clean="nowhere"),
    "other fields": file('[{"image": 1, "text": "a cat"}]'),
    "two texts": file('[{"image_id": 1, "caption_a": "a cat", "caption_b": "a dog"}]'),
    "splits": file('{"images": [{"id": 1, "split": "train"}, {"id": 2, "split": "val"}], "annotations": []}'),
    "columns": file("image_id,text\n1,a cat\n", "captions.csv"),
    "damaged": file('[{"image_id": 1,'),
    "benchmark": lambda: captious.judge("nowhere", "bleu-4"),
    "no data": lambda: captious.judge("composite", "bleu-4"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_in_the_dialect_of_their_reader(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CAPTIOUS_DATA", raising=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ERRORS[name]()
        except CaptiousError as error:
            caught = error
        else:
            assert name.startswith("needs of "), "no error"  # of a metric that runs here
            return
    in_python, in_terminal = str(caught), caught.shown("command line")
    assert flags_in(in_python) == [], in_python
    assert syntax_in(in_terminal) == [], in_terminal
    assert not MARKS.search(in_python + in_terminal + repr(caught) + repr(caught.args) + caught.hint)


def test_warnings_are_in_the_dialect_of_their_reader() -> None:
    texts = [f"**a** cat number {number}" for number in range(20)]
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        report = captious.score(texts, [["a cat"]] * 20, ["bleu-4", "cider-d", "cider", "spice"])
    assert {warning.kind for warning in report.warnings} >= {"markdown", "same-references", "one-reference"}
    assert all(isinstance(warning, CaptionWarning) and warning.kind for warning in report.warnings)
    document = json.dumps(report.to_dict(), ensure_ascii=False)
    for text in [*map(str, report.warnings), *(str(item.message) for item in issued), document]:
        assert flags_in(text) == []
        assert not MARKS.search(text)
    assert 'clean="markdown"' in "".join(report.warnings)
    for warning in report.warnings:
        text = shown(warning, "command line")
        assert syntax_in(text) == [], text
    assert "--clean markdown" in "".join(shown(warning, "command line") for warning in report.warnings)


@pytest.mark.parametrize("format", ["table", "json", "html", "md", "tex"])
def test_outputs_of_commands_name_options_as_flags(format: str, run: Run, tmp_path: Path) -> None:
    captions = tmp_path / "captions.json"
    captions.write_text(json.dumps({str(i): f"**a** cat number {i}" for i in range(20)}))
    references = tmp_path / "references.json"
    references.write_text(json.dumps({str(i): ["a cat", "cats"] for i in range(20)}))
    outcome = run("check", captions, references, "--format", format) if format in ("table", "json") else None
    if outcome is None:
        outcome = run("score", captions, references, "-m", "cider-d", "--format", format)
    assert outcome.code == 0, outcome
    assert not MARKS.search(outcome.out + outcome.err)
    assert syntax_in(re.sub(r"<[^>]*>|\{.*?\}", "", outcome.err)) == []
    assert "captious.Settings(" not in outcome.out
    assert "--clean markdown" in outcome.out + outcome.err


def test_pages_of_the_command_name_options_as_flags(run: Run, tmp_path: Path) -> None:
    captions = {str(i): f"**a** cat number {i}" for i in range(20)}
    references = {str(i): ["a cat", "cats"] for i in range(20)}
    files = [tmp_path / "captions.json", tmp_path / "references.json"]
    for path, content in zip(files, (captions, references), strict=True):
        path.write_text(json.dumps(content))
    assert run("report", *files, "-m", "cider-d", "-o", tmp_path / "terminal.html").code == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        captious.write_report(captious.score(*files, "cider-d"), tmp_path / "python.html")
    of_terminal, of_python = ((tmp_path / name).read_text() for name in ("terminal.html", "python.html"))
    assert "--clean markdown" in of_terminal
    assert "captious.Settings(" not in of_terminal
    assert "clean=&quot;markdown&quot;" in of_python or 'clean="markdown"' in of_python
    assert "--clean" not in of_python
    assert not MARKS.search(of_terminal + of_python)


def test_availability_and_lists_of_formats_are_texts_for_both() -> None:
    for name in metric_names():
        help = availability(name).help
        assert flags_in(help) == []
        assert syntax_in(shown(help, "command line")) == []
    assert "--vocabulary FILE" in shown(FORMS, "command line")
    assert "vocabulary=FILE" in shown(FORMS)


def test_metrics_that_need_a_detector_say_where_it_is_from() -> None:
    for name in ("fense", "spider-fl"):
        with pytest.raises(CaptiousError) as caught:
            select(name)
        assert "github.com/blmoistawinde/fense" in caught.value.hint
