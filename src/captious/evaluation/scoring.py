"""``score``: metrics run over the captions of a system."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from captious.data import Captions, load
from captious.errors import ParameterError
from captious.evaluation.cautions import CaptiousWarning, cautions
from captious.evaluation.report import Report, Result, Statistics
from captious.metrics.base import Metric, Settings
from captious.metrics.document_frequencies import DocumentFrequencies
from captious.metrics.registry import COCO, Selection, available, select
from captious.text import Tokenizer

__all__ = ["Step", "evaluate", "score", "selections"]

#: Told what is about to be done: one call for every metric, or for every output that is tested.
Step: TypeAlias = Callable[[str], None]


def score(
    candidates: object,
    references: object,
    metrics: Iterable[str | Metric] | None = None,
    *,
    system: str = "candidates",
    subset: bool = False,
    tokenizer: str | Tokenizer | Callable[[str], Sequence[str]] | None = None,
    idf: DocumentFrequencies | str | os.PathLike[str] | None = None,
) -> Report:
    """Score the captions of one system.

    Args:
        candidates: a path, mapping, sequence or data frame; ``captious.data.read_rows`` lists the forms.
        references: likewise, or what ``captious.read_references`` returned, which systems can share.
        metrics: names (``bleu-4``, ``bleu``, ``cider-d@paper``) or metrics; None for the COCO set that can run here.
        system: what to call the system.
        subset: score the images that both sides have, where otherwise a difference is an error.
        tokenizer: for metrics asked for by name: "ptb" (the default), "ptb-raw", "whitespace", or a function.
        idf: document frequencies for CIDEr, or a file of them; None to count the references at hand.

    Returns:
        Corpus and caption scores. What is legal but misleading is in ``warnings`` and issued as a CaptiousWarning.

    Raises:
        InputError: something about the captions.
        UnknownNameError: no such metric, variant or tokenizer.
        ParameterError: settings that contradict each other.
    """
    chosen = selections(metrics, tokenizer=tokenizer, idf=idf)
    captions = load(candidates, references, subset=subset)
    report = evaluate(captions, chosen, system=system)
    for warning in report.warnings:
        warnings.warn(warning, CaptiousWarning, stacklevel=2)
    return report


def selections(
    metrics: Iterable[str | Metric] | None = None,
    *,
    tokenizer: str | Tokenizer | Callable[[str], Sequence[str]] | None = None,
    idf: DocumentFrequencies | str | os.PathLike[str] | None = None,
) -> list[Selection]:
    """The metrics of a run with its settings; arguments and errors are those of ``score``."""
    if isinstance(metrics, str | Metric):
        metrics = [metrics]
    asked = available(COCO)[0] if metrics is None else list(metrics)
    frequencies = DocumentFrequencies.load(idf) if isinstance(idf, str | os.PathLike) else idf
    if not isinstance(frequencies, DocumentFrequencies | None):
        raise ParameterError(
            f"a {type(idf).__name__} holds no document frequencies",
            help="give a file of 'captious idf build', or captious.DocumentFrequencies",
        )
    chosen = select(asked, Settings(tokenizer, frequencies))
    if frequencies is not None and not any(getattr(s.metric, "idf", None) is frequencies for s in chosen):
        raise ParameterError(
            "document frequencies are given, but no metric asked for uses them",
            where=f"idf {frequencies.label}",
            help="leave idf out, or ask for cider or cider-d",
        )
    return chosen


def evaluate(
    captions: Captions, chosen: Sequence[Selection], *, system: str = "candidates", on_step: Step | None = None
) -> Report:
    """Run metrics over captions that are already side by side."""
    results: dict[str, Result] = {}
    found = cautions(captions)
    for selection in chosen:
        metric = selection.metric
        if on_step is not None:
            on_step(f"{system}: {metric.name}")
        state = metric.fit(captions.references)
        statistics = Statistics(metric, metric.statistics(captions, state))
        signatures = metric.signatures(state)
        for label, column in selection.columns.items():
            results[label] = Result(label, signatures[column], statistics, column)
        found += [caution for caution in metric.cautions(captions, state) if caution not in found]
    return Report(system, captions, results, found)
