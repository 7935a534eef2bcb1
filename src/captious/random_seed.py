"""The random seed: its default and its validation."""

from __future__ import annotations

from numbers import Integral

from captious.errors import ParameterError

#: The seed wherever none is given.
DEFAULT_SEED = 12345


def checked_seed(seed: object) -> int:
    """Convert a random seed to a plain int.

    Raises:
        ParameterError: not a whole number, or negative.
    """
    if not isinstance(seed, Integral) or isinstance(seed, bool) or int(seed) < 0:
        raise ParameterError(f"{seed!r} is not a random seed", help="give a whole number, 0 or more")
    return int(seed)
