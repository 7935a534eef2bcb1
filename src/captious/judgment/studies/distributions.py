"""Studies of distributions of scores: of human and machine captions, of plain sentences, and of SMURF's parts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, Match, References, read_captions, read_references, same_images
from captious.data.matching import hold_out
from captious.errors import CaptionFileError, CaptionWarning, ParameterError
from captious.evaluation.checks import few_images_warning
from captious.files import user_text
from captious.judgment.correlation import bootstrap
from captious.judgment.files import DataFolder
from captious.judgment.judgments import PEOPLE
from captious.judgment.results import Cloud, Clouds, Curve, Curves, Study
from captious.judgment.scores import Metrics, all_warnings, as_selection, score_captions, score_each, sign_of
from captious.judgment.studies.sources import check_systems, checksums, defined, excluded, judged_captions, name_of_file
from captious.metrics.contract.selection import Selection, select_single
from captious.metrics.contract.settings import Settings
from captious.metrics.smurf import PUBLISHED, THRESHOLD, Parts, Smurf, fuse, grammar_penalty
from captious.progress import steps
from captious.statistics import DEFAULT_RESAMPLES, Sampling
from captious.words import DEFAULT_SEED, checked_seed, counted, percentage

# Distributions of the scores of human and machine captions of the same images.
#
# One reference of each image is held out as the human caption; it and the captions of systems are scored with the other
# references. A learned metric that was trained to recognize human captions should separate them.

_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
#: The keys of ``summary``.
SUMMARY = ("mean", "sd", *(f"q{round(100 * quantile):02d}" for quantile in _QUANTILES))
_BINS = 40
_POINTS = 201  # points per curve


def score_distributions(
    systems: Mapping[str, object],
    references: object,
    metrics: Metrics = None,
    *,
    settings: Settings | None = None,
    match: Match = "all",
    sample: int | None = 5000,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Study:
    """Return means and quantiles of the scores of human captions and of systems, and how well scores separate the two.

    Args:
        systems: the captions of systems by name, in any supported form.
        references: human captions in any supported form; images with a single one are left out.
        metrics, settings: as for ``judge``.
        match: which images: "common" uses the images that references and all systems have; otherwise, a difference is
            an error.
        sample: number of images to draw at random; all, if there are fewer. In Python, None for all.
        resamples, seed: number of resamples and random seed of the bootstrap over images; the seed also determines
            which images are drawn and which references are held out.

    Returns:
        One record per metric for people and for each system: metric, captions_of, mean, sd, quantiles ("q05" to "q95");
        and for systems auc, the probability that a random human caption scores better than a random caption of the
        system, ties counting one half, with auc_low and auc_high; and overlap, the common share of both histograms.

    Raises:
        ParameterError: no systems, one named people, too few images, or images that systems lack.
        Others as ``captious.score``, about captions and metrics.
    """
    sampling = Sampling(resamples, seed)
    check_systems(systems)
    if sample is not None and sample < 2:
        raise ParameterError(f"{counted(sample, 'image', 'are')} too few", hint="draw at least 2; 5000 is usual")
    selection = as_selection(metrics, settings)
    table, data = read_references(references), checksums(references)
    people, left_out = hold_out(table, sampling.seed)
    shared = {str(image) for image in people.ids}
    for source in systems.values():
        shared &= {str(image) for image in read_captions(source, table, match=match).ids}
    common = np.flatnonzero([str(image) in shared for image in people.ids])
    rows = common if sample is None else np.sort(np.random.default_rng(sampling.seed).permutation(common)[:sample])
    if len(rows) < 2:
        raise ParameterError(
            f"only {counted(len(rows), 'image', 'have')} captions of people and of every system",
            hint="distributions need several; 5000 is usual",
        )
    captions = {PEOPLE: people.select(rows)}
    for name, source in systems.items():
        captions[name] = read_captions(source, captions[PEOPLE].references, match="common")
    assert all(same_images(table.ids, captions[PEOPLE].ids) for table in captions.values())
    reports = score_each(captions, selection)
    first = reports[PEOPLE]
    records: list[dict[str, Any]] = []
    pictures = {}
    with steps([*first], lambda label: f"{label}: intervals") as described:
        for label in described:
            scores = {name: report[label].per_caption for name, report in reports.items()}
            edges = _edges(np.concatenate([*scores.values()]))
            for name, values in scores.items():
                record: dict[str, Any] = {"metric": label, "captions_of": name, **summary(values)}
                if name != PEOPLE:
                    record |= _separation(scores[PEOPLE], values, edges, sign_of(first[label]), sampling)
                records.append(record)
            pictures[f"distributions-{label.replace('/', '-')}"] = cumulative(label, scores)
    notes = [
        "AUC: the probability that a random human caption scores better than a random caption of the system, ties "
        f"counting one half; {percentage(sampling.level)} intervals: percentile bootstrap over images. "
        f"Overlap: the common share of both histograms, of {_BINS} bins. "
        f"{PEOPLE.capitalize()}: one reference per image, held out for all systems."
    ]
    return Study(
        "distributions",
        f"Scores of human and machine captions: {name_of_file(references, table.name)}, {counted(len(rows), 'image')}",
        ("metric", "captions_of", *SUMMARY, "auc", "auc_low", "auc_high", "overlap"),
        records,
        {label: result.signature for label, result in first.items()},
        {**data, **checksums(*systems.values())},
        {"images": len(rows), **sampling.settings},
        pictures,
        notes=[*notes, *_lower(selection), *excluded(left_out)],
        warnings=[*all_warnings(reports.values()), *few_images_warning(len(rows))],
    )


def _lower(selection: Selection) -> list[str]:
    """Return a note about the metrics of which lower scores are better."""
    labels = selection.lower_is_better
    return [f"Lower scores are better for {', '.join(labels)}."] if labels else []


def summary(scores: NDArray[np.float64]) -> dict[str, float]:
    """Return mean, standard deviation and quantiles."""
    values = (scores.mean(), scores.std(ddof=1), *np.quantile(scores, _QUANTILES))
    return dict(zip(SUMMARY, map(float, values), strict=True))


def _edges(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the bins of histograms, equally wide, over the range of all scores."""
    low, high = float(scores.min()), float(scores.max())
    return np.linspace(low, high if high > low else low + 1, _BINS + 1)


