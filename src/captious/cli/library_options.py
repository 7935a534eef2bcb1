"""Options that are parameters of functions: their names, types, defaults and help are those of the function.

``option_of`` makes an option of a parameter of a library function, ``option`` one of a parameter of the command itself,
whose docstring describes it below "Args:".
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin

import click

Command = TypeVar("Command", bound=Callable[..., Any])

#: The type of files and folders.
FILE = click.Path(path_type=Path)
#: The type of numbers of things, at least one.
COUNT = click.IntRange(min=1)


class DocumentedCommand(click.Command):
    """A command whose help is its docstring, without the section on its parameters."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.help = self.help and re.split(r"\n *Args:\n", self.help)[0]


def options(*declarations: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Return a decorator that adds options and arguments in this order."""

    def decorate(command: Command) -> Command:
        for declaration in reversed(declarations):
            command = declaration(command)
        return command

    return decorate


def converted(
    function: Callable[..., Mapping[str, Any]], *declarations: Callable[[Any], Any], takes: Sequence[str] = ()
) -> Callable[[Command], Command]:
    """Return a decorator that adds options whose values the command does not get itself, but what they mean.

    Args:
        function: returns parameters of the command by name, for the values of the options.
        declarations: the options.
        takes: parameters that decorators above this one add, whose values the function gets, too.
    """
    declared: Any = options(*declarations)(lambda: None)
    names = [*takes, *(parameter.name for parameter in getattr(declared, "__click_params__", ()))]

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def with_meanings(**values: Any) -> Any:
            return command(**function(**{name: values.pop(name) for name in names}), **values)

        return options(*declarations)(with_meanings)  # type: ignore[return-value]

    return decorate


def numbers(kind: type[int] | type[float], example: str) -> Mapping[str, Any]:
    """Return attributes of an option for numbers separated by commas, such as the example."""

    def read(context: click.Context, option: click.Parameter, text: str | None) -> tuple[float, ...] | None:
        try:
            return None if text is None else tuple(kind(piece) for piece in text.split(",") if piece.strip())
        except ValueError:
            raise click.BadParameter(f"{text!r} is not a list of numbers such as {example}") from None

    return {"callback": read, "metavar": example}


def option_of(
    function: Callable[..., Any],
    name: str,
    type: Any = None,
    *,
    flags: Sequence[str] = (),
    **attributes: Any,
) -> Callable[[Command], Command]:
    """Create an option for a parameter of a function.

    Args:
        function: the function, or a class with parameters in its docstring.
        name: the parameter.
        type: a click type; by default, it follows from the annotation: files, numbers of things, words to choose from.
        flags: the option strings; by default, the name of the parameter, or ``--no-name`` if it is true by default.
        attributes: arguments of ``click.option`` that replace those derived from the function.
    """
    parameter = inspect.signature(function).parameters[name]
    default = parameter.default
    type = type or _type_of(function, parameter, is_text="metavar" in attributes)
    flag = f"--{name.replace('_', '-')}"
    if default is inspect.Parameter.empty:
        attributes.setdefault("required", True)
    elif default is False:
        attributes.setdefault("is_flag", True)
    elif default is True:
        flag = f"{flag}/{flag.replace('--', '--no-', 1)}"
        attributes = {"default": True, "show_default": True} | attributes
    elif default is not None and default != ():
        text = ",".join(f"{number:g}" for number in default) if isinstance(default, tuple) else default
        attributes = {"default": text, "show_default": text != ""} | attributes
    if isinstance(type, click.Path):
        attributes.setdefault("metavar", "FILE")
    elif isinstance(type, click.IntRange):
        attributes.setdefault("metavar", "N")
    help = attributes.setdefault("help", argument_help(function, name))
    if attributes.get("multiple") and "May be repeated." not in help:
        attributes["help"] += " May be repeated."
    return click.option(*(flags or [flag]), name, type=type, **attributes)


def option(name: str, type: Any = None, **attributes: Any) -> Callable[[Command], Command]:
    """Create an option for a parameter of the command that it decorates; arguments are those of ``option_of``."""
    return lambda command: option_of(inspect.unwrap(command), name, type, **attributes)(command)


def _type_of(function: Callable[..., Any], parameter: inspect.Parameter, *, is_text: bool) -> Any:
    """Return the type that an annotation means; None for text, and for that of the default.

    Args:
        function: the function.
        parameter: its parameter.
        is_text: whether what may be a path or other text is text.
    """
    annotation = str(parameter.annotation)
    known = getattr(import_module(function.__module__), annotation.removesuffix(" | None"), None)
    if get_origin(known) is Literal:
        return click.Choice(get_args(known))
    if annotation in ("int", "int | None"):
        return click.IntRange(min=0) if parameter.default == 0 else COUNT
    is_file = "Path" in annotation and not ("str" in annotation and is_text)
    return FILE if is_file else None


def description(function: Callable[..., Any]) -> str:
    """Return the text of a docstring before its sections, without a "Return" at its beginning."""
    text = _plain(re.split(r"\n\n(?=[A-Z]\w+:\n)", inspect.getdoc(function) or "")[0])
    return re.sub(r"^Return (\w)", lambda match: match[1].upper(), text)


def argument_help(function: Callable[..., Any], name: str) -> str:
    """Return the description of a parameter in a docstring, without sentences that begin "In Python"."""
    _, _, section = (inspect.getdoc(function) or "").partition("\nArgs:\n")
    for names, text in re.findall(r"^    (\w[\w, ]*): ((?:.*\n?)(?:^ {8}.*\n?)*)", section, re.MULTILINE):
        if name in re.split(", *", names):
            sentence = " ".join(_plain(text).split()).rstrip(".") + "."
            return sentence[:1].upper() + re.sub(r" In Python, .*?\.(?= |$)", "", sentence[1:])
    return ""


def _plain(text: str) -> str:
    """Remove the markup of docstrings from text; commands are put in quotes."""
    return re.sub("``(.+?)``", r"\1", re.sub("``(captious .+?)``", r"'\1'", text))
