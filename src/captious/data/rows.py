"""``CaptionFile``, ``Source`` and ``CaptionRows``: a file of captions, the origin of captions, and captions as read."""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, compress, filterfalse
from operator import not_
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias, TypeVar

from captious.data.ids import IdForm, ImageId, as_image_id, numbers_from_text, read_alike
from captious.errors import (
    CaptionFileError,
    CaptionTypeError,
    DuplicateCandidateError,
    EmptyInputError,
    EncodingError,
    InputError,
    MissingCandidatesError,
    ParameterError,
    either,
    option,
)
from captious.files import tables
from captious.plugins import answers_other_keywords
from captious.words import counted_of, sample_of, shortened

# ``CaptionFile``: a file of captions of which certain columns and one split are read.

#: The content of a source.
Role: TypeAlias = Literal["candidates", "references", "objects", "parses", "groups", "rows"]

#: Names of columns as they are given.
ColumnNames: TypeAlias = "str | Mapping[str, str | Sequence[str]] | Columns"

_KEYS = ("id", "caption", "candidate", "references")


@dataclass(frozen=True)
class Columns:
    """Names of columns; empty for those that are detected.

    Args:
        id: column of ids.
        candidate: column of candidates.
        references: columns of references, each cell one text or a list of texts.
        caption: columns of captions, candidates or references depending on the source.
    """

    id: str | None = None
    candidate: str | None = None
    references: tuple[str, ...] = ()
    caption: tuple[str, ...] = ()

    @classmethod
    def of(cls, names: ColumnNames | None) -> Self:
        """Parse text such as ``id=image_id,candidate=caption,references=ref1,references=ref2``, or convert a mapping.

        Raises:
            ParameterError: other text, or a name that is not a kind of column.
        """
        if isinstance(names, cls):
            return names
        if not isinstance(names, str | Mapping | None):
            hint = f"name each: {option('columns', 'id=NAME', 'caption=NAME')}"
            raise ParameterError(f"{shortened(names)} does not say which column holds what", hint=hint)
        columns: dict[str, list[str]] = {key: [] for key in _KEYS}
        for key, name in _pairs(names):
            if key not in columns:
                meant = f"write id for the column of ids; the keys are {', '.join(_KEYS)}"
                raise ParameterError(f"{key!r} is not a column of captions", hint=meant)
            columns[key].append(name)
        for key in ("id", "candidate"):
            if len(columns[key]) > 1:
                raise ParameterError(f"two columns for {key}: {', '.join(columns[key])}", hint="give one")
        if columns["caption"] and columns["candidate"] and columns["references"]:
            raise ParameterError("caption names neither candidates nor references", hint="leave it out")
        of_one = {key: next(iter(columns[key]), None) for key in ("id", "candidate")}
        return cls(**of_one, references=tuple(columns["references"]), caption=tuple(columns["caption"]))

    def texts(self, role: Role) -> tuple[str, ...]:
        """Return the columns of captions that are named for a role."""
        if role == "candidates" and self.candidate is not None:
            return (self.candidate,)
        if role in ("references", "objects") and self.references:
            return self.references
        return self.caption if role in ("candidates", "references", "objects") else ()

    @property
    def names(self) -> dict[str, str]:
        """Role of each column that was named, such as {"image_id": "id"}."""
        ids = {} if self.id is None else {self.id: "id"}
        candidate = {} if self.candidate is None else {self.candidate: "candidate"}
        texts = dict.fromkeys(self.references, "references") | dict.fromkeys(self.caption, "caption")
        return texts | candidate | ids


def _pairs(names: ColumnNames | None) -> list[tuple[str, str]]:
    """Return pairs such as ("id", "image_id")."""
    if isinstance(names, Columns):
        names = {key: value for key in _KEYS if (value := getattr(names, key))}
    if not isinstance(names, str):
        names_of_key = {key: [value] if isinstance(value, str) else value for key, value in (names or {}).items()}
        return [(key, name) for key, values in names_of_key.items() for name in values]
    pairs = []
    for piece in names.split(","):
        key, equals, name = (part.strip() for part in piece.partition("="))
        if not (equals and name):
            raise ParameterError(
                f"{piece.strip()!r} does not name a column",
                hint=f"the keys are {', '.join(_KEYS)}, such as " + option("columns", "id=NAME", "caption=NAME"),
            )
        pairs.append((key, name))
    return pairs


