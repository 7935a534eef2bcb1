"""What is stated beside a result comes from its run: resamples, permutations, seed and level, in every format."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import captious
from captious.evaluation.groups import grouped_score_table
from captious.evaluation.report import Reports, score_table
from captious.judgment import studies
from captious.report.formats import FORMATS
from captious.statistics import Sampling
from captious.tables import Table
from tests.support.corpora import references_table
from tests.support.judgments import write_jsonl
from tests.support.results import judged, judged_pairs, shards

WORDS = ["dog", "cat", "man", "bus", "bird", "horse", "boat", "girl", "plate", "bench", "street", "tree"]
REFERENCES = {
    i: [f"a {word} on the {WORDS[i - 1]}", f"the {word}", f"one {word} today"] for i, word in enumerate(WORDS)
}
GOOD = {i: f"a {word} on a {WORDS[i - 2]}" for i, word in enumerate(WORDS)}
FAIR = {i: f"a {WORDS[i - 1]} and the {word}" for i, word in enumerate(WORDS)}
POOR = {i: f"the {WORDS[i // 2]} there" for i in range(12)}
GROUPS = {i: ("even", "odd", "odd")[i % 3] for i in range(12)}
METRICS = ["bleu-1", "rouge-l", "chrf"]
#: Numbers that nothing has by default.
SAMPLING: Any = {"resamples": 37, "seed": 5}
DEFAULTS = re.compile(r"(?<![\d.,])(1,?000|12,?345)(?![\d,.]\d)(?!\d)")
USUAL_LEVEL = re.compile(r"95(\.0)? ?\\?%|0?\.95\b|ci95")


def report() -> captious.Report:
    return captious.score(GOOD, REFERENCES, METRICS, system="good")


def reports(n: int) -> Reports:
    systems = {"good": GOOD, "fair": FAIR, "poor": POOR}
    return Reports([captious.score(systems[name], REFERENCES, METRICS, system=name) for name in [*systems][:n]])


def compared(n: int) -> Any:
    return captious.compare(reports(n), level=0.8, **SAMPLING)


def comparison() -> captious.Comparison:
    return captious.compare(reports(2), level=0.8, **SAMPLING)


def judgment(folder: Path, test: str) -> captious.Judgment:
    return judged(folder, GOOD, POOR, REFERENCES, METRICS, compare=True, test=test, **SAMPLING)


def rated(folder: Path) -> Path:
    items = [
        {"candidate": caption[i], "references": REFERENCES[i], "image": str(i), "rating": rating}
        for i in range(12)
        for caption, rating in ((GOOD, 5), (POOR, 1))
    ]
    write_jsonl(folder, "rated.jsonl", items)
    return folder / "rated.jsonl"


def of_shards(folder: Path) -> captious.Report:
    return shards(folder, GOOD, REFERENCES, METRICS, intervals=True)


#: Kinds of results, and the level of their intervals; 95% where it cannot be chosen.
RESULTS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "scores": (lambda folder: score_table([report()], Sampling(**SAMPLING)), "95%"),
    "scores of systems": (lambda folder: score_table([*reports(3).values()], Sampling(**SAMPLING)), "95%"),
    "scores by group": (
        lambda folder: grouped_score_table([captious.by_group(report(), GROUPS)], Sampling(**SAMPLING)),
        "95%",
    ),
    "scores of shards": (lambda folder: score_table([of_shards(folder)], Sampling(**SAMPLING)), "95%"),
    "two systems": (lambda folder: compared(2), "80%"),
    "three systems": (lambda folder: compared(3), "80%"),
    "two systems by group": (lambda folder: captious.by_group(comparison(), GROUPS), "80%"),
    "level with decimals": (
        lambda folder: captious.compare(reports(2), level=0.975, **SAMPLING),
        "97.5%",
    ),
    "judged pairs": (lambda folder: judged_pairs(Sampling(**SAMPLING, level=0.8)), "80%"),
    "judgment": (lambda folder: judgment(folder, "permutation"), "95%"),
    "judgment by the bootstrap": (lambda folder: judgment(folder, "bootstrap"), "95%"),
    "study of references": (
        lambda folder: studies.reference_counts(rated(folder), METRICS, [1, 2], draws=1, **SAMPLING),
        "",
    ),
    "study of robustness": (
        lambda folder: studies.robustness(
            references_table([*REFERENCES.values()]), METRICS, strengths=[1.0], **SAMPLING
        ),
        "",
    ),
    "study of people": (
        lambda folder: studies.human_agreement(references_table([*REFERENCES.values()]), METRICS, **SAMPLING),
        "",
    ),
    "study of distributions": (
        lambda folder: studies.score_distributions({"good": GOOD}, REFERENCES, METRICS, sample=None, **SAMPLING),
        "95%",
    ),
    "study of systems": (
        lambda folder: studies.system_correlations(
            {"good": GOOD, "fair": FAIR, "poor": POOR},
            REFERENCES,
            METRICS,
            human={"m": {"good": 3, "fair": 2, "poor": 1}},
            **SAMPLING,
        ),
        "",
    ),
}


@pytest.mark.filterwarnings("ignore:with 37 resamples:captious.CaptiousWarning")
@pytest.mark.parametrize("kind", RESULTS)
def test_numbers_of_the_sampling_are_those_of_the_run(kind: str, tmp_path: Path) -> None:
    made, level = RESULTS[kind]
    result = made(tmp_path)
    table: Table = result if isinstance(result, Table) else result.to_table()
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
        score_table([of_shards(tmp_path)], Sampling()).notes
    )
