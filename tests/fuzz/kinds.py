"""Every kind of file that users hand in: what such files hold, how they are changed, and how they are read."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import random
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from unittest import mock

import numpy as np

from captious.data import read_rows
from captious.errors import CaptiousError
from captious.judgment.files import load_own
from captious.judgment.scores import read_scores
from captious.judgment.studies.correlations import _measures
from captious.metrics.shared.frequencies import DocumentFrequencies, content_digest
from captious.metrics.smurf import PUBLISHED, SmurfConstants
from captious.parsing.parse_files import read_parses
from captious.progress import Progress
from captious.resources import corenlp, vectors
from captious.resources import meteor_tables as meteor
from captious.resources.vector_files import DuplicateWordError, VectorIndex, index_of, source_of
from captious.text.stop_words import as_stop_words
from tests.fuzz import java, pickles
from tests.fuzz.mutations import mutated
from tests.support.meteor_files import JAR, PARAPHRASES, MeteorFiles
from tests.support.spice_grammar_files import distribution, models_jar, packed
from tests.support.vector_files import binary_of, fasttext_of, npz_of, text_of, write_keyed_vectors

__all__ = ["KINDS", "Kind"]

#: What a case is made of: the seeds of its kind, and words of its format.
Seeds = Sequence[bytes]


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Args:
        name: a file of it.
        make: the content of a case.
        read: reads a file.
    """

    name: str
    make: Callable[[random.Random], bytes]
    read: Callable[[Path], object]


def of_seeds(name: str, seeds: Callable[[], Seeds], read: Callable[[Path], object], *tokens: bytes) -> Kind:
    """Return a kind of file that is made by changing seeds, some of them compressed before or after that."""

    def make(rng: random.Random) -> bytes:
        there = seeds()
        content = rng.choice(there)
        if rng.random() < 0.1:
            return mutated(rng, gzip.compress(content, 1), there, tokens)
        content = mutated(rng, content, there, tokens)
        return gzip.compress(content, 1) if rng.random() < 0.05 else content

    return Kind(name, make, read)


def of_archives(name: str, seeds: Callable[[], Seeds], read: Callable[[Path], object]) -> Kind:
    """Return a kind of zip file that is made by changing seeds, or a member of one."""

    def make(rng: random.Random) -> bytes:
        content = rng.choice(seeds())
        if rng.random() < 0.4:
            return mutated(rng, content, seeds())
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {each: archive.read(each) for each in archive.namelist()}
        changed = rng.choice([*members])
        members[changed] = mutated(rng, members[changed], [*members.values()])
        if rng.random() < 0.1:
            members[rng.choice((changed, f"{changed}.npy", "x"))] = members.pop(changed)
        return _zipped(members, rng.choice((0, 0, 8, 8, 12, 14)))

    return Kind(name, make, read)


def _zipped(members: Mapping[str, bytes], compression: int) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return content.getvalue()


# ---- captions

RECORDS = [{"image_id": 1, "caption": 'a cat, on a "mat"'}, {"image_id": 2, "caption": "ein Hünd\n犬"}]
LISTS = [{"image_id": "1", "references": ["a cat", "the cat"]}, {"image_id": "x.jpg", "references": ["a dog"]}]
COCO = {"images": [{"id": 1}, {"id": 2}], "annotations": [{"image_id": i, "id": i, "caption": "a cat"} for i in (1, 2)]}
FIELDS = (
    b"image_id",
    b"caption",
    b"captions",
    b"references",
    b"candidate",
    b"images",
    b"annotations",
    b"id",
    b'"1"',
    b"image",
)


def both_sides(path: Path) -> None:
    with suppress(CaptiousError):
        read_rows(path, "candidates")
    read_rows(path, "references")


def _json(*documents: object) -> Callable[[], Seeds]:
    return lambda: [json.dumps(document, ensure_ascii=False).encode() for document in documents]


