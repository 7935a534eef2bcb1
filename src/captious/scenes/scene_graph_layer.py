"""Scene graphs of captions as an annotation layer: references of an image are merged once, for all their candidates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, pairwise
from typing import TypeAlias

from captious.data import Captions, KeyedByFields, References, Stored, stored_key
from captious.errors import ParameterError
from captious.parsing.parsed_captions import ParsedCaptions, Parses, ParseSource
from captious.parsing.parses import Parse
from captious.resources.meteor_tables import MeteorTables
from captious.scenes.matching import Facts
from captious.scenes.no_garbage import no_garbage
from captious.scenes.scene_graph import SceneGraph
from captious.scenes.stored_facts import fact_arrays, facts_of_arrays
from captious.scenes.synonyms import synonyms
from captious.scenes.tuples import Tuple, tuples_of
from captious.text.tokenizers import Tokenizer

__all__ = ["SceneGraphLayer", "facts_of"]

#: Tuples of parses, by the identity of the parse: equal captions share theirs.
_Known: TypeAlias = dict[int, tuple[Tuple, ...]]


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

    @property
    def stored_as(self) -> str | None:
        return stored_key("scene-graphs-1", self.parses.stored_as, self.tables.fingerprint)

    def to_stored(self, annotation: tuple[Facts, ...], references: References) -> Stored:
        return Stored(fact_arrays(annotation))

    def from_stored(self, stored: Stored, references: References) -> tuple[Facts, ...]:
        with no_garbage():
            return facts_of_arrays(stored.arrays, len(references))

    def of_references(self, references: References) -> tuple[Facts, ...]:
        known: _Known = {}
        parses: Parses = references.layer(self._parses(known))
        tuples = [_tuples(known, parse) for parse in parses.of_captions]
        of_images = (tuples[start:end] for start, end in pairwise(references.offsets.tolist()))
        with no_garbage():
            return tuple(facts_of(chain.from_iterable(image), self.tables) for image in of_images)

    def of_candidates(self, captions: Captions, references: tuple[Facts, ...]) -> tuple[Facts, ...]:
        known: _Known = {}
        parses: Parses = captions.layer(self._parses(known))[0]
        return self._each(parses, known)

    def of_texts(self, captions: Sequence[str]) -> tuple[Facts, ...]:
        """What captions that are in no table say, each by itself."""
        known: _Known = {}
        return self._each(self._parses(known).of_texts(captions), known)

    def _parses(self, known: _Known) -> ParsedCaptions:
        """The layer below, with the tuples of parses computed while other captions are being parsed."""
        return replace(self.parses, meanwhile=partial(_tuples, known))

    def _each(self, parses: Parses, known: _Known) -> tuple[Facts, ...]:
        distinct = {id(parse): parse for parse in parses.of_captions}
        tuples = {number: _tuples(known, parse) for number, parse in distinct.items()}
        with no_garbage():
            facts = {number: facts_of(of_parse, self.tables) for number, of_parse in tuples.items()}
        return tuple(facts[id(parse)] for parse in parses.of_captions)


def facts_of(tuples: Iterable[Tuple], tables: MeteorTables) -> Facts:
    """What tuples say when they are merged to a scene graph."""
    return Facts(SceneGraph(synonyms(tables), tuples))


def _tuples(known: _Known, parse: Parse) -> tuple[Tuple, ...]:
    """The tuples of a caption; they are added to those that are known.

    Raises:
        ParameterError: a parse without collapsed dependencies.
    """
    found = known.get(id(parse))
    if found is None:
        if parse.words and not parse.collapsed:
            raise ParameterError(
                "a scene graph needs collapsed dependencies, which this parse does not have",
                where=" ".join(parse.words),
                help="spaCy pipelines do not produce them: use --parser corenlp or bundled, or a file of parses",
            )
        found = known[id(parse)] = tuples_of(parse)
    return found
