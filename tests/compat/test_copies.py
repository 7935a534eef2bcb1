"""Copies of a toolkit under any name: recognized by their source, computed by captious class by class, and reported."""

from __future__ import annotations

import importlib
import json
import os
import pickle
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
import captious.compat
from captious.compat import pyciderevalcap, pycocoevalcap, replacement_log
from tests.compat.conftest import BLEU, CORPUS_METEOR, GTS, MEAN_CIDER, RES, FakeCoco
from tests.compat.copies import (
    AUTHORS,
    CLASSES,
    MESHED_MEMORY,
    copy_toolkit,
    imported,
    is_replaced,
    known_shapes,
    ours,
    what_became_of,
    write,
)

pytestmark = pytest.mark.usefixtures("replaced_copies")

#: The classes that programs use; their scorers belong to them.
USED = [module for module in CLASSES if not module.endswith("_scorer")]


@pytest.mark.parametrize("package", ["evalcap", "utils.capeval", "datasets_.caption.metrics"])
def test_classes_of_a_copy_are_computed_and_stay_its_own(package: str, tmp_path: Path) -> None:
    copy_toolkit(tmp_path / package.replace(".", "/"))
    for module in USED:
        assert is_replaced(f"{package}.{module}")
        copied = imported(f"{package}.{module}", CLASSES[module])
        assert copied.__module__ == f"{package}.{module}"
        assert copied.__mro__ == (copied, object)


def test_copy_with_all_files_in_one_folder_is_computed(tmp_path: Path) -> None:
    copy_toolkit(tmp_path / "metrics", flat=True)
    assert all(is_replaced(f"metrics.{module.partition('.')[2]}") for module in USED)


def test_scores_are_those_of_captious(tmp_path: Path) -> None:
    copy_toolkit(tmp_path / "evalcap")
    for module in ("bleu.bleu", "cider.cider", "rouge.rouge"):
        score, scores = imported(f"evalcap.{module}", CLASSES[module])().compute_score(GTS, RES)
        expected, per_image = ours(module)().compute_score(GTS, RES)
        assert np.array_equal(score, expected)
        assert np.array_equal(scores, per_image)


def test_other_parts_of_a_copy_are_kept(tmp_path: Path) -> None:
    left_out = {
        "eval.py": ('(Rouge(), "ROUGE_L"),', ""),
        "rouge/rouge.py": ("def method(self", "def own(self"),
    }
    copy_toolkit(tmp_path / "evalcap", left_out)
    evaluation = imported("evalcap.eval", "COCOEvalCap")(FakeCoco(GTS), FakeCoco(RES))
    evaluation.params["image_id"] = [*GTS]
    evaluation.evaluate()
    assert [evaluation.eval[f"Bleu_{n}"] for n in (1, 2, 3, 4)] == pytest.approx(BLEU, abs=1e-12)
    assert evaluation.eval["CIDEr"] == pytest.approx(MEAN_CIDER, abs=1e-12)
    assert evaluation.eval["METEOR"] == pytest.approx(CORPUS_METEOR, abs=1e-12)
    assert "ROUGE_L" not in evaluation.eval  # names that a copy lacks are not added
    assert imported("evalcap.rouge.rouge", "Rouge")().own() == "Rouge"
    assert imported("evalcap.rouge.rouge", "my_lcs")("ab", "ab") == 2


SPECIAL = """
    def __str__(self):
        return "ROUGE"

    def __call__(self, gts, res):
        return self.compute_score(gts, res)[0]

    @property
    def weight(self):
        return self.beta

    def method(self"""


def test_special_methods_attributes_and_objects_are_the_copy_s_own(tmp_path: Path) -> None:
    copy_toolkit(tmp_path / "evalcap", {"rouge/rouge.py": ("    def method(self", SPECIAL)})
    cls = imported("evalcap.rouge.rouge", "Rouge")
    assert is_replaced("evalcap.rouge.rouge")
    metric = cls()
    assert {str(metric): 1} == {"ROUGE": 1}
    assert metric(GTS, RES) == pycocoevalcap.Rouge().compute_score(GTS, RES)[0]
    metric.beta = 3.0
    assert metric.weight == 3.0
    again = pickle.loads(pickle.dumps(metric))
    assert type(again) is cls
    expected = pycocoevalcap.Rouge()
    expected.beta = 3.0
    assert again(GTS, RES) == expected.compute_score(GTS, RES)[0]


