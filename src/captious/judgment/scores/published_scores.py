"""Scores of single captions in files of other programs, matched with the captions of a benchmark.

FLEUR's text files have lines ``image file : ...``, ``caption : ...``, ``model score : ...`` and ``our score : ...``.
CaptionEvalKit's json files have ``per_item`` with, for every id, the caption, its image and the scores. Neither names
the items of a benchmark as captious does, so scores are matched by image and words of the caption.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.data.ids import numbers_in_file_names
from captious.errors import CaptionFileError, ParameterError
from captious.files.decompression import user_text
from captious.judgment.human_judgments import CaptionJudgments, HumanJudgments
from captious.phrases import counted_of

#: Names of the scores in FLEUR's program -> their suffixes after the name of the file.
_FLEUR = {"our score": "", "model score": "-model-score"}
_FLEUR_LINE = re.compile(r"(image file|caption|our score|model score) : (.*)")
#: Fields of CaptionEvalKit's items that are not scores of the metric.
_NOT_SCORES = ("id", "score", "scores", "ground_truth_score", "caption", "image", "references")

_Key: TypeAlias = tuple[str, str]


class _Score(NamedTuple):
    key: _Key
    value: float


@dataclass(frozen=True)
class PublishedScores:
    """The scores in a file, in its order.

    Args:
        file: its name, for messages.
        by_metric: metric -> scores of captions.
    """

    file: str
    by_metric: Mapping[str, Sequence[_Score]]


def content_of(file: Path) -> str:
    """Return the text of a file of scores, decompressed.

    Raises:
        ResourceError: it cannot be read.
        CaptionFileError: it is not text, or too large.
    """
    return user_text(file, "scores", "download the file again", CaptionFileError)


def fleur_scores(file: Path, text: str) -> PublishedScores | None:
    """Read the scores in a text file of FLEUR's program; None for other files.

    The metric is named after the file up to the first "_": ``fleur`` of fleur_composite.txt is the score smoothed by
    the probabilities of digits, ``fleur-model-score`` the number that the model wrote.

    Raises:
        CaptionFileError: a score without a caption, or that is not a number.
    """
    name = file.name.partition(".")[0].partition("_")[0]
    scores: dict[str, list[_Score]] = defaultdict(list)
    image, caption = "", None
    for number, line in enumerate(text.split("\n"), start=1):
        match = _FLEUR_LINE.fullmatch(line.removesuffix("\r"))
        if match is None:
            continue
        field, value = match[1], match[2]
        if field == "image file":
            image, caption = value, None
        elif field == "caption":
            caption = value
        else:
            if caption is None or not image:
                raise CaptionFileError(
                    "a score without a caption", where=f"{file}, line {number}", help="download the file again"
                )
            scores[name + _FLEUR[field]].append(_Score(_key(image, caption), _number(value, f"{file}, line {number}")))
    return PublishedScores(file.name, scores) if scores else None


def kit_scores(file: Path, document: object) -> PublishedScores | None:
    """Read the scores in a json file of CaptionEvalKit, of single captions with their images; None for other files.

    Raises:
        CaptionFileError: an item without a caption and an image, or scores that are not numbers.
    """
    if not isinstance(document, Mapping):
        return None
    output = document.get("raw_metric_output", document)
    scores: dict[str, list[_Score]] = defaultdict(list)
    for label, items in _item_objects(output):
        for id, item in items.items():
            where = f"{file}: {id}"
            if not isinstance(item, Mapping) or not {"caption", "image"} <= item.keys():
                raise CaptionFileError(
                    "a score without its caption and image",
                    where=where,
                    help="use the output of capevalkit benchmark, or give {benchmark: {metric: {id: score}}}",
                )
            key = _key(str(item["image"]), str(item["caption"]))
            for metric, value in _scores_of(item, label or str(document.get("score_name", "score"))).items():
                scores[metric.lower()].append(_Score(key, _number(value, where)))
    return PublishedScores(file.name, scores) if scores else None


def _item_objects(output: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Return the objects that hold items: the metric, if named above them, and the items by id."""
    if not isinstance(output, Mapping):
        return
    if isinstance(output.get("per_item"), Mapping):
        yield "", output["per_item"]
    for name, part in output.items():
        if isinstance(part, Mapping) and isinstance(part.get("per_item"), Mapping):
            yield str(name), part["per_item"]


def _scores_of(item: Mapping[str, Any], metric: str) -> Mapping[str, Any]:
    if isinstance(item.get("scores"), Mapping) and item["scores"]:
        return item["scores"]  # type: ignore[no-any-return]
    scores = {name: value for name, value in item.items() if name not in _NOT_SCORES}
    return scores or {metric: item.get("score")}


def published_for(judgments: HumanJudgments, files: Sequence[PublishedScores]) -> dict[str, NDArray[np.float64]]:
    """Return the scores of a benchmark's items by metric, for the metrics that have one for every item.

    A file that has them all is used alone; otherwise all files with the metric, which may be parts. If a caption is not
    equally frequent in a file and in the benchmark, its mean score is used.
    """
    if not isinstance(judgments, CaptionJudgments):
        return {}
    table = judgments.captions
    keys = [_key(str(image), text) for image, text in zip(table.references.images, table.candidates, strict=True)]
    by_metric = {}
    for metric in dict.fromkeys(metric for file in files for metric in file.by_metric):
        with_metric = [file.by_metric[metric] for file in files if metric in file.by_metric]
        for scores in (*with_metric, [score for of_file in with_metric for score in of_file]):
            values = _item_scores(keys, scores)
            if values is not None:
                by_metric[metric] = values
                break
    return by_metric


def _item_scores(keys: Sequence[_Key], scores: Sequence[_Score]) -> NDArray[np.float64] | None:
    """Return a score for every key, or None."""
    of_key: dict[_Key, list[float]] = defaultdict(list)
    for score in scores:
        of_key[score.key].append(score.value)
    rows: dict[_Key, list[int]] = defaultdict(list)
    for row, key in enumerate(keys):
        rows[key].append(row)
    if not rows.keys() <= of_key.keys():
        return None
    values = np.zeros(len(keys))
    for key, rows_of_key in rows.items():
        matching = of_key[key]
        values[rows_of_key] = matching if len(matching) == len(rows_of_key) else np.mean(matching)
    return values


def check_all_used(files: Sequence[PublishedScores], labels: set[str], judged: Sequence[HumanJudgments]) -> None:
    """Refuse files that have all scores of no benchmark.

    Raises:
        ParameterError: names the first of them, and how much of each benchmark it has.
    """
    for file in files:
        if file.by_metric.keys() & labels:
            continue
        keys = {score.key for scores in file.by_metric.values() for score in scores}
        shares = []
        for judgments in judged:
            if isinstance(judgments, CaptionJudgments):
                table = judgments.captions
                pairs = zip(table.references.images, table.candidates, strict=True)
                n = sum(_key(str(image), text) in keys for image, text in pairs)
                shares.append(f"{counted_of(n, len(table.candidates), 'caption')} of {judgments.protocol.full_name}")
        raise ParameterError(
            f"{file.file} does not have scores for a whole benchmark",
            where=", ".join(shares),
            help="request the benchmark that the scores are for; if they are in several files, give them all",
        )


def _key(image: str, caption: str) -> _Key:
    """Return a key for image and caption: a number or a name without its folder, and words."""
    numbers = numbers_in_file_names([image])
    name = str(numbers[0]) if numbers else image.rpartition("/")[2].partition(".")[0]
    return name, " ".join(caption.split())


def _number(value: object, where: str) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise CaptionFileError(f"{value!r:.60} is not a score", where=where, help="download the file again") from error
