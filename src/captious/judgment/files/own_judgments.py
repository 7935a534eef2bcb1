"""Your own judgments: one JSON object per line, ratings or pairs. docs/judgment.md shows the format."""

from __future__ import annotations

import re
import reprlib
import sys
from collections.abc import Mapping
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from captious.errors import CaptionFileError, EmptyInputError, ResourceError, UnknownNameError
from captious.judgment.benchmark_items import CaptionPair, RatedCaption, Unknown, judgments_of
from captious.judgment.correlation import STATISTICS
from captious.judgment.files.judgment_files import DataFolder
from captious.judgment.human_judgments import HumanJudgments
from captious.judgment.protocols import SYSTEM_FACT, Protocol, Rule
from captious.judgment.rated_systems import SYSTEM_STATISTICS
from captious.phrases import counted

#: Before statistics that compare mean scores of systems with their mean ratings.
_SYSTEM = "system-"
#: The statistics for a file of ratings, or of pairs; the first is the default.
_STATISTICS = {
    "ratings": (
        "kendall-tau-c",
        *(name for name in STATISTICS if name != "kendall-tau-c"),
        *(_SYSTEM + name for name in SYSTEM_STATISTICS),
    ),
    "pairs": ("accuracy",),
}
#: Name of the protocol when no statistic is requested.
_DEFAULT = "own"
_PARTS = Rule("", attrgetter("part"))
_LARGEST_RATING = sys.float_info.max
_FORM = (
    'write {"candidate": "...", "references": ["..."], "rating": 3}'
    ' or {"better": "...", "worse": "...", "references": ["..."]} on every line'
)
_FORM_WITH_SYSTEM = 'write {"candidate": "...", "references": ["..."], "rating": 3, "system": "..."} on every line'


def as_own(benchmark: str) -> tuple[Path, str] | None:
    """Split ``mine.jsonl`` or ``mine.jsonl@spearman`` into file and statistic; None for other files than .jsonl.

    The file may be compressed, ``mine.jsonl.gz``, and can be named without .gz. The statistic is "own" if none is
    named.
    """
    match = re.fullmatch(r"(.*\.jsonl)(?:\.gz)?(?:@([^@]*))?", benchmark, re.DOTALL)
    if match is None:
        return None
    return Path(match[1]), _DEFAULT if match[2] is None else match[2]


def load_own(path: Path, statistic: str = _DEFAULT) -> HumanJudgments:
    """Load your own judgments, one JSON object per line: ratings or pairs.

    Ratings: ``{"candidate": ..., "references": [...], "rating": 3}``, or ``"ratings": [3, 4, 3]``, each of which is a
    point. Pairs: ``{"better": ..., "worse": ..., "references": [...]}``. With ``"image"``, the captions of an image are
    resampled together; with ``"part"``, the statistic is computed for each part and averaged; with ``"system"``, mean
    scores of systems can be compared with their mean ratings.

    Pairs can represent any forced choice: the distractors of Hodosh and Hockenmaier 2016 (a part per kind of change)
    and FOIL (better: the caption with ``"foil": false``; worse: the one with ``"foil": true`` made from it).

    Args:
        path: the file; its name may have the suffix .gz.
        statistic: for ratings kendall-tau-b, kendall-tau-c, spearman or pearson; system-pearson, system-spearman,
            system-kendall-tau-b or system-pairwise-accuracy; for pairs accuracy. "own" for the default: kendall-tau-c
            for ratings.

    Raises:
        ResourceError: the file does not exist.
        UnknownNameError: an unknown statistic, or one for other forms of judgments.
        CaptionFileError: a line has another form.
        EmptyInputError: no lines.
    """
    folder = DataFolder(path.parent)
    if not folder.has(path.name):
        raise ResourceError("judgment file not found", where=str(path), help="check the path")
    lines = list(folder.numbered_records(path.name))
    if not lines:
        raise EmptyInputError("there are no judgments", where=str(path), help=_FORM)
    pairs = "better" in lines[0][1]
    measure = _statistic(path, "pairs" if pairs else "ratings", statistic)
    of_systems = measure.startswith(_SYSTEM)
    for number, record in lines:
        if problem := _problem(record, pairs) or ("no system" if of_systems and record.get("system") is None else ""):
            help = _FORM_WITH_SYSTEM if problem == "no system" else _FORM
            raise CaptionFileError(problem, where=f"{path}, line {number}", help=help)
    protocol = Protocol(path.stem, statistic, measure.removeprefix(_SYSTEM), "each", "captions", parts=_PARTS)
    if of_systems:
        if (n := len({str(record["system"]) for _, record in lines})) < 3:
            raise CaptionFileError(
                f"{counted(n, 'system', 'are')} too few for a correlation",
                where=str(path),
                help="give captions of three or more",
            )
        protocol = replace(protocol, parts=None, systems=SYSTEM_FACT)
    if pairs:
        protocol = replace(protocol, ratings="majority", of="pairs")
    return judgments_of(protocol, [_item(number, record, pairs) for number, record in lines], folder.read)