def test_subclasses_and_objects_with_methods_of_their_own(tmp_path: Path) -> None:
    copy_toolkit(tmp_path / "evalcap")
    cls: Any = imported("evalcap.rouge.rouge", "Rouge")

    class Own(cls):  # type: ignore[misc]
        def calc_score(self, candidate: list[str], refs: list[str]) -> float:
            return 0.25

    class Same(cls):  # type: ignore[misc]
        pass

    assert Own().compute_score(GTS, RES)[0] == 0.25
    assert Same().compute_score(GTS, RES)[0] == pycocoevalcap.Rouge().compute_score(GTS, RES)[0]
    metric = cls()
    metric.calc_score = lambda candidate, refs: 0.5
    assert metric.compute_score(GTS, RES)[0] == 0.5
    assert what_became_of("evalcap.rouge.rouge", "Rouge")[0] == "replaced"


def test_a_later_change_is_reported(tmp_path: Path) -> None:
    copy_toolkit(tmp_path / "evalcap")
    cls = imported("evalcap.rouge.rouge", "Rouge")
    vars(sys.modules[cls.__module__])["my_lcs"] = lambda string, sub: 0
    assert cls().compute_score(GTS, RES)[0] == 0
    assert what_became_of("evalcap.rouge.rouge", "Rouge") == ("kept", "the program has changed my_lcs")


#: What constructors of copies do.
CONSTRUCTORS = {
    "exits": "import sys; sys.exit('in a constructor')",
    "writes": "import pathlib; pathlib.Path(__file__).with_name('written').touch()",
    "draws": "import random, numpy; random.random(); numpy.random.rand()",
    "is slow": "import time; time.sleep(60)",
    "starts": "import subprocess; subprocess.run('java')",
}


@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_no_class_of_the_program_is_constructed_or_called(name: str, tmp_path: Path) -> None:
    places = {
        "bleu/bleu.py": "# default compute",
        "cider/cider.py": "# set cider",
        "rouge/rouge.py": "# vrama91: updated",
        "meteor/meteor.py": "self.meteor_cmd = [",
        "spice/spice.py": "get_stanford_models()\n",
        "tokenizer/ptbtokenizer.py": "cmd = [",
        "bleu/bleu_scorer.py": "''' singular instance '''",
        "cider/cider_scorer.py": "''' singular instance '''",
    }
    package = f"copy_that_{name.replace(' ', '_')}"
    changes = {path: (place, f"{CONSTRUCTORS[name]}\n        {place}") for path, place in places.items()}
    copy_toolkit(tmp_path / package, changes)
    state, seconds = (random.getstate(), str(np.random.get_state())), time.monotonic()
    for module in CLASSES:
        importlib.import_module(f"{package}.{module}")
    assert (random.getstate(), str(np.random.get_state())) == state
    assert time.monotonic() - seconds < 30
    assert not [*tmp_path.rglob("written")]


def test_a_file_runs_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNS", "")
    count = "import os\nos.environ['RUNS'] += 'x'\nimport numpy as np"
    copy_toolkit(tmp_path / "evalcap", {"rouge/rouge.py": ("import numpy as np", count)})
    assert is_replaced("evalcap.rouge.rouge")
    assert os.environ["RUNS"] == "x"


def test_arguments_and_defaults_are_the_copy_s_own(tmp_path: Path) -> None:
    changes = {
        "spice/spice.py": ("def __init__(self):", "def __init__(self, get_stanford_models_path=None):"),
        "cider/cider.py": ("sigma=6.0", "sigma=4.0"),
    }
    copy_toolkit(tmp_path / "evalcap", changes)
    imported("evalcap.spice.spice", "Spice")(get_stanford_models_path="get.sh")
    scores = imported("evalcap.cider.cider", "Cider")().compute_score(GTS, RES)[1]
    assert np.array_equal(scores, pycocoevalcap.Cider(sigma=4.0).compute_score(GTS, RES)[1])


