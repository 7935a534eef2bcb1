"""Writes what follows from the classes of metrics: the catalogue, and the metrics among the public names.

    python tools/catalogue.py          writes src/captious/metrics/contract/built_in.tsv and src/captious/__init__.pyi
    python tools/catalogue.py --check  fails if they are not current

Run it after adding a metric to src/captious/metrics/ or src/captious/learned/, or changing the outputs of one.
"""

from __future__ import annotations

import ast
import re
import sys
from importlib import import_module
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "captious"
CATALOGUE = PACKAGE / "metrics" / "contract" / "built_in.tsv"
PUBLIC = PACKAGE / "__init__.pyi"

#: Metrics that are not requested by name: they compute what others are trained on.
NOT_LISTED = {"FeatureMetric"}

HEADER = "name\tmodule\tclass\toutputs\n"


def metrics() -> dict[str, tuple[str, str, tuple[str, ...]]]:
    """Every class in a file of metrics/ or learned/ that names itself: those in the catalogue first, in its order."""
    classes: dict[str, tuple[str, str, tuple[str, ...]]] = {}
    for path in sorted([*(PACKAGE / "metrics").glob("*.py"), *(PACKAGE / "learned").glob("*.py")]):
        named = _named_classes(path)
        if not named and path.parent.name == "metrics" and path.name != "__init__.py":
            sys.exit(f"{path} has no metric: write its name in the class, name = ...")
        for class_name in named:
            module = f"{path.parent.name}.{path.stem}"
            metric = getattr(import_module(f"captious.{module}"), class_name)
            classes[metric.name] = (module, class_name, tuple(metric.outputs))
    lines = CATALOGUE.read_text().splitlines()[1:] if CATALOGUE.exists() else []
    listed = [line.partition("\t")[0] for line in lines]
    return {name: classes[name] for name in dict.fromkeys([*listed, *classes]) if name in classes}


def _named_classes(path: Path) -> list[str]:
    """Return public classes with an attribute ``name`` that is written in the class."""
    classes = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef)]
    return [node.name for node in classes if node.name not in NOT_LISTED and any(map(_is_name, node.body))]


def _is_name(statement: ast.stmt) -> bool:
    targets = getattr(statement, "targets", [getattr(statement, "target", None)])
    return getattr(statement, "value", None) is not None and any(
        isinstance(target, ast.Name) and target.id == "name" for target in targets
    )


def catalogue_source() -> str:
    """Return the text of built_in.tsv."""
    rows = ((name, module, class_name, " ".join(outputs)) for name, (module, class_name, outputs) in metrics().items())
    return HEADER + "".join("\t".join(row) + "\n" for row in rows)


def public_source() -> str:
    """Return the text of __init__.pyi: its names, with every metric among them."""
    exports = {f"from .{module} import {class_name} as {class_name}" for module, class_name, _ in metrics().values()}
    lines = PUBLIC.read_text().splitlines()
    modules = "|".join(re.escape(module) for module, _, _ in metrics().values())
    header = [line for line in lines if not line.startswith("from ")]
    kept = {line for line in lines if line.startswith("from ") and not re.match(rf"from \.({modules}) ", line)}
    imports = sorted({*kept, *exports}, key=lambda line: (line.split()[1], _class_order(line.split()[3])))
    return "\n".join([*header, *imports]) + "\n"


def _class_order(name: str) -> tuple[int, str]:
    """Return constants first, then classes, then the rest, as ruff sorts names."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name.lower())


def main() -> None:
    check = "--check" in sys.argv[1:]
    for path, text in ((CATALOGUE, catalogue_source()), (PUBLIC, public_source())):
        if path.exists() and path.read_text() == text:
            continue
        if check:
            sys.exit(f"{path.name} is not current: run python tools/catalogue.py")
        path.write_text(text)
        print(f"wrote {path.relative_to(PACKAGE.parents[1])}")


if __name__ == "__main__":
    main()
