"""The resources of metrics that users supply, for the commands that list and get them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from captious.resources import corenlp
from captious.resources import meteor_tables as meteor
from captious.resources.cache import ResourceFiles


@dataclass(frozen=True)
class Resource:
    """A resource that users supply.

    Args:
        title: its name in lists of metrics.
        what: description for listings.
        install: the command that installs it.
        find: looks for it.
        fetch: puts it into the cache folder, from a path or URL or, without one, from where it is published, and
            reports slow steps.
        takes_source: whether it can be fetched from a path or URL.
    """

    title: str
    what: str
    install: str
    find: Callable[[], ResourceFiles | None]
    fetch: Callable[[str, Callable[[str], None]], ResourceFiles]
    takes_source: bool = False


def _fetch_meteor(source: str, tell: Callable[[str], None]) -> ResourceFiles:
    tell("downloading")
    return meteor.fetch()


#: By name, as the command line takes it.
RESOURCES = {
    "meteor": Resource(
        title="meteor tables",
        what="METEOR 1.5's synonyms, paraphrases and function words",
        install=meteor.INSTALL,
        find=meteor.find,
        fetch=_fetch_meteor,
    ),
    "spice-grammar": Resource(
        title="spice grammar",
        what="the English grammar of CoreNLP 3.6.0, which the official SPICE uses",
        install=corenlp.INSTALL,
        find=corenlp.find,
        fetch=corenlp.fetch,
        takes_source=True,
    ),
}
