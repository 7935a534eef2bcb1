"""METEOR: the alignment of each candidate with the reference that determines its score."""

from __future__ import annotations

from typing import Any

import numpy as np

from captious.metrics.meteor import Meteor
from captious.report.page.explanations.explained import Explained
from captious.text.meteor_words import MeteorLayer


def pack(metric: Meteor, explained: Explained) -> dict[str, Any]:
    """Pack, per system, the reference, precision and recall of each image, and the matches of all images.

    A match is five numbers: the gap to the previous match in the candidate (which may be negative), its number of words
    there, the same for the reference, and its module.
    """
    columns = explained.columns
    table, _ = explained.tokens(MeteorLayer(metric.tokenizer, metric.tables))
    systems = []
    for report in explained.reports:
        captions = report.single_captions
        first = captions.references.offsets[explained.rows]
        best, statistics = metric.best_references(captions)
        precision, recall, _ = metric.parts(statistics[explained.rows])
        links = [*metric.best_alignments(captions, explained.rows.tolist())]
        counts = [len(matches) for matches in links]
        flat = np.concatenate(links) if links else np.empty((0, 5), np.int32)
        begins = np.concatenate([[True], np.diff(np.repeat(np.arange(len(counts)), counts)) > 0])[: len(flat)]
        gaps = [_gaps(flat[:, start], flat[:, start + 1], begins) for start in (0, 2)]
        systems.append(
            {
                "reference": columns.integers(best[explained.rows] - first),
                "precision": columns.numbers(np.nan_to_num(precision)),
                "recall": columns.numbers(np.nan_to_num(recall)),
                "counts": columns.integers(counts),
                "gaps": columns.integers(gaps[0]),
                "lengths": columns.integers(flat[:, 1]),
                "reference_gaps": columns.integers(gaps[1]),
                "reference_lengths": columns.integers(flat[:, 3]),
                "modules": columns.integers(flat[:, 4]),
            }
        )
    return {"table": table, "systems": systems}


def _gaps(starts: Any, lengths: Any, begins: Any) -> Any:
    """Return the words between the end of a match and the start of the next one; for the first match of a caption,
    before it.
    """
    ends = np.concatenate([[0], (starts + lengths)[:-1]])[: len(starts)]
    return starts - np.where(begins, 0, ends)
