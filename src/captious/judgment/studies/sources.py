"""What studies share: captions to be scored, similar images, counts of words, and polygons."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References
from captious.errors import ParameterError
from captious.files import checksum
from captious.judgment.judging import load_judgments
from captious.judgment.judgments import PEOPLE, CaptionPairs, HumanJudgments, RatedCaptions
from captious.models.image_features import ImageFeatures
from captious.text import PTB, TokenLayer, Tokens, WordLayer

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


# Convex polygons: ellipses of point clouds, and overlaps of polygons.

#: Corners of the polygon that stands for an ellipse.
_CORNERS = 64


def ellipse(x: NDArray[np.float64], y: NDArray[np.float64], deviations: float) -> NDArray[np.float64]:
    """Return the ellipse of a number of standard deviations around the mean of points, as a polygon float64[64, 2].

    Its axes are those of the sample covariance after scaling both coordinates to variance 1.

    Args:
        x, y: float64[n], n at least 2. Collinear points give a polygon without area.
    """
    angle = np.arange(_CORNERS) * 2 * np.pi / _CORNERS
    covariance = np.cov(x, y)
    sigma = np.sqrt(np.diag(covariance))
    product = float(sigma[0] * sigma[1])
    r = float(np.clip(covariance[0, 1] / product, -1, 1)) if product > 0 else 0.0
    along, across = np.sqrt(1 + r) * np.cos(angle), np.sqrt(1 - r) * np.sin(angle)
    turned = np.stack([along - across, along + across], axis=1) / np.sqrt(2)
    return np.asarray(turned * sigma * deviations + (x.mean(), y.mean()))


def area(polygon: NDArray[np.float64]) -> float:
    """Return the area of a polygon float64[n, 2]; positive if its vertices are counter-clockwise."""
    x, y = polygon.T
    return float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


def clipped(subject: NDArray[np.float64], clip: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the intersection of two convex polygons with counter-clockwise vertices, float64[n, 2], possibly empty.

    Sutherland and Hodgman 1974: the subject is clipped at each edge of the other polygon in turn.
    """
    for start, end in zip(clip, np.roll(clip, -1, axis=0), strict=True):
        if not len(subject):
            break
        dx, dy = end - start
        side = dx * (subject[:, 1] - start[1]) - dy * (subject[:, 0] - start[0])  # left of the edge is inside
        after, next_side = np.roll(subject, -1, axis=0), np.roll(side, -1)
        crosses = (side < 0) != (next_side < 0)
        share = np.divide(side, side - next_side, out=np.zeros_like(side), where=crosses)
        crossing = subject + share[:, None] * (after - subject)
        corners = np.stack([subject, crossing], axis=1).reshape(-1, 2)
        subject = corners[np.stack([side >= 0, crosses], axis=1).ravel()]
    return subject


def overlap(reference: NDArray[np.float64], polygon: NDArray[np.float64]) -> float:
    """Return the share of a convex polygon's area that lies in the reference; NaN for a polygon without area."""
    whole = area(polygon)
    if whole <= 0:
        return float("nan")
    common = clipped(polygon, reference)
    return area(common) / whole if len(common) else 0.0


# Similar images, by their references or by image features, and captions of similar images.

#: Images are near if their references have the same words.
CAPTIONS = "captions"
_ROWS = 500  # images that are compared with all others at a time


