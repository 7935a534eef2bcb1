"""Settings that apply to all metrics of a run.

A setting is passed to every metric that is requested by name and declares a parameter of that name; a new metric with
word vectors only needs a parameter named ``vectors``. ``references_as`` and ``threads`` apply to the run as a whole.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

from captious.data import References, read_references
from captious.errors import ParameterError, UnknownNameError, either
from captious.metrics.contract.parameters import label_of
from captious.native import MOST_THREADS
from captious.plugins import NAMES_OF_SETTINGS, answering_other_keywords, deferred
from captious.text import Tokenizer, as_tokenizer
from captious.words import shortened

if TYPE_CHECKING:
    from captious.data import ImageId
    from captious.metrics.shared.frequencies import DocumentFrequencies
    from captious.metrics.shared.objects import ImageObjects
    from captious.models import Encoder, WordVectors
    from captious.models.chat import ChatModel
    from captious.parsing.sources import ParseSource
    from captious.text.languages import Language

#: The forms in which metrics get the references of an image: each by itself, or all as one text.
REFERENCES_AS = ("each", "cat")


@answering_other_keywords
@dataclass(frozen=True, kw_only=True, repr=False)
class Settings:
    """Settings of all metrics of a run. Names and files are resolved when the object is created.

    Args:
        language: language code of the captions, such as de or pt-BR. It selects the tokenizer, unless one is given, and
            METEOR's stemmer, function words and parameters. By default, English.
        tokenizer: name of a tokenizer, such as ptb, 13a, unicode or a registered one (the error for an
            unknown name lists all). By default, each metric's own. In Python, also a function.
        idf: document frequencies for CIDEr and its relatives: a file written by ``captious fit cider-d``, or coco for
            those of COCO's validation images. By default, those of the references.
        model: model of metrics with contextual encoders: a name on the Hugging Face hub, or a folder. By default, each
            metric's own.
        vectors: word vectors: a name given to ``captious vectors add``, or a file. By default, those named by
            ``CAPTIOUS_VECTORS``, or the only ones that were added.
        parser: parses of metrics that need them: the grammar corenlp or bundled, spacy:NAME (hwcm only), or a file of
            parses (.jsonl from ``captious parse``, or .conllu). By default, the best grammar available.
        images: images for metrics that use them: a folder of image files named by image id (clipscore, refclipscore,
            judge-clair, judge-geval), or a file of image features (leic).
        objects: the objects in the images, for chair: a file written by ``captious fit chair``, or COCO instances. In
            Python, also ``{image: [names]}``.
        training: captions that the systems were trained on, for novel, in any form of references.
        judge: model behind an endpoint, for judge-clair and judge-geval: its name at the URL in ``CAPTIOUS_ENDPOINT``,
            or a file that describes it (.toml). In Python, also a ``captious.ChatModel``.
        references_as: how the references of an image are passed to metrics: separately (each), or concatenated into one
            (cat).
        threads: number of threads, up to 1,024. By default, ``CAPTIOUS_THREADS``, or all cores.

    Raises:
        UnknownNameError: an unknown language, tokenizer, parser, or value of ``references_as``.
        ParameterError: a value of the wrong type, or a number of threads out of range.
        ResourceError, CaptionFileError, MissingExtraError: a file, model or package that cannot be used.
    """

    language: Language | str | None = None
    tokenizer: str | Tokenizer | Callable[[str], Sequence[str]] | None = None
    idf: DocumentFrequencies | str | os.PathLike[str] | None = None
    model: Encoder | str | None = None
    vectors: WordVectors | str | os.PathLike[str] | None = None
    parser: ParseSource | str | os.PathLike[str] | None = None
    images: str | os.PathLike[str] | None = None
    objects: ImageObjects | Mapping[ImageId, Sequence[str]] | str | os.PathLike[str] | None = None
    training: References | str | os.PathLike[str] | None = None
    judge: ChatModel | str | os.PathLike[str] | None = None
    references_as: Literal["each", "cat"] = "each"
    threads: int | None = None

    def __post_init__(self) -> None:
        for name, resolved in _RESOLVED.items():
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, resolved(value))
        language: Any = self.language
        if language is not None and self.tokenizer is None:
            object.__setattr__(self, "tokenizer", as_tokenizer(language.tokenizer))
        if self.references_as not in REFERENCES_AS:
            raise UnknownNameError(
                f"references_as must be {' or '.join(map(repr, REFERENCES_AS))}, not {shortened(self.references_as)}",
                hint="leave it out to compare with each reference",
            )
        threads: Any = self.threads
        is_integer = isinstance(threads, Integral) and not isinstance(threads, bool)
        if threads is not None and not (is_integer and 0 < threads <= MOST_THREADS):
            raise ParameterError(
                f"invalid number of threads {shortened(self.threads)}",
                hint=f"give a number of threads, 1 to {MOST_THREADS:,}",
            )

    def __repr__(self) -> str:
        """Return the settings that are not the default, as in messages."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        items = (f"{name}={label_of(value)!r}" for name, value in values.items() if value not in (None, "each"))
        return f"Settings({', '.join(items)})"

    @property
    def is_foreign(self) -> bool:
        """Whether the language of the captions is named, and not English."""
        language: Any = self.language
        return language is not None and language.code != "en"

    @property
    def implied(self) -> frozenset[str]:
        """Settings that no metric needs to use: the language, and the tokenizer that it selects."""
        language: Any = self.language
        if language is None:
            return frozenset()
        picked = isinstance(self.tokenizer, Tokenizer) and self.tokenizer.name == language.tokenizer
        return frozenset(("language", "tokenizer") if picked else ("language",))

    @cached_property
    def of_metrics(self) -> Mapping[str, Any]:
        """Metric settings that were set."""
        return {name: value for name in _RESOLVED if (value := getattr(self, name)) is not None}


def _folder(value: Any) -> Any:
    if not isinstance(value, str | os.PathLike):
        raise ParameterError(
            f"{shortened(value)} is neither a folder of images nor a file of image features",
            hint="give the folder of image files, named by image id; for leic, a file of image features",
        )
    return value


#: The functions that turn a user's value into what metrics take.
_RESOLVED: Mapping[str, Callable[[Any], Any]] = {
    "language": deferred("text.languages:as_language"),
    "tokenizer": as_tokenizer,
    "idf": deferred("metrics.shared.frequencies:as_frequencies"),
    "model": deferred("models.encoders:as_encoder"),
    "vectors": deferred("models:WordVectors.open"),
    "parser": deferred("parsing.sources:as_parse_source"),
    "images": _folder,
    "objects": deferred("metrics.shared.objects:as_image_objects"),
    "training": read_references,
    "judge": deferred("models.chat:as_chat_model"),
}

NAMES_OF_SETTINGS[:] = [field.name for field in fields(Settings)]


def as_settings(settings: Settings | None) -> Settings:
    """Return settings, by default those without any.

    Raises:
        ParameterError: something else.
    """
    if settings is None or isinstance(settings, Settings):
        return Settings() if settings is None else settings
    names = [*settings] if isinstance(settings, Mapping) else ["tokenizer"]
    raise ParameterError(
        f"{shortened(settings)} is not a captious.Settings",
        hint=either(
            python=f"give captious.Settings({', '.join(f'{name}=...' for name in names)})", command="give settings"
        ),
    )
