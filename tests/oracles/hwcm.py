"""Head-word chains in the plainest way: lists of chains, as LCEval's code makes and compares them."""

from __future__ import annotations

from collections.abc import Sequence

Words = Sequence[str]


def chains_of_strings(values: Words, heads: Sequence[int]) -> list[list[tuple[str, ...]]]:
    """Return all chains of length 1 to 4, from the first root downward; heads count from 1."""
    ones: list[tuple[str, ...]] = []
    twos: list[tuple[str, ...]] = []

    def visit(word: int) -> None:
        ones.append((values[word],))
        for child in range(len(heads)):
            if heads[child] == word + 1:
                twos.append((values[word], values[child]))
                visit(child)

    if 0 in heads:
        visit(list(heads).index(0))
    threes = [(a, *chain) for a, b in twos for chain in twos if chain[0] == b]
    fours = [(a, *chain) for a, b in twos for chain in threes if chain[0] == b]
    return [ones, twos, threes, fours]


def official(candidate: tuple[Words, Sequence[int]], references: Sequence[tuple[Words, Sequence[int]]]) -> list[float]:
    """Return recall of chains, averaged over the lengths up to each, the best reference for each."""
    ours = chains_of_strings(*candidate)
    best = [0.0] * 4
    for reference in references:
        theirs = chains_of_strings(*reference)
        overlaps = []
        for mine, other in zip(ours, theirs, strict=True):
            matched = sum(min(mine.count(chain), other.count(chain)) for chain in set(other))
            overlaps.append(matched / (len(other) + 1e-9))
        one, two, three, four = overlaps
        averages = (one, 0.5 * (one + two), 0.33 * (one + two + three), 0.25 * (one + two + three + four))
        best = [max(pair) for pair in zip(best, averages, strict=True)]
    return best


def paper(candidate: tuple[Words, Sequence[int]], references: Sequence[tuple[Words, Sequence[int]]]) -> list[float]:
    """Share of the candidate's chains, of words that are each the head of the next, that the best reference has."""
    ours = chains_of_words(*candidate)
    best = [0.0] * 4
    for reference in references:
        theirs = chains_of_words(*reference)
        for u, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
            matched = sum(min(mine.count(chain), other.count(chain)) for chain in set(mine))
            best[u] = max(best[u], matched / len(mine) if mine else 0.0)
    return best


def chains_of_words(values: Words, heads: Sequence[int]) -> list[list[tuple[str, ...]]]:
    """Return chains of words that are each the head of the next; arguments as above."""
    found: list[list[tuple[str, ...]]] = [[], [], [], []]

    def visit(word: int, above: tuple[int, ...]) -> None:
        path = (*above, word)
        for u in range(1, min(4, len(path)) + 1):
            found[u - 1].append(tuple(values[at] for at in path[-u:]))
        for child in range(len(heads)):
            if heads[child] == word + 1:
                visit(child, path)

    if 0 in heads:
        visit(list(heads).index(0), ())
    return found
