"""The rules of COCO's collection: which captions break which rule."""

from __future__ import annotations

import pytest

from captious.judgment import Study
from captious.judgment.studies import collection_rules
from captious.judgment.studies.people import RULES
from tests.support.corpora import references_table

LONG = "a brown dog runs on a wide green field"
PEOPLE = references_table(
    [
        [LONG, "A dog runs, and a cat sits there.", "A dog, a cat and a man run"],  # 9, 8 and 8 words
        [
            "There are two dogs on a wide green field",
            "there's a bus",
            "There is a bus on a wide green field",
            "Is there a dog on a wide green field ?",
        ],
        ["A dog will soon run on a wide green field", "the dog that is going to the park is a brown one"],
        ["A man says that a dog is on a field", 'A bus with "no service" on its sign stops here'],
        ["A man called Barack stands on a wide green field", "A Red dog, and a red bus, on a wide field"],
    ]
)


def broken(study: Study, source: str = "people") -> dict[str, int]:
    return {record["rule"]: record["broken"] for record in study.records if record["captions_of"] == source}


def test_broken_rules_of_people_are_counted() -> None:
    study = collection_rules(PEOPLE)
    assert broken(study) == dict(zip(RULES, (1, 2, 1, 2, 1), strict=True))
    record = study.records[1]
    assert (record["captions"], record["share"]) == (13, pytest.approx(2 / 13))
    assert record["example"] == "there's a bus"


def test_broken_rules_of_systems_are_counted() -> None:
    study = collection_rules(PEOPLE, systems={"mine": {0: LONG, 1: "There is a bus"}}, match="common")
    assert broken(study, "mine") == dict(zip(RULES, (1, 1, 0, 0, 0), strict=True))
