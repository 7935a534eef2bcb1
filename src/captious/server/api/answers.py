"""Types of the API's answers, which views return and from which the description of the API is made."""

from __future__ import annotations

from typing import Any, NotRequired, TypeVar

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

_Answer = TypeVar("_Answer")
#: An answer has the keys of its type, and no others.
exact = with_config(ConfigDict(extra="forbid"))


def answer_from(answer: type[_Answer], row: object, **values: Any) -> _Answer:
    """An answer of a type: the attributes of a row with the names of its keys, and other values.

    Args:
        values: the values of keys that the row does not have by these names.
    """
    keys: Any = answer.__annotations__
    return answer(**{key: values[key] if key in values else getattr(row, key) for key in keys})


@exact
class ProblemAnswer(TypedDict):
    """A problem with captions; ``ids`` are the first of ``n`` images."""

    file: str
    message: str
    ids: list[int | str]
    n: int


@exact
class ErrorAnswer(TypedDict):
    """The reason why a call was refused."""

    error: str
    problems: NotRequired[list[ProblemAnswer]]
