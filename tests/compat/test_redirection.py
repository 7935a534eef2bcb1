"""The toolkit's dotted paths lead to captious, whether or not the toolkit is installed, and back again."""

from __future__ import annotations

import importlib
import importlib.util
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from captious.compat import install, meshed_memory, pyciderevalcap, redirected, replacements, uninstall
from captious.compat.redirection import installed
from captious.errors import CaptiousWarning, ParameterError

#: Every module of the toolkit that code imports from, and a name in it.
NAMES = {
    "eval": "COCOEvalCap",
    "eval_spice": "COCOEvalCapSpice",
    "bleu.bleu": "Bleu",
    "bleu.bleu_scorer": "BleuScorer",
    "cider.cider": "Cider",
    "cider.cider_scorer": "CiderScorer",
    "meteor.meteor": "Meteor",
    "meteor": "Meteor",
    "rouge.rouge": "Rouge",
    "spice.spice": "Spice",
    "spice.get_stanford_models": "get_stanford_models",
    "tokenizer.ptbtokenizer": "PTBTokenizer",
    "wmd.wmd": "WMD",
}


@pytest.fixture(autouse=True)
def undo() -> Iterator[None]:
    """Leave the interpreter as it was."""
    before = {name: module for name, module in sys.modules.items() if "pycocoevalcap" in name.split(".")}
    path = [*sys.path]
    yield
    uninstall()
    sys.path[:] = path
    for name in [name for name in sys.modules if "pycocoevalcap" in name.split(".") and name not in before]:
        if not name.startswith("captious."):
            del sys.modules[name]
    sys.modules.update(before)


@pytest.mark.parametrize("prefix", ["pycocoevalcap", "nlgeval.pycocoevalcap", "coco_caption.pycocoevalcap"])
@pytest.mark.parametrize("module", NAMES)
def test_every_path_leads_to_captious(prefix: str, module: str) -> None:
    with redirected(prefix):
        imported = importlib.import_module(f"{prefix}.{module}")
        assert getattr(imported, NAMES[module]).__module__.startswith("captious.compat.pycocoevalcap.")
        assert imported is importlib.import_module(f"captious.compat.pycocoevalcap.{module}")
        assert imported.__spec__.name == f"captious.compat.pycocoevalcap.{module}"  # as it was


def test_a_function_with_the_name_of_its_module_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "functions_first" / "pycocoevalcap"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("from .bleu import bleu")
    (folder / "bleu.py").write_text("def bleu(): return 4")
    monkeypatch.syspath_prepend(tmp_path)
    before = importlib.import_module("functions_first.pycocoevalcap")
    with redirected("functions_first.pycocoevalcap"):
        assert importlib.import_module("functions_first.pycocoevalcap") is not before
    assert importlib.import_module("functions_first.pycocoevalcap") is before
    assert sys.modules["functions_first"].pycocoevalcap is before
    assert before.bleu() == 4


@pytest.mark.parametrize(
    ("folder", "file", "name"),
    [
        *(("bleu", "bleu", "Bleu"), ("cider", "cider", "Cider"), ("meteor", "meteor", "Meteor")),
        *(("rouge", "rouge", "Rouge"), ("spice", "spice", "Spice"), ("wmd", "wmd", "WMD")),
        ("tokenizer", "ptbtokenizer", "PTBTokenizer"),
    ],
)
def test_folders_have_their_class_as_in_forks(folder: str, file: str, name: str) -> None:
    with redirected():
        package = importlib.import_module(f"pycocoevalcap.{folder}")
        module = importlib.import_module(f"pycocoevalcap.{folder}.{file}")
        assert getattr(package, name) is getattr(module, name)
        assert getattr(package, file) is module  # from pycocoevalcap.rouge import rouge


@pytest.mark.parametrize(("module", "name"), [("bleu.bleu", "BleuScorer"), ("cider.cider", "CiderScorer")])
def test_modules_have_what_those_of_the_toolkit_import(module: str, name: str) -> None:
    with redirected():
        assert hasattr(importlib.import_module(f"pycocoevalcap.{module}"), name)


