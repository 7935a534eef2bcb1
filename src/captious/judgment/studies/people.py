"""Studies of human captions: their compliance with COCO's rules, and their agreement with each other."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, Match, References, read_captions, read_references
from captious.errors import CaptionFileError, ParameterError
from captious.evaluation import Report
from captious.evaluation.checks import few_images_warning
from captious.judgment.files import DataFolder
from captious.judgment.judgments import PEOPLE
from captious.judgment.results import Curve, Curves, Study
from captious.judgment.scores import Metrics, as_selection, score_captions
from captious.judgment.studies.sources import check_systems, checksums, name_of_file
from captious.metrics.contract.registry import TOOLKIT_NAMES
from captious.metrics.contract.settings import Settings
from captious.progress import steps
from captious.statistics import DEFAULT_RESAMPLES, Sampling
from captious.text import PTB, Tokens
from captious.words import DEFAULT_SEED, counted

# Compliance of captions with the rules by which COCO's captions were collected.
#
# Chen et al. 2015, section 2: people were told to write at least eight words, not to begin with "There is", and not to
# describe the future or the past, what a person might say, or people by their names; and to describe all important and
# no unimportant details, which no program can check. The first two rules are checked exactly ("There's" is "There is",
# "There are" is not); for the others, words that usually indicate a violation are counted.

_WORDS = 8
_OPENING = re.compile(r"\W*there(?:'s|\u2019s| is)\b", re.IGNORECASE)
_TIME = re.compile(r"\b(?:will|would|was|were|had|did|going to (?!the\b|a\b)|about to|used to)\b", re.IGNORECASE)
_SPEECH = re.compile(r"\b(?:says?|said|saying|asks?|asked|asking|shouts?|yells?|tells?)\b|[\"\u201c]", re.IGNORECASE)
_CAPITALIZED = re.compile(r"(?<=[\w,] )[A-Z][a-z]+\b")

#: The rules, as tables name them.
RULES = ("eight words or more", 'not "There is"', "no future or past", "no speech", "no names")


def collection_rules(references: object, *, systems: Mapping[str, object] | None = None, match: Match = "all") -> Study:
    """Count the human captions, and captions of systems, that break the rules of COCO's collection.

    Args:
        references: human captions, in any supported form.
        systems: captions of systems by name, in any supported form, to check as well.
        match: with systems, "common" uses the images that both sides have; otherwise, a difference is an error.

    Returns:
        One record per rule for people and for each system: captions_of, rule, images and captions (how many), broken
        (how many captions break it), share, and an example.

    Raises:
        ParameterError: a system named people.
        Others as ``captious.score``, about captions.
    """
    systems = systems or {}
    check_systems(systems, required=False)
    table, data = read_references(references), checksums(references)
    captions: dict[str, Sequence[str]] = {PEOPLE: table.texts}
    captions |= {name: read_captions(source, table, match=match).candidates for name, source in systems.items()}
    common = _common(table.texts)
    records: list[dict[str, Any]] = []
    with steps([*captions], str) as names:
        for name in names:
            for rule, broken in zip(RULES, _broken(captions[name], common), strict=True):
                record = {"captions_of": name, "rule": rule, "images": len(table), "captions": len(captions[name])}
                record |= {"broken": len(broken), "share": len(broken) / max(1, len(captions[name]))}
                record["example"] = broken[0] if broken else ""
                records.append(record)
    return Study(
        "rules",
        f"Rules of COCO's collection: {name_of_file(references, table.name)}, {counted(len(table), 'image')}",
        ("captions_of", "rule", "captions", "broken", "share", "example"),
        records,
        {},
        {**data, **checksums(*systems.values())},
        {"tokenizer": PTB.name},
        notes=[
            "Words are counted as PTB tokens without punctuation. The last three rules are judged by words that "
            "usually go with breaking them, such as will, was and says, by quotation marks, and by capitalized words "
            "inside a caption that the references never write in lower case."
        ],
    )


def _broken(captions: Sequence[str], common: frozenset[str]) -> list[list[str]]:
    """Return the captions that break each of ``RULES``."""
    words = Tokens.of(captions, PTB).split().offsets
    short = [caption for caption, n in zip(captions, (words[1:] - words[:-1]).tolist(), strict=True) if n < _WORDS]
    matches = [[caption for caption in captions if rule.search(caption)] for rule in (_TIME, _SPEECH)]
    names = [
        caption for caption in captions if any(word.lower() not in common for word in _CAPITALIZED.findall(caption))
    ]
    return [short, [caption for caption in captions if _OPENING.match(caption)], *matches, names]


def _common(captions: Sequence[str]) -> frozenset[str]:
    """Return the words that are written in lower case somewhere."""
    return frozenset(word for caption in captions for word in re.findall(r"\b[a-z]+\b", caption))


# Human agreement: human captions scored like a system's, with the other captions of the same images as references.
#
# One caption of every image is held out as the candidate; the others are its references. This corresponds to the human
# row of COCO's tables (Chen et al. 2015, "Microsoft COCO Captions", section 4), for which one more caption per image
# was collected.


@dataclass(frozen=True)
class PublishedRows:
    """Published scores of human captions.

    Args:
        label: their name, such as "c5".
        scores: metric -> score.
        n_references: number of references per image, if known.
        data: their file -> CRC-32.
    """

    label: str
    scores: Mapping[str, float]
    n_references: int | None = None
    data: Mapping[str, str] = field(default_factory=dict)


#: Source of published scores: a leaderboard's file, or the scores themselves.
Published: TypeAlias = PublishedRows | str | os.PathLike[str]


def human_agreement(
    references: object,
    metrics: Metrics = None,
    counts: int | Sequence[int] = (),
    *,
    settings: Settings | None = None,
    place: int | None = None,
    published: Published | Sequence[Published] = (),
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Study:
    """Score human captions with increasing numbers of references.

    An image has the same candidate for every number of references, and smaller sets of references are subsets of larger
    ones. Images with too few captions for the largest number are left out of the whole table. CIDEr's document
    frequencies are counted over the references of each number, unless the metric has its own.

    Args:
        references: human captions, at least two per image, in any supported form.
        metrics, settings: as for ``judge``.
        counts: numbers of references; by default from 1 to one less than the usual number of captions of an image,
            which is 4 for COCO.
        place: hold out the caption at this position, from 0, and use the others in order; by default all are drawn at
            random.
        published: scores to compare with: a COCO leaderboard with a human row, such as ``cap_c5.json``, or scores; or
            several of these.
        resamples, seed: number of resamples and random seed of the bootstrap intervals over images; the seed also
            determines the draw.

    Returns:
        One record per metric: its score for every number of references, the 95% interval of the last ("ci95" has all),
        and the published scores; if one has just one more reference, also the expected score with that many. The
        picture includes the published scores.

    Raises:
        ParameterError: numbers of references below 1, or more than any image has.
        ResourceError, CaptionFileError: published scores that are missing or have the wrong format.
        Others as ``captious.score``, about captions and metrics.
    """
    sampling = Sampling(resamples, seed)
    several = [published] if isinstance(published, str | os.PathLike | PublishedRows) else published
    rows = [row if isinstance(row, PublishedRows) else read_human_row(row) for row in several]
    selection = as_selection(metrics, settings)
    table = read_references(references)
    counts = _checked_counts(table, [counts] if isinstance(counts, int) else counts)
    images, order = _ordered(table, counts[-1], place, sampling.seed)
    reports: dict[int, Report] = {}
    with steps(counts, lambda count: f"references: {count}") as scored:
        for count in scored:
            reports[count] = score_captions(_captions(table, images, order, count), selection, name="human captions")
    last, columns = reports[counts[-1]], [f"refs_{count}" for count in counts]
    records, lines = [], {}
    for label in last:
        results = [reports[count][label] for count in counts]
        scores = [result.score for result in results]
        intervals = [result.confidence_interval(sampling.level, **sampling.settings) for result in results]
        record: dict[str, Any] = {"metric": label, **dict(zip(columns, scores, strict=True))}
        record |= {"ci95_low": intervals[-1][0], "ci95_high": intervals[-1][1]}
        points = [(n, score, *ends, "") for n, score, ends in zip(counts, scores, intervals, strict=True)]
        for row in rows:
            if row.n_references == counts[-1] + 1:
                record["expected"] = expected_next(counts, scores)
            record[f"published_{row.label}"] = score = row.scores.get(label)
            if row.n_references and score is not None:
                points.append((row.n_references, score, score, score, row.label))
        records.append(record | {"ci95": dict(zip(columns, map(list, intervals), strict=True))})
        points.sort(key=lambda point: point[0])
        x, y, low, high = np.array([point[:4] for point in points], np.float64).T
        names = [point[4] for point in points]
        lines[label] = Curve(x, y, low, high, names=names if any(names) else ())
    left_out, used = len(table) - len(images), counted(counts[-1], "reference")
    excluded = [f"Excluded: {counted(left_out, 'image')} with too few captions for {used}."] if left_out else []
    title = "Human captions against other human captions"
    return Study(
        "agreement",
        f"{title}: {name_of_file(references, table.name)}, {counted(len(images), 'image')}",
        [key for key in records[0] if key != "ci95"],
        records,
        {label: result.signature for label, result in last.items()},
        {**checksums(references), **{file: crc for row in rows for file, crc in row.data.items()}},
        {
            "counts": counts,
            "held out": "drawn" if place is None else f"place {place}",
            "images": len(images),
            **sampling.settings,
        },
        {
            "agreement": Curves(
                title,
                "references",
                "score",
                lines,
                logarithmic=any((row.n_references or 0) > 2 * counts[-1] for row in rows),
            )
        },
        notes=[
            f"The interval is for {used} (bootstrap over images).",
            *excluded,
            *(note for row in rows for note in _comparison(records, counts[-1], row)),
        ],
        warnings=[*last.warnings, *few_images_warning(len(images))],
    )


def read_human_row(file: str | os.PathLike[str]) -> PublishedRows:
    """Read the entry of the team "Human" in a leaderboard of the COCO captioning challenge, such as ``cap_c5.json``.

    Raises:
        ResourceError: the file does not exist.
        CaptionFileError: it has no such entry.
    """
    path = Path(file)
    folder = DataFolder(path.parent)
    content = folder.json(path.name.removesuffix(".gz"))
    try:
        (entry,) = [entry for entry in content if entry["team"]["name"] == "Human"][:1]
        results = json.loads(entry["results"]) if isinstance(entry["results"], str) else entry["results"]
        label = entry["leaderboard_name"].removeprefix("cap-")
        scores = {metric: float(results[key]) for metric, key in TOOLKIT_NAMES.items() if results.get(key) is not None}
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise CaptionFileError(
            "this is not a COCO leaderboard with a human row",
            where=str(path),
            hint='an entry is {"team": {"name": "Human"}, "leaderboard_name": "cap-c5", "results": "{...}"}',
        ) from error
    count = re.fullmatch(r"c(\d+)", label)
    return PublishedRows(label, scores, int(count[1]) if count else None, folder.read)


def expected_next(counts: Sequence[int], scores: Sequence[float]) -> float | None:
    """Extrapolate the score to one more reference.

    The gain of the n-th reference is modeled as a power of n, through the last two gains. None if the last three counts
    are not consecutive, or gains are not positive, or increase.
    """
    if len(counts) < 3 or np.any(np.diff(counts[-3:]) != 1):
        return None
    before, last = np.diff(scores[-3:]).tolist()
    if not 0 < last <= before * (1 + 1e-9):
        return None
    n = counts[-1]
    power = math.log(last / before) / math.log(n / (n - 1))
    return float(scores[-1] + last * ((n + 1) / n) ** power)


def _checked_counts(table: References, counts: Sequence[int]) -> list[int]:
    of_image = np.diff(table.offsets)
    most = int(of_image.max()) - 1
    usual = int(np.bincount(of_image).argmax()) - 1
    if most < 1 or (not counts and usual < 1):
        raise ParameterError(
            ("no images" if most < 1 else "too few images") + " have two or more captions",
            where=table.name,
            hint="give captions by several people for every image",
        )
    if wrong := [count for count in counts if not 1 <= count <= most]:
        raise ParameterError(
            f"no image has {counted(wrong[0], 'reference')} in addition to the held-out caption",
            where=f"{table.name}: up to {most + 1} captions per image",
            hint=f"give 1 to {most}",
        )
    return sorted(set(counts)) or list(range(1, usual + 1))


def _ordered(
    table: References, count: int, place: int | None, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the images with enough captions, and the order of captions in every image: candidate first, then
    references.

    Returns:
        images int64[n], and rows of texts int64[n_texts] where ``order[offsets[i]]`` is the candidate of image i.
    """
    of_image = np.diff(table.offsets)
    image = np.repeat(np.arange(len(table)), of_image)
    if place is None:
        key = np.random.default_rng(seed).random(len(image))
        return np.flatnonzero(of_image > count), np.lexsort((key, image))
    if not 0 <= place < of_image.max():
        raise ParameterError(
            f"no image has a caption at position {place}", where=table.name, hint=f"give 0 to {of_image.max() - 1}"
        )
    position = np.arange(len(image)) - table.offsets[image]
    key = np.where(position == place, -1, position)
    return np.flatnonzero(of_image > max(count, place)), np.lexsort((key, image))


