"""nocaps-FOIL: a caption of nocaps and one in which an object was replaced by another. Petryk et al. 2024 (ALOHa).

ALOHa's paper reports the average precision of metrics in detecting captions with a wrong object, over all images and
for each of nocaps' domains. The forced choice of FOIL-COCO is a separate protocol.
"""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import Any

from captious.judgment import Benchmark, CaptionPair, DataFolder, Files, Protocol, RatedCaption, Rule

_FILE = "aloha/nocaps-val-foil.json"
_DOMAINS = ("in-domain", "near-domain", "out-domain")


def _read(folder: DataFolder) -> list[dict[str, Any]]:
    """Read ``[{"image_path", "references", "baseline", "foil", "domain"}]``."""
    return folder.json(_FILE)  # type: ignore[no-any-return]


def _items(protocol: Protocol, records: list[dict[str, Any]]) -> list[CaptionPair] | list[RatedCaption]:
    """Return pairs, or their single captions: 1 for the correct one, 0 for the other."""
    if protocol.of == "pairs":
        return [
            CaptionPair(r["image_path"], (r["baseline"], r["foil"]), 0, r["references"], r["domain"]) for r in records
        ]
    return [
        RatedCaption(
            f"{number}|{r['image_path']}|{kind}", r["image_path"], r[kind], r["references"], [correct], r["domain"]
        )
        for number, r in enumerate(records, start=1)
        for kind, correct in (("baseline", 1), ("foil", 0))
    ]


_by_domain = partial(
    Protocol, "nocaps-foil", ratings="known", parts=Rule("nocaps domains", attrgetter("part")), part_order=_DOMAINS
)

NOCAPS_FOIL = Benchmark(
    "nocaps-foil",
    (
        Protocol("nocaps-foil", "overall", "average-precision", "known", "captions", source="Petryk et al. 2024"),
        _by_domain("domains", statistic="average-precision", of="captions", source="Petryk et al. 2024"),
        _by_domain("forced-choice", statistic="accuracy", of="pairs"),
    ),
    (Files((_FILE,), _read),),
    "DavidMChan/aloha on GitHub, data",
    items=_items,
)
