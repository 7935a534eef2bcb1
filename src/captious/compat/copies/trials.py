"""Trials of a copied class: it must give the same scores for a few captions as captious's, and refuse the same input.

Classes that start Java receive captious's answers instead, which shows how they process them, and which command line
they would have run.
"""

from __future__ import annotations

import io
import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NoReturn
from unittest import mock

import numpy as np

from captious.errors import MissingExtraError

__all__ = ["difference"]

#: Captions by image, tokenized. Their scores show which reference length counts, that short candidates are penalized,
#: how repeated words count, that upper and lower case differ, and that a candidate may be equal to a reference.
_GTS = {
    "7": ["a man rides a brown horse on the beach", "a person is riding a horse", "the horse , a brown one"],
    "3": ["two dogs play in the green park", "dogs in a park"],
    "12": ["a red bus is parked on the street", "a bus  waits"],
    "5": ["a plate of food with rice and rice and beans", "some food on a plate", "a plate full of food on a table"],
    "9": ["the white Cat sleeps", "the cat is sleeping on a sofa with a blanket near the window"],
    "2": ["a big dog runs through a dog park", "dog"],
    "8": ["a boat on a lake", "boats"],
    "4": ["a group of people at a table"],
}
_RES = {
    "7": ["a man riding a horse"],
    "3": ["two dogs play in the park"],
    "12": ["a a a red car on on the street"],
    "5": ["a plate of rice and rice"],
    "9": ["white cat"],
    "2": ["dog dog dog"],
    "8": ["a boat on a lake"],
    "4": ["people"],
}
#: Captions that no class of the COCO toolkit takes, by a description of a copy that takes them.
_REFUSED = {
    "takes several candidates for an image": (_GTS, {**_RES, "9": ["a dog", "a cat"]}),
    "takes images without candidates": (_GTS, {key: _RES[key] for key in ("7", "3", "12")}),
    "takes candidates that are not in lists": (_GTS, {key: text for key, (text,) in _RES.items()}),
    "takes captions of other forms": (
        {key: [{"caption": text} for text in texts] for key, texts in _GTS.items()},
        {key: [{"caption": text} for text in texts] for key, texts in _RES.items()},
    ),
}
_RAW = {
    1: ["A man's dog (brown) runs -- fast!", 'The "best" dog; it isn\'t black.'],
    2: ["Two dogs, playing...", "Dogs play: a ball & a stick", "U.S. flags"],
    3: ["Is it a 'red' dog? A dog - `so' it seems...", "``Yes'': a dog!"],
}
#: Options that a copy may pass to the tokenizer's process, besides those of memory.
_TOKENIZER_OPTIONS = {"-cp", "-classpath", "-preserveLines", "-lowerCase"}
_TOLERANCE = 1e-9
#: The functions of ``subprocess`` that also start processes.
_OTHER_STARTS = ("call", "check_call", "getoutput", "getstatusoutput")


def difference(copy: type, replacement: type, trial: str, module: ModuleType) -> str:
    """Describe how a copied class differs in behavior from the class that would replace it; empty if it does not.

    Args:
        copy: the class of the copy.
        replacement: the class that would replace it.
        trial: the trial to run.
        module: module of the copy.
    """
    try:
        with redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
            return _TRIALS[trial](copy, replacement, module)
    except MissingExtraError:
        return ""  # captious cannot score it here either
    except Exception as error:
        return f"it cannot be tried out: {type(error).__name__}{f': {error}' if str(error) else ''}"


def _compared(of_copy: Any, of_replacement: Any) -> str:
    """Describe the difference between two results of scorers."""
    if not isinstance(of_copy, tuple) or len(of_copy) != 2:
        return "it does not return a pair"
    for copy_values, replacement_values in zip(of_copy, of_replacement, strict=True):
        a, b = (np.asarray(values, np.float64) for values in (copy_values, replacement_values))
        if a.shape != b.shape:
            return "it returns scores of another form"
        if not np.allclose(a, b, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True):
            where = int(np.argmax(np.abs(a - b).ravel()))
            return f"it scores {a.ravel()[where]:.4f} where the toolkit scores {b.ravel()[where]:.4f}"
    return ""


