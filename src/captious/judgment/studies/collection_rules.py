"""Compliance of captions with the rules by which COCO's captions were collected.

Chen et al. 2015, section 2: people were told to write at least eight words, not to begin with "There is", and not to
describe the future or the past, what a person might say, or people by their names; and to describe all important and no
unimportant details, which no program can check. The first two rules are checked exactly ("There's" is "There is",
"There are" is not); for the others, words that usually indicate a violation are counted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from captious.data import read_captions, read_references
from captious.judgment.protocols import PEOPLE
from captious.judgment.studies.shared.study_sources import check_systems, checksums, name_of_file
from captious.judgment.study_result import Study
from captious.phrases import counted
from captious.progress import steps
from captious.text import PTB, Tokens

#: Name in tables of those who wrote the references.
_WORDS = 8
_OPENING = re.compile(r"\W*there(?:'s|\u2019s| is)\b", re.IGNORECASE)
_TIME = re.compile(r"\b(?:will|would|was|were|had|did|going to (?!the\b|a\b)|about to|used to)\b", re.IGNORECASE)
_SPEECH = re.compile(r"\b(?:says?|said|saying|asks?|asked|asking|shouts?|yells?|tells?)\b|[\"\u201c]", re.IGNORECASE)
_CAPITALIZED = re.compile(r"(?<=[\w,] )[A-Z][a-z]+\b")

#: The rules, as tables name them.
RULES = ("eight words or more", 'not "There is"', "no future or past", "no speech", "no names")


def collection_rules(references: object, *, systems: Mapping[str, object] | None = None, subset: bool = False) -> Study:
    """Count the human captions, and captions of systems, that break the rules of COCO's collection.

    Args:
        references: human captions, in any supported form.
        systems: captions of systems by name, in any supported form, to check as well.
        subset: with systems, use the images that both sides have.

    Returns:
        One record per rule for people and for each system: captions_of, rule, captions (how many), broken (how many
        break it), share, and an example.

    Raises:
        ParameterError: a system named people.
        Others as ``captious.score``, about captions.
    """
    systems = systems or {}
    check_systems(systems, required=False)
    table, data = read_references(references), checksums(references)
    captions: dict[str, Sequence[str]] = {PEOPLE: table.texts}
    captions |= {name: read_captions(source, table, subset=subset).candidates for name, source in systems.items()}
    common = _common(table.texts)
    records: list[dict[str, Any]] = []
    with steps([*captions], str) as names:
        for name in names:
            for rule, broken in zip(RULES, _broken(captions[name], common), strict=True):
                record = {"captions_of": name, "rule": rule, "captions": len(captions[name]), "broken": len(broken)}
                record |= {"share": len(broken) / max(1, len(captions[name])), "example": broken[0] if broken else ""}
                records.append(record)
    return Study(
        "rules",
        f"Rules of COCO's collection: {name_of_file(references, table.name)}, {counted(len(table), 'image')}",
        ("captions_of", "rule", "captions", "broken", "share", "example"),
        records,
        {},
        {**data, **checksums(*systems.values())},
        {"tokenizer": PTB.name},
        notes=[
            "Words are counted as PTB tokens without punctuation. The last three rules are judged by words that "
            "usually go with breaking them, such as will, was and says, by quotation marks, and by capitalized words "
            "inside a caption that the references never write in lower case."
        ],
    )


def _broken(captions: Sequence[str], common: frozenset[str]) -> list[list[str]]:
    """Return the captions that break each of ``RULES``."""
    words = Tokens.of(captions, PTB).split().offsets
    short = [caption for caption, n in zip(captions, (words[1:] - words[:-1]).tolist(), strict=True) if n < _WORDS]
    matches = [[caption for caption in captions if rule.search(caption)] for rule in (_TIME, _SPEECH)]
    names = [
        caption for caption in captions if any(word.lower() not in common for word in _CAPITALIZED.findall(caption))
    ]
    return [short, [caption for caption in captions if _OPENING.match(caption)], *matches, names]


def _common(captions: Sequence[str]) -> frozenset[str]:
    """Return the words that are written in lower case somewhere."""
    return frozenset(word for caption in captions for word in re.findall(r"\b[a-z]+\b", caption))
