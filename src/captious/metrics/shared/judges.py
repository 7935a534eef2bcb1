"""Metrics that ask a model: prompts, base classes, and the comparison of two captions."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References
from captious.errors import CaptionFileError, EndpointError, ParameterError, either, setting
from captious.files import user_text
from captious.metrics.contract.metric import BaseMetric, Metric, State, mean_of_scored, scored
from captious.metrics.contract.parameters import IntegerParameter, NumberParameter, ResourceParameter
from captious.models.chat import Answer, ChatModel, Question, as_chat_model, missing_client
from captious.models.clip import find_images
from captious.words import DEFAULT_SEED, counted, counted_of

# Prompts of judges: texts with placeholders for the captions, from the package or from users.

_FOLDER = Path(__file__).parent / "prompts"


@dataclass(frozen=True)
class Prompt:
    """A prompt.

    ``{candidate}`` and ``{references}`` stand for the captions unchanged, the references one per line, after "- ";
    ``{candidate_json}`` and ``{references_json}`` for the same as JSON, which quotes captions safely. Other braces are
    text.

    Args:
        name: name in signatures.
        text: text with the placeholders.
    """

    name: str
    text: str

    @classmethod
    def of_package(cls, name: str) -> Prompt:
        """Read a prompt of this package."""
        return cls(name, (_FOLDER / f"{name}.txt").read_text(encoding="utf-8"))

    @classmethod
    def of_file(cls, path: str | os.PathLike[str]) -> Prompt:
        """Read a prompt of a user.

        Raises:
            ResourceError, CaptionFileError: the file cannot be read, or is not text.
        """
        return cls(Path(path).stem, user_text(path, "the prompt", "give a file of UTF-8 text", CaptionFileError))

    @property
    def label(self) -> str:
        """The name and a checksum of the text."""
        return f"{re.sub('[|,]', '-', self.name)}@{hashlib.sha256(self.text.encode()).hexdigest()[:8]}"

    def has(self, place: str) -> bool:
        """Return whether there is a placeholder for something, such as "candidate", in either form."""
        return any(f"{{{place}{form}}}" in self.text for form in ("", "_json"))

    def check(self, metric: str, required: Sequence[str], forbidden: Sequence[str]) -> None:
        """Refuse a prompt that lacks a required placeholder, or has one that the metric does not fill.

        Raises:
            ParameterError: names the placeholder.
        """
        if missing := next((place for place in required if not self.has(place)), ""):
            raise ParameterError(
                f"the prompt {self.name} has no place for the {missing} of {metric}",
                hint=f"write {{{missing}}} or {{{missing}_json}} where it belongs",
            )
        if unfilled := next(filter(self.has, forbidden), ""):
            raise ParameterError(
                f"the prompt {self.name} has a place for the {unfilled}, which {metric} does not show",
                hint=f"remove {{{unfilled}}}, or choose another variant",
            )

    def filled(self, values: Mapping[str, str]) -> str:
        """Return the text with values for placeholders; placeholders within a value are not replaced."""
        pattern = "|".join(re.escape(f"{{{place}}}") for place in values)
        return re.sub(pattern, lambda match: values[match[0][1:-1]], self.text)


def listed(captions: Mapping[str, str], references: Sequence[str]) -> dict[str, str]:
    """Return the texts that fill a prompt: captions by the names of their placeholders, and references."""
    quoted = {f"{name}_json": json.dumps(caption, ensure_ascii=False) for name, caption in captions.items()}
    return {
        **captions,
        **quoted,
        "references": "\n".join(f"- {reference}" for reference in references),
        "references_json": json.dumps([*references], ensure_ascii=False, indent=1),
    }


def _as_prompt(value: Any) -> Prompt:
    return value if isinstance(value, Prompt) else Prompt.of_file(value)


# Base classes of metrics that ask a model behind an endpoint for a score of each caption.

Reading = Callable[[Answer], float | None]


class ModelJudge(BaseMetric):
    """The parameters of questions to a model. Statistics (k = 2): the score, or 0, and whether there is one, 0 or 1.

    Raises:
        ParameterError: no model, no images where they are shown, or a prompt without a place for the captions.
    """

    _requirements = (missing_client,)
    without_parameters = frozenset({"tokenizer"})
    variants = {
        "references": "the model sees references, not the image",
        "images": "the model sees the image, not the references",
        "both": "the model sees the image and the references",
    }
    #: Prefix of the names of bundled prompts, followed by the name of the variant.
    prompts: ClassVar[str]
    #: The places of captions in prompts.
    places: ClassVar[tuple[str, ...]] = ("candidate",)

    judge: ResourceParameter[ChatModel | str | os.PathLike[str] | None, ChatModel] = ResourceParameter(
        default=None,
        read=as_chat_model,
        needs="a model behind an endpoint",
        hint=f"give it: {setting('judge', 'MODEL')}, with the name of a model"
        + either(python=" or a captious.ChatModel", command=""),
        summary="the model: a name, or a file that describes it",
    )
    images: ResourceParameter[str | os.PathLike[str] | None, Path | None] = ResourceParameter(
        default=None,
        read=Path,
        keep_none=True,
        in_labels=False,
        summary="folder of image files, named by image id, for variants that show images",
        signature_key="",
    )
    prompt: ResourceParameter[Prompt | str | os.PathLike[str] | None, Prompt | None] = ResourceParameter(
        default=None,
        read=_as_prompt,
        keep_none=True,
        summary="a file with the prompt; none for ours",
        signature_key="",
    )
    temperature: NumberParameter[float] = NumberParameter(
        default=0.0, least=0, most=2, summary="temperature of sampling"
    )
    seed: IntegerParameter[int | None] = IntegerParameter(
        default=DEFAULT_SEED, optional=True, most=2**31 - 100, summary="random seed of sampling; none to send none"
    )
    answer_tokens: IntegerParameter[int] = IntegerParameter(
        default=1024, least=1, summary="the most tokens of an answer"
    )
    tries: IntegerParameter[int] = IntegerParameter(
        default=3, least=1, most=10, summary="how often to ask before an answer counts as invalid"
    )

    def setup(self) -> None:
        self.needs_references = self.variant != "images"
        if self.variant != "references" and self.images is None:
            raise ParameterError(
                f"{self.name}@{self.variant} needs the images",
                hint=f"give the folder of image files: {setting('images', 'DIR')}",
            )
        self._prompt = self.prompt or Prompt.of_package(f"{self.prompts}-{self.variant}")
        required = (*self.places, "references") if self.needs_references else self.places
        forbidden = () if self.needs_references else ("references",)
        self._prompt.check(f"{self.name}@{self.variant}", required, forbidden)

    @property
    def parameters(self) -> Mapping[str, object]:
        return {**super().parameters, "prompt": self._prompt.label}

    @property
    def tokens(self) -> str:
        return self.judge.name

    @property
    def asking(self) -> Asking:
        """The question and its parameters."""
        sampling = Question("", None, self.temperature, self.seed, self.answer_tokens, self.alternatives)
        images = None if self.variant == "references" else self.images
        return Asking(self.judge, self._prompt, images, sampling, self.tries, self.reading)

    def other_models(self, judged: Judgments) -> list[str]:
        """Return a warning if a model of another name answered."""
        models = [name for name in judged.models if name not in ("", self.judge.name)]
        return [f"{self.name} asked for {self.judge.name}, but {' and '.join(models)} answered."] if models else []

    @property
    def alternatives(self) -> int:
        """Number of alternatives to each token to request."""
        return 0

    @property
    def reading(self) -> Reading:
        """A function from an answer to a score, or None for an invalid answer."""
        raise NotImplementedError

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        return mean_of_scored(statistics)


class JudgeMetric(ModelJudge, Metric):
    """A metric that asks a model for a score.

    Captions whose answers are invalid have no score (nan). If no answer can be read, that is an error.
    """

    def statistics(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        return scored(captions.own_layer(self.asking).scores[:, None])

    def warnings(self, captions: Captions, state: State | None) -> list[str]:
        judged = captions.own_layer(self.asking)
        messages = []
        if invalid := int(np.isnan(judged.scores).sum()):
            share = f"{counted_of(invalid, len(judged.scores), 'caption')} ({invalid / len(judged.scores):.1%})"
            messages.append(f"{self.name} has no score for {share}, for which the model gave no valid answer.")
        return messages + self.other_models(judged)


@dataclass(frozen=True, eq=False)
class Judgments:
    """The answers of a model about captions.

    Args:
        scores: float64[n_captions], nan if there is no valid answer.
        answers: the last answer about each caption.
        models: the names under which the model answered.
    """

    scores: NDArray[np.float64]
    answers: tuple[Answer, ...]
    models: tuple[str, ...]


@dataclass(frozen=True)
class Asking:
    """Questions to a model about captions, and the interpretation of its answers.

    Args:
        judge: the model.
        prompt: the prompt.
        images: the folder of the images to attach; None for none.
        sampling: a question without text, with the parameters of sampling.
        tries: maximum number of attempts to get a valid answer.
        reading: converts an answer to a score, or None.
    """

    judge: ChatModel
    prompt: Prompt
    images: Path | None
    sampling: Question
    tries: int
    reading: Reading

    def of_candidates(self, captions: Captions) -> Judgments:
        """Return the judgments of candidates, as an annotation of captions: each is made once."""
        judged = self.judgments([{"candidate": text} for text in captions.candidates], captions.references)
        self.check_read([judged])
        return judged

    def judgments(self, captions: Sequence[Mapping[str, str]], references: References) -> Judgments:
        """Return the judgments of the model.

        Args:
            captions: captions of each question, by the names of their placeholders; one question per image.
            references: the images.
        """
        questions = self._questions(captions, references)
        scores = np.full(len(questions), np.nan)
        answers: list[Answer] = [Answer("")] * len(questions)
        open_rows = [*range(len(questions))]
        if self.sampling.alternatives and open_rows:
            # One call alone: if its answer cannot be read for want of probabilities, no others are wasted.
            self.reading(*self.judge.ask(questions[:1]))
        models: set[str] = set()
        for attempt in range(self.tries):
            open_questions = [replace(questions[row], attempt=attempt) for row in open_rows]
            unread = []
            for row, answer in zip(open_rows, self.judge.ask(open_questions), strict=True):
                answers[row] = answer
                models.add(answer.model)
                score = self.reading(answer)
                if score is not None:
                    scores[row] = score
                elif not answer.is_refusal:
                    unread.append(row)
            open_rows = unread
        return Judgments(scores, tuple(answers), tuple(sorted(models)))

    def check_read(self, judged: Sequence[Judgments]) -> None:
        """Check that some answer of the model could be read.

        Raises:
            EndpointError: there are answers, and none says a score; it shows the first.
        """
        answers = [answer for judgments in judged for answer in judgments.answers]
        if not answers or not all(np.isnan(judgments.scores).all() for judgments in judged):
            return
        first = next((answer for answer in answers if answer.text.strip()), answers[0])
        said = f"it says {first.text.strip()[:200]!r}" if first.text.strip() else "it is empty"
        ended = f" and ended with {first.finish!r}" if first.finish not in ("", "stop") else ""
        raise EndpointError(
            f"none of {counted(len(answers), 'answer')} of the model gives a judgment that can be read",
            where=f"{self.judge.name} at {self.judge.endpoint}: {said}{ended}",
            hint="choose a model that follows the prompt, change the prompt, or allow longer answers: "
            + either(
                python="answer_tokens=N", command="max_tokens in [body] of a file of the model, --judge FILE.toml"
            ),
        )

    def _questions(self, captions: Sequence[Mapping[str, str]], references: References) -> list[Question]:
        images: Sequence[Path | None] = [None] * len(captions)
        if self.images is not None:
            images = find_images(self.images, [str(image) for image in references.images])
        bounds = pairwise(references.offsets.tolist())
        return [
            replace(self.sampling, text=self.prompt.filled(listed(of_image, references.texts[a:b])), image=image)
            for of_image, image, (a, b) in zip(captions, images, bounds, strict=True)
        ]


def final_answer(text: str) -> str:
    """Return the text after the reasoning of a model that includes it in its answer; empty if the reasoning does not
    end.
    """
    _, end, tail = text.rpartition("</think>")
    if end:
        return tail.strip()
    return "" if text.lstrip().startswith("<think>") else text.strip()


def first_object(answer: Answer) -> dict[str, Any]:
    """Return the first JSON object in an answer; empty if there is none."""
    text = final_answer(answer.text)
    decoder = json.JSONDecoder(strict=False)
    start = text.find("{")
    while start >= 0:
        try:
            value, _ = decoder.raw_decode(text, start)
        except RecursionError:  # so deep that it cannot be an answer
            return {}
        except ValueError:
            start = text.find("{", start + 1)
        else:
            return value if isinstance(value, dict) else {}
    return {}


# A model that compares two captions of an image: its parameters, its prompt, and the interpretation of its answers.


class PairwiseJudge(ModelJudge):
    """Preference of a model between two captions. Statistics (k = 2): points of the first, 0, .5 or 1; 1 if there
    is a verdict.
    """

    name = "judge-pairwise"
    summary = "which of two captions a model behind an endpoint prefers"
    prompts = "pairwise"
    places = ("a", "b")

    @property
    def reading(self) -> Reading:
        return preference


def preference(answer: Answer) -> float | None:
    """Return 1 if an answer prefers A, 0 for B, .5 for a tie; None if it does not say so in a JSON object."""
    better = first_object(answer).get("better")
    return {"a": 1.0, "b": 0.0, "tie": 0.5}.get(better.strip().lower()) if isinstance(better, str) else None
