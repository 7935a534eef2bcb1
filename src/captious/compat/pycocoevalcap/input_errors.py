"""Errors for input that the toolkit rejects with a bare assertion or a ValueError.

They name the image. They are also instances of the toolkit's exceptions, so that ``except`` clauses written for it
work.
"""

# The names say what was wrong; each is an error of captious and of Python.
# ruff: noqa: N818

from __future__ import annotations

from captious.errors import (
    CaptionTypeError,
    DuplicateCandidateError,
    EmptyInputError,
    MissingCandidatesError,
    MissingReferencesError,
    ParameterError,
    UnknownImageError,
)

__all__ = ["DuplicateCandidate", "MissingCandidates", "MissingReferences", "NoImages", "NotAList", "UnknownArgument"]
__all__ += ["UnknownImage"]


class DuplicateCandidate(DuplicateCandidateError, AssertionError):
    """An image with several candidates."""


class MissingCandidates(MissingCandidatesError, AssertionError):
    """An image without a candidate."""


class MissingReferences(MissingReferencesError, AssertionError):
    """An image without references."""


class NotAList(CaptionTypeError, AssertionError):
    """Captions of an image that are not in a list."""


class UnknownArgument(ParameterError, TypeError):
    """An argument that no supported fork has."""


class UnknownImage(UnknownImageError, AssertionError):
    """A candidate for an image without references."""


class NoImages(EmptyInputError, ValueError):
    """A corpus without images."""
