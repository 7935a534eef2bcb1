"""Where metrics that need parses get them from: a grammar, a file of parses made elsewhere, or spaCy."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable
from pathlib import Path
from typing import TypeAlias

from captious.errors import ParameterError, UnknownNameError
from captious.parsing.parsed_captions import ParseSource
from captious.resources.grammar import VERSION

__all__ = ["AnyParser", "approximate", "as_parse_source"]

_SPACY = "spacy:"

#: What users may give where parses are needed; see ``as_parse_source``.
AnyParser: TypeAlias = ParseSource | str | os.PathLike[str] | None


def as_parse_source(parser: AnyParser) -> ParseSource:
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
    from captious.parsing.caption_parser import GRAMMARS, parser_with

    if parser is None or (isinstance(parser, str) and parser in GRAMMARS):
        return parser_with(parser)
    if isinstance(parser, str) and parser.startswith(_SPACY):
        from captious.parsing.spacy_pipelines import load_parser

        return load_parser(parser.removeprefix(_SPACY))
    if isinstance(parser, str) and not Path(parser).suffix and not os.path.exists(parser):
        raise UnknownNameError(
            f"there is no parser {parser!r}",
            help=f"use {', '.join(GRAMMARS)}, {_SPACY}NAME (hwcm only), or a file of parses, .jsonl or .conllu",
        )
    if isinstance(parser, str | os.PathLike):
        from captious.parsing.parse_files import read_parses

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