def _separation(
    human: NDArray[np.float64],
    machine: NDArray[np.float64],
    edges: NDArray[np.float64],
    sign: float,
    sampling: Sampling,
) -> dict[str, float]:
    """Return AUC with its interval, and overlap, of scores float64[n_images] of the same images.

    The sign is -1 if lower scores are better.
    """
    n = len(human)
    ranks = np.unique(sign * np.concatenate([human, machine]), return_inverse=True)[1]
    low, high = sampling.interval(bootstrap(lambda counts: _auc(counts, ranks), n, sampling))
    auc = float(_auc(np.ones((1, n), np.int32), ranks)[0])
    return {"auc": auc, "auc_low": low, "auc_high": high, "overlap": _overlap(human, machine, edges)}


def _auc(counts: NDArray[np.int32], ranks: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the share of pairs of a human and a machine caption in which the human one ranks higher, ties counting
    half.

    Args:
        counts: count of each image in a resample, int32[k, n_images].
        ranks: ranks of all human captions, then of all machine captions; equal for equal scores.
    """
    n = counts.shape[1]
    order = np.argsort(ranks, kind="stable")
    starts = np.flatnonzero(np.diff(ranks[order], prepend=-1))
    of_caption = counts.astype(np.float64)[:, order % n]
    is_human = order < n
    human = np.add.reduceat(of_caption * is_human, starts, axis=1)  # by distinct score, lowest first
    machine = np.add.reduceat(of_caption * ~is_human, starts, axis=1)
    below = np.cumsum(machine, axis=1) - machine / 2
    return np.asarray((human * below).sum(axis=1) / n**2)


def _overlap(human: NDArray[np.float64], machine: NDArray[np.float64], edges: NDArray[np.float64]) -> float:
    """Return the common share of two histograms, 0 to 1."""
    shares = [np.histogram(scores, edges)[0] / len(scores) for scores in (human, machine)]
    return float(np.minimum(*shares).sum())


def cumulative(label: str, scores: Mapping[str, NDArray[np.float64]]) -> Curves:
    """Return the share of captions whose score is at most x."""
    shares = np.linspace(0, 1, _POINTS)
    lines = {name: Curve(np.quantile(values, shares), shares) for name, values in scores.items()}
    return Curves(f"Scores of {label}", "score", "share of captions with this score or a lower one", lines)


# Scores of single captions of a benchmark.


def item_scores(
    benchmark: str | os.PathLike[str],
    items: Sequence[str],
    metrics: Metrics = None,
    *,
    settings: Settings | None = None,
    data: str | os.PathLike[str] | None = None,
) -> Study:
    """Return the scores of some captions of a benchmark, such as the examples of a paper.

    Args:
        benchmark: a benchmark of captions, as for ``judge``.
        items: their names, as ``captious data items`` lists them.
        metrics, settings, data: as for ``judge``.

    Returns:
        One record per metric and caption: metric, item, value.

    Raises:
        ParameterError: a caption that the benchmark does not have, or a benchmark of systems.
        Others as ``judge``.
    """
    judgments = judged_captions(benchmark, data)
    name = judgments.protocol.full_name
    rows = {str(item): row for row, item in enumerate(judgments.items)}
    if unknown := next((item for item in items if item not in rows), None):
        raise ParameterError(f"{name} has no item {unknown!r}", hint="captious data items lists them")
    captions = judgments.captions.select([rows[item] for item in items])
    report = score_captions(captions, as_selection(metrics, settings), name=name)
    scores = {label: zip(items, result.per_caption.tolist(), strict=True) for label, result in report.items()}
    return Study(
        "items",
        f"Scores of captions: {name}",
        ("metric", "item", "value"),
        [{"metric": label, "item": item, "value": value} for label, values in scores.items() for item, value in values],
        {label: result.signature for label, result in report.items()},
        dict(judgments.data),
        warnings=report.warnings,
    )


# Distributions of scores of metrics without references, over files of plain sentences.
#
# Feinglass and Yang 2021 (SMURF), figure 5, for MIMA.


def sentence_scores(
    systems: Mapping[str, object], metrics: Metrics = None, *, settings: Settings | None = None
) -> Study:
    """Return means and quantiles of the scores of sentences, without references.

    Args:
        systems: sentences by name of their source: a .txt file with one per line, or any supported form of candidates.
        metrics, settings: as for ``judge``; name metrics, as the default ones need references.

    Returns:
        One record per metric and source: metric, sentences_of, sentences, mean, sd, quantiles ("q05" to "q95"); and a
        picture of the distributions of each metric.

    Raises:
        ParameterError: no sentences, or a metric that needs references.
        Others as ``captious.score``, about captions and metrics.
    """
    if not systems:
        raise ParameterError("there are no sentences", hint="give at least one file of sentences")
    selection = as_selection(metrics, settings)
    captions = {name: _sentences(source) for name, source in systems.items()}
    if few := [name for name, table in captions.items() if len(table) < 2]:
        raise ParameterError(f"{few[0]} has fewer than two sentences", hint="distributions need several")
    reports = score_each(captions, selection)
    first = next(iter(reports.values()))
    scores = {label: {name: report[label].per_caption for name, report in reports.items()} for label in first}
    return Study(
        "sentences",
        f"Scores of sentences without references: {', '.join(systems)}",
        ("metric", "sentences_of", "sentences", *SUMMARY),
        [
            {"metric": label, "sentences_of": name, "sentences": len(values), **summary(values)}
            for label, of_sources in scores.items()
            for name, values in of_sources.items()
        ],
        {label: result.signature for label, result in first.items()},
        checksums(*systems.values()),
        pictures={
            f"sentences-{label.replace('/', '-')}": cumulative(label, of_sources)
            for label, of_sources in scores.items()
        },
        notes=_lower(selection),
        warnings=all_warnings(reports.values()),
    )


def _sentences(source: object) -> Captions:
    """Return the captions of a source; for a .txt file without tabs, its lines (Flickr8k's tokens have tabs)."""
    if isinstance(source, str | os.PathLike) and os.fspath(source).endswith((".txt", ".txt.gz")):
        text = user_text(source, "sentences", "write one sentence on every line", CaptionFileError)
        if "\t" not in text:
            return read_captions(dict(enumerate((line.strip() for line in text.split("\n") if line.strip()), 1)))
    return read_captions(source)


# Comparison of systems with human captions by SMURF: semantics, style, and grammar penalty.
#
# Feinglass and Yang 2021 (SMURF), figure 1, with the conventions of the authors' code: scores are in standard
# deviations of human captions; the axes of a system's ellipse follow the covariance of its scores, and are 1.15
# standard deviations long; its overlap is the share of its area within the human ellipse.

_DEVIATIONS = 1.15
_SAMPLED_POINTS = 100
_PARTS = ("SPARCS", "SPURTS", "MIMA")


def smurf_analysis(
    systems: Mapping[str, object],
    references: object,
    metric: Smurf | str = "smurf",
    *,
    settings: Settings | None = None,
    human: object = None,
    match: Match = "all",
    seed: int = DEFAULT_SEED,
) -> Study:
    """Return the ellipse of each system's semantics and style, its overlap with that of people, and its grammar
    penalty.

    Args:
        systems: the captions of systems by name, in any supported form.
        references: human captions, in any supported form.
        metric: SMURF with its models and constants, such as smurf:constants=coco.smurf.json.
        settings: settings of SMURF if requested by name.
        human: human captions of the same images, one each, that are not among the references. By default, one
            reference of each image is held out for all systems, and images with a single one are left out.
        match: which images: "common" scores the images that both sides have; otherwise, a difference is an error.
        seed: random seed of the held-out references and the captions in the picture.

    Returns:
        One record for people and for each system: captions (how many); sparcs, spurts and mima (means, in the standard
        deviations of human captions of the constants); overlap; grammar_penalty (summed); smurf; and central_caption,
        the one nearest to the system's center, with its image. A picture of all.

    Raises:
        ParameterError: a metric other than SMURF, no systems, one named people, or fewer than two images.
        Others as ``captious.score``, about captions and metrics.
    """
    if isinstance(metric, str):
        selected = select_single(metric, settings)[0].metric
        if not isinstance(selected, Smurf):
            raise ParameterError(f"{metric} is not SMURF", hint="give smurf, with its parameters")
        metric = selected
    seed = checked_seed(seed)
    check_systems(systems)
    table, data = read_references(references), checksums(references)
    if human is None:
        people, left_out = hold_out(table, seed)
    else:
        people, left_out = read_captions(human, table, match=match), 0
    captions = {PEOPLE: people}
    for system, source in systems.items():
        captions[system] = read_captions(source, table, match=match)
        if human is None:
            captions[system] = read_captions(source, people.references, match="common" if left_out else match)
    if few := [system for system, table in captions.items() if len(table) < 2]:
        raise ParameterError(f"{few[0]} has fewer than two captions", hint="an ellipse needs several; 5000 is usual")
    scores = {}
    with steps([*captions], str) as names:
        for system in names:
            scores[system] = metric.standardized(captions[system])
    notes = _notes(people, table, human is None, left_out)
    if not all(same_images(table.ids, people.ids) for table in captions.values()):
        notes.append("The systems were scored on different images, so their numbers cannot be compared.")
    study = _study(
        f"{name_of_file(references, table.name)}, {counted(len(people), 'image')}",
        scores,
        {system: (table_of_system.ids, table_of_system.candidates) for system, table_of_system in captions.items()},
        seed,
        metric,
    )
    return replace(
        study,
        signatures={"smurf": metric.signatures()[0]},
        data={**data, **checksums(*systems.values(), human)},
        warnings=[CaptionWarning(text, metric.name) for text in metric.warnings(people, None)],
        notes=[*study.notes, *notes],
    )


def smurf_scores(scores: str | os.PathLike[str], *, seed: int = DEFAULT_SEED) -> Study:
    """Analyze systems by SMURF's parts, from scores of the authors' code, without models.

    Args:
        scores: one JSON object per image on every line: image, captions and smurf_scores, which are objects with
            SPARCS, SPURTS and MIMA; the first caption is human, the others are those of systems, always in the same
            order. They are standardized with the published constants.
        seed: random seed of the captions in the picture.

    Returns:
        As for ``smurf_analysis``; systems are named system 1, system 2 and so on.

    Raises:
        ResourceError: no such file.
        CaptionFileError: a file of another form, or with fewer than two images.
    """
    path = Path(scores)
    folder = DataFolder(path.parent)
    rows = folder.records(path.name)
    try:
        n = len(rows[0]["captions"])
        names = [PEOPLE, *(f"system {number}" for number in range(1, n))]
        ids = [str(row["image"]) for row in rows]
        captions = {name: (ids, [row["captions"][i] for row in rows]) for i, name in enumerate(names)}
        columns = np.array([[[s[part] for part in _PARTS] for s in row["smurf_scores"]] for row in rows], np.float64)
        if columns.shape != (len(rows), n, len(_PARTS)) or len(rows) < 2:
            raise ValueError
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise folder.error(
            "these are not SMURF's scores of two or more images, each with as many captions", path.name
        ) from error
    standardized = {name: PUBLISHED.standardized(*columns[:, i].T) for i, name in enumerate(names)}
    what = f"{path.name}, {counted(len(rows), 'image')}"
    return replace(_study(what, standardized, captions, checked_seed(seed)), data=folder.read)


def _study(
    what: str,
    scores: Mapping[str, Parts],
    captions: Mapping[str, tuple[Sequence[object], Sequence[str]]],
    seed: int,
    metric: Smurf | None = None,
) -> Study:
    """Return the study of standardized SPARCS, SPURTS and MIMA of each system's captions, with their ids and texts.

    Without a metric, captions are penalized and scores are fused as by the authors' code.
    """
    threshold = THRESHOLD if metric is None else metric.threshold
    outlines = {system: ellipse(sparcs, spurts, _DEVIATIONS) for system, (sparcs, spurts, _) in scores.items()}
    records, clouds = [], {}
    for system, (sparcs, spurts, mima) in scores.items():
        x, y = float(sparcs.mean()), float(spurts.mean())
        central = int(np.argmin((sparcs - x) ** 2 + (spurts - y) ** 2))
        fused = fuse(sparcs, spurts, mima, threshold, average=metric is None or metric.variant == "official")
        ids, texts = captions[system]
        records.append(
            {
                "system": system,
                "captions": len(texts),
                "sparcs": x,
                "spurts": y,
                "mima": float(mima.mean()),
                "overlap": defined(overlap(outlines[PEOPLE], outlines[system])),
                "grammar_penalty": float(grammar_penalty(mima, threshold).sum()),
                "smurf": float(fused.mean()),
                "image": str(ids[central]),
                "central_caption": texts[central],
            }
        )
        points = np.stack([sparcs, spurts], axis=1)
        drawn = np.random.default_rng(seed).permutation(len(points))[:_SAMPLED_POINTS]
        clouds[system] = Cloud(points[drawn], outlines[system], points[central])
    return Study(
        "smurf",
        f"Semantics, style and grammar vs. humans: {what}",
        tuple(records[0]),
        records,
        settings={"ellipse": f"{_DEVIATIONS:g} standard deviations", "seed": seed},
        pictures={"smurf": Clouds("Systems and human captions", "SPARCS, semantics", "SPURTS, style", clouds)},
        notes=[
            "Units: standard deviations of human captions. Overlap: the share of a system's ellipse inside the human "
            "one. Grammar penalty: summed over captions."
        ],
    )


def _notes(people: Captions, table: References, held_out: bool, left_out: int) -> list[str]:
    """Return notes about the source of the human captions."""
    if held_out:
        held = f"{PEOPLE.capitalize()}: one reference per image, which is held out for all systems."
        return [held, *excluded(left_out)]
    ends = people.references.offsets
    spans = zip(people.candidates, ends[:-1], ends[1:], strict=True)
    repeated = sum(caption in people.references.texts[start:end] for caption, start, end in spans)
    return [f"{counted(repeated, 'human caption', 'are')} among their own references."] if repeated else []


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
