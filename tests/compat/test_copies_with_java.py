"""Copies that start Java in their own ways: the same command line gets the same answer, and no Java runs."""

from __future__ import annotations

import importlib
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from captious.compat import pycocoevalcap, replacement_log, replacements
from tests.compat.conftest import GTS, METEOR, RES
from tests.compat.copies import CLASSES, copy_toolkit, imported, is_replaced, what_became_of

TEXT = [(".encode())", ")"), (".decode()", "")]
FOLDER = "os.path.dirname(os.path.abspath(__file__))"
#: Changes of METEOR's class in public copies.
METEORS = {
    "text": [*TEXT, ("stderr=subprocess.PIPE)", "stderr=subprocess.PIPE, universal_newlines=True, bufsize=1)")],
    "encoding": [*TEXT, ("stderr=subprocess.PIPE)", "stderr=subprocess.PIPE, encoding='utf-8', bufsize=0)")],
    "memory": [("def __init__(self):", "def __init__(self, mem='4G'):"), ("'-Xmx2G'", "'-Xmx' + mem")],
    "path": [("METEOR_JAR = 'meteor-1.5.jar'", f"METEOR_JAR = os.path.join({FOLDER}, 'meteor-1.5.jar')")],
    "download": [("self.meteor_cmd =", f"assert os.path.isfile(os.path.join({FOLDER}, METEOR_JAR))\n{' ' * 8}x =")],
    "imported": [("import subprocess\n", "from subprocess import PIPE, Popen\n"), ("subprocess.P", "P")],
    "added": [("self.meteor_cmd = [", "x = ["), ("self.meteor_cmd,", "x + [],")],
    "paraphrases": [("'-norm']", "'-norm', '-a', 'data/paraphrase-en.gz']")],
    "sorted": [("imgIds = gts.keys()", "imgIds = sorted(gts)")],
}
METEORS["download"].append(("self.meteor_cmd,", "x,"))

POPEN = (
    "p_tokenizer = subprocess.Popen(cmd, cwd=path_to_jar_dirname, \\\n                stdout=subprocess.PIPE)\n"
    "        token_lines = p_tokenizer.communicate(input=sentences.rstrip())[0]"
)
OPTIONS = "cmd, cwd=path_to_jar_dirname, stdout=subprocess.PIPE"
#: What copies of the tokenizer do instead.
TOKENIZERS = {
    "unchanged": POPEN,
    "run": f"token_lines = subprocess.run({OPTIONS}).stdout",
    "text": f"token_lines = subprocess.run({OPTIONS}, text=True).stdout.encode()",
    "captured": "token_lines = subprocess.run(cmd, cwd=path_to_jar_dirname, capture_output=True, check=True).stdout",
    "check_output": "token_lines = subprocess.check_output(cmd, cwd=path_to_jar_dirname)",
    "read": f"p = subprocess.Popen({OPTIONS})\n        token_lines = p.stdout.read()\n        p.wait()",
    "waited": f"p = subprocess.Popen({OPTIONS})\n        assert p.wait() == 0\n        token_lines = p.stdout.read()",
    "with": f"with subprocess.Popen({OPTIONS}) as p:\n            token_lines = p.communicate()[0]",
    "lines": f"token_lines = b''.join(subprocess.Popen({OPTIONS}).stdout)",
    "shell": "token_lines = subprocess.check_output(' '.join(cmd), cwd=path_to_jar_dirname, shell=True)",
    "input": (
        "cmd.pop()\n        p = subprocess.Popen(cmd, stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "        token_lines = p.communicate(input=sentences.encode())[0]"
    ),
    "to a file": (
        "with open(tmp_file.name + '.out', 'w+b') as f:\n"
        "            subprocess.check_call(cmd, cwd=path_to_jar_dirname, stdout=f)\n"
        "            f.seek(0)\n            token_lines = f.read()"
    ),
}
RAW = {
    1: [{"caption": "A man's dog (brown) runs -- fast!"}],
    "b": [{"caption": 'The "best"\ndog?'}, {"caption": "\u201cYes\u201d \u2026 犬"}],
}
TOKENS = {1: ["a man 's dog -lrb- brown -rrb- runs fast"], "b": ["the best dog", "yes 犬"]}


