"""Flickr8k-CF: captions of Flickr8k's test images with crowdsourced yes or no judgments. Hodosh et al. 2013.

Of the 47,830 published pairs, the normalized file has 47,288: nine neighboring images are missing.
"""

from __future__ import annotations

from collections import defaultdict

from captious.judgment import Benchmark, DataFolder, Files, Protocol, RatedCaption, Rule
from captious.judgment.benchmarks.benchmark import TOOLKIT, figures
from captious.judgment.files.judgment_files import TOKENS, entry_of, number_within, read_flickr8k_captions

_NORMALIZED = "flickr8k/crowdflower.jsonl"
_REFERENCES = "flickr8k/crowdflower_refs.json"
_CROWD = "flickr8k/CrowdFlowerAnnotations.txt"


def _unjudged_references(item: RatedCaption) -> list[str]:
    """Remove one reference for each judged caption of the image with the same text, as in Hessel et al. 2021."""
    references = [*item.references]
    for text in item.facts["judged"]:
        if text in references:
            references.remove(text)
    return references


def _read_normalized(folder: DataFolder) -> list[RatedCaption]:
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
        for r in folder.records(_NORMALIZED)
    ]


def _read_published(folder: DataFolder) -> list[RatedCaption]:
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


FLICKR8K_CF = Benchmark(
    "flickr8k-cf",
    (
        Protocol(
            "flickr8k-cf",
            "hessel2021",
            "kendall-tau-b",
            "share",
            "captions",
            references=Rule("the image's references, without judged captions", _unjudged_references),
            source="Hessel et al. 2021",
        ),
    ),
    (Files((_NORMALIZED, _REFERENCES), _read_normalized), Files((_CROWD, TOKENS), _read_published)),
    "Hodosh et al. 2013, CrowdFlowerAnnotations.txt and Flickr8k.token.txt",
    published={
        "hessel2021": figures(
            TOOLKIT,
            {"bleu-1": 18.0, "bleu-4": 16.9, "rouge-l": 19.9, "meteor": 22.297, "cider-d": 24.7, "spice": 24.461},
        )
        | figures("Hessel et al. 2021", {"clipscore": 34.4}),
    },
)