@dataclass(frozen=True)
class ReadOptions:
    """Columns and splits to read from sources.

    Sources that are read together share these options. A column or split that is named need not be in all of them, but
    must be in at least one.

    Args:
        columns: names of columns.
        splits: names of splits; empty for all of a source.
    """

    columns: Columns = field(default_factory=Columns)
    splits: tuple[str, ...] = ()
    # Columns that a source has; None stands for the splits.
    _names_used: set[str | None] = field(default_factory=set, init=False, compare=False, repr=False)
    _columns: dict[str, str] = field(default_factory=dict, init=False, compare=False, repr=False)
    _sources: set[tuple[str, Role]] = field(default_factory=set, init=False, compare=False, repr=False)
    _shared: list[str] = field(default_factory=list, init=False, compare=False, repr=False)

    def note_used(self, names: Collection[str | None]) -> None:
        """Record that a source has columns of these names, or the splits if None."""
        self._names_used.update(names)

    def note_columns(self, source: str, names: Collection[object]) -> None:
        """Record which columns a source has, for messages."""
        self._columns[source] = ", ".join(map(repr, names)) or "none"

    def finish(self, source: str, role: Role) -> None:
        """Record that a source has been read, and call ``check`` after the last one."""
        self._sources.add((source, role))
        if len(self._sources) >= len(self._shared):
            self.check()

    def check(self) -> None:
        """Check that each column and split was in at least one of the sources.

        Raises:
            InputError: no source has one of the columns or splits.
        """
        names = dict.fromkeys(name for name, _ in sorted(self._sources))
        where = "; ".join(f"{name}: found {self._columns.get(name, 'no columns')}" for name in names)
        for name, key in self.columns.names.items():
            if name not in self._names_used:
                raise InputError(
                    f"there is no column {name!r}",
                    where=where,
                    hint=f"name one of these: {option('columns', f'{key}=NAME')}",
                )
        if self.splits and None not in self._names_used:
            raise InputError(
                f"there is no split {' or '.join(map(repr, self.splits))}, as no record says what split it is in",
                where=where,
                hint='read all of it, or give the records a field "split"',
            )


def read_options_of(columns: ColumnNames | None, split: str | Sequence[str] | None) -> ReadOptions | None:
    """Read options from user arguments; None to read everything.

    Args:
        columns: see ``Columns.of``.
        split: the name of a split; several are a sequence, or separated by commas.

    Raises:
        ParameterError: invalid names.
    """
    if columns is None and split is None:
        return None
    names = split.split(",") if isinstance(split, str) else [*(split or ())]
    splits = tuple(name.strip() for name in names)
    if split is not None and not (splits and all(splits)):
        raise ParameterError(f"{split!r} is not the name of a split", hint="name one, such as test")
    return ReadOptions(Columns.of(columns), splits)


class CaptionFile(os.PathLike[str]):
    """A file of captions that is read otherwise than by its extension and keys. It is accepted wherever a path is.

    Args:
        path: the file.
        format: its format, whatever its extension: json, jsonl, csv, tsv, parquet, txt, lines, xlsx or eval. "lines" is
            one caption per line, or several between tabs.
        layout: name of its layout, whatever its keys, such as "karpathy", "openai-batch" or "lmms-eval";
            docs/input-formats.md lists them.
        columns: names of columns: ``{"id": "key", "caption": "text"}``, or ``"id=key,caption=text"``. A name may be a
            path into nested objects and lists: ``response/body/choices/0/message/content``.
        split: name of a split, such as "test"; several are a sequence, or separated by commas.

    Raises:
        ParameterError: invalid names.
    """

    @answers_other_keywords
    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,
        layout: str | None = None,
        columns: ColumnNames | None = None,
        split: str | Sequence[str] = (),
    ) -> None:
        if not isinstance(path, str | os.PathLike):
            raise ParameterError(
                f"{shortened(path)} is not the path of a file",
                hint="give one path; several systems are a mapping of such files by name",
            )
        self.path = os.fspath(path)
        self.format = format
        self.layout = layout
        self.read_options = read_options_of(columns, split or None) or ReadOptions()

    @classmethod
    def sharing(cls, path: str | os.PathLike[str], read_options: ReadOptions | None) -> CaptionFile:
        """Create a file that shares read options with others, all of which are created before one is read."""
        file = cls(path)
        file.read_options = read_options or file.read_options
        file.read_options._shared.append(file.path)
        return file

    @property
    def name(self) -> str:
        """File name without folders."""
        return os.path.basename(self.path)

    def __fspath__(self) -> str:
        return self.path

    def __str__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"<CaptionFile {self.path!r}>"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, CaptionFile) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self.path)

    @property
    def _key(self) -> tuple[object, ...]:
        return self.path, self.format, self.layout, self.read_options


