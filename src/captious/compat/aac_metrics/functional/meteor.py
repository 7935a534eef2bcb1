"""METEOR as a function, ``aac_metrics.functional.meteor``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from captious.compat.aac_metrics.inputs import Outs, outs, table
from captious.errors import ParameterError
from captious.metrics import meteor as metric
from captious.text import SPACES

__all__ = ["meteor"]

_PARAMETERS = ("alpha", "beta", "gamma", "delta")
_MODULES = ("exact", "stem", "synonym", "paraphrase")


def meteor(
    candidates: list[str],
    mult_references: list[list[str]],
    return_all_scores: bool = True,
    *,
    cache_path: object = None,
    java_path: object = None,
    java_max_memory: str = "2G",
    language: str = "en",
    use_shell: bool | None = None,
    params: Iterable[float] | None = None,
    weights: Iterable[float] | None = None,
    verbose: int = 0,
) -> Outs:
    """METEOR 1.5.

    Args:
        candidates: one for each sound.
        mult_references: for each of them, its references.
        return_all_scores: whether to return the scores of sentences, too.
        cache_path, java_path, java_max_memory, use_shell, verbose: ignored.
        language: "en".
        params: alpha, beta, gamma and delta.
        weights: of exact matches, stems, synonyms and paraphrases.

    Returns:
        Corpus scores and scores of sentences by name, ``meteor``; or the corpus score alone.

    Raises:
        ValueError: captions in another form, or not four numbers.
        ParameterError: another language, or a number out of range.
        MissingExtraError: METEOR's tables are not installed.
    """
    if language != "en":
        raise ParameterError(f"METEOR for {language!r} is not supported", help='use language="en"')
    settings: dict[str, Any] = _named(_PARAMETERS, params, "params")
    if weights is not None:
        settings["modules"] = _named(_MODULES, weights, "weights")
    scorer = metric.Meteor(tokenizer=SPACES, **settings)
    statistics = scorer.statistics(table(candidates, mult_references))
    corpus = float(scorer.aggregate(statistics.sum(axis=0))[0])
    return outs(return_all_scores, meteor=(corpus, scorer.aggregate(statistics)[:, 0]))


def _named(names: tuple[str, ...], numbers: Iterable[float] | None, argument: str) -> dict[str, float]:
    if numbers is None:
        return {}
    found = list(numbers)
    if len(found) != len(names):
        raise ValueError(f"Invalid argument {argument}={found}. (expected 4 numbers but found {len(found)})")
    return dict(zip(names, found, strict=True))
