"""Rewards: any metric as a training reward, one number per candidate, with references prepared once."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import ImageId, References, ReferencesLike, read_references
from captious.data.cleaning import OF_BOTH_SIDES, cleaned, rules_of
from captious.data.ids import as_image_id, rule_for
from captious.data.matching import captions_of
from captious.errors import CaptionTypeError, CaptionWarning, ParameterError, UnknownImageError, UnknownNameError
from captious.evaluation.checks import CaptionFindings, issue
from captious.metrics.contract import registry
from captious.metrics.contract.metric import (
    BaseMetric,
    Metric,
    RowScores,
    SetMetric,
    State,
    needs_several_error,
    reference_counts,
    run_signatures,
)
from captious.metrics.contract.registry import Request
from captious.metrics.contract.selection import ALL, MetricLike, check_order, select
from captious.metrics.contract.settings import Settings, as_settings
from captious.native import using_threads
from captious.plugins import answers_other_keywords
from captious.words import counted, shortened, with_article


@answers_other_keywords
def reward(
    references: ReferencesLike,
    metric: MetricLike | Mapping[str, float],
    *,
    settings: Settings | None = None,
    clean: str | Sequence[str] = (),
) -> Reward:
    """Create a reward for training from a metric, or from a weighted sum of metrics.

    Args:
        references: references of all images of the training set, in any form that ``captious.read_references`` reads. A
            metric that has to be fitted is fitted on them.
        metric: a metric, its name with parameters (``cider-d``, ``bleu-4``, ``rouge-s:gap=2``), or a function as for
            ``score``; or names with weights, such as ``{"cider-d": 1, "bleu-4": 0.5}``. Weights are negative for
            outputs of which lower is better: ``{"chair-i": -1}``. The name ``concur`` alone stands for its variant
            ``strict``, which is safe to optimize.
        settings: tokenizer, document frequencies and so on, for metrics requested by name.
        clean: rules to clean candidates by before they are scored, as for ``score``: "think" removes the thoughts of
            reasoning models.

    Returns:
        The reward. What may mislead is issued as CaptiousWarning, such as document frequencies by which every reward
        is 0.

    Raises:
        UnknownNameError, ParameterError: as ``captious.score``; also several outputs, the wrong sign of a weight, or
            arguments in another order.
        InputError: invalid references.
    """
    check_order("reward", {"references": references}, metric, last="metric")
    if isinstance(metric, str) and metric.strip().lower() == ALL:
        raise registry.unknown(metric)
    if metric and isinstance(metric, list | tuple | set | frozenset):
        raise ParameterError(
            f"a reward is one metric, or several with weights, not {with_article(type(metric).__name__)}",
            where=f"metric: {shortened(metric)}",
            hint=f"give weights: {{{', '.join(f'{shortened(one)}: 1' for one in metric)}}}",
        )
    of_metrics = metric.items() if isinstance(metric, Mapping) else [(metric, 1.0)]
    settings = as_settings(settings)
    weights = [(_safe(requested, settings), weight) for requested, weight in of_metrics]
    weight_of = {
        _checked_label(request, weight, is_sum=isinstance(metric, Mapping)): float(weight)
        for request, weight in weights
    }
    selection = select([request for request, _ in weights], settings, several=True)
    terms = [
        RewardTerm(item.metric, item.metric.outputs[column], weight_of[label])
        for item in selection
        for label, column in item.output_indices.items()
        if label in weight_of
    ]
    table, rules = read_references(references), rules_of(clean) if clean else ()
    if OF_BOTH_SIDES in rules:
        table = table.composed
    unsafe = [
        CaptionWarning(
            f"{term.metric.name}@{term.metric.variant} can be raised by text that nobody would write, such as "
            f"references joined by 'and': {term.metric.name}@{term.metric.reward_variant} is safe to optimize.",
            "unsafe-reward",
        )
        for term in terms
        if term.metric.reward_variant and term.metric.variant != term.metric.reward_variant
    ]
    found = [*selection.warnings, *unsafe, *CaptionFindings.of_references(table).warnings_for(selection)]
    made = Reward(terms, table, settings.references_as, settings.threads, found, rules)
    issue(made.warnings)
    return made


def _safe(requested: MetricLike, settings: Settings) -> MetricLike:
    """Return the variant of a requested metric that is safe to optimize, if it has one and no variant was chosen."""
    if not isinstance(requested, str):
        return requested
    request = Request.from_text(requested)
    variant = registry.get(request.metric).reward_variant
    has_model = "model" in request.parameters or settings.model is not None
    if not variant or request.variant or has_model or "weights" in request.parameters:
        return requested
    return str(replace(request, variant=variant))


def _checked_label(requested: MetricLike, weight: float, *, is_sum: bool) -> str:
    """Return the label of the output that a request stands for.

    Raises:
        ParameterError: there are several; the metric judges several candidates together; the weight is not a number
            other than 0, or pays for worse captions.
    """
    metric: BaseMetric | type[BaseMetric]
    if isinstance(requested, str):
        request = Request.from_text(requested)
        metric = registry.get(request.metric)
        outputs = {label: metric.outputs[column] for label, column in request.output_indices(metric.outputs).items()}
    else:
        metric = requested if isinstance(requested, BaseMetric) else select([requested])[0].metric
        own = [metric.name] if metric.name in metric.outputs else metric.outputs
        outputs = {output + metric.suffix(): output for output in own}
    if isinstance(metric, SetMetric) or (isinstance(metric, type) and issubclass(metric, SetMetric)):
        raise needs_several_error(metric.name, "a reward is")
    lower = [label for label, output in outputs.items() if output in metric.lower_is_better]
    undirected = [label for label, output in outputs.items() if output in metric.no_direction]
    if len(outputs) > 1:
        hint = f"name one of {', '.join(outputs)}"
        if lower:
            hint += f'; lower is better for {", ".join(lower)}: {{"{lower[0]}": -1}}'
        elif undirected:
            hint += "; neither direction is better, so the sign of its weight says what is rewarded"
        raise ParameterError(f"{metric.name} has {len(outputs)} outputs, and a reward is one number", hint=hint)
    (label,) = outputs
    is_number = isinstance(weight, Real) and not isinstance(weight, bool)
    if not is_number or not weight or not abs(weight) <= sys.float_info.max:
        raise ParameterError(f"the weight of {label} is {shortened(weight)}", hint="give a finite number other than 0")
    if lower and weight > 0:
        raise ParameterError(
            f"lower {label} is better, so this reward favors worse captions",
            hint=f'give it a negative weight: "{label}": {-weight:g}' if is_sum else f'write {{"{label}": -1}}',
        )
    if undirected and not is_sum:
        raise ParameterError(
            f"neither direction of {label} is better, so it cannot be a reward by itself",
            hint=f'choose the direction by the sign of its weight: {{"{label}": -1}}',
        )
    return label


@dataclass(frozen=True)
class RewardTerm:
    """A term of a reward: an output of a metric of captions, and its weight."""

    metric: BaseMetric
    output: str
    weight: float = 1.0

    @property
    def label(self) -> str:
        """Weight and name, such as ``0.5*bleu-4``."""
        name = self.output + self.metric.suffix()
        return name if self.weight == 1 else f"{self.weight:g}*{name}"


class Reward:
    """Scores candidates for images whose references have been prepared.

    It is immutable, so threads may share it, and processes that are forked use what was prepared before. Pickles hold
    the metrics and the references, which are prepared again.

    Args:
        terms: outputs of metrics of captions, whose weighted sum is the reward.
        references: references of all images of the training set; metrics that have to be fitted are fitted on them.
        references_as: "each" reference separately, or all of an image concatenated into one ("cat").
        threads: number of threads, up to 1,024. By default, ``CAPTIOUS_THREADS``, or all cores.
        found: warnings about the metrics and references, as scores have them.
        clean: names of the rules that candidates are cleaned by; the references have been.

    Attributes:
        signature: everything that the scores depend on besides the captions: the signature of the output, or those of
            the terms with their weights.

    Raises:
        UnknownNameError: a metric has no such output.
        ParameterError: a metric judges several candidates together.
    """

    def __init__(
        self,
        terms: Sequence[RewardTerm],
        references: References,
        references_as: str = "each",
        threads: int | None = None,
        found: Sequence[CaptionWarning] = (),
        clean: tuple[str, ...] = (),
    ) -> None:
        self._arguments = tuple(terms), references, references_as, threads, tuple(found), clean
        counts = reference_counts(references)
        self._references = references.concatenated if references_as == "cat" else references
        self._scorers: dict[int, RowScores] = {}
        self._states: dict[int, State | None] = {}
        signatures = []
        for term in terms:
            metric = term.metric
            if not isinstance(metric, Metric):
                raise needs_several_error(metric.name, "a reward is")
            if term.output not in metric.outputs:
                raise UnknownNameError(
                    f"{metric.name} has no output {term.output!r}", hint=f"its outputs are {', '.join(metric.outputs)}"
                )
            if id(metric) not in self._scorers:
                with using_threads(threads):
                    state = self._states[id(metric)] = metric.fit(self._references)
                    self._scorers[id(metric)] = metric.row_scores(self._references, state)
            of_outputs = run_signatures(metric, self._states[id(metric)], counts, clean, references_as)
            signature = of_outputs[metric.outputs.index(term.output)]
            signatures.append(signature if term.weight == 1 else f"{term.weight:.17g} * {signature}")
        self.signature = " + ".join(signatures)

    def __repr__(self) -> str:
        return f"<Reward {self.label}: {counted(len(self._references), 'image')}>"

    def __reduce__(self) -> tuple[object, ...]:
        return Reward, self._arguments

    @property
    def label(self) -> str:
        """Name of the reward, such as ``cider-d+0.5*bleu-4``."""
        return "+".join(term.label for term in self._arguments[0]).replace("+-", "-")

    @property
    def clean(self) -> tuple[str, ...]:
        """Names of the rules that candidates are cleaned by."""
        return self._arguments[-1]

    @property
    def warnings(self) -> list[CaptionWarning]:
        """Warnings about rewards that mislead: about the references, as scores have them, and of metrics."""
        sentences = (
            CaptionWarning(sentence)
            for term in self._arguments[0]
            for sentence in term.metric.reference_warnings(self._references, self._states[id(term.metric)])
        )
        return [*dict.fromkeys([*self._arguments[4], *sentences])]

    @answers_other_keywords
    def __call__(
        self, image_ids: Iterable[ImageId], captions: Iterable[str | Sequence[str] | Sequence[Mapping[str, object]]]
    ) -> NDArray[np.float64]:
        """Return the rewards of candidates, float64[n]; an image may occur any number of times.

        Args:
            image_ids: n ids of images with references: a list, a numpy array, a tensor, a data frame column or a
                generator.
            captions: n candidates, one for each id, likewise. A list of words is also accepted as a caption; the words
                are joined by spaces. So is a chat, a list of ``{"role": "assistant", "content": "a red bus"}``, of
                which the last answer of the assistant is the caption.

        Raises:
            ParameterError: the numbers of ids and captions differ.
            CaptionTypeError: a caption that is none of these, such as a list of captions or an empty one; or a single
                string instead of a list.
            UnknownImageError: an id without references.
        """
        texts = cleaned(_texts(captions), self.clean) if self.clean else _texts(captions)
        rows = _rows_of(self._arguments[1], image_ids, len(texts))
        if not len(rows):
            return np.empty(0)
        with using_threads(self._arguments[3]):
            scores = {key: scorer(rows, texts) for key, scorer in self._scorers.items()}
        parts = [
            scores[id(term.metric)][:, term.metric.outputs.index(term.output)] * term.weight
            for term in self._arguments[0]
        ]
        return np.asarray(functools.reduce(np.add, parts))

    def trl(self, column: str = "image_id") -> Callable[..., list[float]]:
        """Return a reward function as TRL's trainers call them: with prompts, completions and the data set's columns.

        Args:
            column: the column of the data set that holds image ids.

        Returns:
            A function that returns one reward for each completion, text or a chat. Its ``__name__``, by which trainers
            log rewards, is that of the metric. Like the reward, it can be pickled. What models leave in completions,
            such as their thoughts, is issued as CaptiousWarning. It raises ParameterError if the trainer passes no such
            column.
        """
        return _TrlReward(self, column)


class _TrlReward:
    """The function that ``Reward.trl`` returns."""

    def __init__(self, reward: Reward, column: str) -> None:
        self.reward, self.column = reward, column
        self.__name__ = reward.label

    def __repr__(self) -> str:
        return f"<{self.__name__} as a reward function of TRL, for the images in {self.column}>"

    def __call__(self, prompts: object = None, completions: Iterable[Any] = (), **columns: Any) -> list[float]:
        if self.column not in columns:
            given = [name for name, values in columns.items() if isinstance(values, list | tuple | np.ndarray)]
            raise ParameterError(
                f"the trainer passed no column {self.column!r}, which holds image ids",
                where=f"columns: {', '.join(given) or 'none'}",
                hint='name the column: reward.trl("COLUMN"), and keep it with remove_unused_columns=False',
            )
        texts = _texts(completions)
        rewards: list[float] = self.reward(columns[self.column], texts).tolist()
        if texts:
            answers = captions_of(dict(enumerate(texts)), clean=self.reward.clean, lists=True)
            findings = CaptionFindings.of(answers).findings
            issue(finding.sentence_without_numbers for finding in findings if finding.rule)
        return rewards


def _rows_of(references: References, image_ids: Iterable[ImageId], n_captions: int) -> NDArray[np.int64]:
    """Return the row of the image of each caption, int64[n_captions]. Errors are those of ``Reward``."""
    ids = _listed(image_ids, "image id")
    if not set(map(type, ids)) <= {int, str}:
        ids = [_image_id(image) for image in ids]
    if len(ids) != n_captions:
        raise ParameterError(
            f"{counted(len(ids), 'image id')} for {counted(n_captions, 'caption')}", hint="give one id per caption"
        )
    rows = references.rows_of(ids)
    if None in rows:
        unknown = ids[rows.index(None)]
        raise UnknownImageError(
            "a caption is for an image that has no references",
            where=f"image_id {unknown!r}",
            hint="create the reward with the references of all images of the training set"
            if (like := next((one for one in references.ids if rule_for([unknown], [one])), None)) is None
            else f"the references have it as {like!r}: write ids as they do",
        )
    return np.array(rows, np.int64)


def _image_id(value: Any) -> ImageId:
    """Convert an id of numpy or a tensor to Python's types."""
    image = as_image_id(value.item() if hasattr(value, "item") else value)
    if image is None:
        raise CaptionTypeError(
            f"an image id is {with_article(type(value).__name__)}",
            where=shortened(value),
            hint="give integers or strings",
        )
    return image