#: Those of the other toolkits.
OTHERS = [
    ("pyciderevalcap", "eval", "CIDErEvalCap"),
    ("pyciderevalcap", "cider.cider", "Cider"),
    ("pyciderevalcap", "cider.cider_scorer", "CiderScorer"),
    ("pyciderevalcap", "ciderD.ciderD", "CiderD"),
    ("pyciderevalcap", "ciderD.ciderD_scorer", "CiderScorer"),
    ("pyciderevalcap", "tokenizer.ptbtokenizer", "PTBTokenizer"),
    ("evaluation", "bleu", "Bleu"),
    ("evaluation", "bleu.bleu_scorer", "BleuScorer"),
    ("evaluation", "cider.cider", "Cider"),
    ("evaluation", "cider.cider_scorer", "CiderScorer"),
    ("evaluation", "meteor", "Meteor"),
    ("evaluation", "rouge.rouge", "Rouge"),
    ("evaluation", "tokenizer", "PTBTokenizer"),
]


@pytest.mark.parametrize(("toolkit", "module", "name"), OTHERS)
def test_modules_of_a_renamed_toolkit_are_redirected(toolkit: str, module: str, name: str) -> None:
    with redirected("their_metrics", toolkit=toolkit):
        imported = importlib.import_module(f"their_metrics.{module}")
        assert getattr(imported, name).__module__.startswith("captious.compat.")
    assert "their_metrics" not in installed()
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(f"their_metrics.{module}")