# ``Source``: the origin of captions, which words errors about them.

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Source:
    """A source of captions: its name in messages, its role, and whether it is a file.

    An image may have several candidates only if ``several``; it may always have several references. With the role
    "groups", groups of images are read instead of captions; ``column`` is the field or column of the groups, None if
    only one is possible. ``read_options`` are the columns and splits that the user names; ``layout`` is the option of
    the layout that the file is to be read by, "" to find it. With ``keeps_lists``, candidates that are lists written as
    text are not refused, as a rule may clean them.
    """

    name: str
    role: Role
    is_file: bool = False
    is_standard_input: bool = False
    several: bool = False
    column: str | None = None
    read_options: ReadOptions = field(default_factory=ReadOptions)
    layout: str = ""
    keeps_lists: bool = False

    @property
    def one_each(self) -> bool:
        """Whether an image may have only one caption."""
        return self.role == "candidates" and not self.several

    def error(self, problem: str, *, where: str = "", hint: str = "", advice: str = "") -> InputError:
        """Return the error for an unknown or ambiguous form; without another hint, it lists every accepted form.

        Args:
            problem, where, hint: as in ``CaptiousError``.
            advice: shown above the accepted forms.
        """
        kind = CaptionFileError if self.is_file else InputError
        place = f"{self.name}: {where}" if where else self.name
        key = "several" if self.several else self.role
        accepted = tables(Path(__file__).with_name("accepted_forms.toml"))
        forms = accepted["files" if self.is_file else "objects"].get(key) or accepted["files"][key]
        forms = forms.replace("{column}", either(python="column=NAME", command="FILE:COLUMN"))
        if self.is_file and self.role in ("candidates", "references"):
            forms += f"\n    other names            {option('columns', 'id=NAME', 'caption=NAME')}"
        otherwise = f"{advice}; otherwise " if advice else ""
        return kind(problem, where=place, hint=hint or f"{otherwise}{self.role} are read from\n{forms}")


@dataclass(frozen=True)
class Entries:
    """The entries of a source, by which messages name what is wrong.

    Args:
        source: the source.
        unit: the kind of entry: "line", "record", "annotation", "key", "row", "index".
        numbers: the line, record, ... of each, counted from 1 in files; "index" counts from 0.
        id_form: how the source writes ids; see ``captious.data.ids``.
        known_images: images that the source lists in addition.
    """

    source: Source
    unit: str = ""
    numbers: Sequence[ImageId] = ()
    id_form: IdForm = "typed"
    known_images: Sequence[Any] = ()

    def place(self, entry: int) -> str:
        """Return the place of an entry, such as "line 12"."""
        return f"{self.unit} {self.numbers[entry]!r}"

    def where(self, entry: int, value: object) -> str:
        """Return the place of an entry with a value of it, such as "line 12: 'a cat'"."""
        return f"{self.unit} {self.numbers[entry]}: {shortened(value)}"

    def chosen(self, entries: Iterable[int]) -> Entries:
        """Return some of the entries; they may repeat."""
        return replace(self, numbers=tuple(map(self.numbers.__getitem__, entries)))