def _captions(table: References, images: NDArray[np.int64], order: NDArray[np.int64], count: int) -> Captions:
    starts = table.offsets[images]
    references = table.choose(order[starts[:, None] + np.arange(1, count + 1)], images)
    return Captions(tuple(table.texts[row] for row in order[starts].tolist()), references)


def _comparison(records: Sequence[Mapping[str, Any]], count: int, published: PublishedRows) -> list[str]:
    """Return the differences from published scores, and the part due to the number of references."""
    n = published.n_references
    notes = [
        f"The published scores use {counted(n, 'reference')} per image. They can differ from the last column for "
        "that reason, and because the images, the captions and the corpus of CIDEr's idf differ."
        if n not in (None, count)
        else "The images, the captions and the corpus of CIDEr's idf differ from those of the published scores."
    ]
    column = f"published_{published.label}"
    extrapolated = [r for r in records if r.get("expected") is not None and r[column] is not None]
    if extrapolated and n == count + 1:
        now = np.mean([abs(r[f"refs_{count}"] - r[column]) for r in extrapolated])
        then = np.mean([abs(r["expected"] - r[column]) for r in extrapolated])
        notes.append(
            f"Expected: the score extrapolated to {n} references, assuming a power law in the number "
            "of references; it is missing where scores do not grow that way. Mean difference from the published "
            f"scores: {then:.3f} for the extrapolation, {now:.3f} for {counted(count, 'reference')}."
        )
    return notes
