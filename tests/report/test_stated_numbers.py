"""What is stated beside a result comes from its run: resamples, permutations, seed and level, in every format."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import captious
from captious.evaluation.groups import GroupedReport, grouped_score_table
from captious.evaluation.report import Reports, score_table
from captious.judgment import studies
from captious.report.formats import FORMATS
from captious.statistics import Sampling
from captious.tables import Table
from tests.report.results import (
    GOOD,
    GROUPS,
    METRICS,
    POOR,
    REFERENCES,
    RESULTS,
    SAMPLING,
    SYSTEMS,
    of_shards,
    preferences,
    reports,
)
from tests.support.corpora import references_table
from tests.support.judgments import write_jsonl

DEFAULTS = re.compile(r"(?<![\d.,])(1,?000|12,?345)(?![\d,.]\d)(?!\d)")
USUAL_LEVEL = re.compile(r"95(\.0)? ?\\?%|0?\.95\b|ci95")


def rated(folder: Path) -> Path:
    items = [
        {"candidate": caption[i], "references": REFERENCES[i], "image": str(i), "rating": rating}
        for i in range(12)
        for caption, rating in ((GOOD, 5), (POOR, 1))
    ]
    write_jsonl(folder, "rated.jsonl", items)
    return folder / "rated.jsonl"


INTERVALS = Sampling(**SAMPLING)
TABLE: Any = references_table([*REFERENCES.values()])
HUMAN = {"m": {"good": 3, "fair": 2, "poor": 1}}
#: Kinds of results, and the level of their intervals; 95% where it cannot be chosen.
LEVELS = {
    "Report": "95%",
    "Reports": "95%",
    "GroupedReport": "95%",
    "ShardReport with intervals": "95%",
    "Comparison": "80%",
    "Comparison of several": "80%",
    "GroupedComparison": "80%",
    "Comparison with a level of decimals": "97.5%",
    "Preferences": "80%",
    "Judgment": "95%",
    "Judgment by the bootstrap": "95%",
    "study of references": "",
    "study of robustness": "",
    "study of people": "",
    "study of distributions": "95%",
    "study of systems": "",
}
#: Studies, which state no more than their settings.
STUDIES: dict[str, Callable[[Path], captious.Study]] = {
    "study of references": lambda folder: studies.reference_counts(rated(folder), METRICS, [1, 2], draws=1, **SAMPLING),
    "study of robustness": lambda folder: studies.robustness(TABLE, METRICS, strengths=[1.0], **SAMPLING),
    "study of people": lambda folder: studies.human_agreement(TABLE, METRICS, **SAMPLING),
    "study of distributions": lambda folder: studies.score_distributions(
        {"good": GOOD}, REFERENCES, METRICS, sample=None, **SAMPLING
    ),
    "study of systems": lambda folder: studies.system_correlations(
        SYSTEMS, REFERENCES, METRICS, human=HUMAN, **SAMPLING
    ),
}


def table_of(result: Any) -> Table:
    """Return a table with intervals, of the sampling where they are computed for it."""
    if isinstance(result, captious.Report):
        return score_table([result], INTERVALS)
    if isinstance(result, Reports):
        return score_table([*result.values()], INTERVALS)
    if isinstance(result, GroupedReport):
        return grouped_score_table([result], INTERVALS)
    return result.to_table()


@pytest.mark.filterwarnings("ignore:with 37 resamples:captious.CaptiousWarning")
@pytest.mark.parametrize("kind", LEVELS)
def test_numbers_of_the_sampling_are_those_of_the_run(kind: str, tmp_path: Path) -> None:
    level = LEVELS[kind]
    table = table_of({**RESULTS, **STUDIES}[kind](tmp_path))
    texts = {name: format_text(table, name) for name in FORMATS}
    texts["pictures"] = " ".join(map(repr, table.pictures.values()))
    unusual = [DEFAULTS, *[USUAL_LEVEL] * (level not in ("95%", ""))]
    for name, text in texts.items():
        for numbers in unusual:
            found = numbers.search(text)
            assert found is None, f"{name} says ...{text[max(found.start() - 60, 0) : found.end() + 30]}..."
    document = json.loads(texts["json"])
    if "resamples" not in document:
        document = document["settings"] if "settings" in document else document["systems"][0]
    assert {name: document[name] for name in SAMPLING} == SAMPLING
    if level:
        assert document.get("level", 0.95) == pytest.approx(float(level[:-1]) / 100)
        shown = " ".join(texts["table"].split())
        assert level in shown
        assert kind == "study of distributions" or re.search(r"\b37 (resamples|permutations)\b", shown)


def format_text(table: Table, name: str) -> str:
    """Return a table in a format as text: that of a page without its programs, or of the parts of a spreadsheet."""
    written = FORMATS[name](table)
    if isinstance(written, str):
        return re.sub(r"<(script|style|svg)\b.*?</\1>", "", written, flags=re.DOTALL) if name == "html" else written
    with zipfile.ZipFile(io.BytesIO(written)) as parts:
        return " ".join(parts.read(part).decode() for part in parts.namelist())


def test_judged_pairs_have_their_signature_and_strengths_in_every_format() -> None:
    result = preferences()
    texts = {name: format_text(result.to_table(), name) for name in FORMATS}
    assert all("judge-pairwise|" in text and "strength" in text for text in texts.values())
    assert all("37 resamples" in texts[name] for name in ("md", "tex", "xlsx"))
    [first, *_] = csv.DictReader(io.StringIO(texts["csv"], newline=""))
    assert [float(first[f"strength_{side}"]) for side in "ab"] == [result.strengths[name] for name in "xy"]


def test_pages_state_the_sampling_of_all_their_tables(tmp_path: Path) -> None:
    systems = reports(3)
    captious.write_report(systems, tmp_path / "page.html", groups=GROUPS, **SAMPLING)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert not re.search(r"1,000 resamples|seed 12345", page)
    assert page.count("37 resamples of images, seed 5") == 2
    low, high = captious.by_group(systems, GROUPS)["good"]["even"]["chrf"].confidence_interval(**SAMPLING)
    assert f"{low:.3f} – {high:.3f}".replace("0.", ".") in page


def test_shards_state_what_is_resampled(tmp_path: Path) -> None:
    assert "95% normal approximation of the bootstrap over captions, 1,000 resamples" in " ".join(
        score_table([of_shards(tmp_path, intervals=True)], Sampling()).notes
    )