def _listed(values: Iterable[Any], what: str) -> list[Any] | tuple[Any, ...]:
    """Return the values of a list, an array, a tensor, a data frame column or a generator as a list.

    Args:
        values: the values.
        what: what one of them is, for messages.

    Raises:
        CaptionTypeError: a single value, or what has no order.
    """
    if isinstance(values, list | tuple):
        return values
    for convert in ("tolist", "to_list"):  # numpy, torch and pandas; polars
        if hasattr(values, convert):
            listed = getattr(values, convert)()
            return listed if isinstance(listed, list) else [listed]
    no_list = isinstance(values, str | bytes | Mapping | set | frozenset) or not isinstance(values, Iterable)
    if no_list:
        raise CaptionTypeError(
            f"{with_article(type(values).__name__)} was given instead of a list of {what}s",
            where=shortened(values),
            hint="write reward([image_id, ...], [caption, ...]), with an id for each caption",
        )
    return list(values)


def _texts(captions: Iterable[Any]) -> Sequence[str]:
    """Return captions as strings."""
    texts = _listed(captions, "caption")
    return texts if set(map(type, texts)) <= {str} else [_text(text, place) for place, text in enumerate(texts)]


def _text(caption: object, place: int) -> str:
    if isinstance(caption, str):  # numpy's strings are strings
        return str(caption)
    parts = caption if isinstance(caption, list | tuple) else ()
    if isinstance(caption, Mapping) and "role" in caption:
        raise CaptionTypeError(
            "a chat is a list of messages, and this is one message",
            where=f"position {place}: {shortened(caption)}",
            hint='give [[{"role": "assistant", "content": "a red bus"}]] for one caption, or the text alone',
        )
    is_list = isinstance(caption, list | tuple)
    if is_list and all(isinstance(part, Mapping) and ("content" in part or "role" in part) for part in parts):
        return _answer(parts, place)
    if not is_list or not all(isinstance(word, str) for word in parts):
        raise CaptionTypeError(
            f"a caption is {with_article(type(caption).__name__)}, not a string",
            where=f"position {place}",
            hint='captions must be strings or lists of words; use "" for an empty caption, and decode token ids first',
        )
    if several := next((word for word in parts if len(word.split()) > 1), None):
        raise CaptionTypeError(
            "a list stands for the words of one caption, and a word with blanks is a caption",
            where=f"position {place}: {shortened(several)}",
            hint="give captions in one list, and an image id for each: "
            f"reward([{', '.join(['1'] * min(len(parts), 2))}], {shortened([str(part) for part in parts[:2]])})",
        )
    return " ".join(parts)


def _answer(messages: Sequence[Mapping[str, Any]], place: int) -> str:
    """Return the last text of the assistant in a chat."""
    contents = [message.get("content") for message in messages if message.get("role", "assistant") == "assistant"]
    content = contents[-1] if contents else None
    if isinstance(content, list):  # parts of a message, of which some may be images
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    if not isinstance(content, str):
        raise CaptionTypeError(
            "a chat has no answer of the assistant",
            where=f"position {place}: {shortened(messages[-1] if messages else messages)}",
            hint='give [{"role": "assistant", "content": "a red bus"}], or the text alone',
        )
    return content
