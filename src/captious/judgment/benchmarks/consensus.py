"""PASCAL-50S and ABSTRACT-50S: the preferred one of two captions, by majority vote. Vedantam et al. 2015."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from math import log
from typing import Any

import numpy as np

from captious.data import References
from captious.errors import ResourceError
from captious.judgment import CaptionPair, DataFolder, Protocol, RatedCaption
from captious.judgment.items import references_table, sides, without
from captious.judgment.judgments import CaptionPairs

# Triplets of PASCAL-50S and ABSTRACT-50S as published by Vedantam et al. 2015, in MATLAB files.
#
# A triplet is a reference A, two captions B and C, and the one that a person found more similar to A: 1 for B, -1 for
# C. Every pair of captions has forty-eight consecutive triplets.

#: Triplets of a pair.
_PER_PAIR = 48


def _read_triplets(folder: DataFolder, name: str) -> list[CaptionPair]:
    """Read the pairs in a file of triplets, in order, with the references that people compared them with; the first
    caption wins tied votes.

    Raises:
        ResourceError: there is no such file.
        CaptionFileError: it is not a MATLAB file, has no triplets, or they are not grouped by pair.
    """
    content = folder.matlab(name)
    if "triplets" not in content:
        raise folder.error("no triplets in this file", name)
    triplets = [tuple(_first_of(value) for value in triplet) for triplet in content["triplets"].ravel().tolist()]
    if len(triplets) % _PER_PAIR:
        raise folder.error(f"the number of triplets, {len(triplets):,}, is not a multiple of {_PER_PAIR}", name)
    pairs = []
    for start in range(0, len(triplets), _PER_PAIR):
        group = triplets[start : start + _PER_PAIR]
        captions, *others = {(str(b).strip(), str(c).strip()) for _, b, c, _ in group}
        if others:
            raise folder.error("these triplets are of several pairs", name, f"triplets from {start + 1}")
        votes = sum(int(vote) for *_, vote in group)
        references = [str(a).strip() for a, *_ in group]
        pairs.append(CaptionPair("", captions, int(votes < 0), references, facts={"tied": votes == 0}))
    return pairs


def _first_of(value: Any) -> Any:
    """Return the value in a cell or an array with one element."""
    while isinstance(value, np.ndarray | np.void | tuple):
        value = value[0] if isinstance(value, np.void | tuple) else value.ravel()[0]
    return value


# ABSTRACT-50S: the preferred one of two captions of a clip-art scene, by majority vote. Vedantam et al. 2015.
#
# The owners' file has two pairs of each of 200 scenes, shuffled, with the same 48 references. The two pairs share a
# caption, which is correct. The other caption is correct, too, in one of them (HC), and of another scene in the other
# (HI); the file does not say which is which.

_SCENES = 200


def read_abstract(folder: DataFolder, name: str) -> list[CaptionPair]:
    """Read the owners' triplets, with the first five references."""
    pairs = _read_triplets(folder, name)
    scenes: defaultdict[tuple[str, ...], list[CaptionPair]] = defaultdict(list)
    for pair in pairs:
        scenes[tuple(sorted(pair.references))].append(pair)
    scenes_with = Counter(word for references in scenes for word in _words(*references))
    rarity = {word: log(len(scenes) / n) for word, n in scenes_with.items()}
    of_other_scenes = []
    for scene in scenes.values():
        if len(scene) != 2 or len({*scene[0].captions} & {*scene[1].captions}) != 1:
            spot = f"the scene of {scene[0].captions[0]!r}"
            raise folder.error("a scene does not have two pairs that share a caption", name, spot)
        of_other_scenes.append(_pair_with_other_scene(scene[0], scene[1], rarity))
    numbers = {references: number for number, references in enumerate(scenes)}
    read = []
    for pair in pairs:
        scene_number = numbers[tuple(sorted(pair.references))]
        kind = "HI" if pair is of_other_scenes[scene_number] else "HC"
        read.append(replace(pair, image=scene_number, references=pair.references[:5], part=kind))
    return read


def _pair_with_other_scene(a: CaptionPair, b: CaptionPair, rarity: Mapping[str, float]) -> CaptionPair:
    """Return the pair of a scene with a caption of another scene.

    The shared caption is always the first one of a pair of correct captions, so that its place decides 106 of the 200
    scenes. In the others, it is the pair whose other caption has less in common with the references: the mean share of
    references that contain a word, weighted by the rarity of the word. This agrees with 103 of the 106 scenes.
    """
    (shared,) = {*a.captions} & {*b.captions}
    places = [pair.captions.index(shared) for pair in (a, b)]
    if places[0] != places[1]:
        return (a, b)[places.index(1)]

    def in_common(pair: CaptionPair) -> float:
        containing = Counter(word for text in pair.references for word in _words(text))
        weights = {word: rarity.get(word, log(_SCENES)) for word in _words(pair.captions[1 - places[0]])}
        return sum(weight * containing[word] for word, weight in weights.items()) / (sum(weights.values()) or 1)

    return min(a, b, key=in_common)


