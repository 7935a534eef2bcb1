"""CLAIR: a language model rates how likely a caption describes the same image as the references, from 0 to 100.

Chan et al. 2023. The question, the scale and the number of tries are those of the paper; the prompt is ours, and
answers that cannot be parsed have no score, whereas the authors' code uses the first number of the text, or 0.
"""

from __future__ import annotations

import math

from captious.metrics.shared.judges.model_judge import JudgeMetric, Reading, first_object
from captious.models.endpoints import Answer


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
