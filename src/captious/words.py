"""Words of messages, literals in them, and the random seed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from numbers import Integral
from typing import cast

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


def with_article(noun: str) -> str:
    """Return a noun, such as the name of a type, with "a" or "an": "an int"; "None" for "NoneType"."""
    if noun == "NoneType":
        return "None"
    return f"{'an' if noun[:1].lower() in 'aeio' else 'a'} {noun}"


def listed(names: Collection[str]) -> str:
    """Format names as a sentence lists them: "a", "a and b", "a, b and c"."""
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last


def percentage(share: float) -> str:
    """Format a share, such as a confidence level, with the digits that it has: "95%", "99.9%"."""
    return f"{100 * share:.12g}%"


def sample_of(items: Iterable[object], *, separator: str = ", ") -> str:
    """Format up to three items and the number of others: "a, b, c and 17 more"."""
    texts = [str(item) for item in items]
    more = f" and {len(texts) - 3:,} more" if len(texts) > 3 else ""
    return separator.join(texts[:3]) + more


# Literals in messages, cut with "..." where they are long.


def shortened(value: object, most: int = 60) -> str:
    """Return the literal of a value, at most so many characters long, with "..." for what is left out.

    A text is cut between characters as people see them, never within an escape or an emoji: ``'a long capt...'``.
    Lists, tuples, sets and dictionaries keep their first items.

    Args:
        value: any object.
        most: maximum number of characters, 10 or more.
    """
    if isinstance(value, str):
        return _literal_of_text(value, most)
    if type(value) in _BRACKETS and value:
        return _literal_of_items(cast("Collection[object]", value), most)
    try:
        text = " ".join(repr(value).split())
    except Exception:  # whatever the code of its class does, or an integer of too many digits
        text = f"<{type(value).__name__}>"
    return cut(text, most)


def cut(text: str, most: int = 60) -> str:
    """Return a text that may hold escapes, such as JSON, with "..." for what exceeds that many characters."""
    return text if len(text) <= most else f"{_PART_OF_ESCAPE.sub('', text[: most - 3])}..."


#: The brackets of collections.
_BRACKETS: Mapping[type, str] = {list: "[]", tuple: "()", set: "{}", dict: "{}"}
#: An escape that a cut may have split.
_PART_OF_ESCAPE = re.compile(r"\\[^\\ ]{0,9}$")
#: The shortest text of an item that says anything.
_LEAST = 10


def _literal_of_text(text: str, most: int) -> str:
    if len(text) <= most and len(literal := repr(text)) <= most:
        return literal
    import regex  # slow to import

    kept = ""
    for character in regex.finditer(r"\X", text[:most]):
        if len(repr(kept + character[0])) + 3 > most:
            break
        kept += character[0]
    literal = repr(kept)
    return f"{literal[:-1]}...{literal[-1]}"


def _literal_of_items(items: Collection[object], most: int) -> str:
    opening, closing = (*_BRACKETS[type(items)],)
    texts: list[str] = []
    left = most - len("[..., ]")
    for item in items:
        if left < _LEAST:
            texts.append("...")
            break
        texts.append(_literal_of_item(items, item, left))
        left -= len(texts[-1]) + 2
    comma = "," if isinstance(items, tuple) and len(items) == 1 else ""
    return f"{opening}{', '.join(texts)}{comma}{closing}"


def _literal_of_item(items: Collection[object], item: object, most: int) -> str:
    if not isinstance(items, dict):
        return shortened(item, most)
    key = shortened(item, most // 2)
    return f"{key}: {shortened(items[item], most - len(key) - 2)}"


# The random seed: its default and its validation.

#: The seed wherever none is given.
DEFAULT_SEED = 12345


def checked_seed(seed: object) -> int:
    """Convert a random seed to a plain int.

    Raises:
        ParameterError: not a whole number, or negative.
    """
    if not isinstance(seed, Integral) or isinstance(seed, bool) or int(seed) < 0:
        raise ParameterError(f"{shortened(seed)} is not a random seed", hint="give a whole number, 0 or more")
    return int(seed)