@pytest.mark.parametrize(
    "module",
    [
        "aac_metrics.classes.base",
        "aac_metrics.functional.mult_cands",
        "meshed_memory.cider.cider",
        "pyciderevalcap.cider.cider",
        "pyciderevalcap.ciderD.ciderD_scorer",
    ],
)
def test_modules_without_a_file_are_importable_by_their_own_name(module: str) -> None:
    if module.startswith("aac_metrics"):
        pytest.importorskip("torch")
    code = (
        f"import captious.compat.{module} as m; from importlib.util import find_spec; print(find_spec(m.__name__).name)"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == f"captious.compat.{module}"


def test_toolkit_under_another_name_is_redirected() -> None:
    install("metrics.captions", toolkit="evaluation")
    assert importlib.import_module("metrics.captions").PTBTokenizer.tokenize(["A dog."]) == {0: ["a dog"]}
    uninstall()
    with pytest.raises(ParameterError, match="'nltk' is not a toolkit"):
        install("metrics", toolkit="nltk")
    with pytest.raises(ParameterError, match="'a-b' is not a toolkit"):
        install("a-b", toolkit="evaluation")


@pytest.mark.parametrize("wrong", ["pycocoevalcap", "evaluation"])
def test_a_toolkit_without_the_module_that_is_imported_is_named(wrong: str) -> None:
    with redirected("rewards", toolkit=wrong):
        target = importlib.import_module("rewards").__name__
        with pytest.raises(ModuleNotFoundError, match=rf"'rewards\.ciderD': rewards is {target}, which has none"):
            importlib.import_module("rewards.ciderD.ciderD")


@pytest.mark.parametrize(("module", "file"), [("eval", "eval.py"), ("rouge.rouge", "__init__.py")])
def test_the_spec_says_where_a_module_is(module: str, file: str) -> None:
    install()
    spec = importlib.util.find_spec(f"pycocoevalcap.{module}")
    assert spec.name == f"pycocoevalcap.{module}"
    assert spec.origin.endswith(f"captious/compat/pycocoevalcap/{file}")
    assert importlib.util.find_spec("pycocoevalcap.nothing") is None
    with pytest.raises(ModuleNotFoundError, match=r"pycocoevalcap\.nothing"):
        importlib.import_module("pycocoevalcap.nothing")


def toolkit(folder: Path, package: str) -> None:
    """Put a toolkit of another origin on Python's path."""
    place = folder / package.replace(".", "/")
    (place / "cider").mkdir(parents=True)
    for parent in (place, place / "cider", *list(place.parents)[: package.count(".")]):
        (parent / "__init__.py").write_text("")
    (place / "cider" / "cider.py").write_text("class Cider:\n    pass\n")
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()


@pytest.mark.parametrize("package", ["pycocoevalcap", "own.pycocoevalcap"])
def test_modules_that_are_imported_are_replaced_and_come_back(package: str, tmp_path: Path) -> None:
    for name in [name for name in sys.modules if name.startswith("pycocoevalcap")]:
        del sys.modules[name]
    toolkit(tmp_path, package)
    before: ModuleType = importlib.import_module(f"{package}.cider.cider")
    install(package)
    replaced = importlib.import_module(f"{package}.cider.cider")
    assert replaced is not before
    assert replaced.Cider.__module__.startswith("captious.compat.pycocoevalcap.")
    uninstall(package)
    assert importlib.import_module(f"{package}.cider.cider") is before
    assert before.Cider.__module__ == f"{package}.cider.cider"


@pytest.mark.parametrize("imported_before", [True, False])
def test_imported_parent_package_provides_the_redirected_toolkit(imported_before: bool, tmp_path: Path) -> None:
    package = f"package_{imported_before}"
    toolkit(tmp_path, f"{package}.pycocoevalcap")
    parent = importlib.import_module(package)
    if imported_before:
        importlib.import_module(f"{package}.pycocoevalcap")

    def name_of_toolkit() -> str:
        names: dict[str, ModuleType] = {}
        exec(f"from {package} import pycocoevalcap", names)
        return names["pycocoevalcap"].__name__

    install(f"{package}.pycocoevalcap")
    assert name_of_toolkit() == "captious.compat.pycocoevalcap"
    uninstall()
    assert name_of_toolkit() == f"{package}.pycocoevalcap"
    assert parent is sys.modules[package]


def test_packages_above_a_toolkit_go_with_the_last_one_below_them() -> None:
    install("nowhere.one.pycocoevalcap")
    install("nowhere.two.pycocoevalcap")
    importlib.import_module("nowhere.one.pycocoevalcap.bleu")
    importlib.import_module("nowhere.two.pycocoevalcap")
    uninstall("nowhere.one.pycocoevalcap")
    with pytest.raises(ModuleNotFoundError, match=r"nowhere\.one"):
        importlib.import_module("nowhere.one.pycocoevalcap")
    assert "nowhere" in sys.modules
    uninstall()
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        importlib.import_module("nowhere")


def test_a_name_leads_to_one_toolkit_only() -> None:
    install("metrics", toolkit="evaluation")
    with pytest.raises(ParameterError, match=r"already leads to captious\.compat\.meshed_memory"):
        install("metrics", toolkit="pycocoevalcap")
    uninstall("metrics")
    install("metrics", toolkit="pycocoevalcap")
    assert importlib.import_module("metrics").__name__ == "captious.compat.pycocoevalcap"


def test_installing_twice_is_installing_once() -> None:
    before = [*sys.meta_path]
    install()
    once = [*sys.meta_path]
    assert installed() == ["pyciderevalcap", "pycocoevalcap"]
    install()
    with redirected():
        pass
    assert sys.meta_path == once
    uninstall()
    assert sys.meta_path == before


@pytest.mark.parametrize("prefix", ["", "evalcap", "pycocoevalcap.eval", "a..pycocoevalcap", "a-b.pycocoevalcap"])
def test_unknown_toolkits_are_refused(prefix: str) -> None:
    with pytest.raises(ParameterError, match="not a toolkit that captious replaces"):
        install(prefix)


def test_patches_are_visible_in_the_toolkit() -> None:
    install()
    module = importlib.import_module("pycocoevalcap.eval")
    again = importlib.import_module("captious.compat.pycocoevalcap.eval")
    assert module.COCOEvalCap is again.COCOEvalCap
    assert sys.modules["pycocoevalcap"].eval is again


GTS, RES = {1: ["a dog runs on a beach", "a dog"], 2: ["two men"]}, {1: ["a dog on the beach"], 2: ["two old men"]}


@pytest.mark.parametrize(
    ("module", "owner", "name"),
    [
        ("rouge.rouge", "", "my_lcs"),
        ("bleu.bleu_scorer", "", "precook"),
        ("cider.cider_scorer", "", "np"),
        ("meteor.meteor", "Meteor", "_stat"),
        ("cider.cider", "CiderScorer", "counts2vec"),
    ],
)
def test_a_name_that_nothing_uses_is_named(monkeypatch: pytest.MonkeyPatch, module: str, owner: str, name: str) -> None:
    install()
    replaced = importlib.import_module(f"pycocoevalcap.{module}")
    compute_score = importlib.import_module("pycocoevalcap.rouge.rouge").Rouge().compute_score
    label = ".".join(filter(None, [module, owner, name]))
    with pytest.warns(CaptiousWarning) as warned:  # noqa: PT031 - of modules when it is set, of classes when they score
        monkeypatch.setattr(getattr(replaced, owner) if owner else replaced, name, len, raising=False)
        compute_score(GTS, RES)
    assert f"sets pycocoevalcap.{label}, which captious does not use" in str(warned[0].message)
    assert any(event.get("name") == f"pycocoevalcap.{label}" for event in replacements())


def test_methods_of_scorers_that_another_toolkit_does_not_use_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meshed_memory.CiderScorer, "compute_cider", lambda self: [1.0])
    with pytest.warns(CaptiousWarning, match="sets meshed_memory.cider.cider_scorer.CiderScorer.compute_cider, "):
        meshed_memory.Cider().compute_score(GTS, RES)


