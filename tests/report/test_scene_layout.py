"""The layout of scene graphs: what matches is in one row, and no row of a column holds two nodes."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from captious.report.scene_layout import Layout, scene_layout
from captious.scenes.spice_explanation import Names, ReferenceFact, SceneExplanation, SceneFact

NAMES = [(name,) for name in "abcd"]


@st.composite
def explanations(draw: st.DrawFn) -> SceneExplanation:
    """Tuples of both sides, some of which match; two of the candidate may match one of the references."""
    concept = st.sampled_from(NAMES)
    fact = st.lists(concept, min_size=1, max_size=3).map(tuple)
    candidate: list[Names] = draw(st.lists(fact, unique=True, max_size=9))
    references: list[Names] = draw(st.lists(fact, unique=True, max_size=9))
    matches = [draw(st.sampled_from([None, *(r for r in references if len(r) == len(c))])) for c in candidate]
    kinds = ("object", "attribute", "relation")
    return SceneExplanation(
        (),
        (),
        tuple(SceneFact(kinds[len(c) - 1], c, m, None, ()) for c, m in zip(candidate, matches, strict=True)),
        tuple(ReferenceFact(r, r in matches) for r in references),
        0,
        0,
        0,
        0,
    )


def names_of(layout: Layout, side: int) -> list[Names]:
    objects = layout.sides[side]
    return [one.names for one in objects] + [each.names for one in objects for each in one.tuples]


@given(explanations())
def test_layout(explanation: SceneExplanation) -> None:
    layout = scene_layout(explanation)
    sides = ([fact.names for fact in explanation.candidate], [fact.names for fact in explanation.references])
    for side, facts in enumerate(sides):
        ends = {end for names in facts for end in (names[:1], names[2:]) if end}
        assert Counter(names_of(layout, side)) == Counter(ends | {*facts})
        for nodes in (layout.sides[side], [each for one in layout.sides[side] for each in one.tuples]):
            rows = [node.row for node in nodes]
            assert len({*rows}) == len(rows)
            assert all(0 <= row < layout.n_rows for row in rows)
    for left, right in layout.pairs:
        assert left.row == right.row
        row_of = {each.match: each.row for each in right.tuples if each.match is not None}
        met = {each.match for each in left.tuples if each.match in row_of}
        assert all(any(e.row == row_of[match] for e in left.tuples if e.match == match) for match in met)


def test_what_matches_is_on_top() -> None:
    dog, cat, red = ("dog",), ("cat",), ("red",)
    explanation = SceneExplanation(
        (),
        (),
        (SceneFact("object", (cat,), None, None, ()), SceneFact("object", (dog,), (dog,), "same", ())),
        (ReferenceFact((cat, red), False), ReferenceFact((cat,), False), ReferenceFact((dog,), True)),
        1,
        0,
        0,
        0,
    )
    layout = scene_layout(explanation)
    assert [(left.names, right.names, left.row) for left, right in layout.pairs] == [((dog,), (dog,), 0)]
    assert [one.row for one in layout.sides[0]] == [1, 0]
    assert layout.n_rows == 2
