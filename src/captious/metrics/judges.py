"""CLAIR and G-VEval: a language model rates captions."""

from __future__ import annotations

import math
import re
from itertools import accumulate

from captious.errors import ParameterError, requesting
from captious.metrics.contract.parameters import ChoiceParameter, NumberParameter
from captious.metrics.shared.judges import JudgeMetric, Reading, final_answer, first_object
from captious.models.chat import Answer, Token

# CLAIR: a language model rates how likely a caption describes the same image as the references, from 0 to 100.
#
# Chan et al. 2023. The question, the scale and the number of tries are those of the paper; the prompt is ours, and
# answers that cannot be parsed have no score, whereas the authors' code uses the first number of the text, or 0.


class JudgeClair(JudgeMetric):
    """A model's score of a caption, 0 to 1, higher is better. The corpus score is the mean of the captions that have
    one.

    Raises:
        ParameterError: no model, no images where they are shown, or a prompt without a place for the captions.
        EndpointError: the endpoint does not answer.
    """

    name = "judge-clair"
    summary = "score of a model behind an endpoint, as CLAIR asks for it"
    prompts = "clair"

    @property
    def reading(self) -> Reading:
        return clair_score


def clair_score(answer: Answer) -> float | None:
    """Return the score in an answer: that of the first JSON object, from 0 to 100, divided by 100.

    None if there is none, if it is out of range, or if it is a fraction between 0 and 1, which may be on another scale.
    """
    score = first_object(answer).get("score")
    if isinstance(score, str):
        try:
            score = float(score)
        except ValueError:
            return None
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        return None
    return score / 100 if score == 0 or 1 <= score <= 100 else None


# G-VEval: a language model reasons about a caption, then rates it; the score is the expectation over its
# probabilities.
#
# Tong et al. 2024, the single score of its three settings (references, image, both), which are the variants here. The
# prompts are ours; the marker of the score and the expectation over the 5 most likely tokens are those of the paper.

_ALTERNATIVES = 5
#: A score at the end of an answer: $85, perhaps with a full stop, stars or another dollar sign behind it.
_SCORE = re.compile(r"\$\s*([0-9]{1,3})[\s.*$]*\Z")


class JudgeGeval(JudgeMetric):
    """A model's score of a caption after reasoning, 0 to 1, higher is better.

    With ``value="expected"``, it is the expected value over the probabilities of the token of the score; with
    "integer", the sampled score. The corpus score is the mean of the captions that have one.

    Raises:
        ParameterError: no model, no images where they are shown, or a prompt without a place for the captions; a model
            whose tokens do not have the probabilities of scores.
        EndpointError: the endpoint does not answer, or returns no probabilities although they are needed.
    """

    name = "judge-geval"
    summary = "score of a model behind an endpoint after reasoning, as G-VEval computes it"
    prompts = "geval"

    temperature: NumberParameter[float] = NumberParameter(
        default=1.0, least=0, most=2, summary="temperature of sampling"
    )
    value: ChoiceParameter = ChoiceParameter(
        default="expected",
        choices=("expected", "integer"),
        summary="the expected value over token probabilities, or the integer in the text",
    )

    @property
    def alternatives(self) -> int:
        return _ALTERNATIVES if self.value == "expected" else 0

    @property
    def reading(self) -> Reading:
        return integer_score if self.value == "integer" else expected_score


def integer_score(answer: Answer) -> float | None:
    """Return the integer from 0 to 100 after a dollar sign at the end of an answer, divided by 100; None if there is
    none.
    """
    match = _SCORE.search(final_answer(answer.text))
    return None if match is None or int(match[1]) > 100 else int(match[1]) / 100


def expected_score(answer: Answer) -> float | None:
    """Return the expected value of the score at the end of an answer, over the most likely integers at its position.

    None if the answer has no valid score.

    Raises:
        ParameterError: the score consists of several tokens, so its probability is unknown.
    """
    if integer_score(answer) is None:
        return None
    text = "".join(token.text for token in answer.tokens)
    match = _SCORE.search(text)
    if match is None:  # special tokens, or bytes, that are not as in the text
        return None
    token = _token_at(answer.tokens, match.start(1))
    if _number(token.text) != int(match[1]):
        raise ParameterError(
            "the model writes numbers in several tokens, so no token has the probability of a score",
            where=f"the answer ends in {text[-20:]!r}",
            hint=f"use {requesting('judge-geval:value=integer')}, or another model",
        )
    weights: dict[int, float] = {}
    for alternative, logarithm in token.alternatives:
        score = _number(alternative)
        if score is not None and score <= 100:
            weights[score] = weights.get(score, 0.0) + math.exp(min(logarithm, 0.0))
    total = sum(weights.values())
    return sum(score * weight for score, weight in weights.items()) / total / 100 if total > 0 else None


def _token_at(tokens: tuple[Token, ...], place: int) -> Token:
    """Return the token with the character at a position of the text."""
    ends = accumulate(len(token.text) for token in tokens)
    return next(token for token, end in zip(tokens, ends, strict=True) if place < end)


def _number(token: str) -> int | None:
    """Return the integer in a token, apart from white space and a dollar sign before it."""
    digits = token.strip().removeprefix("$")
    return int(digits) if digits.isascii() and digits.isdecimal() else None
