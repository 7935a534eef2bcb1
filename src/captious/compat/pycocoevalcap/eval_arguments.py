"""Additional arguments of ``COCOEvalCap`` in forks of the toolkit, which choose scorers and tokenizer."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

from captious.compat.pycocoevalcap.harness_input import raw_texts
from captious.compat.pycocoevalcap.input_errors import UnknownArgument
from captious.errors import ParameterError

__all__ = [
    "SCORES",
    "Tokenize",
    "requested_scorers",
    "scorer_names",
    "third_argument",
    "tokenize_of",
    "unknown_argument",
]

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
_OTHER_NAMES = {"ROUGE": "ROUGE_L", "ROUGE-L": "ROUGE_L", "ROUGEL": "ROUGE_L"}


def requested_scorers(
    unordered: Mapping[str, Collection[str] | None], ordered: Mapping[str, Collection[str] | None]
) -> list[str] | None:
    """Return the scorers to run, None for all.

    Args:
        unordered: argument -> names of scorers, which run in the toolkit's order; None if it was not passed.
        ordered: likewise; they run in this order.
    """
    arguments = {argument: names for argument, names in {**unordered, **ordered}.items() if names is not None}
    if len(arguments) > 1:
        raise ParameterError(f"{' and '.join(arguments)} both choose scorers", help="give one of them")
    for argument, names in arguments.items():
        scorers = scorer_names(names, argument)
        return scorers if argument in ordered else [name for name in SCORES if name in scorers]
    return None


def scorer_names(names: Collection[str], argument: str) -> list[str]:
    """Return the names of scorers in an argument, spelled as in ``SCORES``."""
    if isinstance(names, str):
        raise ParameterError(f"{argument} is a list of scorers", help=f"give {argument}=[{names!r}]")
    scorers = [_OTHER_NAMES.get(str(name).upper(), str(name).upper()) for name in names]
    for name, scorer in zip(names, scorers, strict=True):
        if scorer not in SCORES:
            raise ParameterError(
                f"there is no scorer {name!r}", help="the scorers are Bleu, METEOR, ROUGE_L, CIDEr, SPICE and WMD"
            )
    return scorers


def third_argument(value: Any, default: str) -> tuple[str | os.PathLike[str], Collection[str] | None, Any]:
    """Interpret the third argument of forks: document frequencies, a list of scorers, a tokenizer, or whether to
    tokenize.

    Returns:
        The document frequencies, the scorers or None, the tokenizer or None.
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


def tokenize_of(tokenizer: Any) -> Tokenize:
    """Return a user's tokenizer as a function over captions by image.

    Args:
        tokenizer: an object with ``tokenize`` like the toolkit's ``PTBTokenizer``, or a function from a caption to its
            words, in a list or separated by spaces.
    """
    if hasattr(tokenizer, "tokenize"):
        tokenize: Tokenize = tokenizer.tokenize
        return tokenize
    if not callable(tokenizer):
        raise ParameterError(
            f"{tokenizer!r:.80} is not a tokenizer",
            help="give a function from a caption to its words, or an object with the method tokenize of PTBTokenizer",
        )

    def tokenized(text: str) -> str:
        words = tokenizer(text)
        return words if isinstance(words, str) else " ".join(words)

    return lambda raw: {image: [tokenized(text) for text in texts] for image, texts in raw_texts(raw).items()}


def unknown_argument(name: str) -> UnknownArgument:
    """Return the error for an unsupported argument of a fork."""
    return UnknownArgument(
        f"COCOEvalCap has no argument {name!r}",
        help="it has df, use_scorers, metrics, scorers_to_run, exclude_scorers, coco_types, cocoTypes, "
        "tokenization_fn, tokenizer, spice_threads and verbose",
    )
