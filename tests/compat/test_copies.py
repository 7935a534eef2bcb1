"""Copies of a toolkit under any name: recognized by their files, tried out, replaced class by class, and reported."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import captious
import captious.compat
from captious.compat import meshed_memory, pyciderevalcap, pycocoevalcap
from tests.compat.conftest import BLEU, CORPUS_METEOR, GTS, MEAN_CIDER, RES, FakeCoco
from tests.compat.copies import AUTHORS, CLASSES, MESHED_MEMORY, copy_toolkit, imported, ours, write

pytestmark = pytest.mark.usefixtures("replaced_copies")


@pytest.mark.parametrize("package", ["evalcap", "utils.capeval", "datasets_.caption.metrics"])
def test_classes_of_a_copy_are_those_of_captious(package: str, tmp_path: Path) -> None:
    copy_toolkit(tmp_path / package.replace(".", "/"))
    for module, name in CLASSES.items():
        copied = imported(f"{package}.{module}", name)
        assert issubclass(copied, ours(module))
        assert copied.__module__ == f"{package}.{module}"


def test_copy_with_all_files_in_one_folder_is_replaced(tmp_path: Path) -> None:
    copy_toolkit(tmp_path / "metrics", flat=True)
    for module, name in CLASSES.items():
        assert issubclass(imported(f"metrics.{module.partition('.')[2]}", name), ours(module))


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


def test_arguments_about_files_are_accepted_and_defaults_kept(tmp_path: Path) -> None:
    changes = {
        "spice/spice.py": ("def __init__(self):", "def __init__(self, get_stanford_models_path=None):"),
        "meteor/meteor.py": ("METEOR_JAR = '", "METEOR_JAR = '/opt/jars/"),
        "cider/cider.py": ("sigma=6.0", "sigma=4.0"),
    }
    copy_toolkit(tmp_path / "evalcap", changes)
    imported("evalcap.spice.spice", "Spice")(get_stanford_models_path="get.sh")
    assert issubclass(imported("evalcap.meteor.meteor", "Meteor"), pycocoevalcap.Meteor)
    scores = imported("evalcap.cider.cider", "Cider")().compute_score(GTS, RES)[1]
    assert np.array_equal(scores, pycocoevalcap.Cider(sigma=4.0).compute_score(GTS, RES)[1])


def test_copy_of_pyciderevalcap_is_replaced(tmp_path: Path) -> None:
    write(tmp_path / "scorers", AUTHORS)
    authors = importlib.import_module("captious.compat.pyciderevalcap.ciderD.ciderD")
    assert issubclass(imported("scorers.ciderD.ciderD", "CiderD"), authors.CiderD)
    assert pyciderevalcap.__name__ in authors.__name__


def test_copy_of_meshed_memory_evaluation_is_replaced(tmp_path: Path) -> None:
    write(tmp_path / "their_evaluation", MESHED_MEMORY)
    evaluation = importlib.import_module("their_evaluation")
    assert issubclass(evaluation.Cider, meshed_memory.Cider)
    assert issubclass(evaluation.PTBTokenizer, meshed_memory.PTBTokenizer)
    references = [["A dog runs in the park.", "A dog is running."], ["Two men play guitar."]]
    tokenized = evaluation.PTBTokenizer.tokenize(references)
    generated = evaluation.PTBTokenizer.tokenize(["a dog runs", "two men"])
    scores = evaluation.Cider(tokenized).compute_score(tokenized, generated)[1]
    assert scores.round(4).tolist() == [3.2443, 3.0376]  # as on the page of this toolkit


def test_a_copy_that_takes_lists_is_replaced(tmp_path: Path) -> None:
    scorers = ("bleu.bleu", "cider.cider", "meteor.meteor", "rouge.rouge")
    copy_toolkit(tmp_path / "eval_func")
    for module in scorers:
        file = tmp_path / "eval_func" / f"{module.replace('.', '/')}.py"
        source = file.read_text().replace("assert(gts.keys() == res.keys())", "assert(len(gts) == len(res))")
        file.write_text(source.replace("imgIds = gts.keys()", "imgIds = range(len(gts))"))
    for module in scorers:
        copied = imported(f"eval_func.{module}", CLASSES[module])
        assert issubclass(copied, ours(module))
        score, _ = copied().compute_score([*GTS.values()], [*RES.values()])
        assert np.array_equal(score, ours(module)().compute_score(GTS, RES)[0])


def test_a_copy_that_fails_in_its_trial_stays(tmp_path: Path) -> None:
    failing = ("eval_line = 'EVAL'\n        self.lock.acquire()", "self.lock.acquire()\n        res.missing")
    copy_toolkit(tmp_path / "fails", {"meteor/meteor.py": failing})
    assert not issubclass(imported("fails.meteor.meteor", "Meteor"), pycocoevalcap.Meteor)  # its lock does not block


#: Changes of a copy: path, text, what it is replaced by, and a part of the reason that is given.
CHANGES = [
    ("cider/cider.py", "gts, res):", "gts, res, ids):", "compute_score takes gts, res, ids"),
    ("cider/cider.py", "return score, scores", "return score * 100, scores", "it scores"),
    (
        "cider/cider.py",
        "assert(gts.keys() == res.keys())",
        "gts = {i: gts[i] for i in res}",
        "images without candidates",
    ),
    ("cider/cider_scorer.py", "score_avg *= 10.0", "pass", "it scores"),
    ("cider/cider_scorer.py", "self.sigma = sigma", "self.sigma = 4.0", "it scores"),
    ("cider/cider_scorer.py", "words = s.split()", "words = s.lower().split()", "it scores"),
    ("cider/cider_scorer.py", "np.log(float(len(self.crefs)))", "np.log(float(40504))", "it scores"),
    ("bleu/bleu.py", "option='closest'", "option='shortest'", "it scores"),
    ("bleu/bleu_scorer.py", "math.exp(1 - 1/ratio)", "1", "it scores"),
    ("rouge/rouge.py", "self.beta = 1.2", "self.beta = 1.0", "it scores"),
    ("rouge/rouge.py", "prec_max = max(prec)", "prec_max = np.mean(prec)", "it scores"),
    ("rouge/rouge.py", "rec_max !=0", "rec_max < 1", "it scores"),
    ("rouge/rouge.py", "lengths[i-1][j-1] + 1", "lengths[i][j-1] + 1", "it scores"),
    ("cider/cider_scorer.py", "if n == 1:", "if n == 2:", "it scores"),
    ("meteor/meteor.py", "'en'", "'de'", "it runs METEOR as"),
    ("meteor/meteor.py", "'-norm'", "'-norm', '-m', 'exact'", "it runs METEOR as"),
    ("meteor/meteor.py", "meteor-1.5.jar", "meteor-1.4.jar", "meteor-1.4.jar"),
    ("tokenizer/ptbtokenizer.py", "if w not in PUNCTUATIONS", "", "it tokenizes captions differently"),
    ("tokenizer/ptbtokenizer.py", '"?", ', "", "it tokenizes captions differently"),
    ("tokenizer/ptbtokenizer.py", '"\'\'", "\'", ', "\"''\", ", "it tokenizes captions differently"),
    ("tokenizer/ptbtokenizer.py", ", '-lowerCase'", "", "it tokenizes captions differently"),
    (
        "tokenizer/ptbtokenizer.py",
        "'-lowerCase'",
        "'-lowerCase', '-options', 'americanize=false'",
        "it runs the tokenizer with -options",
    ),
    ("tokenizer/ptbtokenizer.py", "'-preserveLines', ", "", "it runs the tokenizer without -preserveLines"),
    ("tokenizer/ptbtokenizer.py", "corenlp-3.4.1", "corenlp-4.5.0", "corenlp-4.5.0"),
]


@pytest.mark.parametrize(("path", "old", "new", "reason"), CHANGES)
def test_a_class_that_differs_stays_and_is_named(
    path: str, old: str, new: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    log.touch()
    monkeypatch.setenv("CAPTIOUS_COMPAT_LOG", str(log))
    package = f"own_{tmp_path.name.replace('-', '_')}"
    copy_toolkit(tmp_path / package, {path: (old, new)})
    module = path.removesuffix(".py").replace("/", ".")
    user = module.removesuffix("_scorer")  # the class that programs import
    assert not issubclass(imported(f"{package}.{user}", CLASSES[user]), ours(user))
    assert not issubclass(imported(f"{package}.{module}", CLASSES[module]), ours(module))
    events = [json.loads(line) for line in log.read_text().splitlines()]
    kept = {event["name"]: event["reason"] for event in events if event["event"] == "kept"}
    assert reason in kept[CLASSES[module]]
    assert CLASSES[user] in kept


def test_precounted_frequencies_stay(tmp_path: Path) -> None:
    counted = "self.document_frequency.update({('a',): 3.0, ('dog',): 2.0})"
    copy_toolkit(tmp_path / "counted", {"cider/cider_scorer.py": ("self.compute_doc_freq()", counted)})
    copied = imported("counted.cider.cider", "Cider")
    assert not issubclass(copied, pycocoevalcap.Cider)


def test_unrelated_files_with_toolkit_names_are_kept(tmp_path: Path) -> None:
    source = "class Rouge:\n    def compute_score(self, gts, res):\n        return 0.0, []\n"
    write(tmp_path / "alone", {"rouge.py": source})
    assert not issubclass(imported("alone.rouge", "Rouge"), pycocoevalcap.Rouge)
    write(tmp_path / "other", {"bleu.py": "class Bleu:\n    def score(self):\n        return 1\n", "rouge.py": source})
    assert imported("other.bleu", "Bleu")().score() == 1
    assert imported("other.rouge", "Rouge")().compute_score({}, {}) == (0.0, [])


def test_a_copy_under_the_toolkit_s_own_name_keeps_its_own_files(tmp_path: Path) -> None:
    copy_toolkit(tmp_path / "pycocoevalcap")
    (tmp_path / "pycocoevalcap" / "__init__.py").touch()
    (tmp_path / "pycocoevalcap" / "own.py").write_text("VALUE = 3")
    assert imported("pycocoevalcap.own", "VALUE") == 3
    assert imported("pycocoevalcap.cider.cider", "Cider").__mro__[1] is pycocoevalcap.Cider
    assert imported("pycocoevalcap.eval", "COCOEvalCap") is not pycocoevalcap.COCOEvalCap


def test_files_of_python_2_under_the_toolkit_s_own_name_are_replaced(tmp_path: Path) -> None:
    write(tmp_path / "pycocoevalcap", {"eval.py": "print 'setting up scorers...'"})
    assert imported("pycocoevalcap.eval", "COCOEvalCap") is pycocoevalcap.COCOEvalCap


def test_copies_that_were_imported_before_are_replaced_and_come_back(tmp_path: Path) -> None:
    copy_toolkit(tmp_path / "evalcap")
    captious.compat.uninstall()
    before = imported("evalcap.rouge.rouge", "Rouge")
    captious.compat.install()
    assert issubclass(imported("evalcap.rouge.rouge", "Rouge"), pycocoevalcap.Rouge)
    captious.compat.uninstall()
    assert imported("evalcap.rouge.rouge", "Rouge") is before


def test_a_notebook_loads_captious_as_an_extension(tmp_path: Path) -> None:
    copy_toolkit(tmp_path / "evalcap")
    captious.compat.uninstall()
    captious.load_ipython_extension(None)
    try:
        assert issubclass(imported("evalcap.cider.cider", "Cider"), pycocoevalcap.Cider)
        names = [event["module"] for event in captious.compat.replacements() if event["event"] == "replaced"]
        assert "evalcap.cider.cider" in names
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
LINE = "captious run: utils.capeval.cider.cider.Cider is captious.compat.pycocoevalcap.cider.cider.Cider"


def test_replacements_are_reported_at_the_end_and_logged(program: Path) -> None:
    done = run(program, "--log", "log.json", "evaluate.py")
    assert float(done.stdout) == CIDER
    assert LINE in done.stderr.splitlines()
    log = json.loads((program / "log.json").read_text())
    assert log["status"] == 0
    assert {event["name"] for event in log["events"] if event["event"] == "replaced"} == {"Cider", "CiderScorer"}
    assert [f"captious run: {line}" for line in log["summary"]] == done.stderr.splitlines()


def test_kept_classes_are_reported(program: Path) -> None:
    scorer = program / "utils" / "capeval" / "cider" / "cider.py"
    scorer.write_text(scorer.read_text().replace("gts, res):", "gts, res, ids=None):"))
    done = run(program, "--replace", "metric=evaluation", "evaluate.py")
    lines = done.stderr.splitlines()
    name = "utils.capeval.cider.cider.Cider"
    assert f"captious run: warning: {name} is not replaced: compute_score takes ids ({scorer})" in lines
    assert LINE not in lines
    assert "captious run: warning: metric was never imported, so it was not replaced" in lines


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
