"""Parses in files: JSON lines with all that captious knows about a parse, and CoNLL-U, which other parsers write.

JSON lines have one object per caption, words counted from 1 and 0 above the root:

    {"parser": "bundled-1", "caption": "a dog runs", "word": ["a", "dog", "runs"], "tag": ["DT", "NN", "VBZ"],
     "lemma": ["a", "dog", "run"], "basic": [[2, 1, "det"], [3, 2, "nsubj"], [0, 3, "root"]],
     "ccprocessed": [[0, 3, "root"], ...]}

where ``ccprocessed``, the collapsed dependencies, may have copies of words: [6, 2] is the second copy of word 6. The
numbers 6.1 to 6.9 are read as copies, too. ``parser`` may be missing.

CoNLL-U files name the caption in a comment, ``# text = a dog runs``. Parts of speech and relations of version 2 of
Universal Dependencies become those of version 1 and of the Penn Treebank, in which scene graphs are read.
"""

from __future__ import annotations

import json
import os
import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from captious.atomic_write import whole_file
from captious.errors import CaptionFileError
from captious.parsing.collapsing import collapsed
from captious.parsing.parse import Edge, Parse

__all__ = ["ReadParses", "read_lines", "write_parses"]

# Relations of version 2 of Universal Dependencies -> of version 1.
_RELATIONS = {
    "obj": "dobj",
    "nsubj:pass": "nsubjpass",
    "csubj:pass": "csubjpass",
    "aux:pass": "auxpass",
    "obl:agent": "nmod:agent",
    "obl": "nmod",
    "fixed": "mwe",
    "flat": "name",
    "clf": "case",
    "orphan": "remnant",
}
# Subtypes that rules know. Others are dropped, but for those of collapsed dependencies, which are prepositions unless
# they are these; cases may follow one: obl:auf:dat.
_SUBTYPES = frozenset(
    {
        "acl:relcl",
        "cc:preconj",
        "compound:prt",
        "det:predet",
        "nmod:agent",
        "nmod:npmod",
        "nmod:poss",
        "nmod:tmod",
    }
)
_NO_PREPOSITIONS = frozenset(
    {"acc", "adj", "arg", "dat", "desc", "det", "flat", "gen", "lmod", "nom", "own", "pmod", "prep", "smod", "unmarked"}
)
# Universal parts of speech -> tags of the Penn Treebank, where a file has none of these.
_TAGS = {
    "ADJ": "JJ",
    "ADP": "IN",
    "ADV": "RB",
    "AUX": "VBZ",
    "CCONJ": "CC",
    "CONJ": "CC",
    "DET": "DT",
    "INTJ": "UH",
    "NOUN": "NN",
    "NUM": "CD",
    "PART": "RP",
    "PRON": "PRP",
    "PROPN": "NNP",
    "PUNCT": ".",
    "SCONJ": "IN",
    "SYM": "SYM",
    "VERB": "VBZ",
    "X": "FW",
}
_PLURAL = {"NN": "NNS", "NNP": "NNPS"}
_PENN_TAGS = (
    "CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH VB VBD VBG VBN VBP "
    "VBZ WDT WP WP$ WRB # $ . , : `` '' -LRB- -RRB- HYPH NFP ADD AFX GW XX"
)
_LONGEST_NUMBER = 9  # digits
_PENN = frozenset(_PENN_TAGS.split())


class ReadParses(NamedTuple):
    """Parses of a file.

    Args:
        parses: caption -> parse.
        made_by: labels of the parsers that made them, as far as the file says so.
    """

    parses: dict[str, Parse]
    made_by: tuple[str, ...]


