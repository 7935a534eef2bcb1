"""Captions in which a rare word stands where others of its tags do: from them the grammar learns what the official one
does with the word.

Of captions whose rarest word occurs less than thirty times in training, a grammar trained on captions alone gets every
fifth wrong; of those whose rarest word occurs 300 times, one in ninety.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from wordfreq import top_n_list

from captious.parsing.lexicon import Lexicon
from counts import category
from derivations import Derivations

__all__ = ["rare_words", "truncated", "variants"]

_RARE = 300  # occurrences in captions from which on a word needs no variants
_LONGEST = 14  # words of a caption that is varied
_MOST_FREQUENT = 40_000  # words of English that get variants, if the official grammar has seen them


def rare_words(derivations: Derivations, lexicon: Lexicon) -> list[str]:
    """Words that captions have seldom, and words of English that they do not have and the official lexicon has."""
    times = np.bincount(np.concatenate(derivations.sentences), minlength=len(derivations.words))
    often = {word for word, n in zip(derivations.words, times.tolist(), strict=True) if n >= _RARE}
    ours = [word for word, n in zip(derivations.words, times.tolist(), strict=True) if n and word not in often]
    known = set(derivations.words)
    others = [word for word in top_n_list("en", _MOST_FREQUENT) if word.isalpha() and word not in known]
    return ours + [word for word in others if lexicon.knows(word)]


def variants(
    derivations: Derivations, lexicon: Lexicon, words: Sequence[str], each: int, rng: np.random.Generator
) -> list[tuple[str, ...]]:
    """For every word, so many captions in which it has replaced another.

    Its tags are drawn by their probability: that which the official lexicon gives, times that of the tag in captions.
    """
    lengths = np.array([len(sentence) for sentence in derivations.sentences])
    flat_states = np.concatenate(derivations.states)
    places = np.flatnonzero(np.repeat(lengths <= _LONGEST, lengths))
    places = places[np.argsort(flat_states[places], kind="stable")]
    n_states = int(flat_states.max()) + 1
    starts = np.searchsorted(flat_states[places], np.arange(n_states + 1))
    of_states = np.diff(starts)
    sentence_of = np.repeat(np.arange(len(lengths)), lengths)
    first = np.cumsum(lengths) - lengths
    result: list[tuple[str, ...]] = []
    for word in words:
        tags = lexicon.tags(word)
        known = tags.states < n_states
        states, scores = tags.states[known], tags.scores[known].astype(np.float64)
        weights = np.exp(scores - scores.max(initial=-np.inf)) * of_states[states]
        if not weights.sum() > 0:
            continue
        for state in rng.choice(states, size=each, p=weights / weights.sum()).tolist():
            place = places[rng.integers(starts[state], starts[state + 1])]
            sentence = sentence_of[place]
            caption = [derivations.words[w] for w in derivations.sentences[sentence]]
            caption[place - first[sentence]] = word
            result.append(tuple(caption))
    return result


def truncated(
    derivations: Derivations, states: Sequence[str], n: int, rng: np.random.Generator
) -> list[tuple[str, ...]]:
    """Return captions that break off after an article or a preposition, as those of captioners of limited length do.

    Args:
        states: the names of the states that derivations number.
        n: how many.
    """
    breaks = [category(state) in ("DT", "IN") for state in states]
    result: list[tuple[str, ...]] = []
    for i in rng.permutation(len(derivations)).tolist():
        if len(result) == n:
            break
        sentence, above = derivations.sentences[i].tolist(), derivations.states[i].tolist()
        places = [place for place in range(max(4, len(sentence) // 2), len(sentence) - 1) if breaks[above[place]]]
        if places:
            end = int(rng.choice(places)) + 1
            result.append(tuple(derivations.words[word] for word in sentence[:end]))
    return result
