"""Training examples: how captions are paired, omissions, and files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from captious.data import References
from captious.errors import CaptionFileError, EmptyInputError, ParameterError, UnknownNameError
from captious.learned.training.examples import (
    HUMAN,
    OTHER,
    Examples,
    make_examples,
    normalized,
    read_examples,
    read_ids,
    read_judged,
    write_examples,
)
from tests.support.corpora import references_table

N = 60
REFERENCES = references_table(
    [[f"a {word} number {i}" for word in ("red", "blue", "big", "old", "new")] for i in range(N)]
)
SYSTEMS = {
    name: {i: f"a photo of {name} number {i}" for i in range(N)} for name in ("first", "second", "third", "fourth")
}


def test_candidates_are_not_among_their_references() -> None:
    examples, counts = make_examples(REFERENCES, SYSTEMS, seed=3)
    assert len(examples) == 2 * 3 * N
    assert examples.human.sum() == 3 * N
    for row in examples.rows:
        texts = REFERENCES.texts[5 * int(row.image) : 5 * int(row.image) + 5]
        assert len(set(row.references)) == 4
        assert {*row.references} < {*texts}
        if row.system == HUMAN:
            assert row.candidate in {*texts} - {*row.references}
        else:
            assert row.candidate == SYSTEMS[row.system][int(row.image)]
    assert len({(row.image, row.candidate) for row in examples.rows}) == len(examples)
    assert {row.system for row in examples.rows} == {HUMAN, *SYSTEMS}
    assert counts.without_examples == counts.kept_out == 0


def test_every_image_is_balanced_and_in_one_part() -> None:
    examples, counts = make_examples(REFERENCES, SYSTEMS, validation=0.25)
    of_image = {row.image: row.part for row in examples.rows}
    assert all(of_image[row.image] == row.part for row in examples.rows)
    assert Counter(of_image.values()) == counts.images == {"train": 45, "validation": 15}
    for image in of_image:
        mine = [row.system == HUMAN for row in examples.rows if row.image == image]
        assert sum(mine) * 2 == len(mine)
    assert len(examples.part("train")) == counts.examples["train"]


def test_captions_on_both_sides_are_dropped_and_counted() -> None:
    systems = {"first": dict(SYSTEMS["first"]), "second": dict(SYSTEMS["second"])}
    systems["first"][0] = "A red number 7."  # a human caption of another image
    systems["second"][1] = systems["first"][2] = "a blue  number 1"
    examples, counts = make_examples(REFERENCES, systems)
    written = {normalized(row.candidate) for row in examples.rows}
    assert not written & {"a red number 7", "a blue number 1"}
    assert (counts.human_on_both_sides, counts.machine_on_both_sides) == (2, 3)


def test_images_to_keep_out() -> None:
    examples, counts = make_examples(REFERENCES, SYSTEMS, keep_out=["1", 2, "none"], images=10)
    images = {row.image for row in examples.rows}
    assert not images & {1, 2}
    assert len(images) == 10
    assert counts.kept_out == 2


def test_negatives_are_captions_of_other_images() -> None:
    examples, _ = make_examples(REFERENCES, SYSTEMS, negatives="other", validation=0.2)
    part = {row.image: row.part for row in examples.rows}
    for row in examples.rows:
        if row.system != HUMAN:
            assert row.system == OTHER
            described = int(row.candidate.split()[-1])
            assert described != row.image
            assert part[described] == row.part
    both, _ = make_examples(REFERENCES, SYSTEMS, negatives="both")
    assert {row.system for row in both.rows} == {HUMAN, OTHER, *SYSTEMS}
    alone, _ = make_examples(REFERENCES, {}, negatives="other")
    assert {row.system for row in alone.rows} == {HUMAN, OTHER}


def test_examples_depend_on_the_seed_only() -> None:
    first, again, other = (make_examples(REFERENCES, SYSTEMS, negatives="both", seed=n)[0] for n in (1, 1, 2))
    assert first == again
    assert first != other


def test_images_with_one_reference_are_counted() -> None:
    few = References((0, 1, 2), ("a", "b", "c", "d", "e", "f"), [0, 1, 3, 6])
    examples, counts = make_examples(few, SYSTEMS, validation=0)
    assert counts.with_one_reference == 1
    assert {row.image: len(row.references) for row in examples.rows} == {1: 1, 2: 2}


def test_unusable_example_requests_are_refused() -> None:
    with pytest.raises(ParameterError, match="no systems"):
        make_examples(REFERENCES, {})
    with pytest.raises(UnknownNameError, match="'wrong' negatives"):
        make_examples(REFERENCES, SYSTEMS, negatives="wrong")
    with pytest.raises(ParameterError, match="share for validation: 2"):
        make_examples(REFERENCES, SYSTEMS, validation=2)
    with pytest.raises(ParameterError, match="no examples are left"):
        make_examples(REFERENCES, SYSTEMS, keep_out=range(N))
    with pytest.raises(ParameterError, match="cannot be called human"):
        make_examples(REFERENCES, {"human": SYSTEMS["first"]})


def test_examples_are_read_back_from_files(tmp_path: Path) -> None:
    examples, _ = make_examples(REFERENCES, SYSTEMS)
    write_examples(tmp_path / "examples.jsonl", examples)
    read, source = read_examples(tmp_path / "examples.jsonl")
    assert read == examples
    assert (source["file"], source["rows"], len(source["sha256"])) == ("examples.jsonl", len(examples), 64)
    captions = Examples(read.rows[:2]).captions
    assert captions.candidates == tuple(row.candidate for row in read.rows[:2])
    assert captions.references.texts == (*read.rows[0].references, *read.rows[1].references)


def test_files_of_ratings_and_ids_are_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "judged.jsonl"
    path.write_text(
        '{"candidate": "a", "refs": ["b", "c"], "rating": 3}\n{"candidate": "d", "references": ["e"], "rating": 1.5}'
    )
    captions, ratings, source = read_judged(path)
    assert ratings.tolist() == [3, 1.5]
    assert captions.references.texts == ("b", "c", "e")
    assert source["rows"] == 2
    path.write_text('{"candidate": "a", "refs": ["b", "c"], "rating": NaN}')
    with pytest.raises(CaptionFileError, match="another form"):
        read_judged(path)
    path.write_text("")
    with pytest.raises(EmptyInputError):
        read_judged(path)
    path.write_text('[1, 2, "x"]')
    assert read_ids(path) == [1, 2, "x"]
    path.write_text("1\n x \n\n")
    assert read_ids(path) == ["1", "x"]
    path.write_text("[1.5]")
    with pytest.raises(CaptionFileError, match="not a list of image ids"):
        read_ids(path)
    path.write_bytes(b"\x1f\x8b nonsense")
    with pytest.raises(CaptionFileError):
        read_ids(path)
