"""``compare``: test the difference between two systems.

Two tests on the same images: the paired bootstrap (Koehn 2004), which resamples images, and approximate
randomization (Noreen 1989), which exchanges the two systems' candidates at random.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, CaptionSets, ImageId, images_of, load, read_references, same_images
from captious.display import Displayed
from captious.errors import ParameterError, UnknownNameError
from captious.evaluation.caption_warnings import CaptiousWarning, few_images
from captious.evaluation.report import DEFAULT_RESAMPLES, DEFAULT_SEED, Report, Result
from captious.evaluation.resampling import bootstrap_sums, check_sampling, exchange_sums, interval
from captious.evaluation.run_metrics import check_of_k, evaluate
from captious.metrics.contract.metric import Metric
from captious.metrics.contract.of_k import CHOICES, Choice
from captious.metrics.contract.selection import select
from captious.metrics.contract.settings import Settings
from captious.progress import steps
from captious.version import __version__

if TYPE_CHECKING:
    from captious.evaluation.groups import GroupedComparison

__all__ = [
    "Comparison",
    "Difference",
    "Example",
    "ResampledDifference",
    "Significance",
    "compare",
    "compare_reports",
    "effect_size",
    "mean_difference",
    "paired_bootstrap",
    "resampled_difference",
]


@dataclass(frozen=True)
class Difference:
    """The difference between two systems in one output, b minus a.

    Attributes:
        name: the output.
        score_a, score_b: corpus scores.
        difference: score_b - score_a.
        interval: paired bootstrap interval of the difference at the comparison's level.
        effect_size: Cohen's d of paired caption scores: mean difference divided by its standard deviation; 0 where
            all differences are equal.
        effect_interval: paired bootstrap interval of the effect size.
        p_bootstrap: two-sided p value of the paired bootstrap.
        p_randomization: two-sided p value of approximate randomization.
        lower_is_better: whether a negative difference means that b is better; None if no difference does.
        signature: everything that the scores depend on besides the captions.
    """

    name: str
    score_a: float
    score_b: float
    difference: float
    interval: tuple[float, float]
    effect_size: float
    effect_interval: tuple[float, float]
    p_bootstrap: float
    p_randomization: float
    lower_is_better: bool | None
    signature: str


@dataclass(frozen=True)
class Example:
    """An image on which two systems differ strongly. Several candidates are joined by " | "."""

    id: ImageId
    candidate_a: str
    candidate_b: str
    score_a: float
    score_b: float


class Comparison(Displayed, Mapping[str, Difference]):
    """Differences between two systems by output name: ``comparison["cider-d"].p_randomization``.

    Attributes:
        a, b: the reports of the two systems.
        level, resamples, seed: those of the intervals and tests.
    """

    def __init__(
        self, a: Report, b: Report, differences: Mapping[str, Difference], *, level: float, resamples: int, seed: int
    ) -> None:
        self.a = a
        self.b = b
        self.level = level
        self.resamples = resamples
        self.seed = seed
        self._differences = dict(differences)

    def __getitem__(self, name: str) -> Difference:
        try:
            return self._differences[name]
        except KeyError:
            raise UnknownNameError(
                f"{name!r} was not compared", help=f"this comparison has {', '.join(self._differences)}"
            ) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._differences)

    def __len__(self) -> int:
        return len(self._differences)

    def summary(self) -> str:
        """A one-line summary with the main differences."""
        differences = ", ".join(f"{d.name} {d.difference:+.4f}" for d in self._differences.values())
        return f"<Comparison {self.b.system} - {self.a.system}: {differences}>"

    def examples(self, n: int = 5, *, by: str | None = None) -> list[Example]:
        """The images on which the two systems differ most, largest difference first.

        Args:
            n: how many.
            by: the output to sort by; None for cider-d if it was compared, otherwise the last one.

        Raises:
            ParameterError: a negative number of examples.
        """
        if n < 0:
            raise ParameterError(f"{n} examples cannot be shown", help="ask for 0 or more")
        by = self.examples_by if by is None else by
        scores_a, scores_b = self.a[by].per_caption, self.b[by].per_caption
        order = np.argsort(-np.nan_to_num(np.abs(scores_b - scores_a), nan=-1.0), kind="stable")[:n].tolist()
        a, b = ([_shown(text) for text in report.candidates] for report in (self.a, self.b))
        return [Example(self.a.ids[i], a[i], b[i], float(scores_a[i]), float(scores_b[i])) for i in order]

    @property
    def examples_by(self) -> str:
        """The default output for ``examples``."""
        return "cider-d" if "cider-d" in self._differences else [*self._differences][-1]

    def to_dict(self, *, examples: int = 0) -> dict[str, Any]:
        """Plain values, the form that ``captious compare --format json`` prints."""
        out: dict[str, Any] = {
            "version": __version__,
            "systems": [self.a.system, self.b.system],
            "n_images": self.a.n_images,
            "level": self.level,
            "resamples": self.resamples,
            "seed": self.seed,
            "metrics": {},
        }
        for name, difference in self._differences.items():
            values = asdict(difference)
            del values["name"]
            out["metrics"][name] = values | {
                "interval": list(difference.interval),
                "effect_interval": list(difference.effect_interval),
            }
        if examples:
            out["examples"] = {self.examples_by: [asdict(example) for example in self.examples(examples)]}
        if self.a.left_out or self.b.left_out:
            out["left_out"] = {report.system: report.left_out for report in (self.a, self.b)}
        if self.warnings:
            out["warnings"] = self.warnings
        return out

    def by_group(self, groups: object, *, column: str | None = None) -> GroupedComparison:
        """The differences within groups of images, tested with Holm's correction for their number.

        Args:
            groups, column: as for ``Report.by_group``.

        Raises:
            InputError, UnknownNameError: as ``captious.read_groups`` does; an image without a group.
        """
        from captious.evaluation.groups import group_comparison

        return group_comparison(self, groups, column=column)

    @property
    def warnings(self) -> list[str]:
        """Warnings about the comparison, one sentence each."""
        found = [*self.a.warnings, *self.b.warnings, *few_images(self.a.n_images)]
        if self.a.description is not None and self.b.description is not None:
            one, two = self.a.description, self.b.description
            if (one.fewest, one.most) != (two.fewest, two.most):
                found.append(
                    "the systems have different numbers of candidates per image, on which diversity and scores of the "
                    "best candidate depend."
                )
        return [*dict.fromkeys(found)]


def compare(
    a: object,
    b: object,
    references: object = None,
    metrics: Iterable[str | Metric] | None = None,
    *,
    settings: Settings | None = None,
    systems: tuple[str, str] = ("a", "b"),
    subset: bool = False,
    several: bool = False,
    of_k: Choice | Sequence[Choice] = CHOICES[0],
    level: float = 0.95,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Comparison:
    """Compare the captions of two systems on the same images.

    Args:
        a, b: candidates of the two systems, in any form that ``score`` takes.
        references: likewise. None if candidates have references, as ``Captions`` do, or metrics need none.
        systems: their names.
        metrics, settings, subset, several, of_k: as for ``score``.
        level, resamples, seed: confidence level, number of resamples and random seed of the intervals and tests.

    Raises:
        InputError, UnknownNameError, ParameterError: as ``score`` does.
        ParameterError: the systems do not have the same images (with ``subset``).
    """
    check_sampling(resamples, seed, level)
    if isinstance(systems, str) or len(set(systems)) != 2 or len(systems) != 2:
        raise ParameterError(f"{systems!r} is not a pair of names", help="give two names: systems=('a', 'b')")
    several = several or isinstance(a, CaptionSets) or isinstance(b, CaptionSets)
    choices = check_of_k(of_k, several=several)
    selection = select(metrics, settings, several=several)
    tables = [candidates for candidates in (a, b) if isinstance(candidates, Captions | CaptionSets)]
    table = None if references is None else read_references(references)
    if table is None and len(tables) < 2:
        table = tables[0].references if tables else images_of(a)
    reports = [
        evaluate(load(candidates, table, subset=subset, several=several), selection, system=name, of_k=choices)
        for name, candidates in zip(systems, (a, b), strict=True)
    ]
    comparison = compare_reports(*reports, level=level, resamples=resamples, seed=seed)
    for warning in comparison.warnings:
        warnings.warn(warning, CaptiousWarning, stacklevel=2)
    return comparison


def compare_reports(
    a: Report,
    b: Report,
    *,
    level: float = 0.95,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Comparison:
    """Compare two reports on the same images and outputs.

    Raises:
        ParameterError: images, references or signatures differ.
    """
    check_sampling(resamples, seed, level)
    if not same_images(a.ids, b.ids):
        raise ParameterError(
            f"{a.system} and {b.system} were not scored on the same images",
            where=f"{a.n_images:,} and {b.n_images:,} images",
            help="compare systems on the same images; remove the others from both files",
        )
    if a.captions.references is not b.captions.references and (
        a.captions.references.texts != b.captions.references.texts
        or not np.array_equal(a.captions.references.offsets, b.captions.references.offsets)
    ):
        raise ParameterError(
            f"{a.system} and {b.system} were not scored against the same references",
            where=f"{a.captions.references.name}; {b.captions.references.name}",
            help="score both against the same references",
        )
    differences: dict[str, Difference] = {}
    with steps([*a], lambda name: f"testing {name}") as compared:
        for name in compared:
            if name not in b or a[name].signature != b[name].signature:
                raise ParameterError(
                    f"{name} was not computed the same way for both systems",
                    where=f"{a[name].signature}; {b[name].signature if name in b else 'absent'}",
                    help="score both with the same metrics and settings",
                )
            if a[name].statistics.rows.shape[1] != b[name].statistics.rows.shape[1]:
                raise ParameterError(
                    f"{name} compares systems with the same number of candidates per image",
                    where=f"{a.system}, {b.system}",
                    help="score as many candidates per image of both, or use mbleu@mean",
                )
            differences[name] = _difference(a, b, name, level, resamples, seed)
    return Comparison(a, b, differences, level=level, resamples=resamples, seed=seed)


def _difference(a: Report, b: Report, name: str, level: float, resamples: int, seed: int) -> Difference:
    result_a, result_b = a[name], b[name]
    tests = resampled_difference(result_a, result_b, resamples, seed).significance(level)
    center, moments = _moments(result_b.per_caption - result_a.per_caption)
    effects = _effect_size(bootstrap_sums(moments, resamples=resamples, seed=seed), center)
    effect_low, effect_high = interval(effects, level)
    return Difference(
        name=name,
        score_a=result_a.score,
        score_b=result_b.score,
        difference=tests.difference,
        interval=tests.interval,
        effect_size=float(_effect_size(moments.sum(axis=0), center)),
        effect_interval=(float(effect_low), float(effect_high)),
        p_bootstrap=tests.p_bootstrap,
        p_randomization=tests.p_randomization,
        lower_is_better=result_a.lower_is_better,
        signature=result_a.signature,
    )


@dataclass(frozen=True)
class Significance:
    """A difference with its interval and p values, as in ``Difference``."""

    difference: float
    interval: tuple[float, float]
    p_bootstrap: float
    p_randomization: float


@dataclass(frozen=True)
class ResampledDifference:
    """A difference between two systems, and what it is under resampling.

    Attributes:
        observed: score of b minus score of a.
        bootstrap: the same on resampled images, float64[resamples].
        exchanged: the same with the candidates of the systems exchanged on random halves, float64[resamples].
    """

    observed: float
    bootstrap: NDArray[np.float64]
    exchanged: NDArray[np.float64]

    def significance(self, level: float) -> Significance:
        """The interval at a level, and p values."""
        low, high, p_bootstrap = paired_bootstrap(self.observed, self.bootstrap, level)
        return Significance(self.observed, (low, high), p_bootstrap, _p_value(self.exchanged, self.observed))


def resampled_difference(a: Result, b: Result, resamples: int, seed: int) -> ResampledDifference:
    """The difference between two systems in one output, under both kinds of resampling."""
    column, metric = a.column, a.statistics.metric
    bootstrap_a, bootstrap_b = (each.statistics.resampled(resamples, seed)[:, column] for each in (a, b))
    rows_a, rows_b = a.statistics.rows, b.statistics.rows
    moved = exchange_sums(rows_b - rows_a, resamples=resamples, seed=seed)
    exchanged = metric.aggregate(rows_b.sum(axis=0) - moved) - metric.aggregate(rows_a.sum(axis=0) + moved)
    return ResampledDifference(b.score - a.score, bootstrap_b - bootstrap_a, exchanged[:, column])


def mean_difference(differences: Sequence[ResampledDifference]) -> ResampledDifference:
    """The mean of differences on disjoint sets of images, which were resampled independently of each other."""
    return ResampledDifference(
        float(np.mean([each.observed for each in differences])),
        np.mean([each.bootstrap for each in differences], axis=0),
        np.mean([each.exchanged for each in differences], axis=0),
    )


def paired_bootstrap(
    difference: float, resampled: NDArray[np.float64], level: float = 0.95
) -> tuple[float, float, float]:
    """Interval and two-sided p value of a difference between two systems (Koehn 2004).

    Args:
        difference: between their corpus scores.
        resampled: the same on resampled images, float64[resamples]; both systems have the same resamples.
        level: confidence level of the interval.

    Returns:
        Lower bound, upper bound, p value.
    """
    low, high = interval(resampled, level)
    # Under the null hypothesis the difference varies around zero as the resampled one varies around itself.
    return float(low), float(high), _p_value(resampled - difference, difference)


def effect_size(differences: NDArray[np.float64]) -> float:
    """Cohen's d of paired caption scores, from their differences, float64[n_images]; nan where there is no score."""
    center, moments = _moments(differences)
    return float(_effect_size(moments.sum(axis=0), center))