def repeated_positions(keys: Iterable[Key]) -> dict[Key, list[int]]:
    """Return the positions of keys that occur more than once."""
    places: defaultdict[Key, list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        places[key].append(place)
    return {key: at for key, at in places.items() if len(at) > 1}


def image_list(ids: Iterable[ImageId]) -> str:
    """Format image ids for messages, strings in quotes to distinguish "12" from 12."""
    return "image_id " + sample_of([repr(i) for i in ids])


def is_unicode(text: str) -> bool:
    """Return whether UTF-8 can encode a text, that is, whether it has no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# Captions that are no captions: lists written as text, and names of files.

_LONGEST_LIST = 1_000_000  # characters of a list that is written as text
_STRING = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\")"""
_STRINGS = rf"({_STRING}(?:\s*,\s*{_STRING}|\s+{_STRING})*)(?:\s*,)?\s*"
#: A list, a tuple, which has a comma, an array of numpy, or a vector of R.
_LIST_AS_TEXT = (
    rf"\s*(?:\[\s*{_STRINGS}\]|\(\s*({_STRING}\s*,(?:\s*{_STRING}\s*,)*(?:\s*{_STRING})?)\s*\)"
    rf"|array\(\s*\[\s*{_STRINGS}\]\s*(?:,\s*dtype\s*=[^()]*)?\)|c\(\s*{_STRINGS}\))\s*"
)
_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U000[0-9a-fA-F]{5}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\n": ""}
#: How a list that was written as text begins, and what is only between the items of one.
_LIST_START = re.compile(r"""\s*(?:(?:array\(\s*)?\[|\(|c\()\s*['"]|\s*\[\]\s*\Z""")
_BETWEEN_ITEMS = re.compile(
    r"""['"]\s*,\s*(?:['"]|None\b|nan\b|null\b|-?\d[\d.e+-]*\s*[\])])|\b(?:None|nan|null)\s*,\s*['"]"""
)
_CAPTION_FILE = r"(?:jsonl?|ndjson|csv|tsv|parquet|txt|token|xlsx|eval)(?:\.gz)?"
_MEDIA_FILE = r"(?:jpe?g|png|gif|bmp|webp|tiff?|mp4|avi|mkv|webm|wav|mp3|flac)"
_NAME_OF_FILE = re.compile(rf"[^\n]*\S\.(?:(?P<captions>{_CAPTION_FILE})|{_MEDIA_FILE})\s*", re.IGNORECASE)


def list_from_text(text: str) -> list[str] | None:
    """Return the texts of a list that Python, pandas, numpy or JSON has written as text; None for any other text."""
    if len(text) > _LONGEST_LIST:
        return None
    if text.strip() in ("[]", "()"):
        return []
    written = re.fullmatch(_LIST_AS_TEXT, text, re.DOTALL)
    if written is None:
        return None
    texts = [
        _ESCAPE.sub(_unescaped, item[0][1:-1])
        for item in re.finditer(_STRING, written[written.lastindex or 0], re.DOTALL)
    ]
    # JSON writes some characters as two escapes.
    return [
        text if is_unicode(text) else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        for text in texts
    ]


def _unescaped(escape: re.Match[str]) -> str:
    code = escape[0][1:]
    if len(code) > 1:
        return chr(int(code[1:], 16))
    return _ESCAPED.get(code, code)


def places_of_lists(texts: Sequence[Any]) -> list[int]:
    """Return the places of lists that were written as text, also if they cannot be read, as they are cut off.

    Captions in brackets are none, and an empty list alone may be the answer of a model.
    """
    if set(map(type, texts)) != {str}:
        texts = [text if isinstance(text, str) else "" for text in texts]
    whole = "\n".join(texts)
    if "[" not in whole and "(" not in whole:
        return []
    starts = [place for place, text in enumerate(texts) if ("[" in text or "(" in text) and _LIST_START.match(text)]
    return [place for place in starts if _BETWEEN_ITEMS.search(texts[place]) or list_from_text(texts[place])]


def lists_from_cells(entries: Entries, cells: Sequence[Any]) -> Sequence[Any]:
    """Return the cells of a column, as lists if they are lists that were written as text.

    Raises:
        CaptionFileError: some of these cannot be read.
    """
    if not places_of_lists(cells):
        return cells
    lists: list[Any] = []
    for entry, cell in enumerate(cells):
        texts = list_from_text(cell) if isinstance(cell, str) else None
        if texts is None and isinstance(cell, str) and _LIST_START.match(cell):
            raise entries.source.error(
                "a list was written as text that cannot be read",
                where=entries.where(entry, cell),
                hint="write one row per caption, or JSON with lists",
            )
        lists.append([cell] if texts is None else texts)
    return lists


def names_of_files(texts: Sequence[Any], *, of_captions: bool = False) -> bool:
    """Return whether all texts are names of files, or of files of captions; so are paths."""
    return bool(texts) and all(
        isinstance(text, os.PathLike)
        or (
            isinstance(text, str)
            and (name := _NAME_OF_FILE.fullmatch(text)) is not None
            and bool(name["captions"] or not of_captions)
        )
        for text in texts
    )


# ``CaptionRows``: captions as read from a source, one per row, before candidates are matched with references.
#
# Every reader calls ``caption_rows``, which checks ids and captions of all input forms.


@dataclass(frozen=True)
class CaptionRows:
    """Captions of one source, one per row, checked but not yet matched.

    Args:
        name: the source in messages: the file, or "candidates", "references".
        role: "candidates", "references" or "groups".
        ids: the image of each row; an image may have several rows, except where each has one candidate.
        texts: the caption of each row.
        unit: the kind of row in messages: "line", "record", "annotation", "key", "row", "index".
        numbers: the line, record, ... of each row, counted from 1 in files; "index" counts from 0.
        id_form: how the source wrote its ids; see ``captious.data.ids``.
        known_images: images that the source lists without captions: COCO's "images", empty lists.
        are_categories: whether texts are category names, as in COCO's instances.
        prompts: the distinct prompts, if the source is a log that has them.
        of: what has captions, as far as the layout says: "image", "video" or "sound".
        log: the layout of the log that the source is; empty if it is none.
        n_cut: number of answers of a log that ended at the limit of tokens.
        failure: the error for answers of a log that failed, which have no row.
        lists: the error for texts that are lists, if the source keeps these.
    """

    name: str
    role: Role
    ids: tuple[ImageId, ...]
    texts: tuple[str, ...]
    unit: str
    numbers: Sequence[ImageId]
    id_form: IdForm = "typed"
    known_images: tuple[ImageId, ...] = ()
    are_categories: bool = False
    prompts: tuple[str, ...] = ()
    of: str = "image"
    log: str = ""
    n_cut: int = 0
    failure: CaptionFileError | None = None
    lists: InputError | None = None

    def place(self, row: int) -> str:
        """Return the place of a row in its source, such as "line 12"."""
        return f"{self.unit} {self.numbers[row]!r}"


def caption_rows(entries: Entries, ids: Sequence[Any], values: Sequence[Any]) -> CaptionRows:
    """Check ids and captions, and expand lists of captions to one row per caption.

    Args:
        entries: the source and the places of its entries.
        ids: one image per entry.
        values: for each entry a caption, a list of captions, or a list of ``{"caption": ...}``.

    Raises:
        CaptionTypeError: an id that is neither an int nor a string, or a caption that is not a string.
        EncodingError: an id or a caption with a lone surrogate, which no file can hold.
        ParameterError: both an integer and its text as ids.
        DuplicateCandidateError: two candidates for one image, where only one is allowed.
        MissingCandidatesError: an image whose list of candidates is empty.
        EmptyInputError: no captions.
        InputError: a value that is neither a caption nor a list of them (CaptionFileError in a file).
    """
    source, known = entries.source, entries.known_images
    images = _checked_ids(entries, ids)
    if known:
        known = _checked_ids(Entries(source, "image", range(1, len(known) + 1)), known)
        images, known = read_alike(images, known)
    if source.role == "groups":
        groups = [_group(entries, entry, value) for entry, value in enumerate(values)]
        known = [*known, *(image for image, group in zip(images, groups, strict=True) if group is None)]
        grouped = [entry for entry, group in enumerate(groups) if group is not None]
        images, values = [images[entry] for entry in grouped], [groups[entry] for entry in grouped]
        entries = entries.chosen(grouped)
    if set(map(type, values)) != {str}:
        lists = values
        if not (set(map(type, values)) <= {list, tuple} and set(map(type, chain.from_iterable(values))) <= {str}):
            lists = [_captions_of(entries, entry, value) for entry, value in enumerate(values)]
        if source.role == "candidates":
            _check_counts(entries, lists)
        known = [*known, *compress(images, map(not_, lists))]
        import numpy as np  # what reads uploads has to start fast

        rows_of = np.repeat(np.arange(len(lists)), [*map(len, lists)]).tolist()
        images = [*map(images.__getitem__, rows_of)]
        entries = entries.chosen(rows_of)
        values = [*chain.from_iterable(lists)]
    rows = CaptionRows(
        name=source.name,
        role=source.role,
        ids=tuple(images),
        texts=tuple(values),
        unit=entries.unit,
        numbers=entries.numbers,
        id_form=entries.id_form,
        known_images=tuple(known),
    )
    _check_texts(rows)
    if source.role in ("candidates", "references") and (lists := places_of_lists(rows.texts)):
        cleaning = f"; {option('clean', 'json')} takes the caption out of a list of one" if source.keeps_lists else ""
        error = source.error(
            f"{counted_of(len(lists), len(rows.texts), 'caption', 'are')} a list that was written as text",
            where=f"{rows.place(lists[0])}: {shortened(rows.texts[lists[0]])}",
            hint=f"give lists of captions; what pandas has written to a file is read from .csv{cleaning}",
        )
        if not source.keeps_lists:
            raise error
        rows = replace(rows, lists=error)
    if not rows.texts and not (source.role == "objects" and rows.known_images):  # images may be without objects
        what = source.role if source.role in ("groups", "objects") else "captions"
        raise EmptyInputError(f"there are no {what}", where=source.name, hint=f"are these the {source.role}?")
    if source.one_each and (n_images := len(set(rows.ids))) != len(rows.ids):
        twice = repeated_positions(rows.ids)
        examples = [f"image_id {image!r} in {sample_of(map(rows.place, at))}" for image, at in twice.items()]
        are_identical = all(len({rows.texts[row] for row in at}) == 1 for at in twice.values())
        repeated = "more than one candidate, in identical rows" if are_identical else "more than one candidate"
        raise DuplicateCandidateError(
            f"{counted_of(len(twice), n_images, 'image', 'have')} {repeated}",
            where=f"{rows.name}: {sample_of(examples, separator='; ')}",
            hint="the rows are identical: remove the repeated ones"
            if are_identical
            else f"keep one candidate per image; {_several_help()}",
        )
    return rows


def _checked_ids(entries: Entries, ids: Sequence[Any]) -> Sequence[ImageId]:
    """Return the ids, each checked to be an int or a str; both for one image are refused."""
    types = set(map(type, ids))
    if types <= {int}:
        return ids
    source = entries.source
    if types == {str}:
        _check_unicode(source.name, "image id", ids, entries.place)
        return ids
    if source.is_file:  # programs write 1.0 for 1 where other ids are missing; ids="integer" reads its text
        ids = [str(value) if isinstance(value, float) and value.is_integer() else value for value in ids]
    checked = [as_image_id(value) for value in ids]
    wrong = [entry for entry, image in enumerate(checked) if image is None]
    if wrong:
        cases = [f"{entries.place(entry)} has {_literal(ids[entry])}" for entry in wrong]
        is_of_floats = isinstance(ids[wrong[0]], float) and not source.is_file
        raise CaptionTypeError(
            f"{counted_of(len(wrong), len(ids), 'image id', 'have')} another type than integer or string",
            where=f"{source.name}: {sample_of(cases)}",
            hint="image ids must be integers or strings"
            + "; pandas converts a column of floats by .astype(int)" * is_of_floats,
        )
    images = [image for image in checked if image is not None]
    _check_unicode(source.name, "image id", [str(image) for image in images], entries.place)
    numbers_from_text(images)  # refuses an integer and its text
    return images


def _literal(value: object) -> str:
    """Return a value as its readers write it: None in Python, null in JSON files."""
    shown = shortened(value)
    return (
        either(python=shown, command=json.dumps(value)) if value is None or isinstance(value, float | bool) else shown
    )


def _captions_of(entries: Entries, entry: int, value: object) -> Sequence[Any]:
    """Return the captions of one entry. Items that are not strings are left for ``_check_texts`` to report."""
    import numpy as np

    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_caption_of(entries, entry, item) for item in value]
    if isinstance(value, Mapping | set | frozenset):
        are_systems = not entries.source.is_file and entries.source.role == "candidates"
        raise entries.source.error(
            "this is neither a caption nor a list of captions",
            where=f"{entries.place(entry)}: {shortened(value)}",
            advice="score several systems with captious.score_systems" * are_systems,
        )
    return (value,)


