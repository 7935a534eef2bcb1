"""Shared options: metrics, settings, judgments, resampling; and the command line that repeats a call."""

from __future__ import annotations

import functools
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from captious.errors import ParameterError
from captious.evaluation.resampling import DEFAULT_RESAMPLES, DEFAULT_SEED, MOST_RESAMPLES
from captious.metrics.contract.of_k import CHOICES
from captious.metrics.contract.settings import REFERENCES_AS, Settings

__all__ = [
    "data_option",
    "metric_option",
    "no_references_option",
    "numbers",
    "of_k_option",
    "repeated_command",
    "resampling_options",
    "seed_option",
    "settings_options",
    "several_option",
    "subset_option",
    "system_names",
]

F = TypeVar("F", bound=Callable[..., Any])

metric_option = click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    callback=lambda context, option, given: list(given) or None,
    help="A metric or output, with its variant and parameters: bleu, bleu-4, cider-d@paper, rouge-s:gap=2; or "
    "all, for every metric that can run here. May be repeated. Default: the metrics of the COCO evaluation.",
)
subset_option = click.option("--subset", is_flag=True, help="Score only the images that both sides have.")
no_references_option = click.option(
    "--no-references",
    is_flag=True,
    help="All files are candidates: for metrics that need no references, such as chair and clipscore.",
)
several_option = click.option(
    "--several",
    is_flag=True,
    help="Images have several candidates: lists, or rows with the same image id.",
)
of_k_option = click.option(
    "--of-k",
    type=click.Choice(CHOICES),
    multiple=True,
    callback=lambda context, option, given: given or CHOICES[:1],
    help="With --several, how metrics of single captions score an image: by the mean of its candidates, or by the best "
    "one. May be repeated. Default: mean.",
)
data_option = click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of human judgments. Default: CAPTIOUS_DATA.",
)

#: How each field of ``Settings`` is given on the command line.
_SETTINGS: Mapping[str, tuple[Sequence[str], Mapping[str, Any]]] = {
    "tokenizer": (
        ["--tokenizer"],
        {
            "metavar": "NAME",
            "help": "Tokenizer: ptb, ptb-harness, ptb-raw, whitespace, spaces, smurf, or a registered one. "
            "Default: ptb.",
        },
    ),
    "idf": (
        ["--idf"],
        {
            "type": click.Path(path_type=Path),
            "metavar": "FILE",
            "help": "Document frequencies for CIDEr, from 'captious fit cider-d'. Default: those of the references.",
        },
    ),
    "model": (
        ["--model"],
        {
            "metavar": "MODEL",
            "help": "Model for metrics with contextual encoders: a name on the Hugging Face hub, or a folder. Default: "
            "each metric's own.",
        },
    ),
    "vectors": (
        ["--vectors"],
        {
            "metavar": "NAME|FILE",
            "help": "Word vectors: a name given to 'captious vectors add', or a file. Default: CAPTIOUS_VECTORS, "
            "or the only vectors that were added.",
        },
    ),
    "parser": (
        ["--parser", "--parses"],
        {
            "metavar": "NAME|FILE",
            "help": "Parses for spice, spider, allspice and hwcm: the grammar corenlp or bundled, spacy:NAME (hwcm "
            "only), or a file of parses (.jsonl from 'captious parse', or .conllu). Default: the best grammar "
            "available.",
        },
    ),
    "images": (
        ["--images"],
        {
            "type": click.Path(path_type=Path),
            "metavar": "DIR|FEATURES",
            "help": "Images of metrics that use them: a folder of image files, named by image id (clipscore, "
            "refclipscore), or a file of image features (leic).",
        },
    ),
    "objects": (
        ["--objects"],
        {
            "type": click.Path(path_type=Path),
            "metavar": "FILE",
            "help": "For chair: the objects in the images, from 'captious fit chair', or COCO instances.",
        },
    ),
    "training": (
        ["--training"],
        {
            "type": click.Path(path_type=Path),
            "metavar": "FILE",
            "help": "Captions that the systems were trained on, for novel, in any form of references.",
        },
    ),
    "references_as": (
        ["--references-as"],
        {
            "type": click.Choice(REFERENCES_AS),
            "default": "each",
            "show_default": True,
            "help": "How metrics see the references of an image: separately, or all concatenated (cat).",
        },
    ),
    "threads": (
        ["--threads"],
        {
            "type": int,
            "metavar": "N",
            "help": "Number of threads, up to 1,024. Default: CAPTIOUS_THREADS, or all cores.",
        },
    ),
}


def settings_options(command: F) -> F:
    """Give a command an option for every setting; it is called with ``settings``."""

    @functools.wraps(command)
    def with_settings(**given: Any) -> Any:
        said = {name: given.pop(name) for name in _SETTINGS}
        return command(settings=Settings(**{name: value for name, value in said.items() if value is not None}), **given)

    decorated: Any = with_settings
    for name, (flags, attributes) in reversed([*_SETTINGS.items()]):
        decorated = click.option(*flags, name, **attributes)(decorated)
    return decorated  # type: ignore[no-any-return]


def seed_option(command: F) -> F:
    """The option ``--seed``."""
    seed = click.option(
        "--seed", type=click.IntRange(min=0), default=DEFAULT_SEED, show_default=True, help="Random seed."
    )
    return seed(command)


def resampling_options(command: F) -> F:
    """Options of what is resampled: how often, and the random seed."""
    return click.option(
        "--resamples",
        type=click.IntRange(1, MOST_RESAMPLES),
        default=DEFAULT_RESAMPLES,
        show_default=True,
        help="Number of bootstrap resamples, and of permutations.",
    )(seed_option(command))


def numbers(kind: type) -> Callable[[click.Context, click.Parameter, str | None], tuple[float, ...]]:
    """A callback that reads numbers separated by commas."""

    def read(context: click.Context, option: click.Parameter, text: str | None) -> tuple[float, ...]:
        try:
            return tuple(kind(piece) for piece in (text or "").split(",") if piece.strip())
        except ValueError:
            raise click.BadParameter(f"{text!r} is not a list of numbers such as {option.metavar}") from None

    return read


def system_names(files: Sequence[Path]) -> list[str]:
    """A name for each system: the file's, without its extensions; the whole path where names would be the same.

    Raises:
        ParameterError: a file is given twice.
    """
    stems = [file.name.removesuffix(".gz").rsplit(".", 1)[0] or file.name for file in files]
    names = [stem if stems.count(stem) == 1 else str(file) for stem, file in zip(stems, files, strict=True)]
    names = [os.fsencode(name).decode(errors="replace") for name in names]  # names of files need not be text
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        raise ParameterError(f"{repeated[0]} is given twice", help="give each system once")
    return names


def repeated_command(command: str, *more: str, without: Sequence[str] = ()) -> str:
    """The call that is being made, as a command line: what was given on it, for another command.

    Args:
        command: the command with which to call again, such as "captious compare".
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
            options += [word for each in values for word in (parameter.opts[0], str(each))]
    if any(argument.startswith("-") for argument in arguments):
        return shlex.join([*command.split(), *options, *more, "--", *arguments])
    return shlex.join([*command.split(), *arguments, *options, *more])
