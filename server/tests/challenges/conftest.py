"""What the tests of challenges share: a folder in COCO's form, the problems of one, and a challenge with comments."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from captious_server.challenges.folder import check_folder
from captious_server.challenges.problems import ChallengeError
from server.tests.challenges.drafting import COMMENTED
from server.tests.support.site import Site
from server.tests.support.small_challenge import write_folder

TOML = "\n" + Path(__file__).with_name("challenge.toml").read_text("utf-8")

Problems: TypeAlias = Callable[[], list[str]]


def write_json(path: Path, content: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def coco(captions: dict[int, list[str]]) -> dict[str, object]:
    """Captions as COCO writes annotations."""
    rows = [(image, text) for image, texts in captions.items() for text in texts]
    return {"annotations": [{"id": n, "image_id": image, "caption": text} for n, (image, text) in enumerate(rows)]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A challenge without problems: c5 of two captions files, c40 of one."""
    folder = tmp_path / "coco-captions"
    folder.mkdir()
    (folder / "challenge.toml").write_text(TOML, encoding="utf-8")
    (folder / "overview.md").write_text("# Données\n", encoding="utf-8")
    write_json(folder / "references" / "val2014_c5.json", coco({7: ["a cat", "the cat"], 3: ["a dog", "dogs"]}))
    write_json(folder / "references" / "test2014_c5.json", coco({9: ["a bus", "the bus"], 5: ["a red car", "cars"]}))
    # Written as text, as a JSON object has to.
    write_json(folder / "references" / "test2014_c40.json", {"5": ["cars on a road"] * 40, "4": ["a road"] * 40})
    human = [{"image_id": 3, "caption": "a small dog"}, {"image_id": 7, "caption": "cat"}]
    write_json(folder / "baselines" / "human.json", human)
    return folder


@pytest.fixture
def problems(folder: Path) -> Problems:
    """``problems()``: those of the folder."""

    def found() -> list[str]:
        with pytest.raises(ChallengeError) as caught:
            check_folder(folder)
        assert all(problem in str(caught.value) for problem in caught.value.problems)
        return caught.value.problems

    return found


def change(folder: Path, old: str, new: str) -> None:
    """Change challenge.toml."""
    file = folder / "challenge.toml"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture
def commented_folder(site: Site, tmp_path: Path) -> Path:
    """A challenge folder, loaded, whose organizer is Olga."""
    site.user("olga")
    folder = tmp_path / "commented"
    (folder / "pages").mkdir(parents=True)
    (folder / "challenge.toml").write_text(COMMENTED)
    (folder / "pages" / "overview.md").write_text("\nA *first* text.\r\nAnd more.\n", newline="")
    write_folder(tmp_path / "small")
    (tmp_path / "small" / "c2.json").rename(folder / "c2.json")
    site.load(folder)
    return folder
