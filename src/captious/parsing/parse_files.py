"""Files of parses: JSON lines, captious's own format, or CoNLL-U, which other parsers write.

JSON lines have one object per caption, words counted from 1 and 0 above the root:

    {"parser": "bundled-5", "caption": "a dog runs", "word": ["a", "dog", "runs"], "tag": ["DT", "NN", "VBZ"],
     "lemma": ["a", "dog", "run"], "basic": [[2, 1, "det"], [3, 2, "nsubj"], [0, 3, "root"]],
     "ccprocessed": [[0, 3, "root"], ...]}

where ``ccprocessed``, the collapsed dependencies, may have copies of words: [6, 2] is the second copy of word 6.
Numbers such as 6.1 to 6.9 are also read as copies. ``parser`` is optional.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from captious.data.formats import decode, read_bytes
from captious.data.rows import Source
from captious.errors import CaptionFileError
from captious.files import checksum, sections, whole_file
from captious.parsing.collapsed import collapsed
from captious.parsing.parses import Edge, Parse, check_tree
from captious.words import counted, cut, shortened

# CoNLL-U files of parses, the output format of most parsers.
#
# The caption is in a comment, ``# text = a dog runs``. Parts of speech and relations of Universal Dependencies version
# 2 are converted to those of the Penn Treebank and of version 1, which scene graphs are based on.


_TEXT = sections(Path(__file__).with_name("words.txt"))
_RELATIONS = dict(pair.split("/") for pair in _TEXT["relations of version 2"].split())
_SUBTYPES, _NO_PREPOSITIONS = _TEXT["subtypes"].split(), _TEXT["no prepositions"].split()
_TAGS = dict(pair.split("/") for pair in _TEXT["universal tags"].split())
_PLURAL = {"NN": "NNS", "NNP": "NNPS"}
_PENN = frozenset(_TEXT["Penn tags"].split())
_LONGEST_NUMBER = 9  # digits


class _Sentence(NamedTuple):
    rows: list[list[str]]
    text: str | None
    where: str


def read_conllu(lines: Sequence[str], name: str) -> Iterator[tuple[str, Parse]]:
    """Read captions with their parses.

    Args:
        lines: lines of the file, without line ends.
        name: name of the file, for messages.

    Raises:
        CaptionFileError: lines that are not CoNLL-U; names them.
    """
    sentences = list(_sentences(lines, name))
    is_penn = all(row[4] in _PENN for sentence in sentences for row in sentence.rows)
    for sentence in sentences:
        yield _read(sentence, is_penn)


def _sentences(lines: Sequence[str], name: str) -> Iterator[_Sentence]:
    rows: list[list[str]] = []
    text: str | None = None
    start = 1
    for number, line in enumerate([*lines, ""], 1):
        line = line.rstrip("\r")
        if not line.strip():
            if rows:
                yield _Sentence(rows, text, f"{name}: lines {start:,} to {number - 1:,}")
            rows, text, start = [], None, number + 1
        elif line.startswith("#"):
            key, _, value = line[1:].partition("=")
            if key.strip() == "text":
                text = value.strip()
        else:
            columns = line.split("\t")
            if len(columns) != 10:
                raise CaptionFileError(
                    f"a line with {counted(len(columns), 'column')}",
                    where=f"{name}: line {number:,}",
                    hint="CoNLL-U has ten columns, separated by tabs",
                )
            if columns[0].isdecimal():  # others are ranges of words written as one, and words left out
                rows.append(columns)


def _read(sentence: _Sentence, is_penn: bool) -> tuple[str, Parse]:
    rows = sentence.rows
    words = tuple(row[1] for row in rows)
    tags = tuple(row[4] if is_penn else _tag(row[3], row[5]) for row in rows)
    lemmas = tuple(row[1].lower() if row[2] == "_" else row[2] for row in rows)
    relations = tuple(_relation(row[7]) for row in rows)
    heads = _first_conjuncts(_heads(sentence), relations)
    edges = () if _is_basic(rows) else tuple(_enhanced(rows))
    if not edges:
        edges = collapsed(words, tags, heads, relations)
    caption = " ".join(words) if sentence.text is None else sentence.text
    return caption, Parse(words, tags, lemmas, heads, relations, edges, tuple(row[3] for row in rows))


def _heads(sentence: _Sentence) -> tuple[int, ...]:
    rows = sentence.rows
    n = len(rows)
    try:
        heads = tuple(int(row[6]) for row in rows)
        in_order = [int(row[0]) for row in rows] == list(range(1, n + 1))
        if not in_order or not all(0 <= head <= n for head in heads) or 0 not in heads:
            raise ValueError
        check_tree(heads)
    except ValueError:
        raise CaptionFileError(
            "the words or their heads are numbered incorrectly",
            where=sentence.where,
            hint="CoNLL-U counts words from 1; heads are words of the same sentence, 0 for the root, and make a tree",
        ) from None
    return heads


def _first_conjuncts(heads: tuple[int, ...], relations: Sequence[str]) -> tuple[int, ...]:
    """Return heads with *and* attached to the first conjunct as in version 1, not to the one that follows it."""
    moved = list(heads)
    for place, (head, relation) in enumerate(zip(heads, relations, strict=True)):
        if relation == "cc" and head > place + 1 and relations[head - 1] == "conj":
            moved[place] = heads[head - 1]
    return tuple(moved)


def _is_basic(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the enhanced dependencies only repeat the basic ones."""
    return all(row[8] == f"{row[6]}:{row[7]}" for row in rows)