def _lines(*files: Sequence[object]) -> Callable[[], Seeds]:
    return lambda: ["".join(json.dumps(record) + "\n" for record in file).encode() for file in files]


def _tables(separator: str) -> Callable[[], Seeds]:
    rows = (("image_id", "caption"), ("1", '"a ""big"" cat, \n\tyes"'), ("2", "a dog"))
    return lambda: [end.join(separator.join(row) for row in rows).encode() + b"\n" for end in ("\n", "\r\n")]


@cache
def _parquet() -> Seeds:
    import pyarrow as arrow
    from pyarrow import parquet

    tables = [
        arrow.table({"image_id": [1, 2], "caption": ["a cat", "a dög"]}),
        arrow.table({"image_id": ["1", "2"], "references": [["a cat"], ["a", "b"]]}),
        arrow.table({"image_id": arrow.array([1, 2], arrow.timestamp("ms")), "caption": ["a", "b"]}),
        arrow.table({"image_id": arrow.array([1, 2], arrow.date32()), "caption": [b"a", b"b"]}),
    ]
    found = []
    for table in tables:
        for compression in ("none", "snappy"):
            out = io.BytesIO()
            parquet.write_table(table, out, compression=compression)
            found.append(out.getvalue())
    return found


# ---- judgments, parses, lists

JUDGMENTS = (
    [{"candidate": "a cat", "references": ["a cat", "the cat"], "rating": r, "image": 1} for r in (1, 2.5)],
    [{"candidate": "a cat", "references": ["a"], "ratings": [1, 2], "part": p} for p in ("a", 2)],
    [{"better": "a cat", "worse": "a dog", "references": ["a cat"]}] * 2,
)
PARSE = {"parser": "x", "caption": "a dog runs", "word": ["a", "dog", "runs"], "tag": ["DT", "NN", "VBZ"],
         "lemma": ["a", "dog", "run"], "basic": [[2, 1, "det"], [3, 2, "nsubj"], [0, 3, "root"]],
         "ccprocessed": [[2, 1, "det"], [3, 2.1, "nsubj"], [0, 3, "root"]]}  # fmt: skip
CONLLU = b"""# text = a dog runs
1\ta\ta\tDET\tDT\t_\t2\tdet\t2:det\t_
2\tdog\tdog\tNOUN\tNN\tNumber=Sing\t3\tnsubj\t3:nsubj\t_
3\truns\trun\tVERB\tVBZ\t_\t0\troot\t0:root|2:conj:and\t_

"""


# ---- vectors

VECTORS = {word: np.arange(3, dtype=np.float32) + row for row, word in enumerate(("the", "dog", "café", "犬"))}


def index(path: Path, vocabulary: Path | None = None, subwords: bool = False) -> None:
    """Do what ``VectorFile.compiled`` does, without the cache."""
    with tempfile.TemporaryFile() as out, source_of(path, vocabulary, subwords, path.parent) as (source, _):
        try:
            arrays = index_of(source.blocks, subwords=source.subwords, keep_first=False, out=out)  # type: ignore[arg-type]
        except DuplicateWordError:
            return
        out.seek(0)
        rows = np.frombuffer(out.read(), "<f4").reshape(-1, source.width)
        VectorIndex(arrays, rows).look_up(["dog", "cats", "", "\ud800"][: 3 if subwords else 4])


def index_with_words(path: Path) -> None:
    vocabulary = path.with_name("words.txt")
    vocabulary.write_text("the\ndog\ncafé\n犬\n", encoding="utf-8")
    index(path, vocabulary)


def index_with_subwords(path: Path) -> None:
    index(path, subwords=True)


def _npy() -> Seeds:
    found = []
    for matrix in (np.stack([*VECTORS.values()]), np.asfortranarray(np.ones((4, 2))), np.ones((4, 1), np.int8)):
        out = io.BytesIO()
        np.save(out, matrix)
        found.append(out.getvalue())
    return found


