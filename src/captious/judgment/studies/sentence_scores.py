"""Distributions of scores of metrics without references, over files of plain sentences.

Feinglass and Yang 2021 (SMURF), figure 5, for MIMA.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from captious.data import Captions, read_captions
from captious.errors import CaptionFileError, ParameterError
from captious.files.decompression import user_text
from captious.judgment.scores.metric_scores import Metrics, all_warnings, as_selection, score_captions
from captious.judgment.studies.score_distributions import SUMMARY, cumulative, summary
from captious.judgment.studies.shared.study_sources import checksums
from captious.judgment.study_result import Study
from captious.metrics.contract.settings import Settings
from captious.progress import steps


def sentence_scores(systems: Mapping[str, object], metrics: Metrics, *, settings: Settings | None = None) -> Study:
    """Return means and quantiles of the scores of sentences, without references.

    Args:
        systems: sentences by name of their source: a .txt file with one per line, or any supported form of candidates.
        metrics, settings: as for ``judge``; metrics that need no references.

    Returns:
        One record per metric and source: metric, sentences_of, sentences, mean, sd, quantiles ("q05" to "q95"); and a
        picture of the distributions of each metric.

    Raises:
        ParameterError: no sentences, or a metric that needs references.
        Others as ``captious.score``, about captions and metrics.
    """
    if not systems:
        raise ParameterError("there are no sentences", help="give at least one file of sentences")
    selection = as_selection(metrics, settings)
    captions = {name: _sentences(source) for name, source in systems.items()}
    if few := [name for name, table in captions.items() if len(table) < 2]:
        raise ParameterError(f"{few[0]} has fewer than two sentences", help="distributions need several")
    with steps([*captions], str) as names:
        reports = {name: score_captions(captions[name], selection, name=name) for name in names}
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
        notes=[f"Lower scores are better for {', '.join(selection.lower_is_better)}."]
        if selection.lower_is_better
        else [],
        warnings=all_warnings(reports.values()),
    )


def _sentences(source: object) -> Captions:
    """Return the captions of a source; for a .txt file without tabs, its lines (Flickr8k's tokens have tabs)."""
    if isinstance(source, str | os.PathLike) and os.fspath(source).endswith((".txt", ".txt.gz")):
        text = user_text(source, "sentences", "write one sentence on every line", CaptionFileError)
        if "\t" not in text:
            return read_captions(dict(enumerate((line.strip() for line in text.split("\n") if line.strip()), 1)))
    return read_captions(source)
