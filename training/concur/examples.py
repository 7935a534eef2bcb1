"""What the metric concur learns from: captions of COCO, Flickr8k and Flickr30k, and human ratings of COCO captions.

Nothing of an evaluation is among it. Images of evaluations are left out by their ids, and every caption that also
occurs in an evaluation by its letters; a Flickr image with such a caption is left out as a whole.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import read_references
from captious.errors import CaptionFileError, EmptyInputError, EncodingError
from captious.text import Tokenizer, as_tokenizer
from captious.text.languages import as_language
from captious.text.stems import word_forms
from captious.text.tokens import Tokens

__all__ = [
    *("Examples", "OwnRating", "Pair", "Rated"),
    *("checksums", "evaluation_captions", "evaluation_images", "flickr30k", "letters", "own_examples", "read_ratings"),
]

#: The least that weights are trained on.
LEAST_IMAGES, LEAST_RATINGS = 50, 50

_SUGARCREPE_PP = ("replace_att", "replace_obj", "replace_rel", "swap_att", "swap_obj")
_VALSE = ("plurals", "relations", "foil-it")
_SUGARCREPE = ("add_att", "add_obj", "replace_att", "replace_obj", "replace_rel", "swap_att", "swap_obj")


@dataclass(frozen=True)
class Rated:
    """A caption rated against the captions of an image.

    Args:
        candidate, references: numbers of captions.
        rating: 0 to 5.
        images: the image, and that of the candidate.
    """

    candidate: int
    references: tuple[int, ...]
    rating: float
    images: tuple[int | str, int | str]


@dataclass(frozen=True)
class Pair:
    """Two captions whose similarity was rated; fields as of ``Rated``."""

    captions: tuple[int, int]
    rating: float
    images: tuple[int, int]


@dataclass(frozen=True, eq=False)
class Examples:
    """Captions as words, and what is known about them.

    Args:
        texts: all captions, each once.
        tokens: their words.
        images: captions of each image, two or more, by its id in COCO or its file name in Flickr8k or Flickr30k.
        rated, pairs: those of Crisscrossed Captions.
        tokenizer: what cuts them.
        left_out: number of captions that were left out because they occur in an evaluation.
        kept_out: the letters of all captions of evaluations.
    """

    texts: tuple[str, ...]
    tokens: Tokens
    images: dict[int | str, NDArray[np.int64]]
    rated: tuple[Rated, ...]
    pairs: tuple[Pair, ...]
    tokenizer: Tokenizer
    left_out: int
    kept_out: Set[str]

    @classmethod
    def read(cls, data: Path) -> Examples:
        """Read the files of a data folder: coco/captions_val2014.json.gz, coco/evaluation_images.json.gz, cxc/*,
        flickr8k/captions.jsonl.gz, multi30k/*, and those of ``evaluation_captions``."""
        annotations = _json(data / "coco/captions_val2014.json.gz")["annotations"]
        images_kept_out = evaluation_images(data)
        kept_out = evaluation_captions(data)
        kept_out.update(letters(row["caption"]) for row in annotations if row["image_id"] in images_kept_out)
        numbers: dict[str, int] = {}
        left_out = 0

        def usable(text: str) -> bool:
            nonlocal left_out
            seen = letters(text) in kept_out
            left_out += seen
            return not seen

        images: dict[int | str, list[int]] = defaultdict(list)
        for row in annotations:
            if row["image_id"] not in images_kept_out and usable(row["caption"]):
                images[row["image_id"]].append(numbers.setdefault(row["caption"], len(numbers)))
        for row in _lines(data / "flickr8k/captions.jsonl.gz"):
            if row["split"] in ("train", "dev") and all([usable(text) for text in row["captions"]]):
                images[row["image"]] = [numbers.setdefault(text, len(numbers)) for text in row["captions"]]
        for image, texts in flickr30k(data, "en"):
            if all([usable(text) for text in texts]):
                images[image] = [numbers.setdefault(text, len(numbers)) for text in texts]
        rated = []
        for row in _lines(data / "cxc/sits.jsonl.gz"):
            if {row["image"], row["candidate_image"]} & images_kept_out:
                continue
            references = [text for text in row["refs"] if usable(text)]
            if references and usable(row["candidate"]):
                candidate, *others = (numbers.setdefault(t, len(numbers)) for t in (row["candidate"], *references))
                rated.append(Rated(candidate, (*others,), row["rating"], (row["image"], row["candidate_image"])))
        pairs = []
        for row in _lines(data / "cxc/sts.jsonl.gz"):
            if not {*row["images"]} & images_kept_out and all([usable(text) for text in row["captions"]]):
                first, second = (numbers.setdefault(text, len(numbers)) for text in row["captions"])
                pairs.append(Pair((first, second), row["rating"], (*row["images"],)))
        return cls._of(numbers, images, rated, pairs, "en", left_out, kept_out)

    @classmethod
    def of(
        cls, images: Mapping[int | str, Sequence[str]], language: str, ratings: Sequence[OwnRating] = ()
    ) -> Examples:
        """Return captions of your own, in any language.

        Args:
            images: captions of each image, by its id or file name.
            language: its code.
            ratings: captions rated by people.
        """
        numbers: dict[str, int] = {}
        captions = {image: [numbers.setdefault(t, len(numbers)) for t in texts] for image, texts in images.items()}
        rated = []
        for row in ratings:
            candidate, *others = (numbers.setdefault(t, len(numbers)) for t in (row.candidate, *row.references))
            rated.append(Rated(candidate, (*others,), row.rating, (row.image, row.image)))
        return cls._of(numbers, captions, rated, [], language, 0, set())

    @classmethod
    def _of(
        cls,
        numbers: Mapping[str, int],
        images: Mapping[int | str, Sequence[int]],
        rated: Sequence[Rated],
        pairs: Sequence[Pair],
        language: str,
        left_out: int,
        kept_out: Set[str],
    ) -> Examples:
        distinct = {image: np.unique(captions) for image, captions in images.items()}
        several = {image: captions for image, captions in distinct.items() if len(captions) > 1}
        texts, tokenizer = tuple(numbers), tokenizer_of(language)
        tokens = Tokens.of(texts, tokenizer).split()
        return cls(texts, tokens, several, tuple(rated), tuple(pairs), tokenizer, left_out, kept_out)

    def balanced(self) -> Examples:
        """With one reference less for captions of other images.

        A caption of the image itself is not among its references, so it has one reference less than a caption of
        another image, and the number of references would show which of the two it is.
        """
        rated = (
            replace(each, references=each.references[:-1])
            if each.images[0] != each.images[1] and len(each.references) > 1
            else each
            for each in self.rated
        )
        return replace(self, rated=tuple(rated))

    def without(self, images: Set[int | str]) -> Examples:
        """Without the captions of these images; texts and ratings stay."""
        return replace(self, images={image: captions for image, captions in self.images.items() if image not in images})

    def used(self) -> NDArray[np.int64]:
        """Return the numbers of all captions of images, ratings and pairs, ascending."""
        rated = [(each.candidate, *each.references) for each in self.rated]
        groups: list[Iterable[int]] = [*self.images.values(), *rated, *(each.captions for each in self.pairs)]
        return np.unique(np.fromiter(chain.from_iterable(groups), np.int64))

    def part(self, held_out: bool) -> Examples:
        """Return the quarter of the images that is held out for development, or the rest."""
        return Examples(
            self.texts,
            self.tokens,
            {image: captions for image, captions in self.images.items() if _is_held_out(image) == held_out},
            tuple(r for r in self.rated if _all_are(r.images[: 1 if held_out else 2], held_out)),
            tuple(p for p in self.pairs if _all_are(p.images, held_out)),
            self.tokenizer,
            self.left_out,
            self.kept_out,
        )


def tokenizer_of(language: str) -> Tokenizer:
    """Return the tokenizer of ``captious score --language`` for a language, which also gives its words one form."""
    return replace(as_tokenizer(as_language(language).tokenizer), form=word_forms(language))


@dataclass(frozen=True)
class OwnRating:
    """A line of a file of ratings; fields as of ``Rated``, with texts in place of numbers."""

    image: str
    candidate: str
    references: tuple[str, ...]
    rating: float


def read_ratings(path: Path) -> list[OwnRating]:
    """Return ratings of captions, one JSON object on each line.

    Raises:
        CaptionFileError: the file cannot be read, or a line is not a rating from 0 to 5.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise CaptionFileError("cannot read the ratings", where=str(path), hint=error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise EncodingError(
            "the ratings are not UTF-8 text", where=f"{path}: {error}", hint="save them as UTF-8"
        ) from None
    return [_rating(line, f"{path}, line {number}") for number, line in enumerate(lines, start=1) if line.strip()]


_RATING = '{"image": "17", "candidate": "a dog runs", "references": ["a dog on grass"], "rating": 4.5}'


def own_examples(captions: Path, ratings: Path | None, language: str) -> Examples:
    """Return captions of a file of references, and ratings, if there are any.

    Raises:
        CaptiousError: a file that cannot be used, or too few captions or ratings.
    """
    references = read_references(captions)
    bounds = pairwise(references.offsets.tolist())
    images: dict[int | str, Sequence[str]] = {
        str(i): references.texts[a:b] for i, (a, b) in zip(references.ids, bounds, strict=True)
    }
    try:
        examples = Examples.of(images, language, [] if ratings is None else read_ratings(ratings))
        _check_size(examples, len(images))
    except EmptyInputError as error:
        raise EmptyInputError(error.message, where=str(captions), hint=error.hint) from None
    return examples


def _rating(line: str, where: str) -> OwnRating:
    def refuse(problem: str) -> CaptionFileError:
        return CaptionFileError(problem, where=where, hint=f"write lines such as {_RATING}")

    try:
        row = json.loads(line)
    except ValueError as error:
        raise refuse(f"the line is not JSON: {error}") from None
    if not isinstance(row, dict):
        raise refuse("the line is not an object")
    for key in ("image", "candidate", "references", "rating"):
        if key not in row:
            raise refuse(f"there is no {key!r}")
    image, candidate, references, rating = (row[key] for key in ("image", "candidate", "references", "rating"))
    if isinstance(image, bool) or not isinstance(image, str | int):
        raise refuse(f"image is {image!r:.40}, not an id")
    if not isinstance(candidate, str):
        raise refuse(f"candidate is {candidate!r:.40}, not a text")
    if not isinstance(references, list) or not references or not all(isinstance(each, str) for each in references):
        raise refuse(f"references is {references!r:.40}, not a list of one text or more")
    if isinstance(rating, bool) or not isinstance(rating, int | float) or not 0 <= rating <= 5:
        raise refuse(f"rating is {rating!r:.40}, not a number from 0 to 5")
    return OwnRating(str(image), candidate, tuple(references), float(rating))


def _check_size(examples: Examples, n_images: int) -> None:
    """Refuse what is too little to train on, or to fit coefficients to."""
    n = len(examples.images)
    if n < LEAST_IMAGES:
        raise EmptyInputError(
            f"{n} of {n_images:,} images have two different captions or more; training takes at least {LEAST_IMAGES}",
            hint="give more captions of each image: the vectors are trained to find another caption of the same image",
        )
    if not examples.rated:
        return
    ratings = [[each.rating for each in examples.part(held_out).rated] for held_out in (True, False)]
    if len(ratings[0]) < LEAST_RATINGS or len({*ratings[0]}) < 2 or len({*ratings[1]}) < 2:
        raise EmptyInputError(
            f"{len(ratings[0])} ratings are of the quarter of the images that is held out, {len({*ratings[0]})} of "
            f"them different, and coefficients are fitted to at least {LEAST_RATINGS}, which must differ",
            hint="give more ratings, of more images, or leave out --ratings",
        )


def evaluation_captions(data: Path) -> set[str]:
    """Return the letters of all captions, references and candidates, of the benchmarks in a data folder."""
    found: set[str] = set()
    for row in _lines(data / "flickr8k/expert.jsonl.gz"):
        found.update(map(letters, (row["candidate"], *row["refs"])))
    found.update(letters(row["candidate"]) for row in _lines(data / "flickr8k/crowdflower.jsonl.gz"))
    for row in _lines(data / "flickr8k/captions.jsonl.gz"):
        if row["split"] not in ("train", "dev"):
            found.update(map(letters, row["captions"]))
    for row in _lines(data / "composite/composite.jsonl.gz"):
        found.update(map(letters, (row["candidate"], *row["refs"])))
    for row in _lines(data / "pascal50s/pairs.jsonl.gz"):
        found.update(map(letters, row["sent"]))
    for name in ("flickr8k/crowdflower_refs", "pascal50s/refs", "coco/karpathy_test_refs"):
        for texts in _json(data / f"{name}.json.gz").values():
            found.update(map(letters, texts))
    for name in _SUGARCREPE:
        for row in _lines(data / f"sugarcrepe/{name}.jsonl.gz"):
            found.update(map(letters, (row["pos"], row["neg"], *row["refs"])))
    for name in _SUGARCREPE_PP:
        for row in _json(data / f"scpp/{name}.json.gz"):
            found.update(map(letters, (row["caption"], row["caption2"], row["negative_caption"])))
    for name in _VALSE:
        for row in _json(data / f"valse/{name}.json.gz").values():
            found.update(map(letters, (row["caption"], row["foil"])))
    return found


def evaluation_images(data: Path) -> set[int]:
    """Return the ids of COCO images that belong to an evaluation."""
    found = set(_json(data / "coco/evaluation_images.json.gz"))
    files = [row["filename"] for name in _SUGARCREPE_PP for row in _json(data / f"scpp/{name}.json.gz")]
    for name in _VALSE:
        files += [row["image_file"] for row in _json(data / f"valse/{name}.json.gz").values()]
    return found | {int(Path(file).stem.rpartition("_")[2]) for file in files}


def flickr30k(data: Path, language: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the captions of each image of Flickr30k that is not one of Flickr8k or Composite, by its file name."""
    kept_out = {_photo(row["image"]) for row in _lines(data / "flickr8k/captions.jsonl.gz")}
    kept_out.update(_photo(row["image"]) for row in _lines(data / "composite/composite.jsonl.gz"))
    for part in ("train", "val"):
        images = (data / f"multi30k/{part}_images.txt").read_text().split()
        columns = []
        for number in range(1, 6):
            with gzip.open(data / f"multi30k/{part}.{number}.{language}.gz", "rt", encoding="utf-8") as file:
                columns.append(file.read().removesuffix("\n").split("\n"))
        for image, *texts in zip(images, *columns, strict=True):
            if _photo(image) not in kept_out:
                yield image, texts


def _photo(image: str) -> str:
    """Return the number of a photograph on Flickr, the same in Flickr8k and Flickr30k, whose file names differ."""
    return re.split(r"[_.]", image)[0]


def checksums(data: Path, language: str = "en") -> dict[str, str]:
    """Return checksums of the files that are learned from."""
    names = [f"multi30k/{part}.{number}.{language}.gz" for part in ("train", "val") for number in range(1, 6)]
    if language == "en":
        names += ["coco/captions_val2014.json.gz", "coco/evaluation_images.json.gz", "flickr8k/captions.jsonl.gz"]
        names += ["cxc/sits.jsonl.gz", "cxc/sts.jsonl.gz"]
    return {name: f"{zlib.crc32((data / name).read_bytes()):08x}" for name in names}


def letters(caption: str) -> str:
    """Return the letters and digits of a caption in lower case: equal for captions that read the same."""
    return re.sub("[^a-z0-9]", "", caption.lower())


def _is_held_out(image: int | str) -> bool:
    return zlib.crc32(str(image).encode()) % 4 == 0


def _all_are(images: Sequence[int | str], held_out: bool) -> bool:
    return all(_is_held_out(image) == held_out for image in images)


def _json(path: Path) -> Any:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)
