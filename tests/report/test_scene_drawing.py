"""Scene graphs as drawings; they are made up, so neither parser nor synonyms are needed."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from captious.errors import MissingExtraError, OutputError, ParameterError
from captious.report.plots import write_scenes
from captious.scenes.layers import Names, ReferenceFact, SceneExplanation, SceneFact

DOG, SOFA, TWO, ON = ("dog",), ("sofa",), ("two",), ("sit on",)
SEATS = ("couch", "settee")


def fact(kind: str, names: Names, match: Names | None = None, *through: tuple[str, str]) -> SceneFact:
    status = None if match is None else "synonyms" if through else "same"
    return SceneFact(kind, names, match, status, through)


def explanation(candidate: list[SceneFact], references: list[tuple[Names, bool]]) -> SceneExplanation:
    matched = sum(one.match is not None for one in candidate)
    theirs = tuple(ReferenceFact(*one) for one in references)
    return SceneExplanation((), (), tuple(candidate), theirs, matched, 0.5, 0.25, 1 / 3)


SCENE = explanation(
    [
        fact("object", (DOG,), (DOG,)),
        fact("object", (SOFA,), (SEATS,), ("sofa", "couch")),
        fact("attribute", (DOG, TWO)),
        fact("relation", (DOG, ON, SOFA), (DOG, ("perch",), SEATS), ("sofa", "couch")),
    ],
    [((DOG,), True), ((SEATS,), True), ((("cat",),), False), ((DOG, ("perch",), SEATS), True)],
)
NOTHING = explanation([], [])
HOSTILE = explanation(
    [fact("object", (("$x^$",),)), fact("attribute", (("$x^$",), ("<b>\n&",))), fact("object", ((" up",),))],
    [((("犬", "🐕"),), False)],
)


SCENES = {"scene": SCENE, "nothing": NOTHING, "awkward": HOSTILE}


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
def test_drawings_are_the_same_every_time(scene: SceneExplanation, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    write_scenes(tmp_path / "a.svg", scene)
    write_scenes(tmp_path / "b.svg", scene)
    drawn = (tmp_path / "a.svg").read_bytes()
    assert drawn == (tmp_path / "b.svg").read_bytes()
    text = "".join(ElementTree.fromstring(drawn).itertext())
    for one in scene.candidate:
        assert " ".join(one.names[len(one.names) // 2][0].split()) in text


@pytest.mark.parametrize("format", ["png", "pdf"])
def test_scenes_are_written_in_other_formats(format: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    write_scenes(tmp_path / f"a.{format}", SCENE)
    assert (tmp_path / f"a.{format}").stat().st_size > 1_000


def test_files_that_cannot_be_drawn(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"a\.doc"):
        write_scenes(tmp_path / "a.doc", SCENE)
    pytest.importorskip("matplotlib")
    with pytest.raises(OutputError):
        write_scenes(tmp_path / "nowhere" / "a.svg", SCENE)


def test_matplotlib_is_an_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match="matplotlib"):
        write_scenes(tmp_path / "a.svg", SCENE)
