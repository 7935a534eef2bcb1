"""Document frequencies of n-grams and of a model's tokens: counted, merged, saved, and as a parameter of metrics."""

from __future__ import annotations

import io
import json
import math
import os
import pickle
import struct
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from captious.data import References, Stored, read_references, stored_key
from captious.errors import CaptiousError, ParameterError, ResourceError, either, setting
from captious.files import RAISE_LIMIT, UnpackedSizeError, checksum, user_bytes, whole_file
from captious.metrics.contract.metric import State
from captious.metrics.contract.parameters import ResourceParameter
from captious.native import NgramFrequencies, ReferenceNgrams, Vocabulary, threads
from captious.resources.cache import COCO_VAL, COCO_VAL_FILE
from captious.text import NgramLayer, Tokenizer, Tokens, WordLayer, as_tokenizer
from captious.words import counted, shortened, with_article

if TYPE_CHECKING:
    from captious.models import Encoder

_COUNTS, _DOCUMENTS = "document_frequency", "ref_len"
# Document frequencies as pickles, the format of training code for captioning.
#
# A pickle holds ``{"document_frequency": {n-gram: count}, "ref_len": number of documents or its logarithm}``, or only
# the frequencies. N-grams are tuples of words, or of word ids. Files may be hostile: only plain values are unpickled.

_ALSO_COUNTS = "df"  # the key of vrama91/coco-caption
_HELP = "give a pickle with document_frequency and ref_len, as the training code writes it"
#: Number of documents of pickles that do not say: those of COCO's validation images, from CIDEr's authors.
_KNOWN_SIZES = {"coco-val": 40_504, "coco-val-df": 40_504}


class _NumberType:
    """A dtype of numpy's numbers."""

    def __init__(self, code: object, *_: object) -> None:
        if code not in _NUMBERS:
            raise pickle.UnpicklingError(f"it contains numbers of the type {code!r:.20}")
        self.code, self.order = str(code), "<"

    def __setstate__(self, state: Any) -> None:
        self.order = ">" if state[1] == ">" else "<"


def _number(type: Any, data: Any) -> float:
    """Return a number of numpy, which Python 2 writes as text."""
    if not isinstance(type, _NumberType) or not isinstance(data, bytes | str):
        raise pickle.UnpicklingError("it contains something else as a number")
    raw = data.encode("latin-1") if isinstance(data, str) else data
    value: float = struct.unpack(type.order + _NUMBERS[type.code], raw)[0]
    return value


def _encoded(text: Any, encoding: Any = None) -> bytes:
    """Return bytes that Python 3 has written by protocol 2, which has none."""
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise pickle.UnpicklingError("it contains bytes in an unexpected encoding")
    return text.encode("latin-1")


_NUMBERS = {"f4": "f", "f8": "d", "i4": "i", "i8": "q"}
#: What such pickles may contain besides plain values, by module and name, and what is created for it.
_KNOWN: Mapping[tuple[str, str], Any] = {
    ("collections", "defaultdict"): defaultdict,
    ("collections", "Counter"): Counter,
    ("collections", "OrderedDict"): OrderedDict,
    ("_codecs", "encode"): _encoded,
    ("numpy", "dtype"): _NumberType,
    ("numpy.core.multiarray", "scalar"): _number,
    ("numpy._core.multiarray", "scalar"): _number,
    **{
        (module, name): kind
        for module in ("builtins", "__builtin__")
        for name, kind in (("float", float), ("int", int), ("long", int), ("dict", dict), ("tuple", tuple))
    },
}


