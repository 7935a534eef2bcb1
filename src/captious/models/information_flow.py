"""Information flow through a transformer: how much the positions that attend tell about those that are attended to.

Feinglass and Yang 2021 (SMURF), equation 6, with the conventions of the authors' code: special tokens take part, the
largest value of its heads counts for a layer, and the median of the layers is taken.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from captious.errors import ParameterError
from captious.models.encoders import Encoder

__all__ = ["information_flow", "normalized_information"]


def information_flow(encoder: Encoder, sequences: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """Information flow of sequences of token ids, special tokens included: float64[n_sequences], 0 to 1.

    The largest normalized mutual information of a layer's heads; then the median of the layers, halfway between the two
    middle ones if their number is even. Padding tokens inside a sequence attend, but are not attended to. NaN for a
    sequence of fewer than two tokens.

    Raises:
        ParameterError: the model's attention is not finite.
        and what ``Encoder.run`` raises.
    """
    flow = np.full(len(sequences), np.nan)
    measured = [row for row, sequence in enumerate(sequences) if len(sequence) > 1]
    for batch in encoder.run([sequences[row] for row in measured], attentions=True):
        assert batch.attentions is not None
        best_heads = [normalized_information(maps).max(axis=-1) for maps in batch.attentions]
        for place, value in zip(batch.rows.tolist(), np.median(best_heads, axis=0).tolist(), strict=True):
            flow[measured[place]] = value
    if np.isnan(flow[measured]).any():
        raise ParameterError(f"the attention of {encoder.model} is not finite", help="compute in float32")
    return flow


def normalized_information(maps: NDArray[np.floating]) -> NDArray[np.float64]:
    """Normalized mutual information of queries and keys, [..., n, n] to float64[...]; 0 to 1, NaN if n is 1.

    A map divided by its sum is the joint distribution; the result is 2 (H(X) + H(Y) - H(X, Y)) / (H(X) + H(Y)), with
    0 log 0 = 0. The base of the logarithm cancels out.
    """
    from scipy.special import entr

    joint = maps / maps.sum(axis=(-2, -1), keepdims=True, dtype=np.float64)
    apart = sum(entr(joint.sum(axis=axis)).sum(axis=-1) for axis in (-1, -2))
    with np.errstate(invalid="ignore"):
        information = 2 * (apart - entr(joint).sum(axis=(-2, -1))) / apart
    return np.asarray(information, np.float64)
