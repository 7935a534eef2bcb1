"""CoNLL-U files of parses, the output format of most parsers.

The caption is in a comment, ``# text = a dog runs``. Parts of speech and relations of Universal Dependencies version 2
are converted to those of the Penn Treebank and of version 1, which scene graphs are based on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from captious.errors import CaptionFileError
from captious.parsing.collapsed_dependencies import collapsed
from captious.parsing.parses import Edge, Parse, check_tree
from captious.phrases import counted


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split("/") for pair in text.split())


# Relations of version 2 of Universal Dependencies -> of version 1.
_RELATIONS = _pairs("""
    obj/dobj nsubj:pass/nsubjpass csubj:pass/csubjpass aux:pass/auxpass obl:agent/nmod:agent obl/nmod fixed/mwe
    flat/name clf/case orphan/remnant
""")
# Subtypes that rules know. Others are dropped, but for those of collapsed dependencies, which are prepositions unless
# they are these; cases may follow one: obl:auf:dat.
_SUBTYPES = frozenset(
    ("acl:relcl", "cc:preconj", "compound:prt", "det:predet", "nmod:agent", "nmod:npmod", "nmod:poss", "nmod:tmod")
)
_NO_PREPOSITIONS = frozenset(
    ("acc", "adj", "arg", "dat", "desc", "det", "flat", "gen", "lmod", "nom", "own", "pmod", "prep", "smod", "unmarked")
)
# Universal parts of speech -> tags of the Penn Treebank, where a file has none of these.
_TAGS = _pairs("""
    ADJ/JJ ADP/IN ADV/RB AUX/VBZ CCONJ/CC CONJ/CC DET/DT INTJ/UH NOUN/NN NUM/CD PART/RP PRON/PRP PROPN/NNP PUNCT/.
    SCONJ/IN SYM/SYM VERB/VBZ X/FW
""")
_PLURAL = {"NN": "NNS", "NNP": "NNPS"}
_PENN_TAGS = """
    CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH VB VBD VBG VBN VBP VBZ
    WDT WP WP$ WRB # $ . , : `` '' -LRB- -RRB- HYPH NFP ADD AFX GW XX
"""
_PENN = frozenset(_PENN_TAGS.split())
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
        check_tree(heads)
    except ValueError:
        raise CaptionFileError(
            "the words or their heads are numbered incorrectly",
            where=sentence.where,
            help="CoNLL-U counts words from 1; heads are words of the same sentence, 0 for the root, and make a tree",
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