class _Plain(pickle.Unpickler):
    """An unpickler that only creates dictionaries, tuples, text and numbers, and imports nothing."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _KNOWN:
            raise pickle.UnpicklingError(f"it contains {module}.{name}")
        return _KNOWN[module, name]


def read_pickle(path: str | os.PathLike[str]) -> tuple[Mapping[tuple[str, ...], int], int | None]:
    """Return the frequencies in a pickle, and the number of documents, None if it has none.

    Raises:
        ResourceError: no such file, not such a pickle, or one that contains anything but plain values.
    """
    try:
        with Path(path).open("rb") as file:
            content = _Plain(file, encoding="latin1").load()  # as the training code reads files of Python 2
        return _understood(content)
    except OSError as error:
        raise ResourceError(
            f"cannot read document frequencies: {error.strerror}", where=str(path), hint=_HELP
        ) from error
    except MemoryError:
        raise
    except Exception as error:  # pickles fail in many ways
        raise ResourceError(
            "this is not a pickle of document frequencies", where=f"{path}: {error}", hint=_HELP
        ) from error


def _understood(content: Any) -> tuple[Mapping[tuple[str, ...], int], int | None]:
    if not isinstance(content, Mapping):
        raise ValueError(f"it holds {with_article(type(content).__name__)}")
    frequencies = content.get(_COUNTS, content.get(_ALSO_COUNTS, content))
    counts = {_ngram(ngram): count for ngram, value in frequencies.items() if (count := _whole(value))}
    if frequencies is content:
        return counts, None
    return counts, _documents(content[_DOCUMENTS], max(counts.values(), default=1))


def _ngram(ngram: Any) -> tuple[str, ...]:
    if not isinstance(ngram, tuple) or not 1 <= len(ngram) <= 4:
        raise ValueError(f"{shortened(ngram)} is not an n-gram of 1 to 4 words")
    if not all(isinstance(word, str | int | np.integer) for word in ngram):
        raise ValueError(f"{shortened(ngram)} does not consist of words or of their ids")
    return ngram if all(type(word) is str for word in ngram) else tuple(map(str, ngram))


def _whole(count: Any) -> int:
    value = float(count)
    if value != int(value) or value < 0:
        raise ValueError(f"{shortened(count)} is not a number of documents")
    return int(value)


def _documents(size: Any, largest: int) -> int:
    """Return the number of documents. A number smaller than the largest count is a logarithm."""
    value = float(size)
    if value >= largest and value == int(value):
        return int(value)
    n = round(math.exp(value)) if value < math.log(1 << 53) else 0
    if n < largest or not math.isclose(math.log(n), value, rel_tol=1e-6):
        raise ValueError(f"{shortened(size)} is neither the number of documents nor its logarithm")
    return n


# Document frequencies of n-grams for CIDEr: counted from references, merged, saved and loaded.
#
# A document is an image with all its references; the frequency of an n-gram (n = 1..4) is the number of images with a
# reference that contains it.

_FORMAT = 1
_MOST_DOCUMENTS = 1 << 53
_MOST_OF_DOCUMENT = 100_000  # n-grams: no document has more, so that more cannot be in all documents
_MOST_COUNTED = (1 << 31) - 1  # counts of n-grams have 32 bits

_FITTED = f"captious fit cider-d REFERENCES -o FILE; {setting('idf', 'FILE')}"
#: How to use document frequencies of a corpus of one's own.
OWN_FREQUENCIES = either(
    python="settings=captious.Settings(idf=captious.DocumentFrequencies.of(references))",
    command=_FITTED,
    challenge=_FITTED,
)


@dataclass(frozen=True, eq=False)
class DocumentFrequencies:
    """The number of images in a corpus with each n-gram.

    Args:
        vocabulary: the words of the n-grams.
        counts: number of images per n-gram, by word ids of the vocabulary.
        n_documents: number of images of the corpus.
        tokenizer: name of the tokenizer used for its references.
        name: name of the corpus in signatures.
    """

    vocabulary: Vocabulary
    counts: NgramFrequencies
    n_documents: int
    tokenizer: str
    name: str = "references"

    @classmethod
    def of(
        cls, references: object, tokenizer: str | Tokenizer | Callable[[str], Sequence[str]] = "ptb"
    ) -> DocumentFrequencies:
        """Count references: a ``References`` object (counted once, and cached) or any supported form."""
        table = read_references(references)
        return table.layer(_FrequencyLayer(as_tokenizer(tokenizer)))

    @classmethod
    def of_counts(
        cls,
        counts: Mapping[tuple[str, ...], int],
        n_documents: int,
        tokenizer: str | Tokenizer | Callable[[str], Sequence[str]] = "whitespace",
        name: str = "counts",
    ) -> DocumentFrequencies:
        """Create from external counts.

        Args:
            counts: n-gram of 1 to 4 words -> number of documents that contain it, 1 or more.
            n_documents: number of documents.
            tokenizer: the tokenizer.
            name: name of the corpus in signatures.

        Raises:
            ParameterError: an invalid n-gram or number.
        """
        vocabulary, frequencies = Vocabulary(), NgramFrequencies()
        words = {word: None for ngram in counts for word in ngram}
        numbers = dict(zip(words, vocabulary.add(tuple(words)).tolist(), strict=True))
        ngrams = np.full((len(counts), 4), -1, np.int32)
        for row, ngram in enumerate(counts):
            if not 1 <= len(ngram) <= 4:
                problem = f"{shortened(ngram)} is not an n-gram of 1 to 4 words"
                raise ParameterError(problem, hint="give tuples of words")
            ngrams[row, : len(ngram)] = [numbers[word] for word in ngram]
        values = np.array([*counts.values()], dtype=np.int64)
        most = int(values.max(initial=1))
        if values.min(initial=1) < 1 or not most <= n_documents <= _MOST_DOCUMENTS:
            raise ParameterError(
                f"frequencies from {values.min(initial=1):,} to {most:,} cannot be those of "
                f"{counted(n_documents, 'document')}",
                hint="count every n-gram in 1 to n_documents documents",
            )
        frequencies.add(ngrams, values)
        return cls(vocabulary, frequencies, int(n_documents), as_tokenizer(tokenizer).name, name)

    @classmethod
    def from_pickle(
        cls,
        path: str | os.PathLike[str],
        *,
        n_documents: int | None = None,
        tokenizer: str | Tokenizer | Callable[[str], Sequence[str]] = "whitespace",
    ) -> DocumentFrequencies:
        """Read a pickle of training code, such as ``coco-train-idxs.p``. Nothing in it is executed.

        Args:
            path: a file with ``document_frequency`` and ``ref_len`` (a number of documents, or its logarithm), or with
                only the frequencies.
            n_documents: number of documents, for files without it; known for ``coco-val-df.p`` of CIDEr's authors.
            tokenizer: the tokenizer of the file.

        Raises:
            ResourceError: no such file, or not such a pickle.
            ParameterError: neither the file nor ``n_documents`` gives the number of documents.
        """

        counts, n_in_file = read_pickle(path)
        n = n_in_file if n_documents is None else n_documents
        n = _KNOWN_SIZES.get(Path(path).stem) if n is None else n
        if n is None:
            raise ParameterError(
                "the pickle does not say of how many documents it is",
                where=str(path),
                hint=either(
                    python="read it by captious.DocumentFrequencies.from_pickle(FILE, n_documents=...)",
                    command="write it again: captious fit cider-d REFERENCES -o FILE.idf",
                ),
            )
        return cls.of_counts(counts, n, tokenizer, Path(path).stem)

    def to_pickle(self, path: str | os.PathLike[str]) -> None:
        """Write a pickle for training code: ``document_frequency`` and ``ref_len``, the number of documents.

        Raises:
            OutputError: the file cannot be written.
        """
        counts = {ngram: float(count) for ngram, count in self.by_ngram().items()}
        with whole_file(path, "wb") as file:
            pickle.dump({_COUNTS: counts, _DOCUMENTS: self.n_documents}, file, protocol=2)

    def by_ngram(self) -> dict[tuple[str, ...], int]:
        """Return the frequencies as a dictionary for ``of_counts``."""
        words = self.vocabulary.words()
        ngrams, frequencies = self.counts.entries()
        rows = zip(ngrams.tolist(), frequencies.tolist(), strict=True)
        return {tuple(words[word] for word in ngram if word >= 0): count for ngram, count in rows}

    @property
    def label(self) -> str:
        """Name and size of the corpus."""
        return f"{self.name}-{self.n_documents}"

    @property
    def contents(self) -> str:
        """Short description."""
        return f"{counted(len(self.counts), 'n-gram')} of {counted(self.n_documents, 'image')}"

    @property
    def weighs_nothing(self) -> bool:
        """Whether each n-gram is in all documents, as those of identical ones are: all its weights are ln 1 = 0."""
        if not 0 < len(self.counts) < _MOST_OF_DOCUMENT:
            return False
        return bool(self.counts.entries()[1].min() == self.n_documents)

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of the frequencies; it does not depend on the order of counting or on the file."""
        return content_digest(self._content)

    def merge(self, other: State) -> DocumentFrequencies:
        """Return the frequencies of both corpora together; an image in both counts twice.

        Raises:
            ParameterError: the tokenizers differ, or the other object is not document frequencies.
        """
        both = FrequencySum()
        both.add(self)
        both.add(other)
        return both.total

    def without_singles(self) -> DocumentFrequencies:
        """Return these frequencies without n-grams of one document, which have the same weight as unknown n-grams.

        Scores do not change. The result can no longer be merged, as n-grams that were left out may be in other
        documents, too.
        """
        ngrams, frequencies = self.counts.entries()
        several = frequencies > 1
        counts = NgramFrequencies()
        counts.add(np.ascontiguousarray(ngrams[several]), frequencies[several])
        return replace(self, counts=counts)

    def __reduce__(self) -> tuple[object, ...]:
        return DocumentFrequencies._from_content, (self._content, self.name)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the frequencies to a file. The same frequencies give the same bytes, whatever the order of counting.

        Raises:
            OutputError: the file cannot be written.
        """
        header = json.dumps({"format": _FORMAT, "checksum": self.checksum}).encode()
        arrays: dict[str, Any] = {"header": np.frombuffer(header, np.uint8), **self._content}
        content = io.BytesIO()
        np.savez_compressed(content, **arrays)
        with whole_file(path, "wb") as file:
            file.write(content.getbuffer())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> DocumentFrequencies:
        """Read a file written by ``save``.

        Raises:
            ResourceError: no such file, or not a complete file of document frequencies.
        """
        from captious.resources.npy import read_npz

        help = f"use {setting('idf', 'coco')}, or those of a corpus of your own: {OWN_FREQUENCIES}"
        raw = user_bytes(path, "document frequencies", help)
        try:
            content = read_npz(io.BytesIO(raw))
            header = json.loads(content.pop("header").tobytes())
            if header["format"] == _FORMAT and header["checksum"] == content_digest(content):
                return cls._from_content(content, Path(path).stem)
        except (CaptiousError, MemoryError):
            raise
        except UnpackedSizeError as error:
            raise ResourceError(
                f"these document frequencies are too large: {error}", where=str(path), hint=RAISE_LIMIT
            ) from error
        except Exception as error:  # the libraries raise many kinds of errors on damaged archives
            raise ResourceError(
                "not a file of document frequencies, or a damaged one", where=str(path), hint=help
            ) from error
        raise ResourceError(
            "the document frequencies are damaged or were written by another version of captious",
            where=str(path),
            hint=help,
        )

    @property
    def _content(self) -> dict[str, NDArray[Any]]:
        """Everything except the name, as arrays, words and n-grams in alphabetical order."""
        ngrams, frequencies = self.counts.entries()
        words = self.vocabulary.words()
        word_ids = sorted(np.unique(ngrams[ngrams >= 0]).tolist(), key=words.__getitem__)
        numbers = np.full(len(words), -1, np.int32)
        numbers[word_ids] = np.arange(len(word_ids))
        ngrams = _renumbered(ngrams, numbers)
        order = np.lexsort(ngrams.T[::-1])
        encoded = [words[i].encode() for i in word_ids]
        about = {"documents": self.n_documents, "tokenizer": self.tokenizer}
        return {
            "about": np.frombuffer(json.dumps(about).encode(), np.uint8),
            "words": np.frombuffer(b"".join(encoded), np.uint8),
            "word_ends": np.cumsum([len(word) for word in encoded], dtype=np.int64),
            "ngrams": ngrams[order],
            "frequencies": frequencies[order].astype(np.uint32),
        }

    @classmethod
    def _from_content(cls, content: dict[str, NDArray[Any]], name: str) -> DocumentFrequencies:
        about = json.loads(content["about"].tobytes())
        text, ends = content["words"].tobytes(), content["word_ends"].tolist()
        words = tuple(text[a:b].decode() for a, b in pairwise([0, *ends]))
        ngrams, frequencies = content["ngrams"], content["frequencies"].astype(np.int64)
        present = ngrams >= 0
        sound = (
            isinstance(about["documents"], int)
            and 1 <= about["documents"] <= _MOST_DOCUMENTS
            and sum(map(len, map(str.encode, words))) == len(text)
            and len(set(words)) == len(words)
            and ngrams.shape == (len(frequencies), 4)
            and ngrams.max(initial=-1) < len(words)
            and bool(present[:, 0].all() and (present[:, :-1] >= present[:, 1:]).all())
            and frequencies.min(initial=1) >= 1
            and frequencies.max(initial=1) <= about["documents"]
        )
        if not sound:
            raise ValueError("contradicts itself")
        vocabulary, counts = Vocabulary(), NgramFrequencies()
        vocabulary.add(words)
        counts.add(np.ascontiguousarray(ngrams, np.int32), frequencies)
        return cls(vocabulary, counts, int(about["documents"]), str(about["tokenizer"]), name)


class FrequencySum:
    """Sum of document frequencies of any number of corpora; each is added in time proportional to its own size."""

    def __init__(self) -> None:
        self._total: DocumentFrequencies | None = None

    def add(self, part: State) -> None:
        """Add frequencies.

        Raises:
            ParameterError: not document frequencies, of another tokenizer, or of more documents than can be counted.
        """
        total = self._total
        if not isinstance(part, DocumentFrequencies) or (total is not None and part.tokenizer != total.tokenizer):
            raise ParameterError(
                "these document frequencies cannot be merged",
                where=f"{total.label if total else 'none'} and {getattr(part, 'label', repr(part))}",
                hint="merge frequencies that were counted with the same tokenizer",
            )
        if total is None:  # tables that only this object holds
            total = DocumentFrequencies(Vocabulary(), NgramFrequencies(), 0, part.tokenizer, part.name)
        n = total.n_documents + part.n_documents
        if n > _MOST_COUNTED:
            raise ParameterError(
                f"document frequencies of {counted(n, 'image')} cannot be counted",
                hint=f"count at most {_MOST_COUNTED:,}, such as a sample, and give them with {setting('idf', 'FILE')}",
            )
        ngrams, frequencies = part.counts.entries()
        total.counts.add(_renumbered(ngrams, total.vocabulary.add(tuple(part.vocabulary.words()))), frequencies)
        name = total.name if part.name in total.name.split("+") else f"{total.name}+{part.name}"
        self._total = replace(total, n_documents=n, name=name)

    @property
    def total(self) -> DocumentFrequencies:
        """The frequencies of all corpora together.

        Raises:
            ParameterError: none were added.
        """
        if self._total is None:
            raise ParameterError("there are no document frequencies to merge", hint="add some first")
        return self._total


@dataclass(frozen=True)
class _FrequencyLayer:
    """Document frequencies as a layer of references, so that they are counted once."""

    tokenizer: Tokenizer

    @property
    def stored_as(self) -> str | None:
        return stored_key("frequencies-1", self.tokenizer.stored_as)

    def to_stored(self, annotation: DocumentFrequencies, references: References) -> Stored:
        return Stored(annotation.counts.arrays())

    def from_stored(self, stored: Stored, references: References) -> DocumentFrequencies:
        index: ReferenceNgrams = references.layer(NgramLayer(self.tokenizer))
        return self._from_counts(references, NgramFrequencies.of_arrays(index, {**stored.arrays}))

    def of_references(self, references: References) -> DocumentFrequencies:
        counts = NgramFrequencies()
        counts.count(references.layer(NgramLayer(self.tokenizer)), threads())
        return self._from_counts(references, counts)

    def _from_counts(self, references: References, counts: NgramFrequencies) -> DocumentFrequencies:
        words: Tokens = references.layer(WordLayer(self.tokenizer))
        return DocumentFrequencies(words.vocabulary, counts, len(references), self.tokenizer.name)


def content_digest(content: dict[str, NDArray[Any]]) -> str:
    import hashlib  # loads megabytes of OpenSSL, which scoring without files of frequencies does not need

    digest = hashlib.sha256()
    for name in sorted(content):
        digest.update(f"{name} {content[name].dtype.str} {content[name].shape} ".encode())
        digest.update(np.ascontiguousarray(content[name]).tobytes())
    return digest.hexdigest()


def _renumbered(ngrams: NDArray[np.int32], numbers: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return n-grams int32[n, 4] with new word ids; padding is kept."""
    out = np.full_like(ngrams, -1)
    out[ngrams >= 0] = numbers[ngrams[ngrams >= 0]]
    return out