def read_lines(lines: Sequence[str], name: str, *, conllu: bool) -> ReadParses:
    """The parses of a file.

    Args:
        lines: of the file, without line ends.
        name: of the file, for messages.
        conllu: whether it is CoNLL-U, or else JSON lines.

    Raises:
        CaptionFileError: a line that does not have the expected form, which the error names; a caption with two parses
            that differ.
    """
    parses: dict[str, Parse] = {}
    made_by: dict[str, None] = {}
    for caption, parse, parser in (_conllu if conllu else _json_lines)(lines, name):
        if parses.setdefault(caption, parse) != parse:
            raise CaptionFileError(
                "duplicate caption with two different parses", where=f"{name}; {caption!r:.100}", help="remove one"
            )
        if parser:
            made_by[parser] = None
    return ReadParses(parses, tuple(made_by))


def write_parses(path: str | os.PathLike[str], parses: Iterable[tuple[str, Parse, str]], *, made_by: str = "") -> int:
    """Write captions with their parses and trees in brackets (empty for none) as JSON lines, atomically.

    Args:
        made_by: the parser's label.

    Returns:
        How many.

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


def _json_lines(lines: Sequence[str], name: str) -> Iterator[tuple[str, Parse, str]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{name}: line {number:,}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise CaptionFileError(f"not JSON: {error}", where=where, help="write one object per line") from None
        try:
            if not isinstance(record, dict):
                raise ValueError("it is not an object")
            yield str(record["caption"]), _from_record(record), str(record.get("parser") or "")
        except (KeyError, OverflowError, TypeError, ValueError) as error:
            missing = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            raise CaptionFileError(
                f"this is not a parse: {missing}",
                where=where,
                help="give caption, word, tag, lemma, basic [[head, dependent, relation], ...] and, optionally, "
                "ccprocessed",
            ) from None


def _from_record(record: Mapping[str, Any]) -> Parse:
    words, tags, lemmas = (_texts(record[key], key) for key in ("word", "tag", "lemma"))
    n = len(words)
    if not len(tags) == len(lemmas) == n:
        raise ValueError(f"{n} words, {len(tags)} tags, {len(lemmas)} lemmas")
    heads, relations = [0] * n, ["dep"] * n
    given = [_dependency(item, "basic") for item in record["basic"]]
    for head, dependent, relation in given:
        if not (_is_whole(head) and _is_whole(dependent)):
            raise ValueError(f"in basic, {json.dumps([head, dependent])[:60]} is not a pair of words")
        if not (0 < dependent <= n and 0 <= head <= n):
            raise ValueError(f"a dependency between words {head} and {dependent} of {n}")
        heads[dependent - 1], relations[dependent - 1] = head, relation
    if n and not any(head == 0 for head, _, _ in given):
        raise ValueError("basic has no root: no word has the head 0")
    _check_tree(heads)
    if (collapsed_ones := record.get("ccprocessed")) is None:
        edges = collapsed(words, tags, heads, relations)
    else:
        found = (_dependency(item, "ccprocessed") for item in collapsed_ones)
        edges = tuple((_number(head, n), _number(dependent, n), relation) for head, dependent, relation in found)
        _check_copies(edges, n)
    return Parse(words, tags, lemmas, tuple(heads), tuple(relations), edges)


def _texts(values: Any, key: str) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"{key} is not a list of strings")
    return tuple(values)


def _dependency(item: Any, key: str) -> tuple[Any, Any, str]:
    if not (isinstance(item, list) and len(item) == 3):
        raise ValueError(f"in {key}, {reprlib.repr(item)} is not [head, dependent, relation]")
    return item[0], item[1], str(item[2])


def _is_whole(number: Any) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


def _check_tree(heads: Sequence[int]) -> None:
    """Raises ValueError where a word is below itself. Words that no dependency names count as roots."""
    known = [False] * len(heads)
    for start in range(1, len(heads) + 1):
        seen = set()
        word = start
        while word and not known[word - 1]:
            if word in seen:
                raise ValueError(f"word {word} depends on itself")
            seen.add(word)
            word = heads[word - 1]
        for word in seen:
            known[word - 1] = True


def _number(place: Any, n: int) -> int:
    """The number of a word, or of the k-th copy of one, [word, k] or word.k, as ``collapsed`` has it."""
    if isinstance(place, float) and 1 < place < n + 1 and place == round(place, 1):
        place = [*divmod(round(10 * place), 10)]
    is_copy = isinstance(place, list) and len(place) == 2
    word, copy = place if is_copy else (place, 0)
    if not (_is_whole(word) and _is_whole(copy) and is_copy <= word <= n and is_copy <= copy):
        raise ValueError(f"in ccprocessed, {json.dumps(place)[:60]} is neither one of {n} words nor a copy, [word, k]")
    return int(word + copy * n)


def _place(number: int, n: int) -> int | tuple[int, int]:
    """How a word, or a copy of one, is written; undoes ``_number``."""
    copy, word = divmod(number - 1, n)
    return (word + 1, copy) if copy > 0 else number


def _check_copies(edges: Sequence[Edge], n: int) -> None:
    """Raises ValueError where an edge leads to a copy that is not there: all are below a word, and none is left out."""
    dependents = {dependent for _, dependent, _ in edges}
    if 0 in dependents:
        raise ValueError("in ccprocessed, 0, the head of the root, depends on a word")
    for number in {number for edge in edges for number in edge[:2] if number > n}:
        if number not in dependents or n < number - n not in dependents:
            copy, word = divmod(number - 1, n)
            raise ValueError(f"in ccprocessed, there is no copy {copy} of word {word + 1}, or none before it")


class _Sentence(NamedTuple):
    rows: list[list[str]]
    text: str | None
    where: str


def _conllu(lines: Sequence[str], name: str) -> Iterator[tuple[str, Parse, str]]:
    sentences = list(_sentences(lines, name))
    is_penn = all(row[4] in _PENN for sentence in sentences for row in sentence.rows)
    for sentence in sentences:
        yield *_read(sentence, is_penn), ""


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
                    f"a line with {len(columns)} columns",
                    where=f"{name}: line {number:,}",
                    help="CoNLL-U has ten columns, separated by tabs",
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
        _check_tree(heads)
    except ValueError:
        raise CaptionFileError(
            "the words or their heads are numbered incorrectly",
            where=sentence.where,
            help="CoNLL-U counts words from 1; heads are words of the same sentence, 0 for the root, and make a tree",
        ) from None
    return heads


def _first_conjuncts(heads: tuple[int, ...], relations: Sequence[str]) -> tuple[int, ...]:
    """Heads with *and* below the first conjunct, as version 1 has it, and not below the one that follows it."""
    moved = list(heads)
    for place, (head, relation) in enumerate(zip(heads, relations, strict=True)):
        if relation == "cc" and head > place + 1 and relations[head - 1] == "conj":
            moved[place] = heads[head - 1]
    return tuple(moved)


def _is_basic(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the enhanced dependencies only repeat the basic ones."""
    return all(row[8] == f"{row[6]}:{row[7]}" for row in rows)


def _enhanced(rows: Sequence[Sequence[str]]) -> Iterator[Edge]:
    """Enhanced dependencies, those between words that are there."""
    for number, row in enumerate(rows, 1):
        for piece in row[8].split("|") if row[8] != "_" else ():
            head, _, relation = piece.partition(":")
            if head.isdecimal() and len(head) <= _LONGEST_NUMBER and int(head) <= len(rows):
                yield int(head), number, _relation(relation, collapsed=True)


def _relation(name: str, *, collapsed: bool = False) -> str:
    """A relation as version 1 has it."""
    if name in _RELATIONS:
        return _RELATIONS[name]
    head, *subtypes = name.split(":")
    head = _RELATIONS.get(head, head)
    if f"{head}:{':'.join(subtypes)}" in _SUBTYPES:
        return f"{head}:{':'.join(subtypes)}"
    preposition = next((each for each in subtypes if each not in _NO_PREPOSITIONS), "") if collapsed else ""
    return f"{head}:{preposition}" if preposition else head


def _tag(universal: str, features: str) -> str:
    tag = _TAGS.get(universal, "FW")
    return _PLURAL.get(tag, tag) if "Number=Plur" in features.split("|") else tag
