"""Captions on the command line: files of systems and references, how they are read and matched, groups of images."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from glob import glob
from pathlib import Path
from typing import Any, TypeAlias

import click

from captious.cli.library_options import Command, converted, option_of, options
from captious.cli.options import (
    completions,
    data_option,
    metric_option,
    resamples_option,
    seed_option,
    settings_options,
)
from captious.data import (
    CaptionFile,
    CaptionRows,
    Groups,
    References,
    absent_references,
    read_groups,
    read_references,
    read_rows,
)
from captious.data.formats import is_prepared, is_standard_input, is_stream
from captious.data.layouts import LAYOUTS, layout_named
from captious.data.matching import OF_SEVERAL
from captious.data.readers import log_with_references
from captious.data.rows import ReadOptions, image_list, read_options_of
from captious.errors import CaptiousError, MissingReferencesError, ParameterError, UnknownNameError
from captious.evaluation import score
from captious.evaluation.report import system_names
from captious.metrics.contract.registry import Request
from captious.metrics.contract.settings import Settings
from captious.progress import steps
from captious.words import counted

#: What functions of the library take as captions.
Source: TypeAlias = Any


# Files of systems: FILE or NAME=FILE.


@dataclass(frozen=True)
class SystemFile(os.PathLike[str]):
    """A file of the captions of a system.

    Args:
        text: as written: a path, or NAME=PATH.
        path: the file.
        name: name of the system; empty if none is given.
    """

    text: str
    path: Path
    name: str = ""

    @classmethod
    def of(cls, text: str) -> SystemFile:
        """Read FILE or NAME=FILE; a file whose own name has this form is that file.

        Names look like paths or patterns only before a file that exists.
        """
        name, _, path = text.partition("=")
        is_named = name and path and (os.path.exists(path) or not any(mark in name for mark in "/\\*?"))
        if not is_named or os.path.lexists(text) or glob(text):
            return cls(text, Path(text))
        return cls(text, Path(path), name.strip())

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __str__(self) -> str:
        return self.text


class _SystemType(click.Path):
    """The type of files of systems. Metrics among them are refused, as ``-m`` takes one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> SystemFile:
        if isinstance(value, SystemFile):
            return value
        file = SystemFile.of(os.fspath(value))
        if not file.path.suffix and not os.path.lexists(file.path) and is_metric(file.text):
            given = (ctx.params.get("metrics") if ctx is not None else None) or ["bleu-4"]
            metrics = [*dict.fromkeys([*(metric for metric in given if isinstance(metric, str)), file.text])]
            raise ParameterError(
                f"{file.text} is a metric, and stands where files are expected",
                hint=f"repeat -m, as in {' '.join(f'-m {metric}' for metric in metrics)}, or write "
                f"-m {','.join(metrics)}",
            )
        return file


SYSTEM = _SystemType()


def is_metric(text: str) -> bool:
    """Return whether a metric can be requested by this text."""
    try:
        return bool(Request.from_text(text.lstrip("-")).metric)
    except CaptiousError:
        return False


def named_systems(files: Sequence[Any]) -> dict[str, Any]:
    """Return the files of systems by their names: those that are given, or else ``system_names``.

    Raises:
        ParameterError: a name or a file is given twice.
    """
    unnamed = [os.fspath(file) for file in files if not _given_name(file)]
    names = iter(system_names(unnamed))
    systems: dict[str, Any] = {}
    for file in files:
        name = _given_name(file) or next(names)
        if name in systems:
            raise ParameterError(f"{name} is given twice", hint="give each system its own name: NAME=FILE")
        systems[name] = file.path if isinstance(file, SystemFile) else file
    return systems


def _given_name(file: Any) -> str:
    return file.name if isinstance(file, SystemFile) else ""


# How files are read: --from, --columns and --split.