# Document frequencies as a parameter of metrics: an object, a file, or those of the package.


def as_frequencies(idf: DocumentFrequencies | str | os.PathLike[str]) -> DocumentFrequencies:
    """Return document frequencies; "coco" for those of the package, and another name for a file.

    A file may be a pickle of training code, with words as the tokenizer ``ptb`` gives them.

    Raises:
        ParameterError: neither frequencies nor a path; a pickle with ids in place of words.
        ResourceError: as ``DocumentFrequencies.load``.
    """
    if isinstance(idf, str | os.PathLike):
        if os.fspath(idf) == COCO_VAL:
            return _coco_val()
        return _of_pickle(idf) if _is_pickle(idf) else DocumentFrequencies.load(idf)
    if not isinstance(idf, DocumentFrequencies):
        raise ParameterError(
            f"{shortened(idf)} does not hold document frequencies",
            hint=f"give those of a corpus of your own: {OWN_FREQUENCIES}",
        )
    return idf


def _is_pickle(path: str | os.PathLike[str]) -> bool:
    """Return whether a file begins like a pickle of any protocol; the files of ``save`` are zip archives."""
    try:
        with open(path, "rb") as file:
            return file.read(1) in (b"\x80", b"(", b"c", b"}")
    except (OSError, ValueError):
        return False


