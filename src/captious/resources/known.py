"""The resources that captious knows of, as the command line lists and gets them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from captious.resources import meteor_tables as meteor
from captious.resources import spice_grammar

__all__ = ["RESOURCES", "Found", "Resource"]


class Found(Protocol):
    """A resource that is on this machine."""

    @property
    def origin(self) -> str:
        """How it was found, in human-readable form."""
        ...

    @property
    def label(self) -> str:
        """What signatures call it."""
        ...

    @property
    def index(self) -> Path:
        """Where the compiled file is, or will be."""
        ...

    @property
    def is_built(self) -> bool:
        """Whether the compiled file exists and is intact."""
        ...

    def build(self) -> None:
        """Make the compiled file, unless it exists and is intact."""
        ...


@dataclass(frozen=True)
class Resource:
    """A resource that captious knows of.

    Args:
        title: its name in lists of metrics.
        what: what it is, for listings.
        install: the command that installs it.
        find: looks for it.
        fetch: puts it into the cache folder.
        fetch_from: gets it from a path or URL, and reports what takes long; None if it cannot be fetched that way.
    """

    title: str
    what: str
    install: str
    find: Callable[[], Found | None]
    fetch: Callable[[], Found]
    fetch_from: Callable[[str, Callable[[str], None]], Found] | None = None


#: By name, as the command line takes it.
RESOURCES = {
    "meteor": Resource(
        title="meteor tables",
        what="METEOR 1.5's synonyms, paraphrases and function words",
        install=meteor.INSTALL,
        find=meteor.find,
        fetch=meteor.fetch,
    ),
    "spice-grammar": Resource(
        title="spice grammar",
        what="the English grammar of CoreNLP 3.6.0, which the official SPICE uses",
        install=spice_grammar.INSTALL,
        find=spice_grammar.find,
        fetch=spice_grammar.fetch,
        fetch_from=spice_grammar.fetch,
    ),
}
