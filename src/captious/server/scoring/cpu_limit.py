"""The processor time granted to a submission: in proportion to its captions, however busy the machine is.

Seconds of one core for a million words, measured on captions of val2014 with annotated references (AMD EPYC, shared):

    captions                        BLEU, ROUGE-L, CIDEr-D   METEOR     SPICE, HWCM
    real ones, 10 words                    1 to 5               5        17 to 20
    random words, 10 in a caption             1                 3        39 to 60
    random words, 30                       1 to 2               3       150 to 180
    random words, 75                       1 to 2               3     1,100 to 1,600
    random words, 150                      1 to 3               6         2,300

Parsing takes the third power of the length of a caption, so real captions are far from a limit that sentences of random
words reach.
"""

from __future__ import annotations

from django.conf import settings

from captious.metrics.contract.selection import Selection

#: Metrics with one of these parameters parse captions, or run a model on them.
_COSTLY_PARAMETERS = {"parser", "model", "vectors"}


def cpu_limit(metrics: Selection, n_words: int) -> float:
    """Seconds of processor time in which a submission must be scored.

    Args:
        n_words: of all captions, once for each reference set that they are scored with.
    """
    n_slow = sum(not _COSTLY_PARAMETERS.isdisjoint(entry.metric.parameters) for entry in metrics)
    # Other metrics have a tenth of the time.
    weight = n_slow + (len(metrics) - n_slow) / 10
    per_word = settings.CAPTIOUS.scoring_cpu_seconds_per_million_words / 1e6
    return float(settings.CAPTIOUS.scoring_cpu_seconds + weight * per_word * n_words)
