"""The further arguments of ``COCOEvalCap`` in forks of the toolkit: which scorers run, and what tokenizes."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

from captious.compat.pycocoevalcap.input_errors import UnknownArgument
from captious.errors import ParameterError

__all__ = ["SCORES", "Tokenize", "asked_for", "known_scorers", "third_argument", "tokenize_of", "unknown_argument"]

#: From raw captions by image, lists of ``{"caption": text}``, to tokenized ones.
Tokenize: TypeAlias = Callable[[Mapping[Any, Sequence[Mapping[str, Any]]]], dict[Any, list[str]]]

#: The scorers in the toolkit's order, as forks call them, and the names of their scores. WMD runs only if asked for.
SCORES: dict[str, tuple[str, ...]] = {
    "BLEU": ("Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4"),
    "METEOR": ("METEOR",),
    "ROUGE_L": ("ROUGE_L",),
    "CIDER": ("CIDEr",),
    "SPICE": ("SPICE",),
    "WMD": ("WMD",),
}
_SAME = {"ROUGE": "ROUGE_L", "ROUGE-L": "ROUGE_L", "ROUGEL": "ROUGE_L"}


def asked_for(
    chosen: Mapping[str, Collection[str] | None], ordered: Mapping[str, Collection[str] | None]
) -> list[str] | None:
    """The scorers to run, None for all.

    Args:
        chosen: argument -> names of scorers, which run in the toolkit's order; None where it was not given.
        ordered: likewise; they run in the order given.

    Raises:
        ParameterError: a scorer that does not exist, or several arguments.
    """
    given = {name: value for name, value in {**chosen, **ordered}.items() if value is not None}
    if len(given) > 1:
        raise ParameterError(f"{' and '.join(given)} both choose scorers", help="give one of them")
    for argument, names in given.items():
        known = known_scorers(names, argument)
        return known if argument in ordered else [name for name in SCORES if name in known]
    return None


def known_scorers(names: Collection[str], argument: str) -> list[str]:
    """Names of scorers as this module calls them.

    Raises:
        ParameterError: a scorer that does not exist, or a single name instead of a list.
    """
    if isinstance(names, str):
        raise ParameterError(f"{argument} is a list of scorers", help=f"give {argument}=[{names!r}]")
    found = [_SAME.get(str(name).upper(), str(name).upper()) for name in names]
    unknown = next((given for given, name in zip(names, found, strict=True) if name not in SCORES), None)
    if unknown is not None:
        raise ParameterError(
            f"there is no scorer {unknown!r}", help="the scorers are Bleu, METEOR, ROUGE_L, CIDEr, SPICE and WMD"
        )
    return found


def third_argument(value: Any, default: str) -> tuple[str | os.PathLike[str], Collection[str] | None, Any]:
    """What forks have as third argument: document frequencies, a list of scorers, a tokenizer, or whether to tokenize.

    Returns:
        The document frequencies, the scorers or None, the tokenizer or None.

    Raises:
        ParameterError: something else.
    """
    if isinstance(value, str | os.PathLike):
        return value, None, None
    if value is None or value is True:
        return default, None, None
    if value is False:
        raise ParameterError(
            "captions are always tokenized", help="for captions that are already tokenized, give tokenizer=str.split"
        )
    if isinstance(value, Collection) and all(isinstance(name, str) for name in value):
        return default, value, None
    if callable(value) or hasattr(value, "tokenize"):
        return default, None, value
    raise ParameterError(
        f"the third argument is not understood: {value!r:.80}",
        help="give document frequencies (df), a list of scorers (coco_types), or a tokenizer (tokenizer)",
    )


def tokenize_of(tokenizer: Any, raw_texts: Callable[[Any], dict[Any, list[str]]]) -> Tokenize:
    """A caller's tokenizer as a function over captions by image.

    Args:
        tokenizer: has ``tokenize`` like the toolkit's ``PTBTokenizer``; or is a function from a caption to its words,
            in a list or set apart by spaces.
        raw_texts: from raw captions by image to their texts, checked.

    Raises:
        ParameterError: neither.
    """
    if hasattr(tokenizer, "tokenize"):
        tokenize: Tokenize = tokenizer.tokenize
        return tokenize
    if not callable(tokenizer):
        raise ParameterError(
            f"{tokenizer!r:.80} is not a tokenizer",
            help="give a function from a caption to its words, or an object with the method tokenize of PTBTokenizer",
        )

    def words(text: str) -> str:
        found = tokenizer(text)
        return found if isinstance(found, str) else " ".join(found)

    return lambda raw: {image: [words(text) for text in texts] for image, texts in raw_texts(raw).items()}


def unknown_argument(name: str) -> UnknownArgument:
    """The error for an argument of a fork that is not supported."""
    return UnknownArgument(
        f"COCOEvalCap has no argument {name!r}",
        help="it has df, use_scorers, metrics, scorers_to_run, exclude_scorers, coco_types, cocoTypes, "
        "tokenization_fn, tokenizer, spice_threads and verbose",
    )
