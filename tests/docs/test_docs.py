"""The documentation is complete, its links lead somewhere, and its code prints the output that it shows."""

from __future__ import annotations

import re
import warnings
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest
from sybil import Document

import captious
from captious.cli import OF_SERVER
from captious.judgment.benchmarks import names as benchmarks
from captious.metrics.contract import functions, registry
from captious.metrics.contract.registry import TOOLKIT_NAMES
from tests.docs.blocks import RUN
from tests.docs.pages import fences, marker
from tests.support.commands import COMMANDS, unknown_options
from tests.support.every_metric import INPUTS, MODELS, variants_of
from tools import metric_facts, tables

PROJECT = Path(__file__).parents[2]
DOCS = PROJECT / "docs"
README = PROJECT / "README.md"
SERVER = PROJECT / "server"
PAGES = sorted([*DOCS.rglob("*.md"), *(SERVER / "docs").rglob("*.md")])
#: Markdown files outside docs/ that the site has, too.
OTHERS = [
    README,
    *(
        PROJECT / name
        for name in (
            "CHANGELOG.md",
            "CONTRIBUTING.md",
            "SECURITY.md",
            "benchmarks/README.md",
            "examples/README.md",
            "server/README.md",
        )
    ),
]
OTHERS += sorted((PROJECT / "training").glob("*/README.md"))
FAMILIES = sorted((DOCS / "metrics").glob("*.md"))
METRICS = [name for name in registry.metric_names() if registry.get(name).__module__.startswith("captious.")]
RUNNING = [name for name in METRICS if name not in (*MODELS, *INPUTS)]


def page_id(page: Path) -> str:
    return page.relative_to(DOCS if page.is_relative_to(DOCS) else PROJECT).as_posix()


def prose(page: Path) -> str:
    """Return a page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def names_in_code(page: Path) -> set[str]:
    """Return the code spans in the prose of a page."""
    return set(re.findall(r"`([^`\n]+)`", prose(page)))


#: The vectors of the examples, which stand for those that a reader has.
EXAMPLE_VECTORS = PROJECT / "examples" / "captions-12d.txt"


@pytest.fixture(autouse=True)
def vectors_of_the_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTIOUS_VECTORS", str(EXAMPLE_VECTORS))


@cache
def signatures(name: str, variant: str) -> tuple[str, ...]:
    """Return the signatures of a metric's outputs, for one of the example files."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", captious.CaptiousWarning)
        examples = PROJECT / "examples"
        several = issubclass(registry.get(name), captious.SetMetric)
        report = captious.score(
            examples / ("samples.json" if several else "improved.json"),
            examples / "references.json",
            [f"{output}@{variant}" for output in registry.get(name).outputs],
            several="mean" if several else None,
        )
    return tuple(result.signature for result in report.values())


# ---- completeness


def test_every_metric_has_its_facts_on_one_page() -> None:
    assert set(METRICS) == metric_facts.places().keys()