def _caption_of(entries: Entries, entry: int, item: object) -> object:
    """Unwrap one item of a list of captions: ``{"caption": ...}`` of the COCO harness, or ``{"raw": ...}`` in files of
    Karpathy.
    """
    if isinstance(item, Mapping):
        field = "raw" if entries.source.is_file and "caption" not in item else "caption"
        if field in item:
            return item[field]
    if isinstance(item, str):
        return item
    import numpy as np

    if isinstance(item, Mapping | list | tuple | set | frozenset | np.ndarray):
        where = f"{entries.place(entry)}: {shortened(item)}"
        raise entries.source.error("this is not a list of captions", where=where)
    return item


def _group(entries: Entries, entry: int, value: object) -> str | None:
    """Return the name of a group: text, or a number or boolean as text; None where there is none."""
    import numpy as np

    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # a column of integers in which some are missing is one of floats
    if value is None or value != value or value == "":
        return None
    if isinstance(value, str | int | float):
        return str(value)
    where = f"{entries.place(entry)}: {shortened(value)}"
    raise entries.source.error("this is not the name of a group", where=where)


def _check_counts(entries: Entries, lists: Sequence[Sequence[Any]]) -> None:
    """Refuse several candidates where only one is allowed, and empty lists, which may be a mistake."""
    many = [f"{entries.place(entry)} has {len(captions)}" for entry, captions in enumerate(lists) if len(captions) > 1]
    if many and entries.source.one_each:
        raise DuplicateCandidateError(
            f"{counted_of(len(many), len(lists), 'image', 'have')} more than one candidate",
            where=f"{entries.source.name}: {sample_of(many)}",
            hint=f"give one candidate per image; {_several_help()}",
        )
    none = [entries.place(entry) for entry, captions in enumerate(lists) if not captions]
    if none:
        raise MissingCandidatesError(
            f"{counted_of(len(none), len(lists), 'image', 'have')} an empty list of candidates",
            where=f"{entries.source.name}: {sample_of(none)}",
            hint=f"give a candidate for every image, or remove the image and use {option('match', 'common')}",
        )


