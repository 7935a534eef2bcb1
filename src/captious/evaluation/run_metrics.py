"""``score``: metrics run over the captions of a system."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from captious.data import Captions, load
from captious.errors import ParameterError, UnknownNameError
from captious.evaluation.cautions import CaptiousWarning, cautions
from captious.evaluation.report import Report, Result, Statistics
from captious.metrics.contract.metric import Metric, Settings
from captious.metrics.contract.registry import COCO, Selection, available, select
from captious.metrics.shared.document_frequencies import DocumentFrequencies
from captious.models import Encoder, WordVectors
from captious.models.encoders import as_encoder
from captious.parsing.parse_sources import as_parse_source
from captious.parsing.parsed_captions import ParseSource
from captious.text import Tokenizer

__all__ = ["REFERENCES_AS", "Step", "evaluate", "score", "selections"]

#: Told what is about to be done: one call for every metric, or for every output that is tested.
Step: TypeAlias = Callable[[str], None]

#: How metrics get the references of an image: each for itself, or all as one text.
REFERENCES_AS = ("each", "cat")


def score(
    candidates: object,
    references: object,
    metrics: Iterable[str | Metric] | None = None,
    *,
    system: str = "candidates",
    subset: bool = False,
    tokenizer: str | Tokenizer | Callable[[str], Sequence[str]] | None = None,
    idf: DocumentFrequencies | str | os.PathLike[str] | None = None,
    images: str | os.PathLike[str] | None = None,
    model: Encoder | str | None = None,
    parser: ParseSource | str | os.PathLike[str] | None = None,
    vectors: WordVectors | str | os.PathLike[str] | None = None,
    references_as: str = "each",
) -> Report:
    """Score the captions of one system.

    Args:
        candidates: a path, mapping, sequence or data frame; ``captious.data.read_rows`` lists the forms.
        references: likewise, or what ``captious.read_references`` returned, which systems can share.
        metrics: names (``bleu-4``, ``bleu``, ``cider-d@paper``, ``rouge-s:gap=2``) or metrics; None for the COCO set
            that can run here.
        system: what to call the system.
        subset: score the images that both sides have, where otherwise a difference is an error.
        tokenizer: for metrics asked for by name: "ptb" (the default), "ptb-raw", "whitespace", or a function.
        idf: document frequencies for CIDEr, or a file of them; None to count the references at hand.
        images: the folder of image files, named by image id, for metrics that look at the images.
        model: for metrics on contextual encoders that are asked for by name: a model on the Hugging Face hub, a folder,
            or ``captious.Encoder``, which also says on which device; None for each metric's own.
        parser: where metrics on parses that are asked for by name get them from: the grammar "corenlp" or "captious",
            or a file of parses made elsewhere; None for the best grammar at hand.
        vectors: for metrics on word vectors that are asked for by name: ``captious.WordVectors``, the name that
            ``captious vectors add`` gave, or a file; None for the default.
        references_as: "each" reference of an image for itself, or all concatenated to one ("cat").

    Returns:
        Corpus and caption scores. What is legal but misleading is in ``warnings`` and issued as a CaptiousWarning.

    Raises:
        InputError: something about the captions.
        UnknownNameError: no such metric, variant or tokenizer.
        ParameterError: settings that contradict each other.
    """
    chosen = selections(
        metrics, tokenizer=tokenizer, idf=idf, images=images, model=model, parser=parser, vectors=vectors
    )
    captions = load(candidates, references, subset=subset)
    report = evaluate(captions, chosen, system=system, references_as=references_as)
    for warning in report.warnings:
        warnings.warn(warning, CaptiousWarning, stacklevel=2)
    return report


def selections(
    metrics: Iterable[str | Metric] | None = None,
    *,
    tokenizer: str | Tokenizer | Callable[[str], Sequence[str]] | None = None,
    idf: DocumentFrequencies | str | os.PathLike[str] | None = None,
    images: str | os.PathLike[str] | None = None,
    model: Encoder | str | None = None,
    parser: ParseSource | str | os.PathLike[str] | None = None,
    vectors: WordVectors | str | os.PathLike[str] | None = None,
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
    encoder = None if model is None else as_encoder(model)
    source = None if parser is None else as_parse_source(parser)
    words = vectors if vectors is None or isinstance(vectors, WordVectors) else WordVectors.open(vectors)
    chosen = select(asked, Settings(tokenizer, frequencies, encoder, images, source, words))
    if frequencies is not None and not any(getattr(s.metric, "idf", None) is frequencies for s in chosen):
        raise ParameterError(
            "document frequencies are given, but no metric asked for uses them",
            where=f"idf {frequencies.label}",
            help="leave idf out, or ask for cider or cider-d",
        )
    if encoder is not None and not any(selection.metric.uses_model for selection in chosen):
        raise ParameterError(
            "a model is given, but no metric asked for uses one",
            where=f"model {encoder.model}",
            help="leave model out, or ask for bertscore, yi2020, mima, spurts, smurf or clipscore",
        )
    if words is not None and not any(getattr(s.metric, "vectors", None) is not None for s in chosen):
        raise ParameterError(
            "word vectors are given, but no metric asked for uses them",
            where=f"vectors {words.label}",
            help="leave vectors out, or ask for wmd, mowe or wembsim",
        )
    if images is not None and not any(hasattr(s.metric, "images") for s in chosen):
        raise ParameterError(
            "a folder of images is given, but no metric asked for looks at them",
            where=f"images {images}",
            help="leave images out, or ask for clipscore or refclipscore",
        )
    if parser is not None and not any(hasattr(s.metric, "parser") for s in chosen):
        raise ParameterError(
            "parses are given, but no metric asked for uses them",
            where=f"parser {parser if isinstance(parser, str | os.PathLike) else parser.label}",
            help="leave the parses out, or ask for spice, spider or hwcm",
        )
    return chosen


def evaluate(
    captions: Captions,
    chosen: Sequence[Selection],
    *,
    system: str = "candidates",
    references_as: str = "each",
    on_step: Step | None = None,
) -> Report:
    """Run metrics over captions that are already side by side; ``references_as`` as in ``score``.

    Raises:
        UnknownNameError: no such way of giving references.
    """
    if references_as not in REFERENCES_AS:
        raise UnknownNameError(
            f"references cannot be given as {references_as!r}", help=f"give them as {' or '.join(REFERENCES_AS)}"
        )
    results: dict[str, Result] = {}
    found = cautions(captions) if any(selection.metric.needs_references for selection in chosen) else []
    seen = captions.concatenated if references_as == "cat" else captions
    for selection in chosen:
        metric = selection.metric
        if on_step is not None:
            on_step(f"{system}: {metric.name}")
        state = metric.fit(seen.references)
        statistics = Statistics(metric, metric.statistics(seen, state))
        signatures = [_with_references(each, references_as) for each in metric.signatures(state)]
        for label, column in selection.columns.items():
            results[label] = Result(label, signatures[column], statistics, column)
        found += [caution for caution in metric.cautions(seen, state) if caution not in found]
    return Report(system, captions, results, found)


def _with_references(signature: str, references_as: str) -> str:
    """The signature with how references were given, which is left unsaid if each was for itself."""
    if references_as == "each":
        return signature
    parameters, _, version = signature.rpartition("|")
    return f"{parameters}|references:{references_as}|{version}"