@cache
def _gensim() -> Seeds:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        write_keyed_vectors(path, VECTORS, beside=False)
        first = path.read_bytes()
        write_keyed_vectors(path, VECTORS, beside=True)
        return [first, path.read_bytes(), *(pickle.dumps({"a": np.ones(3), "b": b"x"}, protocol=p) for p in (2, 4, 5))]


def index_of_two_files(path: Path) -> None:
    """Read a pickle of gensim, and a .npy file that belongs to it."""
    second = path.with_name(f"{path.name}.vectors.npy")
    second.write_bytes(path.read_bytes())
    path.write_bytes(_gensim()[1])
    index(path)


def of_name(path: Path) -> None:
    """Read a file of the cache that says what a name stands for."""
    folder = path.parent / "vectors" / "names"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "a.json").write_bytes(path.read_bytes())
    with mock.patch.dict(os.environ, {"CAPTIOUS_CACHE": str(path.parent)}):
        vectors.describe("a")
        vectors.find("a")


ENTRY = {"checksum": "0" * 16, "words": 4, "width": 3, "path": "nowhere.txt", "vocabulary": None, "subwords": False,
         "keep_first": False}  # fmt: skip


# ---- frequencies, grammars, tables


@cache
def _frequencies() -> Seeds:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.idf"
        DocumentFrequencies.of({1: ["a cat on a mat", "the cat"], 2: ["a dog"]}).save(path)
        return [path.read_bytes()]


def _forged_frequencies(rng: random.Random) -> bytes:
    """Return frequencies that contradict themselves under the right checksum."""
    with np.load(io.BytesIO(_frequencies()[0])) as archive:
        content = {name: archive[name] for name in archive.files if name != "header"}
    for _ in range(rng.choice((1, 1, 3))):
        name = rng.choice([*content])
        array = content[name].copy()
        if name == "about":
            array = np.frombuffer(mutated(rng, array.tobytes()), np.uint8)
        elif array.size and rng.random() < 0.7:
            array.flat[rng.randrange(array.size)] = rng.choice(
                (0, 1, 2, 3, 100, 255, 2**31 - 1 if array.itemsize > 1 else 7)
            )
        else:
            array = rng.choice(
                (array[:-1], array[::-1], array.astype(np.float64), array.astype("S4"), array.reshape(-1))
            )
        content[name] = array
    header = json.dumps({"format": 1, "checksum": content_digest(content)}).encode()
    out = io.BytesIO()
    np.savez(out, header=np.frombuffer(header, np.uint8), **content)  # type: ignore[arg-type]
    return out.getvalue()


def grammar(path: Path) -> None:
    with Progress(100) as progress:
        corenlp._read_grammar(path, "x")._compile(progress)


@cache
def _grammars() -> Seeds:
    return [packed(), models_jar(packed()), distribution(models_jar(packed()), 0)]


def _grammar_stream(rng: random.Random) -> bytes:
    return gzip.compress(mutated(rng, gzip.decompress(_grammars()[0]), ()), 1)


