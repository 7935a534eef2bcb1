"""The layers of the packages: each imports only from layers below it, and nothing heavy before it is needed."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

from captious.cli.options import SETTINGS
from captious.metrics.contract import registry
from captious.metrics.contract.metric import BaseMetric
from captious.metrics.contract.settings import Settings

PROJECT = Path(__file__).parents[1]
PACKAGE = PROJECT / "src" / "captious"
#: A distribution of its own, on top of captious.
SERVER = PROJECT / "server" / "src" / "captious_server"

#: From the lowest up. The modules at the top level, which every package uses, are the lowest.
LAYERS = (
    {"errors", "words", "plugins", "progress", "version"},
    {"files", "statistics"},
    {"tables"},
    {"drawing"},
    {"layouts"},
    {"explanation_text"},
    {"native"},
    {"data"},
    {"resources"},
    {"text"},
    {"parsing"},
    {"scenes", "models"},
    {"metrics"},
    {"evaluation", "learned"},
    {"judgment"},
    {"report", "scale", "compat", "client"},
    {"cli"},
    {"__main__"},
)
LAYER_OF = {package: layer for layer, packages in enumerate(LAYERS) for package in packages}

#: Never imported when a module is: only by the function that needs them.
HEAVY = {"jax", "matplotlib", "pandas", "polars", "pyarrow", "ray", "spacy", "tensorflow", "torch", "transformers"}
HEAVY |= {"aac_metrics", "datasets", "evaluate", "torchmetrics"}
#: Modules whose classes derive from a heavy package's, or return its tensors: only its users import them.
FOR_USERS_OF = {
    "compat/aac_metrics/metric_classes.py": {"torch"},
    "compat/aac_metrics/metric_functions.py": {"torch"},
    "compat/evaluate_modules/module.py": {"datasets", "evaluate"},
    "compat/torchmetrics.py": {"torch", "torchmetrics"},
}
#: Packages that write to a terminal.
SHOWS = {"cli", "explanation_text", "report"}
#: The server's modules of commands, which stand on the command line of captious.
COMMANDS_OF_THE_SERVER = {"commands.py"}

MODULES = sorted(PACKAGE.rglob("*.py"))
#: captious/__init__.py names what is public, from every layer.
IN_PACKAGES = [path for path in MODULES if path != PACKAGE / "__init__.py"]
SERVER_MODULES = sorted(SERVER.rglob("*.py"))
ALL_MODULES = [*MODULES, *SERVER_MODULES]
DISTRIBUTIONS = {"captious", "captious_server"}


def in_distribution(path: Path) -> str:
    """Return the path of a file from the folder of sources, such as captious/errors.py."""
    return path.relative_to(PACKAGE.parent if path.is_relative_to(PACKAGE) else SERVER.parent).as_posix()


def package_of(path: Path) -> str:
    """Return the package, or the module at the top level, that a file belongs to; '' for captious/__init__.py."""
    first = in_distribution(path).split("/")[1]
    return "" if first == "__init__.py" else first.removesuffix(".py")


def absolute(path: Path, node: ast.ImportFrom) -> str:
    """Return the module that a from-import names, relative or not."""
    if node.level == 0:
        return node.module or ""
    package = in_distribution(path).split("/")[:-1]
    return ".".join([*package[: len(package) - node.level + 1], *([node.module] if node.module else [])])


def imported(path: Path, tree: ast.AST) -> Iterator[str]:
    """Yield every module that a tree imports, wherever the import is; for ``from captious import x``, captious.x."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = absolute(path, node)
            yield from ([f"captious.{alias.name}" for alias in node.names] if module == "captious" else [module])
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            if name in {"import_module", "__import__"} and node.args and isinstance(node.args[0], ast.Constant):
                yield str(node.args[0].value)


def files_of_modules() -> dict[str, Path]:
    """Return the file of each module, by the module's name."""
    files: dict[str, Path] = {}
    for path in ALL_MODULES:
        parts = in_distribution(path).removesuffix(".py").split("/")
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return files


def named_in_text(tree: ast.Module) -> Iterator[str]:
    """Yield the modules that a file names for ``import_module`` and ``deferred``, in place or by a constant."""
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute) and node.args:
            function = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            named = node.args[0]
            if isinstance(named, ast.Name):
                named = constants.get(named.id, named)
            if function in {"import_module", "deferred"} and isinstance(named, ast.Constant):
                yield f"captious.{str(named.value).partition(':')[0].removeprefix('captious.')}"


