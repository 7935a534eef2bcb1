"""A critique of LEIC in plain Python: one caption at a time, one number at a time."""

from __future__ import annotations

import cmath
import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[np.float32]]


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def sentence(arrays: Arrays, numbers: Sequence[int], cut: str) -> list[float]:
    units = arrays["lstm.state"].shape[1]
    layers = [name.removesuffix(".state") for name in arrays if name.endswith(".state")]
    states = [[0.0] * units for _ in layers]
    cells = [[0.0] * units for _ in layers]
    for number in numbers:
        read = [float(x) for x in arrays["embedding"][number]]
        for layer, state, cell in zip(layers, states, cells, strict=True):
            gates = [
                sum(float(w) * x for w, x in zip(row, read, strict=True))
                + sum(float(u) * h for u, h in zip(recurrent, state, strict=True))
                + float(bias)
                for row, recurrent, bias in zip(
                    arrays[f"{layer}.input"], arrays[f"{layer}.state"], arrays[f"{layer}.bias"], strict=True
                )
            ]
            for i in range(units):
                update, keep, new, out = (gates[i + part * units] for part in range(4))
                cell[i] = sigmoid(keep) * cell[i] + sigmoid(update) * math.tanh(new)
                state[i] = sigmoid(out) * math.tanh(cell[i])
            read = list(state)
        if number == 3:
            return states[-1]
    return states[-1] if cut == "first-words" else [0.0] * units


def linear(arrays: Arrays, name: str, values: Sequence[float]) -> list[float]:
    weights, biases = arrays[f"{name}.weight"], arrays[f"{name}.bias"]
    return [
        sum(float(w) * v for w, v in zip(row, values, strict=True)) + float(b)
        for row, b in zip(weights, biases, strict=True)
    ]


def pooled(context: Sequence[float], candidate: Sequence[float], size: int) -> list[float]:
    """Return circular convolution of count sketches, by its definition."""
    sketches = []
    for values, (places, signs) in ((context, (1, 3)), (candidate, (5, 7))):
        to = np.random.RandomState(places).randint(size, size=len(values))
        sign = 2 * np.random.RandomState(signs).randint(2, size=len(values)) - 1
        sketch = [0.0] * size
        for value, place, s in zip(values, to, sign, strict=True):
            sketch[place] += s * value
        sketches.append(sketch)
    a, b = sketches
    return [sum(a[i] * b[(k - i) % size] for i in range(size)) for k in range(size)]


def human(
    arrays: Arrays,
    combination: str,
    candidate: Sequence[float],
    reference: Sequence[float] | None,
    image: Sequence[float] | None,
    size: int = 0,
) -> float:
    context: list[float] = []
    if image is not None:
        context += linear(arrays, "image", image)
    if reference is not None:
        context += reference
    joint = pooled(context, candidate, size) if combination == "bilinear" else [*context, *candidate]
    if combination == "mlp":
        joint = [max(0.0, value) for value in linear(arrays, "hidden", joint)]
    first, second = linear(arrays, "output", joint)
    return (cmath.exp(first) / (cmath.exp(first) + cmath.exp(second))).real