def _words(*texts: str) -> set[str]:
    return {word for text in texts for word in re.findall("[a-z]+", text.lower())}


# PASCAL-50S: the preferred one of two captions, by majority vote of 48 or 11 people. Vedantam et al. 2015.
#
# Pairs are two correct human captions (HC), a correct one and one of another image (HI), a human and a machine caption
# (HM), and two machine captions (MM). The five references are those that Lee et al. 2024 drew from the fifty.

_NORMALIZED = "pascal50s/pairs.jsonl"
_FIFTY = "pascal50s/refs.json"
_PARTS = ("HC", "HI", "HM", "MM")


def five_drawn(item: CaptionPair) -> Any:
    """Return the references that Lee et al. 2024 drew."""
    return item.facts["refs5_fleur"]


def first_five(item: CaptionPair) -> Any:
    """Return the first five references of the image."""
    return item.facts["all"][:5]


def majority_of_eleven(item: CaptionPair) -> int:
    """Return the caption that more of eleven people prefer, the first one if votes are tied."""
    return int(item.facts["votes11_sum"] < 0)


def read_normalized_pascal(folder: DataFolder, name: str) -> list[CaptionPair]:
    """Read the normalized file, a pair per line."""
    return [
        CaptionPair(r["image"], (r["sent"][0], r["sent"][1]), r["label48"], part=r["category"], facts=r)
        for r in folder.records(name)
    ]


def read_published_pascal(folder: DataFolder, pairs_name: str, consensus: str) -> list[CaptionPair]:
    """Read pairs from the authors' files; those with tied votes are left out."""
    content = folder.matlab(pairs_name)
    if missing := [name for name in ("new_input", "category") if name not in content]:
        raise folder.error(f"no {missing[0]} in this file", pairs_name)
    images = [str(_first_of(pair)) for pair in content["new_input"].ravel()]
    kinds = [_PARTS[int(kind) - 1] for kind in content["category"].ravel()]
    pairs = zip(images, kinds, _read_triplets(folder, consensus), strict=True)
    return [
        replace(pair, image=image, part=kind, facts={"all": pair.references})
        for image, kind, pair in pairs
        if not pair.facts["tied"]
    ]


def items_pascal(
    protocol: Protocol, pairs: list[CaptionPair], folder: DataFolder
) -> list[CaptionPair] | list[RatedCaption]:
    """Return pairs, or the single captions of machine pairs.

    They have all references of their image if the protocol takes the first of them.
    """
    known = pairs[0].facts
    if "all" in known and protocol.references.function is five_drawn:
        raise ResourceError(
            "the references that Lee et al. 2024 drew are missing",
            where=f"{folder.folder} contains no {_NORMALIZED}",
            hint="judge pascal-50s@smurf2021, with the first five references",
        )
    if protocol.measure and "votes11_sum" not in known:
        raise ResourceError(
            "the eleven votes of each pair are missing",
            where=f"{folder.folder} contains no {_NORMALIZED} with votes11_sum",
            hint="judge pascal-50s@smurf2021, with forty-eight votes",
        )
    if "all" not in known and protocol.references.function is first_five:
        fifty = folder.json(_FIFTY)
        pairs = [replace(pair, facts={**pair.facts, "all": fifty[pair.image]}) for pair in pairs]
    if protocol.measure:
        pairs = [replace(pair, preferred=int(protocol.measure(pair))) for pair in pairs]
    return pairs if protocol.systems is None else sides((pair for pair in pairs if pair.part == "MM"), _systems)


def pool_pascal(judgments: CaptionPairs, folder: DataFolder) -> References:
    """Return the fifty references of each image, except the captions of the pair."""
    of_image = folder.json(_FIFTY)
    candidates = judgments.captions.candidates
    references: list[list[str]] = []
    for row, item in enumerate(judgments.items):
        first = row - row % 2
        references.append(without(of_image[item.split("|")[0]], *candidates[first : first + 2]))
    return references_table(judgments.items, references, [*map(str, judgments.captions.references.images)])


def _systems(pair: CaptionPair) -> tuple[str, str]:
    first, second = pair.facts["system"]
    return str(first), str(second)