@pytest.mark.parametrize("page", FAMILIES, ids=page_id)
def test_every_page_of_metrics_has_facts(page: Path) -> None:
    assert metric_facts.PLACE.search(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", METRICS)
def test_the_facts_name_all_that_a_metric_has(name: str) -> None:
    metric, text = registry.get(name), metric_facts.facts(name)
    expected = {*metric.outputs, *metric.variants, *metric.declared.keys() - {"variant"}, f"captious.{metric.__name__}"}
    assert expected <= set(re.findall(r"`([^`\n]+)`", text))
    low, high = (f"{end:.3g}" for end in metric.bounds)
    assert "any number" in text or (low in text and (high in text or "and up" in text))


@pytest.mark.parametrize("name", RUNNING)
def test_the_facts_have_the_signature_of_scores(name: str) -> None:
    assert signatures(name, next(iter(registry.get(name).variants)))[0] in metric_facts.facts(name).splitlines()


@pytest.mark.parametrize("page", FAMILIES, ids=page_id)
def test_pages_of_metrics_show_no_signature_that_is_not_given(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    names = [name for name in metric_facts.PLACE.findall(text) if name in RUNNING]
    given = {line for name in names for variant in variants_of(name) for line in signatures(name, variant)}
    assert set(re.findall(r"^[a-z0-9-]+\|variant:.*", text, re.MULTILINE)) <= given


def test_the_list_of_metrics_has_outputs_variants_and_names_of_the_toolkit() -> None:
    page = metric_facts.with_facts((DOCS / "metrics.md").read_text(encoding="utf-8"))
    rows = [line for line in page.splitlines() if line.startswith("| [")]
    assert len(rows) == len(METRICS)
    for name in METRICS:
        metric = registry.get(name)
        (row,) = [line for line in rows if line.startswith(f"| [{name}](metrics/")]
        names = {TOOLKIT_NAMES[output] for output in metric.outputs if output in TOOLKIT_NAMES}
        assert {*metric.outputs, *metric.variants, *names} <= set(re.findall(r"`([^`]+)`", row))


@pytest.mark.parametrize("name", METRICS)
def test_links_to_metrics_lead_to_their_section(name: str) -> None:
    page, _, anchor = metric_facts.places()[name].partition("#")
    assert not anchor or anchor in anchors(DOCS / page)


def test_every_command_has_a_page() -> None:
    pages = (DOCS / "command-line").glob("*.md")
    assert {page.stem for page in pages} == {words[0] for words in COMMANDS if words} | {*OF_SERVER}


@pytest.mark.parametrize("page", [README, *PAGES], ids=page_id)
def test_commands_and_options_in_the_text_exist(page: Path) -> None:
    """Names in blocks of code are checked by running them."""
    for code in names_in_code(page):
        assert unknown_options(code, COMMANDS) == set(), code


@pytest.mark.parametrize("name", captious.__all__)
def test_every_public_name_is_mentioned(name: str) -> None:
    whole_name = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    texts = (metric_facts.with_facts(page.read_text(encoding="utf-8")) for page in PAGES)
    assert any(whole_name.search(text) for text in texts), f"name {name} in docs/api.md"


def lines_of_prose(page: Path) -> list[str]:
    """Return the lines outside fenced blocks, tables and indented blocks."""
    return [line for line in prose(page).splitlines() if not line.startswith(("|", "    "))]


@pytest.mark.parametrize("page", [README, *PAGES], ids=page_id)
def test_lines_of_prose_are_short(page: Path) -> None:
    assert [line for line in lines_of_prose(page) if len(line) > 120] == []


@pytest.mark.parametrize("page", [*PAGES, *OTHERS], ids=page_id)
def test_code_fits_the_site(page: Path) -> None:
    """On a screen of 1,280 pixels, 103 columns of a block are shown without scrolling, on small ones 90.

    The commands of the front page are in one line each.
    """
    document = Document(page.read_text(encoding="utf-8"), str(page))
    blocks = [block for _, block in fences(document) if block.language in ("console", "python", "py")]
    for block in blocks:
        most = 90 if block.language == "console" and page != README else 103
        assert [line for line in lines_of_code(block.text) if len(line) > most] == [], block.where


def lines_of_code(text: str) -> list[str]:
    """Return the lines that a reader would type: those behind a prompt, all if there is none."""
    prompts = ("$ ", ">>> ", "... ")
    lines = re.findall(r"^(?:\$ (?:.*\\\n)*.*|(?:>>>|\.\.\.) .*)$", text, re.MULTILINE)
    typed = "\n".join(lines) if any(f"\n{prompt}" in f"\n{text}" for prompt in prompts) else text
    return typed.splitlines()


def test_the_readme_is_short() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 100


def test_the_names_of_parameters_for_lists_are_all_documented() -> None:
    page = (DOCS / "new-metrics.md").read_text()
    sentence = re.search(r"first parameter is called (.*?)\.", page, re.DOTALL)
    assert {*re.findall(r"`(\w+)`", sentence[1])} == functions._PLURAL


@pytest.mark.parametrize("page", tables.OF_CAPTIOUS)
def test_tables_are_those_of_the_code(page: str) -> None:
    text = (PROJECT / page).read_text(encoding="utf-8")
    assert tables.written(text, tables.OF_CAPTIOUS[page]) == text, "run python -m tools.tables"


def test_every_protocol_file_and_error_is_in_a_table() -> None:
    protocols, files, errors = tables.protocols(), tables.judgment_files(), tables.error_classes()
    for name in benchmarks.names():
        benchmark = benchmarks.get(name)
        rows = [row for row in protocols.splitlines() if row.startswith(f"| `{name}@")]
        assert all(any(f"@{protocol.name}`" in row for row in rows) for protocol in benchmark.protocols)
        assert all(f"`{file}`" in files for form in benchmark.files for file in form.names)
    assert "`DuplicateCandidateError`" in errors


# ---- links


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings on GitHub."""
    headings = re.findall(r"^#+ +(.+?) *$", prose(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*OTHERS, *PAGES], ids=page_id)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = unquote(target).partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.is_file(), f"{target} is not a file"  # the site has no folders
        assert linked.is_relative_to(PROJECT), f"{target} leads out of the project"
        if anchor:
            assert anchor in anchors(linked), f"{target}: no such heading"


def linked_pages(page: Path) -> set[Path]:
    return {(page.parent / target).resolve() for target in re.findall(r"\]\(([^)#\s:]+\.md)", prose(page))}


def test_every_page_can_be_reached_from_the_index() -> None:
    """In three steps at most."""
    linked = linked_pages(DOCS / "README.md")
    for _ in range(2):
        linked |= {other for page in linked & {*PAGES, *OTHERS} for other in linked_pages(page)}
    assert {*PAGES, *OTHERS} - {README, DOCS / "README.md"} <= linked


def test_pictures_are_small_and_shown() -> None:
    """Each has another for dark pages."""
    pictures = {picture.resolve() for picture in (DOCS / "pictures").iterdir()}
    shown = {
        (page.parent / target).resolve()
        for page in PAGES
        for target in re.findall(r"!\[[^\]]+\]\(([^)\s]+)\)", prose(page))
    }
    assert shown | {picture.with_stem(f"{picture.stem}-dark") for picture in shown} == pictures
    assert all(picture.stat().st_size < 60_000 for picture in pictures)


# ---- code, which conftest.py collects page by page


#: How a line of code begins, in a shell or in Python.
CODE = re.compile(r"^ *(\$ |>>> |(captious|pip|python|curl) |import |from [\w.]+ import )", re.MULTILINE)


@pytest.mark.parametrize("page", [README, *PAGES], ids=page_id)
def test_code_is_run_or_says_why_not(page: Path) -> None:
    """A block of code has a language that is run."""
    document = Document(page.read_text(encoding="utf-8"), str(page))
    for region, block in fences(document):
        named = re.search(r"<!-- command: \w+ -->\n\Z", document.text[: region.start])
        written = block.file is not None  # for a command of the page
        if block.language not in RUN and not (named or written):
            assert CODE.search(block.text) is None, block.where
        how, why = marker(document.text[: region.start])
        assert not how or (block.language in RUN and len(why) > 5), block.where
