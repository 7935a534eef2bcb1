"""Copies that start Java in their own ways: the same command is the same class, and no Java runs to find out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from captious.compat import pycocoevalcap
from tests.compat.conftest import GTS, METEOR, RES
from tests.compat.copies import CLASSES, copy_toolkit, imported, ours

pytestmark = pytest.mark.usefixtures("replaced_copies")

TEXT = [(".encode())", ")"), (".decode()", "")]
FOLDER = "os.path.dirname(os.path.abspath(__file__))"
#: Changes of METEOR's class in public copies.
METEORS = {
    "text": [*TEXT, ("stderr=subprocess.PIPE)", "stderr=subprocess.PIPE, universal_newlines=True, bufsize=1)")],
    "encoding": [*TEXT, ("stderr=subprocess.PIPE)", "stderr=subprocess.PIPE, encoding='utf-8', bufsize=0)")],
    "memory": [("def __init__(self):", "def __init__(self, mem='4G'):"), ("'-Xmx2G'", "'-Xmx' + mem")],
    "path": [("METEOR_JAR = 'meteor-1.5.jar'", f"METEOR_JAR = os.path.join({FOLDER}, 'meteor-1.5.jar')")],
    "download": [("self.meteor_cmd =", f"assert os.path.isfile(os.path.join({FOLDER}, METEOR_JAR))\n{' ' * 8}x =")],
}
METEORS["download"].append(("self.meteor_cmd,", "x,"))

POPEN = (
    "p_tokenizer = subprocess.Popen(cmd, cwd=path_to_jar_dirname, \\\n                stdout=subprocess.PIPE)\n"
    "        token_lines = p_tokenizer.communicate(input=sentences.rstrip())[0]"
)
OPTIONS = "cmd, cwd=path_to_jar_dirname, stdout=subprocess.PIPE"
#: What copies of the tokenizer do instead.
TOKENIZERS = {
    "run": f"token_lines = subprocess.run({OPTIONS}).stdout",
    "text": f"token_lines = subprocess.run({OPTIONS}, text=True).stdout.encode()",
    "check_output": "token_lines = subprocess.check_output(cmd, cwd=path_to_jar_dirname)",
    "read": f"p = subprocess.Popen({OPTIONS})\n        token_lines = p.stdout.read()\n        p.wait()",
    "with": f"with subprocess.Popen({OPTIONS}) as p:\n            token_lines = p.communicate()[0]",
}


@pytest.mark.parametrize("name", METEORS)
def test_copies_that_start_meteor_are_replaced(name: str, tmp_path: Path) -> None:
    package = f"meteor_{name}"
    copy_toolkit(tmp_path / package)
    file = tmp_path / package / "meteor" / "meteor.py"
    source = file.read_text()
    for old, new in METEORS[name]:
        assert old in source
        source = source.replace(old, new)
    file.write_text(source)
    meteor = imported(f"{package}.meteor.meteor", "Meteor")
    assert issubclass(meteor, pycocoevalcap.Meteor)
    assert meteor().compute_score(GTS, RES)[1] == pytest.approx([*METEOR.values()], abs=1e-12)


@pytest.mark.parametrize("name", TOKENIZERS)
def test_copies_that_start_the_tokenizer_are_replaced(name: str, tmp_path: Path) -> None:
    package = f"tokenizer_{name}"
    copy_toolkit(tmp_path / package, {"tokenizer/ptbtokenizer.py": (POPEN, TOKENIZERS[name])})
    assert issubclass(imported(f"{package}.tokenizer.ptbtokenizer", "PTBTokenizer"), pycocoevalcap.PTBTokenizer)


@pytest.mark.parametrize("sort", ["sorted(gts)", "sorted(list(gts.keys()))"])
def test_scores_in_the_order_of_sorted_ids(sort: str, tmp_path: Path) -> None:
    package = f"sorted_{len(sort)}"
    sorts = ("imgIds = gts.keys()", f"imgIds = {sort}")
    copy_toolkit(tmp_path / package, dict.fromkeys(("meteor/meteor.py", "bleu/bleu.py"), sorts))
    meteor = imported(f"{package}.meteor.meteor", "Meteor")
    assert issubclass(meteor, pycocoevalcap.Meteor)
    scores = meteor().compute_score(GTS, RES)[1]
    assert scores == pytest.approx([METEOR[image] for image in sorted(METEOR)], abs=1e-12)
    bleu = imported(f"{package}.bleu.bleu", "Bleu")
    assert issubclass(bleu, pycocoevalcap.Bleu)
    ordered = {image: GTS[image] for image in sorted(GTS)}
    assert bleu(4).compute_score(GTS, RES) == pycocoevalcap.Bleu(4).compute_score(ordered, RES)


@pytest.mark.parametrize("module", ["meteor.meteor", "tokenizer.ptbtokenizer", "spice.spice"])
def test_standalone_file_is_replaced_if_it_starts_java(module: str, tmp_path: Path) -> None:
    copy_toolkit(tmp_path / "whole")
    package, _, name = module.partition(".")
    (tmp_path / f"only_{package}").mkdir()
    (tmp_path / "whole" / package / f"{name}.py").rename(tmp_path / f"only_{package}" / f"{name}.py")
    (tmp_path / "whole").rename(tmp_path / "elsewhere")
    source = (tmp_path / f"only_{package}" / f"{name}.py").read_text()
    (tmp_path / f"only_{package}" / f"{name}.py").write_text(source.replace("from .get", "from elsewhere.spice.get"))
    assert issubclass(imported(f"only_{package}.{name}", CLASSES[module]), ours(module))


def test_lines_to_meteor_s_process_are_answered_in_kind() -> None:
    process = pycocoevalcap.Meteor().meteor_p
    for line in ("SCORE ||| a dog ||| a dog\n", b"SCORE ||| a dog ||| a dog\n"):
        process.stdin.write(line)
    text, raw = process.stdout.readline(), process.stdout.readline()
    assert isinstance(text, str)
    assert text.encode() == raw


def test_copies_are_replaced_with_python_optimization(tmp_path: Path) -> None:
    copy_toolkit(tmp_path / "evalcap")
    program = "from evalcap.cider.cider import Cider; print(Cider.__mro__[1].__module__)"
    command = [sys.executable, "-m", "captious", "run", "--", sys.executable, "-O", "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.startswith("captious.compat.pycocoevalcap"), done.stderr


def test_a_copy_that_starts_java_in_another_way_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "java").write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    (tmp_path / "java").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    start = "token_lines = p_tokenizer.communicate(input=sentences.rstrip())[0]"
    copy_toolkit(
        tmp_path / "checked", {"tokenizer/ptbtokenizer.py": (start, "token_lines = subprocess.getoutput(cmd).encode()")}
    )
    copied = imported("checked.tokenizer.ptbtokenizer", "PTBTokenizer")
    assert not issubclass(copied, pycocoevalcap.PTBTokenizer)
    assert not (tmp_path / "started").exists()
