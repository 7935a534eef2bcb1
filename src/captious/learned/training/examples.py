"""Training examples: captions by people and by machines, each with other references of its image; and their files."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, ImageId, References, read_captions
from captious.data.rows import is_unicode
from captious.errors import CaptionFileError, EmptyInputError, ParameterError, UnknownNameError
from captious.files import decoded, user_bytes, user_text, whole_file
from captious.progress import Progress
from captious.words import DEFAULT_SEED, counted

# Examples, drawn from captions of people and of systems.

#: The system of captions by people of their own image.
HUMAN = "human"
#: The system of captions of other images, of people and systems.
OTHER = "other-image"
#: The kinds of negative examples.
NEGATIVES = ("machine", "other", "both")
_KEPT = frozenset("abcdefghijklmnopqrstuvwxyz0123456789 ")


@dataclass(frozen=True)
class Example:
    """A caption with references and its author.

    Args:
        image: the image.
        candidate: the caption.
        references: other people's captions of the image.
        system: the author: ``HUMAN`` for people, ``OTHER`` for a caption of another image.
        part: "train" or "validation"; all examples of an image are in one part.
    """

    image: ImageId
    candidate: str
    references: tuple[str, ...]
    system: str
    part: str


@dataclass(frozen=True)
class Examples:
    """Ordered examples, image by image."""

    rows: tuple[Example, ...]

    def __len__(self) -> int:
        """Return the number of examples."""
        return len(self.rows)

    @property
    def human(self) -> NDArray[np.bool_]:
        """A mask of the captions that people wrote for the image, bool[n]."""
        return np.array([row.system == HUMAN for row in self.rows], bool)

    @property
    def units(self) -> NDArray[np.int64]:
        """The image of each example, numbered from 0 in the order in which images occur, int64[n]."""
        numbers = {image: number for number, image in enumerate(dict.fromkeys(row.image for row in self.rows))}
        return np.array([numbers[row.image] for row in self.rows], np.int64)

    def part(self, name: str) -> Examples:
        """Return the examples of a part, "train" or "validation"."""
        return Examples(tuple(row for row in self.rows if row.part == name))

    @property
    def captions(self) -> Captions:
        """The examples as captions for metrics; ids are the positions of the examples."""
        return _captions([row.candidate for row in self.rows], [row.references for row in self.rows], "examples")


def _captions(candidates: Sequence[str], references: Sequence[Sequence[str]], name: str) -> Captions:
    """Return captions whose ids are their positions."""
    offsets = np.cumsum([0, *map(len, references)])
    table = References(tuple(range(len(references))), tuple(chain.from_iterable(references)), offsets, name=name)
    return Captions(tuple(candidates), table)


@dataclass(frozen=True)
class ExampleCounts:
    """Counts of the images and captions that ``make_examples`` used and left out.

    Args:
        images: images with examples, by part.
        examples: examples, by part; half of them are captions by people.
        kept_out: excluded images that occur in the references.
        human_on_both_sides: captions by people that were not used, because a system wrote the same one.
        machine_on_both_sides: captions of systems that were not used, because a person wrote the same one.
        without_examples: images that were drawn, but have human or machine captions only.
        with_one_reference: images that could not be drawn because they have only one reference.
    """

    images: Mapping[str, int]
    examples: Mapping[str, int]
    kept_out: int
    human_on_both_sides: int
    machine_on_both_sides: int
    without_examples: int
    with_one_reference: int

    def __str__(self) -> str:
        parts = ", ".join(
            f"{self.examples[p]:,} {p} examples of {counted(self.images[p], 'image')}" for p in self.images
        )
        return (
            f"{parts}\nimages kept out: {self.kept_out:,}, with one reference: {self.with_one_reference:,}, without "
            f"examples: {self.without_examples:,}\ncaptions on both sides, dropped: {self.human_on_both_sides:,} by "
            f"people, {self.machine_on_both_sides:,} by systems"
        )


def normalized(caption: str) -> str:
    """Return a caption in lower case, with only letters, digits and single spaces, to detect duplicates."""
    return " ".join("".join(c for c in caption.lower() if c in _KEPT).split())


def make_examples(
    references: References,
    systems: Mapping[str, object],
    *,
    negatives: str = "machine",
    keep_out: Collection[ImageId] = (),
    images: int | None = None,
    per_image: int = 3,
    n_references: int = 4,
    validation: float = 0.1,
    seed: int = DEFAULT_SEED,
) -> tuple[Examples, ExampleCounts]:
    """Make examples from references and the results of real systems, half of them human captions of their images.

    A human caption is one of the references, with the other references of its image; a negative example has as many,
    drawn at random. Captions that both a person and a system wrote, for any images, are dropped on both sides. Each
    image has as many positive as negative examples, and is in one part.

    Args:
        references: human captions, several for each image.
        systems: name -> results, in any form that ``captious.read_captions`` reads; they may cover only some of the
            images.
        negatives: the other half of the examples: "machine", captions of systems; "other", captions that people or
            systems wrote for other images of the same part; "both", a random mixture.
        keep_out: images to exclude; ids are compared as text.
        images: number of images to draw at random. By default, all.
        per_image: maximum number of captions of each half for one image.
        n_references: maximum number of references of an example; at most one less than the image has.
        validation: share of the images to use for validation, 0 to 1.
        seed: random seed.

    Raises:
        UnknownNameError: unknown ``negatives``.
        ParameterError: no systems, numbers out of range, or nothing is left.
        InputError: invalid captions.
    """
    if negatives not in NEGATIVES:
        raise UnknownNameError(f"there are no {negatives!r} negatives", hint=f"give {', '.join(NEGATIVES)}")
    if not systems and negatives != "other":
        raise ParameterError("no systems are given", hint="give the results of at least one system")
    if per_image < 1 or n_references < 1 or not 0 <= validation <= 1 or (images is not None and images < 1):
        raise ParameterError(
            f"cannot make examples with captions per image: {per_image}, references per image: {n_references}, "
            f"images: {images} and share for validation: {validation}",
            hint="give positive numbers, and a share from 0 to 1",
        )
    rng = np.random.default_rng(seed)
    out = {str(image) for image in keep_out}
    allowed = np.array([str(image) not in out for image in references.ids], bool)
    several = np.diff(references.offsets) > 1
    table = references.select(np.sort(rng.permutation(np.flatnonzero(allowed & several))[:images]))
    if not len(table):
        raise _nothing(references, allowed)
    held = {*rng.permutation(len(table))[: round(validation * len(table))].tolist()}
    pool = _Pool(table, _outputs(table, systems), ["validation" if i in held else "train" for i in range(len(table))])
    rows = [row for i in range(len(table)) for row in pool.examples(i, negatives, per_image, n_references, rng)]
    if not rows:
        raise _nothing(references, allowed)
    described = {part: {row.image for row in rows if row.part == part} for part in ("train", "validation")}
    counts = ExampleCounts(
        images={part: len(ids) for part, ids in described.items()},
        examples={part: sum(row.part == part for row in rows) for part in described},
        kept_out=int((~allowed).sum()),
        human_on_both_sides=sum(normalized(text) in pool.both for text in table.texts),
        machine_on_both_sides=sum(
            normalized(text) in pool.both for of_system in pool.outputs.values() for text in of_system.values()
        ),
        without_examples=len(table) - sum(map(len, described.values())),
        with_one_reference=int((allowed & ~several).sum()),
    )
    return Examples(tuple(rows)), counts


def _nothing(references: References, allowed: NDArray[np.bool_]) -> ParameterError:
    return ParameterError(
        "no examples are left",
        where=f"{counted(len(references), 'image')}, {int((~allowed).sum()):,} kept out",
        hint="give images with several references, and systems that describe these images",
    )


def _outputs(table: References, systems: Mapping[str, object]) -> dict[str, dict[str, str]]:
    """Return the captions of each system by image as text, as one side may write numbers as text."""
    outputs: dict[str, dict[str, str]] = {}
    with Progress(len(systems)) as progress:
        for name, results in systems.items():
            if name in (HUMAN, OTHER):
                raise ParameterError(f"a system cannot be called {name}", hint="rename the file of its results")
            progress.step(f"reading {name}")
            captions = read_captions(results, table, match="common")
            outputs[name] = dict(zip(map(str, captions.ids), captions.candidates, strict=True))
    return outputs


class _Pool:
    """All captions to draw examples from.

    Args:
        table: images with their human captions.
        outputs: the captions of each system, by image as text.
        parts: the part of each image.
    """

    def __init__(self, table: References, outputs: Mapping[str, Mapping[str, str]], parts: Sequence[str]) -> None:
        self.table, self.outputs, self.parts = table, outputs, parts
        people = {normalized(text) for text in table.texts}
        #: Captions that a person and a system wrote, as ``normalized``.
        self.both = people & {normalized(text) for of_system in outputs.values() for text in of_system.values()}
        self._of_part = {part: [i for i, of in enumerate(parts) if of == part] for part in set(parts)}

    def texts(self, position: int) -> tuple[str, ...]:
        """Return the human captions of an image."""
        return self.table.texts[self.table.offsets[position] : self.table.offsets[position + 1]]

    def machines(self, position: int) -> list[tuple[str, str]]:
        """Return system and caption for each system that describes an image, except captions that people also wrote."""
        image = str(self.table.ids[position])
        captions = [(name, of_system[image]) for name, of_system in self.outputs.items() if image in of_system]
        return [(name, text) for name, text in captions if normalized(text) not in self.both]

    def examples(
        self, position: int, negatives: str, per_image: int, n_references: int, rng: np.random.Generator
    ) -> Iterator[Example]:
        """Return the examples of an image, as many positive as negative ones."""
        texts = self.texts(position)
        people = [place for place in rng.permutation(len(texts)).tolist() if normalized(texts[place]) not in self.both]
        wrong = self._negatives(position, negatives, min(per_image, len(people)), rng)
        image, part = self.table.ids[position], self.parts[position]
        size = min(n_references, len(texts) - 1)
        for place, _ in zip(people, wrong, strict=False):
            references = [text for i, text in enumerate(texts) if i != place]
            yield Example(image, texts[place], _sample(references, size, rng), HUMAN, part)
        for name, caption in wrong:
            yield Example(image, caption, _sample(texts, size, rng), name, part)

    def _negatives(self, position: int, kind: str, n: int, rng: np.random.Generator) -> list[tuple[str, str]]:
        """Return at most n distinct captions that nobody wrote for the image, with their systems."""
        machines = self.machines(position)
        machines = [machines[i] for i in rng.permutation(len(machines)).tolist()]
        negatives: dict[str, tuple[str, str]] = {}
        human_texts = {normalized(text) for text in self.texts(position)}
        for _ in range(4 * n + len(machines)):  # some draws repeat a caption
            if len(negatives) == n:
                break
            if kind == "other" or (kind == "both" and rng.integers(2)):
                negative = self._foreign_caption(position, rng)
            else:
                negative = machines.pop() if machines else None
            if negative is not None and normalized(negative[1]) not in human_texts:
                negatives.setdefault(normalized(negative[1]), negative)
        return [*negatives.values()]

    def _foreign_caption(self, position: int, rng: np.random.Generator) -> tuple[str, str] | None:
        """Return a caption that a person or a system wrote for another image of the part; None if the image itself is
        drawn.
        """
        of_part = self._of_part[self.parts[position]]
        foreign = of_part[int(rng.integers(len(of_part)))]
        if foreign == position:
            return None
        machines = self.machines(foreign)
        captions = [text for _, text in machines] if machines and rng.integers(2) else self.texts(foreign)
        return OTHER, captions[int(rng.integers(len(captions)))]


def _sample(texts: Sequence[str], size: int, rng: np.random.Generator) -> tuple[str, ...]:
    """Sample texts, and keep their order."""
    return tuple(texts[i] for i in np.sort(rng.permutation(len(texts))[:size]).tolist())


# Files of training examples and of judged captions, one JSON object per line; and lists of image ids.

_PARTS = ("train", "validation")
_EXAMPLES = "give a file that 'captious learn data' wrote"
_JUDGED = 'write {"candidate": "...", "references": ["..."], "rating": 3} on every line'
_LARGEST_RATING = 1e9


def write_examples(path: str | os.PathLike[str], examples: Examples) -> None:
    """Write examples, one JSON object per line.

    Raises:
        OutputError: the file cannot be written.
    """
    with whole_file(path) as file:
        for row in examples.rows:
            file.write(json.dumps(vars(row), ensure_ascii=False) + "\n")


def read_examples(path: str | os.PathLike[str]) -> tuple[Examples, dict[str, Any]]:
    """Read a file written by ``write_examples``, which may be compressed with gzip.

    Returns:
        The examples, and for provenance the file's name, the SHA-256 of its uncompressed content, and its number of
        rows.

    Raises:
        CaptionFileError: the file cannot be read, or a line is not an example.
        EmptyInputError: no examples.
    """
    rows, source = _rows(path, _is_example, _EXAMPLES)
    return Examples(tuple(Example(*(row[field.name] for field in fields(Example))) for row in rows)), source


def read_judged(path: str | os.PathLike[str]) -> tuple[Captions, NDArray[np.float64], dict[str, Any]]:
    """Read captions with ratings: ``{"candidate": ..., "references": [...], "rating": 3}`` on every line.

    The references may also be called ``refs``. The file may be compressed with gzip.

    Returns:
        The captions, whose ids are positions; their ratings, float64[n]; and the file, as ``read_examples``.

    Raises:
        CaptionFileError: the file cannot be read, or a line is not of that form.
        EmptyInputError: no lines.
    """
    rows, source = _rows(path, _is_judged, _JUDGED)
    captions = _captions([row["candidate"] for row in rows], [row["references"] for row in rows], source["file"])
    return captions, np.array([float(row["rating"]) for row in rows]), source


def read_ids(path: str | os.PathLike[str]) -> list[ImageId]:
    """Read image ids: a JSON list, or one per line. The file may be compressed with gzip.

    Raises:
        CaptionFileError: the file cannot be read, or has other content.
    """
    help = "give a JSON list of image ids, or a text file with one on each line"
    text = user_text(path, "image ids", help, CaptionFileError)
    if not text.lstrip().startswith("["):
        return [line.strip() for line in text.split("\n") if line.strip()]
    try:
        ids = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CaptionFileError(f"this is not a list of image ids: {error}", where=str(path)) from error
    if not all(isinstance(image, int | str) and not isinstance(image, bool) for image in ids):
        raise CaptionFileError("this is not a list of image ids", where=str(path), hint="give numbers or strings")
    return list(ids)


def _is_example(row: Mapping[str, Any]) -> bool:
    is_named = isinstance(row.get("image"), int | str) and isinstance(row.get("system"), str)
    return is_named and row.get("part") in _PARTS


def _is_judged(row: Mapping[str, Any]) -> bool:
    rating = row.get("rating")
    if not isinstance(rating, int | float) or isinstance(rating, bool):
        return False
    return abs(rating) <= _LARGEST_RATING  # NaN is not, either


def _rows(
    path: str | os.PathLike[str], is_sound: Callable[[Mapping[str, Any]], bool], help: str
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the objects on the lines of a file, all of which have captions and are sound, and its description."""
    content = user_bytes(path, "the file", help, CaptionFileError)
    rows: list[dict[str, Any]] = []
    text = decoded(content, path, "the file", help, CaptionFileError)
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise CaptionFileError(f"not JSON: {error}", where=f"{path}, line {number}", hint=help) from error
        references = record.get("references", record.get("refs")) if isinstance(record, dict) else None
        texts = [record.get("candidate"), *references] if isinstance(references, list) and references else [None]
        if not all(isinstance(text, str) and is_unicode(text) for text in texts) or not is_sound(record):
            raise CaptionFileError("this line has another form", where=f"{path}, line {number}", hint=help)
        rows.append({**record, "references": tuple(texts[1:])})
    if not rows:
        raise EmptyInputError("the file is empty", where=str(path), hint=help)
    return rows, {"file": Path(path).name, "sha256": hashlib.sha256(content).hexdigest(), "rows": len(rows)}