def _of_pickle(path: str | os.PathLike[str]) -> DocumentFrequencies:
    frequencies = DocumentFrequencies.from_pickle(path, tokenizer="ptb")
    if all(map(str.isdecimal, frequencies.vocabulary.words())):
        raise ParameterError(
            "the n-grams of this pickle are ids of a vocabulary, not words",
            where=os.fspath(path),
            hint="give the file with words, such as coco-train-words.p beside coco-train-idxs.p",
        )
    return frequencies


@cache
def _coco_val() -> DocumentFrequencies:
    """Return the frequencies of the package, without n-grams of a single image, which have the same weight as unknown
    ones.
    """
    return DocumentFrequencies.load(COCO_VAL_FILE)


class FrequenciesParameter(
    ResourceParameter[DocumentFrequencies | str | os.PathLike[str] | None, DocumentFrequencies | None]
):
    """Document frequencies, or a file of them; None to count those of the references."""

    def __init__(self, *, default: None = None) -> None:
        super().__init__(
            default=default,
            read=as_frequencies,
            keep_none=True,
            summary="document frequencies: a file, also a pickle (.p) of training code, or coco (COCO's validation "
            "images); none to count the references",
            signature_key="",  # the counted corpus is known only after the fit
        )


# Document frequencies of a model's tokens, for the token weights of metrics with contextual encoders.


