"""The C++ kernels and their typed Python face.

They know arrays of integers and UTF-8 strings, nothing of images or systems. Every kernel releases the GIL and
gives the same bits whatever the number of threads.
"""

from __future__ import annotations

import os

from captious.errors import ParameterError
from captious.native._kernels import (
    CiderReferences,
    Cut,
    MeteorLexicon,
    MeteorTablesCompiler,
    NgramFrequencies,
    Pcfg,
    ReferenceNgrams,
    Vocabulary,
    bleu_statistics,
    find_words,
    kendall_exchanged,
    kendall_resampled,
    lcs_lengths,
    mean_vectors,
    meteor_alignment,
    meteor_counts,
    meteor_normalise,
    nearest_word_movers,
    ngram_matches,
    parse_vector_lines,
    skip_bigram_matches,
    sorted_words,
    subword_buckets,
    transport_plan,
    visible_nodes,
    word_distances,
    word_mover_distances,
)

__all__ = [
    "CiderReferences",
    "Cut",
    "MeteorLexicon",
    "MeteorTablesCompiler",
    "NgramFrequencies",
    "Pcfg",
    "ReferenceNgrams",
    "Vocabulary",
    "bleu_statistics",
    "find_words",
    "kendall_exchanged",
    "kendall_resampled",
    "lcs_lengths",
    "mean_vectors",
    "meteor_alignment",
    "meteor_counts",
    "meteor_normalise",
    "nearest_word_movers",
    "ngram_matches",
    "parse_vector_lines",
    "skip_bigram_matches",
    "sorted_words",
    "subword_buckets",
    "threads",
    "transport_plan",
    "visible_nodes",
    "word_distances",
    "word_mover_distances",
]

_MOST_THREADS = 1024


def threads() -> int:
    """Number of threads that kernels use: ``CAPTIOUS_THREADS`` if it is set, otherwise the cores of this process.

    Raises:
        ParameterError: ``CAPTIOUS_THREADS`` is no number of threads.
    """
    wanted = os.environ.get("CAPTIOUS_THREADS", "")
    if wanted.isdecimal() and 0 < int(wanted) <= _MOST_THREADS:
        return int(wanted)
    if wanted:
        raise ParameterError(
            f"CAPTIOUS_THREADS is {wanted!r}", help=f"set it to a number of threads, 1 to {_MOST_THREADS:,}"
        )
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
