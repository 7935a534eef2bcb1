"""Options shared by commands: metrics, settings, human judgments, resampling, output files."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from typing import Any

import click
from click.core import ParameterSource

from captious.cli.library_options import FILE, Command, DocumentedCommand, converted, option_of
from captious.cli.outputs import written
from captious.errors import ParameterError
from captious.metrics.contract.metric import BaseMetric
from captious.metrics.contract.registry import names_a_file, requestable
from captious.metrics.contract.settings import REFERENCES_AS, Settings
from captious.statistics import DEFAULT_RESAMPLES, MOST_RESAMPLES
from captious.words import DEFAULT_SEED


def _requests(text: str) -> list[str]:
    """Split a list of metrics at its commas, except for those between the parameters of a metric."""
    if names_a_file(text) and os.path.exists(text.rpartition(":")[0]):
        return [text]
    requests: list[str] = []
    for piece in text.split(","):
        if requests and ":" in requests[-1] and re.match(r"[^:@]*=", piece):
            requests[-1] += f",{piece}"
        elif piece.strip():
            requests.append(piece.strip())
    return requests or [text]


def _metrics(context: click.Context, option: click.Parameter, texts: Sequence[str]) -> list[str | BaseMetric] | None:
    """Return the metrics that ``-m`` names; functions from files, which are executed, as metrics."""
    return [_metric(request) for text in texts for request in _requests(text)] or None


def _metric(request: str) -> str | BaseMetric:
    if not names_a_file(request):
        return request
    from captious.metrics.contract.functions import FileMetric

    with redirect_stdout(sys.stderr):  # what the file prints
        return FileMetric(request)


def complete_metrics(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the metrics and outputs that complete the last of those written, for shells."""
    return completions(requestable(), incomplete)


def completions(names: Iterable[str], incomplete: str) -> list[str]:
    """Return the names that complete the last of those written, which are separated by commas."""
    before, comma, name = incomplete.rpartition(",")
    return [f"{before}{comma}{known}" for known in names if known.startswith(name.lower())]