@cache
def imports_between_files() -> dict[str, set[str]]:
    """Return the modules that each module imports: anywhere in its file, in functions and for type checkers, too.

    ``from package import name`` imports package.name if that is a module, and the package otherwise. Modules that are
    named in text, for ``import_module`` and ``deferred``, are imports, too.
    """
    files = files_of_modules()
    imports: dict[str, set[str]] = {}
    for module, path in files.items():
        tree = ast.parse(path.read_text())
        named = {*named_in_text(tree)} - {name for importer, name in RENDERERS if importer == module}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                named |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                origin = absolute(path, node)
                inner = {f"{origin}.{alias.name}" for alias in node.names}
                named |= {name if name in files else origin for name in inner}
        imports[module] = named & files.keys()
    return imports


def executed_on_import(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield statements that run when the module is imported: not functions, not what is for type checkers."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            waiting += node.orelse
            continue
        if isinstance(node, ast.stmt):
            yield node
        waiting += ast.iter_child_nodes(node)


def test_every_package_has_a_layer() -> None:
    packages = {package_of(path) for path in MODULES} - {""}
    assert packages == LAYER_OF.keys()
    folders = {folder.name for folder in PACKAGE.iterdir() if folder.is_dir() and folder.name != "__pycache__"}
    for folder in folders:
        assert any((PACKAGE / folder).glob("*.py")), f"{folder} is an empty package"


@pytest.mark.parametrize("path", IN_PACKAGES, ids=in_distribution)
def test_imports_only_from_layers_below(path: Path) -> None:
    package = package_of(path)
    for module in imported(path, ast.parse(path.read_text())):
        parts = module.split(".")
        assert parts[0] != "captious_server", "captious works without the server"
        if parts[0] != "captious":
            continue
        assert len(parts) > 1, "packages import from packages, not from captious"
        other = parts[1]
        if other == "__version__":
            other = "version"
        assert other in LAYER_OF, f"captious.{other} is not a package: packages import from packages, not from captious"
        if other == package:
            continue
        both_below = LAYER_OF[package] == LAYER_OF[other] == 0
        assert both_below or LAYER_OF[other] < LAYER_OF[package], f"{package} must not import {module}"


#: Modules of layers above that are imported by their names in text, when they are first needed.
UPWARDS = {
    ("tables.py", "captious.report.formats"),
    ("metrics/contract/built_in.tsv", "learned"),
}


def test_imports_by_name_go_upwards_only_where_that_is_listed() -> None:
    """Names of modules in text are imports, too: formats show tables, the catalogue lists metrics that are trained."""
    found = set()
    for path in IN_PACKAGES:
        package = package_of(path)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and re.fullmatch(r"[a-z_]+(\.[a-z0-9_]+)+", str(node.value)):
                parts = node.value.split(".")
                other = parts[1] if parts[0] == "captious" and len(parts) > 2 else parts[0]
                is_module = (PACKAGE / Path(*parts[parts[0] == "captious" :])).with_suffix(".py").is_file()
                if is_module and other in LAYER_OF and LAYER_OF[other] > LAYER_OF[package]:
                    name = node.value if parts[0] == "captious" else other
                    found.add((path.relative_to(PACKAGE).as_posix(), name))
    catalogue = "metrics/contract/built_in.tsv"
    packages = {row.split("\t")[1].partition(".")[0] for row in (PACKAGE / catalogue).read_text().splitlines()[1:]}
    found |= {(catalogue, package) for package in packages if LAYER_OF[package] > LAYER_OF["metrics"]}
    assert found == UPWARDS


#: What shows a result is above it, and imports it: results name it in text, and import it when they are shown.
RENDERERS = {
    ("captious.tables", "captious.report.formats"),
    ("captious.report.formats", "captious.report.page"),
}


def test_renderers_are_named_in_text() -> None:
    files = files_of_modules()
    for importer, name in RENDERERS:
        assert name in named_in_text(ast.parse(files[importer].read_text()))


def test_no_circle_of_files() -> None:
    circle: list[str] = []
    try:
        TopologicalSorter(imports_between_files()).prepare()
    except CycleError as error:
        circle = error.args[1][::-1]
    assert not circle, " imports ".join(circle)


@pytest.mark.parametrize("path", ALL_MODULES, ids=in_distribution)
def test_private_names_stay_in_their_modules(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and absolute(path, node).split(".")[0] in DISTRIBUTIONS:
            private = [alias.name for alias in node.names if re.match("_[^_]", alias.name)]
            assert not private, f"line {node.lineno} imports {', '.join(private)}"


@pytest.mark.parametrize("path", ALL_MODULES, ids=in_distribution)
def test_heavy_packages_wait_until_they_are_needed(path: Path) -> None:
    distribution, _, name = in_distribution(path).partition("/")
    shows = name in COMMANDS_OF_THE_SERVER if distribution == "captious_server" else package_of(path) in SHOWS
    forbidden = HEAVY if shows else HEAVY | {"rich", "click"}
    if distribution == "captious":
        forbidden = forbidden - FOR_USERS_OF.get(name, set())
    tree = ast.parse(path.read_text())
    for statement in executed_on_import(tree):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for module in imported(path, ast.Module([statement], [])):
                assert module.split(".")[0] not in forbidden, f"line {statement.lineno} imports {module}"


def test_modules_run_by_name_are_not_looked_for_in_the_current_folder() -> None:
    # python -m NAME runs ./NAME.py if there is one, python -P -m NAME does not.
    for path in (*ALL_MODULES, *(PROJECT / "training").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.List):
                words = [word.value for word in node.elts if isinstance(word, ast.Constant)]
                assert "-m" not in words or "-P" in words, f"{path}, line {node.lineno}"


def loaded_by(code: str) -> set[str]:
    """Return modules that a fresh interpreter has loaded after running the code."""
    program = f"{code}\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_captious_costs_next_to_nothing() -> None:
    loaded = loaded_by("import captious; captious.__version__")
    assert not loaded & {"numpy", "scipy", "click", *HEAVY, "rich"}
    assert "captious.native" not in loaded


def test_replacements_wait_until_they_are_needed() -> None:
    code = "from captious.compat import evaluate_modules as modules; modules.metrics()"
    assert not loaded_by(code) & HEAVY


def test_scoring_needs_no_optional_package() -> None:
    loaded = loaded_by("import captious; captious.score, captious.compare, captious.read_captions")
    assert not loaded & HEAVY


def test_public_names_are_sorted_and_exist() -> None:
    import captious

    assert captious.__all__ == sorted(captious.__all__)
    assert dir(captious) == captious.__all__
    for name in captious.__all__:
        assert getattr(captious, name) is not None
    with pytest.raises(AttributeError, match="No captious attribute nothing"):
        _ = captious.nothing


METRIC_FILES = sorted(path.stem for path in (PACKAGE / "metrics").glob("*.py") if path.name != "__init__.py")
#: Metrics that share code have a file together. Every other metric has a file of its own, named as the metric.
FAMILIES = {
    "metrics.bleu": {"bleu", "ngram-precision", "unigram-recall"},
    "metrics.cider": {"cider", "cider-d", "cider-r"},
    "metrics.clipscore": {"clipscore", "refclipscore"},
    "metrics.diversity": {"distinct", "div", "lsa", "mbleu", "novel", "self-cider"},
    "metrics.fense": {"fense", "sbert"},
    "metrics.judges": {"judge-clair", "judge-geval"},
    "metrics.rouge": {"rouge-l", "rouge-n", "rouge-s"},
    "metrics.smurf": {"mima", "smurf", "sparcs", "spurts"},
    "metrics.spice": {"allspice", "spice"},
    "metrics.spider": {"spider", "spider-fl"},
    "metrics.word_means": {"mowe", "wembsim"},
    "metrics.yi2020": {"yi2020", "yi2020-unigram"},
    "learned.lceval": {"lceval", "nneval"},
}


@pytest.mark.parametrize("name", registry.METRICS)
def test_a_metric_has_a_file_of_its_own_or_of_its_family(name: str) -> None:
    metric = registry.get(name)
    module = metric.__module__.removeprefix("captious.")
    family = FAMILIES.get(module, {name})
    assert name in family
    defined = vars(import_module(metric.__module__)).values()
    metrics = [item for item in defined if isinstance(item, type) and issubclass(item, BaseMetric)]
    of_the_file = [item for item in metrics if item.__module__ == metric.__module__]
    assert sorted(item.__name__ for item in of_the_file) == sorted(registry.get(other).__name__ for other in family)


def test_every_file_of_metrics_is_named_as_its_metric_or_its_family() -> None:
    # Metrics that are trained have modules in learned/, with what trains them.
    of_families = {name for names in FAMILIES.values() for name in names}
    alone = {name.replace("-", "_") for name, (module, _, _) in registry.METRICS.items() if "metrics." in module}
    alone -= {name.replace("-", "_") for name in of_families}
    families = {module.removeprefix("metrics.") for module in FAMILIES if module.startswith("metrics.")}
    assert sorted(alone | families) == METRIC_FILES


def test_every_setting_is_an_option() -> None:
    assert [field.name for field in fields(Settings)] == [*SETTINGS]