@pytest.fixture(autouse=True)
def no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replaced_copies: None) -> None:
    """A machine without Java."""
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))


@pytest.mark.usefixtures("meteor_tables")
@pytest.mark.parametrize("name", METEORS)
def test_copies_that_start_meteor_are_answered(name: str, tmp_path: Path) -> None:
    package = f"meteor_{name}"
    copy_toolkit(tmp_path / package)
    file = tmp_path / package / "meteor" / "meteor.py"
    source = file.read_text()
    for old, new in METEORS[name]:
        assert old in source
        source = source.replace(old, new)
    file.write_text(source)
    assert is_replaced(f"{package}.meteor.meteor")
    meteor = imported(f"{package}.meteor.meteor", "Meteor")()
    order = sorted(METEOR) if name == "sorted" else [*METEOR]
    assert meteor.compute_score(GTS, RES)[1] == pytest.approx([METEOR[image] for image in order], abs=1e-12)


@pytest.mark.parametrize("name", TOKENIZERS)
def test_copies_that_start_the_tokenizer_are_answered(name: str, tmp_path: Path) -> None:
    package = f"tokenizer_{name.replace(' ', '_')}"
    copy_toolkit(tmp_path / package, {"tokenizer/ptbtokenizer.py": (POPEN, TOKENIZERS[name])})
    assert is_replaced(f"{package}.tokenizer.ptbtokenizer")
    assert imported(f"{package}.tokenizer.ptbtokenizer", "PTBTokenizer")().tokenize(RAW) == TOKENS
    assert what_became_of(f"{package}.tokenizer.ptbtokenizer", "PTBTokenizer")[0] == "replaced"


OWN_TOKENIZER = """
import subprocess
from pathlib import Path
from pycocoevalcap.tokenizer import ptbtokenizer

class PTBTokenizer:
    def tokenize(self, text):
        jar = Path(ptbtokenizer.__file__).with_name(ptbtokenizer.STANFORD_CORENLP_3_4_1_JAR)
        command = ["java", "-cp", str(jar), "edu.stanford.nlp.process.PTBTokenizer", "-preserveLines", "-lowerCase"]
        return subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, check=True).stdout.decode()
"""


def test_programs_that_start_java_with_the_toolkit_s_jar_are_answered(tmp_path: Path) -> None:
    (tmp_path / "own_tokenizer.py").write_text(OWN_TOKENIZER)
    assert imported("own_tokenizer", "PTBTokenizer")().tokenize("A man's dog.\nIt\n") == "a man 's dog .\nit\n"


def test_a_class_that_starts_no_java_is_not_computed_by_captious(tmp_path: Path) -> None:
    method = "    def tokenize(self, captions_for_image):\n"
    own = f"{method}        return {{image: ['own'] for image in captions_for_image}}\n"
    copy_toolkit(tmp_path / "own_words", {"tokenizer/ptbtokenizer.py": (method, own)})
    tokenizer = imported("own_words.tokenizer.ptbtokenizer", "PTBTokenizer")()
    assert tokenizer.tokenize(RAW) == {1: ["own"], "b": ["own"]}
    assert what_became_of("own_words.tokenizer.ptbtokenizer", "PTBTokenizer")[0] == "java"
    assert (
        replacement_log.summary(event for event in replacements() if event.get("module") == tokenizer.__module__) == []
    )


@pytest.mark.usefixtures("meteor_tables")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "change",
    [
        ("hypo[0]", "hypo[-1]"),
        ('"test" : hypo[0]', '"tests" : hypo'),
        ("spice_cmd, ", "spice_cmd, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT, "),
    ],
)
def test_copies_that_start_spice_are_answered(change: tuple[str, str], tmp_path: Path) -> None:
    copy_toolkit(tmp_path / "evalcap", {"spice/spice.py": change})
    assert is_replaced("evalcap.spice.spice")
    score, scores = imported("evalcap.spice.spice", "Spice")().compute_score(GTS, RES)
    ordered = {image: GTS[image] for image in sorted(GTS)}, {image: RES[image] for image in sorted(RES)}
    expected, of_images = pycocoevalcap.Spice().compute_score(*ordered)
    assert score == expected
    for mine, theirs in zip(scores, of_images, strict=True):
        for category, values in theirs.items():
            for name, value in values.items():
                assert mine[category][name] == value or math.isnan(value)


