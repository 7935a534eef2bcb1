"""Training examples: captions of people and of machines, each with references of its image that do not include it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, ImageId, References, load
from captious.errors import ParameterError
from captious.progress import Progress

__all__ = ["HUMAN", "Example", "ExampleCounts", "Examples", "make_examples", "normalised"]

#: The system of captions by people.
HUMAN = "human"
_KEPT = frozenset("abcdefghijklmnopqrstuvwxyz0123456789 ")


@dataclass(frozen=True)
class Example:
    """A caption with references, and who wrote it.

    Args:
        image: what both describe.
        candidate: the caption.
        references: others' captions of the image.
        system: who wrote it, ``HUMAN`` for people.
        part: "train" or "validation"; all examples of an image are in one part.
    """

    image: ImageId
    candidate: str
    references: tuple[str, ...]
    system: str
    part: str


@dataclass(frozen=True)
class Examples:
    """Examples in their order, which is image by image."""

    rows: tuple[Example, ...]

    def __len__(self) -> int:
        """Number of examples."""
        return len(self.rows)

    @property
    def human(self) -> NDArray[np.bool_]:
        """Which captions people wrote, bool[n]."""
        return np.array([row.system == HUMAN for row in self.rows], bool)

    def part(self, name: str) -> Examples:
        """The examples of a part, "train" or "validation"."""
        return Examples(tuple(row for row in self.rows if row.part == name))

    @property
    def captions(self) -> Captions:
        """The table that metrics take; its ids are the positions of the examples."""
        offsets = np.cumsum([0, *(len(row.references) for row in self.rows)])
        texts = tuple(text for row in self.rows for text in row.references)
        table = References(tuple(range(len(self.rows))), texts, offsets, name="examples")
        return Captions(tuple(row.candidate for row in self.rows), table)


@dataclass(frozen=True)
class ExampleCounts:
    """What ``make_examples`` did.

    Args:
        images: images with examples, by part.
        examples: examples, by part; half of them are captions by people.
        kept_out: images that were to be kept out, and occur in the references.
        human_on_both_sides: captions by people that were not used, because a system wrote the same one.
        machine_on_both_sides: captions of systems that were not used, because a person wrote the same one.
        without_examples: images that have none, for lack of references or of captions on one side.
    """

    images: Mapping[str, int]
    examples: Mapping[str, int]
    kept_out: int
    human_on_both_sides: int
    machine_on_both_sides: int
    without_examples: int

    def __str__(self) -> str:
        parts = ", ".join(f"{self.examples[p]:,} {p} examples of {self.images[p]:,} images" for p in self.images)
        return (
            f"{parts}; images kept out: {self.kept_out:,}, without examples: {self.without_examples:,}; captions on "
            f"both sides, dropped: {self.human_on_both_sides:,} by people, {self.machine_on_both_sides:,} by systems"
        )


def normalised(caption: str) -> str:
    """A caption in lower case with nothing but letters, digits and single blanks: equal ones count as one caption."""
    return " ".join("".join(c for c in caption.lower() if c in _KEPT).split())


def make_examples(
    references: References,
    systems: Mapping[str, object],
    *,
    keep_out: Collection[ImageId] = (),
    images: int | None = None,
    per_image: int = 3,
    n_references: int = 4,
    validation: float = 0.1,
    seed: int = 0,
) -> tuple[Examples, ExampleCounts]:
    """Examples from references and the results of real systems, half of them by people and half by systems.

    A caption by a person is one of the references, with the other references of its image; a caption of a system has
    as many, drawn at random. Captions that both a person and a system wrote, for whatever image, are dropped on both
    sides. Each image gives as many captions by people as by systems, and is in one part.

    Args:
        references: captions by people, several for each image.
        systems: name -> results, in any form that ``captious.data.load`` reads; they may cover some of the images.
        keep_out: images that must not be used; ids are compared as text.
        images: number of images to draw at random; None for all.
        per_image: captions of each side for one image, at most.
        n_references: references of an example, at most; one less than the image has, if that is fewer.
        validation: share of the images whose examples are for validation, 0 to 1.
        seed: random seed.

    Raises:
        ParameterError: no systems, numbers out of range, or nothing is left.
        InputError: invalid captions.
    """
    if not systems:
        raise ParameterError("no systems are given", help="give the results of at least one system")
    if per_image < 1 or n_references < 1 or not 0 <= validation <= 1 or (images is not None and images < 1):
        raise ParameterError(
            f"cannot make examples with {per_image} captions and {n_references} references per image, {images} images "
            f"and a share of {validation} for validation",
            help="give positive numbers, and a share from 0 to 1",
        )
    rng = np.random.default_rng(seed)
    out = {str(image) for image in keep_out}
    counts = np.diff(references.offsets)
    allowed = np.array([str(image) not in out for image in references.ids], bool)
    usable = np.flatnonzero(allowed & (counts > 1))
    drawn = rng.permutation(usable)[:images]
    table = references.select(np.sort(drawn))
    outputs = _outputs(table, systems)
    people = {normalised(text) for text in table.texts}
    machines = {normalised(text) for of_system in outputs.values() for text in of_system.values()}
    both = people & machines
    rows: list[Example] = []
    held = {*rng.permutation(len(table))[: round(validation * len(table))].tolist()}
    found = {"train": 0, "validation": 0}
    for position, image in enumerate(table.ids):
        texts = table.texts[table.offsets[position] : table.offsets[position + 1]]
        part = "validation" if position in held else "train"
        new = _of_image(image, texts, outputs, both, per_image, n_references, part, rng)
        found[part] += bool(new)
        rows += new
    if not rows:
        raise ParameterError(
            "no examples are left",
            where=f"{len(references):,} images, {int((~allowed).sum()):,} kept out",
            help="give images with several references, and systems that describe these images",
        )
    report = ExampleCounts(
        images=found,
        examples={part: sum(row.part == part for row in rows) for part in found},
        kept_out=int((~allowed).sum()),
        human_on_both_sides=sum(normalised(text) in both for text in table.texts),
        machine_on_both_sides=sum(normalised(text) in both for each in outputs.values() for text in each.values()),
        without_examples=len(table)
        - sum(found.values())
        + (int((allowed & (counts < 2)).sum()) if images is None else 0),
    )
    return Examples(tuple(rows)), report


def _outputs(table: References, systems: Mapping[str, object]) -> dict[str, dict[ImageId, str]]:
    """The captions of each system, by image."""
    found: dict[str, dict[ImageId, str]] = {}
    with Progress(len(systems)) as progress:
        for name, results in systems.items():
            if name == HUMAN:
                raise ParameterError("a system cannot be called human", help="rename the file of its results")
            progress.step(f"reading {name}")
            captions = load(results, table, subset=True)
            found[name] = dict(zip(captions.ids, captions.candidates, strict=True))
    return found


def _of_image(
    image: ImageId,
    texts: tuple[str, ...],
    outputs: Mapping[str, Mapping[ImageId, str]],
    both: Collection[str],
    per_image: int,
    n_references: int,
    part: str,
    rng: np.random.Generator,
) -> list[Example]:
    """The examples of one image: as many by people as by systems."""
    people = [place for place in rng.permutation(len(texts)).tolist() if normalised(texts[place]) not in both]
    machines: dict[str, tuple[str, str]] = {}
    names = [name for name in outputs if image in outputs[name]]
    for number in rng.permutation(len(names)).tolist():
        caption = outputs[names[number]][image]
        if (key := normalised(caption)) not in both:
            machines.setdefault(key, (names[number], caption))
    n = min(len(people), len(machines), per_image)
    k = min(n_references, len(texts) - 1)
    found = []
    for place in people[:n]:
        others = [text for other, text in enumerate(texts) if other != place]
        chosen = tuple(others[i] for i in np.sort(rng.permutation(len(others))[:k]).tolist())
        found.append(Example(image, texts[place], chosen, HUMAN, part))
    for name, caption in [*machines.values()][:n]:
        chosen = tuple(texts[i] for i in np.sort(rng.permutation(len(texts))[:k]).tolist())
        found.append(Example(image, caption, chosen, name, part))
    return found
