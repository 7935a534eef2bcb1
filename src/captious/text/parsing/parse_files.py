"""Parses in files: JSON lines with all that captious knows of a parse, and CoNLL-U, which other parsers write.

JSON lines have one object per caption, words counted from 1 and 0 above the root:

    {"caption": "a dog runs", "word": ["a", "dog", "runs"], "tag": ["DT", "NN", "VBZ"], "lemma": ["a", "dog", "run"],
     "basic": [[2, 1, "det"], [3, 2, "nsubj"], [0, 3, "root"]], "ccprocessed": [[0, 3, "root"], ...]}

where ``ccprocessed``, the collapsed dependencies, may have copies of words: 6.1 is the first of word 6.

CoNLL-U files name the caption in a comment, ``# text = a dog runs``. Parts of speech and relations of version 2 of
Universal Dependencies become those of version 1 and of the Penn Treebank, in which scene graphs are read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from captious.errors import CaptionFileError
from captious.files import whole_file
from captious.text.parsing.collapsing import collapsed
from captious.text.parsing.parse import Edge, Parse

__all__ = ["read_lines", "write_parses"]

# Relations of version 2 of Universal Dependencies -> of version 1; subtypes stay unless they are named here.
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
_PENN = frozenset(_PENN_TAGS.split())


def read_lines(lines: Sequence[str], name: str, *, conllu: bool) -> dict[str, Parse]:
    """Caption -> parse; where a caption is there twice, the first counts.

    Args:
        lines: of the file, without their ends.
        name: of the file, for messages.
        conllu: whether it is CoNLL-U, or else JSON lines.

    Raises:
        CaptionFileError: a line that is not of the form; names it.
    """
    parses: dict[str, Parse] = {}
    for caption, parse in (_conllu if conllu else _json_lines)(lines, name):
        parses.setdefault(caption, parse)
    return parses


def write_parses(path: str | os.PathLike[str], parses: Iterable[tuple[str, Parse, str]]) -> int:
    """Write captions with their parses and trees in brackets (empty for none) as JSON lines, whole or not at all.

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
                "caption": caption,
                "word": parse.words,
                "tag": parse.tags,
                "lemma": parse.lemmas,
                **({"tree": tree} if tree else {}),
                "basic": [(h, i, r) for i, (h, r) in enumerate(zip(parse.heads, parse.relations, strict=True), 1)],
                "ccprocessed": [(_written(head, n), _written(word, n), r) for head, word, r in parse.collapsed],
            }
            file.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")
            count += 1
    return count


def _json_lines(lines: Sequence[str], name: str) -> Iterator[tuple[str, Parse]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{name}: line {number:,}"
        try:
            record = json.loads(line)
        except ValueError as error:
            raise CaptionFileError(f"not JSON: {error}", where=where, help="write one object per line") from None
        try:
            yield str(record["caption"]), _from_record(record)
        except (KeyError, TypeError, ValueError) as error:
            missing = f"there is no {error}" if isinstance(error, KeyError) else str(error)
            raise CaptionFileError(
                f"this is not a parse: {missing}",
                where=where,
                help="give caption, word, tag, lemma, basic [[head, dependent, relation], ...], perhaps ccprocessed",
            ) from None


def _from_record(record: Mapping[str, Any]) -> Parse:
    words, tags, lemmas = (tuple(map(str, record[key])) for key in ("word", "tag", "lemma"))
    n = len(words)
    if not len(tags) == len(lemmas) == n:
        raise ValueError(f"{n} words, {len(tags)} tags, {len(lemmas)} lemmas")
    heads, relations = [0] * n, ["dep"] * n
    for head, dependent, relation in record["basic"]:
        if not (0 < dependent <= n and 0 <= head <= n):
            raise ValueError(f"a dependency between words {head} and {dependent} of {n}")
        heads[dependent - 1], relations[dependent - 1] = head, str(relation)
    if (given := record.get("ccprocessed")) is None:
        edges = collapsed(words, tags, heads, relations)
    else:
        edges = tuple((_number(head, n), _number(dependent, n), str(relation)) for head, dependent, relation in given)
    return Parse(words, tags, lemmas, tuple(heads), tuple(relations), edges)


def _number(written: float, n: int) -> int:
    """The number of a word, or of its k-th copy (6.1, 6.2, ...), as ``collapsed`` has it."""
    word, copy = divmod(round(10 * written), 10)
    if not 0 <= word <= n:
        raise ValueError(f"a dependency of word {written} of {n}")
    return word + copy * n


def _written(number: int, n: int) -> float:
    copy, place = divmod(number - 1, n)
    return round(place + 1 + copy / 10, 1) if copy > 0 else number


def _conllu(lines: Sequence[str], name: str) -> Iterator[tuple[str, Parse]]:
    rows: list[list[str]] = []
    text: str | None = None
    start = 1
    for number, line in enumerate([*lines, ""], 1):
        line = line.rstrip("\r")
        if not line.strip():
            if rows:
                yield _sentence(rows, text, f"{name}: lines {start:,} to {number - 1:,}")
            rows, text, start = [], None, number + 1
        elif line.startswith("#"):
            key, _, value = line[1:].partition("=")
            if key.strip() == "text":
                text = value.strip()
        else:
            columns = line.split("\t")
            if len(columns) != 10:
                raise CaptionFileError(
                    f"a line of {len(columns)} columns",
                    where=f"{name}: line {number:,}",
                    help="CoNLL-U has ten, between tabs",
                )
            if columns[0].isdigit():  # others are ranges of words written as one, and words left out
                rows.append(columns)


def _sentence(rows: Sequence[Sequence[str]], text: str | None, where: str) -> tuple[str, Parse]:
    n = len(rows)
    words = tuple(row[1] for row in rows)
    tags = tuple(_tag(row[3], row[4], row[5]) for row in rows)
    lemmas = tuple(row[1].lower() if row[2] == "_" else row[2] for row in rows)
    try:
        heads = tuple(int(row[6]) for row in rows)
        if [int(row[0]) for row in rows] != list(range(1, n + 1)) or not all(0 <= head <= n for head in heads):
            raise ValueError
    except ValueError:
        raise CaptionFileError(
            "the words or their heads are not numbered as they should be",
            where=where,
            help="CoNLL-U counts words from 1, and heads are words of the same sentence, 0 for the root",
        ) from None
    relations = tuple(_relation(row[7]) for row in rows)
    edges = tuple(_enhanced(rows))
    if not edges:
        edges = collapsed(words, tags, heads, relations)
    caption = " ".join(words) if text is None else text
    return caption, Parse(words, tags, lemmas, heads, relations, edges, tuple(row[3] for row in rows))


def _enhanced(rows: Sequence[Sequence[str]]) -> Iterator[Edge]:
    """Enhanced dependencies, those between words that are there."""
    for number, row in enumerate(rows, 1):
        for piece in row[8].split("|") if row[8] != "_" else ():
            head, _, relation = piece.partition(":")
            if head.isdigit():
                yield int(head), number, _relation(relation)


def _relation(name: str) -> str:
    if name in _RELATIONS:
        return _RELATIONS[name]
    head, colon, subtype = name.partition(":")
    return _RELATIONS.get(head, head) + colon + subtype


def _tag(universal: str, own: str, features: str) -> str:
    if own in _PENN:
        return own
    tag = _TAGS.get(universal, "FW")
    return _PLURAL.get(tag, tag) if "Number=Plur" in features.split("|") else tag
