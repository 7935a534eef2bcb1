"""The C++ kernels and their typed Python interface.

They work on arrays of numbers and UTF-8 text, and know nothing about files, metrics or systems. Kernels that take long
release the GIL, and all give the same bits whatever the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from captious.errors import ParameterError
from captious.native._kernels import (
    CiderReferences,
    Marks,
    MeteorLexicon,
    MeteorTablesCompiler,
    NgramFrequencies,
    Pcfg,
    ReferenceNgrams,
    TokenizerRule,
    Vocabulary,
    bleu_statistics,
    bleu_statistics_within,
    closest_words,
    distinct_ngrams,
    find_words,
    json_columns,
    json_outline,
    kendall_exchanged,
    kendall_resampled,
    lcs_lengths,
    mean_vectors,
    meteor_alignment,
    meteor_counts,
    meteor_normalize,
    nearest_word_mover_distances,
    ngram_matches,
    parse_vector_lines,
    skip_bigram_matches,
    sorted_words,
    subsequence_places,
    subword_buckets,
    transport_plan,
    visible_nodes,
    word_distances,
    word_mover_distances,
)

__all__ = [
    "MOST_THREADS",
    "CiderReferences",
    "Marks",
    "MeteorLexicon",
    "MeteorTablesCompiler",
    "NgramFrequencies",
    "Pcfg",
    "ReferenceNgrams",
    "TokenizerRule",
    "Vocabulary",
    "bleu_statistics",
    "bleu_statistics_within",
    "closest_words",
    "distinct_ngrams",
    "find_words",
    "json_columns",
    "json_outline",
    "kendall_exchanged",
    "kendall_resampled",
    "lcs_lengths",
    "mean_vectors",
    "meteor_alignment",
    "meteor_counts",
    "meteor_normalize",
    "nearest_word_mover_distances",
    "ngram_matches",
    "parse_vector_lines",
    "skip_bigram_matches",
    "sorted_words",
    "subsequence_places",
    "subword_buckets",
    "threads",
    "transport_plan",
    "using_threads",
    "visible_nodes",
    "word_distances",
    "word_mover_distances",
]

#: The most threads that can be asked for.
MOST_THREADS = 1024

_number: ContextVar[int | None] = ContextVar("threads", default=None)


@contextmanager
def using_threads(number: int | None) -> Iterator[None]:
    """Let kernels use a number of threads within the block; None changes nothing."""
    if number is None:
        yield
        return
    token = _number.set(number)
    try:
        yield
    finally:
        _number.reset(token)


def threads() -> int:
    """Number of threads that kernels use: what ``using_threads`` says, ``CAPTIOUS_THREADS``, or the available cores.

    Raises:
        ParameterError: ``CAPTIOUS_THREADS`` is not a number of threads.
    """
    if (number := _number.get()) is not None:
        return number
    setting = os.environ.get("CAPTIOUS_THREADS", "")
    if setting.isdecimal() and 0 < int(setting) <= MOST_THREADS:
        return int(setting)
    if setting:
        raise ParameterError(
            f"invalid CAPTIOUS_THREADS: {setting!r}", hint=f"set it to a number of threads, 1 to {MOST_THREADS:,}"
        )
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