def test_captions_that_are_not_plain_are_left_to_the_copy(tmp_path: Path) -> None:
    copy_toolkit(tmp_path / "evalcap", {"bleu/bleu.py": ("            assert(len(hypo) == 1)\n", "")})
    bleu = imported("evalcap.bleu.bleu", "Bleu")()
    two = {image: [*texts, "another"] for image, texts in RES.items()}
    assert is_replaced("evalcap.bleu.bleu")
    of_copy, of_captious = bleu.compute_score(GTS, two), bleu.compute_score(GTS, RES)
    for found, expected in zip(of_copy, of_captious, strict=True):  # the first counts
        assert np.array(found) == pytest.approx(np.array(expected), rel=1e-12)
    rouge = imported("evalcap.rouge.rouge", "Rouge")()
    with pytest.raises(AssertionError) as error:
        rouge.compute_score(GTS, two)
    assert type(error.value) is AssertionError  # its own


def test_copy_of_pyciderevalcap_is_computed(tmp_path: Path) -> None:
    write(tmp_path / "scorers", AUTHORS)
    with known_shapes():
        cls = imported("scorers.ciderD.ciderD", "CiderD")
    assert what_became_of("scorers.ciderD.ciderD", "CiderD")[0] == "replaced"
    res = [{"image_id": image, "caption": texts} for image, texts in RES.items()]
    score, scores = cls().compute_score(GTS, res)
    expected, of_candidates = vars(pyciderevalcap)["CiderD"]().compute_score(GTS, res)
    assert np.array_equal(scores, of_candidates)
    assert score == expected
    assert scores == pytest.approx(cls.compute_score.__wrapped__(cls(), GTS, res)[1], abs=1e-12)


def test_copy_of_meshed_memory_evaluation_is_computed(tmp_path: Path) -> None:
    write(tmp_path / "their_evaluation", MESHED_MEMORY)
    with known_shapes():
        evaluation = importlib.import_module("their_evaluation")
    assert what_became_of("their_evaluation.cider.cider", "Cider")[0] == "replaced"
    assert what_became_of("their_evaluation.tokenizer", "PTBTokenizer")[0] == "java"
    references = [["A dog runs in the park.", "A dog is running."], ["Two men play guitar."]]
    tokenized = evaluation.PTBTokenizer.tokenize(references)
    generated = evaluation.PTBTokenizer.tokenize(["a dog runs", "two men"])
    metric = evaluation.Cider(tokenized)
    scores = {str(metric): metric.compute_score(tokenized, generated)[1]}
    assert scores["CIDEr"].round(4).tolist() == [3.2443, 3.0376]  # as in the documentation


_DIFFERS = "differs from the toolkit in line"
#: Changes of a copy: path, text, what it is replaced by, and the reason that is given.
CHANGES = [
    ("cider/cider.py", "gts, res):", "gts, res, ids):", f"Cider.compute_score {_DIFFERS} 24 of cider.py"),
    (
        "cider/cider.py",
        "return score, scores",
        "return score * 100, scores",
        f"Cider.compute_score {_DIFFERS} 51 of cider.py: return score * 100, scores",
    ),
    (
        "cider/cider_scorer.py",
        "score_avg *= 10.0",
        "score_avg *= 100.0",
        f"CiderScorer.compute_cider {_DIFFERS} 178 of cider_scorer.py: score_avg *= 100.0",
    ),
    (
        "rouge/rouge.py",
        "lengths[i-1][j-1] + 1",
        "lengths[i][j-1] + 1",
        f"my_lcs {_DIFFERS} 30 of rouge.py: lengths[i][j] = lengths[i][j-1] + 1",
    ),
    ("bleu/bleu.py", "class Bleu:", "BleuScorer.cook_append = len\nclass Bleu:", "cook_append is not a known method"),
    ("rouge/rouge.py", "import pdb", "float = int", f"Rouge.calc_score {_DIFFERS}"),
    ("rouge/rouge.py", "class Rouge", "max = min\nclass Rouge", f"Rouge.calc_score {_DIFFERS}"),
    ("meteor/meteor.py", "'en'", "'de'", "it runs java -jar -Xmx2G meteor-1.5.jar - - -stdio -l de -norm in line 18"),
    ("meteor/meteor.py", "'-norm'", "'-norm', '-m', 'exact'", "-norm -m exact"),
    ("meteor/meteor.py", "meteor-1.5.jar", "meteor-1.4.jar", "meteor-1.4.jar"),
    ("spice/spice.py", "'-subset',", "'-noSynsets',", "-noSynsets"),
    ("tokenizer/ptbtokenizer.py", ", '-lowerCase'", "", "it runs java"),
    ("tokenizer/ptbtokenizer.py", "'-lowerCase'", "'-lowerCase', '-options', 'americanize=false'", "-options"),
    ("tokenizer/ptbtokenizer.py", "'-preserveLines', ", "", "it runs java"),
    ("tokenizer/ptbtokenizer.py", "corenlp-3.4.1", "corenlp-4.5.0", "corenlp-4.5.0"),
]


