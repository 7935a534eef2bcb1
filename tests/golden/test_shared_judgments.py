"""Judgments, studies and papers on real data: numbers, names and ids of them, but no captions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.golden.command_line import Shell
from tests.golden.files import checksum
from tests.golden.record import Record
from tests.support.shared_data import DATA, with_data

pytestmark = with_data

FEW = "-m bleu-1 -m rouge-l --resamples 20"
JUDGED = [
    *("wmt16-daseg", "wmt16-daseg@kendall-tau-b", "valse", "audiocaps-eval@kinds", "clotho-eval", "iiw", "iiw@iiw-400"),
    *("factvc", "factvc@sentences-youcook2", "sugarcrepe-pp", "sugarcrepe", "pascal-50s", "abstract-50s"),
    *("flickr8k-expert", "flickr8k-expert@yi2020", "coco-2015", "coco-2015@m2", "conll14-gec", "nocaps-foil"),
    *("thumb", "polaris", "nebula", "foil-coco", "hat", "vatex-eval", "distractors", "nope"),
]
LARGE = ["composite", "flickr8k-cf", "nocaps-foil@domains"]
ITEMS = ["wmt16-daseg", "audiocaps-eval", "valse@plurals", "iiw@docci", "pascal-50s", "coco-2015", "conll14-gec"]
STUDIES = [
    f"study metrics audiocaps-eval {FEW.split(' --')[0]} --format json",
    "study metrics flickr8k-expert -m bleu-1 -m rouge-l -m cider-d --format json",
    "study references audiocaps-eval -m bleu-1 --counts 1,3 --draws 2 --resamples 10 --format json",
    "study references pascal-50s -m rouge-l --counts 5,20 --draws 1 --resamples 10 --format json",
]
PAPERS = [
    "reproduce wembsim systems --format json",
    "reproduce yi2020 systems --format csv",
    "reproduce lceval distractors --format csv",
    "reproduce smurf ellipses --format json",
]
LONG = [
    "reproduce lceval wmt16 --format json",
    "reproduce lceval hwcm --format json",
    "reproduce coco words --format json",
]


def run(shell: Shell, line: str) -> dict[str, Any]:
    """Return what a command gives with the folder of real data, without its time."""
    found = shell.run(f"{line} --data {DATA}")
    if isinstance(found.get("output"), dict):
        for timed in (found["output"], *found["output"].get("tables", {}).values()):
            timed.pop("seconds", None)
    return {"command": line, **found}


def test_judgments_are_as_recorded(shell: Shell, record: Record) -> None:
    record("shared/judge", [run(shell, f"judge {name} {FEW} --format json") for name in JUDGED])


@pytest.mark.slow
def test_large_judgments_are_as_recorded(shell: Shell, record: Record) -> None:
    record("shared/judge-large", [run(shell, f"judge {name} {FEW} --compare --format json") for name in LARGE])


def test_comparisons_of_metrics_are_as_recorded(shell: Shell, record: Record) -> None:
    lines = [
        f"judge audiocaps-eval {FEW} -m cider-d --compare --test {test} --format json"
        for test in ("permutation", "bootstrap")
    ]
    lines += [f"judge audiocaps-eval valse {FEW} --compare --format {name}" for name in ("table", "csv", "tex")]
    record("shared/compare", [run(shell, line) for line in lines])


def test_items_are_as_recorded(shell: Shell, record: Record) -> None:
    """Their number and checksums."""
    found = {}
    for name in ITEMS:
        outcome = run(shell, f"data items {name}")
        lines = outcome.pop("output")
        assert outcome["status"] == 0
        found[name] = {**outcome, "items": len(lines), "checksum": checksum("\n".join(lines))}
    record("shared/items", found)


def test_list_of_data_is_as_recorded(shell: Shell, record: Record) -> None:
    record("shared/list", [run(shell, line) for line in ("data list", "data list --format json")])


def test_studies_are_as_recorded(shell: Shell, record: Record) -> None:
    record("shared/studies", [run(shell, line) for line in STUDIES])


def test_papers_are_as_recorded(shell: Shell, record: Record) -> None:
    record("shared/papers", [run(shell, line) for line in PAPERS])


@pytest.mark.slow
@pytest.mark.nightly
def test_long_papers_are_as_recorded(shell: Shell, record: Record) -> None:
    record("shared/papers-long", [run(shell, line) for line in LONG])