@pytest.mark.parametrize("module", ["meteor.meteor", "tokenizer.ptbtokenizer", "spice.spice"])
def test_standalone_file_is_answered(module: str, tmp_path: Path) -> None:
    copy_toolkit(tmp_path / "whole")
    package, _, name = module.partition(".")
    (tmp_path / f"only_{package}").mkdir()
    (tmp_path / "whole" / package / f"{name}.py").rename(tmp_path / f"only_{package}" / f"{name}.py")
    (tmp_path / "whole").rename(tmp_path / "elsewhere")
    source = (tmp_path / f"only_{package}" / f"{name}.py").read_text()
    (tmp_path / f"only_{package}" / f"{name}.py").write_text(source.replace("from .get", "from elsewhere.spice.get"))
    assert is_replaced(f"only_{package}.{name}")
    assert imported(f"only_{package}.{name}", CLASSES[module]).__mro__[1] is object


def test_lines_to_meteor_s_process_are_answered_in_kind() -> None:
    process = pycocoevalcap.Meteor().meteor_p
    for line in ("SCORE ||| a dog ||| a dog\n", b"SCORE ||| a dog ||| a dog\n"):
        process.stdin.write(line)
    text, raw = process.stdout.readline(), process.stdout.readline()
    assert isinstance(text, str)
    assert text.encode() == raw


def test_copies_are_computed_with_python_optimization(tmp_path: Path) -> None:
    copy_toolkit(tmp_path / "evalcap")
    program = "from evalcap.cider.cider import Cider; print(hasattr(Cider.compute_score, '__wrapped__'))"
    command = [sys.executable, "-m", "captious", "run", "--", sys.executable, "-O", "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "True\n", done.stderr


GERMAN = ["java", "-jar", "meteor-1.5.jar", "-", "-", "-stdio", "-l", "de", "-norm"]
#: Changes after which Java itself is started: file, text, what it is replaced by, and a call.
STARTED: list[tuple[str, str, str, Any]] = [
    ("tokenizer/ptbtokenizer.py", "3.4.1.jar", "4.5.0.jar", lambda module: module.PTBTokenizer().tokenize(RAW)),
    ("tokenizer/ptbtokenizer.py", "import sys", "from os import system", lambda module: module.system("java")),
    ("meteor/meteor.py", "'en'", "'de'", lambda module: module.subprocess.run(GERMAN)),
    ("meteor/meteor.py", "import sys", "import sys", lambda module: module.subprocess.call(["java", "-version"])),
]


@pytest.mark.parametrize(("path", "old", "new", "call"), STARTED)
def test_other_command_lines_start_java(
    path: str, old: str, new: str, call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "java").write_text(f"#!/bin/sh\necho started > {tmp_path}/started\n")
    (tmp_path / "java").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path), "/usr/bin", "/bin"]))
    package = f"started_{tmp_path.name.replace('-', '_')}"
    copy_toolkit(tmp_path / package, {path: (old, new)})
    module = importlib.import_module(f"{package}.{path.removesuffix('.py').replace('/', '.')}")
    assert not (tmp_path / "started").exists()
    call(module)
    assert (tmp_path / "started").exists()


def test_a_program_s_own_popen_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_toolkit(tmp_path / "evalcap")
    module = importlib.import_module("evalcap.tokenizer.ptbtokenizer")
    started = []
    monkeypatch.setattr(subprocess, "Popen", lambda *arguments, **options: started.append(arguments))
    with pytest.raises(AttributeError):
        module.PTBTokenizer().tokenize(RAW)
    assert len(started) == 1
