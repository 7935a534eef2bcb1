"""Metrics that need parses: the source of parses, the time that parsing takes, and tuples compared by an encoder."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from captious.data import Captions
from captious.metrics.contract.metric import State
from captious.metrics.contract.parameters import ChoiceParameter, ResourceParameter
from captious.metrics.shared.encoder_metric import EncoderMetric, EncoderParameter
from captious.parsing.sources import CaptionParser, ParseSource, approximate, as_parse_source
from captious.parsing.tree_parser import EXACT, LONGEST, SHORT
from captious.scenes.layers import SPLITS, TupleLayer
from captious.text import Tokenizer, Tokens, WordLayer
from captious.text.sentences import LONG_SENTENCE
from captious.words import counted

# Estimates of the time to parse long captions, announced before parsing.

_SECONDS_PER_WORD = 2e-4  # CPU time in long sentences, if parsing takes linear time
_SECONDS_PER_HUNDRED_WORDS = 5.3  # CPU time of such a sentence, if parsing takes cubic time
_WORDS = LONGEST  # longer captions are cut for the parser
_SHOWN = 3  # words of a run in a warning
_PATIENCE = 20.0  # seconds; shorter times are not announced


def n_long_captions(captions: Captions, tokenizer: Tokenizer) -> int:
    """Return the number of candidates and references with more words than a usual sentence."""
    sides: tuple[Tokens, Tokens] = captions.layer(WordLayer(tokenizer))
    return sum(int((side.lengths > LONG_SENTENCE).sum()) for side in sides)


def slow_parses(captions: Captions, tokenizer: Tokenizer, parser: ParseSource) -> str:
    """Return what would take long, as the end of a sentence; empty if it takes less than 20 seconds.

    Args:
        captions: candidates and references, each of which is parsed as one sentence.
        tokenizer: the tokenizer.
        parser: the parser; only those of the package take time.
    """
    if not isinstance(parser, CaptionParser):
        return ""
    sides: tuple[Tokens, Tokens] = captions.layer(WordLayer(tokenizer))
    lengths = np.concatenate([side.lengths for side in sides])
    lengths = lengths[lengths > LONG_SENTENCE]
    if parser.parser.is_linear:
        seconds = _SECONDS_PER_WORD * float(lengths.sum())
    else:
        hundreds = lengths / _WORDS
        seconds = _SECONDS_PER_HUNDRED_WORDS * float(np.where(hundreds > 1, hundreds, hundreds**3).sum())
    if seconds < _PATIENCE:
        return ""
    duration = f"{seconds:.0f} seconds" if seconds < 120 else f"{seconds / 60:,.0f} minutes"
    captions_of_length = f"{counted(len(lengths), 'caption')} of more than {LONG_SENTENCE} words"
    return f"parses {captions_of_length}, each as one sentence, in about {duration}"


def parsed_in_pieces(captions: Captions, tokenizer: Tokenizer, parser: ParseSource) -> list[str]:
    """Return warnings about captions that the parser does not read as one sentence each.

    Args:
        captions: candidates and references.
        tokenizer: the tokenizer.
        parser: the parser; only those of the package cut captions.
    """
    if not isinstance(parser, CaptionParser):
        return []
    n_long, n_stray, example = 0, 0, ""
    sides: tuple[Tokens, Tokens] = captions.layer(WordLayer(tokenizer))
    for side in sides:
        words = side.vocabulary.words()
        n_long += int((side.lengths > _WORDS).sum())
        for row in np.flatnonzero(side.lengths > EXACT).tolist():
            caption = [words[i] for i in side.ids[side.offsets[row] : side.offsets[row + 1]].tolist()]
            if runs := parser.parser.runs(caption):
                n_stray += 1
                example = example or " ".join(caption[runs[0][0] : runs[0][0] + _SHOWN])
    warnings = []
    if n_long:
        warnings.append(
            f"{counted(n_long, 'caption', 'have')} more than {_WORDS} words, and the parser reads them in pieces of up "
            f"to {_WORDS} words."
        )
    if n_stray:
        warnings.append(
            f"{counted(n_stray, 'caption', 'have')} long runs of words that are not of an English sentence "
            f"({example:.60} ...), and the parser reads these runs in pieces of {SHORT} words."
        )
    return warnings


# The source of parses as a parameter of metrics.


class ParserParameter(ResourceParameter[ParseSource | str | os.PathLike[str] | None, ParseSource]):
    """A grammar, spaCy pipeline, file of parses, or other source; None for the best grammar available."""

    def __init__(self, *, default: None = None) -> None:
        summary = "grammar or file of parses; none for the best grammar"
        super().__init__(default=default, read=as_parse_source, summary=summary)


# Base class of metrics that compare the scene tuples of captions by a sentence encoder.


class SceneEncoderMetric(EncoderMetric):
    """Base class of metrics with a parser and a sentence encoder."""

    without_parameters = frozenset()
    model: EncoderParameter = EncoderParameter(
        default=None, summary="sentence encoder; none for that of the publication"
    )
    parser: ParserParameter = ParserParameter(default=None)
    split: ChoiceParameter = ChoiceParameter(
        default="sentences", choices=SPLITS, summary="how captions are split before they are parsed: none or sentences"
    )

    @property
    def tuples(self) -> TupleLayer:
        """The tuples of captions."""
        return TupleLayer(self.tokenizer, self.parser, self.split)

    @property
    def tokens(self) -> str:
        return f"{self.tokenizer.name}, {self.encoder.name}"

    def warnings(self, captions: Captions, state: State | None) -> Sequence[str]:
        cut = parsed_in_pieces(captions, self.tokenizer, self.parser) if self.split == "none" else []
        return [*approximate(self.parser.label), *cut]
