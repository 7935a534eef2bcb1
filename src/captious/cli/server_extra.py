"""The extra [server]: commands import the server within a block that says how to install what it lacks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from captious.errors import MissingExtraError

__all__ = ["server_extra"]


@contextmanager
def server_extra() -> Iterator[None]:
    """A block that imports the server.

    Raises:
        MissingExtraError: a package is not installed.
    """
    try:
        yield
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package == "captious":
            raise  # an error of captious itself
        raise MissingExtraError(
            f"the evaluation server needs the package {package}", help="pip install 'captious[server]'"
        ) from error