@dataclass(frozen=True)
class Reading:
    """How files of captions are read.

    Args:
        layout: the layout of logs; None to find it.
        columns: names of columns or fields other than the usual ones: id=key,caption=text. Captions of one side are
            candidate or references, which may be repeated. Paths lead into objects and lists: caption=outputs/0/text.
            May be repeated.
        split: the split of the data set to read, such as test; several are separated by commas.
    """

    layout: str | None = None
    columns: str | None = None
    split: str | None = None

    def sources(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values, with files as sources in the layout, which share columns and split.

        Args:
            values: parameter -> a file, several files, a mapping to files, or None. ``references`` need not be logs.

        Raises:
            ParameterError: invalid names, or columns of logs.
        """
        options = read_options_of(self.columns, self.split)
        if options is not None and self.layout is not None:
            raise ParameterError("--columns and --split cannot be used with --from", hint="leave them out")
        return {name: self._source(value, options, name) for name, value in values.items()}

    def pair(self, candidates: Any, references: Any) -> tuple[Any, Any]:
        """Return a file of candidates and one of references, or those of a log that has both, as sources."""
        if references is None and self.layout is not None and layout_named(self.layout).has_references:
            references = candidates
        sources = self.sources({"candidates": candidates, "references": references})
        return sources["candidates"], sources["references"]

    def is_log_with_references(self, file: Any) -> bool:
        """Return whether a file is a log of the layout, which has references."""
        if self.layout is None or not layout_named(self.layout).has_references:
            return False
        return is_stream(file) or log_with_references(CaptionFile(file, layout=self.layout)) == self.layout

    def of_logs(self, files: Sequence[SystemFile]) -> Reading:
        """Return how to read files of which the first and the last are logs that have references, in one layout.

        Otherwise, and if options say how to read them, return this.
        """
        if not files or self != Reading() or any(map(is_stream, files)):
            return self
        found = log_with_references(files[0])
        return replace(self, layout=found) if found and log_with_references(files[-1]) == found else self

    def _source(self, value: Any, options: ReadOptions | None, name: str) -> Any:
        if isinstance(value, Path | SystemFile):
            path = Path(value)
            if self.layout is not None and (name != "references" or self.is_log_with_references(path)):
                return CaptionFile(path, layout=self.layout)
            return path if options is None else CaptionFile.sharing(path, options)
        if isinstance(value, Mapping):
            return {key: self._source(file, options, name) for key, file in value.items()}
        return tuple(self._source(file, options, name) for file in value) if isinstance(value, tuple) else value


_LOGS = [layout.option for layout in LAYOUTS if layout.answer is not None]
#: The options ``--from``, ``--columns`` and ``--split``; the command is called with ``reading``.
reading_options = converted(
    lambda **names: {"reading": Reading(**names)},
    click.option(
        "--from",
        "layout",
        type=click.Choice(_LOGS, case_sensitive=False),
        metavar="LAYOUT",
        help=f"Files of candidates are logs in this layout: {', '.join(_LOGS)}. References are the last file, or "
        "those of the first log if the last file is a log with references, too.",
    ),
    option_of(
        Reading,
        "columns",
        metavar="NAMES",
        multiple=True,
        callback=lambda context, option, texts: ",".join(texts) or None,
    ),
    option_of(Reading, "split", metavar="NAME"),
)


def reads_captions(*parameters: str) -> Callable[[Command], Command]:
    """Add the options of ``reading_options``, and apply them to the files of these parameters.

    Args:
        parameters: each a file, several files, a mapping to files, or None.
    """

    def sources(reading: Reading, **files: Any) -> dict[str, Any]:
        return reading.sources(files)

    return options(reading_options, converted(sources, takes=("reading", *parameters)))


# SYSTEM... REFERENCES.


@dataclass(frozen=True)
class Systems:
    """The systems of a command by name, and the references of their images.

    Args:
        sources: name -> source of captions.
        references: source of references; None if there are none.
    """

    sources: Mapping[str, Any]
    references: Any

    def read(self, *, several: bool = False) -> tuple[dict[str, CaptionRows], References]:
        """Read the captions of systems, and references; those of images without references if there are none."""
        references = None if self.references is None else read_references(self.references)
        rows = {}
        with steps([*self.sources.items()], lambda system: f"reading {system[1]}") as read:
            for name, source in read:
                rows[name] = read_rows(source, "candidates", several=several, failures=True)
        return rows, absent_references(next(iter(rows.values()))) if references is None else references

    def groups(self, by: str | None, references: References, settings: Settings) -> Groups | None:
        """Return the groups that ``--group-by`` names, if any."""
        sources = [*self.sources.values()]
        files = sources if self.references is None else [self.references, *sources]
        return groups_of(files, references, settings, by)


def systems_of(
    files: Sequence[SystemFile], reading: Reading, *, least: int = 1, no_references: bool = False
) -> Systems:
    """Return systems and references from files in their order on the command line.

    Args:
        files: the systems, then the references unless the systems have their own or need none.
        reading: how they are read.
        least: how many systems there must be.
        no_references: all files are candidates: for metrics that need no references, such as chair and clipscore.

    Raises:
        ParameterError, click.UsageError: too few files, or a name twice.
    """
    if not files:
        raise click.UsageError("no files were given")
    reading = reading if no_references else reading.of_logs(files)
    are_logs = reading.layout is not None and layout_named(reading.layout).has_references
    are_logs = are_logs and (len(files) == 1 or reading.is_log_with_references(files[-1].path))
    systems = files if no_references or are_logs else files[:-1]
    if len(systems) < least:
        if least > 1:
            after = "" if len(systems) == len(files) else ", and REFERENCES,"
            raise click.UsageError(f"systems A and B{after} are needed")
        try:
            read_references(files[0].path)
        except MissingReferencesError:  # a log, which says so
            raise
        except CaptiousError:
            pass
        hint = "give at least one file of candidates, followed by the file of references"
        raise ParameterError("only one file was given", hint=hint)
    references = None if no_references else files[0] if are_logs else files[-1]
    named = named_systems(systems)
    if references is not None and len(named) > 1 and all(file.path.suffix == ".txt" for file in files):
        *_, last = named
        lines = shlex.join(os.fspath(file) for file in files[1:])
        click.echo(f"{last} is scored as a system; to join references: paste {lines} > references.txt", err=True)
    sources = reading.sources({"systems": named, "references": references})
    return Systems(sources["systems"], sources["references"])


no_references_option = option_of(systems_of, "no_references")


def system_files(
    *, least: int = 1, metavar: str = "SYSTEM... REFERENCES", optional: bool = False
) -> Callable[[Command], Command]:
    """Add arguments ``SYSTEM... REFERENCES`` and the options of ``reading_options``; the command is called with
    ``systems``, which are ``Systems``.

    Args:
        least: how many systems there must be.
        metavar: the arguments in the help.
        optional: whether there is an option ``--no-references``.
    """

    def systems(files: tuple[SystemFile, ...], reading: Reading, no_references: bool = False) -> dict[str, Any]:
        return {"systems": systems_of(files, reading, least=least, no_references=no_references)}

    argument = click.argument("files", nargs=-1, type=SYSTEM, metavar=metavar)
    flags = {"no_references": no_references_option} if optional else {}
    takes = ("files", "reading", *flags)
    return options(argument, *flags.values(), reading_options, converted(systems, takes=takes))


# ``--group-by``: groups of images by a file, by a column of an input file, or by length.

_LENGTH = "length"


def groups_of(
    files: Sequence[Source], references: References, settings: Settings, group_by: str | None = None
) -> Groups | None:
    """Return the groups that the option ``--group-by`` names; None without it.

    Args:
        files: the files that the command reads, the references first.
        references: the images.
        settings: settings with the tokenizer that counts the words of references.
        group_by: also show scores by group of images: a file of groups, the column of a file (FILE:COLUMN), a column or
            field of the references or candidates, or 'length' of the references (length:8,10,12 for other bounds than
            quartiles).

    Raises:
        ParameterError: neither a file nor a column, or ambiguous.
        InputError: as ``read_groups`` does.
    """
    if group_by is None:
        return None
    by = group_by
    tokenizer = settings.tokenizer or "ptb"
    if os.path.isfile(by):
        return read_groups(by)
    file, _, column = by.rpartition(":")
    if file and os.path.isfile(file):
        return read_groups(file, column=column)
    from captious.evaluation import length_groups

    name, _, bounds = by.partition(":")
    if name == _LENGTH and bounds:
        return length_groups(references, _bounds(by, bounds), tokenizer=tokenizer)
    columns, absent = _columns(by, files)
    if by == _LENGTH:
        if columns:
            raise ParameterError(
                f"{_LENGTH!r} is also a column",
                where=columns[0].source,
                hint=f"for the column: --group-by {columns[0].source}:{_LENGTH}; for the number of words of the "
                f"references: {_LENGTH}:8,10,12, which are the largest numbers",
            )
        return length_groups(references, tokenizer=tokenizer)
    if not columns:
        raise ParameterError(
            f"{by!r} is neither a file nor a column",
            where="; ".join(absent),
            hint="give a file of groups, FILE:COLUMN, the name of a column or field of these files, or length",
        )
    _check_agreement(by, columns)
    return columns[0]


group_option = option_of(groups_of, "group_by", metavar="FILE|COLUMN")


def _bounds(by: str, text: str) -> list[float]:
    try:
        return [float(piece) for piece in text.split(",")]
    except ValueError:
        raise ParameterError(
            f"{by!r} is not a list of lengths", where="--group-by", hint="give numbers of words: length:8,10,12"
        ) from None


def _columns(column: str, files: Sequence[Source]) -> tuple[list[Groups], list[str]]:
    """Return groups from every file that has the column, and where it was searched for in others."""
    columns, absent = [], []
    for file in dict.fromkeys(files):
        if is_prepared(file):
            absent.append(f"{file}: prepared references have no columns")
            continue
        if is_stream(file) and not is_standard_input(file):
            absent.append(f"{file}: a pipe can only be read once")
            continue
        try:
            columns.append(read_groups(file, column=column))
        except UnknownNameError as error:
            absent.append(error.where)
    return columns, absent


def _check_agreement(name: str, columns: Sequence[Groups]) -> None:
    """Refuse columns of several files that assign different groups to an image."""
    first = {str(image): group for image, group in columns[0].group_of.items()}
    for groups in columns[1:]:
        differing = [image for image, group in groups.group_of.items() if first.get(str(image), group) != group]
        if differing:
            raise ParameterError(
                f"{counted(len(differing), 'image', 'have')} a different {name} in two files",
                where=f"{columns[0].source}, {groups.source}: {image_list(differing)}",
                hint=f"say which file is meant: --group-by {columns[0].source}:{name}",
            )


# Options that commands share, by the parameters with which commands are called.


def _complete_rules(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from captious.data.cleaning import RULES

    return completions(RULES, incomplete)


_SHARED: Mapping[str, Callable[[Any], Any]] = {
    "reading": reading_options,
    "no_references": no_references_option,
    "group_by": group_option,
    "several": option_of(
        score, "several", click.Choice(OF_SEVERAL), multiple=True, callback=lambda context, option, ways: ways or None
    ),
    "match": option_of(score, "match"),
    "ids": option_of(score, "ids"),
    "clean": option_of(score, "clean", click.STRING, metavar="RULES", default="", shell_complete=_complete_rules),
    "metrics": metric_option,
    "settings": settings_options,
    "data": data_option,
    "resamples": resamples_option,
    "seed": seed_option,
}


def shared(*names: str) -> Callable[[Command], Command]:
    """Add options that commands share, by the parameters with which the command is called, in this order."""
    return options(*(_SHARED[name] for name in names))