def _image_difference(copy: type, replacement: type, module: ModuleType) -> str:
    form, of_copy = _form_and_scores(copy)
    if difference := _compared(of_copy, replacement().compute_score(form(_GTS), form(_RES))):
        return difference
    for what, (gts, res) in _REFUSED.items() if __debug__ else ():  # assertions refuse, which python -O leaves out
        if not _refuses(copy, form(gts), form(res)) and _refuses(replacement, form(gts), form(res)):
            return f"it {what}"
    return ""


def _form_and_scores(copy: type) -> tuple[Callable[[Any], Any], Any]:
    """Return the form in which a copied class accepts captions, dictionaries by image or else lists, and its scores."""
    try:
        return dict, copy().compute_score(_GTS, _RES)
    except Exception:
        try:
            return _texts, copy().compute_score(_texts(_GTS), _texts(_RES))
        except Exception:
            pass
        raise


def _texts(captions: Mapping[str, Any]) -> list[Any]:
    return [*captions.values()]


def _refuses(cls: type, gts: Any, res: Any) -> bool:
    try:
        cls().compute_score(gts, res)
    except Exception:
        return True
    return False


def _candidate_difference(copy: type, replacement: type, module: ModuleType) -> str:
    res = [{"image_id": key, "caption": texts} for key, texts in _RES.items()]
    return _compared(*(cls().compute_score(_GTS, res) for cls in (copy, replacement)))


def _counter(copy: type, replacement: type, module: ModuleType) -> str:
    results = []
    for cls in (copy, replacement):
        counter = cls()
        for key, references in _GTS.items():
            counter += (_RES[key][0], references)
        results.append(counter.compute_score())
    return _compared(*results)


def _counter_of_images(copy: type, replacement: type, module: ModuleType) -> str:
    return _compared(*(cls(_GTS, test=_RES).compute_score() for cls in (copy, replacement)))


def _tokenizer_of_captions(copy: type, replacement: type, module: ModuleType) -> str:
    raw = {key: [{"caption": text} for text in texts] for key, texts in _RAW.items()}
    return _tokens(copy, module, lambda cls: cls().tokenize(raw), replacement)


def _tokenizer_of_corpus(copy: type, replacement: type, module: ModuleType) -> str:
    return _tokens(copy, module, lambda cls: cls.tokenize(list(_RAW.values())), replacement)


def _tokens(copy: type, module: ModuleType, tokenize: Callable[[Any], Any], replacement: type) -> str:
    with _instead_of_java(module, _Tokens) as commands:
        of_copy = tokenize(copy)
    return (
        _command(commands, "stanford-corenlp-3.4.1.jar")
        or _tokenizer_options(commands)
        or ("" if of_copy == tokenize(replacement) else "it tokenizes captions differently")
    )


def _tokenizer_options(commands: list[list[str]]) -> str:
    """Describe the difference in the options of the tokenizer's process; the effect of ``-lowerCase`` shows in its
    answers.
    """
    for command in commands:
        if "-preserveLines" not in command:
            return "it runs the tokenizer without -preserveLines"
        for word in command:
            if word.startswith("-") and word not in _TOKENIZER_OPTIONS and not word.startswith("-X"):
                return f"it runs the tokenizer with {word}"
    return ""


def _meteor(copy: type, replacement: type, module: ModuleType) -> str:
    from captious.compat.pycocoevalcap.scorers import Process

    metric = replacement()
    codes = {name: lambda *arguments, **options: 0 for name in ("kill", "terminate", "wait", "poll")}

    def answers(command: list[str], **options: Any) -> SimpleNamespace:
        process = Process(metric)
        return SimpleNamespace(stdin=process.stdin, stdout=process.stdout, stderr=io.BytesIO(), returncode=0, **codes)

    with _instead_of_java(module, answers) as commands:
        form, of_copy = _form_and_scores(copy)
    words = [word for word in commands[-1][1:] if not word.startswith("-X")] if commands else []
    if [word for word in words if not word.endswith(".jar")] != ["-jar", "-", "-", "-stdio", "-l", "en", "-norm"]:
        return f"it runs METEOR as {' '.join(words) or 'nothing'}"
    return _command(commands, "meteor-1.5.jar") or _compared(of_copy, metric.compute_score(form(_GTS), form(_RES)))


def _spice(copy: type, replacement: type, module: ModuleType) -> str:
    """Compare only the file of a copy, as its answers come in a file."""
    jars = [value for value in vars(module).values() if isinstance(value, str) and value.endswith(".jar")]
    return _jar(jars, "spice-1.0.jar")


