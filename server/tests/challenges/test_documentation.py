"""server/docs/challenges.md describes the format as it is."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from captious_server.challenges import definition
from captious_server.challenges.definition import SETTINGS, ChallengeDefinition, definition_from

PAGE = (Path(__file__).parents[2] / "docs" / "challenges.md").read_text(encoding="utf-8")


def test_documented_example_is_a_valid_challenge() -> None:
    (example,) = re.findall(r"^```toml\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    definition = definition_from(tomllib.loads(example))
    assert [definition.label(row.captions, row.name) for row in definition.references] == [
        "val2014 · c5",
        "test2014 · c5",
        "test2014 · c40",
    ]


@pytest.mark.parametrize("name", ["", "texts", "downloads", "captions", "references", "phases", "fields", "baselines"])
def test_every_key_is_documented(name: str) -> None:
    heading = f"### `[[{name}]]`" if name else "## `challenge.toml`"
    section = re.split(r"^#+ ", PAGE.partition(heading)[2], flags=re.MULTILINE)[0]
    assert section
    lists = {"texts", "downloads", "captions", "references", "phases", "fields", "baselines", "settings"}
    table = {
        "": ChallengeDefinition,
        "texts": definition.TextDefinition,
        "downloads": definition.DownloadDefinition,
        "captions": definition.CaptionsDefinition,
        "references": definition.ReferencesDefinition,
        "phases": definition.PhaseDefinition,
        "fields": definition.FieldDefinition,
        "baselines": definition.BaselineDefinition,
    }[name]
    keys = set(table.model_fields) - (set() if name else lists) | (set() if name else {*SETTINGS})
    assert keys <= set(re.findall(r"`([^`\n]+)`", section))