def test_punctuation_that_a_program_adds_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    install()
    module = importlib.import_module("pycocoevalcap.tokenizer.ptbtokenizer")
    before = [*module.PUNCTUATIONS]
    module.PUNCTUATIONS += ["a"]
    try:
        with pytest.warns(CaptiousWarning, match="sets pycocoevalcap.tokenizer.ptbtokenizer.PUNCTUATIONS"):
            module.PTBTokenizer().tokenize({1: [{"caption": "a dog"}]})
    finally:
        module.PUNCTUATIONS[:] = before


def test_methods_that_a_program_replaces_run(monkeypatch: pytest.MonkeyPatch) -> None:
    install()
    bleu, rouge, cider = (
        importlib.import_module(f"pycocoevalcap.{name}") for name in ("bleu.bleu", "rouge.rouge", "cider.cider")
    )
    plain = bleu.Bleu().compute_score(GTS, RES, verbose=0)[0][0]
    monkeypatch.setattr(bleu.BleuScorer, "_single_reflen", lambda self, lengths, option=None, length=None: 100)
    monkeypatch.setattr(cider.CiderScorer, "compute_cider", lambda self: [0.25, 0.75])
    monkeypatch.setattr(rouge.Rouge, "calc_score", lambda self, candidate, references: 0.5)
    assert bleu.Bleu().compute_score(GTS, RES, verbose=0)[0][0] < plain / 2
    assert [*cider.Cider().compute_score(GTS, RES)[1]] == [0.25, 0.75]
    monkeypatch.setattr(pyciderevalcap.CiderDScorer, "compute_cider", lambda self: [0.5])
    assert pyciderevalcap.CiderD().compute_score(GTS, [{"image_id": 1, "caption": ["a dog"]}])[0] == 0.5
    assert [*rouge.Rouge().compute_score(GTS, RES)[1]] == [0.5, 0.5]


def test_scorers_pickle() -> None:
    install()
    scorer = importlib.import_module("pycocoevalcap.cider.cider").Cider()
    uninstall()
    assert type(pickle.loads(pickle.dumps(scorer))) is type(scorer)


def test_meteor_finds_the_tables_of_the_installed_toolkit() -> None:
    pytest.importorskip("pycocoevalcap")
    install()
    meteor = importlib.import_module("pycocoevalcap.meteor.meteor").Meteor()
    score, _ = meteor.compute_score({1: ["a dog runs"]}, {1: ["a dog runs"]})
    assert score == pytest.approx(1.0)
