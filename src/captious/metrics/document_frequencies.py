"""Document frequencies of n-grams, which CIDEr weighs by: counted from references, merged, saved and loaded.

A document is an image with all its references; the frequency of an n-gram (n = 1..4) is the number of images with a
reference that holds it.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Hashable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from captious.data import References, read_references
from captious.errors import ParameterError, ResourceError
from captious.files import whole_file
from captious.metrics.base import State
from captious.native import NgramFrequencies, Vocabulary
from captious.text import NgramLayer, Tokenizer, WordLayer

__all__ = ["DocumentFrequencies"]

_FORMAT = 1


@dataclass(frozen=True, eq=False)
class DocumentFrequencies:
    """How many images of a corpus have each n-gram.

    Args:
        vocabulary: the words that n-grams are made of.
        counts: number of images per n-gram, by word ids of the vocabulary.
        n_documents: number of images of the corpus.
        tokenizer: name of the tokenizer that cut its references.
        name: what signatures call the corpus.
    """

    vocabulary: Vocabulary
    counts: NgramFrequencies
    n_documents: int
    tokenizer: str
    name: str = "references"
    checksum: str = field(default="", repr=False)

    @classmethod
    def of(cls, references: object, tokenizer: Tokenizer) -> DocumentFrequencies:
        """Count references: a ``References`` (counted once, however often this is asked) or any form that is read."""
        table = references if isinstance(references, References) else read_references(references)
        return table.layer(_FrequencyLayer(tokenizer))

    @property
    def label(self) -> str:
        """Corpus, its size and, if it came from a file, the first digits of the file's SHA-256."""
        return "-".join(filter(None, [self.name, str(self.n_documents), self.checksum[:8]]))

    def merge(self, other: State) -> DocumentFrequencies:
        """The frequencies of both corpora together; an image that is in both counts twice.

        Raises:
            ParameterError: they were cut by different tokenizers.
        """
        if not isinstance(other, DocumentFrequencies) or other.tokenizer != self.tokenizer:
            raise ParameterError(
                "these document frequencies do not belong together",
                where=f"{self.label} and {other.label}",
                help="merge frequencies that were counted with the same tokenizer",
            )
        vocabulary, counts = Vocabulary(), NgramFrequencies()
        for part in (self, other):
            ngrams, frequencies = part.counts.entries()
            counts.add(_renumbered(ngrams, vocabulary.add(tuple(part.vocabulary.words()))), frequencies)
        name = self.name if self.name == other.name else f"{self.name}+{other.name}"
        return DocumentFrequencies(vocabulary, counts, self.n_documents + other.n_documents, self.tokenizer, name)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the frequencies to a file. The same frequencies give the same bytes, in whatever order counted.

        Raises:
            OutputError: the file cannot be written.
        """
        ngrams, frequencies = self.counts.entries()
        words = self.vocabulary.words()
        used = np.unique(ngrams[ngrams >= 0])
        by_text = sorted(used.tolist(), key=words.__getitem__)
        numbers = np.full(len(words), -1, np.int32)
        numbers[by_text] = np.arange(len(by_text))
        ngrams = _renumbered(ngrams, numbers)
        order = np.lexsort(ngrams.T[::-1])
        encoded = [words[i].encode() for i in by_text]
        about = {"format": _FORMAT, "documents": self.n_documents, "tokenizer": self.tokenizer}
        content = io.BytesIO()
        np.savez_compressed(
            content,
            about=np.frombuffer(json.dumps(about).encode(), np.uint8),
            words=np.frombuffer(b"".join(encoded), np.uint8),
            word_ends=np.cumsum([len(word) for word in encoded], dtype=np.int64),
            ngrams=ngrams[order],
            frequencies=frequencies[order].astype(np.uint32),
        )
        with whole_file(path, "wb") as file:
            file.write(content.getbuffer())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> DocumentFrequencies:
        """Read what ``save`` wrote.

        Raises:
            ResourceError: no such file, or not a whole file of document frequencies.
        """
        help = "make it anew: captious idf build REFERENCES -o FILE.idf"
        try:
            raw = Path(path).read_bytes()
        except OSError as error:
            raise ResourceError(
                f"cannot read document frequencies: {error.strerror}", where=str(path), help=help
            ) from error
        try:
            with np.load(io.BytesIO(raw), allow_pickle=False) as archive:
                content = {name: archive[name] for name in archive.files}
            about = json.loads(content["about"].tobytes())
            if about["format"] != _FORMAT:
                raise ResourceError(
                    f"these document frequencies are of format {about['format']}, not {_FORMAT}",
                    where=str(path),
                    help=help,
                )
            text, ends = content["words"].tobytes(), content["word_ends"].tolist()
            vocabulary, counts = Vocabulary(), NgramFrequencies()
            vocabulary.add(tuple(text[a:b].decode() for a, b in zip([0, *ends], ends, strict=False)))
            counts.add(content["ngrams"], content["frequencies"].astype(np.int64))
            n_documents, tokenizer = int(about["documents"]), str(about["tokenizer"])
        except (KeyError, ValueError, TypeError, EOFError, OSError, zipfile.BadZipFile) as error:
            raise ResourceError(
                "not a file of document frequencies, or a damaged one", where=str(path), help=help
            ) from error
        checksum = hashlib.sha256(raw).hexdigest()
        return cls(vocabulary, counts, n_documents, tokenizer, Path(path).stem, checksum)


@dataclass(frozen=True)
class _FrequencyLayer:
    """Document frequencies as a layer of references, so that they are counted once."""

    tokenizer: Tokenizer

    @property
    def key(self) -> Hashable:
        return "document frequencies", self.tokenizer

    def of_references(self, references: References) -> DocumentFrequencies:
        counts = NgramFrequencies()
        counts.count(references.layer(NgramLayer(self.tokenizer)))
        vocabulary = references.layer(WordLayer(self.tokenizer)).vocabulary
        return DocumentFrequencies(vocabulary, counts, len(references), self.tokenizer.name)

    def of_candidates(self, captions: object, references: DocumentFrequencies) -> None:
        """Candidates have no document frequencies."""


def _renumbered(ngrams: NDArray[np.int32], numbers: NDArray[np.int32]) -> NDArray[np.int32]:
    """N-grams int32[n, 4] under new word ids; padding stays."""
    out = np.full_like(ngrams, -1)
    out[ngrams >= 0] = numbers[ngrams[ngrams >= 0]]
    return out
