"""captious parse, with the bundled grammar."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run, assert_refused

pytestmark = pytest.mark.usefixtures("cache")


@pytest.fixture
def captions(tmp_path: Path) -> Path:
    (tmp_path / "captions.json").write_text(json.dumps([{"image_id": 1, "caption": "two dogs ( brown ) sit"}]))
    return tmp_path / "captions.json"


def test_parses_are_written_as_json_lines(run: Run, captions: Path, tmp_path: Path) -> None:
    outcome = run("parse", captions, "-o", tmp_path / "p.jsonl", "--grammar", "bundled", "--tokenizer", "whitespace")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == f"{tmp_path / 'p.jsonl'}: 1 caption, parsed with bundled-4\n"
    (record,) = map(json.loads, (tmp_path / "p.jsonl").read_text().splitlines())
    assert (record["parser"], record["caption"]) == ("bundled-4", "two dogs ( brown ) sit")
    assert record["word"] == record["caption"].split()


@pytest.mark.parametrize("name", ["p.conllu", "p.jsonl.gz", "p.json", "p"])
def test_parse_output_with_another_extension_is_refused(run: Run, captions: Path, tmp_path: Path, name: str) -> None:
    assert_refused(run("parse", captions, "-o", tmp_path / name), "JSON Lines", name, ".jsonl")
    assert not (tmp_path / name).exists()
