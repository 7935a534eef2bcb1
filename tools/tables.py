"""Write the tables of pages that code knows, each between two comments: python -m tools.tables

``tests/docs`` and the tests of the server fail if a page does not have the tables that this program writes.
"""

from __future__ import annotations

import inspect
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields
from pathlib import Path, PurePath
from unicodedata import combining

from captious import errors
from captious.cli import COMMANDS
from captious.data.cleaning import RULES
from captious.evaluation.checks import KINDS
from captious.judgment import Protocol
from captious.judgment.benchmarks import names as benchmarks
from tools import layouts

PROJECT = Path(__file__).parents[1]
#: What the ratings of a protocol are.
_RATINGS = {
    "each": "each rating is a point",
    "mean": "the mean of the ratings",
    "annotators": "ratings of each annotator; the statistic is averaged",
    "share": "the share of people who say that the caption fits",
    "majority": "what most people prefer",
    "given": "one rating",
    "known": "known from the data",
}


def protocols() -> str:
    """Return the protocols of ``captious judge``; those that differ only in statistic or measure share a row."""
    rows = ["| protocol | statistic | judgments | references | left out | source |", "|---|---|---|---|---|---|"]
    for name in benchmarks.names():
        alike: dict[tuple[str, ...], list[Protocol]] = {}
        for protocol in benchmarks.get(name).protocols:
            facts = protocol.facts()
            same = ("of", "ratings", "references", "excluded", "ties", "parts", "scores", "systems")
            alike.setdefault(tuple(facts.get(fact, "") for fact in same), []).append(protocol)
        rows += [_row(group) for group in alike.values()]
    return "\n".join(rows)


def _row(group: list[Protocol]) -> str:
    facts = group[0].facts()
    names = ", ".join(
        f"`{protocol.benchmark}@{protocol.name}`" if protocol is group[0] else f"`@{protocol.name}`"
        for protocol in group
    )
    measures = "; ".join(_each(protocol.facts().get("measure", "") for protocol in group))
    of = "means of systems" if group[0].systems else facts["of"]
    judged = [f"{of}: {_RATINGS[facts['ratings']]}{measures and f' ({measures})'}"]
    if "ties" in facts:
        judged.append(f"a tie counts {'as wrong' if facts['ties'] == 'nothing' else facts['ties']}")
    if "parts" in facts:
        judged.append(f"mean over parts: {facts['parts']}")
    if "scores" in facts:
        judged.append(f"scores {facts['scores']}")
    statistics = ", ".join(_each(protocol.statistic for protocol in group))
    left_out = "" if facts["excluded"] == "nothing" else facts["excluded"]
    sources = "; ".join(_each(protocol.source for protocol in group))
    cells = [names, statistics, "; ".join(judged), facts["references"], left_out, sources]
    return f"| {' | '.join(cells)} |"


def _each(texts: Iterator[str]) -> list[str]:
    return [*dict.fromkeys(filter(None, texts))]


def judgment_files() -> str:
    """Return the files of each benchmark, and where to get them."""
    rows = ["| benchmark | files; or else | from |", "|---|---|---|"]
    for name in benchmarks.names():
        benchmark = benchmarks.get(name)
        forms = "; or ".join(
            ", ".join(f"`{PurePath(file)}`" for file in files.names)
            for files in {files.names: files for files in benchmark.files}.values()
        )
        rows.append(f"| `{name}` | {forms} | {benchmark.obtain} |")
    return "\n".join(rows)


def kinds() -> str:
    """Return the kinds of captions that ``captious check`` finds."""
    rows = ["| kind | captions that | such as | from | cleaned by |", "|---|---|---|---|---|"]
    for name, kind in KINDS.items():
        least = f"{kind.least:.0%}" if kind.least else ""
        rows.append(f"| `{name}` | {kind.predicate} | {_shown(kind.example)} | {least} | {_code(kind.rule)} |")
    return "\n".join(rows)


def rules() -> str:
    """Return the rules of ``--clean`` with what they make of an example."""
    rows = ["| rule | for captions that | such as | becomes |", "|---|---|---|---|"]
    for rule, clean in RULES.items():
        cleaned = [kind for kind in KINDS.values() if kind.rule == rule]
        predicates = "; ".join(kind.predicate for kind in cleaned)
        example = cleaned[0].example
        rows.append(f"| `{rule}` | {predicates} | {_shown(example)} | {_shown(clean(example))} |")
    return "\n".join(rows)


