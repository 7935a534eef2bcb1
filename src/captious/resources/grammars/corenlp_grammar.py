"""Conversion of a CoreNLP grammar, ``englishPCFG.ser.gz``, from the Java objects in the file.

The file is a ``LexicalizedParser``: indexes of states, tags and words; lists of rules; and a lexicon of counters whose
keys are pairs of a tag and a word.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.files.decompression import is_gzip, unpacked
from captious.resources.grammars.grammar import ANY, Grammar

if TYPE_CHECKING:
    from captious.resources.grammars.java_objects import JavaObject

_Counts: TypeAlias = tuple[NDArray[np.int32], NDArray[np.float64]]

_LARGEST = 1 << 25  # bytes of the stream; that of CoreNLP 3.6.0 has a fifth of it
_PARSER = "edu.stanford.nlp.parser.lexparser.LexicalizedParser"
_UNKNOWN_WORDS = "edu.stanford.nlp.parser.lexparser.EnglishUnknownWordModel"

#: What the parser assumes, because it holds in CoreNLP 3.6.0: where it is in the file, and its value.
_GRANTED: dict[tuple[str, ...], object] = {
    ("dg",): None,
    ("reranker",): None,
    ("lex", "flexiTag"): True,
    ("lex", "smoothInUnknownsThreshold"): 100,
    ("lex", "useSignatureForKnownSmoothing"): False,
    ("op", "lexOptions", "useUnknownWordSignatures"): 2,
    ("op", "lexOptions", "unknownSuffixSize"): 1,
    ("op", "trainOptions", "openClassTypesThreshold"): 50,
}
_SMOOTHING = [1.0, 0.2]  # for unknown and known words


def fingerprint_of(packed: bytes) -> str:
    """Return sixteen hex digits that identify the content of a gzip file: the CRC-32 and the length at its end, which
    are verified on reading.
    """
    if len(packed) < 18 or not is_gzip(packed):
        raise ValueError("not a gzip file")
    return packed[-8:-4][::-1].hex() + packed[-4:][::-1].hex()


def read_grammar(packed: bytes, name: str) -> Grammar:
    """Read the grammar of a file.

    Args:
        packed: content of ``englishPCFG.ser.gz``.
        name: name in signatures.

    Raises:
        ValueError: a truncated or damaged file, or another one.
    """
    from captious.resources.grammars.java_objects import JavaObject, read_object

    parser = read_object(_unpacked(packed))
    if not isinstance(parser, JavaObject) or parser.type.name != _PARSER:
        raise ValueError("not a grammar of CoreNLP's lexicalized parser")
    try:
        grammar = _grammar(parser, name, fingerprint_of(packed))
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError) as error:
        raise ValueError(f"the format is not that of CoreNLP 3.6.0's grammar ({error!r})") from error
    _check(grammar)
    return grammar


def _unpacked(packed: bytes) -> bytes:
    try:
        with unpacked(io.BytesIO(packed)) as file:
            stream = file.read(_LARGEST + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{error}") from error
    if len(stream) > _LARGEST:
        raise ValueError("much larger than the English PCFG of CoreNLP")
    return stream


def _grammar(parser: JavaObject, name: str, fingerprint: str) -> Grammar:
    for path, expected in _GRANTED.items():
        value: Any = parser
        for field in path:
            value = value[field]
        if value != expected:
            raise ValueError(f"a grammar for another parser: {'.'.join(path)} is {value}, not {expected}")
    lexicon, unknown = parser["lex"], parser["lex"]["uwModel"]
    if unknown.type.name != _UNKNOWN_WORDS or lexicon["smooth"].tolist() != _SMOOTHING:
        raise ValueError("a grammar for another parser: its model of unknown words differs")
    binary = _items(parser["bg"]["allRules"])
    unary = _keys_and_values(parser["ug"]["coreRules"])[0]
    seen, seen_counts = _counts(lexicon["seenCounter"])
    unseen, unseen_counts = _counts(unknown["unSeenCounter"])
    return Grammar(
        name=name,
        fingerprint=fingerprint,
        states=_strings(parser["stateIndex"]),
        tags=_strings(parser["tagIndex"]),
        words=_strings(parser["wordIndex"]),
        binary_rules=_table(binary, ("parent", "leftChild", "rightChild")),
        binary_scores=np.array([rule["score"] for rule in binary], np.float32),
        unary_rules=_table(unary, ("parent", "child")),
        unary_scores=np.array([rule["score"] for rule in unary], np.float32),
        seen=seen,
        seen_counts=seen_counts,
        unseen=unseen,
        unseen_counts=unseen_counts,
    )


def _table(objects: Sequence[JavaObject], fields: Sequence[str]) -> NDArray[np.int32]:
    return np.array([[instance[field] for field in fields] for instance in objects], np.int32).reshape(-1, len(fields))


def _counts(counter: JavaObject) -> _Counts:
    """Convert a ``ClassicCounter`` over pairs of a tag and a word."""
    keys, values = _keys_and_values(counter["map"])
    return _table(keys, ("tag", "word")), np.array([value["d"] for value in values], np.float64)


def _strings(index: JavaObject) -> tuple[str, ...]:
    """Convert a ``HashIndex`` of strings."""
    strings = _items(index["objects"])
    if not all(isinstance(string, str) for string in strings):
        raise TypeError("an index of strings contains other items")
    return tuple(strings)


def _items(array_list: JavaObject) -> Sequence[Any]:
    """Return the items of a ``java.util.ArrayList``, which writes its capacity, then its items."""
    items = array_list.written[1:]
    if len(items) != array_list["size"]:
        raise TypeError("a list without its items")
    return items


def _keys_and_values(hash_map: JavaObject) -> tuple[Sequence[Any], Sequence[Any]]:
    """Return the entries of a ``java.util.HashMap``, which writes its numbers of buckets and of entries, then these."""
    sizes, entries = hash_map.written[0], hash_map.written[1:]
    if len(entries) != 2 * int.from_bytes(sizes[4:8], "big"):
        raise TypeError("a map without its entries")
    return entries[0::2], entries[1::2]


def _check(grammar: Grammar) -> None:
    """Check that every number is a valid reference, and that nothing is infinite.

    Raises:
        ValueError: names the invalid arrays.
    """
    tables = {
        "rules": ((grammar.binary_rules, grammar.unary_rules), (grammar.states,) * 3, 0),
        "counts": ((grammar.seen, grammar.unseen), (grammar.tags, grammar.words), ANY),
    }
    for what, (arrays, names, least) in tables.items():
        for array in arrays:
            if len(array) == 0:
                raise ValueError(f"a grammar without {what}")
            for column, of in zip(array.T, names, strict=False):
                if column.min() < least or column.max() >= len(of):
                    raise ValueError(f"a grammar whose {what} refer to missing entries")
    for numbers in (grammar.binary_scores, grammar.unary_scores, grammar.seen_counts, grammar.unseen_counts):
        if not np.isfinite(numbers).all():
            raise ValueError("a grammar with infinite or NaN numbers")
