"""CHAIR: hallucinated objects, which a caption names although they are not in the image.

Rohrbach et al. 2018, with the conventions of the authors' code (LisaAnne/Hallucination) and, for recall, of
CHAIR-metric-standalone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, ImageId, read_rows
from captious.data.ids import find, rule_for
from captious.data.rows import image_list
from captious.errors import MissingObjectsError, ParameterError, option, setting
from captious.metrics.contract import registry
from captious.metrics.contract.metric import Metric, State
from captious.metrics.contract.parameters import ResourceParameter
from captious.metrics.contract.registry import Request
from captious.metrics.contract.settings import Settings
from captious.metrics.shared.arithmetic import share
from captious.metrics.shared.objects import (
    COCO,
    BaseForms,
    ImageObjects,
    Mention,
    MentionFinder,
    ObjectWords,
    as_image_objects,
    as_object_words,
    check_known_images,
)
from captious.text.stems import Singulars, lemmas
from captious.text.tokenizers import word_tokenize
from captious.words import counted_of


@dataclass(frozen=True)
class Mentions:
    """The explanation of a caption's score.

    Attributes:
        tokens: the caption, in lower case.
        mentions: objects that it names, in order.
        hallucinated: for each mention, whether the object is not in the image.
        objects: the objects in the image, sorted.
        unmentioned: objects that the caption does not name.
        scores: scores by output.
    """

    kind: ClassVar[str] = "mentions"

    tokens: tuple[str, ...]
    mentions: tuple[Mention, ...]
    hallucinated: tuple[bool, ...]
    objects: tuple[str, ...]
    unmentioned: tuple[str, ...]
    scores: Mapping[str, float]


class Chair(Metric):
    """Objects that captions name although they are not in the image: chair-s and chair-i, lower is better; and recall.

    chair-s is the share of captions with a hallucinated object, chair-i the share of hallucinated mentions among all
    mentions of objects, chair-recall the share of the objects in the images that their captions name; all from 0 to 1.
    A caption without mentions has chair-i 0. References are not used.

    Raises:
        ParameterError: no objects, or objects that are not in the vocabulary.
        InputError, ResourceError: a file of objects or words that cannot be read.
        MissingExtraError: variant lmms-eval without NLTK.
    """

    name = "chair"
    english_only = True
    explanation = Mentions.kind
    outputs = ("chair-s", "chair-i", "chair-recall")
    lower_is_better = frozenset({"chair-s", "chair-i"})
    summary = "objects that captions name although they are not in the image, without references"
    variants = {
        "official": "the authors' code of 2018",
        "standalone": "CHAIR-metric-standalone: the same scores; recall is its addition",
        "fixed": "as official, but words such as 'bus' are found",
        "lmms-eval": "base forms as in lmms-eval: lemmas of NLTK, by part of speech",
    }
    fitted_resource = "objects in images"
    needs_references = False

    without_parameters = frozenset({"tokenizer"})
    vocabulary: ResourceParameter[ObjectWords | Mapping[str, Iterable[str]] | str | os.PathLike[str], ObjectWords] = (
        ResourceParameter(
            default=COCO,
            read=as_object_words,
            summary="words that name objects: coco for those of the paper, or a file",
        )
    )
    objects: ResourceParameter[
        ImageObjects | Mapping[ImageId, Sequence[str]] | str | os.PathLike[str] | None, ImageObjects
    ] = ResourceParameter(
        default=None,
        read=as_image_objects,
        needs="the objects in the images",
        hint=f"give them: {setting('objects', 'FILE')}; captious fit chair writes such a file",
        in_labels=False,
        summary="objects in the images: a file",
    )

    def setup(self) -> None:
        self._finder = MentionFinder(self.vocabulary, self._base_forms())
        self._objects = self._rename_objects(self.objects)

    def _base_forms(self) -> BaseForms:
        """Return the function that converts the tokens of a caption to base forms."""
        if self.variant == "lmms-eval":
            lemmas([])  # raises if it cannot run
            return lemmas
        # The official program makes "bu" of "bus", and does not find it. What users list is always found.
        as_published = self.variant != "fixed" and self.vocabulary.name == COCO
        return Singulars() if as_published else Singulars(self.vocabulary.single_words)

    @property
    def tokens(self) -> str:
        return "nltk"

    def statistics(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        """Return counts: captions, captions with a hallucination, mentions, hallucinated mentions, objects named,
        objects present.
        """
        mentions = captions.own_layer(_MentionedLayer(self._finder))
        rows = [*map(_counts, mentions, self._truths(captions))]
        return np.array(rows, np.float64).reshape(len(rows), 6)

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        captions, with_any, mentions, wrong, named, present = np.moveaxis(np.asarray(statistics), -1, 0)
        # Images without objects to compare with have no score; they occur only if a subset was asked for.
        nothing = np.where(captions > 0, 0.0, np.nan)
        pairs = ((with_any, captions), (wrong, mentions), (named, present))
        return np.stack([share(*pair, nothing) for pair in pairs], axis=-1)

    def warnings(self, captions: Captions, state: State | None) -> list[str]:
        messages = []
        if missing := sum(truth is None for truth in self._truths(captions)):
            images = counted_of(missing, len(captions), "image")
            messages.append(f"chair leaves out {images}, whose objects are not known.")
        if not any(captions.own_layer(_MentionedLayer(self._finder))):
            messages.append("no caption names an object of chair's vocabulary, so chair-s and chair-i are 0.")
        return messages

    def explain(self, candidate: str, objects: Iterable[str]) -> Mentions:
        """Return the mentions of a caption.

        Args:
            candidate: the caption.
            objects: names of the objects in its image.

        Raises:
            ParameterError: an object that is not in the vocabulary.
        """
        (truth,) = self._rename_objects(ImageObjects({0: frozenset(objects)})).by_image.values()
        tokens = word_tokenize(candidate)
        mentions = self._finder.mentions(tokens)
        wrong = [mention.object not in truth for mention in mentions]
        named_objects = truth.intersection(mention.object for mention in mentions)
        row = np.array(_counts([mention.object for mention in mentions], truth), np.float64)
        return Mentions(
            tokens=tuple(tokens),
            mentions=tuple(mentions),
            hallucinated=tuple(wrong),
            objects=tuple(sorted(truth)),
            unmentioned=tuple(sorted(truth - named_objects)),
            scores=dict(zip(self.outputs, self.aggregate(row).tolist(), strict=True)),
        )

    def objects_in(self, texts: Iterable[str]) -> frozenset[str]:
        """Return the objects that any of these texts names: captions, or names of objects."""
        texts = list(texts)
        object_of = self.vocabulary.named(texts)
        captions = (text for text in texts if text not in object_of)
        return frozenset((*object_of.values(), *(name for text in captions for name in self._named(text))))

    def objects_at(self, image: ImageId) -> frozenset[str]:
        """Return the objects in an image of the ground truth; an integer is also found by its text.

        Raises:
            MissingObjectsError: they are unknown.
        """
        objects = find(self._objects.by_image, image)
        if objects is None:
            raise MissingObjectsError(
                "the objects of the image are not known",
                where=f"{self.objects.name}: {image_list([image])}",
                hint="give an image of that file",
            )
        return objects

    def objects_of(self, sources: Iterable[object]) -> ImageObjects:
        """Return the ground truth of images from all sources together, as written by ``captious fit chair``.

        Args:
            sources: COCO's instances, ``{image: [names]}``, and human captions, whose mentions count as objects; files
                or Python objects. Except for instances, a source is treated as captions unless half of its distinct
                texts are names of objects.

        Raises:
            InputError: a source that cannot be read.
            ParameterError: an object that is not in the vocabulary.
        """
        objects: ImageObjects | None = None
        for source in sources:
            rows = read_rows(source, "objects")
            texts = set(rows.texts)
            are_names = rows.are_categories or 2 * len(self.vocabulary.named(texts)) >= len(texts)
            if are_names:
                of_source = self._rename_objects(ImageObjects.of_rows(rows))
            else:
                of_source = ImageObjects.of_rows(rows, self._named)
            objects = of_source if objects is None else objects.union(of_source)
        if objects is None:
            raise ParameterError("no objects were given", hint="give COCO's instances, captions, or both")
        return objects

    def _named(self, caption: str) -> list[str]:
        """Return the objects that a caption names, in order and with repetitions."""
        return self._finder.objects(word_tokenize(caption))

    def _rename_objects(self, objects: ImageObjects) -> ImageObjects:
        """Return the objects of images under their names in the vocabulary."""
        names = frozenset().union(*objects.by_image.values())
        if names <= self.vocabulary.objects:
            return objects
        object_of = self.vocabulary.named(names)
        if unknown := sorted(names - object_of.keys()):
            raise ParameterError(
                f"{counted_of(len(unknown), len(names), 'object', 'are')} not in the vocabulary {self.vocabulary.name}",
                where=f"{objects.name}: {', '.join(map(repr, unknown[:3]))}",
                hint="give the words for these objects: chair:vocabulary=FILE. captious fit chair writes such a file "
                "from captions",
            )
        by_image = {image: frozenset(map(object_of.__getitem__, words)) for image, words in objects.by_image.items()}
        return ImageObjects(by_image, name=objects.name, id_form=objects.id_form)

    def _truths(self, captions: Captions) -> list[frozenset[str] | None]:
        """Return the objects in the image of each caption; None if they are unknown, in a subset."""
        truths = self._objects.look_up(captions.references)
        missing = [row for row, truth in enumerate(truths) if truth is None]
        if missing and not captions.subset:
            rule = rule_for(self._objects.by_image, captions.references.images)
            help = f"all ids match with {option('ids', rule)}" if rule else "add their objects, an empty list for none"
            check_known_images(captions, truths, "the objects of", self.objects.name, help)
        return truths


def _counts(named: Sequence[str], truth: frozenset[str] | None) -> tuple[float, ...]:
    """Return the statistics of a caption; zeros if the objects in its image are not known."""
    if truth is None:
        return (0,) * 6
    wrong = sum(name not in truth for name in named)
    return 1, wrong > 0, len(named), wrong, len(truth.intersection(named)), len(truth)


@dataclass(frozen=True)
class _MentionedLayer:
    """The objects that each candidate names."""

    finder: MentionFinder

    def of_candidates(self, captions: Captions) -> list[list[str]]:
        return [self.finder.objects(word_tokenize(candidate)) for candidate in captions.candidates]


def with_objects(metric: object, settings: Settings) -> Settings:
    """Return the settings; for chair by name without objects, with an empty table of them."""
    is_chair = isinstance(metric, str) and registry.owner_of(Request.from_text(metric).name) == Chair.name
    return replace(settings, objects=ImageObjects({})) if is_chair and settings.objects is None else settings
