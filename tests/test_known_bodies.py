"""The tool that keeps the table of known bodies of toolkits."""

from __future__ import annotations

from pathlib import Path

import pytest

from captious.resources.fetch import installed_folder
from tools.known_bodies import HEADER, TABLE, Line, listing, main, read, renewed

pytestmark = pytest.mark.skipif(installed_folder("pycocoevalcap") is None, reason="needs pycocoevalcap")
UNIT = "bleu_scorer.BleuScorer.compute_score"
SOURCE = "someone/captions:eval/bleu/bleu_scorer.py"


@pytest.fixture
def checkouts(tmp_path: Path) -> Path:
    """Two repositories with a copy of the toolkit, of which the second has another constant."""
    folder = installed_folder("pycocoevalcap")
    assert folder is not None
    for repository, small in (("someone+captions", "1e-9"), ("another+captions", "1e-8")):
        for name in ("bleu/bleu.py", "bleu/bleu_scorer.py", "cider/cider_scorer.py"):
            copy = tmp_path / "checkouts" / repository / "eval" / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            text = (folder / name).read_text(encoding="utf-8").replace("small = 1e-9", f"small = {small}")
            copy.write_text(text, encoding="utf-8")
    return tmp_path / "checkouts"


def known() -> dict[tuple[str, str], Line]:
    return {(line.unit, line.digest): line for line in read(TABLE)}


def test_a_line_without_digest_gets_that_of_its_source(checkouts: Path, tmp_path: Path) -> None:
    table = tmp_path / "table.tsv"
    table.write_text(f"{HEADER}\n{UNIT}\t\tsame\t{SOURCE}\t\n", encoding="utf-8")
    assert main(["write", str(checkouts), "--table", str(table)]) == 0
    (line,) = read(table)
    published = known()[UNIT, line.digest]
    assert line == published._replace(source=SOURCE)


def test_a_function_that_is_gone_leaves_the_table_as_it_was(
    checkouts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "table.tsv"
    text = f"{HEADER}\n{UNIT}\t\tsame\tsomeone/captions:eval/bleu/bleu.py\t\n"
    table.write_text(text, encoding="utf-8")
    assert main(["write", str(checkouts), "--table", str(table)]) == 1
    assert table.read_text(encoding="utf-8") == text
    assert "someone/captions:eval/bleu/bleu.py has 0 functions" in capsys.readouterr().err


def test_one_body_cannot_compute_two_things(checkouts: Path) -> None:
    lines = [Line(UNIT, "", "same", SOURCE, ""), Line(UNIT, "", "scale=100", SOURCE, "")]
    _, faults = renewed(checkouts, lines)
    assert len(faults) == 1
    assert "computes scale=100, and also same" in faults[0]


def test_bodies_that_are_not_known_are_listed_as_such(checkouts: Path) -> None:
    rows = [line.split("\t") for line in listing(checkouts, read(TABLE))]
    says = {row[4]: row[2] for row in rows if row[0] == UNIT}
    assert says == {SOURCE: "same", "another/captions:eval/bleu/bleu_scorer.py": "?"}
    (count,) = {row[3] for row in rows if row[0] == "cider_scorer.CiderScorer.compute_cider"}
    assert count == "2"


def test_the_table_is_sorted_and_has_each_body_once() -> None:
    lines = read(TABLE)
    assert lines == sorted(lines)
    assert len(known()) == len(lines)
    assert TABLE.read_text(encoding="utf-8").startswith(f"{HEADER}\n")