@pytest.mark.parametrize(("path", "old", "new", "reason"), CHANGES)
def test_a_class_that_differs_stays_and_is_named(path: str, old: str, new: str, reason: str, tmp_path: Path) -> None:
    package = f"own_{tmp_path.name.replace('-', '_')}"
    copy_toolkit(tmp_path / package, {path: (old, new)})
    user = path.removesuffix(".py").replace("/", ".").removesuffix("_scorer")  # the class that programs import
    imported(f"{package}.{user}", CLASSES[user])
    event, given = what_became_of(f"{package}.{user}", CLASSES[user])
    assert event == "kept"
    assert reason in given


def test_a_tokenizer_with_its_own_punctuation_needs_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    copy_toolkit(tmp_path / "own_marks", {"tokenizer/ptbtokenizer.py": ('"?", "!", ', "")})
    tokenize = imported("own_marks.tokenizer.ptbtokenizer", "PTBTokenizer")().tokenize
    assert is_replaced("own_marks.tokenizer.ptbtokenizer")
    assert tokenize({1: [{"caption": "Is it -- a \u201cdog\u201d?"}]}) == {1: ["is it a dog ?"]}


def test_what_needs_java_is_said_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    copy_toolkit(tmp_path / "german", {"meteor/meteor.py": ("'en'", "'de'")})
    importlib.import_module("german.meteor.meteor")
    assert "german.meteor.meteor.Meteor needs Java, which this machine does not have" in capsys.readouterr().err


def test_unrelated_files_with_toolkit_names_are_kept(tmp_path: Path) -> None:
    source = "class Rouge:\n    def compute_score(self, gts, res):\n        return 0.0, []\n"
    write(tmp_path / "other", {"bleu.py": "class Bleu:\n    def score(self):\n        return 1\n", "rouge.py": source})
    assert imported("other.bleu", "Bleu")().score() == 1
    assert imported("other.rouge", "Rouge")().compute_score({}, {}) == (0.0, [])
    assert what_became_of("other.rouge", "Rouge") == ("", "")


def test_a_copy_under_the_toolkit_s_own_name_keeps_its_own_files(tmp_path: Path) -> None:
    copy_toolkit(tmp_path / "pycocoevalcap")
    (tmp_path / "pycocoevalcap" / "__init__.py").touch()
    (tmp_path / "pycocoevalcap" / "own.py").write_text("VALUE = 3")
    assert imported("pycocoevalcap.own", "VALUE") == 3
    assert is_replaced("pycocoevalcap.cider.cider")
    assert imported("pycocoevalcap.eval", "COCOEvalCap") is not pycocoevalcap.COCOEvalCap


def test_files_of_python_2_under_the_toolkit_s_own_name_are_replaced(tmp_path: Path) -> None:
    write(tmp_path / "pycocoevalcap", {"eval.py": "print 'setting up scorers...'"})
    assert imported("pycocoevalcap.eval", "COCOEvalCap") is pycocoevalcap.COCOEvalCap


def test_copies_that_were_imported_before_are_computed_and_come_back(tmp_path: Path) -> None:
    copy_toolkit(tmp_path / "evalcap")
    captious.compat.uninstall()
    cls = imported("evalcap.rouge.rouge", "Rouge")
    before = cls.compute_score
    captious.compat.install()
    assert cls.compute_score is not before
    captious.compat.uninstall()
    assert cls.compute_score is before


