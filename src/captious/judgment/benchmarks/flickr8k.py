"""Flickr8k-Expert and Flickr8k-CF: judgments of captions of Flickr8k's test images. Hodosh et al. 2013."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from captious.errors import ParameterError
from captious.judgment import Benchmark, DataFolder, Figure, Files, Protocol, RatedCaption, Rule
from captious.judgment.benchmarks.benchmark import TOOLKIT, figures, rated
from captious.judgment.correlation import BY_IMAGE
from captious.judgment.files import TOKENS, entry_of, number_within, read_flickr8k_captions
from captious.judgment.judgments import AS_GIVEN

# Flickr8k-CF: captions of Flickr8k's test images with crowdsourced yes or no judgments. Hodosh et al. 2013.
#
# Of the 47,830 published pairs, the normalized file has 47,288: nine neighboring images are missing.

_NORMALIZED_CF = "flickr8k/crowdflower.jsonl"
_REFERENCES = "flickr8k/crowdflower_refs.json"
_CAPTIONS = "flickr8k/captions.jsonl"
_CROWD = "flickr8k/CrowdFlowerAnnotations.txt"
_ALL_REFERENCES = Rule("the image's five references, judged captions among them", AS_GIVEN.function)


def _unjudged_references(item: RatedCaption) -> list[str]:
    """Remove one reference for each judged caption of the image with the same text, as in Hessel et al. 2021."""
    references = [*item.references]
    for text in item.facts["judged"]:
        if text in references:
            references.remove(text)
    return references


def _read_normalized_cf(folder: DataFolder) -> list[RatedCaption]:
    """Read the normalized file, whose references include no judged caption."""
    references = folder.json(_REFERENCES)
    return [
        RatedCaption(
            f"{r['image']}|{r['caption_id']}",
            r["image"],
            r["candidate"],
            references[r["image"]],
            [r["yes_frac"]],
            facts={"judged": ()},
        )
        for r in folder.records(_NORMALIZED_CF)
    ]


def _read_published_cf(folder: DataFolder) -> list[RatedCaption]:
    """Read image, caption, share of yes, number of yes, number of no."""
    text_of, references_of = read_flickr8k_captions(folder)
    judged: dict[str, list[str]] = defaultdict(list)  # for each image, the captions that may remove a reference
    items = []
    for number, (image, caption, share, yes, no) in folder.rows(_CROWD, 5):
        where = folder.place(_CROWD, number)
        candidate, references = entry_of(text_of, caption, where), entry_of(references_of, image, where)
        if candidate in references:
            judged[image].append(candidate)
        for count in (yes, no):
            number_within(count, 0, None, where)
        rating = number_within(share, 0, 1, where)
        facts = {"judged": judged[image]}
        items.append(RatedCaption(f"{image}|{caption}", image, candidate, references, [rating], facts=facts))
    for item in {item.image: item for item in items}.values():
        if not _unjudged_references(item):
            raise folder.error(f"all captions of {item.image} are judged, so it has no references", _CROWD)
    return items


def _items_cf(protocol: Protocol, items: list[RatedCaption], folder: DataFolder) -> list[RatedCaption]:
    """Return the captions, with all references of their images if the normalized file lacks some that are needed."""
    if protocol.references is not _ALL_REFERENCES or not folder.has(_NORMALIZED_CF, _REFERENCES):
        return items
    captions = {r["image"]: r["captions"] for r in folder.records(_CAPTIONS)}
    where = folder.place(_CAPTIONS)
    return [replace(item, references=entry_of(captions, item.image, where)) for item in items]


_protocol_cf = partial(Protocol, "flickr8k-cf", statistic="kendall-tau-b", ratings="share", of="captions")

FLICKR8K_CF = Benchmark(
    "flickr8k-cf",
    (
        _protocol_cf(
            "hessel2021",
            references=Rule("the image's references, without judged captions", _unjudged_references),
            source="Hessel et al. 2021",
        ),
        _protocol_cf("cui2018", references=_ALL_REFERENCES, source="Cui et al. 2018, table 1"),
    ),
    (Files((_NORMALIZED_CF, _REFERENCES), _read_normalized_cf), Files((_CROWD, TOKENS), _read_published_cf)),
    "Hodosh et al. 2013, CrowdFlowerAnnotations.txt and Flickr8k.token.txt",
    items=_items_cf,
    published={
        "hessel2021": figures(
            TOOLKIT,
            {"bleu-1": 18.0, "bleu-4": 16.9, "rouge-l": 19.9, "meteor": 22.297, "cider-d": 24.7, "spice": 24.461},
        )
        | figures("Hessel et al. 2021", {"clipscore": 34.4}),
    },
)


# Flickr8k-Expert: captions of Flickr8k's test images, each rated by three experts. Hodosh et al. 2013.
#
# Formats are the normalized file, the owners' files, and ``flickr.json`` of Yi et al. 2020, which has the mean ratings
# of the same captions, without the 158 that are references of their image.

_EXPERT = "flickr8k/ExpertAnnotations.txt"
_MEANS = "yi2020/flickr.json"
_OBTAIN = "Hodosh et al. 2013, ExpertAnnotations.txt and Flickr8k.token.txt"
_SMURF = "smurf2021-untied"
_CUI = "cui2018"


_OWN = Rule("candidates that are among the references", lambda item: item.candidate in item.references)
_protocol = partial(
    Protocol,
    "flickr8k-expert",
    of="captions",
    references=Rule("the image's five references", AS_GIVEN.function),
    excluded=_OWN,
)


def _read_published_expert(folder: DataFolder) -> list[RatedCaption]:
    """Read lines such as ``1056338697_4f7d7ce270.jpg  2718495608_d8533e3ac5.jpg#2  1  1  2``."""
    text_of, references_of = read_flickr8k_captions(folder)
    items = []
    for number, (image, caption, *scores) in folder.rows(_EXPERT, 5):
        where = folder.place(_EXPERT, number)
        candidate, references = entry_of(text_of, caption, where), entry_of(references_of, image, where)
        ratings = [number_within(score, 1, 4, where) for score in scores]
        items.append(RatedCaption(f"{image}|{caption}", image, candidate, references, ratings))
    return items


