"""Studies of references and captions: few references, and corrupted captions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References, read_references
from captious.errors import ParameterError
from captious.evaluation import Report
from captious.evaluation.checks import few_images_warning
from captious.judgment.benchmarks import names
from captious.judgment.files import data_folder
from captious.judgment.judgments import CaptionPairs, HumanJudgments, RatedCaptions
from captious.judgment.results import Curve, Curves, Study
from captious.judgment.scores import Metrics, as_selection, check_not_constant, negated, oriented, score_captions
from captious.judgment.studies.sources import checksums, excluded, judged_captions, name_of_file
from captious.metrics.contract.settings import Settings
from captious.models.image_features import ImageFeatures
from captious.progress import steps
from captious.statistics import DEFAULT_RESAMPLES, Sampling, bootstrap_sums, interval
from captious.text import PTB, TokenLayer
from captious.words import DEFAULT_SEED, counted, counted_of

# Agreement of metrics with human judgments by number of references.
#
# Sharif et al. 2019 (LCEval), section 7.5.5; Vedantam et al. 2015 on PASCAL-50S.

_USUAL = (1, 2, 3, 4, 5, 10, 20, 40)


def reference_counts(
    benchmark: str | os.PathLike[str] | HumanJudgments,
    metrics: Metrics = None,
    counts: Sequence[int] = (),
    *,
    settings: Settings | None = None,
    draws: int = 5,
    data: str | os.PathLike[str] | None = None,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Study:
    """Return the statistic of a benchmark with fewer references or, if it has a pool of them, more.

    For each count, that many references of every image are drawn without replacement and the benchmark is judged with
    them; the value is the mean over draws. All metrics have the same draws, and a draw of more references contains that
    of fewer. Captions with fewer references than a count keep all of theirs. The pool of pascal-50s is the fifty
    references of each image, except the captions to be judged. CIDEr's document frequencies are counted over the drawn
    references.

    Args:
        benchmark: a benchmark of captions, as for ``judge``.
        counts: numbers of references; by default 1 to 5, 10, 20, 40 and all, up to the number available.
        draws: number of random draws of references for each count.
        metrics, settings, data: as for ``judge``.
        resamples, seed: number of resamples and random seed of the interval, a bootstrap over images of the mean over
            draws.

    Returns:
        One record per metric and count: metric, references, value, ci95_low, ci95_high; and the value of each part, if
        the benchmark has parts.

    Raises:
        ParameterError: counts below 1 or above the number of references; a benchmark of systems.
        Others as ``judge``.
    """
    sampling = Sampling(resamples, seed)
    if draws < 1:
        raise ParameterError(f"{draws} is not a number of draws", hint="draw at least once")
    judgments = judged_captions(benchmark, data)
    selection = as_selection(metrics, settings)
    table, read = _pool(judgments, data)
    available = np.diff(table.offsets)
    counts = _checked_counts(counts, int(available.max()))
    orders = _orders(table, draws, np.random.default_rng(sampling.seed))
    name, statistic = judgments.protocol.full_name, judgments.protocol.statistic
    scores: dict[tuple[str, int], list[NDArray[np.float64]]] = {}
    signatures: dict[str, str] = {}
    warnings: list[str] = []
    all_draws = [(count, n) for count in counts for n in range(1 if count >= available.max() else draws)]
    with steps(all_draws, lambda draw: f"{name}: {draw[0]} references, draw {draw[1] + 1}") as scored:
        for count, number in scored:
            captions = Captions(judgments.captions.candidates, _first_references(table, orders[number], count))
            report = score_captions(captions, selection, name=name)
            for label, result in report.items():
                check_not_constant(result.per_caption, where=f"{label} with {counted(count, 'reference')}")
                scores.setdefault((label, count), []).append(oriented(result))
                signatures[label] = result.signature
            if count == counts[-1]:  # fewer references are what the study is about
                warnings += [warning for warning in report.warnings if warning not in warnings]
    parts = judgments.part_names
    columns = ("metric", "references", "value", "ci95_low", "ci95_high", *parts)
    records = []
    lines = {}
    with steps([*signatures], lambda label: f"{label}: intervals") as tested:
        for label in tested:
            rows = []
            for count in counts:
                of_draws = scores[label, count]
                of_parts = np.mean([judgments.values(draw) for draw in of_draws], axis=0)
                ends = sampling.interval(judgments.resampled_mean(of_draws, sampling))
                rows.append((float(of_parts.mean()), *ends))
                values = (label, count, *rows[-1], *(of_parts.tolist() if parts else ()))
                records.append(dict(zip(columns, values, strict=True)))
            value, low, high = np.array(rows).T
            lines[label] = Curve(np.array(counts, float), value, low, high)
    short = int((available < counts[-1]).sum())
    have = counted_of(short, len(available), "caption", "have")
    kept = [f"{have} fewer than {counts[-1]} references, all of which are kept."] if short else []
    return Study(
        "references",
        f"Agreement with human judgments by number of references: {name}, {statistic}",
        columns,
        records,
        signatures,
        {**judgments.data, **read},
        {"counts": list(counts), "draws": draws, **sampling.settings},
        {"references": Curves(name, "references", statistic, lines)},
        notes=[*kept, *negated(selection.lower_is_better)],
        warnings=[*warnings, *few_images_warning(judgments.n_units)],
    )


def _pool(
    judgments: RatedCaptions | CaptionPairs, data: str | os.PathLike[str] | None
) -> tuple[References, dict[str, str]]:
    """Return the references of every caption from which to draw, and their files."""
    protocol = judgments.protocol
    benchmark = names.get(protocol.benchmark) if protocol.benchmark in names.names() else None
    if benchmark is None or benchmark.pool is None or protocol not in benchmark.protocols:
        return judgments.captions.references, {}
    folder = data_folder(data)
    return benchmark.pool(judgments, folder), folder.read


def _checked_counts(counts: Sequence[int], most: int) -> list[int]:
    if not counts:
        return [*(count for count in _USUAL if count < most), most]
    wrong = [count for count in counts if not 1 <= count <= most]
    if wrong:
        raise ParameterError(
            f"no caption has {counted(wrong[0], 'reference')}",
            where=f"there are up to {most}",
            hint=f"give 1 to {most}",
        )
    return sorted(set(counts))


def _orders(table: References, draws: int, rng: np.random.Generator) -> list[list[NDArray[np.int64]]]:
    """Draw orders of the references of each caption; captions with the same references share them."""
    at = table.offsets.tolist()
    reference_texts = [table.texts[a:b] for a, b in pairwise(at)]
    orders = []
    for _ in range(draws):
        shared: dict[tuple[str, ...], NDArray[np.int64]] = {}
        for texts in reference_texts:
            if texts not in shared:
                shared[texts] = rng.permutation(len(texts))
        orders.append([shared[texts] for texts in reference_texts])
    return orders


def _first_references(table: References, order: list[NDArray[np.int64]], count: int) -> References:
    """Return the first references of each order, in their original order."""
    starts = table.offsets.tolist()
    return table.choose([start + np.sort(of_image[:count]) for start, of_image in zip(starts, order, strict=False)])


# Robustness of metrics: scores of increasingly corrupted human captions.
#
# Cui et al. 2018 (LEIC), sections 3.3 and 3.4. One reference of each image is held out as the candidate; it is then
# corrupted in one of three ways, from strength 0 (intact) to 1:
#
#     random captions     that share of the images gets the caption of another image
#     word permutation    that share of the words of every caption change places
#     random words        that share of the words of every caption is replaced by words of the vocabulary
#
# and, on request, in a fourth way, our reading of the paper's equation 7 for captions of other images:
#
#     captions of near images   every image gets the caption of one of that share of the other images which is nearest
#
# The measure is the area under the corpus score over strength, normalized by the score of intact captions: lower is
# better.

#: The ways of breaking captions, as tables name them.
PATHOLOGIES = ("random captions", "word permutation", "random words")
NEAR_IMAGES = "captions of near images"
#: A score of intact captions that others can be divided by.
_LEAST = 1e-6
#: The strengths of a study that asks for no others.
STRENGTHS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def robustness(
    references: object,
    metrics: Metrics = None,
    *,
    settings: Settings | None = None,
    near: str | os.PathLike[str] | None = None,
    sample: int | None = 5000,
    strengths: Sequence[float] = STRENGTHS,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Study:
    """Return normalized scores of corrupted human captions, and the area under them.

    Captions are corrupted as PTB tokens joined by spaces, intact ones included. Corruption is nested: corruptions at
    one strength are included in all greater ones. CIDEr's document frequencies are counted over the remaining
    references.

    Args:
        references: human captions in any supported form, two or more for each image that is used.
        metrics, settings: as for ``judge``.
        near: also assign captions of similar images: "captions" for similarity of references by their words, or a file
            of image features.
        sample: number of images to draw at random; all, if there are fewer. In Python, None for all.
        strengths: shares of captions or words to corrupt; 0 is always included.
        resamples, seed: number of resamples and random seed of the bootstrap interval over images; the seed also
            determines the corruptions.

    Returns:
        One record per pathology (kind of corruption) and metric: intact (the corpus score of intact captions), area,
        ci95_low, ci95_high, and the normalized score at each strength under a key such as "at 0.1". The area is divided
        by the greatest strength, so a metric that detects nothing has 1.

    Raises:
        ParameterError: strengths outside 0 to 1, too few images, or a metric whose score of intact captions is too
            small, or for which lower scores are better.
        Others as ``captious.score``, about captions and metrics.
    """
    sampling = Sampling(resamples, seed)
    strengths = _checked_strengths(strengths)
    table, data = read_references(references), checksums(references)
    selection = as_selection(metrics, settings)
    if selection.lower_is_better:
        raise ParameterError(
            f"lower is better for {selection.lower_is_better[0]}, so its scores cannot be normalized by those of "
            "intact captions",
            hint="remove this metric",
        )
    rng = np.random.default_rng(sampling.seed)
    specimens, left_out = specimens_of(table, sample, rng)
    pathologies: tuple[str, ...] = PATHOLOGIES
    if near is not None:
        pathologies = (*PATHOLOGIES, NEAR_IMAGES)
        specimens.near_donors = near_donors(image_vectors(specimens.references, near), strengths[1:], rng)
        if near != CAPTIONS:
            data |= checksums(near)
    records = []
    curves = {}
    reports = {("", 0.0): score_captions(specimens.captions("", 0.0), selection, name="intact captions")}
    broken = [(pathology, strength) for pathology in pathologies for strength in strengths[1:]]
    with steps(broken, lambda how: f"{how[0]}, strength {how[1]:g}") as scored:
        for pathology, strength in scored:
            captions = specimens.captions(pathology, strength)
            reports[pathology, strength] = score_captions(
                captions, selection, name=f"{pathology}, strength {strength:g}"
            )
    intact = reports["", 0.0]
    for label, result in intact.items():
        check_not_constant(result.per_caption, where=f"{label} of intact captions")
    with steps(pathologies, lambda pathology: f"{pathology}: intervals") as scored:
        for pathology in scored:
            of_strengths = [intact, *(reports[pathology, strength] for strength in strengths[1:])]
            lines = {}
            for label in intact:
                line, area = _normalized(of_strengths, label, np.array(strengths), sampling)
                lines[label] = line
                record = {"pathology": pathology, "metric": label, "intact": intact[label].score}
                record |= dict(zip(("area", "ci95_low", "ci95_high"), area, strict=True))
                records.append(
                    record | {_strength_label(x): y for x, y in zip(strengths[1:], line.y[1:].tolist(), strict=True)}
                )
            curves[pathology.replace(" ", "-")] = Curves(pathology, "strength", "normalized score", lines)
    return Study(
        "robustness",
        f"Normalized scores of corrupted captions: {name_of_file(references, table.name)}, "
        f"{counted(len(intact.ids), 'image')}",
        ("pathology", "metric", "intact", "area", "ci95_low", "ci95_high", *map(_strength_label, strengths[1:])),
        records,
        {label: result.signature for label, result in intact.items()},
        data,
        {
            "images": len(intact.ids),
            "strengths": list(strengths),
            **({} if near is None else {"near": name_of_file(near, CAPTIONS) if near != CAPTIONS else near}),
            **sampling.settings,
        },
        curves,
        notes=[
            "Intact captions score 1. Area: area under the curve of score over strength; smaller is better.",
            *excluded(left_out),
        ],
        warnings=[*intact.warnings, *few_images_warning(len(intact.ids))],
    )


class Specimens:
    """Human captions to corrupt, with all random choices.

    Args:
        words: tokens of the caption of each image; at least two images.
        references: the other references of the same images.
        vocabulary: replacement words, all equally likely.
        rng: random generator, which draws everything at once, so that corruption is nested.
    """

    def __init__(
        self, words: list[list[str]], references: References, vocabulary: list[str], rng: np.random.Generator
    ) -> None:
        self.words, self.references = words, references
        n = len(words)
        ring = rng.permutation(n)
        #: The donor of each image's caption, never itself, and the order in which images are changed.
        self.donors = np.empty(n, np.int64)
        self.donors[ring] = np.roll(ring, 1)
        #: For each caption an order of its words, and as many words of the vocabulary.
        self.positions = [rng.permutation(len(caption)).tolist() for caption in words]
        self.strangers = [[vocabulary[i] for i in rng.integers(0, len(vocabulary), len(caption))] for caption in words]
        self.order = rng.permutation(n)
        #: Strength -> whose caption an image gets, of those near it.
        self.near_donors: dict[float, NDArray[np.int64]] = {}
        #: Two words move even where only one should, because one cannot move alone.
        self.coins = rng.random(n) < 0.5

    def captions(self, pathology: str, strength: float) -> Captions:
        """Return the captions corrupted in one of the ways of ``PATHOLOGIES``, or those of similar images, with
        references.
        """
        if strength == 0:
            broken = self.words
        elif pathology == "random captions":
            broken = list(self.words)
            for image in self.order[: round(strength * len(broken))].tolist():
                broken[image] = self.words[self.donors[image]]
        elif pathology == NEAR_IMAGES:
            broken = [self.words[donor] for donor in self.near_donors[strength].tolist()]
        elif pathology == "word permutation":
            broken = [self._permuted(row, strength) for row in range(len(self.words))]
        else:
            broken = [self._replaced(row, strength) for row in range(len(self.words))]
        return Captions(tuple(map(" ".join, broken)), self.references)

    def _permuted(self, row: int, strength: float) -> list[str]:
        """Move a share of the words, each to the position of the next, so that all of them change places.

        One word cannot change places alone: two do, or none, with even chances.
        """
        words = list(self.words[row])
        n = round(strength * len(words))
        if n == 1:
            n = 2 if self.coins[row] else 0
        places = self.positions[row][:n]
        for place, next_place in zip(places, [*places[1:], *places[:1]], strict=True):
            words[next_place] = self.words[row][place]
        return words

    def _replaced(self, row: int, strength: float) -> list[str]:
        """Replace a share of the words."""
        words = list(self.words[row])
        for place in self.positions[row][: round(strength * len(words))]:
            words[place] = self.strangers[row][place]
        return words


def specimens_of(table: References, images: int | None, rng: np.random.Generator) -> tuple[Specimens, int]:
    """Draw images from a table, hold out one reference of each, and count the images with a single one."""
    if images is not None and images < 2:
        raise ParameterError(f"{counted(images, 'image', 'are')} too few", hint="draw at least 2; 5000 is usual")
    several = np.flatnonzero(np.diff(table.offsets) > 1)
    if len(several) < 2:
        raise ParameterError(
            "fewer than two images have two or more references",
            where=table.name,
            hint="one reference is held out and scored against the rest",
        )
    if images is not None and images < len(several):
        image_rows = np.sort(rng.choice(several, images, replace=False))
    else:
        image_rows = several
    tokens = table.layer(TokenLayer(PTB))
    vocabulary = tokens.vocabulary.words()
    held, held_out = [], []
    occurs = np.zeros(len(vocabulary), bool)
    for image in image_rows.tolist():
        first, last = int(table.offsets[image]), int(table.offsets[image + 1])
        out = int(rng.integers(first, last))
        held.append([vocabulary[i] for i in tokens.ids[tokens.offsets[out] : tokens.offsets[out + 1]].tolist()])
        held_out.append(out)
        occurs[tokens.ids[tokens.offsets[first] : tokens.offsets[last]]] = True
    words = [vocabulary[i] for i in np.flatnonzero(occurs).tolist()]
    return Specimens(held, table.leave_out(held_out, image_rows), words, rng), len(table) - len(several)


def _normalized(
    reports: Sequence[Report], label: str, strengths: NDArray[np.float64], sampling: Sampling
) -> tuple[Curve, tuple[float, float, float]]:
    """Return the curve of a metric, and the area under it with its interval."""
    results = [report[label] for report in reports]
    metric, column = results[0].statistics.metric, results[0].column
    if results[0].score < _LEAST:
        raise ParameterError(
            f"{label} scores intact captions {results[0].score:g}",
            hint="this is too small to normalize by: remove this metric",
        )
    rows = np.hstack([result.statistics.rows for result in results])
    sums = bootstrap_sums(rows, **sampling.settings).reshape(sampling.resamples, len(results), -1)
    scores = metric.aggregate(sums)[..., column]
    resampled = scores / scores[:, :1]
    value = np.array([result.score for result in results]) / results[0].score
    low, high = interval(resampled, sampling.level)
    return Curve(strengths, value, low, high), (
        float(_area(strengths, value)),
        *sampling.interval(_area(strengths, resampled)),
    )


def _area(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the area under y float64[..., n] over x, by trapezoids, divided by the length of x: float64[...]."""
    return np.asarray((y[..., 1:] + y[..., :-1]) @ np.diff(x) / 2 / (x[-1] - x[0]))


def _checked_strengths(strengths: Sequence[float]) -> list[float]:
    wrong = [strength for strength in strengths if not 0 <= strength <= 1]
    if wrong:
        raise ParameterError(f"{wrong[0]:g} is not a valid strength", hint="strengths are fractions from 0 to 1")
    checked = sorted({0.0, *map(float, strengths)})
    if len(checked) < 2:
        raise ParameterError("the only strength is 0", hint="give strengths up to 1, such as 0.25 0.5 1")
    return checked


def _strength_label(strength: float) -> str:
    return f"at {strength:g}"


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
