"""Objects in images and in captions, for CHAIR and AMBER."""

from __future__ import annotations

import io
import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

from captious.data import Captions, ImageId, References, read_rows
from captious.data.ids import IdForm, by_rule, numbers_from_text, read_alike
from captious.data.rows import CaptionRows, image_list
from captious.errors import MissingObjectsError, ParameterError, ResourceError, needed_for, option
from captious.files import checksum, user_text, whole_file
from captious.resources.cache import text_as_json
from captious.words import counted, counted_of, shortened

_ANNOTATIONS, _RELATION, _SAFE = "annotations.json", "relation.json", "safe_words.txt"
# ``AmberLists``: objects in images, objects that models tend to invent, and related words, for AMBER.
#
# They are read from a folder with the published files annotations.json, relation.json and safe_words.txt, plain or
# compressed.

_HELP = "download data/annotations.json, relation.json and safe_words.txt of junyangwang0410/AMBER on GitHub"
# AMBER_12.jpg, with or without a folder and an extension, and 12
_ID = re.compile(r"(?:.*/)?(?:AMBER_)?0*(\d+)(?:\.\w+)?")


@dataclass(frozen=True)
class ImageWords:
    """The words of an image.

    Args:
        truth: objects in it, possibly with duplicates.
        hallucinations: objects that are not in it, but that models tend to name.
    """

    truth: tuple[str, ...]
    hallucinations: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class AmberLists:
    """AMBER's word lists.

    Args:
        by_image: number of the image -> its words.
        related: word -> words that stand for it.
        safe: words to ignore.
        name: name in messages.
    """

    by_image: Mapping[int, ImageWords]
    related: Mapping[str, tuple[str, ...]]
    safe: frozenset[str]
    name: str = "lists"

    @cached_property
    def counted(self) -> frozenset[str]:
        """Words that count as objects: all that have related words, and the related words."""
        return frozenset((*self.related, *(word for words in self.related.values() for word in words)))

    @cached_property
    def label(self) -> str:
        """The lists in signatures: the number of images, and a checksum of everything."""
        images = sorted((image, words.truth, words.hallucinations) for image, words in self.by_image.items())
        content = json.dumps([images, sorted(self.related.items()), sorted(self.safe)])
        return f"{len(self.by_image)}-{checksum(content)}"

    def words_of(self, image: ImageId) -> ImageWords | None:
        """Return the words of an image: 12, "12" or "AMBER_12.jpg"; None for an unknown image."""
        match = _ID.fullmatch(str(image))
        return self.by_image.get(int(match[1])) if match else None


def as_amber_lists(lists: AmberLists | Mapping[str, Any] | str | os.PathLike[str]) -> AmberLists:
    """Return AMBER's word lists, from a folder or from the contents of its files, {"annotations", "relation",
    "safe_words"}.

    Raises:
        ParameterError: another type.
        ResourceError: a file that is missing, cannot be read, or does not have the expected form.
    """
    if isinstance(lists, AmberLists):
        return lists
    if isinstance(lists, Mapping):
        safe = lists.get("safe_words", ())
        return _parse_lists(lists.get("annotations"), lists.get("relation"), safe, "lists", "lists")
    if not isinstance(lists, str | os.PathLike):
        raise ParameterError(f"{shortened(lists)} is not a folder of AMBER's word lists", hint=_HELP)
    folder = Path(lists)
    annotations, relation = (
        text_as_json(_text(folder, name), str(folder / name), _HELP) for name in (_ANNOTATIONS, _RELATION)
    )
    safe = _text(folder, _SAFE).splitlines()
    return _parse_lists(annotations, relation, safe, folder.name, str(folder))


