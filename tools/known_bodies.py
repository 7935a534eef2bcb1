"""Keep the table of known bodies of toolkits, from checkouts of repositories.

    python tools/known_bodies.py list CHECKOUTS     what functions of toolkits stand there, and which are not known
    python tools/known_bodies.py write CHECKOUTS    write the table anew: digests and marks from where its lines point

CHECKOUTS is a folder with a folder ``OWNER+NAME`` for each repository, or ``OWNER+NAME@COMMIT`` for one at an older
commit. To add a body, write a line with its unit, what it computes and its source, as ``list`` prints them, to the
table and leave the digest and the marks empty. Whether it computes the same as the published function is for its author
to find out: by reading it, and by running it in the place of the published one.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from captious.compat.copies import known_bodies
from captious.compat.copies.normal_form import Function, functions

#: Classes of published toolkits, in small letters -> their modules.
MODULES = {
    "bleu": "bleu",
    "bleuscorer": "bleu_scorer",
    "cider": "cider",
    "ciderd": "ciderD",
    "ciderscorer": "cider_scorer",
    "rouge": "rouge",
}
TABLE = Path(known_bodies.__file__).with_suffix(".tsv")
#: Remains of Python 2 that lib2to3 translates, and those that Python 3 can parse.
REMAINS = ("basestring", "dict", "except", "exec", "has_key", "long", "ne", "numliterals", "print", "raise", "repr")
FIXERS = [f"lib2to3.fixes.fix_{name}" for name in (*REMAINS, "unicode", "xrange")]
PYTHON_2 = re.compile(r"\b(basestring|has_key|(iter|view)(items|keys|values)|long|unicode|xrange)\b")
HEADER = "unit\tdigest\tcomputes\tsource\tmarks"


class Line(NamedTuple):
    """A line of the table."""

    unit: str
    digest: str
    computes: str
    source: str
    marks: str


class Place(NamedTuple):
    """A function in a checkout."""

    unit: str
    source: str
    function: Function


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=["list", "write"])
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--table", type=Path, default=TABLE, help="the table (default: that of captious)")
    options = parser.parse_args(arguments)
    lines = read(options.table)
    if options.task == "list":
        print("\n".join(listing(options.checkouts, lines)))
        return 0
    written, faults = renewed(options.checkouts, lines)
    if faults:
        print("\n".join(faults), file=sys.stderr)
        return 1
    options.table.write_text("\n".join([HEADER, *map("\t".join, written)]) + "\n", encoding="utf-8")
    return 0


def read(table: Path) -> list[Line]:
    """Return the lines of a table."""
    rows = table.read_text(encoding="utf-8").splitlines()[1:]
    return [Line(*(row.split("\t") + [""] * 5)[:5]) for row in rows if row]


def renewed(checkouts: Path, lines: list[Line]) -> tuple[list[Line], list[str]]:
    """Return the lines with the digests and marks of what their sources say today, and what cannot be found."""
    written, faults = set(), []
    computes: dict[tuple[str, str], str] = {}
    for line in lines:
        repository, _, path = line.source.partition(":")
        file = checkouts / repository.replace("/", "+", 1) / path
        name = line.unit.partition(".")[2]
        found = [form for form in forms(file).values() if _is_named(form.name, name)]
        found = [form for form in found if form.digest == line.digest] or found
        if len({form.digest for form in found}) != 1:
            faults.append(f"{line.unit}: {line.source} has {len(found)} functions of this name")
            continue
        new = line._replace(digest=found[0].digest, marks="".join(found[0].marks))
        if computes.setdefault((new.unit, new.digest), new.computes) != new.computes:
            faults.append(f"{new.unit} {new.digest} computes {new.computes}, and also {computes[new.unit, new.digest]}")
        written.add(new)
    best: dict[tuple[str, str], Line] = {}
    for line in sorted(written):
        best.setdefault((line.unit, line.digest), line)
    return list(best.values()), faults


def listing(checkouts: Path, lines: list[Line]) -> Iterator[str]:
    """Yield a line for each body: its unit, digest, what the table says, in how many repositories it is, its source."""
    known = {(line.unit.partition(".")[2], line.digest): line.computes for line in lines}
    places: dict[tuple[str, str], list[Place]] = defaultdict(list)
    for place in found_in(checkouts):
        places[place.unit, place.function.digest].append(place)
    yield "unit\tdigest\tcomputes\trepositories\tsource"
    for (unit, digest), group in sorted(places.items(), key=lambda item: (item[0][0], -len(item[1]), item[0][1])):
        count = len({place.source.partition(":")[0] for place in group})
        says = known.get((unit.partition(".")[2], digest), "?")
        yield "\t".join([unit, digest, says, str(count), min(place.source for place in group)])


def found_in(checkouts: Path) -> Iterator[Place]:
    """Yield the functions of toolkits in the files of all checkouts."""
    for folder in sorted(checkouts.iterdir()):
        repository = folder.name.replace("+", "/", 1)
        for file in sorted(folder.rglob("*.py")):
            if not any(part in file.name.lower() for part in ("bleu", "cider", "rouge")):
                continue
            here = forms(file)
            for unit, function in _units(here, file):
                yield Place(unit, f"{repository}:{file.relative_to(folder).as_posix()}", function)


def forms(file: Path) -> dict[str, Function]:
    """Return the functions of a file in normal form; none if it is not Python."""
    try:
        return functions(parse(file.read_text(encoding="utf-8-sig", errors="replace")))
    except (OSError, SyntaxError, ValueError):
        return {}


def parse(source: str) -> ast.Module:
    """Parse a module, translated from Python 2 if need be; a SyntaxError or ValueError if it is no Python."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return ast.parse(translated(source))
    return ast.parse(translated(source)) if PYTHON_2.search(source) else tree


