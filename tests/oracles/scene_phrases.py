"""CAPTURE and Soft-SPICE as their code computes them, slowly, from tuples, nouns and any similarity of phrases."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np

Tuples = Sequence[tuple[str, ...]]
Similarity = Callable[[str, str], float]


@cache
def wordnet(jar: Path) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """METEOR's dictionary: the synonym sets of words, and the words of synonym sets."""
    with zipfile.ZipFile(jar) as archive:
        lines = archive.read("synonym/english.synsets").decode().split("\n")
    sets = {word: set(numbers.split()) for word, numbers in zip(lines[0::2], lines[1::2], strict=False)}
    words: dict[str, set[str]] = {}
    for word, numbers in sets.items():
        for number in numbers:
            words.setdefault(number, set()).add(word)
    return sets, words


def are_synonyms(one: str, other: str, jar: Path) -> bool:
    """Return whether one contains the other, or the lemma names of all their synonym sets have a name in common."""
    if one in other or other in one:
        return True
    sets, words = wordnet(jar)
    names = [
        {name for number in sets.get(word.replace(" ", "_"), ()) for name in words[number]} for word in (one, other)
    ]
    return bool(names[0] & names[1])


def message(tuples: Tuples, nouns: set[str], stops: set[str]) -> tuple[list[str], list[str], list[tuple[str, ...]]]:
    """Return objects, attributes and relations of a caption."""
    objects: list[str] = []
    attributes: dict[str, list[str]] = {}
    relations: list[tuple[str, ...]] = []
    for item in tuples:
        ends = [item[0], item[1]] if len(item) == 3 else [item[0]]
        objects += [end for end in ends if end not in objects]
        if len(item) == 3 and (item[0], item[2], item[1]) not in relations:
            relations.append((item[0], item[2], item[1]))
        if len(item) == 2 and " of" not in item[1] and item[1] not in attributes.setdefault(item[0], []):
            attributes[item[0]].append(item[1])
    in_text = {end for end in objects if end in nouns or all(piece in nouns for piece in end.split(" "))}
    return (
        [thing for thing in objects if thing in in_text and thing not in stops],
        [attribute for thing, of_thing in attributes.items() if thing in in_text for attribute in of_thing],
        [item for item in relations if item[0] in in_text and item[2] in in_text],
    )


def matched(ours: list[tuple[str, ...]], theirs: list[tuple[str, ...]], jar: Path, like: Similarity) -> list[float]:
    """Return precision and recall of one kind."""
    left, others = list(ours), list(theirs)
    hard = 0
    for alike in (
        lambda a, b: a == b,
        lambda a, b: all(are_synonyms(x, y, jar) for x, y in zip(a, b, strict=True)),
    ):
        still_left = []
        for item in left:
            for other in others:
                if alike(item, other):
                    others.remove(other)
                    hard += 1
                    break
            else:
                still_left.append(item)
        left = still_left
    soft = [0.0, 0.0]
    if left and others:
        cosines = np.array([[like(" ".join(item), " ".join(other)) for other in others] for item in left])
        soft = [float(cosines.max(axis=1).sum()), float(cosines.max(axis=0).sum())]
    return [(hard + soft[0]) / (len(ours) + 1e-6), (hard + soft[1]) / (len(theirs) + 1e-6)]


def capture(
    ours: tuple[Tuples, set[str]], theirs: tuple[Tuples, set[str]], stops: set[str], jar: Path, like: Similarity
) -> dict[str, float]:
    """Return the outputs of CAPTURE for a candidate and one reference, each as tuples and nouns."""
    sides = [message(tuples, nouns, stops) for tuples, nouns in (ours, theirs)]
    kinds = []
    for kind in range(3):
        first, second = ([item if isinstance(item, tuple) else (item,) for item in side[kind]] for side in sides)
        kinds.append(matched(first, second, jar, like))
    f1 = [2 * p * r / (p + r + 1e-6) for p, r in kinds]

    def weighted(values: Sequence[float]) -> float:
        return (5 * values[0] + 5 * values[1] + 2 * values[2]) / 12

    return {
        "capture": weighted(f1),
        "capture-p": weighted([p for p, _ in kinds]),
        "capture-r": weighted([r for _, r in kinds]),
        "capture-object": f1[0],
        "capture-attribute": f1[1],
        "capture-relation": f1[2],
    }


def phrases(tuples: Tuples) -> list[str]:
    """Return the phrases of a scene graph."""
    found: set[str] = set()
    for item in tuples:
        if len(item) == 1:
            found.add(item[0])
        elif len(item) == 2:
            found |= {item[0], f"{item[1]} {item[0]}"}
        else:
            found |= {item[0], item[1], f"{item[0]} {item[2]} {item[1]}"}
    return sorted(found)


def soft_spice(ours: Tuples, references: Sequence[Tuples], like: Similarity, *, two_sided: bool) -> list[float]:
    """Score, precision and recall of Soft-SPICE."""
    mine, theirs = phrases(ours), phrases([item for tuples in references for item in tuples])
    if not mine or not theirs:
        return [0.0, 0.0, 0.0]
    cosines = np.array([[like(one, other) for other in theirs] for one in mine])
    if two_sided:
        cosines = (cosines + 1) / 2
    precision, recall = float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean())
    if not two_sided:
        return [precision, precision, recall]
    return [2 * precision * recall / (precision + recall), precision, recall]
