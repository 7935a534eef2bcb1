"""The data inside a single-file page: the document itself, packed arrays, and captions with their tokens."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import chain
from string import Template
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from captious.data import References
from captious.data.tables import ReferenceLayer
from captious.drawing import DESIGN_FOLDER, SCRIPTS, SCRIPTS_FOLDER
from captious.native import Vocabulary
from captious.report.html import asset, text
from captious.report.images import ImageFolder, ImageUrls
from captious.version import __version__

# A single-file page: style, data and scripts inside, with a policy that lets it load nothing else.

_STYLES = (f"{DESIGN_FOLDER}/tokens.css", "tables.css", "page.css", "explanations/explanations.css")
_LIBRARIES = ("d3-7.9.2", "observable-plot-0.6.17")
#: In the order in which they are put together; each is a part of one module.
_SCRIPTS = (
    *(f"{SCRIPTS_FOLDER}/{name}" for name in SCRIPTS),
    "columns.js",
    "data.js",
    "figures.js",
    "tables.js",
    "distributions.js",
    "packed_explanations.js",
    "word_explanations.js",
    "image.js",
    "list.js",
    "explorer.js",
    "results.js",
    "printing.js",
    "main.js",
)
#: Of the style that Observable Plot puts into its drawings, for the class "plot".
_PLOT_STYLE = "sha256-+TfQir1nvDucAdvE6XUQBt4ayUjpAWkbw2kCdSfekHM="


def document(
    title: str,
    content: str,
    manifest: Mapping[str, Any],
    columns: Iterable[str] = (),
    *,
    images: ImageUrls | ImageFolder | None = None,
) -> str:
    """Return the page.

    Args:
        title: title of the page, plain text.
        content: HTML of its main part.
        manifest: plain values for its scripts.
        columns: the data, base64.
        images: source of images.
    """
    style = "".join(asset(name) for name in _STYLES)
    page_script = "".join(asset(name) for name in _SCRIPTS)
    scripts = [_library(name) for name in _LIBRARIES]
    packed_manifest = json.dumps(manifest, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    data = [f'<script type="application/json" id="manifest">{packed_manifest}</script>']
    data += [f'<script type="text/plain" class="column">{packed}</script>' for packed in columns]
    code = [f"<script>{script}</script>" for script in scripts] + [f'<script type="module">{page_script}</script>']
    return Template(asset("page.html")).substitute(
        policy=_policy([*scripts, page_script], style, images),
        version=escape(__version__),
        title=text(title),
        style=style,
        content=content,
        images="" if images is None else ", except for images",
        data="\n".join(data),
        scripts="\n".join(code),
    )


@cache
def _library(name: str) -> str:
    """Return a library with its license."""
    license = asset(f"third_party/{name}.LICENSE").strip()
    return f"/*\n{license}\n*/\n{asset(f'third_party/{name}.min.js')}"


def _policy(scripts: Sequence[str], style: str, images: ImageUrls | ImageFolder | None) -> str:
    rules = {
        "default-src": "'none'",
        "script-src": " ".join(f"'{_hash(script)}'" for script in scripts),
        "style-src": f"'{_hash(style)}' '{_PLOT_STYLE}'",
        "img-src": "'none'" if images is None else images.source,
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return escape("; ".join(f"{name} {value}" for name, value in rules.items()))


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode("ascii")


# Arrays inside a page: narrowed, deflated and base64-encoded, each in an element of its own that is unpacked on
# demand.
#
# A plain dictionary in the manifest describes a column: the number of its element, its type, and how it was arranged
# before compression. ``assets/columns.js`` reads it.

#: The entry of a column in the manifest.
Column: TypeAlias = dict[str, Any]

_INTEGERS = (np.uint8, np.uint16, np.uint32, np.int32)
_NO_NUMBER = -(2**31)  # stands for nan
_DIGITS = 4  # after the point, as scores are shown


class Columns:
    """The columns of one page, in the order in which they were added."""

    def __init__(self) -> None:
        self._packed: list[str] = []

    def __iter__(self) -> Iterator[str]:
        """Yield the content of each element: base64, which needs no escapes in HTML."""
        return iter(self._packed)

    def integers(self, values: ArrayLike) -> Column:
        """Pack integers from -2^31 + 1 to 2^32 - 1, in the narrowest type that holds them; any shape, flattened."""
        array = np.asarray(values).ravel()
        low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
        kind = next(t for t in _INTEGERS if np.iinfo(t).min <= low and high <= np.iinfo(t).max)
        return self._add(array.astype(kind))

    def numbers(self, values: NDArray[np.float64]) -> Column:
        """Pack numbers with four decimals, or more if all are small; nan is kept.

        Numbers that cannot be packed like this, such as infinities, are stored as they are.
        """
        sizes = np.abs(values[~np.isnan(values)])
        most = float(sizes.max(initial=0))
        digits = _DIGITS
        if 0 < most < 0.1:
            digits += min(int(-np.floor(np.log10(most))) - 1, 8)
        if not most * 10**digits < 2**31 - 1:
            return self._add(np.asarray(values, np.float64))
        scaled = np.where(np.isnan(values), _NO_NUMBER, np.round(np.nan_to_num(values) * 10**digits))
        return {**self._add(scaled.astype(np.int32), planes=True), "digits": digits}

    def strings(self, texts: Sequence[str]) -> Column:
        """Pack strings: concatenated as UTF-8, with their lengths as the page counts them, in UTF-16 units."""
        joint_text = "".join(texts)
        lengths = np.fromiter((len(text) for text in texts), np.int64, len(texts))
        if not joint_text.isascii():
            wide = (sum(c > "\uffff" for c in text) if not text.isascii() else 0 for text in texts)
            lengths = lengths + np.fromiter(wide, np.int64, len(texts))
        raw = np.frombuffer(joint_text.encode("utf-8", "replace"), np.uint8)
        return {"text": self._add(raw), "lengths": self.integers(lengths)}

    def lists(self, rows: Iterable[Sequence[int]]) -> Column:
        """Pack lists of integers of any length."""
        lists = [*rows]
        flat = [value for row in lists for value in row]
        return {"counts": self.integers([len(row) for row in lists]), "values": self.integers(flat)}

    def _add(self, array: NDArray[Any], *, planes: bool = False) -> Column:
        """Pack an array; ``planes`` puts the first bytes of all values before all second ones, and so on."""
        array = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        raw = array.tobytes()
        if planes:
            raw = array.view(np.uint8).reshape(-1, array.itemsize).T.tobytes()
        self._packed.append(base64.b64encode(zlib.compress(raw, 9)).decode("ascii"))
        column: Column = {"column": len(self._packed) - 1, "type": f"{array.dtype.kind}{array.itemsize}"}
        return {**column, "planes": True} if planes else column


# Captions inside a page: as word numbers over one vocabulary, with tokens derived from words.
#
# A caption is split at single spaces, so that joining its words restores the text, byte for byte. For nearly every
# caption, its tokens are those of its words, concatenated; exceptions are listed. So a page has the tokens of every
# caption at little more than the cost of the captions themselves.


class TokenIds(Protocol):
    """Captions as ids over a vocabulary, as in token layers."""

    @property
    def ids(self) -> NDArray[np.int32]:
        """int32[n_tokens]."""
        ...

    @property
    def offsets(self) -> NDArray[np.int64]:
        """int64[n_captions + 1]."""
        ...

    @property
    def vocabulary(self) -> Vocabulary:
        """The tokens."""
        ...


@dataclass(frozen=True, eq=False)
class CaptionWords:
    """Lists of captions as words.

    Args:
        words: distinct words of all lists, the most frequent first.
        ids: for each list, int32[n_words].
        offsets: for each list, int64[n_captions + 1].
    """

    words: Sequence[str]
    ids: Sequence[NDArray[np.int32]]
    offsets: Sequence[NDArray[np.int64]]

    def pack(self, columns: Columns) -> dict[str, Any]:
        """Pack them, and return their manifest entries."""
        lists = [
            {"counts": columns.integers(np.diff(offsets)), "values": columns.integers(ids)}
            for ids, offsets in zip(self.ids, self.offsets, strict=True)
        ]
        return {"words": columns.strings(self.words), "lists": lists}


def caption_words(lists: Sequence[Sequence[str]]) -> CaptionWords:
    """Split lists of captions at single spaces."""
    cut = [[text.split(" ") for text in texts] for texts in lists]
    counts = Counter(chain.from_iterable(chain.from_iterable(cut)))
    words = sorted(counts, key=lambda word: (-counts[word], word))
    numbers = {word: number for number, word in enumerate(words)}
    ids, offsets = [], []
    for texts in cut:
        bounds = np.cumsum([0, *map(len, texts)])
        flat = chain.from_iterable(texts)
        ids.append(np.fromiter(map(numbers.__getitem__, flat), np.int32, int(bounds[-1])))
        offsets.append(bounds)
    return CaptionWords(words, ids, offsets)


class TokenTable:
    """Tokens of captions, given their words.

    Args:
        captions: the captions as words.
        layer: the annotation that tokenizes references.
    """

    def __init__(self, captions: CaptionWords, layer: ReferenceLayer[TokenIds]) -> None:
        self._captions = captions
        of_words = References(
            ids=tuple(range(len(captions.words))),
            texts=tuple(captions.words),
            offsets=np.arange(len(captions.words) + 1),
        )
        tokens = layer.of_references(of_words) if captions.words else None
        #: Distinct tokens, by number.
        self.tokens: dict[str, int] = {}
        self._of_words = np.empty(0, np.int32) if tokens is None else self.numbered(tokens)
        self._bounds = np.zeros(1, np.int64) if tokens is None else np.asarray(tokens.offsets)
        self._layers: list[dict[str, Any]] = []

    def numbered(self, tokens: TokenIds) -> NDArray[np.int32]:
        """Convert ids over a vocabulary to numbers of this table, int32[n_tokens]; new tokens are added."""
        ids, places = np.unique(tokens.ids, return_inverse=True)
        words = [tokens.vocabulary.word(i) for i in ids.tolist()]
        numbers = [self.tokens.setdefault(word, len(self.tokens)) for word in words]
        return np.array(numbers, np.int32)[places] if numbers else np.empty(0, np.int32)

    def number(self, token: str) -> int:
        """Return the number of a token, which is added if it is new."""
        return self.tokens.setdefault(token, len(self.tokens))

    def add(self, which: int, tokens: TokenIds) -> None:
        """Record the captions of list ``which`` whose tokens are not those of their words."""
        ids, bounds = self.numbered(tokens), np.asarray(tokens.offsets)
        words, offsets = self._captions.ids[which], self._captions.offsets[which]
        lengths = np.diff(self._bounds)[words]
        guess = self._of_words[ragged(self._bounds[words], lengths)]
        starts = np.concatenate([[0], np.cumsum(lengths)])[offsets]
        wrong = np.diff(starts) != np.diff(bounds)
        equal_rows = np.flatnonzero(~wrong)
        n = np.diff(bounds)[equal_rows]
        differ = guess[ragged(starts[equal_rows], n)] != ids[ragged(bounds[equal_rows], n)]
        wrong[np.unique(np.repeat(equal_rows, n)[differ])] = True
        rows = np.flatnonzero(wrong)
        counts = np.diff(bounds)[rows]
        self._layers.append(
            {"list": which, "rows": rows, "counts": counts, "values": ids[ragged(bounds[rows], counts)]}
        )

    def pack(self, columns: Columns) -> dict[str, Any]:
        """Pack them, and return their manifest entries."""
        layers: list[Column] = [
            {name: value if name == "list" else columns.integers(value) for name, value in layer.items()}
            for layer in self._layers
        ]
        return {
            "tokens": columns.strings([*self.tokens]),
            "of_words": {"counts": columns.integers(np.diff(self._bounds)), "values": columns.integers(self._of_words)},
            "others": layers,
        }


def ragged(starts: NDArray[Any], lengths: NDArray[Any]) -> NDArray[np.int64]:
    """Return the indices of spans, concatenated: start, start + 1, ... of each."""
    ends = np.cumsum(lengths)
    shift = np.repeat(np.asarray(starts) - (ends - lengths), lengths)
    return np.asarray(shift + np.arange(len(shift)), np.int64)