def translated(source: str) -> str:
    """Return a module of Python 2 in Python 3; unchanged if it is not in Python 2."""
    from lib2to3 import pgen2, refactor  # Python 3.12 is the last to have it

    spaces = re.sub(r"^[ \t]+", lambda match: match[0].expandtabs(8), source, flags=re.MULTILINE)
    try:
        return str(refactor.RefactoringTool(FIXERS).refactor_string(f"{spaces}\n", "copy"))
    except (pgen2.parse.ParseError, pgen2.tokenize.TokenError):  # type: ignore[attr-defined]
        return source


def _units(found: dict[str, Function], file: Path) -> Iterator[tuple[str, Function]]:
    """Yield the functions of a file and their units."""
    modules = {}
    for name in found:
        class_name, dot, _ = name.partition(".")
        if dot and class_name.lower() in MODULES:
            modules[class_name] = _module(class_name, found, file)
    for name, function in found.items():
        class_name, dot, method = name.partition(".")
        if dot and class_name in modules:
            yield f"{modules[class_name]}.{_published(modules[class_name])}.{method}", function
        elif not dot and len(set(modules.values())) == 1:
            yield f"{next(iter(modules.values()))}.{name}", function


def _module(class_name: str, found: dict[str, Function], file: Path) -> str:
    """Return the module of a published toolkit that a class belongs to.

    The authors' scorers take ``df_mode``, meshed-memory's ``doc_frequency``. CIDEr-D clips with ``min``.
    """
    module = MODULES[class_name.lower()]
    head = found.get(f"{class_name}.__init__")
    words = " ".join(statement.text for statement in head.statements) if head else ""
    if module == "cider_scorer" and "doc_frequency" in words:
        return "m2_cider_scorer"
    if module == "cider_scorer" and "df_mode" in words:
        scores = found.get(f"{class_name}.compute_cider")
        clips = scores is not None and any(re.search(r"\bmin\(", each.text) for each in scores.statements)
        return "ciderD_scorer" if clips else "plain_cider_scorer"
    if module == "cider" and re.search(r"\bdf\b", words):
        return "plain_cider" if "cider" in file.parent.name.lower() else module
    if module == "cider" and "self.doc_frequency" in words:
        return "m2_cider"
    return module


def _published(module: str) -> str:
    """Return the name of the class in a module of a published toolkit."""
    name = module.removeprefix("m2_").removeprefix("plain_")
    names = {"bleu": "Bleu", "bleu_scorer": "BleuScorer", "cider": "Cider", "ciderD": "CiderD", "rouge": "Rouge"}
    return names.get(name, "CiderScorer")


def _is_named(name: str, published: str) -> bool:
    """Return whether a function is what the table names; classes of one toolkit have different names in copies."""
    (owner, _, last), (published_owner, _, published_last) = name.rpartition("."), published.rpartition(".")
    return last == published_last and MODULES.get(owner.lower(), "")[:5] == MODULES.get(published_owner.lower(), "")[:5]


if __name__ == "__main__":
    sys.exit(main())
