"""Small corpora for tests, over few words so that repeats and ties abound, and tables made of them."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from captious.data import Captions, References

WORDS = ("a", "b", "c", "dog", "on")


@dataclass(frozen=True)
class Corpus:
    """Captions as lists of tokens, image by image."""

    candidates: list[list[str]]
    references: list[list[list[str]]]

    def table(self) -> Captions:
        """Return the captions as text, with tokens separated by spaces."""
        return table(
            [" ".join(candidate) for candidate in self.candidates],
            [[" ".join(reference) for reference in references] for references in self.references],
        )


def table(candidates: list[str], references: list[list[str]]) -> Captions:
    """Return captions of the images 0, 1, 2 ..."""
    return Captions(tuple(candidates), references_table(references))


def references_table(references: list[list[str]], first_id: int = 0) -> References:
    """Return references of the images first_id, first_id + 1 ..."""
    offsets = np.cumsum([0, *(len(of_image) for of_image in references)])
    texts = tuple(text for of_image in references for text in of_image)
    return References(tuple(range(first_id, first_id + len(references))), texts, offsets)


def captions(max_size: int = 12) -> st.SearchStrategy[list[str]]:
    """Return tokenized captions, one of them empty."""
    return st.lists(st.sampled_from(WORDS), max_size=max_size)


def corpora(max_images: int = 5, max_size: int = 12) -> st.SearchStrategy[Corpus]:
    """Corpora of one image or more, with one reference or more."""
    image = st.tuples(captions(max_size), st.lists(captions(max_size), min_size=1, max_size=4))
    return st.lists(image, min_size=1, max_size=max_images).map(
        lambda images: Corpus([candidate for candidate, _ in images], [references for _, references in images])
    )


def large_corpus(images: int, seed: int = 1, words: int = 60) -> Corpus:
    """Return a corpus large enough to be split among threads; some captions are empty."""
    rng = random.Random(seed)
    vocabulary = [f"w{i}" for i in range(words)]

    def caption() -> list[str]:
        # Common words are much more common than rare ones, as in any text.
        return [vocabulary[int(words * rng.random() ** 3)] for _ in range(rng.randrange(14))]

    return Corpus(
        [caption() for _ in range(images)], [[caption() for _ in range(rng.randint(1, 5))] for _ in range(images)]
    )


#: Five images with every corner of the official code: a near miss, few matches, a short candidate, none, one word.
TOY = Corpus(
    [caption.split() for caption in ("a dog runs in the park", "two men play guitar", "a cat", "", "dog")],
    [
        [["a", "dog", "is", "running", "in", "the", "park"], ["a", "brown", "dog", "runs", "on", "grass"]],
        [["two", "men", "are", "playing", "guitars", "on", "stage"], ["a", "band", "performs"]],
        [["a", "cat", "sleeps", "on", "a", "sofa"]],
        [["a", "red", "bus", "on", "the", "street"]],
        [["dog"]],
    ],
)