def _shown(candidates: str | list[str]) -> str:
    """What an image's example shows."""
    return candidates if isinstance(candidates, str) else " | ".join(candidates)


def _moments(differences: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """The mean of differences, and their powers 0, 1 and 2 about it: float64[n, 3]."""
    there = ~np.isnan(differences)  # an output may have no score for some captions
    center = float(differences[there].mean()) if there.any() else np.nan
    # About the mean, so that the variance is not a difference of large numbers.
    from_center = np.where(there, differences - center, 0.0)
    return center, np.stack([there.astype(np.float64), from_center, from_center**2], axis=1)


def _p_value(under_null: NDArray[np.float64], observed: float) -> float:
    """Two-sided p value: share of values as far from zero as the observed one, which is itself one of them."""
    # Sums taken in another order may differ in the last bits; what is equal in exact arithmetic counts as equal.
    under_null = under_null[~np.isnan(under_null)]
    as_far = np.abs(under_null) >= abs(observed) * (1 - 1e-12) - 1e-15
    return float((as_far.sum() + 1) / (len(under_null) + 1)) if np.isfinite(observed) else np.nan


def _effect_size(moments: NDArray[np.float64], center: float) -> NDArray[np.float64]:
    """Cohen's d of paired differences from sums of powers 0, 1, 2 about a center: float64[..., 3] to float64[...]."""
    n: NDArray[np.float64] = np.where(moments[..., 0] > 0, moments[..., 0], np.nan)
    from_center = moments[..., 1] / n
    mean = center + from_center
    variance = np.maximum(moments[..., 2] / n - from_center**2, 0) * n / np.maximum(n - 1, 1)
    deviation = np.sqrt(variance)
    return np.divide(mean, deviation, out=np.zeros_like(mean), where=deviation > 1e-9 * (np.abs(mean) + 1e-3))