def _enhanced(rows: Sequence[Sequence[str]]) -> Iterator[Edge]:
    """Return the enhanced dependencies between words of the sentence."""
    for number, row in enumerate(rows, 1):
        for piece in row[8].split("|") if row[8] != "_" else ():
            head, _, relation = piece.partition(":")
            if head.isdecimal() and len(head) <= _LONGEST_NUMBER and int(head) <= len(rows):
                yield int(head), number, _relation(relation, collapsed=True)


def _relation(name: str, *, collapsed: bool = False) -> str:
    """Return a relation in version 1."""
    if name in _RELATIONS:
        return _RELATIONS[name]
    head, *subtypes = name.split(":")
    head = _RELATIONS.get(head, head)
    if f"{head}:{':'.join(subtypes)}" in _SUBTYPES:
        return f"{head}:{':'.join(subtypes)}"
    preposition = next((part for part in subtypes if part not in _NO_PREPOSITIONS), "") if collapsed else ""
    return f"{head}:{preposition}" if preposition else head


def _tag(universal: str, features: str) -> str:
    tag = _TAGS.get(universal, "FW")
    return _PLURAL.get(tag, tag) if "Number=Plur" in features.split("|") else tag


# Files of parses in both formats, and JSON lines.


@dataclass(frozen=True)
class FileOfParses:
    """Parses from a file.

    Args:
        parses: caption as in the file -> parse.
        name: name of the file.
        checksum: CRC-32 of its content, eight hex digits.
        made_by: labels of the parsers that made it, if recorded.
    """

    parses: Mapping[str, Parse] = field(compare=False, repr=False)
    name: str
    checksum: str
    made_by: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Name in signatures."""
        made_by = f"({','.join(self.made_by)})" if self.made_by else ""
        return f"{self.name}@{self.checksum}{made_by}"

    @property
    def stored_as(self) -> str:
        """Identifier in files of prepared references."""
        return self.label

    def parse(self, captions: Sequence[str], words: Sequence[tuple[str, ...]]) -> list[Parse]:
        """Return the parses of n captions, looked up by the caption or by its words joined with spaces.

        Raises:
            CaptionFileError: captions that are not in the file; names their number, and the first.
        """
        parses: list[Parse] = []
        missing: list[str] = []
        for caption, of_caption in zip(captions, words, strict=True):
            parse = self.parses.get(caption.strip()) or self.parses.get(" ".join(of_caption))
            if parse is None:
                missing.append(caption)
            else:
                parses.append(parse)
        if missing:
            raise CaptionFileError(
                f"{counted(len(missing), 'caption', 'have')} no parse",
                where=f"{self.name}; for example {shortened(missing[0])}",
                hint="parse the missing captions, each as a single tree (captious parse does this for English), or "
                "omit the file of parses",
            )
        return parses


def read_parses(path: str | os.PathLike[str]) -> FileOfParses:
    """Read a file of parses, .jsonl or .conllu, plain or with .gz.

    Raises:
        CaptionFileError: a file that cannot be read or is in neither format, which names the line; a caption with two
            different parses.
    """
    source = Source(os.fspath(path), "parses", is_file=True)
    extension = Path(source.name.lower().removesuffix(".gz")).suffix
    if extension not in (".jsonl", ".conllu"):
        raise source.error("the extension is not that of a file of parses")
    data = read_bytes(source)
    lines = decode(data, source).split("\n")
    if extension == ".jsonl":
        rows = read_json_lines(lines, source.name)
    else:
        rows = ((caption, parse, "") for caption, parse in read_conllu(lines, source.name))
    parses: dict[str, Parse] = {}
    made_by: dict[str, None] = {}
    for caption, parse, parser in rows:
        if parses.setdefault(caption, parse) != parse:
            raise CaptionFileError(
                "duplicate caption with two different parses",
                where=f"{source.name}; {shortened(caption)}",
                hint="remove one",
            )
        if parser:
            made_by[parser] = None
    return FileOfParses(parses, Path(source.name).name, checksum(data), tuple(made_by))


def write_parses(path: str | os.PathLike[str], parses: Iterable[tuple[str, Parse, str]], *, made_by: str = "") -> int:
    """Write captions with their parses and trees in brackets (empty for none) as JSON lines, atomically.

    Args:
        made_by: the parser's label.

    Returns:
        Number of lines.

    Raises:
        OutputError: the file cannot be written.
    """
    count = 0
    with whole_file(path) as file:
        for caption, parse, tree in parses:
            n = len(parse.words)
            record = {
                **({"parser": made_by} if made_by else {}),
                "caption": caption,
                "word": parse.words,
                "tag": parse.tags,
                "lemma": parse.lemmas,
                **({"tree": tree} if tree else {}),
                "basic": [(h, i, r) for i, (h, r) in enumerate(zip(parse.heads, parse.relations, strict=True), 1)],
                "ccprocessed": [(_place(head, n), _place(word, n), r) for head, word, r in parse.collapsed],
            }
            file.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")
            count += 1
    return count


def read_json_lines(lines: Iterable[str], name: str) -> Iterator[tuple[str, Parse, str]]:
    """Read captions with their parses and the labels of the parsers that made them, empty if a line has none.

    Args:
        lines: lines of a file.
        name: name of the file, for messages.

    Raises:
        CaptionFileError: a line that is not a parse; names it.
    """
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{name}: line {number:,}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise CaptionFileError(f"not JSON: {error}", where=where, hint="write one object per line") from None
        try:
            if not isinstance(record, dict):
                raise ValueError("it is not an object")
            yield str(record["caption"]), _parse_record(record), str(record.get("parser") or "")
        except (KeyError, OverflowError, TypeError, ValueError) as error:
            missing = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            raise CaptionFileError(
                f"this is not a parse: {missing}",
                where=where,
                hint="give caption, word, tag, lemma, basic [[head, dependent, relation], ...] and, optionally, "
                "ccprocessed",
            ) from None


def _parse_record(record: Mapping[str, Any]) -> Parse:
    words, tags, lemmas = (_texts(record[key], key) for key in ("word", "tag", "lemma"))
    n = len(words)
    if not len(tags) == len(lemmas) == n:
        raise ValueError(f"{counted(n, 'word')}, {counted(len(tags), 'tag')}, {counted(len(lemmas), 'lemma')}")
    heads, relations = [0] * n, ["dep"] * n
    basic = [_dependency(item, "basic") for item in record["basic"]]
    for head, dependent, relation in basic:
        if not (_is_whole(head) and _is_whole(dependent)):
            raise ValueError(f"in basic, {cut(json.dumps([head, dependent]))} is not a pair of words")
        if not (0 < dependent <= n and 0 <= head <= n):
            raise ValueError(f"a dependency between words {head} and {dependent} of {n}")
        heads[dependent - 1], relations[dependent - 1] = head, relation
    if n and not any(head == 0 for head, _, _ in basic):
        raise ValueError("basic has no root: no word has the head 0")
    check_tree(heads)
    if (collapsed_ones := record.get("ccprocessed")) is None:
        edges = collapsed(words, tags, heads, relations)
    else:
        dependencies = (_dependency(item, "ccprocessed") for item in collapsed_ones)
        edges = tuple((_number(head, n), _number(dependent, n), relation) for head, dependent, relation in dependencies)
        _check_copies(edges, n)
    return Parse(words, tags, lemmas, tuple(heads), tuple(relations), edges)


def _texts(values: Any, key: str) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"{key} is not a list of strings")
    return tuple(values)


def _dependency(item: Any, key: str) -> tuple[Any, Any, str]:
    if not (isinstance(item, list) and len(item) == 3):
        raise ValueError(f"in {key}, {shortened(item)} is not [head, dependent, relation]")
    return item[0], item[1], str(item[2])


def _is_whole(number: Any) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


def _number(place: Any, n: int) -> int:
    """Return the number of a word, or of the k-th copy of one, [word, k] or word.k, as in ``collapsed``."""
    if isinstance(place, float) and 1 < place < n + 1 and place == round(place, 1):
        place = [*divmod(round(10 * place), 10)]
    is_copy = isinstance(place, list) and len(place) == 2
    word, copy = place if is_copy else (place, 0)
    if not (_is_whole(word) and _is_whole(copy) and is_copy <= word <= n and is_copy <= copy):
        raise ValueError(
            f"in ccprocessed, {cut(json.dumps(place))} is neither one of {counted(n, 'word')} nor a copy, [word, k]"
        )
    return int(word + copy * n)


def _place(number: int, n: int) -> int | tuple[int, int]:
    """Format the number of a word, or of a copy of one; the inverse of ``_number``."""
    copy, word = divmod(number - 1, n)
    return (word + 1, copy) if copy > 0 else number


def _check_copies(edges: Sequence[Edge], n: int) -> None:
    """Raise ValueError if an edge leads to a copy without a head, or if a copy is left out."""
    dependents = {dependent for _, dependent, _ in edges}
    if 0 in dependents:
        raise ValueError("in ccprocessed, 0, the head of the root, depends on a word")
    for number in {number for edge in edges for number in edge[:2] if number > n}:
        if number not in dependents or n < number - n not in dependents:
            copy, word = divmod(number - 1, n)
            raise ValueError(f"in ccprocessed, there is no copy {copy} of word {word + 1}, or none before it")