def test_a_notebook_loads_captious_as_an_extension(tmp_path: Path) -> None:
    copy_toolkit(tmp_path / "evalcap")
    captious.compat.uninstall()
    captious.load_ipython_extension(None)
    try:
        assert is_replaced("evalcap.cider.cider")
    finally:
        captious.unload_ipython_extension(None)
    assert not [finder for finder in sys.meta_path if type(finder).__module__.startswith("captious")]


# ---- captious run


PROGRAM = f"""
from PACKAGE.cider.cider import Cider
print(float(Cider().compute_score({GTS!r}, {RES!r})[0]))
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "captious", "run", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A folder with a program and its copy of the toolkit."""
    copy_toolkit(tmp_path / "utils" / "capeval")
    (tmp_path / "evaluate.py").write_text(PROGRAM.replace("PACKAGE", "utils.capeval"))
    return tmp_path


CIDER = float(pycocoevalcap.Cider().compute_score(GTS, RES)[0])
LINE = "captious run: utils.capeval.cider.cider.Cider is computed by captious.compat.pycocoevalcap.cider.cider.Cider"


def test_replacements_are_reported_at_the_end_and_logged(program: Path) -> None:
    done = run(program, "--log", "log.json", "evaluate.py")
    assert float(done.stdout) == CIDER
    assert LINE in done.stderr.splitlines()
    log = json.loads((program / "log.json").read_text())
    assert log["status"] == 0
    assert {event["name"] for event in log["events"] if event["event"] == "replaced"} == {"Cider"}
    assert [f"captious run: {line}" for line in log["summary"]] == done.stderr.splitlines()


def test_kept_classes_are_reported(program: Path) -> None:
    scorer = program / "utils" / "capeval" / "cider" / "cider.py"
    scorer.write_text(scorer.read_text().replace("gts, res):", "gts, res, ids=None):"))
    done = run(program, "--replace", "metric=evaluation", "evaluate.py")
    lines = done.stderr.splitlines()
    assert (
        "captious run: warning: utils.capeval.cider.cider.Cider is not replaced: Cider.compute_score differs from the "
        "toolkit in line 24 of cider.py: def compute_score(self, gts, res, ids=None): "
        f"({scorer}; captious run --replace utils.capeval=pycocoevalcap replaces all of it)"
    ) in lines
    assert LINE not in lines
    assert "captious run: warning: metric was never imported, so it was not replaced" in lines


@pytest.mark.parametrize(
    ("package", "files", "module", "path", "option"),
    [
        ("old.pyciderevalcap", AUTHORS, "ciderD.ciderD", "ciderD/ciderD_scorer.py", "old.pyciderevalcap"),
        ("misc.cidereval", AUTHORS, "ciderD.ciderD", "ciderD/ciderD.py", "misc.cidereval=pyciderevalcap"),
        ("misc.metrics", MESHED_MEMORY, "cider.cider", "cider/cider_scorer.py", "misc.metrics=evaluation"),
    ],
)
def test_the_report_says_how_to_replace_all_of_the_toolkit(
    package: str, files: dict[str, str], module: str, path: str, option: str, tmp_path: Path
) -> None:
    changed = files[path].replace("return ", "return 1 and ")
    write(tmp_path / package.replace(".", "/"), {**files, path: changed})
    with known_shapes():
        importlib.import_module(f"{package}.{module}")
    (line,) = (
        line for line in replacement_log.summary(captious.compat.replacements()) if f"{package}.{module}" in line
    )
    assert line.endswith(f"; captious run --replace {option} replaces all of it)")
    name, _, toolkit = option.partition("=")
    captious.compat.install(name, toolkit=toolkit or None)
    assert importlib.import_module(f"{package}.{module}").__name__.startswith("captious.")


@pytest.mark.parametrize("command", [("evaluate.sh",), ("--", "bash", "evaluate.sh"), ("./evaluate",)])
def test_shell_scripts_and_commands_are_run(command: tuple[str, ...], program: Path) -> None:
    script = f"{sys.executable} evaluate.py\nexit 5\n"
    (program / "evaluate.sh").write_text(script)
    (program / "evaluate").write_text(f"#!/bin/sh\n{script}")
    (program / "evaluate").chmod(0o755)
    done = run(program, *command)
    assert (float(done.stdout), done.returncode) == (CIDER, 5)
    assert LINE in done.stderr.splitlines()


