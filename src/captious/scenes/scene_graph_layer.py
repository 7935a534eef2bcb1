"""Scene graphs of captions as an annotation layer: references of an image are merged once, for all their candidates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from captious.data import Captions, KeyedByFields, References
from captious.errors import ParameterError
from captious.parsing.parse import Parse
from captious.parsing.parsed_captions import ParsedCaptions, Parses, ParseSource
from captious.resources.meteor_tables import MeteorTables
from captious.scenes.matching import Facts
from captious.scenes.scene_graph import SceneGraph
from captious.scenes.synonyms import synonyms
from captious.scenes.tuples import Tuple, tuples_of
from captious.text.tokenizers import Tokenizer

__all__ = ["SceneGraphLayer", "facts_of"]


@dataclass(frozen=True)
class SceneGraphLayer(KeyedByFields):
    """What the references of each image say together, and what each candidate says.

    Args:
        tokenizer: how captions become words.
        source: where parses come from.
        tables: METEOR's, for synonyms.
    """

    tokenizer: Tokenizer
    source: ParseSource
    tables: MeteorTables

    @property
    def parses(self) -> ParsedCaptions:
        """The layer below."""
        return ParsedCaptions(self.tokenizer, self.source)

    def of_references(self, references: References) -> tuple[Facts, ...]:
        parses: Parses = references.layer(self.parses)
        tuples = _tuples(parses.of_captions)
        of_images = (tuples[start:end] for start, end in pairwise(references.offsets.tolist()))
        return tuple(facts_of(chain.from_iterable(image), self.tables) for image in of_images)

    def of_candidates(self, captions: Captions, references: tuple[Facts, ...]) -> tuple[Facts, ...]:
        parses: Parses = captions.layer(self.parses)[0]
        return self._each(parses)

    def of_texts(self, captions: Sequence[str]) -> tuple[Facts, ...]:
        """What captions that are in no table say, each by itself."""
        return self._each(self.parses.of_texts(captions))

    def _each(self, parses: Parses) -> tuple[Facts, ...]:
        distinct = dict(zip(map(id, parses.of_captions), _tuples(parses.of_captions), strict=True))
        facts = {parse: facts_of(tuples, self.tables) for parse, tuples in distinct.items()}
        return tuple(facts[id(parse)] for parse in parses.of_captions)


def facts_of(tuples: Iterable[Tuple], tables: MeteorTables) -> Facts:
    """What tuples say when they are merged to a scene graph."""
    return Facts(SceneGraph(synonyms(tables), tuples))


def _tuples(parses: Iterable[Parse]) -> list[tuple[Tuple, ...]]:
    """The tuples of each caption; equal captions share their parse, which is looked at once.

    Raises:
        ParameterError: a parse without collapsed dependencies.
    """
    known: dict[int, tuple[Tuple, ...]] = {}
    found = []
    for parse in parses:
        if parse.words and not parse.collapsed:
            raise ParameterError(
                "a scene graph needs collapsed dependencies, which this parse does not have",
                where=" ".join(parse.words),
                help="spaCy pipelines do not produce them: use --parser corenlp or captious, or a file of parses",
            )
        if id(parse) not in known:
            known[id(parse)] = tuples_of(parse)
        found.append(known[id(parse)])
    return found
