"""``--columns`` and ``--split``: what is read of the files of captions that a command takes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from captious.cli.library_options import Command, option_of
from captious.data import CaptionFile, read_captions
from captious.data.caption_file import ReadOptions, read_options_of
from captious.data.harness_logs import HarnessLog, read_harness_log
from captious.errors import ParameterError


def part_options(command: Command) -> Command:
    """Give a command the options ``--columns`` and ``--split``."""
    columns = option_of(read_captions, "columns", metavar="NAMES")
    return columns(option_of(read_captions, "split", metavar="NAME")(command))


def reads_captions(*parameters: str) -> Callable[[Command], Command]:
    """Give a command the options; the files of these parameters are then read as they say.

    Args:
        parameters: each a file, several, a mapping to files, or None.
    """

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def with_part(columns: str | None, split: str | None, **values: Any) -> Any:
            files = {name: values[name] for name in parameters}
            return command(**values | caption_files(files, columns, split))

        return part_options(with_part)  # type: ignore[return-value]

    return decorate


def caption_files(values: Mapping[str, Any], columns: str | None, split: str | None) -> dict[str, Any]:
    """The values, in which files share the columns and the split that are read of them.

    Raises:
        ParameterError: names that cannot be.
    """
    read_options = read_options_of(columns, split, len([*_files([*values.values()])]))
    return (
        dict(values)
        if read_options is None
        else {name: _sharing(value, read_options) for name, value in values.items()}
    )


def harness_logs(files: Sequence[Path], harness: str | None, *, has_columns: bool) -> list[HarnessLog]:
    """The logs that files are, none if they are of no harness; raises as ``read_harness_log``.

    Raises:
        ParameterError: columns or a split were named.
    """
    if harness is None:
        return []
    if has_columns:
        raise ParameterError("--columns and --split cannot be used with --from", help="leave them out")
    return [read_harness_log(file, harness) for file in files]


def _files(value: Any) -> Iterator[Path]:
    if isinstance(value, Path):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _files(item)


def _sharing(value: Any, read_options: ReadOptions) -> Any:
    if isinstance(value, Path):
        return CaptionFile.sharing(value, read_options)
    if isinstance(value, Mapping):
        return {name: _sharing(file, read_options) for name, file in value.items()}
    return tuple(_sharing(file, read_options) for file in value) if isinstance(value, tuple) else value
