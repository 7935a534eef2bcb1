"""Where metrics that need parses get them from: a grammar, a file of parses made elsewhere, or spaCy."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from captious.data.file_contents import decode, read_bytes
from captious.data.source import Source
from captious.errors import CaptionFileError, ParameterError, UnknownNameError
from captious.parsing.parse import Parse
from captious.parsing.parse_files import read_lines
from captious.parsing.parsed_captions import ParseSource
from captious.parsing.spacy_pipelines import label_of, load_pipeline
from captious.resources.bundled_grammar import VERSION

__all__ = ["FileOfParses", "Parser", "SpacyPipeline", "approximate", "as_parse_source", "read_parses"]

#: What users may give where parses are needed; see ``as_parse_source``.
Parser: TypeAlias = ParseSource | str | os.PathLike[str] | None

_SPACY = "spacy:"


def as_parse_source(parser: Parser) -> ParseSource:
    """A source of parses.

    Args:
        parser: None for the best grammar on this machine; "corenlp" or "bundled" for one of the two; "spacy:NAME" for a
            spaCy pipeline by name or folder; or a file of parses (.jsonl, .conllu).

    Raises:
        MissingExtraError: a grammar or package that is not installed.
        ResourceError: there is no such pipeline, or it has no parser.
        UnknownNameError: neither a parser nor the name of a file.
        ParameterError: a value of any other type.
        CaptionFileError: a file that cannot be read.
    """
    from captious.parsing.grammar_parser import GRAMMARS, parser_with

    if parser is None or (isinstance(parser, str) and parser in GRAMMARS):
        return parser_with(parser)
    if isinstance(parser, str) and parser.startswith(_SPACY):
        return _spacy(parser.removeprefix(_SPACY))
    if isinstance(parser, str) and not Path(parser).suffix and not os.path.exists(parser):
        raise UnknownNameError(
            f"there is no parser {parser!r}",
            help=f"use {', '.join(GRAMMARS)}, {_SPACY}NAME (hwcm only), or a file of parses, .jsonl or .conllu",
        )
    if isinstance(parser, str | os.PathLike):
        return read_parses(parser)
    if isinstance(parser, type) or not (callable(getattr(parser, "parse", None)) and isinstance(parser, Hashable)):
        raise ParameterError(
            f"{parser!r:.60} is not a parser",
            help=f"give {', '.join(map(repr, GRAMMARS))}, '{_SPACY}NAME' (hwcm only), a file of parses (.jsonl or "
            ".conllu), or an object with label and parse(captions, words)",
        )
    return parser


def approximate(label: str) -> list[str]:
    """What a reader of SPICE should be told if the bundled grammar is in the label of a source, or in a signature."""
    if VERSION not in re.split(r"[(),|: ]", label):
        return []
    return [
        "SPICE is using the bundled approximate grammar (correlation .988 with the official scores over 80,095 "
        "captions, corpus scores within .002). For official scores, run: captious resources get spice-grammar "
        "--from PATH_OR_URL."
    ]


@dataclass(frozen=True)
class FileOfParses:
    """Parses that were made elsewhere.

    Args:
        parses: caption as the file has it -> parse.
        name: of the file.
        checksum: CRC-32 of its content, eight hex digits.
        made_by: labels of the parsers that made it, as far as it says so.
    """

    parses: Mapping[str, Parse] = field(compare=False, repr=False)
    name: str
    checksum: str
    made_by: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """What signatures call it."""
        made_by = f"({','.join(self.made_by)})" if self.made_by else ""
        return f"{self.name}@{self.checksum}{made_by}"

    @property
    def stored_as(self) -> str:
        """What files of prepared references call it."""
        return self.label

    def parse(self, captions: Sequence[str], words: Sequence[tuple[str, ...]]) -> list[Parse]:
        """The parses of n captions, found by the caption as given or by its words joined with blanks.

        Raises:
            CaptionFileError: captions that the file does not have; says how many, and the first.
        """
        found: list[Parse] = []
        missing: list[str] = []
        for caption, of_caption in zip(captions, words, strict=True):
            parse = self.parses.get(caption.strip()) or self.parses.get(" ".join(of_caption))
            if parse is None:
                missing.append(caption)
            else:
                found.append(parse)
        if missing:
            raise CaptionFileError(
                f"{len(missing):,} caption{'s have' if len(missing) > 1 else ' has'} no parse",
                where=f"{self.name}; for example {missing[0]!r:.100}",
                help="parse the missing captions, each as a single tree (captious parse does this for English), or "
                "omit --parses",
            )
        return found


def read_parses(path: str | os.PathLike[str]) -> FileOfParses:
    """Read a file of parses, .jsonl or .conllu, plain or with .gz; see ``captious.parsing.parse_files``.

    Raises:
        CaptionFileError: a file that cannot be read, or that is not of either form; names the line.
    """
    source = Source(os.fspath(path), "parses", is_file=True)
    extension = Path(source.name.lower().removesuffix(".gz")).suffix
    if extension not in (".jsonl", ".conllu"):
        raise source.error("the extension is not that of a file of parses")
    data = read_bytes(source)
    read = read_lines(decode(data, source).split("\n"), source.name, conllu=extension == ".conllu")
    return FileOfParses(read.parses, Path(source.name).name, f"{zlib.crc32(data):08x}", read.made_by)


@dataclass(frozen=True)
class SpacyPipeline:
    """A spaCy pipeline. Its dependencies follow the conventions of its language, and there are no collapsed ones.

    Args:
        name: "spacy:", its own name and its version.
        pipeline: as spaCy loads it.
    """

    name: str
    pipeline: Any = field(compare=False, repr=False)

    @property
    def label(self) -> str:
        """What signatures call it."""
        return self.name

    def parse(self, captions: Sequence[str], words: Sequence[tuple[str, ...]]) -> list[Parse]:
        """The parses of n captions, from their words joined with blanks, which spaCy tokenizes again in its own way."""
        texts = (" ".join(of_caption) for of_caption in words)
        return [
            Parse(
                tuple(token.text for token in doc),
                tuple(token.tag_ for token in doc),
                tuple(token.lemma_ for token in doc),
                tuple(0 if token.head.i == token.i else token.head.i + 1 for token in doc),
                tuple(token.dep_ for token in doc),
                (),
                tuple(token.pos_ for token in doc),
            )
            for doc in self.pipeline.pipe(texts)
        ]


@cache
def _spacy(name: str) -> SpacyPipeline:
    pipeline = load_pipeline(name, for_what="spaCy parses", any_of=("parser",), without=("ner", "textcat"))
    return SpacyPipeline(f"{_SPACY}{label_of(pipeline)}", pipeline)
