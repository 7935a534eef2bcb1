"""What a wrong command line means: the option or command that people mean by another word, before similar letters."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence

import click

from captious.errors import CaptiousError
from captious.plugins import did_you_mean

_CANDIDATES = "candidates candidate hyp hyps hypotheses pred preds predictions prediction system systems res results i"
_REFERENCES = "reference references ref refs gt gts ground-truth target targets annotations r"

#: Words -> what people mean by them: the first option that the command has.
_OPTIONS = {
    "metrics measure measures scorer scorers": "--metric",
    "out out-file output-file outfile save save-to write": "--output",
    "output-format out-format fmt": "--format",
    "lang l": "--language",
    "tok tokenize tokenization": "--tokenizer",
    "df df-mode document-frequencies frequencies corpus": "--idf",
    "confidence confidence-interval confidence-intervals interval intervals bootstrap": "--ci --resamples",
    "n-bootstrap n-resamples bootstrap-samples samples n-samples iterations trials": "--resamples",
    "random-seed random-state": "--seed",
    "jobs n-jobs num-workers nproc cpus cores j": "--threads --workers",
    "workers": "--threads",
    "threads": "--workers",
    "subset partial common intersection allow-missing ignore-missing skip-missing": "--match",
    "of-k multiple multi": "--several",
    "cleanup clean-text preprocess normalize strip": "--clean",
    "layout input-format harness source": "--from",
    "column key keys field fields": "--columns",
    "id-type id-rule": "--ids",
    "name-style metric-names names": "--naming",
    "per-image per-sentence per-sample sentence-level segment-level details individual": "--per-caption",
    "percentage percentages scale x100": "--percent",
    "group groups by category": "--group-by",
    "n top": "--worst --examples",
    "image-id img image-ids": "--image",
    "image image-dir image-folder img-dir": "--images",
    "model-name checkpoint backbone": "--model",
    "url api-base base-url api-url host server": "--endpoint --server",
    "endpoint": "--endpoint --server",
    "llm gpt judge-model": "--judge",
    "batch-size batch": "--batch-rows",
    "plots figure figures plot-dir": "--plot",
    "object instances": "--objects",
    "embeddings glove word2vec": "--vectors",
    "no-refs reference-free referenceless without-references": "--no-references",
    "verbose v traceback": "--debug",
    "silent no-warnings": "--quiet",
}
#: Words -> the command that people mean by them.
_COMMANDS = {
    "eval evaluate evaluation run-eval metric bench scores": "score",
    "test significance diff difference ab paired": "compare",
    "validate lint inspect clean": "check",
    "why show": "explain",
    "html page dashboard": "report",
    "rank prefer pairwise arena": "judge-pairwise",
    "benchmark correlate correlation meta-eval meta": "judge",
    "benchmarks datasets dataset": "data list",
    "train finetune": "learn train",
    "list list-metrics ls": "metrics",
    "download install get fetch setup": "resources get",
    "info env status": "doctor",
    "server start": "serve",
    "upload": "submit",
    "leaderboard competitions": "challenges",
    "hallucination hallucinations": "score -m chair",
    "version": "--version",
    "embeddings glove": "vectors",
    "autocomplete complete": "completion",
}


def advice_on_command(word: str, names: Sequence[str], path: str) -> str:
    """Return a remedy for a word that is no command: what is meant by it, and where the commands are listed.

    Args:
        word: the word.
        names: the commands of the group.
        path: the words that call the group.
    """
    list_of_commands = f"{path} --help lists the commands"
    if path != "captious":
        return f"{did_you_mean(word, names)}{list_of_commands}"
    if _is_metric(word):
        return f"{word} is a metric: captious score -m {word} CANDIDATES REFERENCES"
    if os.path.exists(word):
        return f"{word} is a file: captious score {word} REFERENCES"
    meant = next((command for words, command in _COMMANDS.items() if _simple(word) in words.split()), None)
    guess = did_you_mean(word, names) if meant is None else f"did you mean captious {meant}? "
    return f"{guess}{list_of_commands}"


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
        advice = _advice_on_option(error.option_name, arguments, context)
        if advice:
            message = f"no such option {error.option_name!r}"
    elif isinstance(error, click.BadParameter) and isinstance(getattr(error.param, "type", None), click.Choice):
        advice = _advice_on_choice(error, message)
    advice = advice.rstrip()
    remedy = f"{advice} {context.command_path} --help".lstrip() if advice[-1:] in ("", "?") else advice
    return message[:1].lower() + message[1:].rstrip("."), usage, remedy


def _advice_on_option(option: str, arguments: Sequence[str], context: click.Context) -> str:
    """Return what is meant by an option that a command does not have; empty if nothing comes to mind."""
    for place, text in enumerate(arguments):
        if text.startswith(option) and _is_no_option(text):
            before, after = arguments[:place], arguments[place:]
            if any(one.startswith("-") and not _is_no_option(one) for one in after):
                return f"give options first, then -- and what begins with a dash: -- {shlex.quote(text)}"
            return f"write -- before what begins with a dash:\n    {shlex.join(['captious', *before, '--', *after])}"
    word = _simple(option)
    command = context.command
    known = {flag: parameter for parameter in command.params for flag in parameter.opts}
    known |= {flag: parameter for parameter in context.find_root().command.params for flag in parameter.opts}
    formats = getattr(getattr(known.get("--format"), "type", None), "choices", ())
    if word in formats:
        return f"did you mean --format {word}?"
    meant = [flag for words, flags in _OPTIONS.items() if word in words.split() for flag in flags.split()]
    if flag := next((flag for flag in meant if flag in known), None):
        return f"did you mean {flag}?"
    arguments_of = [parameter for parameter in command.params if isinstance(parameter, click.Argument)]
    if arguments_of and word in f"{_CANDIDATES} {_REFERENCES}".split():
        pieces = " ".join(parameter.make_metavar(context) for parameter in arguments_of)
        return f"files need no option: {context.command_path} {pieces}"
    if "--metric" in known and (word == "hallucination" or _is_metric(word)):
        return f"did you mean -m {'chair' if word == 'hallucination' else word}?"
    return ""


def _is_no_option(text: str) -> bool:
    """Return whether this is a caption or a file, although it begins with a dash."""
    return text.startswith("-") and (" " in text or os.path.exists(text))


#: Formats by other names.
_FORMATS = {"latex": "tex", "markdown": "md", "excel": "xlsx", "text": "table", "txt": "table", "terminal": "table"}


def _advice_on_choice(error: click.BadParameter, message: str) -> str:
    assert error.param is not None
    choices: Sequence[str] = error.param.type.choices  # type: ignore[attr-defined]
    given = next(iter(re.findall(r"'([^']*)' is not", message)), "")
    meant = _FORMATS.get(given.lower(), "")
    return f"did you mean {meant}?" if meant in choices else did_you_mean(given, choices)


def _is_metric(word: str) -> bool:
    from captious.metrics.contract.registry import Request

    try:
        return bool(Request.from_text(word.lstrip("-")).metric)
    except CaptiousError:
        return False


def _simple(word: str) -> str:
    return word.lstrip("-").lower().replace("_", "-")


def context_of(arguments: Sequence[str], root: click.Group) -> click.Context:
    """Return the context of the command that arguments select, as some of click's errors lack it."""
    context = click.Context(root, info_name="captious", **root.context_settings)
    for word in arguments:
        command = context.command
        if isinstance(command, click.Group) and word in command.list_commands(context):
            below = command.get_command(context, word)
            context = context if below is None else click.Context(below, info_name=word, parent=context)
    return context
