"""``compare``: the differences between two systems, with tests, effect sizes and examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from captious.data import Captions, CaptionSets, ImageId, absent_references, same_images
from captious.data.image_matching import match_images, references_of
from captious.data.reading.caption_file import ColumnNames, read_options_of
from captious.errors import ParameterError
from captious.evaluation.caption_checks.caption_warnings import few_images_warning, issue, warnings_by_system
from captious.evaluation.inference.paired_tests import effect_interval, effect_size, resampled_difference
from captious.evaluation.inference.resampling import DEFAULT_RESAMPLES, Sampling
from captious.evaluation.metric_run import evaluate
from captious.evaluation.score_report import Report, Result
from captious.evaluation.systems import Reports, pair_names
from captious.evaluation.tables.difference_tables import difference_table
from captious.metrics.contract.selection import MetricLike, select
from captious.metrics.contract.set_metrics import OF_K, OfKChoice, check_of_k
from captious.metrics.contract.settings import Settings
from captious.phrases import counted
from captious.progress import steps
from captious.random_seed import DEFAULT_SEED
from captious.results.displayed import DisplayedMapping
from captious.results.table import Table, json_document
from captious.version import __version__

if TYPE_CHECKING:
    from captious.evaluation.pairwise import PairwiseComparison


@dataclass(frozen=True)
class Difference:
    """The difference between two systems in one output, b minus a.

    Attributes:
        name: the output.
        score_a, score_b: corpus scores.
        difference: score_b - score_a.
        interval: paired bootstrap interval of the difference at the comparison's level.
        effect_size: Cohen's d of paired caption scores: mean difference divided by its standard deviation; nan if all
            differences are equal.
        effect_interval: paired bootstrap interval of the effect size.
        p_bootstrap: two-sided p value of the paired bootstrap.
        p_randomization: two-sided p value of approximate randomization.
        lower_is_better: whether a negative difference means that b is better; None if neither direction is better.
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


class Comparison(DisplayedMapping[str, Difference]):
    """Differences between two systems by output name: ``comparison["cider-d"].p_randomization``.

    Attributes:
        a, b: the reports of the two systems.
        level, resamples, seed: confidence level, resamples and seed of intervals and tests; ``sampling`` holds all
            three.
    """

    _unknown = ("{name!r} was not compared", "this comparison has")

    def __init__(self, a: Report, b: Report, differences: Mapping[str, Difference], sampling: Sampling) -> None:
        self.a = a
        self.b = b
        self.sampling = sampling
        self.level, self.resamples, self.seed = sampling.level, sampling.resamples, sampling.seed
        self._parts = dict(differences)

    def label_of(self, name: object) -> str | None:
        """Return the label of a difference; see ``Report.label_of``."""
        label = self.a.label_of(name)
        return label if label in self._parts else None

    def summary(self) -> str:
        """Return one line with the differences: "improved - baseline: bleu-4 +0.0392"."""
        differences = ", ".join(f"{d.name} {d.difference:+.4f}" for d in self._parts.values())
        return f"{self.b.system} - {self.a.system}: {differences}"

    def examples(self, n: int = 5, *, by: str | None = None) -> list[Example]:
        """Return the images on which the two systems differ most, largest difference first.

        Args:
            n: number of images.
            by: the output to sort by; None for cider-d if it was compared, otherwise the last one.

        Raises:
            ParameterError: a negative number of examples.
        """
        if n < 0:
            raise ParameterError(f"{counted(n, 'example')} cannot be shown", help="ask for 0 or more")
        by = self.examples_by if by is None else by
        scores_a, scores_b = self.a[by].per_caption, self.b[by].per_caption
        order = np.argsort(-np.nan_to_num(np.abs(scores_b - scores_a), nan=-1.0), kind="stable")[:n].tolist()
        a, b = ([_one_text(text) for text in report.candidates] for report in (self.a, self.b))
        return [Example(self.a.ids[i], a[i], b[i], float(scores_a[i]), float(scores_b[i])) for i in order]

    @property
    def examples_by(self) -> str:
        """The default output for ``examples``."""
        return "cider-d" if "cider-d" in self._parts else [*self._parts][-1]

    def to_table(self, *, examples: int = 0) -> Table:
        """Return the differences as a table.

        Args:
            examples: number of images to show below, those on which the systems differ most.
        """
        return difference_table(self, examples=examples)

    def to_dict(self, *, examples: int = 0) -> dict[str, Any]:
        """Return JSON values, as printed by ``captious compare --format json``."""
        out: dict[str, Any] = {
            "version": __version__,
            "systems": [self.a.system, self.b.system],
            "n_images": self.a.n_images,
            "level": self.level,
            "resamples": self.resamples,
            "seed": self.seed,
            "metrics": {},
        }
        for name, difference in self._parts.items():
            values = asdict(difference)
            del values["name"]
            out["metrics"][name] = values
        if examples:
            out["examples"] = {self.examples_by: [asdict(example) for example in self.examples(examples)]}
        if self.a.left_out or self.b.left_out:
            out["left_out"] = {report.system: report.left_out for report in (self.a, self.b)}
        if self.warnings:
            out["warnings"] = self.warnings
        return json_document(out)

    @property
    def warnings(self) -> list[str]:
        """Warnings about the comparison, one sentence each."""
        return [
            *warnings_by_system([(report.system, report.warnings) for report in (self.a, self.b)]),
            *self.own_warnings,
        ]

    @property
    def own_warnings(self) -> list[str]:
        """Warnings about the comparison itself, without those of the systems."""
        sentences = few_images_warning(self.a.n_images)
        if self.a.description is not None and self.b.description is not None:
            description_a, description_b = self.a.description, self.b.description
            if (description_a.fewest, description_a.most) != (description_b.fewest, description_b.most):
                sentences.append(
                    "the systems have different numbers of candidates per image, on which diversity and scores of the "
                    "best candidate depend."
                )
        return sentences


