"""Benchmarks: protocols, judgment files and their loaders, and published figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from captious.data import References
from captious.errors import (
    CaptionFileError,
    CaptiousError,
    EmptyInputError,
    ParameterError,
    ResourceError,
    UnknownNameError,
)
from captious.judgment.files import DataFolder
from captious.judgment.items import Item, RatedCaption, judgments_of
from captious.judgment.judgments import HumanJudgments, Protocol
from captious.plugins import did_you_mean


@dataclass(frozen=True)
class Files:
    """One file format of a benchmark's judgments.

    Args:
        names: file names relative to the folder of judgment data; all are needed.
        read: reads the items: ``RatedCaption``, ``CaptionPair`` or ``RankedSystem``; raises CaptionFileError with file
            and line.
    """

    names: tuple[str, ...]
    read: Callable[[DataFolder], Any]


class Figure(NamedTuple):
    """A published value of a protocol's statistic, as a fraction.

    Args:
        value: the statistic.
        source: the publication.
        parts: the values of parts, if published.
        tolerance: half a unit of the last published digit, or more if the source explains it.
    """

    value: float
    source: str
    parts: Mapping[str, float] = {}
    tolerance: float = 0.0005


@dataclass(frozen=True)
class Benchmark:
    """Data with at least one protocol.

    Args:
        name: name on the command line.
        protocols: the protocols; the first is the default.
        files: alternative formats of the data; the first complete one is read.
        obtain: where to get the files.
        published: protocol -> metric -> published figure.
        pool: for studies that draw references, those of every caption if there are more than metrics get; None if there
            are no others.
        items: creates the items from (protocol, result of ``Files.read``, folder), if they depend on the protocol. None
            if the second are the items.

    Raises:
        ParameterError: no files, no protocol, two protocols with one name, a protocol of another benchmark, or figures
            of an unknown protocol.
    """

    name: str
    protocols: tuple[Protocol, ...]
    files: tuple[Files, ...]
    obtain: str
    published: Mapping[str, Mapping[str, Figure]] = field(default_factory=dict)
    pool: Callable[[Any, DataFolder], References] | None = None
    items: Callable[[Protocol, Any, DataFolder], Sequence[Item]] | None = None

    def __post_init__(self) -> None:
        names = [protocol.name for protocol in self.protocols]
        foreign = [protocol.benchmark for protocol in self.protocols if protocol.benchmark != self.name]
        wrong = ""
        if not names or not self.files:
            wrong = "it has no files" if names else "it has no protocol"
        elif len(set(names)) < len(names):
            wrong = "two of its protocols have the same name"
        elif foreign:
            wrong = f"one of its protocols belongs to the benchmark {foreign[0]!r}"
        elif unknown := self.published.keys() - set(names):
            wrong = f"it has published figures for {min(unknown)!r}, which is not one of its protocols"
        if wrong:
            raise ParameterError(
                f"{self.name!r} is not a benchmark: {wrong}",
                hint="help(captious.judgment.Benchmark) describes what it needs",
            )

    def protocol(self, name: str = "") -> Protocol:
        """Return a protocol by its name, or the default without one.

        Raises:
            UnknownNameError: an unknown protocol.
        """
        by_name = {protocol.name: protocol for protocol in self.protocols}
        if not name:
            return self.protocols[0]
        if name not in by_name:
            help = f"{did_you_mean(name, by_name)}its protocols are {', '.join(by_name)}"
            raise UnknownNameError(f"{self.name} has no protocol {name!r}", hint=help)
        return by_name[name]

    def judgments(self, protocol: Protocol, folder: DataFolder) -> HumanJudgments:
        """Return the judgments under a protocol.

        Raises:
            ResourceError: a file is missing.
            EmptyInputError: no judgments.
            CaptionFileError: a file does not have the expected format.
        """
        files = self._form(folder)
        try:
            content = self.content(folder)
            items = content if self.items is None else self.items(protocol, content, folder)
            return judgments_of(protocol, items, folder.read)
        except CaptiousError:
            raise
        except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
            raise CaptionFileError(
                f"the data of {self.name} do not have the expected format: {type(error).__name__} {error}",
                where=f"{folder.folder}: {', '.join(files.names)}",
                hint="get the published files again; captious data list says where",
            ) from error

    def content(self, folder: DataFolder) -> Any:
        """Return the result of ``Files.read`` for the first complete format; raises as ``judgments``."""
        files = self._form(folder)
        content = files.read(folder)
        if not content:
            where = folder.place(files.names[0])
            raise EmptyInputError("there are no judgments", where=where, hint="download the file again")
        return content

    def _form(self, folder: DataFolder) -> Files:
        """Return the first complete format, or raise an error that says what each of them lacks."""
        for files in self.files:
            if folder.has(*files.names):
                return files
        missing = [" and ".join(name for name in files.names if not folder.has(name)) for files in self.files]
        raise ResourceError(
            f"the files of {self.name} are missing",
            where="\nor ".join([f"{missing[0]} was not found in {folder.folder}", *missing[1:]]),
            hint="captious data list names their source",
        )


def rated(
    name: str,
    id: str,
    fields: tuple[str, str, str, str],
    *,
    rating_of: Callable[[Any, str], Any] | None = None,
    texts_of: Callable[[Any, str], Sequence[str]] | None = None,
) -> Files:
    """Return the format of a file of rated captions, a record each, as ``DataFolder.placed_records`` reads them.

    Args:
        name: name of the file.
        id: an id, with the names of fields in braces; {number} is the number of the record.
        fields: those of image, candidate, references and ratings; a single rating needs no list. Rules find the others
            among the facts.
        rating_of, texts_of: return ratings and references, from the value of their field and its place in the file.
    """
    image, candidate, references, ratings = fields

    def read(folder: DataFolder) -> list[RatedCaption]:
        items = []
        for number, where, r in folder.placed_records(name, fields):
            of_caption = rating_of(r[ratings], where) if rating_of else r[ratings]
            texts = texts_of(r[references], where) if texts_of else r[references]
            several = of_caption if isinstance(of_caption, list) else [of_caption]
            items.append(
                RatedCaption(id.format_map({"number": number, **r}), r[image], r[candidate], texts, several, facts=r)
            )
        return items

    return Files((name,), read)
