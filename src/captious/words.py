"""Words of messages, and the random seed."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral

from captious.errors import ParameterError

# Phrases of messages: counts with their nouns and verbs, and examples from long lists.

#: Plural verbs whose singular is not the verb with an "s".
_SINGULAR_VERBS = {"are": "is", "were": "was", "have": "has", "do": "does"}


def counted(n: int, noun: str, verb: str = "") -> str:
    """Format a count: "1 image", "5,000 images", "1 image has".

    Args:
        n: the count.
        noun: the noun, in the singular; its plural ends in "s".
        verb: a verb in the plural, which agrees with the count.
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}{_agreeing(n, verb)}"


def counted_of(n: int, total: int, noun: str, verb: str = "") -> str:
    """Format a part of a whole: "1 of 24 images", "2 of 24 images have", "1 of 1 image has".

    Args:
        n: the count.
        total: the count of the whole.
        noun, verb: as in ``counted``; the noun agrees with the whole.
    """
    return f"{n:,} of {counted(total, noun)}{_agreeing(n, verb)}"


def _agreeing(n: int, verb: str) -> str:
    if not verb:
        return ""
    return " " + (verb if n != 1 else _SINGULAR_VERBS.get(verb, f"{verb}s"))


def sample_of(items: Iterable[object], *, separator: str = ", ") -> str:
    """Format up to three items and the number of others: "a, b, c and 17 more"."""
    texts = [str(item) for item in items]
    more = f" and {len(texts) - 3:,} more" if len(texts) > 3 else ""
    return separator.join(texts[:3]) + more


# The random seed: its default and its validation.

#: The seed wherever none is given.
DEFAULT_SEED = 12345


def checked_seed(seed: object) -> int:
    """Convert a random seed to a plain int.

    Raises:
        ParameterError: not a whole number, or negative.
    """
    if not isinstance(seed, Integral) or isinstance(seed, bool) or int(seed) < 0:
        raise ParameterError(f"{seed!r} is not a random seed", hint="give a whole number, 0 or more")
    return int(seed)
