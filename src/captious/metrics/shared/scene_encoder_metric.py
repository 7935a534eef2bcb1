"""Base class of metrics that compare the scene tuples of captions by a sentence encoder."""

from __future__ import annotations

from captious.data import Captions
from captious.metrics.contract.metric import State
from captious.metrics.contract.parameters import ChoiceParameter
from captious.metrics.shared.encoder_metric import EncoderMetric, EncoderParameter
from captious.metrics.shared.parser_parameter import ParserParameter
from captious.parsing.parsed_captions import approximate
from captious.scenes.caption_tuples import SPLITS, TupleLayer


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

    def warnings(self, captions: Captions, state: State | None) -> list[str]:
        return approximate(self.parser.label)