def _parse_lists(annotations: Any, relation: Any, safe: Sequence[str], name: str, where: str) -> AmberLists:
    try:
        by_image = {
            int(annotation["id"]): ImageWords(_words(annotation["truth"]), _words(annotation["hallu"]))
            for annotation in annotations
            if annotation["type"] == "generative"
        }
        related = {str(word): _words(words) for word, words in relation.items()}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ResourceError(
            f"these are not AMBER's word lists: {type(error).__name__} {error}", where=where, hint=_HELP
        ) from error
    if not by_image:
        raise ResourceError("there are no generative annotations", where=where, hint=_HELP)
    return AmberLists(by_image, related, frozenset(safe), name)


def _words(words: Any) -> tuple[str, ...]:
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
        raise TypeError(f"{shortened(words)} is not a list of words")
    return tuple(words)


def _text(folder: Path, name: str) -> str:
    paths = [path for path in (folder / name, folder / f"{name}.gz") if path.is_file()]
    if not paths:
        raise ResourceError(f"{name} was not found", where=str(folder), hint=_HELP)
    return user_text(paths[0], "AMBER's word lists", _HELP)


# ``ImageObjects``: the objects in each image, the ground truth of CHAIR; read, looked up and saved.


@dataclass(frozen=True, eq=False)
class ImageObjects:
    """The objects of images.

    Args:
        by_image: image -> names of its objects, possibly none.
        name: name of the source in messages.
        id_form: how the source wrote its ids; see ``captious.data.ids``.
    """

    by_image: Mapping[ImageId, frozenset[str]]
    name: str = field(default="objects", kw_only=True)
    id_form: IdForm = field(default="typed", kw_only=True)

    @classmethod
    def read(cls, source: object) -> ImageObjects:
        """Read objects from a file or a Python object: COCO's instances, ``{image: [names]}``, or records.

        Raises:
            InputError: an invalid source.
            MissingExtraError: a parquet file without pyarrow.
        """
        return cls.of_rows(read_rows(source, "objects"))

    @classmethod
    def of_rows(
        cls, rows: CaptionRows, objects_in: Callable[[str], Iterable[str]] = lambda name: (name,)
    ) -> ImageObjects:
        """Create from rows read with the role "objects".

        Args:
            rows: the rows.
            objects_in: the objects that a row names; by default its text.
        """
        names_of: dict[ImageId, set[str]] = {image: set() for image in rows.known_images}
        for image, text in zip(rows.ids, rows.texts, strict=True):
            names_of.setdefault(image, set()).update(objects_in(text))
        distinct = {names: names for names in map(frozenset, names_of.values())}  # many images have equal sets
        by_image = {image: distinct[frozenset(names)] for image, names in names_of.items()}
        return cls(by_image, name=rows.name, id_form=rows.id_form)

    def __len__(self) -> int:
        """Return the number of images."""
        return len(self.by_image)

    def __repr__(self) -> str:
        return f"<ImageObjects {self.name!r}: {counted(len(self), 'image')}>"

    @cached_property
    def label(self) -> str:
        """The objects in signatures: the number of images, and a checksum of all objects."""
        content = sorted((str(image), *sorted(names)) for image, names in self.by_image.items())
        return f"{len(self)}-{checksum(json.dumps(content))}"

    @property
    def contents(self) -> str:
        """Short description."""
        return f"{counted(sum(map(len, self.by_image.values())), 'object')} of {counted(len(self), 'image')}"

    @property
    def warnings(self) -> list[str]:
        """A warning if some images have no objects."""
        if not (empty := sum(not names for names in self.by_image.values())):
            return []
        what = "every object that a caption of them names will count as hallucinated."
        return [f"{counted_of(empty, len(self), 'image', 'have')} no objects: {what}"]

    @cached_property
    def _images(self) -> tuple[ImageId, ...]:
        return tuple(self.by_image)

    def look_up(self, references: References) -> list[frozenset[str] | None]:
        """Return the objects in the image of each row; None for unknown images.

        Ids match as those of candidates and references do.

        Raises:
            ParameterError: one side has ids, the other only positions.
        """
        by_position = [side.name for side in (self, references) if side.id_form == "position"]
        if len(by_position) == 1 and len(references):
            raise ParameterError(
                "images cannot be matched with their objects, because one side has only positions",
                where=f"without ids: {by_position[0]}",
                hint="give captions and objects with image ids, as {image_id: caption} and {image_id: [objects]}",
            )
        own, images = read_alike(by_rule(self._images, references.ids_read), references.images)
        table = self.by_image if own is self._images else dict(zip(own, self.by_image.values(), strict=True))
        return [table.get(image) for image in images]

    def union(self, other: ImageObjects) -> ImageObjects:
        """Return the objects of both, for the images of either.

        Raises:
            ParameterError: one side has ids, the other only positions.
        """
        id_form = self.id_form
        sides: tuple[Sequence[ImageId], Sequence[ImageId]] = self._images, other._images
        if "position" not in (self.id_form, other.id_form):
            sides = read_alike(*sides)
            id_form = self.id_form if sides[0] is self._images else "typed"
        elif self.id_form != other.id_form:
            raise ParameterError(
                "one side has image ids and the other only positions, so they cannot be matched",
                where=f"{self.name}, {other.name}",
                hint="give both with ids",
            )
        by_image: defaultdict[ImageId, frozenset[str]] = defaultdict(frozenset)
        for images, side in zip(sides, (self, other), strict=True):
            for image, names in zip(images, side.by_image.values(), strict=True):
                by_image[image] |= names
        return ImageObjects(dict(by_image), name=f"{self.name}, {other.name}", id_form=id_form)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file for ``read``: parquet by its extension, else JSON, ``{image: [names]}``, names sorted.

        Raises:
            OutputError: the file cannot be written.
            MissingExtraError: parquet without pyarrow.
        """
        if Path(path).suffix.lower() == ".parquet":
            self._save_parquet(path)
            return
        lines = (
            f"{json.dumps(str(image), ensure_ascii=False)}: {json.dumps(sorted(names), ensure_ascii=False)}"
            for image, names in self.by_image.items()
        )
        text = "{\n" + ",\n".join(lines) + "\n}\n"
        with whole_file(path) as file:
            file.write(text)

    def _save_parquet(self, path: str | os.PathLike[str]) -> None:
        with needed_for("parquet", "parquet"):
            import pyarrow as pa
            import pyarrow.parquet as pq
        images = list(numbers_from_text(self._images) if self.id_form == "text" else self._images)
        if not all(isinstance(image, int) for image in images):
            images = [str(image) for image in images]
        names = pa.array([*map(sorted, self.by_image.values())], pa.list_(pa.string()))
        content = io.BytesIO()
        pq.write_table(pa.table({"image_id": images, "objects": names}), content)
        with whole_file(path, "wb") as file:
            file.write(content.getvalue())


def as_image_objects(objects: object) -> ImageObjects:
    """Return objects of images; anything else is read.

    Raises as ``ImageObjects.read`` does.
    """
    return objects if isinstance(objects, ImageObjects) else ImageObjects.read(objects)


# The check that data exist for the images of captions, and its error.


def check_known_images(
    captions: Captions, entries: Sequence[object | None], what: str, source: str, help: str, *, kind: str = "images"
) -> None:
    """Refuse captions of images without data, unless a subset was requested.

    Args:
        captions: n captions.
        entries: data of the image of each, None if there are none.
        what: the beginning of the message, "the objects of".
        source: the source of the data.
        help: the expected form of ids.
        kind: what an image stands for, in the plural.

    Raises:
        MissingObjectsError: the number of such images, and the first of them.
    """
    image_ids = captions.references.images
    unknown = dict.fromkeys(image for image, entry in zip(image_ids, entries, strict=True) if entry is None)
    if unknown and not captions.subset:
        raise MissingObjectsError(
            f"{what} {len(unknown):,} of {len(set(image_ids)):,} {kind} are not known",
            where=f"{source}: {image_list(unknown)}",
            hint=f"{help}. score and compare leave these {kind} out with {option('match', 'common')}",
        )


# ``ObjectWords``: words for objects, and the mentions of objects in captions, for CHAIR.
#
# A file of words is JSON, ``{object: [words]}``, or lines of words separated by commas, the object first, as in the
# ``synonyms.txt`` of CHAIR's authors. The words of the package also have pairs of words that are read as another word,
# and words that are ignored if another word is in the same caption.

#: The words of the package for COCO's objects, with which CHAIR was published.
COCO = "coco"
_FILE = files("captious.resources") / "coco-objects.json"

#: Tokens to as many base forms.
BaseForms: TypeAlias = Callable[[Sequence[str]], Sequence[str]]


@dataclass(frozen=True, eq=False)
class ObjectWords:
    """Words for objects, in lower case.

    Args:
        name: name in signatures.
        object_of: word, or words joined by single spaces -> the object.
        joined: words joined by single spaces -> the word that they are read as.
        dropped: word -> another word; the first is ignored if the second is in the same caption.
    """

    name: str
    object_of: Mapping[str, str]
    joined: Mapping[str, str] = field(default_factory=dict)
    dropped: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def objects(self) -> frozenset[str]:
        """Objects that words name."""
        return frozenset(self.object_of.values())

    @cached_property
    def label(self) -> str:
        """The words in signatures; with a checksum, unless they are those of the package."""
        if self.name == COCO:
            return self.name
        content = json.dumps([sorted(table.items()) for table in (self.object_of, self.joined, self.dropped)])
        return f"{self.name}-{checksum(content)}"

    @cached_property
    def single_words(self) -> frozenset[str]:
        """All words in the lists, with multi-word expressions split."""
        return frozenset(word for words in (*self.object_of, *self.joined) for word in words.split())

    def named(self, names: Iterable[str]) -> dict[str, str]:
        """Convert names of objects, or words for them, to objects. Unknown names are left out."""
        object_of = {**self.object_of, **{name.lower(): name for name in self.objects}}
        words = {name: _spaced(name) for name in names}
        return {name: object_of[word] for name, word in words.items() if word in object_of}


@dataclass(frozen=True)
class Mention:
    """A mention of an object in a caption.

    Args:
        words: the word, in its base form; several words are joined by spaces.
        object: the object.
        start, end: its span of tokens in the caption.
    """

    words: str
    object: str
    start: int
    end: int


class MentionFinder:
    """Finds the mentions of objects in tokens.

    Args:
        words: the words that name objects.
        base_forms: converts the tokens of a caption to base forms.
    """

    def __init__(self, words: ObjectWords, base_forms: BaseForms) -> None:
        self._base_forms = base_forms
        self._object_of = words.object_of
        self._dropped = tuple(words.dropped.items())
        phrases = {phrase: phrase for phrase in words.object_of if " " in phrase} | dict(words.joined)
        self._joined = {tuple(phrase.split()): to for phrase, to in phrases.items()}
        self._first_words = frozenset(parts[0] for parts in self._joined)
        self._lengths = sorted({len(parts) for parts in self._joined}, reverse=True)

    def objects(self, tokens: Sequence[str]) -> list[str]:
        """Return the named objects, in order and with repetitions."""
        words: Sequence[str] = self._base_forms(tokens)
        if not self._first_words.isdisjoint(words):
            words = [word for word, _, _ in self._join_words(words)]
        for word, companion in self._dropped:
            if word in words and companion in words:
                words = [token for token in words if token != word]
        object_of = self._object_of
        return [object_of[word] for word in words if word in object_of]

    def words(self, tokens: Sequence[str]) -> list[str]:
        """Return the words of a caption in base form, with multi-word expressions joined."""
        return [word for word, _, _ in self._join_words(self._base_forms(tokens))]

    def mentions(self, tokens: Sequence[str]) -> list[Mention]:
        """Return the mentions, as in ``objects``, with the words that name them."""
        words = self._join_words(self._base_forms(tokens))
        present = {word for word, _, _ in words}
        named = self._object_of.keys() - {word for word, companion in self._dropped if companion in present}
        return [Mention(word, self._object_of[word], start, end) for word, start, end in words if word in named]

    def _join_words(self, words: Sequence[str]) -> list[tuple[str, int, int]]:
        """Return words and their spans, with joined words in place of their parts."""
        positions = []
        start = 0
        while start < len(words):
            word, end = words[start], start + 1
            if word in self._first_words:
                for length in self._lengths:
                    together = tuple(words[start : start + length])
                    if together in self._joined:
                        word, end = self._joined[together], start + length
                        break
            positions.append((word, start, end))
            start = end
        return positions


def as_object_words(words: ObjectWords | Mapping[str, Iterable[str]] | str | os.PathLike[str]) -> ObjectWords:
    """Return words for objects: "coco", a file, or a mapping from objects to their words.

    Raises:
        ParameterError: another type.
        ResourceError: a file that cannot be read, or has other content.
    """
    if isinstance(words, ObjectWords):
        return words
    if isinstance(words, Mapping):
        return _parse_words(words, "own", "vocabulary")
    if not isinstance(words, str | os.PathLike):
        problem = f"{shortened(words)} is not a vocabulary of objects"
        raise ParameterError(problem, hint="give a file, or {object: [words]}")
    return _coco() if os.fspath(words) == COCO else _read_words(Path(words))


@cache
def _coco() -> ObjectWords:
    return _parse_words(json.loads(_FILE.read_text(encoding="utf-8")), COCO, _FILE.name)


def _read_words(path: Path) -> ObjectWords:
    help = 'write {"dog": ["puppy", "hound"], ...} in a .json file, or lines such as: dog, puppy, hound'
    text = user_text(path, "the vocabulary", help)
    name = path.name.removesuffix(".gz").partition(".")[0]
    if not text.lstrip().startswith(("{", "[")):
        lines: dict[str, list[str]] = {}
        for line in text.splitlines():
            if line.strip() and not line.startswith("#"):
                words = line.split(",")
                lines.setdefault(words[0].strip(), []).extend(words)
        return _parse_words(lines, name, str(path))
    document = text_as_json(text, str(path), help)
    if not isinstance(document, Mapping):
        raise ResourceError("this JSON is not an object", where=str(path), hint=help)
    return _parse_words(document, name, str(path))


def _parse_words(document: Mapping[str, Any], name: str, where: str) -> ObjectWords:
    """Read the words of ``{object: [words]}``, or of an object with this under "objects" and optional entries."""
    objects = document.get("objects")
    more = document if isinstance(objects, Mapping) else {}
    words_of = objects if isinstance(objects, Mapping) else document
    unnamed = more.get("unnamed", ())
    object_of: dict[str, str] = {}
    for named_object, words in words_of.items():
        if isinstance(words, str) or not isinstance(words, Iterable) or not all(isinstance(w, str) for w in words):
            raise ResourceError(
                f"{shortened(named_object)} is not followed by a list of words",
                where=where,
                hint='write {"dog": ["puppy", "hound"]}',
            )
        names = [named_object] if named_object not in unnamed else []
        for word in dict.fromkeys(_spaced(word) for word in (*names, *words)):
            if word and object_of.setdefault(word, named_object) != named_object:
                raise ResourceError(
                    f"{word!r} names two objects",
                    where=f"{where}: {object_of[word]}, {named_object}",
                    hint="give each word to one object",
                )
    if not object_of:
        raise ResourceError("the vocabulary is empty", where=where, hint='write {"dog": ["puppy", "hound"]}')
    joined = {_spaced(words): _spaced(to) for words, to in more.get("joined", {}).items()}
    return ObjectWords(name, object_of, joined, dict(more.get("dropped", {})))


def _spaced(words: str) -> str:
    """Return text in lower case, with single spaces."""
    return " ".join(words.lower().split())