def image_vectors(references: References, near: str | os.PathLike[str]) -> Any:
    """Return vectors of length 1 of the images, float64[n, width], sparse or dense.

    Args:
        references: the references of the images.
        near: "captions", for the TF-IDF weights of the words of an image's references; or a file of image features.

    Raises:
        ParameterError: an image has no features.
        Others as for reading image features.
    """
    if near == CAPTIONS:
        return _word_features(references)
    vectors = ImageFeatures.load(near).vectors_of(references.ids).astype(np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not lengths.all():
        raise ParameterError("an image has features that are all 0", where=str(near), hint="compute its features")
    return vectors / lengths


def _word_features(references: References) -> Any:
    from scipy.sparse import csr_array, diags_array

    tokens = references.layer(TokenLayer(PTB))
    starts = tokens.offsets[references.offsets]
    counts = csr_array(
        (np.ones(len(tokens.ids)), tokens.ids, starts), shape=(len(references), len(tokens.vocabulary.words()))
    )
    counts.sum_duplicates()
    images_with = np.bincount(counts.indices, minlength=counts.shape[1])
    weights = counts @ diags_array(np.log(len(references) / np.maximum(images_with, 1)))
    lengths = np.sqrt(np.asarray((weights * weights).sum(axis=1)).ravel())
    return csr_array(diags_array(1 / np.maximum(lengths, 1e-12)) @ weights)


def near_donors(vectors: Any, shares: Sequence[float], rng: np.random.Generator) -> dict[float, NDArray[np.int64]]:
    """Draw, for each share and every image, one of the nearest images: that share of the others.

    Args:
        vectors: float64[n, width], of length 1; n is 2 or more.
        shares: shares of the other images, above 0 and up to 1; at least one image is considered.
        rng: random generator, which draws one number per image for all shares.

    Returns:
        share -> int64[n], never the image itself.
    """
    n = vectors.shape[0]
    draws = rng.random(n)
    donors = {share: np.empty(n, np.int64) for share in shares}
    for start in range(0, n, _ROWS):
        rows = np.arange(start, min(start + _ROWS, n))
        alike = vectors[rows] @ vectors.T
        dense = np.asarray(alike.todense() if hasattr(alike, "todense") else alike)
        dense[np.arange(len(rows)), rows] = -np.inf
        nearest = np.argsort(-dense, axis=1, kind="stable")
        for share in shares:
            among = max(1, round(share * (n - 1)))
            donors[share][rows] = nearest[np.arange(len(rows)), (draws[rows] * among).astype(np.int64)]
    return donors


# Inputs of studies: benchmarks whose captions can be scored, and files with their checksums.


def judged_captions(
    benchmark: str | os.PathLike[str] | HumanJudgments, data: str | os.PathLike[str] | None
) -> RatedCaptions | CaptionPairs:
    """Return the judgments of a benchmark of captions.

    Raises:
        ParameterError: a benchmark of systems.
        Others as ``judge``, about benchmarks and data.
    """
    judgments = benchmark if isinstance(benchmark, HumanJudgments) else load_judgments(benchmark, data)
    if not isinstance(judgments, RatedCaptions | CaptionPairs):
        raise ParameterError(
            f"{judgments.protocol.benchmark} judges systems, not captions",
            where=judgments.protocol.full_name,
            hint="this study needs a benchmark of captions, such as composite or flickr8k-expert",
        )
    return judgments


def check_systems(systems: Collection[str], *, required: bool = True) -> None:
    """Check the names of systems that a study compares with human captions.

    Raises:
        ParameterError: no systems, if they are required; one named ``PEOPLE``.
    """
    if required and not systems:
        raise ParameterError("there are no systems", hint="give the captions of a system")
    if PEOPLE in systems:
        raise ParameterError(f"a system is called {PEOPLE}", hint=f"rename it: {PEOPLE} is reserved for human captions")


def checksums(*sources: object) -> dict[str, str]:
    """Return the CRC-32 of sources that are files: name -> eight hex digits."""
    files = [Path(source) for source in sources if isinstance(source, str | os.PathLike)]
    return {file.name: checksum(file.read_bytes()) for file in files}


def name_of_file(source: object, otherwise: str) -> str:
    """Return the name of a source of captions in titles."""
    return Path(source).name if isinstance(source, str | os.PathLike) else otherwise


# Human agreement on words: counts of each word in the captions of an image, and the model of Chen et al. 2015.


# ---- the model


def model_precision(p: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Return p k / (p k + (1 - p)^k), the precision of a word used with probability p, given k references."""
    expected = p * k
    return np.asarray(expected / (expected + (1 - p) ** k))


def precision_at_recall(
    tp: NDArray[np.float64],
    fp: NDArray[np.float64],
    positives: NDArray[np.float64],
    negatives: NDArray[np.float64],
    recall: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the precision of a system at another recall than its own.

    Captions define one point of precision and recall. Between that and predicting nothing, or everything, predictions
    are left out or added at random, which interpolates true and false positives linearly (Davis and Goadrich 2006): a
    system with a higher recall keeps its precision, one with a lower recall loses some.

    Args:
        tp, fp: true and false positives of the system.
        positives, negatives: of a system that predicts everything.
        recall: the requested recall.

    Returns:
        Precision; NaN if nothing is predicted and the recall is 0.
    """
    system_recall = ratio(tp, positives)
    more = system_recall < recall
    share = np.where(more, ratio(recall - system_recall, 1 - system_recall), 0.0)
    return ratio(tp + share * (positives - tp), tp + fp + share * (positives - tp + negatives - fp))


# ---- counting


@dataclass(frozen=True, eq=False)
class WordCounts:
    """Counts of each word in the captions of an image, and derived arrays float64[n_words] over the vocabulary.

    If c of k + 1 captions contain a word, the prediction is one of these in c of k + 1 choices; it then matches c - 1
    references with the word, and otherwise misses c.

    Args:
        tokens: the words of all references.
        k: number of references.
        per_image: int64[n_images, n_words], the count c, sparse.
        rows: int64[n_images], indices of the images in the table of references.
        n_drawn: images with more than k + 1 captions.
    """

    tokens: Tokens
    k: int
    per_image: csr_matrix
    rows: NDArray[np.int64]
    n_drawn: int

    @classmethod
    def of_references(cls, table: References, k: int, seed: int) -> WordCounts:
        """Count words in the captions of images that have more than k."""
        from scipy.sparse import csr_matrix

        tokens = table.layer(WordLayer(PTB))
        n_words = len(tokens.vocabulary)
        of_image = np.diff(table.offsets)
        rows = np.flatnonzero(of_image > k)
        image = np.repeat(np.arange(len(table)), of_image)
        order = np.lexsort((np.random.default_rng(seed).random(len(image)), image))
        texts = order[table.offsets[rows][:, None] + np.arange(k + 1)].ravel()
        captions = occurrences(tokens, n_words)[texts]
        # The captions of an image follow one another: without the bounds between them they are one row.
        merged = (captions.data, captions.indices, captions.indptr[:: k + 1])
        per_image = csr_matrix(merged, shape=(len(rows), n_words))
        per_image.sum_duplicates()
        return cls(tokens, k, per_image, rows, int(np.count_nonzero(of_image > k + 1)))

    @property
    def n_images(self) -> int:
        return len(self.rows)

    @cached_property
    def _c(self) -> NDArray[np.int64]:
        return np.arange(self.k + 2)

    @cached_property
    def _histogram(self) -> NDArray[np.float64]:
        """Images in which c captions contain the word, float64[n_words, k + 2]; 0 for c = 0."""
        return _histogram(self.per_image, self.k + 2)

    @cached_property
    def images(self) -> NDArray[np.int64]:
        """Number of images with the word in any caption."""
        return np.asarray(self._histogram.sum(axis=1), np.int64)

    @cached_property
    def captions(self) -> NDArray[np.int64]:
        """Number of captions with the word."""
        return np.asarray(self._histogram @ self._c, np.int64)

    @property
    def tp(self) -> NDArray[np.float64]:
        return np.asarray(self._histogram @ (self._c * (self._c - 1)) / (self.k + 1))

    @property
    def fp(self) -> NDArray[np.float64]:
        return np.asarray(self._histogram[:, 1] / (self.k + 1))

    @property
    def positives(self) -> NDArray[np.float64]:
        return np.asarray(self.captions * self.k / (self.k + 1))

    @property
    def negatives(self) -> NDArray[np.float64]:
        return np.asarray(self.n_images - self.images + self.fp)

    @property
    def recall(self) -> NDArray[np.float64]:
        return ratio(self.tp, self.positives)

    @property
    def precision(self) -> NDArray[np.float64]:
        return ratio(self.tp, self.tp + self.fp)

    def of_system(
        self, captions: Captions, words: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return true and false positives of a system for some words, each averaged over choices of k references."""
        tokens = captions.layer(WordLayer(PTB))[0]
        counts = occurrences(tokens, len(tokens.vocabulary))[self.rows][:, words]
        both = counts.multiply(self.per_image[:, words]).tocsr()
        histogram = _histogram(both, self.k + 2)
        tp = np.asarray(histogram @ self._c * self.k / (self.k + 1))
        unknown = np.asarray(counts.sum(axis=0)).ravel() - histogram.sum(axis=1)
        return tp, unknown + histogram[:, 1] / (self.k + 1)


def occurrences(tokens: Tokens, n_words: int) -> csr_matrix:
    """Return the words of each caption: ones in int64[n_captions, n_words], sparse."""
    from scipy.sparse import csr_matrix

    ones = np.ones(len(tokens.ids), np.int64)
    matrix = csr_matrix((ones, tokens.ids, tokens.offsets), shape=(len(tokens.offsets) - 1, n_words), copy=True)
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def _histogram(counts: csr_matrix, n: int) -> NDArray[np.float64]:
    """Return counts of each number below n in each column, except zeros: float64[n_columns, n]."""
    n_columns = counts.shape[1]
    keys = counts.indices.astype(np.int64) * n + counts.data
    histogram = np.bincount(keys, minlength=n_columns * n).reshape(n_columns, n).astype(float)
    histogram[:, 0] = 0
    return histogram


def ratio(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(a / b)