@cache
def _meteor() -> Mapping[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        made = MeteorFiles(synsets={"cat": [1], "feline": [1]}, function_words=["the", "a"]).write(
            Path(folder), data=""
        )
        return {name: (made / name).read_bytes() for name in (JAR, PARAPHRASES)}


def tables(path: Path) -> None:
    """Tables of METEOR, one file of which is this one."""
    content = path.read_bytes()
    files = dict(_meteor())
    files[JAR if content.startswith(b"PK") else PARAPHRASES] = content
    for name, each in files.items():
        (path.parent / name).write_bytes(each)
    found = meteor._folder_tables(path.parent, "x")
    if found is not None:
        with Progress(100) as progress:
            found._compile(progress)


def _table(rng: random.Random) -> bytes:
    return gzip.compress(mutated(rng, gzip.decompress(_meteor()[PARAPHRASES])), 1)


SCORES = {"composite": {"mine": [0.1, 0.7], "other": {"a": 1}}}
CONSTANTS = {
    part: getattr(PUBLISHED, part) for part in ("sparcs", "spurts", "mima", "mima_model", "spurts_model", "name")
}


def _kinds() -> Iterator[tuple[str, Kind]]:
    yield "json", of_seeds("x.json", _json(RECORDS, COCO, {"1": "a cat", "2": ["a", "b"]}), both_sides, *FIELDS)
    yield "jsonl", of_seeds("x.jsonl", _lines(RECORDS, LISTS), both_sides, *FIELDS)
    yield "csv", of_seeds("x.csv", _tables(","), both_sides, b'"', b",", *FIELDS)
    yield "tsv", of_seeds("x.tsv", _tables("\t"), both_sides, b'"', b"\t", *FIELDS)
    yield "parquet", of_seeds("x.parquet", _parquet, both_sides)
    yield "judgments", of_seeds("x.jsonl", _lines(*JUDGMENTS), load_own, b"rating", b"ratings", b"part", b"image", b"1")
    yield (
        "parses",
        of_seeds("x.jsonl", _lines([PARSE]), read_parses, b"basic", b"ccprocessed", b"[3, 2.1]", b"word", b"2.1"),
    )
    yield "conllu", of_seeds("x.conllu", lambda: [CONLLU, CONLLU * 2], read_parses, b"\t", b"0:root", b"|", b":", b"_")
    yield "glove", of_seeds("x", lambda: [text_of(VECTORS)], index, b"1.0", b" ")
    yield "word2vec text", of_seeds("x", lambda: [text_of(VECTORS, header=True)], index, b"4 3\n", b" ")
    yield (
        "word2vec binary",
        of_seeds("x", lambda: [binary_of(VECTORS), binary_of(VECTORS, newline=False)], index, b"4 3\n"),
    )
    yield "fasttext", of_seeds("x", lambda: [fasttext_of(VECTORS, np.ones((8, 3)))], index)
    yield "fasttext subwords", of_seeds("x", lambda: [fasttext_of(VECTORS, np.ones((8, 3)))], index_with_subwords)
    yield "npz", of_archives("x", lambda: [npz_of(VECTORS)], index)
    yield (
        "npy",
        of_seeds("x", _npy, index_with_words, b"'descr'", b"'<f4'", b"'|O'", b"(4, 3)", b"False", b"'fortran_order'"),
    )
    yield "gensim", of_seeds("x", _gensim, index)
    yield "gensim in two files", of_seeds("x", _npy, index_of_two_files, b"'<f4'", b"'|O'", b"(4, 3)")
    yield "hostile pickles", Kind("x", pickles.program, index)
    yield (
        "names of vectors",
        of_seeds("x.json", _json(ENTRY, {"checksum": 1}), of_name, b"null", b"true", b"words", b'"' + b"0" * 16),
    )
    yield "frequencies", of_archives("x.idf", _frequencies, DocumentFrequencies.load)
    yield "forged frequencies", Kind("x.idf", _forged_frequencies, DocumentFrequencies.load)
    yield "grammars", of_seeds("x", _grammars, grammar)
    yield "java streams", Kind("x", lambda rng: gzip.compress(java.program(rng), 1), grammar)
    yield "streams of a grammar", Kind("x", _grammar_stream, grammar)
    yield "tables of meteor", of_archives("x", lambda: [_meteor()[JAR]], tables)
    yield "paraphrases", Kind("x", _table, tables)
    yield "stop words", of_seeds("x.txt", lambda: [b"the\na\n"], as_stop_words)
    yield "scores", of_seeds("x.json", _json(SCORES), read_scores, b"0.1")
    yield (
        "human scores",
        of_seeds("x.json", _json({"m1": {"a": 0.2, "b": 1}}), lambda p: _measures(p, ["a", "b"], str(p)), b"0.2"),
    )
    yield "constants", of_seeds("x.json", _json(CONSTANTS), SmurfConstants.load, b"0.", b"sparcs")


KINDS = dict(_kinds())
