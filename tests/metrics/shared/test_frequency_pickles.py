"""Document frequencies in pickles of training code: what is read, and what is refused."""

from __future__ import annotations

import math
import os
import pickle
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captious.errors import OutputError, ParameterError, ResourceError
from captious.metrics.shared.frequencies import DocumentFrequencies, read_pickle, write_pickle

COUNTS = {("a",): 3.0, ("a", "dog"): 2, ("a", "dog", "on", "it"): np.float64(1)}


def pickled(folder: Path, content: Any) -> Path:
    path = folder / "own.p"
    path.write_bytes(pickle.dumps(content, protocol=4))
    return path


@pytest.mark.parametrize("kind", [dict, Counter, lambda counts: defaultdict(float, counts)])
@pytest.mark.parametrize("key", ["document_frequency", "df"])
@pytest.mark.parametrize(("size", "n"), [(3, 3), (3.0, 3), (40, 40), (math.log(40), 40), (np.log(3), 3)])
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


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ([1], "it holds a list"),
        ({("a",) * 5: 1}, "not an n-gram of 1 to 4 words"),
        ({(): 1}, "not an n-gram of 1 to 4 words"),
        ({"a": 1}, "not an n-gram of 1 to 4 words"),
        ({("a", 1.5): 1}, "does not consist of words"),
        ({("a",): 1.5}, "1.5 is not a number of documents"),
        ({("a",): -1}, "-1 is not a number of documents"),
        ({"df": {("a",): 3}, "ref_len": 2}, "2 is neither the number of documents nor its logarithm"),
        ({"df": {("a",): 3}, "ref_len": 2.5}, "neither the number of documents nor its logarithm"),
        ({"df": {("a",): 3}, "ref_len": math.log(2)}, "neither the number of documents nor its logarithm"),
        ({"df": {("a",): 3}, "ref_len": 40.0 * math.log(2)}, ""),
        ({"df": {("a",): 3}}, "ref_len"),
        ({"df": {("a",): os.getcwd}}, "it contains"),
    ],
)
def test_other_pickles_are_refused(content: Any, reason: str, tmp_path: Path) -> None:
    path = pickled(tmp_path, content)
    if not reason:
        assert read_pickle(path)[1] == 1 << 40
        return
    with pytest.raises(ResourceError, match="not a pickle of document frequencies") as caught:
        read_pickle(path)
    assert reason in caught.value.where


def test_written_frequencies_are_read(tmp_path: Path) -> None:
    path = tmp_path / "df.p"
    write_pickle(path, {("a",): 3, ("a", "dog"): 2}, 7)
    assert read_pickle(path) == ({("a",): 3, ("a", "dog"): 2}, 7)
    for missing in (tmp_path / "none.p", tmp_path / "none" / "df.p"):
        with pytest.raises(ResourceError, match="cannot read document frequencies"):
            read_pickle(missing)
    with pytest.raises(OutputError):
        write_pickle(tmp_path / "none" / "df.p", {}, 1)