@dataclass(frozen=True, eq=False)
class TokenFrequencies:
    """The number of captions in a corpus that contain each token, duplicates included.

    Args:
        counts: int64[size of the vocabulary], captions by token id.
        n_captions: number of captions of the corpus.
        model: label of the encoder of the tokens.
        name: name of the corpus in signatures.
    """

    counts: NDArray[np.int64]
    n_captions: int
    model: str
    name: str = "references"

    @classmethod
    def of(cls, captions: Iterable[str], encoder: Encoder, name: str = "captions") -> TokenFrequencies:
        """Count captions. Special tokens are counted like others."""
        from captious.models.encoders import numbered  # metrics of words need no models

        texts, rows = numbered(captions)
        times = np.bincount(rows, minlength=len(texts))
        counts = np.zeros(len(encoder.tokenizer), np.int64)
        for sequence, n in zip(encoder.tokenize(texts), times.tolist(), strict=True):
            counts[list(set(sequence))] += n
        return cls(counts, len(rows), encoder.label, name)

    @property
    def label(self) -> str:
        """Name and size of the corpus."""
        return f"{self.name}-{self.n_captions}"

    @property
    def checksum(self) -> str:
        """CRC-32 of the counts, eight hexadecimal digits."""
        return checksum(self.counts)

    @property
    def weights(self) -> NDArray[np.float64]:
        """The inverse document frequency of each token, which is above 0 even if all captions have it, float64."""
        return np.log((self.n_captions + 1) / (self.counts + 1))

    @staticmethod
    def checked(state: State, encoder: Encoder) -> TokenFrequencies:
        """Return frequencies that a metric is given, which must be those of its encoder.

        Raises:
            ParameterError: they are those of another model.
        """
        assert isinstance(state, TokenFrequencies)
        if state.model != encoder.label:
            raise ParameterError(
                "these token frequencies belong to another model",
                where=f"{state.label} of {state.model}, not {encoder.label}",
                hint="count with the metric's own encoder",
            )
        return state

    def merge(self, other: State) -> TokenFrequencies:
        """Return the frequencies of both corpora together; a caption in both counts twice.

        Raises:
            ParameterError: the models differ, or the other object is not token frequencies.
        """
        if not isinstance(other, TokenFrequencies) or other.model != self.model:
            raise ParameterError(
                "these frequencies cannot be merged",
                where=f"{self.label} and {getattr(other, 'label', repr(other))}",
                hint="merge frequencies that were counted with the same model",
            )
        name = self.name if self.name == other.name else f"{self.name}+{other.name}"
        return TokenFrequencies(self.counts + other.counts, self.n_captions + other.n_captions, self.model, name)


@dataclass(frozen=True)
class TokenFrequencyLayer:
    """Frequencies as a layer of references, so that they are counted once."""

    encoder: Encoder

    @property
    def stored_as(self) -> str | None:
        return stored_key("token-frequencies-1", self.encoder.label)

    def to_stored(self, annotation: TokenFrequencies, references: References) -> Stored:
        return Stored({"counts": annotation.counts})

    def from_stored(self, stored: Stored, references: References) -> TokenFrequencies:
        counts = stored.arrays["counts"]
        if counts.shape != (len(self.encoder.tokenizer),) or counts.dtype != np.int64 or counts.min(initial=0) < 0:
            raise ValueError("counts of other tokens")
        return TokenFrequencies(counts, len(references.texts), self.encoder.label)

    def of_references(self, references: References) -> TokenFrequencies:
        return TokenFrequencies.of(references.texts, self.encoder, "references")
