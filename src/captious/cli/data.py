"""captious data: list the benchmarks of human judgments and write their items."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any

import click

from captious.cli import Group
from captious.cli.inputs import shared
from captious.cli.outputs import Destination, format_option, output_options, print_table, warn
from captious.errors import CaptiousError
from captious.files import csv_writer
from captious.judgment import load_judgments
from captious.judgment.benchmarks.names import get, names
from captious.judgment.files import DataFolder, data_folder
from captious.judgment.judgments import CaptionJudgments, HumanJudgments, SystemRanking
from captious.tables import document_text
from captious.version import __version__

_COLORS = {"found": "green", "missing": "yellow"}


@click.group(cls=Group, subcommand_metavar="COMMAND")
def data() -> None:
    """List the benchmarks of human judgments, or write their items."""


@data.command("list", short_help="Show the benchmarks, and which of their files are available.")
@shared("data")
@format_option("table", "json")
def list_(data: Path | None, format_: str) -> None:
    """Show the benchmarks: protocols, required files, files found, and where to get the others.

    The first protocol is the default; select another with BENCHMARK@PROTOCOL. Files may be compressed: .gz.
    """
    folder = data_folder(data) if data is not None or os.environ.get("CAPTIOUS_DATA") else None
    benchmarks = list(_described(folder))
    if format_ == "json":
        place = str(folder.folder) if folder else None
        document = {"version": __version__, "folder": place, "benchmarks": benchmarks}
        click.echo(document_text(document), nl=False)
        return
    if folder is not None:
        click.echo(f"data: {folder.folder}\n")
    _print_list(benchmarks)
    if folder is None:
        click.echo("No folder of judgment data is set: give --data DIR or set CAPTIOUS_DATA.", err=True)


@data.command(short_help="Write the judged items, to score them with other software.")
@click.argument("benchmark")
@shared("data")
@output_options("jsonl", "csv")
def items(benchmark: str, data: Path | None, destination: Destination) -> None:
    """Write id, candidate and references of every item of BENCHMARK, in order.

    BENCHMARK is anything that 'captious judge' accepts. Score the items with any software, then run 'captious judge
    BENCHMARK --scores FILE'. In a benchmark of systems, each item is a system.
    """
    rows = list(_items(load_judgments(benchmark, data)))
    if destination.format == "jsonl":
        destination.deliver("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    else:
        destination.deliver(_csv(rows))


def _described(folder: DataFolder | None) -> Iterator[dict[str, Any]]:
    """Return the JSON records of all benchmarks. A warning is issued for benchmarks of other packages that cannot be
    loaded.
    """
    for name in names():
        try:
            benchmark = get(name)
        except CaptiousError as error:
            warn([error.shown("command line")])
            continue
        forms = [{file: folder is not None and folder.has(file) for file in files.names} for files in benchmark.files]
        yield {
            "name": name,
            "protocols": [
                {
                    "name": p.full_name,
                    "statistic": p.statistic,
                    "measure": p.measure.text if p.measure else "",
                    "source": p.source,
                }
                for p in benchmark.protocols
            ],
            "found": any(all(form.values()) for form in forms) if folder is not None else None,
            "files": forms,
            "obtain": benchmark.obtain,
        }


def _print_list(benchmarks: list[dict[str, Any]]) -> None:
    from rich.console import Group, RenderableType
    from rich.table import Table
    from rich.text import Text

    parts: list[RenderableType] = []
    for benchmark in benchmarks:
        grid = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        for label, lines in _facts(benchmark).items():
            grid.add_row(Text(f"  {label}", style=_COLORS.get(label, "")), Text("\n".join(lines)))
        parts += [Text(benchmark["name"], style="bold"), grid]
    print_table(Group(*parts))


def _facts(benchmark: dict[str, Any]) -> dict[str, list[str]]:
    """Return label -> lines: the protocols; the files that are read or, if missing, all alternatives."""
    protocols = []
    for p in benchmark["protocols"]:
        what = ", ".join(filter(None, (p["statistic"], p["measure"], p["source"])))
        protocols.append(f"{p['name'].partition('@')[2]}: {what}")
    facts = {"protocols": protocols}
    if benchmark["found"]:
        facts["found"] = [_folded(next(form for form in benchmark["files"] if all(form.values())))]
        return facts
    lines = []
    for form in benchmark["files"]:
        here = [name for name, is_here in form.items() if is_here]
        lines.append(_folded(form) + (f" ({_folded(here)} was found)" if here else ""))
    facts["files" if benchmark["found"] is None else "missing"] = [lines[0], *(f"or {line}" for line in lines[1:])]
    return facts | {"obtain": [benchmark["obtain"]]}


def _folded(names: Iterable[str]) -> str:
    """Write files with shell braces: ``folder/{a,b}.json other/c.json``."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for name in map(PurePosixPath, names):
        kinds.setdefault((str(name.parent), name.suffix), []).append(name.stem)
    return " ".join(
        f"{parent}/{stems[0] if len(stems) == 1 else '{' + ','.join(stems) + '}'}{suffix}"
        for (parent, suffix), stems in kinds.items()
    )


def _items(judgments: HumanJudgments) -> Iterator[dict[str, Any]]:
    if isinstance(judgments, SystemRanking):
        for number, name in enumerate(judgments.items):
            yield {"id": name} | ({"captions": list(judgments.outputs[number])} if judgments.outputs else {})
        return
    assert isinstance(judgments, CaptionJudgments)
    captions = judgments.captions
    bounds = pairwise(captions.references.offsets.tolist())
    for name, candidate, (start, end) in zip(judgments.items, captions.candidates, bounds, strict=True):
        references = list(captions.references.texts[start:end])
        yield {"id": name, "candidate": candidate} | ({"references": references} if captions.references.present else {})


def _csv(rows: list[dict[str, Any]]) -> str:
    """Expand lists to numbered columns: reference_1, reference_2, ..."""
    flat = []
    for row in rows:
        lists = {key: values for key, values in row.items() if isinstance(values, list)}
        cells = {key: value for key, value in row.items() if key not in lists}
        for key, values in lists.items():
            cells |= {f"{key.removesuffix('s')}_{number}": text for number, text in enumerate(values, start=1)}
        flat.append(cells)
    heads = list(dict.fromkeys(key for row in flat for key in row))
    out = io.StringIO()
    csv_writer(out).writerows([heads, *([row.get(head, "") for head in heads] for row in flat)])  # captions as they are
    return out.getvalue()
