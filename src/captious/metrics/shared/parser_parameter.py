"""The source of parses as a parameter of metrics; a separate module, so that other metrics do not import parsers."""

from __future__ import annotations

import os

from captious.metrics.contract.parameters import ResourceParameter
from captious.parsing.parsed_captions import ParseSource, as_parse_source


class ParserParameter(ResourceParameter[ParseSource | str | os.PathLike[str] | None, ParseSource]):
    """A grammar, spaCy pipeline, file of parses, or other source; None for the best grammar available."""

    def __init__(self, *, default: None = None) -> None:
        summary = "grammar or file of parses; none for the best grammar"
        super().__init__(default=default, read=as_parse_source, summary=summary)
