"""Flickr8k-Expert and Flickr8k-CF: judgments of captions of Flickr8k's test images. Hodosh et al. 2013."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from captious.errors import ParameterError
from captious.judgment import DataFolder, Protocol, RatedCaption
from captious.judgment.files import entry_of, number_within, read_flickr8k_captions

# Flickr8k-CF: captions of Flickr8k's test images with crowdsourced yes or no judgments. Hodosh et al. 2013.
#
# Of the 47,830 published pairs, the normalized file has 47,288: nine neighboring images are missing.

_CAPTIONS = "flickr8k/captions.jsonl"


def unjudged_references(item: RatedCaption) -> list[str]:
    """Remove one reference for each judged caption of the image with the same text, as in Hessel et al. 2021."""
    references = [*item.references]
    for text in item.facts.get("judged", ()):
        if text in references:
            references.remove(text)
    return references


def captions_by_image(folder: DataFolder, name: str) -> dict[str, list[str]]:
    """Read ``{image: [caption]}``; no judged caption is among them."""
    captions: dict[str, list[str]] = folder.json(name)
    return captions


def read_published_cf(folder: DataFolder, name: str, tokens: str) -> list[RatedCaption]:
    """Read image, caption, share of yes, number of yes, number of no."""
    text_of, references_of = read_flickr8k_captions(folder, tokens)
    judged: dict[str, list[str]] = defaultdict(list)  # for each image, the captions that may remove a reference
    items = []
    for number, (image, caption, share, yes, no) in folder.rows(name, 5):
        where = folder.place(name, number)
        candidate, references = entry_of(text_of, caption, where), entry_of(references_of, image, where)
        if candidate in references:
            judged[image].append(candidate)
        for count in (yes, no):
            number_within(count, 0, None, where)
        rating = number_within(share, 0, 1, where)
        facts = {"judged": judged[image]}
        items.append(RatedCaption(f"{image}|{caption}", image, candidate, references, [rating], facts=facts))
    for item in {item.image: item for item in items}.values():
        if not unjudged_references(item):
            raise folder.error(f"all captions of {item.image} are judged, so it has no references", name)
    return items


def items_cf(protocol: Protocol, items: list[RatedCaption], folder: DataFolder) -> list[RatedCaption]:
    """Return the captions, with all references of their images if the normalized file lacks some that are needed."""
    if not protocol.name.startswith("cui2018") or "judged" in items[0].facts:
        return items
    captions = {r["image"]: r["captions"] for r in folder.records(_CAPTIONS)}
    where = folder.place(_CAPTIONS)
    return [replace(item, references=entry_of(captions, item.image, where)) for item in items]


# Flickr8k-Expert: captions of Flickr8k's test images, each rated by three experts. Hodosh et al. 2013.
#
# Formats are the normalized file, the owners' files, and ``flickr.json`` of Yi et al. 2020, which has the mean ratings
# of the same captions, without the 158 that are references of their image.

_OBTAIN = "Hodosh et al. 2013, ExpertAnnotations.txt and Flickr8k.token.txt"
_SMURF = "smurf2021-untied"


def is_own(item: RatedCaption) -> bool:
    """Return whether the caption is one of the references of its image."""
    return item.candidate in item.references


def first_reference(item: RatedCaption) -> Sequence[str]:
    """Return the first reference."""
    return item.references[:1]


def read_published_expert(folder: DataFolder, name: str, tokens: str) -> list[RatedCaption]:
    """Read lines such as ``1056338697_4f7d7ce270.jpg  2718495608_d8533e3ac5.jpg#2  1  1  2``."""
    text_of, references_of = read_flickr8k_captions(folder, tokens)
    items = []
    for number, (image, caption, *scores) in folder.rows(name, 5):
        where = folder.place(name, number)
        candidate, references = entry_of(text_of, caption, where), entry_of(references_of, image, where)
        ratings = [number_within(score, 1, 4, where) for score in scores]
        items.append(RatedCaption(f"{image}|{caption}", image, candidate, references, ratings))
    return items


def read_means(folder: DataFolder, name: str) -> list[RatedCaption]:
    """Read ``{"0": {"refs": [...], "cand": [...], "score": 1.3333}}``; equal references denote the same image."""
    images: dict[tuple[str, ...], str] = {}
    items = []
    for key, entry in folder.entries(name, ("refs", "cand", "score")):
        where = folder.place(name, f"entry {key!r}")
        references, candidates = entry["refs"], entry["cand"]
        if not _are_texts(references) or not _are_texts(candidates) or len(candidates) != 1:
            raise folder.error("refs and cand are not lists of captions", name, f"entry {key!r}")
        image = images.setdefault(tuple(references), f"image {len(images)}")
        mean = number_within(entry["score"], 1, 4, where)
        items.append(
            RatedCaption(
                f"{image}|{key}", image, candidates[0], references, [mean], facts={"means_in": folder.place(name)}
            )
        )
    return items


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(text, str) for text in value)


def _remove_ties(items: Sequence[RatedCaption]) -> list[RatedCaption]:
    """Return the captions of images whose captions all have different mean ratings, apart from own references."""
    means: dict[object, list[float]] = {}
    for item in items:
        if not is_own(item):
            means.setdefault(item.image, []).append(sum(item.ratings) / len(item.ratings))
    return [item for item in items if len(image_means := means.get(item.image, [])) == len({*image_means})]


def items_expert(protocol: Protocol, items: Sequence[RatedCaption], folder: DataFolder) -> Sequence[RatedCaption]:
    if protocol.ratings != "mean" and "means_in" in items[0].facts:
        raise ParameterError(
            f"{protocol.full_name} needs every rating, but only their means are available",
            where=items[0].facts["means_in"],
            hint=f"get {_OBTAIN}, or judge {protocol.benchmark}@yi2020",
        )
    return _remove_ties(items) if protocol.name == _SMURF else items
