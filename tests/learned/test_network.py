"""Networks: forward values, independence of rows, and invalid networks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from captious.errors import ParameterError
from captious.learned.lceval import LCEval
from captious.learned.networks import Network
from tests.oracles import lceval as oracle

#: Features as in training, MOWE as (MOWE + 1) / 2, and the probability that the shipped checkpoint 8010 gives, in
#: double precision.
VERIFIED = [
    (np.zeros(16), 0.04883669),
    (np.full(16, 0.5), 0.99755662),
    (np.ones(16), 0.99999969),
    (np.array([0.65, 0.45, 0.3, 0.2, 0.6, 0.5, 0.25, 0.3, 0.2, 1, 0.85, 0.4, 0.3, 0.25, 0.6, 0.5]), 0.99845793),
]


def random_network(*sizes: int, seed: int = 4) -> Network:
    rng = np.random.default_rng(seed)
    pairs = list(pairwise(sizes))
    return Network(tuple(rng.normal(size=pair) for pair in pairs), tuple(rng.normal(size=n) for _, n in pairs))


@pytest.mark.parametrize(("features", "expected"), VERIFIED)
def test_network_gives_the_values_of_the_published_checkpoint(features: np.ndarray, expected: float) -> None:
    """Within 1e-6; four printed decimals of a weight permit p (1 - p) 5e-5 (1 + sum of features), at most 2.3e-6."""
    own = features.copy()
    own[10] -= 0.5
    network = LCEval(variant="official-8010").trained.network
    probability = network.human(own)
    assert probability == pytest.approx(expected, abs=1e-6)
    counted = network.weights[0][:, 1] != 0
    permitted = expected * (1 - expected) * 5e-5 * (1 + features[counted].sum()) + 5e-9  # and eight of the value
    assert abs(probability - expected) <= permitted


@pytest.mark.parametrize("sizes", [(16, 2), (16, 12, 2), (8, 72, 72, 2), (1, 1, 1, 1, 2)])
def test_network_probabilities_equal_a_plain_forward_pass(sizes: tuple[int, ...]) -> None:
    network = random_network(*sizes)
    features = np.random.default_rng(1).normal(size=(40, sizes[0]))
    expected = [oracle.network(network.weights, network.biases, row.tolist()) for row in features]
    np.testing.assert_allclose(network.probabilities(features), expected, rtol=1e-12)
    assert network.sizes == sizes


def test_rows_do_not_look_at_each_other() -> None:
    network = random_network(8, 72, 72, 2)
    features = np.random.default_rng(1).normal(size=(1_001, 8))
    whole = network.human(features)
    np.testing.assert_array_equal([network.human(row) for row in features], whole)
    np.testing.assert_array_equal(network.human(features.reshape(7, 143, 8)), whole.reshape(7, 143))
    assert network.human(features[:0]).shape == (0,)


def test_large_logits_do_not_overflow() -> None:
    network = Network((np.array([[-1e300, 1e300]]),), (np.zeros(2),))
    np.testing.assert_array_equal(network.probabilities(np.array([[1.0], [0.0]])), [[0, 1], [0.5, 0.5]])


@pytest.mark.parametrize(
    ("weights", "biases", "message"),
    [
        ((), (), "not a network"),
        (((3, 2),), (), "not a network"),
        (((3, 2),), ((3,),), "not a network"),
        (((3, 3),), ((3,),), "not a network"),
        (((3, 4), (5, 2)), ((4,), (2,)), "not a network"),
        (((0, 2),), ((2,),), "not a network"),
        (((3, 2, 1),), ((2,),), "not a network"),
    ],
)
def test_invalid_layers_are_refused(
    weights: tuple[tuple[int, ...], ...], biases: tuple[tuple[int, ...], ...], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        Network(tuple(np.ones(shape) for shape in weights), tuple(np.ones(shape) for shape in biases))


def test_weights_are_finite_and_constant() -> None:
    with pytest.raises(ParameterError, match="not finite"):
        Network((np.full((3, 2), np.nan),), (np.zeros(2),))
    network = random_network(3, 2)
    with pytest.raises(ValueError, match="read-only"):
        network.weights[0][0, 0] = 1
