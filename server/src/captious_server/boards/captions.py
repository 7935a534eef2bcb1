"""The captions of submissions, image by image, next to the references, where the captions file is public."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
from django.urls import reverse

from captious.data import References
from captious.errors import CaptiousError
from captious.evaluation import explained_by, explained_parts
from captious.text import NLTK_STOP_WORDS, porter_stem
from captious_server.boards.query import Query
from captious_server.boards.ranking import rounded_array, rounded_values
from captious_server.challenges import references as reference_cache
from captious_server.challenges.definition import public_label
from captious_server.models import Submission
from captious_server.scoring.results import read_results
from captious_server.submissions import storage
from captious_server.submissions.reading import WORD

# The words that a candidate shares with the references, for pages that color them.


@dataclass(frozen=True)
class Piece:
    """A piece of a candidate.

    Args:
        text: the original text.
        agreement: share of references with the word: "none", "some", or "most" for at least half of them; "" for stop
            words and text between words.
        count: number of references with the word.
    """

    text: str
    agreement: str = ""
    count: int = 0


def pieces(candidate: str, references: Sequence[str]) -> list[Piece]:
    """Split a candidate into pieces. Words agree if their stems are equal."""
    counts = Counter(stem for reference in references for stem in {*map(_stem, WORD.findall(reference))})
    words = [*WORD.finditer(candidate)]
    bounds = [0, *(end for match in words for end in match.span()), len(candidate)]
    result = []
    for i, (start, end) in enumerate(pairwise(bounds)):
        text = candidate[start:end]
        is_word = i % 2 == 1 and any(map(str.isalnum, text)) and text.lower() not in NLTK_STOP_WORDS
        if is_word:
            n = counts[_stem(text)]
            result.append(Piece(text, "none" if n == 0 else "most" if 2 * n >= len(references) else "some", n))
        elif text:
            result.append(Piece(text))
    return result


def has_word(word: str, texts: Sequence[str]) -> bool:
    """Return whether one of the texts has a word, in any of its forms."""
    stem = _stem(word)
    return any(stem in map(_stem, WORD.findall(text)) for text in texts if stem[:1] in text.lower())


def _stem(word: str) -> str:
    return porter_stem(word.lower())


# Images as pages show them: their captions, scores and explanations.

#: How the captions can be sorted.
ORDERS = ("lowest", "highest", "difference", "image")
_EXPLANATION_COLUMNS = 100  # columns of a textual explanation
_EXPLANATION_DIGITS = 4  # digits of its numbers


@dataclass(frozen=True)
class CaptionView:
    """The request for captions in some order, read from its address and checked.

    Args:
        query: the query of the board.
        submissions: the selected submissions.
        by: the output to sort by.
        order: one of ``ORDERS``. With several submissions, "lowest" and "highest" go by their mean, "difference" by the
            distance between the best and the worst. Images without a score are last.
        word: only images with this word in a candidate or reference; "" for all.
        least, most: bounds of the mean score.
        apart: the minimum difference between best and worst score.
    """

    query: Query
    submissions: Sequence[Submission]
    by: str
    order: str = "lowest"
    word: str = ""
    least: float | None = None
    most: float | None = None
    apart: float | None = None

    @property
    def parameters(self) -> str:
        """The query string of an address."""
        bounds = {"word": self.word, "least": self.least, "most": self.most, "apart": self.apart}
        values = {
            "by": self.by,
            "order": self.order,
            **{name: value for name, value in bounds.items() if value not in ("", None)},
        }
        systems = [("systems", submission.pk) for submission in self.submissions]
        return f"{self.query.parameters}&{urlencode([*values.items(), *systems])}"

    @property
    def is_filtered(self) -> bool:
        return bool(self.word) or any(bound is not None for bound in (self.least, self.most, self.apart))


@dataclass(frozen=True)
class ShownCaption:
    """A candidate of a submission for an image, with its score, which may be None."""

    submission: Submission
    caption: str
    score: float | None
    pieces: Sequence[Piece] = ()


@dataclass(frozen=True)
class Explanation:
    """An explanation of the score of a candidate.

    Args:
        submission: the submission of the candidate.
        metric: name of the metric, with variant and parameters.
        drawn: values and layout of the explanation, or
        text: the explanation as text.
        problem: the reason why there is none.
    """

    submission: Submission
    metric: str
    drawn: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    problem: str = ""

    @property
    def needs_width(self) -> bool:
        """Whether half a page is too narrow: for links between words, graphs and matrices."""
        return _needs_width(self.drawn.get("layout", {}).get("blocks", ()))


def _needs_width(blocks: Iterable[Mapping[str, Any]]) -> bool:
    return any(
        block["block"] in ("graph", "matrix") or block.get("linked") or _needs_width(block.get("blocks", ()))
        for block in blocks
    )


@dataclass(frozen=True)
class CaptionRow:
    """An image with its references and candidates."""

    id: Any
    image_url: str
    url: str
    references: list[str]
    candidates: list[ShownCaption]


def positions_of(view: CaptionView) -> np.ndarray[Any, Any]:
    """The positions of the images that pass the filters, int[n_images], in the requested order."""
    query, columns = (
        view.query,
        (_column(submission, view.query, view.by) for submission in view.submissions),
    )
    scores = [column for column in columns if column is not None]
    n = len(_references(query))
    mean = apart = np.full(n, np.nan)
    if scores:
        matrix = np.stack(scores)
        mean, apart = matrix.mean(axis=0), matrix.max(axis=0) - matrix.min(axis=0)
    selection = np.ones(n, dtype=np.bool_)
    for values, bound, sign in ((mean, view.least, 1), (mean, view.most, -1), (apart, view.apart, 1)):
        if bound is not None:
            selection &= sign * values >= sign * bound  # False for nan
    if view.word:
        selection &= np.fromiter((has_word(view.word, texts) for texts in _texts(view)), np.bool_, n)
    if view.order == "image" or not scores:
        return np.flatnonzero(selection)
    keys = {"lowest": mean, "highest": -mean, "difference": -apart}[view.order]
    order = np.argsort(np.where(np.isnan(keys), np.inf, keys), kind="stable")
    return order[selection[order]]


def _texts(view: CaptionView) -> Iterator[list[str]]:
    """All texts of each image, for filtering by words."""
    table, captions = _references(view.query), view.query.references.captions
    candidates = [_candidates(submission.folder, captions) for submission in view.submissions]
    for image, (start, end) in zip(table.ids, pairwise(table.offsets.tolist()), strict=True):
        yield [*table.texts[start:end], *(texts.get(image, "") for texts in candidates)]


def rows_of(view: CaptionView, positions: Sequence[int]) -> list[CaptionRow]:
    """The images at these positions."""
    return [_row(view, int(position)) for position in positions]


def caption_row(view: CaptionView, image: str) -> CaptionRow | None:
    """The row of one image; None if the reference set has no image with this id."""
    table = _references(view.query)
    position = next((i for i, id in enumerate(table.ids) if str(id) == image), None)
    return None if position is None else _row(view, position)


def neighbors(view: CaptionView, image: Any) -> tuple[str, str]:
    """The addresses of the previous and next image; "" if there is none or the image itself is filtered out."""
    table, positions = _references(view.query), positions_of(view).tolist()
    position = table.ids.index(image)
    if position not in positions:
        return "", ""
    index = positions.index(position)
    before, after = ([None, *positions, None][place] for place in (index, index + 2))
    return _url(view, before), _url(view, after)


def scores_of(query: Query, submission: Submission, image: Any) -> dict[str, float]:
    """The scores of one image in all outputs, beginning with the one that ranks the board."""
    results = read_results(submission.results_path, query.key)
    if results is None:
        return {}
    position = _references(query).ids.index(image)
    scores = rounded_array(results.per_caption[position], query.phase.digits)
    pairs = zip(results.outputs, scores.tolist(), strict=True)
    return dict(sorted(pairs, key=lambda pair: pair[0] != query.output))


def explanations(query: Query, row: CaptionRow, *, as_text: bool = False) -> list[Explanation]:
    """Explanations of the scores by each metric that has them, the ranking one first; none in a phase
    that shows scores with fewer digits than explanations have.

    Args:
        as_text: whether to return text for browsers without scripts instead of drawings.
    """
    if query.phase.digits < _EXPLANATION_DIGITS:
        return []
    entries = reference_cache.selection(query.challenge, threads=1)
    labels_and_metrics = [([*map(public_label, entry.output_indices)], entry.metric) for entry in entries]
    metrics = {
        part.signatures()[0]: (name, part)
        for labels, metric in sorted(labels_and_metrics, key=lambda pair: query.output not in pair[0])
        for name, part in explained_parts(metric, labels[0]).items()
    }
    return [
        _explanation(name, metric, candidate, row.references, query, as_text)
        for name, metric in metrics.values()
        for candidate in row.candidates
    ]


def _explanation(
    name: str, metric: Any, candidate: ShownCaption, references: list[str], query: Query, as_text: bool
) -> Explanation:
    try:
        reference_set = query.phase.reference_sets[query.key]
        state = {"state": reference_cache.state(query.challenge, reference_set, metric)} if metric.needs_fit else {}
        explanation = explained_by(metric, candidate.caption, references, **state)
    except CaptiousError as error:  # a missing resource: the page is useful without it
        return Explanation(candidate.submission, name, problem=str(error))
    if as_text:
        text = explanation.to_text(width=_EXPLANATION_COLUMNS)
        return Explanation(candidate.submission, name, text=text)
    drawn = explanation.to_drawing()
    return Explanation(
        candidate.submission, name, {**drawn, "values": rounded_values(drawn["values"], query.phase.digits)}
    )


def _row(view: CaptionView, position: int) -> CaptionRow:
    query, table = view.query, _references(view.query)
    image = table.ids[position]
    start, end = table.offsets[position : position + 2].tolist()
    references = list(table.texts[start:end])
    candidates = []
    for submission in view.submissions:
        column = _column(submission, query, view.by)
        score = None if column is None or np.isnan(column[position]) else float(column[position])
        caption = _candidates(submission.folder, query.references.captions).get(image, "")
        candidates.append(ShownCaption(submission, caption, score, pieces(caption, references)))
    return CaptionRow(
        id=image,
        image_url=query.challenge.definition.url_of(image),
        url=_url(view, position),
        references=references,
        candidates=candidates,
    )


def _url(view: CaptionView, position: int | None) -> str:
    """The address of an image's page."""
    if position is None:
        return ""
    image = _references(view.query).ids[position]
    address = reverse("captious:caption", args=[view.query.challenge.slug, str(image)])
    return f"{address}?{view.parameters}"


def _references(query: Query) -> References:
    return reference_cache.references(query.challenge, query.phase.reference_sets[query.key])


def _column(submission: Submission, query: Query, output: str) -> np.ndarray[Any, Any] | None:
    results = read_results(submission.results_path, query.key)
    if results is None or output not in results.outputs:
        return None
    return rounded_array(results.per_caption[:, results.outputs.index(output)], query.phase.digits)


@lru_cache(maxsize=8)
def _candidates(folder: Path, captions: str) -> dict[Any, str]:
    return storage.candidates_in(folder, captions)