def _command(commands: list[list[str]], jar: str) -> str:
    jars = [
        part for command in commands for word in command for part in word.split(os.pathsep) if part.endswith(".jar")
    ]
    return _jar(jars, jar) if commands else "it starts no Java"


def _jar(jars: list[str], jar: str) -> str:
    foreign = [name for name in map(os.path.basename, jars) if name != jar]
    return f"it runs {foreign[0]}, not {jar}" if foreign else ""


class _Tokens(AbstractContextManager["_Tokens"]):
    """Answers like the tokenizer's process: a line of tokens for each line of its input."""

    def __init__(self, command: list[str], cwd: str | None = None, **options: Any) -> None:
        self._command, self._folder = command, Path(cwd or ".")
        self._text = any(options.get(name) for name in ("universal_newlines", "text", "encoding"))
        self.returncode = 0

    def __exit__(self, *error: object) -> None: ...

    def wait(self, timeout: Any = None) -> int:
        return 0

    @property
    def stdout(self) -> Any:
        answer = self.communicate()[0]
        return io.StringIO(answer) if self._text else io.BytesIO(answer)

    def communicate(self, input: Any = None, timeout: Any = None) -> tuple[Any, None]:
        from captious.text import PTB_RAW

        file = self._folder / self._command[-1]
        text = file.read_bytes().decode() if file.is_file() else input.decode() if isinstance(input, bytes) else input
        lines = [" ".join(PTB_RAW(line)) for line in text.split("\n")]
        answer = "".join(f"{line}\n" for line in lines)
        if "-lowerCase" not in self._command:
            answer = answer.upper()  # as a sign
        return answer if self._text else answer.encode(), None


@contextmanager
def _instead_of_java(module: ModuleType, answer: Callable[..., Any]) -> Iterator[list[list[str]]]:
    """Return a context in which a module's processes are answered instead of started; it yields their commands.

    Its locks are reentrant, because METEOR's class acquires one on deletion that it may still hold after an error. Jars
    seem to exist, as some copies download missing ones.
    """
    commands: list[list[str]] = []

    def start(command: Any, *arguments: Any, **options: Any) -> Any:
        commands.append([str(word) for word in command] if not isinstance(command, str) else command.split())
        return answer(commands[-1], **options)

    def output(command: Any, *arguments: Any, **options: Any) -> Any:
        return start(command, **options).communicate(options.get("input"))[0]

    def run(command: Any, *arguments: Any, **options: Any) -> Any:
        return subprocess.CompletedProcess(command, 0, output(command, **options))

    def refuse(*arguments: Any, **options: Any) -> NoReturn:
        raise OSError("it starts Java with a function other than Popen, run or check_output")

    def is_there(path: Any) -> bool:
        return str(path).endswith(".jar") or os.path.exists(path)

    def is_file(path: Any) -> bool:
        return str(path).endswith(".jar") or os.path.isfile(path)

    of_subprocess = {"Popen": start, "run": run, "check_output": output, **dict.fromkeys(_OTHER_STARTS, refuse)}
    of_path = SimpleNamespace(**vars(os.path) | {"exists": is_there, "isfile": is_file})
    stand_ins = {
        "subprocess": SimpleNamespace(**vars(subprocess) | of_subprocess),
        "os": SimpleNamespace(**vars(os) | {"path": of_path}),
        "threading": SimpleNamespace(**vars(threading) | {"Lock": threading.RLock}),
        "Lock": threading.RLock,
        **of_subprocess,
    }
    originals = {**vars(subprocess), "subprocess": subprocess, "os": os, "threading": threading, "Lock": threading.Lock}
    names = [name for name in stand_ins if vars(module).get(name) is originals[name]]
    with mock.patch.dict(vars(module), {name: stand_ins[name] for name in names}):
        yield commands


_TRIALS = {
    "of_images": _image_difference,
    "of_candidates": _candidate_difference,
    "counter": _counter,
    "counter_of_images": _counter_of_images,
    "tokenizer_of_captions_for_image": _tokenizer_of_captions,
    "tokenizer_of_corpus": _tokenizer_of_corpus,
    "meteor": _meteor,
    "spice": _spice,
}
