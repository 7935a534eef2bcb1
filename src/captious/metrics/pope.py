"""POPE: yes or no answers to questions about the presence of objects in images. Li et al. 2023.

Each question counts as an image, and its answer is the candidate. Answers are classified as yes or no as in the
authors' evaluate.py, which most programs have adopted.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.errors import ParameterError, ResourceError, either
from captious.files import checksum, user_text
from captious.metrics.contract.metric import Metric, State
from captious.metrics.contract.parameters import ResourceParameter
from captious.metrics.shared.arithmetic import f_measure, share
from captious.metrics.shared.objects import check_known_images
from captious.words import counted_of, shortened

_LABELS = {"yes": True, "no": False}
_NO = frozenset({"No", "not", "no"})
_HELP = 'write {"question_id": 1, "label": "yes"} on every line, as in coco_pope_random.json, or {"1": "yes"}'


@dataclass(frozen=True, eq=False)
class _Answers:
    """The right answers by question."""

    by_id: Mapping[str, bool]
    name: str

    @cached_property
    def label(self) -> str:
        """The questions in signatures: the number of questions, and a checksum."""
        return f"{len(self.by_id)}-{checksum(json.dumps(sorted(self.by_id.items())))}"

    def answer(self, id: object) -> bool | None:
        return self.by_id.get(str(id))


def _as_answers(value: Any) -> _Answers:
    if isinstance(value, _Answers):
        return value
    if isinstance(value, Mapping):
        return _answers(lambda: value, "labels", "labels")
    if not isinstance(value, str | os.PathLike):
        raise ParameterError(f"{shortened(value)} is not a file of right answers", hint=_HELP)
    text = user_text(value, "the right answers", _HELP)
    return _answers(lambda: _document(text), Path(value).name, str(value))


class Pope(Metric):
    """Answers to yes/no questions: accuracy; precision, recall and F1 of yes; and the share of yes, all from 0 to 1.

    The answer is no if one of the words before the first full stop is No, no or not, ignoring commas; otherwise it is
    yes. Precision is 0 if no answer is yes, recall if no answer should be, and F1 if both are 0.

    References are not used.

    Raises:
        ParameterError: no right answers.
        ResourceError: a file of right answers that cannot be read, or has answers other than yes and no.
    """

    name = "pope"
    english_only = True
    outputs = ("pope-accuracy", "pope-precision", "pope-recall", "pope-f1", "pope-yes")
    no_direction = frozenset({"pope-yes"})
    summary = "yes or no answers against the right ones: accuracy, precision, recall, F1, share of yes"
    variants = {
        "official": "the authors' program: no if the first sentence has the word No, no or not",
        "first-word": "the first word, in any case: no, yes or neither, which is always wrong",
    }
    needs_references = False
    without_parameters = frozenset({"tokenizer"})

    labels: ResourceParameter[_Answers | Mapping[Any, str] | str | os.PathLike[str] | None, _Answers] = (
        ResourceParameter(
            default=None,
            read=_as_answers,
            needs="the right answers",
            hint="give them: " + either(python="captious.Pope(labels=FILE)", command="-m pope:labels=FILE"),
            in_labels=False,
            summary="right answers: a file of questions with labels",
        )
    )

    @property
    def tokens(self) -> str:
        return "yes or no"

    def statistics(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        """Return counts: true yes, false yes, false no, true no, and other answers if yes or no is right."""
        rows = np.zeros((len(captions), 6))
        for row, (text, label) in enumerate(zip(captions.candidates, self._right_answers(captions), strict=True)):
            answer = self._answer(text)
            if label is None:  # in a subset
                continue
            if answer is None:
                rows[row, 4 if label else 5] = 1
            else:
                rows[row, (0 if label else 1) if answer else (2 if label else 3)] = 1
        return rows

    def _right_answers(self, captions: Captions) -> list[bool | None]:
        """Return the right answers; None for questions without one, in a subset."""
        answers = [self.labels.answer(id) for id in captions.references.images]
        help = "give answers the ids of questions"
        check_known_images(captions, answers, "the right answers to", self.labels.name, help, kind="questions")
        return answers

    def _answer(self, text: str) -> bool | None:
        if self.variant == "official":
            return _NO.isdisjoint(text.partition(".")[0].replace(",", "").split(" "))
        words = "".join(character if character.isalnum() else " " for character in text.lower()).split()
        return _LABELS.get(words[0]) if words else None

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        statistics = np.asarray(statistics)
        true_yes, false_yes, false_no, true_no, no_yes, _ = np.moveaxis(statistics, -1, 0)
        n = statistics.sum(axis=-1)
        precision = share(true_yes, true_yes + false_yes)
        recall = share(true_yes, true_yes + false_no + no_yes)
        scores = [
            share(true_yes + true_no, n),
            precision,
            recall,
            f_measure(precision, recall),
            share(true_yes + false_yes, n),
        ]
        return np.where((n > 0)[..., None], np.stack(scores, axis=-1), np.nan)

    def warnings(self, captions: Captions, state: State | None) -> list[str]:
        answers = [self._answer(text) for text in captions.candidates]
        unclear = sum(
            (self.variant == "official" and not text.strip().lower().startswith(("yes", "no"))) or answer is None
            for text, answer in zip(captions.candidates, answers, strict=True)
        )
        if not unclear:
            return []
        treatment = "count as yes unless they have the word no or not" if self.variant == "official" else "are wrong"
        share = counted_of(unclear, len(answers), "answer", "begin")
        return [f"pope: {share} with neither yes nor no: such answers {treatment}."]


def _document(text: str) -> Any:
    """Parse JSON, or a JSON object on every line."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and all(line.lstrip().startswith("{") for line in lines[:2]) and lines[0].rstrip().endswith("}"):
        return [json.loads(line) for line in lines]
    return json.loads(text)


def _pair(record: Any) -> tuple[object, object]:
    """Return the id of a question and its label, as in files of POPE or AMBER."""
    id = record["question_id"] if "question_id" in record else record["id"]
    return id, record["label"] if "label" in record else record["truth"]


def _answers(read: Callable[[], Any], name: str, where: str) -> _Answers:
    """Return the right answers of a document: labels by id, or records."""
    by_id: dict[str, bool] = {}
    try:
        document = read()
        for id, label in document.items() if isinstance(document, Mapping) else map(_pair, document):
            answer = _LABELS.get(str(label).strip().lower())
            if answer is None:
                if isinstance(label, list):  # the generative part of AMBER's annotations
                    continue
                raise ResourceError(f"{shortened(label)} is not yes or no", where=f"{where}: question {id}", hint=_HELP)
            if by_id.setdefault(str(id), answer) != answer:
                raise ResourceError(f"question {id} has two right answers", where=where, hint="give each id once")
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ResourceError(
            f"this is not a file of right answers: {type(error).__name__} {error}", where=where, hint=_HELP
        ) from error
    if not by_id:
        raise ResourceError("there are no right answers", where=where, hint=_HELP)
    return _Answers(by_id, name)
