"""Java programs of the toolkits, answered in this process: METEOR 1.5, the PTB tokenizer and SPICE 1.0.

A module of a copy that starts them gets a stand-in for ``subprocess``. It answers command lines that are exactly the
toolkit's but for memory and paths, and starts everything else as before. All code of the copy stays: what it writes to
the program, and what it does with the answers.
"""

from __future__ import annotations

import ast
import io
import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cache, cached_property, partial
from importlib.util import find_spec, module_from_spec
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

_POPEN = subprocess.Popen
#: The names in ``subprocess`` of what starts processes.
FUNCTIONS = ("Popen", "run", "call", "check_call", "check_output")
#: Text of a word that is only known when the program runs.
_UNKNOWN = "\ufffd"
#: What ends a line for Java, and not for the toolkit.
_LINE_BREAKS = re.compile("[\r\x0b\x0c\x85\u2028\u2029]")


def _jar(name: str, letter: str = ".") -> str:
    """Return the pattern of a jar in a path, of such letters, that may be unknown."""
    return rf"(?:{letter}*[/\\])?{_UNKNOWN}?(?:{re.escape(name)})?"


_METEOR, _SPICE, _CORENLP = "meteor-1.5.jar", "spice-1.0.jar", "stanford-corenlp-3.4.1.jar"
_JARS = frozenset({_METEOR, _SPICE, _CORENLP})
_OF_PATH = _jar(_CORENLP, "[^:;\n]")
#: Tool -> pattern of its words but for those about memory, a line each, and the options that it must have.
_TOOLS = {
    "METEOR": (
        rf"-jar\n{_jar(_METEOR)}\n-\n-(\n-(stdio|norm|l\nen|a\n(.*/)?(paraphrase-en\.gz)?))+",
        {"-stdio", "-l", "-norm"},
    ),
    "SPICE": (
        rf"-jar\n{_jar(_SPICE)}\n(?P<file>.*)(\n-(subset|silent|(cache|threads)\n.*|out\n(?P<out>.*)))+",
        {"-out", "-subset"},
    ),
    "PTBTokenizer": (
        rf"-(cp|classpath)\n{_OF_PATH}([:;]{_OF_PATH})*\nedu\.stanford\.nlp\.process\.PTBTokenizer"
        r"(\n-(preserveLines|lowerCase|encoding\n(?i:utf-?8)))+(\n(?P<file>[^-].*))?",
        {"-preserveLines", "-lowerCase"},
    ),
}


class Command:
    """A command line.

    Args:
        words: its words; ``_UNKNOWN`` stands for text that is not known yet.

    Attributes:
        tool: "METEOR", "PTBTokenizer" or "SPICE" if captious answers it, otherwise empty.
        file: the tokenizer's or SPICE's input file.
        out: SPICE's output file.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words, self.tool = [*words], ""
        self.file: str | None = None
        self.out = ""
        if not words or os.path.basename(words[0]) not in ("java", "java.exe", _UNKNOWN):
            return
        lines = "\n".join(word for word in words[1:] if not word.startswith(("-X", "-D")))
        for tool, (pattern, needed) in _TOOLS.items():
            match = re.fullmatch(pattern, lines)
            if match is not None and needed <= {*words}:
                self.tool, parts = tool, match.groupdict()
                self.file, self.out = parts.get("file"), parts.get("out", "")

    def __str__(self) -> str:
        return " ".join(self.words).replace(_UNKNOWN, "...")


def is_there() -> bool:
    """Return whether this machine has Java."""
    return shutil.which("java") is not None


# What a file would start, from its source.


def commands(tree: ast.Module) -> Iterator[tuple[str, int, Command]]:
    """Yield the command lines of Java in a module, as far as they are written: class, line and command line."""
    values = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for top in tree.body:
        for node in ast.walk(top):
            words = _words(node, values)
            if words and os.path.basename(words[0]) in ("java", "java.exe"):
                appended = [*_appended(top, node, values)]
                yield getattr(top, "name", ""), getattr(node, "lineno", top.lineno), Command([*words, *appended])


def _words(node: ast.AST, values: dict[str, ast.expr]) -> list[str]:
    if isinstance(node, ast.List | ast.Tuple):
        return [_text(each, values) for each in node.elts]
    text = _text(node, values) if isinstance(node, ast.Constant | ast.BinOp | ast.JoinedStr | ast.Call) else ""
    return text.split() if text.startswith("java ") else []


def _text(node: ast.AST, values: dict[str, ast.expr], depth: int = 0) -> str:
    """Return the text of an expression, with ``_UNKNOWN`` for parts that are not written out."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.Name) and node.id in values and depth < 5:
        return _text(values[node.id], values, depth + 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left, values, depth) + _text(node.right, values, depth)
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(each, values, depth) for each in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return re.sub(r"%\w", _UNKNOWN, _text(node.left, values, depth))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "format":
            return re.sub(r"\{\w*\}", _UNKNOWN, _text(node.func.value, values, depth))
        if node.func.attr in ("join", "abspath", "realpath", "expanduser") and node.args:
            return f"{_UNKNOWN}/{_text(node.args[-1], values, depth)}"
    return _UNKNOWN


