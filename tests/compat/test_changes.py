"""A changed copy of the toolkit scores like the changed files, whether captious computes it or not."""

from __future__ import annotations

import builtins
import functools
import importlib
import importlib.util
import itertools
import math
import sys
from collections.abc import Mapping
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np
import pytest

from captious.compat import hook, replacements
from tests.compat.copies import CLASSES, copy_toolkit
from tests.support.tables import tables

pytestmark = pytest.mark.usefixtures("replaced_copies")

TABLES = tables(__file__)
_numbers = itertools.count()

#: Captions by what they show: image -> (candidate, references).
CAPTIONS: dict[str, dict[object, tuple[str, list[str]]]] = {
    "one image": {3: ("a man rides a horse", ["a man riding a horse", "a person on a brown horse"])},
    "one image of one reference": {"x": ("a dog", ["a dog runs in the park"])},
    "many": {
        7: ("a man riding a horse", ["a man rides a brown horse on the beach", "a person is riding a horse"]),
        3: ("two dogs play in the park", ["two dogs play in the green park", "dogs in a park"]),
        12: ("a a a red car on on the street", ["a red bus is parked on the street", "a bus  waits"]),
        5: ("a plate of rice and rice", ["a plate of food with rice and rice and beans"]),
        9: ("white cat", ["the white Cat sleeps", "the cat is sleeping on a sofa with a blanket near the window"]),
        2: ("dog dog dog", ["a big dog runs through a dog park", "dog"]),
        8: ("a boat on a lake", [f"a boat on lake {n}" for n in range(9)] + ["a boat on a lake"]),
        4: ("", ["a group of people at a table"]),
        10: ("people", [""]),
        11: ("a b c " * 100, ["c b a " * 90, "a b c d"]),
        13: ("犬 が 公園 を 走る", ["犬 が 走っ て いる", "公園 の 犬"]),
        14: ("двое мужчин играют", ["двое играют на гитаре"]),
        15: ("一个男人在骑马", ["一个人骑着马", "男人 骑马"]),
        16: ("<sos> a dog runs <eos> <pad> <pad>", ["<sos> a dog is running <eos>", "a <unk> dog"]),
        17: ("2 dogs and 13 cats in 1999", ["two dogs and 13 cats", "2 dogs in 2001"]),
        18: ("a - dog , with ; stops .", ["a dog - with stops", ", . ;"]),
        1: ("a man in a hat and a man in a coat", ["a man in a hat", "a man in a coat"]),
    },
    "no words": {1: ("a dog", [""]), 2: ("", ["", " "])},
    "ids of several types": {1: ("a dog", ["a dog runs"]), "b": ("two men", ["two men play"])},
    "candidates in another order": {"b": ("a dog runs", ["a dog runs"]), "a": ("two men", ["two men play guitar"])},
}


def module_of(path: str) -> str:
    """Return the module of the class that programs import, for a file of the toolkit."""
    return path.removesuffix(".py").replace("/", ".").removesuffix("_scorer")


def loaded(folder: Path, path: str, changes: Mapping[str, tuple[str, str]]) -> tuple[ModuleType, ModuleType]:
    """Return the module of a changed class, loaded with captious and without."""
    modules = []
    for look in (hook._look_at, lambda module, replace: None):
        package = f"copy_{next(_numbers)}"
        copy_toolkit(folder / package, changes)
        with mock.patch.object(hook, "_look_at", look):
            modules.append(importlib.import_module(f"{package}.{module_of(path)}"))
    return modules[0], modules[1]


def scores(cls: Any, captions: Mapping[Any, tuple[str, list[str]]]) -> Any:
    """Return scores, or the type of the error instead of them."""
    gts = {image: references for image, (_, references) in captions.items()}
    res = {image: [candidate] for image, (candidate, _) in reversed(captions.items())}
    try:
        return cls().compute_score(gts, res)
    except Exception as error:
        return type(error)


def assert_equal_scores(ours: Any, theirs: Any) -> None:
    for name, captions in CAPTIONS.items():
        mine, their = scores(ours, captions), scores(theirs, captions)
        if isinstance(their, type) or isinstance(mine, type):
            assert mine is their, name
            continue
        for one, other in zip(mine, their, strict=True):
            assert type(one) is type(other), name
            assert np.allclose(one, other, rtol=1e-12, atol=1e-12, equal_nan=True), name