def _read_means(folder: DataFolder) -> list[RatedCaption]:
    """Read ``{"0": {"refs": [...], "cand": [...], "score": 1.3333}}``; equal references denote the same image."""
    images: dict[tuple[str, ...], str] = {}
    items = []
    for key, entry in folder.entries(_MEANS, ("refs", "cand", "score")):
        where = folder.place(_MEANS, f"entry {key!r}")
        references, candidates = entry["refs"], entry["cand"]
        if not _are_texts(references) or not _are_texts(candidates) or len(candidates) != 1:
            raise folder.error("refs and cand are not lists of captions", _MEANS, f"entry {key!r}")
        image = images.setdefault(tuple(references), f"image {len(images)}")
        mean = number_within(entry["score"], 1, 4, where)
        items.append(
            RatedCaption(
                f"{image}|{key}", image, candidates[0], references, [mean], facts={"means_in": folder.place(_MEANS)}
            )
        )
    return items


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(text, str) for text in value)


def _remove_ties(items: Sequence[RatedCaption]) -> list[RatedCaption]:
    """Return the captions of images whose captions all have different mean ratings, apart from own references."""
    means: dict[object, list[float]] = {}
    for item in items:
        if not _OWN(item):
            means.setdefault(item.image, []).append(sum(item.ratings) / len(item.ratings))
    return [item for item in items if len(image_means := means.get(item.image, [])) == len({*image_means})]


def _by_reference(items: Sequence[RatedCaption]) -> list[RatedCaption]:
    """Return each caption once per reference of its image, apart from own references: equation 12 of Cui et al. 2018
    pairs every rating of a caption with every score.
    """
    return [
        replace(item, id=f"{item.id}|{number}", references=[reference])
        for item in items
        if not _OWN(item)
        for number, reference in enumerate(item.references, start=1)
    ]


def _items(protocol: Protocol, items: Sequence[RatedCaption], folder: DataFolder) -> Sequence[RatedCaption]:
    if protocol.ratings != "mean" and "means_in" in items[0].facts:
        raise ParameterError(
            f"{protocol.full_name} needs every rating, but only their means are available",
            where=items[0].facts["means_in"],
            hint=f"get {_OBTAIN}, or judge {protocol.benchmark}@yi2020",
        )
    prepare = {_SMURF: _remove_ties, _CUI: _by_reference}.get(protocol.name)
    return prepare(items) if prepare else items


FLICKR8K_EXPERT = Benchmark(
    "flickr8k-expert",
    (
        _protocol("spice2016", statistic="kendall-tau-c", ratings="each", source="Anderson et al. 2016"),
        _protocol("tau-b", statistic="kendall-tau-b", ratings="each", source="as spice2016, with tau-b"),
        _protocol(
            _CUI,
            statistic="kendall-tau-b",
            ratings="each",
            references=Rule("the image's five references one by one, a score for each", AS_GIVEN.function),
            source="Cui et al. 2018, table 1",
        ),
        _protocol("yi2020", statistic="kendall-tau-b", ratings="mean", source="Yi et al. 2020, published code"),
        _protocol(
            "yi2020-tau-c", statistic="kendall-tau-c", ratings="mean", digits=6, source="Yi et al. 2020, table 3"
        ),
        _protocol(
            _SMURF,
            statistic=BY_IMAGE,
            ratings="mean",
            excluded=Rule(f"{_OWN.text}; images of which two captions have the same mean rating", _OWN.function),
            source="Feinglass and Yang 2021, table 4",
        ),
    ),
    (
        rated("flickr8k/expert.jsonl", "{image}|{caption_id}", ("image", "candidate", "refs", "scores")),
        Files((_EXPERT, TOKENS), _read_published_expert),
        Files((_MEANS,), _read_means),
    ),
    _OBTAIN,
    items=_items,
    published={
        "spice2016": figures(
            TOOLKIT,
            {
                "bleu-1": 32.324, "bleu-4": 30.776, "rouge-l": 32.314, "meteor": 41.822, "cider-d": 43.891,
                "spice": 44.888,
            },
        )
        | figures("Hessel et al. 2021", {"clipscore": 51.2}),
        "tau-b": figures(
            TOOLKIT,
            {"bleu-1": 32.2, "bleu-4": 30.6, "rouge-l": 32.1, "meteor": 41.5, "cider-d": 43.6, "spice": 51.658},
        ),
        "yi2020": {
            metric: Figure(value, "pycocoevalcap 1.2 on flickr.json of Yi et al. 2020", tolerance=1e-4)
            for metric, value in {
                "bleu-1": 0.33898552865503245,
                "bleu-4": 0.3211575855542149,
                "rouge-l": 0.3359004003647944,
                "meteor": 0.4496433995394689,
                "cider-d": 0.46790490014362496,
            }.items()
        },
    },
)  # fmt: skip
