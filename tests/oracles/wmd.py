"""Word mover's distance as gensim defines it, by linear programming."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.optimize import linprog


def distance(a: Sequence[str], b: Sequence[str], vectors: Mapping[str, np.ndarray]) -> float:
    """Return the least cost of moving the words of one document to those of the other."""
    ours, theirs = (Counter(word for word in words if word in vectors) for words in (a, b))
    if not ours or not theirs:
        return math.inf
    if len(ours | theirs) == 1:
        return 0.0
    costs = np.array([[np.linalg.norm(vectors[x].astype(float) - vectors[y]) for y in theirs] for x in ours])
    if costs.sum() < 1e-8:
        return math.inf
    return least_cost(costs, [n / ours.total() for n in ours.values()], [n / theirs.total() for n in theirs.values()])


def least_cost(costs: np.ndarray, supplies: Sequence[float], demands: Sequence[float]) -> float:
    """Return the value of a transport problem."""
    rows, columns = costs.shape
    leaves = np.kron(np.eye(rows), np.ones(columns))
    arrives = np.kron(np.ones(rows), np.eye(columns))
    solved = linprog(
        costs.ravel(),
        A_eq=np.vstack([leaves, arrives])[:-1],  # the last follows from the others
        b_eq=[*supplies, *demands][:-1],
        method="highs",
    )
    assert solved.status == 0, solved.message
    return float(solved.fun)