def _appended(top: ast.AST, command: ast.AST, values: dict[str, ast.expr]) -> Iterator[str]:
    """Yield the words that are added to the list of a command: by methods, ``+=`` or ``+``."""
    names = [
        ast.unparse(each.targets[0]) for each in ast.walk(top) if isinstance(each, ast.Assign) and each.value is command
    ]
    for each in ast.walk(top):
        owner: ast.expr | None = None
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.args:
            owner, added = each.func.value, each.args[0] if each.func.attr in ("append", "extend") else None
        elif isinstance(each, ast.AugAssign):
            owner, added = each.target, each.value
        elif isinstance(each, ast.BinOp):
            owner, added = each.left, each.right
        if owner is not None and added is not None and (owner is command or ast.unparse(owner) in names):
            yield from _words(added, values) if isinstance(added, ast.List | ast.Tuple) else [_text(added, values)]


# The stand-in.


class StandIn(ModuleType):
    """A module for a copy, with other values under some names, unless the program has changed these.

    Args:
        module: the module.
        values: name -> the other value.
    """

    def __init__(self, module: ModuleType, values: dict[str, Any]) -> None:
        super().__init__(module.__name__)
        self._module, self._values = module, values
        self._before = {name: getattr(module, name) for name in values}

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        return self._values[name] if name in self._values and value is self._before[name] else value


def processes(note: Callable[[str], None]) -> StandIn:
    """Return ``subprocess`` whose functions answer known command lines of Java, and tell ``note`` the tool."""
    spec = find_spec("subprocess")
    assert spec is not None
    assert spec.loader is not None
    own = module_from_spec(spec)
    spec.loader.exec_module(own)
    own.__dict__.update(
        {name: getattr(subprocess, name) for name in ("CalledProcessError", "CompletedProcess", "TimeoutExpired")},
        Popen=partial(start, note),
    )
    return StandIn(subprocess, {name: getattr(own, name) for name in FUNCTIONS})


