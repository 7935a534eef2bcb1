"""LSA diversity: the number of directions spanned by the word counts of an image's candidates.

Wang and Chan 2019 ("Describing like humans: on diversity in image captioning", CVPR), and their code, DiversityMetrics.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import CaptionSets
from captious.metrics.contract.metric import State
from captious.metrics.contract.set_metrics import SetMeanMetric
from captious.metrics.shared.spectra import check_candidates, spread
from captious.text import WordLayer

_BATCH = 20_000  # candidates whose matrices are in memory at a time


class Lsa(SetMeanMetric):
    """LSA diversity, 0 to 1, higher is more diverse. The corpus score is the mean over images.

    With the singular values s of the matrix of word counts, words by captions, and m candidates, the score is
    -ln(max s / sum s) / ln m: 0 for captions with the same words, 1 for captions of equal length that share none.
    Images with one candidate, or without words, have no score.

    Statistics (k = 2): the score or 0, and whether there is one.

    Raises:
        ParameterError: an image with too many candidates.
    """

    name = "lsa"
    summary = "spread of the singular values of word counts of an image's candidates"
    variants: ClassVar[Mapping[str, str]] = {"official": "DiversityMetrics: raw counts, without weights"}
    needs_references = False
    needs_two = True

    def scores(self, sets: CaptionSets, state: State | None = None) -> NDArray[np.float64]:
        check_candidates(self.name, sets)
        tokens = sets.candidates.layer(WordLayer(self.tokenizer))
        counts, bounds = sets.counts, tokens.offsets[sets.candidates.offsets]
        scores = np.full(len(sets), np.nan)
        caption_of = np.repeat(np.arange(len(tokens.lengths)), tokens.lengths)
        image_of = np.repeat(np.arange(len(sets)), np.diff(bounds))
        # Number the distinct words of each image from 0.
        size = len(tokens.vocabulary) + 1
        distinct, word_of = np.unique(image_of * size + tokens.ids, return_inverse=True)
        first_word = np.searchsorted(distinct, np.arange(len(sets) + 1) * size)
        within = word_of - first_word[image_of]
        column = caption_of - sets.candidates.offsets[image_of]
        widths = np.diff(first_word)
        for m in np.unique(counts[counts > 1]).tolist():
            # Images of about equally many words together, so that little is padded with zeros.
            rows = np.flatnonzero((counts == m) & (widths > 0))
            rows = rows[np.argsort(widths[rows], kind="stable")]
            for part in np.array_split(rows, -(-len(rows) * m // _BATCH)) if len(rows) else []:
                matrices = np.zeros((len(part), int(widths[part].max()), m))
                place = np.full(len(sets), -1)
                place[part] = np.arange(len(part))
                entries = np.flatnonzero(place[image_of] >= 0)
                np.add.at(matrices, (place[image_of[entries]], within[entries], column[entries]), 1.0)
                scores[part] = spread(np.linalg.svd(matrices, compute_uv=False), m)
        return scores