def test_events_tell_the_programs_of_a_shell_script_apart(program: Path) -> None:
    copy_toolkit(program / "metrics", {"cider/cider.py": ("return score, scores", "return score * 100, scores")})
    (program / "other.py").write_text(PROGRAM.replace("PACKAGE", "metrics"))
    (program / "again.py").write_text(PROGRAM.replace("PACKAGE", "utils.capeval"))
    lines = [f"{sys.executable} {name}" for name in ("evaluate.py --split 'val 2014'", "other.py", "again.py")]
    (program / "evaluate.sh").write_text("\n".join(lines))
    done = run(program, "--log", "log.json", "evaluate.sh")
    assert [float(line) for line in done.stdout.split()] == pytest.approx([CIDER, CIDER * 100, CIDER], rel=1e-12)
    assert done.stderr.splitlines().count(LINE) == 1  # two programs, one line
    log = json.loads((program / "log.json").read_text())
    assert log["program"] == ["bash", "./evaluate.sh"]
    events = [(event["program"], event["event"], event.get("name")) for event in log["events"]]
    assert [entry for entry in events if entry[1] == "started" or entry[2] == "Cider"] == [
        ("evaluate.py --split 'val 2014'", "started", None),
        ("evaluate.py --split 'val 2014'", "replaced", "Cider"),
        ("other.py", "started", None),
        ("other.py", "kept", "Cider"),
        ("again.py", "started", None),
        ("again.py", "replaced", "Cider"),
    ]
    assert len({(event["process"], event["program"]) for event in log["events"]}) == 3


def test_events_of_pools_are_those_of_each_process(program: Path) -> None:
    (program / "evaluate.py").write_text(
        "import multiprocessing, os\n"
        "def score(image):\n"
        "    from utils.capeval.cider.cider import Cider\n"
        "    return os.getpid()\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('fork').Pool(2) as pool:\n"
        "        print(os.getpid(), *pool.map(score, range(64), 1))\n"
    )
    done = run(program, "--log", "log.json", "evaluate.py")
    own, *workers = map(int, done.stdout.split())
    log = json.loads((program / "log.json").read_text())
    assert [event["process"] for event in log["events"] if event["event"] == "started"] == [own]
    assert {event["process"] for event in log["events"] if event["event"] == "replaced"} == {*workers}
    assert done.stderr.splitlines().count(LINE) == 1


def test_environment_replaces_copies_in_other_programs(program: Path) -> None:
    lines = run(program, "--environment").stdout
    command = ["sh", "-c", f"{lines}\n{sys.executable} evaluate.py"]
    done = subprocess.run(command, cwd=program, capture_output=True, text=True)
    assert float(done.stdout) == CIDER
    assert LINE.replace("captious run", "captious") in done.stderr.splitlines()


def test_a_program_without_python_is_named(program: Path) -> None:
    assert "no Python reported what it imports" in run(program, "true").stderr
    done = run(program, "no-such-command")
    assert done.returncode == 2
    assert "there is no program and no command" in done.stderr


def test_signal_of_the_program_becomes_the_exit_status(program: Path) -> None:
    (program / "evaluate.py").write_text("import os, signal; os.kill(os.getpid(), signal.SIGTERM)")
    assert run(program, "evaluate.py").returncode == 128 + 15


def test_whole_toolkits_are_replaced_on_request(program: Path) -> None:
    (program / "utils" / "capeval").rename(program / "pycocoevalcap")
    (program / "pycocoevalcap" / "__init__.py").touch()
    (program / "evaluate.py").write_text("from pycocoevalcap.eval import COCOEvalCap; print(COCOEvalCap.__module__)")
    assert run(program, "evaluate.py").stdout == "pycocoevalcap.eval\n"
    assert run(program, "--whole", "evaluate.py").stdout == "captious.compat.pycocoevalcap.eval\n"


def test_copies_of_other_names_stay_with_whole(program: Path) -> None:
    done = run(program, "--whole", "evaluate.py")
    assert "no copy" not in done.stderr
    assert done.stderr.endswith("captious run without --whole replaces copies of other names, too\n")
