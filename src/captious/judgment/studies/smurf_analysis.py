"""Comparison of systems with human captions by SMURF: semantics, style, and grammar penalty.

Feinglass and Yang 2021 (SMURF), figure 1, with the conventions of the authors' code: scores are in standard deviations
of human captions; the axes of a system's ellipse follow the covariance of its scores, and are 1.15 standard deviations
long; its overlap is the share of its area within the human ellipse.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References, read_captions, read_references, same_images
from captious.data.hold_out import hold_out
from captious.errors import ParameterError
from captious.judgment.files.judgment_files import DataFolder
from captious.judgment.protocols import PEOPLE
from captious.judgment.studies.shared.polygons import ellipse, overlap
from captious.judgment.studies.shared.study_sources import check_systems, checksums, name_of_file
from captious.judgment.study_result import Cloud, Clouds, Study
from captious.metrics.contract.selection import select_one
from captious.metrics.contract.settings import Settings
from captious.metrics.smurf import PUBLISHED, THRESHOLD, Parts, Smurf, fuse, grammar_penalty
from captious.phrases import counted
from captious.progress import steps
from captious.random_seed import DEFAULT_SEED, checked_seed

#: Name in tables of those who wrote the references.
_DEVIATIONS = 1.15
_POINTS = 100
_PARTS = ("SPARCS", "SPURTS", "MIMA")


@dataclass(frozen=True, eq=False)
class Place:
    """Position of a system's captions, in standard deviations of human captions.

    Args:
        center: means of SPARCS and SPURTS.
        outline: the ellipse, a polygon float64[64, 2].
        overlap: the share of its area within the human ellipse; NaN if it has none.
        penalty: summed grammar penalty, 0 or less.
        central: index of the caption nearest to the center.
    """

    center: tuple[float, float]
    outline: NDArray[np.float64]
    overlap: float
    penalty: float
    central: int


def places(scores: Mapping[str, Parts], people: str, threshold: float = THRESHOLD) -> dict[str, Place]:
    """Return the positions of systems.

    Args:
        scores: standardized SPARCS, SPURTS and MIMA of each system's captions, two captions or more.
        people: the system that stands for people.
        threshold: threshold of the grammar penalty.
    """
    outlines = {system: ellipse(sparcs, spurts, _DEVIATIONS) for system, (sparcs, spurts, _) in scores.items()}
    place_of = {}
    for system, (sparcs, spurts, mima) in scores.items():
        x, y = float(sparcs.mean()), float(spurts.mean())
        central = int(np.argmin((sparcs - x) ** 2 + (spurts - y) ** 2))
        share = overlap(outlines[people], outlines[system])
        penalty = float(grammar_penalty(mima, threshold).sum())
        place_of[system] = Place((x, y), outlines[system], share, penalty, central)
    return place_of


def smurf_analysis(
    systems: Mapping[str, object],
    references: object,
    metric: Smurf | str = "smurf",
    *,
    settings: Settings | None = None,
    human: object = None,
    subset: bool = False,
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
        subset: score only the images that both sides have.
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
        selected = select_one(metric, settings)
        if not isinstance(selected, Smurf):
            raise ParameterError(f"{metric} is not SMURF", help="give smurf, with its parameters")
        metric = selected
    seed = checked_seed(seed)
    check_systems(systems)
    table, data = read_references(references), checksums(references)
    if human is None:
        people, left_out = hold_out(table, seed)
    else:
        people, left_out = read_captions(human, table, subset=subset), 0
    captions = {PEOPLE: people}
    for system, source in systems.items():
        captions[system] = read_captions(source, table, subset=subset)
        if human is None:
            captions[system] = read_captions(source, people.references, subset=subset or left_out > 0)
    if few := [system for system, table in captions.items() if len(table) < 2]:
        raise ParameterError(f"{few[0]} has fewer than two captions", help="an ellipse needs several; 5000 is usual")
    scores = {}
    with steps([*captions], str) as names:
        for system in names:
            scores[system] = metric.standardized(captions[system])
    notes = _notes(people, table, human is None, left_out)
    if not all(same_images(table.ids, people.ids) for table in captions.values()):
        notes.append("The systems were scored on different images, so their numbers cannot be compared.")
    return _study(
        f"{name_of_file(references, table.name)}, {counted(len(people), 'image')}",
        scores,
        {system: (table_of_system.ids, table_of_system.candidates) for system, table_of_system in captions.items()},
        seed,
        metric.threshold,
        average=metric.variant == "official",
        signatures={"smurf": metric.signatures()[0]},
        data={**data, **checksums(*systems.values(), human)},
        warnings=metric.warnings(people, None),
        notes=notes,
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
    return _study(what, standardized, captions, checked_seed(seed), THRESHOLD, average=True, data=folder.read)


def _study(
    what: str,
    scores: Mapping[str, Parts],
    captions: Mapping[str, tuple[Sequence[object], Sequence[str]]],
    seed: int,
    threshold: float,
    *,
    average: bool,
    signatures: Mapping[str, str] | None = None,
    data: Mapping[str, str],
    warnings: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Study:
    """Return the study of standardized scores, with the image ids and captions of each system."""
    place_of = places(scores, PEOPLE, threshold)
    records = []
    for system, place in place_of.items():
        sparcs, spurts, mima = scores[system]
        ids, texts = captions[system]
        records.append(
            {
                "system": system,
                "captions": len(texts),
                "sparcs": place.center[0],
                "spurts": place.center[1],
                "mima": float(mima.mean()),
                "overlap": None if isnan(place.overlap) else place.overlap,
                "grammar_penalty": place.penalty,
                "smurf": float(fuse(sparcs, spurts, mima, threshold, average=average).mean()),
                "image": str(ids[place.central]),
                "central_caption": texts[place.central],
            }
        )
    return Study(
        "smurf",
        f"Semantics, style and grammar vs. humans: {what}",
        tuple(records[0]),
        records,
        dict(signatures or {}),
        data,
        {"ellipse": f"{_DEVIATIONS:g} standard deviations", "seed": seed},
        warnings=warnings,
        pictures={"smurf": _clouds(scores, place_of, seed)},
        notes=[
            "Units: standard deviations of human captions. Overlap: the share of a system's ellipse inside the human "
            "one. Grammar penalty: summed over captions.",
            *notes,
        ],
    )


def _notes(people: Captions, table: References, held_out: bool, left_out: int) -> list[str]:
    """Return notes about the source of the human captions."""
    if held_out:
        notes = [f"{PEOPLE.capitalize()}: one reference per image, which is held out for all systems."]
        return [*notes, f"Excluded: {counted(left_out, 'image')} with a single reference."] if left_out else notes
    ends = people.references.offsets
    spans = zip(people.candidates, ends[:-1], ends[1:], strict=True)
    repeated = sum(caption in people.references.texts[start:end] for caption, start, end in spans)
    return [f"{counted(repeated, 'human caption', 'are')} among their own references."] if repeated else []


def _clouds(scores: Mapping[str, Parts], place_of: Mapping[str, Place], seed: int) -> Clouds:
    clouds = {}
    for system, (sparcs, spurts, _) in scores.items():
        rows = np.random.default_rng(seed).permutation(len(sparcs))[:_POINTS]
        points = np.stack([sparcs, spurts], axis=1)
        clouds[system] = Cloud(points[rows], place_of[system].outline, points[place_of[system].central])
    return Clouds("Systems and human captions", "SPARCS, semantics", "SPURTS, style", clouds)
