"""CoreNLP's grammar file in small: a made-up grammar of the published form, and the jar and zip that it comes in."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
from collections.abc import Mapping
from typing import Any

from tests.support.java_streams import Java, JavaArray, stream

GRAMMAR = "englishPCFG.ser.gz"
JAR = "stanford-corenlp-3.6.0-models.jar"
IN_JAR = f"edu/stanford/nlp/models/lexparser/{GRAMMAR}"
IN_ZIP = f"stanford-corenlp-full-2015-12-09/{JAR}"

STATES = ("ROOT", "NP", "DT^NP", "NN^NP", ".$$.", "@NP")
TAGS = ("DT^NP", "NN^NP", ".$$.")
WORDS = ("the", "café", ".$.", "UNK-LC-s")
BINARY = ((1, 2, 3, -0.1), (0, 1, 4, -0.0))
UNARY = ((1, 3, -2.5), (0, 1, -1.0000001))
SEEN = {(0, 0): 3.0, (1, 1): 2.5, (0, -1): 3.0, (1, -1): 2.5, (-1, 0): 3.0, (-1, 1): 2.5, (-1, -1): 5.5}
UNSEEN = {(1, 3): 1 / 3, (1, -1): 60.0, (-1, 3): 1 / 3, (-1, -1): 60.0}


def packed(changes: Mapping[str, Any] | None = None, *, root: str = "LexicalizedParser", level: int = 9) -> bytes:
    """Return the content of englishPCFG.ser.gz.

    Args:
        changes: other values, by names of parts of the grammar or of fields.
        root: the class of the whole.
        level: of packing.
    """
    part: dict[str, Any] = {
        "states": STATES, "tags": TAGS, "words": WORDS, "binary": BINARY, "unary": UNARY, "seen": SEEN,
        "unseen": UNSEEN, "dg": None, "reranker": None, "flexiTag": True, "threshold": 100, "smooth": [1.0, 0.2],
        "signatures": 2, "suffix": 1, "open": 50, "uwModel": "EnglishUnknownWordModel", "list size": 0,
    } | dict(changes or {})  # fmt: skip
    states, tags, words = map(_index, (part["states"], part["tags"], part["words"]))
    binary = [
        _of("BinaryRule", leftChild=("I", left), parent=("I", parent), rightChild=("I", right), score=("F", score))
        for parent, left, right, score in part["binary"]
    ]
    unary = [
        _of("UnaryRule", child=("I", child), parent=("I", parent), score=("F", score))
        for parent, child, score in part["unary"]
    ]
    options = _of("Options$LexOptions", useUnknownWordSignatures=("I", part["signatures"]),
                  unknownSuffixSize=("I", part["suffix"]))  # fmt: skip
    training = _of("TrainOptions", openClassTypesThreshold=("I", part["open"]))
    lexicon = _of(
        "BaseLexicon",
        flexiTag=("Z", part["flexiTag"]),
        smoothInUnknownsThreshold=("I", part["threshold"]),
        useSignatureForKnownSmoothing=("Z", False),
        seenCounter=_counter(part["seen"]),
        smooth=JavaArray("[D", part["smooth"]),
        uwModel=_of(part["uwModel"], unSeenCounter=_counter(part["unseen"])),
    )
    parser = _of(
        root,
        bg=_of("BinaryGrammar", allRules=_list(binary, part["list size"]), index=states),
        dg=part["dg"],
        lex=lexicon,
        op=_of("Options", lexOptions=options, trainOptions=training),
        reranker=part["reranker"],
        stateIndex=states,
        tagIndex=tags,
        ug=_of("UnaryGrammar", coreRules=_map([(rule, rule) for rule in unary]), index=states),
        wordIndex=words,
    )
    return gzip.compress(stream(parser), level, mtime=0)


def models_jar(grammar: bytes, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a models jar, with other models besides."""
    return _zip({"META-INF/MANIFEST.MF": b"", IN_JAR: grammar, "edu/stanford/other.ser.gz": b"other"}, compression)


def distribution(jar: bytes, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a distribution zip, with other jars besides."""
    code = _zip({"edu/stanford/nlp/Main.class": b"\xca\xfe\xba\xbe"}, compression)
    folder = IN_ZIP.partition("/")[0]
    return _zip({f"{folder}/": b"", f"{folder}/stanford-corenlp-3.6.0.jar": code, IN_ZIP: jar}, compression)


def _zip(members: Mapping[str, bytes], compression: int) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as archive:
        for name, member in members.items():
            archive.writestr(zipfile.ZipInfo(name), member, compression)
    return content.getvalue()


def _of(type: str, **fields: Any) -> Java:
    return Java(f"edu.stanford.nlp.parser.lexparser.{type}", fields)


def _list(items: list[Any], more: int = 0) -> Java:
    """Return a Java list whose stated size is too large by ``more``."""
    return Java("java.util.ArrayList", {"size": ("I", len(items) + more)}, [struct.pack(">i", len(items)), *items])


def _map(entries: list[tuple[Any, Any]]) -> Java:
    fields = {"loadFactor": ("F", 0.75), "threshold": ("I", 12)}
    written = [struct.pack(">ii", 16, len(entries)), *(item for entry in entries for item in entry)]
    return Java("java.util.HashMap", fields, written)


def _index(strings: tuple[Any, ...]) -> Java:
    fields = {"locked": ("Z", False), "indexes": _map([]), "objects": _list([*strings])}
    return Java("edu.stanford.nlp.util.HashIndex", fields)


def _counter(counts: Mapping[tuple[int, int], float]) -> Java:
    entries = [
        (_of("IntTaggedWord", tag=("S", tag), word=("I", word)), _double(count))
        for (tag, word), count in counts.items()
    ]
    fields = {"defaultValue": ("D", 0.0), "totalCount": ("D", sum(counts.values())), "map": _map(entries)}
    return Java("edu.stanford.nlp.stats.ClassicCounter", fields)


def _double(number: float) -> Java:
    above = Java("java.lang.Number")
    return Java("edu.stanford.nlp.util.MutableDouble", {"d": ("D", number)}, above=above)