def _check_texts(rows: CaptionRows) -> None:
    """Check that every caption is a string that UTF-8 can encode. Empty captions are legal."""
    try:
        _check_unicode(rows.name, "caption", rows.texts, rows.place)
    except TypeError:
        wrong = [row for row, text in enumerate(rows.texts) if not isinstance(text, str)]
        cases = [f"{rows.place(row)} (image_id {rows.ids[row]!r}) is {_literal(rows.texts[row])}" for row in wrong]
        raise CaptionTypeError(
            f"{counted_of(len(wrong), len(rows.texts), 'caption', 'are')} not text",
            where=f"{rows.name}: {sample_of(cases)}",
            hint='captions must be strings; use "" for an empty caption',
        ) from None


def _check_unicode(name: str, what: str, texts: Sequence[str], place: Callable[[int], str]) -> None:
    """Refuse lone surrogates, which JSON can escape ("\\ud800") but no tokenizer, file or terminal can handle.

    Raises TypeError at the first text that is not a string.
    """
    # Strings know whether they are ASCII, so that only the others need to be looked through.
    others = "".join(filterfalse(str.isascii, texts))
    if not others or is_unicode(others):
        return
    wrong = [f"{place(row)} has {shortened(text)}" for row, text in enumerate(texts) if not is_unicode(text)]
    raise EncodingError(
        f"{counted_of(len(wrong), len(texts), what, 'contain')} a lone surrogate (half of a character)",
        where=f"{name}: {sample_of(wrong)}",
        hint="write the full character, or remove it",
    )


def _several_help() -> str:
    return f"are these the references? score and compare take several with {option('several', 'mean')}"
