"""Document frequencies in pickles of training code: what is read, and what is refused."""

from __future__ import annotations

import math
import pickle
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious.errors import OutputError, ParameterError, ResourceError
from captious.metrics.shared.frequencies import DocumentFrequencies, read_pickle

COUNTS = {("a",): 3.0, ("a", "dog"): 2, ("a", "dog", "on", "it"): np.float64(1)}


def pickled(folder: Path, content: Any) -> Path:
    path = folder / "own.p"
    path.write_bytes(pickle.dumps(content, protocol=4))
    return path


@pytest.mark.parametrize("kind", [dict, Counter, lambda counts: defaultdict(float, counts)])
@pytest.mark.parametrize("key", ["document_frequency", "df"])
@pytest.mark.parametrize(
    ("size", "n"), [(3, 3), (3.0, 3), (40, 40), (math.log(40), 40), (np.log(3), 3), (40.0 * math.log(2), 1 << 40)]
)
def test_frequencies_and_the_number_of_documents_are_read(
    kind: Any, key: str, size: float, n: int, tmp_path: Path
) -> None:
    counts, found = read_pickle(pickled(tmp_path, {key: kind(COUNTS), "ref_len": size}))
    assert counts == {("a",): 3, ("a", "dog"): 2, ("a", "dog", "on", "it"): 1}
    assert found == n


def test_frequencies_alone_do_not_tell_the_number_of_documents(tmp_path: Path) -> None:
    path = pickled(tmp_path, {**COUNTS, ("b",): 0, (7, np.int64(8)): 1})
    assert read_pickle(path) == ({("a",): 3, ("a", "dog"): 2, ("a", "dog", "on", "it"): 1, ("7", "8"): 1}, None)
    with pytest.raises(ParameterError, match="does not say of how many documents"):
        DocumentFrequencies.from_pickle(path)
    frequencies = DocumentFrequencies.from_pickle(path, n_documents=5)
    assert (frequencies.n_documents, frequencies.name) == (5, "own")


#: The same frequencies as programs of Python 2 write them, by cPickle with its default protocol and with protocol 2.
PYTHON_2 = {
    "protocol 0": b"""(dp1
S'document_frequency'
p2
ccollections
defaultdict
p3
(c__builtin__
float
p4
tRp5
(S'a'
p6
tp7
F3.0
s(S'a'
p8
S'dog'
p9
tp10
F2.0
s(S'caf\\xc3\\xa9'
p11
tp12
F1.0
ssS'ref_len'
p13
cnumpy.core.multiarray
scalar
p14
(cnumpy
dtype
p15
(S'f8'
p16
I0
I1
tRp17
(I3
S'<'
p18
NNNI-1
I-1
I0
tbS'\\xf3\\xfe\\xbaY\\x82\\x07\\x10@'
p19
tRp20
s.""",
    "protocol 2": b"\x80\x02}q\x01(U\x12document_frequencyq\x02ccollections\ndefaultdict\nq\x03c__builtin__\n"
    b"float\nq\x04\x85Rq\x05(U\x01aq\x06\x85q\x07G@\x08\x00\x00\x00\x00\x00\x00h\x06U\x03dogq\x08\x86q\tG@\x00\x00\x00"
    b"\x00\x00\x00\x00U\x05caf\xc3\xa9q\n\x85q\x0bG?\xf0\x00\x00\x00\x00\x00\x00uU\x07ref_lenq\x0cK7u.",
}


@pytest.mark.parametrize("protocol", PYTHON_2)
def test_pickles_of_python_2_are_read(protocol: str, tmp_path: Path) -> None:
    path = tmp_path / "coco-train-words.p"
    path.write_bytes(PYTHON_2[protocol])
    counts, n = read_pickle(path)
    assert counts == {("a",): 3, ("a", "dog"): 2, ("cafÃ©",): 1}  # as the training code reads it
    assert n == 55


@pytest.mark.filterwarnings("ignore:every image has only one reference", "ignore:cider-d weights n-grams")
@pytest.mark.parametrize("content", [*PYTHON_2.values(), None])
def test_a_pickle_is_a_file_of_frequencies(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "coco-train-words.p"
    path.write_bytes(content or pickle.dumps({"df": {("a",): 3.0, ("a", "dog"): 2.0}, "ref_len": np.log(55.0)}, 2))
    given = DocumentFrequencies.from_pickle(path, tokenizer="ptb")
    captions = {1: "A dog.", 2: "A cat."}, {1: ["A dog runs."], 2: ["The cat."]}
    scores = [
        captious.score(*captions, "cider-d", settings=captious.Settings(idf=idf))["cider-d"].score
        for idf in (path, given)
    ]
    assert scores[0] == scores[1] > 0


def test_a_pickle_of_ids_is_refused(tmp_path: Path) -> None:
    path = pickled(tmp_path, {"document_frequency": {("7", "8"): 2, ("0",): 3}, "ref_len": 9})
    with pytest.raises(ParameterError, match="ids of a vocabulary, not words"):
        captious.CiderD(idf=path)


@pytest.mark.parametrize("code", ["O", "O8", "V8", "S8", ("f8", 3)])
def test_only_numbers_of_numpy_are_created(code: Any, tmp_path: Path) -> None:
    class Hostile:
        def __reduce__(self) -> tuple[Any, ...]:
            return np.float64(1).__reduce__()[0], (Type(), b"12345678")

    class Type:
        def __reduce__(self) -> tuple[Any, ...]:
            return np.dtype, (code, False, True)

    with pytest.raises(ResourceError, match="not a pickle of document frequencies"):
        read_pickle(pickled(tmp_path, {("a",): Hostile()}))


def test_pickles_are_not_executed(tmp_path: Path) -> None:
    class Hostile:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (tmp_path / "touched",)

    path = pickled(tmp_path, {"document_frequency": Hostile(), "ref_len": 2})
    with pytest.raises(ResourceError, match="it contains"):
        DocumentFrequencies.from_pickle(path)
    assert not (tmp_path / "touched").exists()


def test_written_frequencies_are_read(tmp_path: Path) -> None:
    path = tmp_path / "df.p"
    counts = {("a",): 3, ("a", "dog"): 2, ("ein", "Hund", "läuft", "los"): 1}
    frequencies = DocumentFrequencies.of_counts(counts, 7)
    frequencies.to_pickle(path)
    assert pickle.loads(path.read_bytes()) == {"document_frequency": counts, "ref_len": 7}
    assert read_pickle(path) == (counts, 7)
    assert DocumentFrequencies.from_pickle(path).checksum == frequencies.checksum
    for missing in (tmp_path / "none.p", tmp_path / "none" / "df.p"):
        with pytest.raises(ResourceError, match="cannot read document frequencies"):
            read_pickle(missing)
    with pytest.raises(OutputError):
        frequencies.to_pickle(tmp_path / "none" / "df.p")
