"""``score``: metrics run over the captions of a system."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from captious.data import Captions, load
from captious.evaluation.caption_warnings import CaptiousWarning, caption_warnings
from captious.evaluation.report import Report, Result, Statistics
from captious.metrics.contract.metric import Metric
from captious.metrics.contract.selection import Selection, select
from captious.metrics.contract.settings import Settings
from captious.native import using_threads
from captious.progress import steps

__all__ = ["evaluate", "score", "with_references"]


def score(
    candidates: object,
    references: object = None,
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    *,
    settings: Settings | None = None,
    system: str = "candidates",
    subset: bool = False,
) -> Report:
    """Score the captions of one system.

    Args:
        candidates: a path, mapping, sequence or data frame; ``captious.data.read_rows`` lists the forms. ``Captions``,
            as ``captious.load`` returns them, need no references.
        references: likewise, or the result of ``captious.read_references``, which systems can share.
        metrics: names (``bleu-4``, ``bleu``, ``cider-d@paper``, ``rouge-s:gap=2``) or metrics; None for the metrics of
            the COCO evaluation that can run here.
        settings: settings of all metrics that are requested by name: tokenizer, model, word vectors, parser, ...
        system: name of the system.
        subset: score only the images that both sides have; otherwise, a difference is an error.

    Returns:
        Corpus and caption scores. Misleading results are listed in ``warnings`` and issued as CaptiousWarning.

    Raises:
        InputError: invalid captions.
        UnknownNameError: no such metric or variant.
        ParameterError: a setting that no requested metric uses.
    """
    selection = select(metrics, settings)
    if not isinstance(candidates, Captions) or references is not None:
        candidates = load(candidates, references, subset=subset)
    report = evaluate(candidates, selection, system=system)
    for warning in report.warnings:
        warnings.warn(warning, CaptiousWarning, stacklevel=2)
    return report


def evaluate(captions: Captions, selection: Selection, *, system: str = "candidates") -> Report:
    """Run metrics over captions that are already matched with their references."""
    references_as = selection.settings.references_as
    results: dict[str, Result] = {}
    found = [*selection.warnings]
    if any(each.metric.needs_references for each in selection):
        found += caption_warnings(captions)
    seen = captions.concatenated if references_as == "cat" else captions
    store = seen.references.stored
    not_stored: list[str] = []
    named = steps(selection, lambda each: f"{system}: {each.metric.name}")
    with using_threads(selection.settings.threads), named as chosen:
        for each in chosen:
            metric = each.metric
            missed = store.n_missed if store is not None else 0
            state = metric.fit(seen.references)
            statistics = Statistics(metric, metric.statistics(seen, state))
            signatures = [with_references(signature, references_as) for signature in metric.signatures(state)]
            for label, column in each.columns.items():
                results[label] = Result(label, signatures[column], statistics, column)
            found += [warning for warning in metric.warnings(seen, state) if warning not in found]
            if store is not None and store.n_missed > missed:
                not_stored.append(metric.name)
    if store is not None and not_stored:
        found.append(store.advice(not_stored))
    return Report(system, captions, results, found)


def with_references(signature: str, references_as: str) -> str:
    """The signature with how references were given, which is omitted if each was given separately."""
    if references_as == "each":
        return signature
    parameters, _, version = signature.rpartition("|")
    return f"{parameters}|references:{references_as}|{version}"