@cache
def system() -> StandIn:
    """Return ``os`` for which the jars of known command lines exist, as some copies would download missing ones."""

    def seems(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
        return lambda path: os.path.basename(str(path)) in _JARS or test(path)

    return StandIn(
        os, {"path": StandIn(os.path, {name: seems(getattr(os.path, name)) for name in ("exists", "isfile")})}
    )


def start(note: Callable[[str], None], command: Any, *arguments: Any, **options: Any) -> Any:
    """Start a process like ``subprocess.Popen``, or answer in its place and tell ``note`` the tool."""
    known = _known(command) if not arguments and subprocess.Popen is _POPEN else None
    if known is None:
        return subprocess.Popen(command, *arguments, **options)
    note(known.tool)
    if known.tool == "METEOR":
        from captious.compat.pycocoevalcap.scorers import Meteor

        return Meteor().meteor_p
    return _Finished(known, options)


def _known(command: Any) -> Command | None:
    """Return a command line that captious answers; None for others."""
    if isinstance(command, str):
        words = shlex.split(command) if not set(command) & set("|&;<>$`\n") else []
    else:
        words = [*map(os.fsdecode, command)] if isinstance(command, list | tuple) else []
    known = Command(words)
    return known if known.tool else None


class _Finished(AbstractContextManager["_Finished"]):
    """A process of the tokenizer or of SPICE, which has done its work: at its start, or when it has its input."""

    pid = 0

    def __init__(self, command: Command, options: dict[str, Any]) -> None:
        self.args, self._command, self._options = command.words, command, options
        is_text = any(options.get(name) for name in ("universal_newlines", "text", "encoding", "errors"))
        self._stream: Callable[[bytes], Any] = (lambda data: io.StringIO(data.decode())) if is_text else io.BytesIO
        self.stdin = _Input() if options.get("stdin") == subprocess.PIPE else None
        self.stderr = self._stream(b"")
        self.returncode: int | None = None
        self._read = options["stdin"].read if hasattr(options.get("stdin"), "read") else bytes
        if command.tool == "SPICE":
            self._write_spice()
        elif command.file is not None:
            self._read = io.BytesIO((Path(options.get("cwd") or ".") / command.file).read_bytes()).read
        elif self.stdin is not None:
            self._read = self.stdin.getvalue

    def __exit__(self, *error: object) -> None:
        self.wait()

    @cached_property
    def stdout(self) -> Any:
        """The answer, as a stream; all input must be there."""
        answer = b"" if self._command.tool == "SPICE" else self._tokenized()
        output = self._options.get("stdout")
        if output not in (None, subprocess.PIPE, subprocess.DEVNULL):
            with os.fdopen(os.dup(output if isinstance(output, int) else output.fileno()), "wb") as file:
                file.write(answer)
            answer = b""
        return self._stream(answer)

    def communicate(self, input: Any = None, timeout: Any = None) -> tuple[Any, Any]:
        """Return the answer to an input, which counts if the command line names no file."""
        if input is not None and self.stdin is not None:
            self.stdin.write(input)
        self.wait()
        return self.stdout.read(), None if self._options.get("stderr") is None else self.stderr.read()

    def wait(self, timeout: Any = None) -> int:
        """Return the status of an ended process, 0."""
        _ = self.stdout
        self.returncode = 0
        return 0

    poll = wait

    def kill(self) -> None:
        """Do nothing; the process has ended."""

    terminate = kill

    def _tokenized(self) -> bytes:
        data = self._read()
        data = data.encode() if isinstance(data, str) else data
        text = data.decode("utf-8", "replace")
        if _LINE_BREAKS.search(text) and is_there():
            words = self.args if self._command.file is None else self.args[:-1]
            cwd = self._options.get("cwd")
            answer: bytes = subprocess.run(words, cwd=cwd, input=data, stdout=subprocess.PIPE).stdout
            return answer
        return tokens_of(text).encode()

    def _write_spice(self) -> None:
        from captious.compat.pycocoevalcap.scorers import Spice

        folder = Path(self._options.get("cwd") or ".")
        assert self._command.file is not None
        images = json.loads((folder / self._command.file).read_text(encoding="utf-8"))
        candidates = [image["tests"] if "tests" in image else [image["test"]] for image in images]  # or as in AllSPICE
        _, scores = Spice().compute_score([image["refs"] for image in images], candidates)
        answers = [
            {"image_id": image["image_id"], "scores": {category: _none_for_nan(of) for category, of in each.items()}}
            for image, each in zip(images, scores, strict=True)
        ]
        (folder / self._command.out).write_text(json.dumps(answers), encoding="utf-8")


class _Input(io.BytesIO):
    """The input of a process, which can be read after it has been closed."""

    def write(self, data: Any) -> int:
        return super().write(data.encode() if isinstance(data, str) else data)

    def close(self) -> None:
        pass


def _none_for_nan(values: dict[str, float]) -> dict[str, float | None]:
    return {name: None if value != value else value for name, value in values.items()}


def tokens_of(text: str) -> str:
    """Return the lines that the tokenizer prints for the lines of a text."""
    from captious.native import TokenizerRule, Vocabulary
    from captious.text import Tokenizer

    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    vocabulary = Vocabulary()
    tokenizer = Tokenizer("ptb-lines", rule=TokenizerRule.ptb_raw, as_one_text=True)
    ids, offsets = tokenizer.encode(lines, vocabulary)
    tokens, bounds = list(map(vocabulary.words().__getitem__, ids.tolist())), offsets.tolist()
    return "".join(f"{' '.join(tokens[start:end])}\n" for start, end in pairwise(bounds))
