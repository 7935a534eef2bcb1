"""What a wrong command line means: the option or command that people mean by another word, before similar letters."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence

import click

from captious.cli.inputs import is_metric
from captious.plugins import did_you_mean, meanings

#: Words -> the command that people mean by them, where it is more than the name of one.
_COMMANDS = {
    "benchmarks datasets dataset": "data list",
    "train finetune": "learn train",
    "download install get fetch setup": "resources get",
    "hallucination hallucinations": "score -m chair",
    "version": "--version",
}
#: Letters of options in other programs.
_LETTERS = {"d": "debug", "f": "format", "j": "jobs", "l": "lang", "n": "samples", "s": "seed", "v": "verbose"}
#: Names of formats, and those that they have here.
_FORMATS = {"latex": "tex", "markdown": "md", "excel": "xlsx", "text": "table", "txt": "table", "terminal": "table"}


def advice_on_command(word: str, names: Sequence[str], path: str) -> str:
    """Return a remedy for a word that is no command: what is meant by it, and where the commands are listed.

    Args:
        word: the word.
        names: the commands of the group.
        path: the words that call the group.
    """
    list_of_commands = f"{path} --help lists the commands"
    if path == "captious":
        if is_metric(word):
            return f"{word} is a metric: captious score -m {word} CANDIDATES REFERENCES"
        if os.path.exists(word):
            return f"{word} is a file: captious score {word} REFERENCES"
        for words, command in _COMMANDS.items():
            if word.lower() in words.split():
                return f"did you mean captious {command}? {list_of_commands}"
    return f"{did_you_mean(word, names)}{list_of_commands}"


def message_of(error: click.ClickException, arguments: Sequence[str], root: click.Group) -> tuple[str, str, str]:
    """Return an error of click: the problem, the usage of the command, the remedy.

    Args:
        error: the error.
        arguments: those of the command line.
        root: the command of which they are arguments.
    """
    context = getattr(error, "ctx", None) or context_of(arguments, root)
    usage = context.get_usage().removeprefix("Usage: ")
    message, advice = error.format_message(), ""
    if isinstance(error, click.NoSuchOption):
        message = f"no such option {error.option_name!r}"
        advice = _advice_on_option(error.option_name, arguments, context)
    elif isinstance(error, click.MissingParameter) and isinstance(error.param, click.Option):
        advice = f"add {error.param.opts[0]} {error.param.make_metavar(context)};"
    elif isinstance(error, click.BadParameter) and isinstance(getattr(error.param, "type", None), click.Choice):
        advice = _advice_on_choice(error, message)
    advice = advice.rstrip()
    remedy = f"{advice} {context.command_path} --help".lstrip() if advice[-1:] in ("", "?", ";") else advice
    return message[:1].lower() + message[1:].rstrip("."), usage, remedy


def _advice_on_option(option: str, arguments: Sequence[str], context: click.Context) -> str:
    """Return what is meant by an option that a command does not have; empty if nothing comes to mind."""
    for place, text in enumerate(arguments):
        if text.startswith(option) and _is_no_option(text):
            before, after = arguments[:place], arguments[place:]
            if any(one.startswith("-") and not _is_no_option(one) for one in after):
                return f"give options first, then -- and what begins with a dash: -- {shlex.quote(text)}"
            return f"write -- before what begins with a dash:\n    {shlex.join(['captious', *before, '--', *after])}"
    word = option.lstrip("-").lower().replace("_", "-")
    word = _LETTERS.get(word, word)
    command = context.command
    parameters = [*command.params, *context.find_root().command.params]
    flags = {flag: parameter for parameter in parameters for flag in parameter.opts if flag.startswith("--")}
    formats = getattr(getattr(flags.get("--format"), "type", None), "choices", ())
    if _FORMATS.get(word, word) in formats:
        return f"did you mean --format {_FORMATS.get(word, word)}?"
    meant = meanings().get(word, ())
    if any(f"--{name}" in flags for name in (word, *meant)):
        return did_you_mean(word, flags)
    arguments_of = [parameter for parameter in command.params if isinstance(parameter, click.Argument)]
    usage = " ".join([context.command_path, *(parameter.make_metavar(context) for parameter in arguments_of)])
    if arguments_of and (word in ("c", "i", "r") or {"references", "candidates"} & {*meant}):
        return f"files need no option: {usage}"
    if word in ("m", "metric", "metrics") and any(parameter.name == "metric" for parameter in arguments_of):
        return f"the metric needs no option: {usage}"
    if "--metric" in flags and (metric := next(iter(filter(is_metric, [word, *meant])), None)):
        return f"did you mean -m {metric}?"
    return did_you_mean(word, flags) if len(word) > 1 else ""


def _is_no_option(text: str) -> bool:
    """Return whether this is a caption or a file, although it begins with a dash."""
    return text.startswith("-") and (" " in text or os.path.exists(text))


def _advice_on_choice(error: click.BadParameter, message: str) -> str:
    assert error.param is not None
    choices: Sequence[str] = error.param.type.choices  # type: ignore[attr-defined]
    given = next(iter(re.findall(r"'([^']*)' is not", message)), "")
    meant = _FORMATS.get(given.lower(), "")
    return f"did you mean {meant}?" if meant in choices else did_you_mean(given, choices)


def context_of(arguments: Sequence[str], root: click.Group) -> click.Context:
    """Return the context of the command that arguments select, as some of click's errors lack it."""
    context = click.Context(root, info_name="captious", **root.context_settings)
    for word in arguments:
        command = context.command
        if isinstance(command, click.Group) and word in command.list_commands(context):
            below = command.get_command(context, word)
            context = context if below is None else click.Context(below, info_name=word, parent=context)
    return context
