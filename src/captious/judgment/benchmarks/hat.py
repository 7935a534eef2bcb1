"""HAT: machine captions of COCO's images with human marks of hallucinated objects. Petryk et al. 2024 (ALOHa).

The paper reports the average precision of metrics in detecting captions with a hallucination. The
localization of the hallucinated word, which the paper reports as well, needs more than a score per caption.

The format is taken from the owners' file; the protocol has not been run on all of it. The file in the repository has
the captions that the authors used for tuning (train and validation).
"""

from __future__ import annotations

from captious.judgment import Benchmark, DataFolder, Files, Protocol, RatedCaption

_FILE = "aloha/hat-trainval.json"


def _read(folder: DataFolder) -> list[RatedCaption]:
    """Read ``[{"image_path", "caption", "references", "contains_hallucination": true or false}]``."""
    items = []
    for number, r in enumerate(folder.json(_FILE), start=1):
        if not isinstance(r["contains_hallucination"], bool):
            raise folder.error("contains_hallucination is neither true nor false", _FILE, f"record {number}")
        rating = 0 if r["contains_hallucination"] else 1
        image = r["image_path"]
        items.append(RatedCaption(f"{number}|{image}", image, r["caption"], r["references"], [rating]))
    return items


HAT = Benchmark(
    "hat",
    (Protocol("hat", "trainval", "average-precision", "given", "captions", source="Petryk et al. 2024"),),
    (Files((_FILE,), _read),),
    "DavidMChan/aloha on GitHub, data",
)