def _statistic(path: Path, form: str, name: str) -> str:
    """Return the statistic to judge a file by."""
    statistics = _STATISTICS[form]
    if name == _DEFAULT:
        return statistics[0]
    if name not in statistics:
        raise UnknownNameError(
            f"there is no statistic {name!r} for {form}",
            where=str(path),
            help=f"statistics for {form}: {', '.join(statistics)}",
        )
    return name


def _item(number: int, record: Mapping[str, Any], pairs: bool) -> CaptionPair | RatedCaption:
    image, references, part = _image(number, record), record["references"], str(record.get("part", "all"))
    if pairs:
        return CaptionPair(image, (record["better"], record["worse"]), 0, references, part)
    facts = {"system": str(record.get("system"))}
    return RatedCaption(str(number), image, record["candidate"], references, _ratings(record), part, facts)


def _ratings(record: Mapping[str, Any]) -> Any:
    return record["ratings"] if "ratings" in record else [record["rating"]]


def _image(number: int, record: Mapping[str, Any]) -> str | Unknown:
    """Return the image as text, so "7" and 7 are equal; a line without one is an image of its own."""
    return str(record["image"]) if record.get("image") is not None else Unknown(number)


def _problem(record: Mapping[str, Any], pairs: bool) -> str:
    """Return the problem of a record; empty if it is valid."""
    keys = ("better", "worse") if pairs else ("candidate",)
    for key in keys:
        if key not in record:
            return f"no {key}"
        if not isinstance(record[key], str):
            return f"{key} is not a string"
    if "references" not in record:
        return "no references"
    references = record["references"]
    if not (isinstance(references, list) and references and all(isinstance(text, str) for text in references)):
        return "references must be a non-empty list of strings"
    for key in ("image", "part", "system"):
        if not isinstance(record.get(key), str | int | float | None):
            return f"{key} is neither a string nor a number"
    texts = [*(record[key] for key in keys), *references, str(record.get("part")), str(record.get("system"))]
    if re.search("[\ud800-\udfff]", "".join(texts)):
        return "a lone surrogate (half of a character), which is not text"
    return "" if pairs else _wrong_rating(record)


def _wrong_rating(record: Mapping[str, Any]) -> str:
    if ("rating" in record) == ("ratings" in record):
        return "rating and ratings cannot both be given" if "rating" in record else "no rating"
    ratings = _ratings(record)
    if not isinstance(ratings, list) or not ratings:
        return "ratings must be a non-empty list of numbers"
    for rating in ratings:
        if isinstance(rating, bool) or not isinstance(rating, int | float) or not abs(rating) <= _LARGEST_RATING:
            return f"a rating is not a number: {reprlib.repr(rating)}"
    return ""