def _shown(text: str) -> str:
    """Return an example as code, with characters that cannot be seen as escapes, and line breaks as ⏎."""
    shown = "".join(
        c if c.isprintable() and not combining(c) else c.encode("unicode_escape").decode()
        for c in text.replace("\n", "⏎")
    )
    return _code(shown.replace("|", r"\|"))


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def error_classes() -> str:
    """Return the classes of errors, and what each of them means."""
    rows = ["| class in `captious.errors` | problem |", "|---|---|"]
    for name, value in vars(errors).items():
        if inspect.isclass(value) and issubclass(value, errors.CaptiousError):
            builtin = [f"`{base.__name__}`" for base in value.__bases__ if base.__module__ == "builtins"]
            also = f"; also a {builtin[0]}" if builtin and builtin[0] != "`Exception`" else ""
            rows.append(f"| `{name}` | {_first_sentence(value).replace('``', '`')}{also} |")
    return "\n".join(rows)


def _first_sentence(value: type) -> str:
    (text, *_) = (inspect.getdoc(value) or "").split("\n\n")
    text = " ".join(text.split()).rstrip(".")
    return text[0].lower() + text[1:]


def commands() -> str:
    """Return the commands by section, with the first sentences of their help."""
    rows = ["| | command | |", "|---|---|---|"]
    for title, section in COMMANDS.items():
        for number, (name, text) in enumerate(section.items()):
            link = f"[`captious {name}`](command-line/{name}.md)"
            rows.append(f"|{'' if number else f' {title}'} | {link} | {text[0].lower()}{text[1:].rstrip('.')} |")
    return "\n".join(rows)


def settings() -> str:
    """Return the settings of the server."""
    from captious_server.settings import ServerSettings

    section = inspect.getdoc(ServerSettings).partition("Args:\n")[2]  # type: ignore[union-attr]
    texts = {name: " ".join(text.split()) for name, text in re.findall(r"^    (\w+): (.+(?:\n {8}.+)*)", section, re.M)}
    rows = ["| setting | default | |", "|---|---|---|"]
    for field in fields(ServerSettings):
        if field.name != "data":
            default = "" if field.default is MISSING else field.default
            shown = ", ".join(default) if isinstance(default, tuple) else str(default)
            shown = shown.lower() if isinstance(default, bool) else shown
            rows.append(f"| `{field.name}` | {shown} | {texts[field.name].rstrip('.').replace('``', '`')} |")
    return "\n".join(rows)


def calls() -> str:
    """Return the calls of the server's API."""
    from captious_server.api import description

    rows = ["| call | parameters | |", "|---|---|---|"]
    for address, methods in description()["paths"].items():
        for method, operation in methods.items():
            form = operation.get("requestBody", {}).get("content", {}).get("application/x-www-form-urlencoded", {})
            inputs = [each["name"] for each in operation["parameters"] if each["in"] != "path"]
            inputs += form.get("schema", {}).get("properties", {})
            given = ", ".join(f"`{name}`" for name in inputs)
            rows.append(f"| `{method.upper()} {address}` | {given} | {operation['summary'].rstrip('.')} |")
    return "\n".join(rows)


#: The tables of each page, by the names of their places.
OF_CAPTIOUS: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "docs/command-line.md": {"commands": commands},
    "docs/input-formats.md": {
        "layouts": layouts.layouts_table,
        "logs": layouts.logs_table,
        "names": layouts.names_table,
        "errors": error_classes,
    },
    "docs/long-captions.md": {"rules": rules, "kinds": kinds},
    "docs/judgment/data.md": {"files": judgment_files},
    "docs/judgment/protocols.md": {"protocols": protocols},
}
OF_SERVER: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "server/docs/api.md": {"calls": calls},
    "server/docs/operators.md": {"settings": settings},
}


def written(text: str, tables: Mapping[str, Callable[[], str]]) -> str:
    """Return a page with its tables.

    Raises:
        ValueError: it has no place for one of them.
    """
    for name, table in tables.items():
        start, end = f"<!-- {name}: made by tools/tables.py -->\n", f"<!-- end of {name} -->"
        before, found, rest = text.partition(start)
        if not found or end not in rest:
            raise ValueError(f"there is no place for the table {name}")
        text = f"{before}{start}\n{table()}\n\n{end}{rest.partition(end)[2]}"
    return text


if __name__ == "__main__":
    from captious_server.operations.setup import set_up

    with tempfile.TemporaryDirectory() as folder:
        set_up(Path(folder), make=True)
    for page, tables in {**OF_CAPTIOUS, **OF_SERVER}.items():
        path = PROJECT / page
        path.write_text(written(path.read_text("utf-8"), tables), "utf-8")