def is_replaced(module: ModuleType, name: str) -> bool:
    events = [each for each in replacements() if (each.get("module"), each.get("name")) == (module.__name__, name)]
    return bool(events) and events[-1]["event"] == "replaced"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("path", "old", "new", "what"), TABLES["changes"])
def test_one_line_changes(path: str, old: str, new: str, what: str, tmp_path: Path) -> None:
    ours, theirs = loaded(tmp_path, path, {path: (old, new)})
    name = CLASSES[module_of(path)]
    assert is_replaced(ours, name) == (what == "replaced")
    assert_equal_scores(getattr(ours, name), getattr(theirs, name))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("module", ["bleu.bleu", "cider.cider", "rouge.rouge"])
def test_unchanged_copies(module: str, tmp_path: Path) -> None:
    ours, theirs = loaded(tmp_path, module, {})
    assert is_replaced(ours, CLASSES[module])
    assert_equal_scores(getattr(ours, CLASSES[module]), getattr(theirs, CLASSES[module]))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("path", "code"), TABLES["patches"])
def test_what_a_program_changes_later_counts(path: str, code: str, tmp_path: Path) -> None:
    name, results = CLASSES[module_of(path)], []
    for module in loaded(tmp_path, path, {}):
        scorers = sys.modules.get(f"{module.__name__}_scorer")
        cls = getattr(module, name)
        before = [repr(scores(cls, captions)) for captions in CAPTIONS.values()]
        exec(code, {"module": module, "cls": cls, "scorers": scorers})
        results.append(cls)
        assert [repr(scores(cls, captions)) for captions in CAPTIONS.values()] != before
    assert_equal_scores(*results)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("path", "owner", "name", "value"),
    [
        ("rouge/rouge.py", np, "mean", np.median),
        ("rouge/rouge.py", np, "mean", functools.partial(np.median)),
        ("rouge/rouge.py", builtins, "max", min),
        ("cider/cider.py", np, "e", 2.0),
        ("bleu/bleu.py", math, "exp", math.cosh),
    ],
)
def test_what_a_program_has_changed_in_libraries_before_counts(
    path: str, owner: Any, name: str, value: object, tmp_path: Path
) -> None:
    with mock.patch.object(owner, name, value):
        ours, _ = loaded(tmp_path, path, {})
    assert not is_replaced(ours, CLASSES[module_of(path)])


@pytest.mark.parametrize("way", ["edited", "translated"])
def test_what_runs_counts_and_not_what_the_file_says(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = loaded(tmp_path, "cider/cider.py", {})
    scorer = sys.modules[f"{ours.__name__}_scorer"]
    assert is_replaced(ours, "Cider")
    if way == "edited":
        file = Path(str(scorer.__file__))
        file.write_text(file.read_text().replace("score_avg *= 10.0", "score_avg *= 5.00"))
    else:
        compiled = SourceFileLoader.source_to_code

        def translated(loader: Any, data: bytes, *place: Any, **options: Any) -> Any:
            return compiled(loader, data.replace(b"score_avg *= 10.0", b"score_avg *= 5.00"), *place, **options)

        monkeypatch.setattr(SourceFileLoader, "source_to_code", translated)
    Path(importlib.util.cache_from_source(str(scorer.__file__))).unlink(missing_ok=True)
    importlib.reload(scorer)
    importlib.reload(ours)
    assert not is_replaced(ours, "Cider")
    captions = CAPTIONS["many"]
    assert scores(ours.Cider, captions)[0] == pytest.approx(scores(theirs.Cider, captions)[0] / 2, abs=1e-12)


def test_a_copy_that_prints_nothing_prints_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change = ('            print(totalcomps)\n            print("ratio:", ratio)\n', "            pass\n")
    ours, _ = loaded(tmp_path, "bleu/bleu.py", {"bleu/bleu_scorer.py": change})
    assert is_replaced(ours, "Bleu")
    scores(ours.Bleu, CAPTIONS["many"])
    assert not capsys.readouterr().out