@overload
def compare(
    a: Reports, *, level: float = 0.95, resamples: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED
) -> PairwiseComparison: ...
@overload
def compare(
    a: object,
    b: object,
    references: object = None,
    metrics: MetricLike | Iterable[MetricLike] | None = None,
    *,
    settings: Settings | None = None,
    names: tuple[str, str] | None = None,
    subset: bool = False,
    several: bool = False,
    of_k: OfKChoice | Sequence[OfKChoice] = OF_K[0],
    clean: str | Sequence[str] = (),
    columns: ColumnNames | None = None,
    split: str | Sequence[str] | None = None,
    level: float = 0.95,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Comparison: ...
def compare(
    a: object,
    b: object = None,
    references: object = None,
    metrics: MetricLike | Iterable[MetricLike] | None = None,
    *,
    settings: Settings | None = None,
    names: tuple[str, str] | None = None,
    subset: bool = False,
    several: bool = False,
    of_k: OfKChoice | Sequence[OfKChoice] = OF_K[0],
    clean: str | Sequence[str] = (),
    columns: ColumnNames | None = None,
    split: str | Sequence[str] | None = None,
    level: float = 0.95,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Comparison | PairwiseComparison:
    """Compare the captions of two systems on the same images, or all pairs of several systems.

    To compare more systems, score them together: ``compare(captious.score({"mine": ..., "other": ...}, references))``.

    Args:
        a, b: candidates of the two systems, in any form that ``score`` takes; or two reports, with ``names``,
            ``level``, ``resamples`` and ``seed`` only; or as ``a`` alone the ``Reports`` of several systems, with
            ``level``, ``resamples`` and ``seed`` only.
        references: in any form that ``read_references`` takes. None if candidates have references (``Captions``), or
            metrics need none.
        names: names of the systems; by default those of their files without extensions, or "a" and "b".
        metrics, settings, subset, several, of_k, clean, columns, split: as for ``score``.
        level, resamples, seed: confidence level, number of resamples and random seed of the intervals and tests.

    Returns:
        The differences between the two systems; for ``Reports``, those between all pairs, with Holm's correction for
        the number of pairs and outputs.

    Raises:
        InputError, UnknownNameError, ParameterError: as ``score`` does.
        ParameterError: the systems do not have the same images (with ``subset``); other arguments with reports; fewer
            than two systems.
    """
    Sampling(resamples, seed, level)  # refuses what is not valid before any work
    if isinstance(a, Reports) or (isinstance(a, Report) and isinstance(b, Report)):
        given = {
            "b": isinstance(a, Reports) and b is not None,
            "references": references is not None,
            "metrics": metrics is not None,
            "settings": settings is not None,
            "names": isinstance(a, Reports) and names is not None,
            "subset": subset,
            "several": several,
            "of_k": of_k != OF_K[0],
            "clean": bool(clean),
            "columns": columns is not None,
            "split": split is not None,
        }
        if unused := [name for name, is_given in given.items() if is_given]:
            raise ParameterError("reports are already scored", help=f"leave out {', '.join(unused)}")
    if isinstance(a, Reports):
        from captious.evaluation.pairwise import pairwise_comparison  # it imports this module

        return pairwise_comparison(a, level=level, resamples=resamples, seed=seed)
    if isinstance(a, Report) and isinstance(b, Report):
        name_a, name_b = _pair(names, (a.system, b.system))
        a, b = a.named(name_a), b.named(name_b)
        comparison = compare_reports(a, b, level=level, resamples=resamples, seed=seed)
        issue(comparison.warnings)
        return comparison
    if b is None:
        raise ParameterError(
            "two systems are needed", help="give the captions of both, or what captious.score returned for several"
        )
    names = _pair(names, pair_names(a, b))
    several = several or isinstance(a, CaptionSets) or isinstance(b, CaptionSets)
    choices = check_of_k(of_k, several=several)
    selection = select(metrics, settings, several=several)
    tables = [candidates for candidates in (a, b) if isinstance(candidates, Captions | CaptionSets)]
    read_options = read_options_of(columns, split, 2 + (references is not None))
    table = None if references is None else references_of(references, read_options)
    if table is None and len(tables) < 2:
        table = tables[0].references if tables else absent_references(a, read_options)
    systems = [
        match_images(candidates, table, read_options=read_options, subset=subset, several=several, clean=clean)
        for candidates in (a, b)
    ]
    selection, slow = selection.without_slow(systems)
    issue(slow)
    report_a, report_b = (
        evaluate(captions, selection, system=name, of_k=choices) for name, captions in zip(names, systems, strict=True)
    )
    if read_options is not None:
        read_options.check()
    comparison = compare_reports(report_a, report_b, level=level, resamples=resamples, seed=seed)
    issue(comparison.warnings)
    return comparison


def _pair(names: tuple[str, str] | None, default: tuple[str, str]) -> tuple[str, str]:
    """Return two different names: those given, or the default, or "a" and "b"."""
    if names is None:
        return default if default[0] != default[1] else ("a", "b")
    if isinstance(names, str) or len(set(names)) != 2 or len(names) != 2:
        raise ParameterError(f"{names!r} is not a pair of names", help="give two names: names=('a', 'b')")
    return names


def compare_reports(
    a: Report, b: Report, *, level: float = 0.95, resamples: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED
) -> Comparison:
    """Compare two reports on the same images and outputs.

    Raises:
        ParameterError: images, references or signatures differ.
    """
    sampling = Sampling(resamples, seed, level)
    if not same_images(a.ids, b.ids):
        raise ParameterError(
            f"{a.system} and {b.system} were not scored on the same images",
            where=f"{a.n_images:,} and {counted(b.n_images, 'image')}",
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
            differences[name] = _difference(a[name], b[name], sampling)
    return Comparison(a, b, differences, sampling)


def _difference(a: Result, b: Result, sampling: Sampling) -> Difference:
    tests = resampled_difference(a, b, sampling.resamples, sampling.seed).significance(sampling)
    of_captions = b.per_caption - a.per_caption
    return Difference(
        name=a.name,
        score_a=a.score,
        score_b=b.score,
        difference=tests.difference,
        interval=tests.interval,
        effect_size=effect_size(of_captions),
        effect_interval=effect_interval(of_captions, sampling),
        p_bootstrap=tests.p_bootstrap,
        p_randomization=tests.p_randomization,
        lower_is_better=a.lower_is_better,
        signature=a.signature,
    )


def _one_text(candidates: str | list[str]) -> str:
    """Format the candidates of an image for an example."""
    return candidates if isinstance(candidates, str) else " | ".join(candidates)
