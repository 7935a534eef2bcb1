"""The captions of submissions, image by image, next to the references, where the captions file is public."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
from django.urls import reverse

from captious.data import References
from captious.errors import CaptiousError
from captious.report.explanation_layouts import layout_values
from captious.report.explanation_text import explanation_text
from captious.report.explanations import drawn_values, explained_parts
from captious.report.terminal import as_text
from captious.server.boards.leaderboard_query import Query
from captious.server.boards.shown_digits import rounded_array, rounded_values
from captious.server.challenges import reference_cache
from captious.server.models import Submission
from captious.server.scoring.stored_results import read_results
from captious.server.submissions import storage

__all__ = [
    "ORDERS",
    "CaptionRow",
    "Explanation",
    "ShownCaption",
    "caption_row",
    "explanations",
    "order_of",
    "rows_of",
    "scores_of",
]

#: How the captions can be sorted.
ORDERS = ("lowest", "highest", "difference", "image")
_WIDTH = 100  # columns of explanations as text
_DIGITS = 4  # of the numbers in them


@dataclass(frozen=True)
class ShownCaption:
    """A candidate of a submission for an image, with its score, None where it has none."""

    submission: Submission
    caption: str
    score: float | None


@dataclass(frozen=True)
class Explanation:
    """Why a candidate got its score.

    Args:
        submission: whose candidate.
        metric: its name.
        drawn: the values of the explanation, and its layout.
        text: the explanation, for browsers without scripts.
        problem: why there is none.
    """

    submission: Submission
    metric: str
    drawn: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    problem: str = ""


@dataclass(frozen=True)
class CaptionRow:
    """An image with its references and candidates."""

    id: Any
    image_url: str
    url: str
    references: list[str]
    candidates: list[ShownCaption]


def order_of(query: Query, chosen: Sequence[Submission], by: str, order: str) -> np.ndarray[Any, Any]:
    """Positions of the images, int[n_images], sorted by the scores of the submissions in an output.

    Args:
        by: the output.
        order: one of ``ORDERS``. With several submissions, "lowest" and "highest" go by their mean, "difference" by the
            distance between the best and the worst. Images without a score are last.
    """
    scores = [column for submission in chosen if (column := _column(submission, query, by)) is not None]
    n = len(_references(query))
    if order == "image" or not scores:
        return np.arange(n)
    matrix = np.stack(scores)
    values = matrix.max(axis=0) - matrix.min(axis=0) if order == "difference" else matrix.mean(axis=0)
    values = values if order == "lowest" else -values
    return np.argsort(np.where(np.isnan(values), np.inf, values), kind="stable")


def rows_of(query: Query, chosen: Sequence[Submission], by: str, positions: Sequence[int]) -> list[CaptionRow]:
    """The images at these positions."""
    return [_row(query, chosen, by, int(position)) for position in positions]


def caption_row(query: Query, chosen: Sequence[Submission], by: str, image: str) -> CaptionRow | None:
    """One image; None if the reference set has none of this id."""
    table = _references(query)
    position = next((i for i, id in enumerate(table.ids) if str(id) == image), None)
    return None if position is None else _row(query, chosen, by, position)


def scores_of(query: Query, submission: Submission, image: Any) -> dict[str, float]:
    """All outputs for one image."""
    stored = read_results(submission.results_path, query.key)
    if stored is None:
        return {}
    position = _references(query).ids.index(image)
    scores = rounded_array(stored.per_caption[position], query.phase.digits)
    return dict(zip(stored.outputs, scores.tolist(), strict=True))


def explanations(query: Query, row: CaptionRow) -> list[Explanation]:
    """Why the candidates got their scores, by each metric that explains them; none in a phase that shows scores with
    fewer digits than explanations have.
    """
    if query.phase.digits < _DIGITS:
        return []
    metrics = {
        part.signatures()[0]: part
        for entry in reference_cache.selection(query.challenge, threads=1)
        for part in explained_parts(entry.metric)
    }
    return [
        _explanation(metric, shown, row.references, query) for metric in metrics.values() for shown in row.candidates
    ]


def _explanation(metric: Any, shown: ShownCaption, references: list[str], query: Query) -> Explanation:
    try:
        reference_set = query.phase.reference_sets[query.key]
        state = {"state": reference_cache.state(query.challenge, reference_set, metric)} if metric.needs_fit else {}
        explained = metric.explain(shown.caption, references, **state)
    except CaptiousError as error:  # a table that this machine does not have: the page is useful without
        return Explanation(shown.submission, metric.name, problem=str(error))
    text = as_text(explanation_text(explained), width=_WIDTH).rstrip()
    values = rounded_values(drawn_values(explained), query.phase.digits)
    drawn = {"layout": layout_values(metric.explanation), "values": values}
    return Explanation(shown.submission, metric.name, drawn, text)


def _row(query: Query, chosen: Sequence[Submission], by: str, position: int) -> CaptionRow:
    table = _references(query)
    image = table.ids[position]
    start, end = table.offsets[position : position + 2].tolist()
    address = reverse("captious:caption", args=[query.challenge.slug, str(image)])
    systems = urlencode([("systems", submission.pk) for submission in chosen])
    shown = []
    for submission in chosen:
        column = _column(submission, query, by)
        score = None if column is None or np.isnan(column[position]) else float(column[position])
        shown.append(
            ShownCaption(submission, _candidates(submission.folder, query.references.captions).get(image, ""), score)
        )
    return CaptionRow(
        id=image,
        image_url=query.challenge.definition.url_of(image),
        url=f"{address}?{query.parameters}&{systems}",
        references=list(table.texts[start:end]),
        candidates=shown,
    )


def _references(query: Query) -> References:
    return reference_cache.references(query.challenge, query.phase.reference_sets[query.key])


def _column(submission: Submission, query: Query, output: str) -> np.ndarray[Any, Any] | None:
    stored = read_results(submission.results_path, query.key)
    if stored is None or output not in stored.outputs:
        return None
    return rounded_array(stored.per_caption[:, stored.outputs.index(output)], query.phase.digits)


@lru_cache(maxsize=8)
def _candidates(folder: Path, captions: str) -> dict[Any, str]:
    return storage.candidates_in(folder, captions)