def complete_languages(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the codes of languages that complete what is written, for shells."""
    from captious.text.languages import LANGUAGES

    return completions(LANGUAGES, incomplete)


metric_option = click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    callback=_metrics,
    shell_complete=complete_metrics,
    help="A metric or output, with its variant and parameters: bleu, bleu-4, cider-d@paper, rouge-s:gap=2; several, "
    "separated by commas; your own, FILE.py:FUNCTION; or all, for every metric that can run here. May be repeated. "
    "Default: the metrics of the COCO evaluation.",
)
data_option = click.option(
    "--data", type=FILE, metavar="DIR", help="Folder of human judgments. Default: CAPTIOUS_DATA."
)

#: Attributes of ``--resamples`` and ``--seed``, without their defaults.
RESAMPLES: Mapping[str, Any] = {
    "type": click.IntRange(1, MOST_RESAMPLES),
    "metavar": "N",
    "help": "Number of resamples, for intervals and tests.",
}
SEED: Mapping[str, Any] = {"type": click.IntRange(min=0), "metavar": "N", "help": "Random seed."}
resamples_option = click.option("--resamples", default=DEFAULT_RESAMPLES, show_default=True, **RESAMPLES)
seed_option = click.option("--seed", default=DEFAULT_SEED, show_default=True, **SEED)

#: The option for each setting; ``Settings`` has the defaults and the help.
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "language": {"metavar": "CODE", "shell_complete": complete_languages},
    "tokenizer": {"metavar": "NAME"},
    "idf": {},
    "model": {"metavar": "MODEL"},
    "vectors": {"metavar": "NAME|FILE"},
    "parser": {"flags": ("--parser", "--parses"), "metavar": "NAME|FILE"},
    "images": {"type": FILE, "metavar": "DIR|FEATURES"},
    "objects": {},
    "training": {},
    "judge": {"metavar": "MODEL|FILE"},
    "references_as": {"type": click.Choice(REFERENCES_AS)},
    "threads": {"type": click.INT, "metavar": "N"},
}


def judge_at(judge: str | None, endpoint: str | None = None) -> Any:
    """Return the model that ``--judge`` names, at the address of ``--endpoint`` if there is one.

    Args:
        judge: a name or a file.
        endpoint: the address of the model of --judge, up to and including /v1. Default: CAPTIOUS_ENDPOINT.
    """
    if endpoint is None:
        return judge
    if judge is None:
        metrics = click.get_current_context().params.get("metrics") or ()
        request = "" if any(str(metric).startswith("judge-") for metric in metrics) else "-m judge-clair "
        raise ParameterError(
            "--endpoint is the address of the model of a judge", hint=f"name the model: {request}--judge MODEL"
        )
    from captious.models.chat import ChatModel, as_chat_model

    is_file = judge.endswith(".toml")
    return replace(as_chat_model(judge), endpoint=endpoint) if is_file else ChatModel(judge, endpoint)


endpoint_option = option_of(judge_at, "endpoint", metavar="URL")


def _settings(judge: str | None = None, endpoint: str | None = None, **values: Any) -> dict[str, Settings]:
    values["judge"] = judge_at(judge, endpoint)
    return {"settings": Settings(**{name: value for name, value in values.items() if value is not None})}


def some_settings(*names: str) -> Callable[[Command], Command]:
    """Add the options of these settings; the command is called with ``settings``."""
    return converted(_settings, *(option_of(Settings, name, **SETTINGS[name]) for name in names))


#: An option for every setting; the command is called with ``settings``.
settings_options = converted(
    _settings, *(option_of(Settings, name, **attributes) for name, attributes in SETTINGS.items()), endpoint_option
)


def recipe_attributes(recipes: Iterable[str]) -> Mapping[str, Any]:
    """Return attributes of the option ``--recipe`` of training commands."""
    names = ", ".join(recipes)
    what = f"How to train: {names}, or a file (.json, .toml) with a base and the fields that differ from it."
    return {"metavar": "NAME|FILE", "help": what}


def output_file(
    *, metavar: str = "FILE", help: str = "Output file, written atomically."
) -> Callable[[Command], Command]:
    """Return the option ``-o`` of a command whose results always go to a file, which is checked before any work is
    done.
    """
    option = click.option("-o", "--output", required=True, type=FILE, metavar=metavar, help=help)
    return lambda command: option(written("output")(command))


def repeated_command(command: str, *more: str, without: Sequence[str] = ()) -> str:
    """Return the current command line with its options, for use with another command.

    Args:
        command: the command to use, such as "captious compare".
        more: options to add.
        without: parameters of this call to leave out.
    """
    context = click.get_current_context()
    arguments: list[str] = []
    options: list[str] = []
    for parameter in context.command.params:
        name = parameter.name or ""
        if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE or name in without:
            continue
        value = context.params[name]
        if isinstance(parameter, click.Argument):
            arguments += map(str, value if isinstance(value, tuple) else (value,))
        elif isinstance(parameter, click.Option) and parameter.is_flag:
            options.append(parameter.opts[0])
        else:
            values = value if parameter.multiple and isinstance(value, list | tuple) else (value,)
            options += [word for item in values for word in (parameter.opts[0], str(item))]
    if any(argument.startswith("-") for argument in arguments):
        return shlex.join([*command.split(), *options, *more, "--", *arguments])
    return shlex.join([*command.split(), *arguments, *options, *more])


# ``SectionedCommand``: a command whose options are listed by section in its help, those of its subject first.

_SECTIONS = {
    "Captions": ("layout", "no_references", "several", "match", "ids", "clean", "columns", "split"),
    "Settings of metrics": (*SETTINGS, "endpoint"),
    "Output": ("format_", "output", "per_caption", "plot", "percent", "transpose", "naming", "interval_style"),
    "Shards": ("shards", "engine", "workers", "retries", "batch_rows"),
}
_SECTION_OF = {name: section for section, names in _SECTIONS.items() for name in names}


class SectionedCommand(DocumentedCommand):
    """A command with many options."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        lines: dict[str, list[tuple[str, str]]] = {section: [] for section in ("Options", *_SECTIONS)}
        for parameter in self.get_params(ctx):
            if isinstance(parameter, click.Option) and (line := parameter.get_help_record(ctx)) is not None:
                lines[_SECTION_OF.get(parameter.name or "", "Options")].append(line)
        for section, of_section in lines.items():
            if of_section:
                with formatter.section(section):
                    formatter.write_dl(of_section)
