"""The rows of scene graphs: matching nodes share a row, and no cell holds two nodes."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from captious.layouts import scene_rows

Fact = tuple[str, ...]
Scene = tuple[list[Fact], list[Fact], list[int | None]]


@st.composite
def sides(draw: st.DrawFn) -> list[Fact]:
    """Objects, then attributes and relations of these."""
    objects = draw(st.lists(st.sampled_from("abcd"), unique=True, max_size=4))
    one, word = st.sampled_from(objects or ["a"]), st.sampled_from("xyz")
    others = st.lists(st.tuples(one, word) | st.tuples(one, word, one), unique=True, max_size=9)
    return [*((name,) for name in objects), *(draw(others) if objects else [])]


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    """Tuples of both sides, some of which match; two of the candidate may match one of the references."""
    candidate, references = draw(sides()), draw(sides())
    matches = [
        draw(st.sampled_from([None, *(i for i, other in enumerate(references) if len(other) == len(fact))]))
        for fact in candidate
    ]
    return candidate, references, matches


@given(scenes())
def test_matched_objects_share_a_row(scene: Scene) -> None:
    candidate, references, matches = scene
    rows = scene_rows(candidate, references, matches)
    for facts, own in zip((candidate, references), rows, strict=True):
        objects = {fact[0]: row for fact, row in zip(facts, own, strict=True) if len(fact) == 1}
        tuples = [(fact, row) for fact, row in zip(facts, own, strict=True) if len(fact) > 1]
        for column in ([*objects.values()], [row for _, row in tuples]):
            assert len({*column}) == len(column)
        n_about = Counter(fact[0] for fact, _ in tuples)
        assert all(0 <= row - objects[fact[0]] < n_about[fact[0]] for fact, row in tuples)
    partners = [
        (one, match) for one, match in enumerate(matches) if match is not None and rows[0][one] == rows[1][match]
    ]
    matched_objects = {
        match for fact, match in zip(candidate, matches, strict=True) if match is not None and len(fact) == 1
    }
    assert matched_objects == {match for one, match in partners if len(candidate[one]) == 1}
    in_one_row = {candidate[one][0]: references[match][0] for one, match in partners if len(candidate[one]) == 1}
    for one, match in enumerate(matches):
        if match is not None and len(candidate[one]) > 1 and in_one_row.get(candidate[one][0]) == references[match][0]:
            assert any(other == match for _, other in partners)


def test_matched_objects_come_first() -> None:
    candidate, references = [("cat",), ("dog",)], [("cat",), ("dog",), ("cat", "red")]
    assert scene_rows(candidate, references, [None, 1]) == ([1, 0], [1, 0, 1])


def test_long_chains_are_laid_out() -> None:
    """An object is above the one that it is related to."""
    n = 2_000
    order = [0, *reversed(range(1, n))]
    facts = [*((str(i),) for i in order), *((str(i), "in", str(i + 1)) for i in range(n - 1))]
    assert scene_rows(facts, [], [None] * len(facts)) == ([*order, *range(n - 1)], [])
