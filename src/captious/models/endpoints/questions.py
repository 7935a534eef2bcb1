"""Questions to a model behind an endpoint, and its answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from captious.errors import InputError

#: Finish reasons of refused answers; another attempt would be refused, too.
REFUSED = frozenset({"content_filter", "content_policy_violation", "context_length_exceeded"})
#: Characters of a token, about: for estimates of costs.
_CHARACTERS_PER_TOKEN = 4
#: Tokens of an image, about: they depend on model and size.
_TOKENS_PER_IMAGE = 1000


@dataclass(frozen=True)
class Question:
    """A question, with everything that can change its answer apart from the model.

    Args:
        text: the message.
        image: an image file to attach.
        temperature: sampling temperature, 0 for the most likely answer.
        seed: random seed of sampling; None to send none.
        answer_tokens: maximum tokens of an answer.
        alternatives: number of alternatives to each token to request with their probabilities; 0 for none.
        attempt: number of the attempt, from 0: a question may be repeated after an invalid answer. The seed that is
            sent is the sum of both.
    """

    text: str
    image: Path | None = None
    temperature: float = 0.0
    seed: int | None = None
    answer_tokens: int = 512
    alternatives: int = 0
    attempt: int = 0

    @property
    def sampling(self) -> dict[str, Any]:
        """The parameters of the request."""
        values: dict[str, Any] = {"temperature": self.temperature, "max_tokens": self.answer_tokens}
        if self.seed is not None:
            values["seed"] = self.seed + self.attempt
        if self.alternatives:
            values |= {"logprobs": True, "top_logprobs": self.alternatives}
        return values

    def key(self, model: str) -> str:
        """Return a hash of everything that the answer of a model depends on.

        Args:
            model: identity of the model.

        Raises:
            InputError: the image cannot be read.
        """
        image = "" if self.image is None else _checksum(self.image)
        parts = [model, self.text, image, self.attempt, sorted(self.sampling.items())]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @property
    def tokens(self) -> int:
        """Approximate number of tokens."""
        return len(self.text) // _CHARACTERS_PER_TOKEN + (0 if self.image is None else _TOKENS_PER_IMAGE)


@dataclass(frozen=True)
class Token:
    """A token of an answer.

    Args:
        text: its text in the answer.
        alternatives: the most likely tokens at its position, usually including itself, with natural logarithms of their
            probabilities.
    """

    text: str
    alternatives: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Answer:
    """An answer.

    Args:
        text: text of the model; empty if it refused.
        finish: why it ended, such as "stop", "length" or "content_filter".
        model: the name under which the model answered.
        tokens: tokens of the text, if probabilities were requested.
        usage: tokens of question and answer, as the endpoint counts them.
    """

    text: str
    finish: str = "stop"
    model: str = ""
    tokens: tuple[Token, ...] = ()
    usage: tuple[int, int] = (0, 0)

    @property
    def is_refusal(self) -> bool:
        """Whether the endpoint refused the question and would do so again."""
        return self.finish in REFUSED

    def to_json(self) -> str:
        """Serialize the answer for ``from_json``."""
        tokens = [[token.text, token.alternatives] for token in self.tokens]
        return json.dumps([self.text, self.finish, self.model, tokens, self.usage])

    @classmethod
    def from_json(cls, text: str) -> Answer:
        """Restore an answer from the result of ``to_json``.

        Raises:
            ValueError, TypeError: other text.
        """
        answer, finish, model, tokens, (question_tokens, answer_tokens) = json.loads(text)
        return cls(
            answer,
            finish,
            model,
            tuple(Token(token, _alternatives(alternatives)) for token, alternatives in tokens),
            (question_tokens, answer_tokens),
        )

    @classmethod
    def of_response(cls, document: Mapping[str, Any]) -> Answer:
        """Extract the answer from a response of the protocol.

        Raises:
            ValueError, TypeError, KeyError, IndexError: it is not one.
        """
        choice = document["choices"][0]
        content = choice["message"].get("content") or ""
        if isinstance(content, list):  # a list of parts
            content = "".join(part.get("text", "") for part in content)
        if not isinstance(content, str):
            raise TypeError("content is not text")
        entries = (choice.get("logprobs") or {}).get("content") or []
        tokens = tuple(
            Token(
                str(token["token"]),
                _alternatives([(top["token"], top["logprob"]) for top in token.get("top_logprobs") or []]),
            )
            for token in entries
        )
        usage = document.get("usage") or {}
        costs = (int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0))
        return cls(content, str(choice.get("finish_reason") or ""), str(document.get("model") or ""), tokens, costs)


def _alternatives(pairs: Sequence[Sequence[Any]]) -> tuple[tuple[str, float], ...]:
    return tuple((str(text), float(logarithm)) for text, logarithm in pairs)


def image_bytes(path: Path) -> bytes:
    """Return the content of an image file.

    Raises:
        InputError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"the image file {path.name} cannot be read: {error.strerror}",
            where=str(path),
            help="make the file readable",
        ) from error


@lru_cache(maxsize=100_000)
def _checksum(path: Path) -> str:
    return hashlib.sha256(image_bytes(path)).hexdigest()
