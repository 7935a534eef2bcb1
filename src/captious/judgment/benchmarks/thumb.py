"""THumB 1.0: expert ratings of precision and recall of COCO captions. Kasai et al. 2022.

Four systems and people, 500 captions each. Precision and recall are rated from 1 to 5; the total is their mean, minus
penalties for fluency, conciseness and non-inclusive language. There are four references: COCO's without the one that is
judged as the fifth system.

The format is taken from the owners' files; the protocols have not been run on them.
"""

from __future__ import annotations

from captious.judgment import Benchmark, DataFolder, Files, Protocol, RatedCaption, Rule
from captious.judgment.files.judgment_files import entry_of, number_within
from captious.judgment.protocols import NOTHING, system_protocols

_RATINGS = "thumb/mscoco_THumB-1.0.jsonl"
_REFERENCES = "thumb/mscoco_references.json"  # lines of json, in spite of its name
_MEASURES = {"total": "total", "precision": "precision, 1 to 5", "recall": "recall, 1 to 5"}
_FIELDS = {"total": "human_score", "precision": "P", "recall": "R"}


def _read(folder: DataFolder) -> list[RatedCaption]:
    """Read ``{"SYS", "seg_id", "hyp", "image", "P", "R", "human_score"}``, and ``{"seg_id", "refs"}``."""
    references = {str(r["seg_id"]): r["refs"] for r in folder.records(_REFERENCES)}
    items = []
    for line, r in folder.numbered_records(_RATINGS):
        where = folder.place(_RATINGS, line)
        facts = {name: number_within(r[field], -10, 5, where) for name, field in _FIELDS.items()}
        name, texts = f"{r['seg_id']}|{r['SYS']}", entry_of(references, str(r["seg_id"]), where)
        items.append(RatedCaption(name, r["image"], r["hyp"], texts, (), facts={"system": r["SYS"], **facts}))
    return items


def _protocol(measure: str, with_people: bool) -> Protocol:
    return Protocol(
        "thumb",
        f"{measure}-with-human" if with_people else measure,
        "pearson",
        "given",
        "captions",
        references=Rule("four of the image, without the human caption that is judged", lambda item: item.references),
        excluded=NOTHING if with_people else Rule("human captions", lambda item: item.facts["system"] == "Human"),
        measure=Rule(_MEASURES[measure], lambda item: item.facts[measure]),
        source="Kasai et al. 2022",
    )


THUMB = Benchmark(
    "thumb",
    (
        *(_protocol(measure, with_people) for with_people in (False, True) for measure in _MEASURES),
        *system_protocols(_protocol("total", False)),
    ),
    (Files((_RATINGS, _REFERENCES), _read),),
    "jungokasai/THumB on GitHub, mscoco",
)
