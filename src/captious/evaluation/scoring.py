"""``score``, ``check`` and ``prepare``: metrics over captions, findings without scores, and references in advance."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from captious.data import (
    Candidates,
    Captions,
    CaptionSets,
    Ids,
    Match,
    OfSeveral,
    References,
    ReferencesLike,
    Several,
    read_captions,
    read_references,
    recorded,
    write_prepared,
)
from captious.data.formats import EXTENSIONS
from captious.data.matching import OF_SEVERAL, MatchOptions, captions_of, ways_of
from captious.data.rows import names_of_files
from captious.errors import CaptionWarning, EmptyInputError, ParameterError, as_warning, either, option
from captious.evaluation.checks import (
    DEBRIS,
    KINDS,
    MIN_REFERENCES,
    CaptionFindings,
    Finding,
    foreign_language,
    ids_warnings,
    issue,
    warnings_of_references,
)
from captious.evaluation.description import Description, describe
from captious.evaluation.report import Report, Reports, name_of
from captious.metrics.contract import registry
from captious.metrics.contract.combined import OfK
from captious.metrics.contract.functions import FunctionMetric
from captious.metrics.contract.metric import (
    BaseMetric,
    Metric,
    Result,
    Savable,
    State,
    Statistics,
    reference_counts,
    run_signatures,
    statistics_of,
)
from captious.metrics.contract.registry import Request
from captious.metrics.contract.selection import Metrics, Selection, check_order, select, select_single
from captious.metrics.contract.settings import Settings, as_settings
from captious.native import using_threads
from captious.plugins import answers_other_keywords
from captious.progress import Progress, steps
from captious.tables import Cell, Column, Displayed, Row, Table, json_document
from captious.text import PTB, as_tokenizer
from captious.version import __version__
from captious.words import DEFAULT_SEED, counted, shortened

# ``check``: detection of properties of captions that make scores misleading, without scoring.


class CaptionCheck(Displayed):
    """The result of ``check`` for the captions of a system.

    Attributes:
        system: name of the system.
        findings: all findings about candidates, including those too rare for a warning.
        warnings: the warnings that ``captious.score`` would issue, one sentence each.
        n_candidates, n_references: numbers of captions.
        words: PTB tokens per candidate, and per reference of its image; 0 without references.
    """

    def __init__(self, system: str, captions: Captions | CaptionSets, settings: Settings) -> None:
        counts = CaptionFindings.of(captions)
        mended = {"same-references"} if settings.idf is not None else set()
        if settings.language is not None or settings.tokenizer is not None:
            mended |= {name for name, kind in KINDS.items() if kind.of_tokens}
        self.system = system
        self.n_candidates, self.n_references = counts.n, counts.references
        self.words = tuple(words / counts.n for words in counts.words)
        self.findings = counts.all_findings
        self.warnings = [
            warning for warning in (*ids_warnings(captions), *counts.warnings) if warning.kind not in mended
        ]
        self._in_references = counts.reference_counts

    def to_table(self) -> Table:
        """Return a table with a row for each kind of finding; records, such as those of csv, have all kinds."""
        columns = [
            Column("candidates", form="count"),
            Column("share", form="percent"),
            *(Column(head, align="left") for head in ("such as", "image_id")),
        ]
        rows = [
            Row(
                found.kind, [Cell(found.n), Cell(found.n / found.of), Cell(found.text), Cell(", ".join(found.examples))]
            )
            for found in self.findings
        ]
        by_kind = {finding.kind: finding for finding in self.findings}
        every = [by_kind.get(kind, Finding(kind, 0, self.n_candidates, ())) for kind in self._kinds]
        records = [
            {
                "system": self.system,
                "kind": finding.kind,
                "candidates": finding.n,
                "share": finding.n / finding.of,
                "text": finding.text,
                "examples": " ".join(finding.examples),
                "clean": finding.rule,
            }
            for finding in every
        ]
        lengths = f"{self.words[0]:.1f} words per candidate"
        if self.n_references:
            lengths += f", {self.words[1]:.1f} per reference"
        title = (
            f"{self.system}: {counted(self.n_candidates, 'candidate')}, "
            f"{counted(self.n_references, 'reference')}, {lengths}."
        )
        columns = columns if rows else []
        return Table(columns, rows, records, self.to_dict(), title=title, caption=title, notes=self._notes)

    @property
    def _kinds(self) -> list[str]:
        """The kinds that these captions can have."""
        return [
            kind
            for kind in KINDS
            if (self.n_references or not KINDS[kind].needs_references)
            and (kind != "vocabulary" or self.n_references >= MIN_REFERENCES)
        ]

    @property
    def _notes(self) -> Sequence[str]:
        """The warnings, and the kinds that were looked for and not found."""
        found = {finding.kind for finding in self.findings}
        not_found = f"Looked for and not found: {', '.join(kind for kind in self._kinds if kind not in found)}"
        if self.n_references:
            absent = [kind for kind in DEBRIS if kind not in self._in_references]
            not_found += f"; in references: {', '.join(absent)}"
        usual = "All of this is as rare as in captions by people, or as frequent as in the references."
        return [*self.warnings, *[usual] * (bool(found) and not self.warnings), f"{not_found}."]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values, as printed by ``captious check --format json``."""
        return json_document(
            {
                "version": __version__,
                "name": self.system,
                "n_candidates": self.n_candidates,
                "n_references": self.n_references,
                "words_per_candidate": self.words[0],
                "words_per_reference": self.words[1] if self.n_references else None,
                "findings": {
                    finding.kind: {
                        "candidates": finding.n,
                        "examples": [*finding.examples],
                        "text": finding.text or None,
                        "clean": finding.rule or None,
                    }
                    for finding in self.findings
                },
                "warnings": self.warnings,
            }
        )


@answers_other_keywords
def check(
    candidates: Candidates,
    references: ReferencesLike | None = None,
    *,
    settings: Settings | None = None,
    match: Match = "all",
    ids: Ids = "exact",
    several: Several = None,
    clean: str | Sequence[str] = (),
    system: str | None = None,
) -> CaptionCheck:
    """Check captions before they are scored: Markdown, answers to a prompt, lengths, languages, repetitions, ...

    Args:
        candidates, references: as for ``score``. Without references, only the candidates themselves are checked.
        settings: those that the captions will be scored with, as for ``score``; no warnings of what they mend.
        match, ids, several, clean: as for ``score``.
        system: name of the system; by default that of its file, or "candidates".

    Raises:
        InputError: invalid captions.
        EmptyInputError: no captions.
    """
    captions = captions_of(candidates, references, several, match=match, ids=ids, clean=clean, lists=True)
    system = name_of(candidates, "candidates") if system is None else system
    if not len(captions):
        raise EmptyInputError("there are no captions", where=system, hint="give the captions of at least one image")
    return CaptionCheck(system, captions, as_settings(settings))


# ``score`` and ``score_systems``: metrics over the captions of a system, and of several.


#: The order of arguments.
_CALL = either(
    python="write captious.score(candidates, references, metrics); for several systems, "
    "captious.score_systems(systems, references, metrics)",
    command="candidates come first, then the references",
)


@answers_other_keywords
def score(
    candidates: Candidates,
    references: ReferencesLike | None = None,
    metrics: Metrics | None = None,
    *,
    settings: Settings | None = None,
    match: Match = "all",
    ids: Ids = "exact",
    several: Several = None,
    clean: str | Sequence[str] = (),
    system: str | None = None,
) -> Report:
    """Score the captions of a system.

    Args:
        candidates: a path, mapping, sequence or data frame; docs/input-formats.md lists the forms. ``Captions``
            and ``CaptionSets``, as returned by ``captious.read_captions``, include references.
        references: in any form that ``captious.read_references`` takes, or its result, which systems can share. None
            for metrics without references, such as chair.
        metrics: names (``bleu-4``, ``bleu``, ``cider-d@paper``, ``rouge-s:gap=2``), metrics, or functions of a
            candidate and its references, or of lists of both; None for the metrics of the COCO evaluation that are
            available.
        settings: settings of all metrics requested by name: tokenizer, model, word vectors, parser, ...
        match: which images: "common" scores only the images that both sides have; otherwise, images of only one side
            are an error.
        ids: how ids are read before they are matched: exact, as they are; integer, as the number that they spell or end
            with, such as 000000000042 and COCO_val2014_000000000042.jpg; stem, as the name of a file without folder and
            extension; composed, in Unicode's composed form. Two images with one id are refused.
        several: allow several candidates for an image: lists, or rows with the same image id. Metrics of single
            captions score an image by the "mean" of its candidates or by the "best" one; results for the best are
            called "cider-d:of-k=best". In Python, ("mean", "best") gives both, and None allows exactly one candidate
            for each image; see ``captious.OfK``.
        clean: rules to clean candidates by before they are scored, separated by commas: markdown converts it to text,
            prompt removes openings such as "Sure! Here is a caption:" and "The image shows"; also ansi, pieces,
            mojibake, think, tokens, json, escapes, html, quotes and compose. Signatures name them.
        system: name of the system; by default that of its file, or "candidates".

    Returns:
        Corpus and caption scores. Misleading results are listed in ``warnings`` and issued as CaptiousWarning, each
        wording once per process.

    Raises:
        InputError: invalid captions.
        UnknownNameError: an unknown metric or variant.
        ParameterError: a setting that no requested metric uses; a metric of several candidates without ``several``.
    """
    check_order("score", {"candidates": candidates, "references": references}, metrics, hint=_CALL)
    _check_one_system(candidates)
    ways = ways_of(several, candidates)
    selection = select(metrics, settings, several=bool(ways))
    captions = read_captions(candidates, references, match=match, several=ways or None, clean=clean, ids=ids)
    name = name_of(candidates, "candidates") if system is None else system
    report = evaluate(captions, suitable(selection, [captions], issue), system=name, several=ways)
    issue(report.warnings)
    return report


@answers_other_keywords
def score_systems(
    systems: Mapping[str, Candidates],
    references: ReferencesLike | None = None,
    metrics: Metrics | None = None,
    *,
    settings: Settings | None = None,
    match: Match = "all",
    ids: Ids = "exact",
    several: Several = None,
    clean: str | Sequence[str] = (),
) -> Reports:
    """Score the captions of several systems against the same references.

    Args:
        systems: the candidates of each system by its name, each in any form that ``score`` takes.
        references, metrics, settings, match, ids, several, clean: as for ``score``.

    Returns:
        The report of each system by its name.

    Raises:
        InputError, UnknownNameError, ParameterError: as ``score``; also no system.
    """
    check_order("score_systems", {"systems": systems, "references": references}, metrics)
    check_systems(systems, references, hint=_SYSTEMS)
    ways = ways_of(several, *systems.values())
    selection = select(metrics, settings, several=bool(ways))
    tables = read_systems(systems, references, match=match, several=ways or None, clean=clean, ids=ids)
    reports = evaluate_systems(tables, selection, several=ways)
    issue(reports.warnings)
    return reports


_SYSTEMS = either(
    python='write captious.score_systems({"mine": captions, "baseline": captions}, references)', command=""
)


def _check_one_system(candidates: object) -> None:
    """Refuse a mapping from names to systems: each value is whole captions, or text that names a file of them.

    Raises:
        ParameterError: these are several systems.
    """
    if not isinstance(candidates, Mapping) or not candidates or not all(map(_is_system, candidates.values())):
        return
    if "image_id" in candidates or not all(isinstance(name, str) for name in candidates):  # columns of a data frame
        return
    raise ParameterError(
        f"these are captions of {counted(len(candidates), 'system')}, and score takes those of one",
        where=", ".join(map(repr, [*candidates][:3])),
        hint=either(
            python="write captious.score_systems(systems, references), or give the captions of one: "
            f"candidates[{next(iter(candidates))!r}]",
            command="",
        ),
    )


def check_systems(systems: object, references: object, *, hint: str) -> None:
    """Refuse anything but a mapping from names to captions.

    Args:
        systems: the argument of a public function.
        references: its references.
        hint: the call to write.

    Raises:
        ParameterError: the captions of one system, a sequence, or nothing; the path of captions in a list.
    """
    if not isinstance(systems, Mapping) or isinstance(systems, Report) or not systems:
        given = "a Report" if isinstance(systems, Report) else shortened(systems)
        raise ParameterError(f"{given} is not a mapping from names to the captions of systems", hint=hint)
    are_images = isinstance(references, Mapping) and systems.keys() <= references.keys()
    for name, captions in systems.items():
        if (are_images or isinstance(captions, str)) and not _is_system(captions):
            raise ParameterError(
                "these are the captions of one system, where a mapping from names to systems is needed",
                where=f"{name!r}: {shortened(captions)}",
                hint=either(
                    python=f"write captious.score(candidates, references), or for several systems, {hint}", command=""
                ),
            )
        if not isinstance(name, str):
            raise ParameterError(f"the name of a system is {shortened(name)}, not a string", hint=hint)
        if not name.strip():
            raise ParameterError("the name of a system is empty", hint=hint)
        if isinstance(captions, list | tuple) and names_of_files(captions):
            raise ParameterError(
                f"the captions of {name!r} are names of files in a list",
                where=f"{name!r}: {shortened(captions)}",
                hint=f"give the path itself: {{{name!r}: {str(captions[0])!r}}}",
            )


def read_systems(
    systems: Mapping[str, object], references: object, *, several: Several = None, **options: Unpack[MatchOptions]
) -> dict[str, Captions | CaptionSets]:
    """Read the captions of systems and match them with the same references. Arguments are as for ``read_captions``."""
    table = None if references is None else read_references(references)
    return {name: read_captions(captions, table, several=several, **options) for name, captions in systems.items()}


def _is_system(value: object) -> bool:
    """Return whether a value can only be the captions of a system, or their file."""
    if isinstance(value, str):
        return value.lower().removesuffix(".gz").endswith(EXTENSIONS)
    return isinstance(value, Mapping | Captions | CaptionSets | os.PathLike) or hasattr(value, "columns")


def evaluate_systems(
    tables: Mapping[str, Captions | CaptionSets],
    selection: Selection,
    *,
    several: Sequence[OfSeveral] = OF_SEVERAL[:1],
    announce: Callable[[Sequence[str]], object] = issue,
) -> Reports:
    """Run metrics over the captions of systems, without slow metrics that were not requested by name.

    Args:
        tables: captions of each system, matched with their references.
        selection, several: as for ``evaluate``.
        announce: called with the warnings about slow metrics before they run.

    Raises:
        EmptyInputError, ParameterError: as ``evaluate``.
    """
    selection = suitable(selection, [*tables.values()], announce)
    with steps([*tables.items()], lambda system: f"scoring {system[0]}") as systems:
        return Reports([evaluate(captions, selection, system=name, several=several) for name, captions in systems])


def suitable(
    selection: Selection, tables: Sequence[Captions | CaptionSets], announce: Callable[[Sequence[str]], object]
) -> Selection:
    """Return the metrics without those that nobody named and that are slow or made for another language.

    Args:
        selection: the metrics.
        tables: the captions of all systems.
        announce: called with the warnings about slow metrics that were named.
    """
    if (language := foreign_language(tables, selection)) is not None:
        selection = selection.for_language(language)
    selection, slow = selection.without_slow(tables)
    announce(slow)
    return selection


def evaluate(
    captions: Captions | CaptionSets,
    selection: Selection,
    *,
    system: str = "candidates",
    several: Sequence[OfSeveral] = OF_SEVERAL[:1],
) -> Report:
    """Run metrics over captions that are already matched with their references.

    Args:
        captions: the table.
        selection: the metrics.
        system: name of the system.
        several: how metrics of single captions score an image with several candidates.

    Raises:
        EmptyInputError: no captions.
        ParameterError: metrics that need references, without references.
    """
    if not len(captions):
        raise EmptyInputError("there are no captions", where=system, hint="give the captions of at least one image")
    references_as = selection.settings.references_as
    results: dict[str, Result] = {}
    check_needed_references(captions.references, selection)
    findings = CaptionFindings.of(captions)
    messages = [*ids_warnings(captions), *selection.warnings, *findings.warnings_for(selection)]
    table = captions.with_references_as(references_as)
    counts = reference_counts(captions.references)
    store = table.references.stored
    not_stored: list[str] = []
    with using_threads(selection.settings.threads), Progress(len(selection)) as progress:
        for item in selection.requested:
            progress.step(f"{system}: {item.metric.name}")
            missed = store.n_missed if store is not None else 0
            state = item.metric.fit(table.references)
            for statistics in _statistics(item.metric, table, state, several):
                metric = statistics.metric
                signatures = run_signatures(metric, state, counts, captions.clean, references_as)
                suffix = metric.of_k_suffix if isinstance(metric, OfK) and metric is not item.metric else ""
                for label, column in item.output_indices.items():
                    name = label + suffix
                    results[name] = Result(name, signatures[column], statistics, column)
                for text in metric.warnings(table, state):
                    if (warning := as_warning(text, metric.name)) not in messages:
                        messages.append(warning)
            if store is not None and store.n_missed > missed:
                not_stored.append(item.metric.name)
        description = _description(table, selection) if isinstance(table, CaptionSets) else None
    if store is not None and not_stored:
        messages.append(CaptionWarning(store.advice(not_stored), "not-prepared"))
    return Report(system, captions, results, messages, description, findings.without_meaning(selection))


def _statistics(
    metric: BaseMetric, captions: Captions | CaptionSets, state: State | None, ways: Sequence[OfSeveral]
) -> list[Statistics]:
    """Return statistics with one row per image; with several candidates, one array for each way."""
    if not (isinstance(metric, Metric) and isinstance(captions, CaptionSets)):
        return [Statistics(metric, statistics_of(metric, captions, state), captions.ids)]
    rows, offsets = OfK.candidate_statistics(metric, captions, state), captions.candidates.offsets
    metrics = [OfK(metric, choice) for choice in OfK.ways(metric, ways)]
    return [Statistics(of_images, of_images.of_candidates(rows, offsets), captions.ids) for of_images in metrics]


def _description(sets: CaptionSets, selection: Selection) -> Description:
    """Describe the candidates, under the settings of the run."""
    from captious.metrics.diversity import Novel  # only needed here

    training = next((item.metric.training for item in selection if isinstance(item.metric, Novel)), None)
    tokenizer = selection.settings.tokenizer
    return describe(sets, PTB if tokenizer is None else as_tokenizer(tokenizer), training)


def check_needed_references(references: References, selection: Selection) -> None:
    """Refuse metrics that need references if there are none; user-defined functions get empty lists.

    Raises:
        ParameterError: names these metrics.
    """
    if references.present:
        return
    metrics = [item.metric for item in selection]
    needing = [metric.name for metric in metrics if metric.needs_references and not isinstance(metric, FunctionMetric)]
    if needing:
        raise ParameterError(
            f"{', '.join(needing)} cannot be computed without references",
            where=references.name,
            hint="give references, or only request metrics that need none, such as chair and clipscore",
        )


# ``prepare``: everything that metrics compute about references, computed once and stored in a file.


def annotate(references: References, selection: Selection) -> None:
    """Let metrics compute everything that they need about references; the object keeps it.

    The first reference of every image is scored as a candidate for this.
    """
    firsts = tuple(references.texts[start] for start in references.offsets[:-1].tolist())
    evaluate(Captions(firsts, references), selection, system="preparing")


@answers_other_keywords
def prepare(
    references: ReferencesLike,
    metrics: Metrics | None = None,
    *,
    path: str | os.PathLike[str],
    settings: Settings | None = None,
) -> References:
    """Write references to a file, with everything that metrics compute about references alone.

    The file is accepted wherever references are: by ``score``, ``compare``, ``read_references`` and ``reward``. Scores
    are bit-identical to those of the original references. Other metrics and settings work, too, but take as long as
    without the file.

    Args:
        references: any form that ``read_references`` reads.
        metrics, settings: as for ``score``.
        path: the file.

    Returns:
        The references of the file.

    Raises:
        InputError: invalid references.
        UnknownNameError, ParameterError: as ``score`` does.
        OutputError: the file cannot be written.
    """
    check_order("prepare", {"references": references}, metrics)
    selection = select(metrics, settings)
    write(read_references(references), path, selection)
    return read_references(path)


def write(references: References, path: str | os.PathLike[str], selection: Selection) -> None:
    """Write references to a file, with everything that the selected metrics compute about them; see ``prepare``."""
    table = recorded(references)
    annotate(table, selection)
    write_prepared(path, table, selection.labels)


# ``fit_resource``: resources that a metric computes once from references, such as document frequencies, saved in files.


@dataclass(frozen=True)
class FittedResource:
    """The result of fitting a metric, which can be saved, with warnings about the references."""

    resource: Savable
    warnings: Sequence[str]


def fit_resource(
    metric: str,
    files: Sequence[str | os.PathLike[str]],
    *,
    human: str | os.PathLike[str] | None = None,
    match: Match = "all",
    settings: Settings | None = None,
    seed: int = DEFAULT_SEED,
) -> FittedResource:
    """Fit a metric to files of references.

    Args:
        metric: name of the metric, with its variant and parameters.
        files: one file of references; for chair, any number of files of captions and of objects.
        human: for smurf, human captions that are not among the references; by default, one reference of each image is
            held out.
        match: which images: "common" uses the images that human captions and the references both have; otherwise, a
            difference is an error.
        settings: settings of the metric.
        seed: random seed of the references to hold out.

    Raises:
        ParameterError: a metric that cannot be fitted, or a file or setting that it does not accept.
        InputError: a file that cannot be read.
    """
    from captious.metrics.chair import Chair, with_objects  # scores need it only if they are requested

    settings = as_settings(settings)
    if settings.objects is not None and registry.owner_of(Request.from_text(metric).name) == Chair.name:
        raise ParameterError(
            f"{option('objects', 'FILE')} cannot be used with captious fit, which writes it",
            hint=f"remove {option('objects', 'FILE')}, and give that file as an argument",
        )
    selected_metric = select_single(metric, with_objects(metric, settings))[0].metric
    if settings.idf is not None:
        raise ParameterError(
            f"{option('idf', 'FILE')} cannot be used with captious fit, which computes document frequencies",
            hint=f"remove {option('idf', 'FILE')}",
        )
    if isinstance(selected_metric, Chair):
        objects = selected_metric.objects_of(files)
        return FittedResource(objects, objects.warnings)
    if len(files) > 1:
        raise ParameterError(f"{selected_metric.name} is fitted to one file of references", hint="give one file")
    references = read_references(files[0])
    if settings.references_as == "cat":
        references = references.concatenated
    if human is None:
        resource = selected_metric.fit_resource(references, seed=seed)
    else:
        resource = _fitted_to_people(selected_metric, human, references, match=match)
    if resource is None:
        fittable = ", ".join(each.name for each in registry.usable() if each.fitted_resource)
        raise ParameterError(f"{selected_metric.name} cannot be fitted", hint=f"metrics that can be fitted: {fittable}")
    return FittedResource(resource, warnings_of_references(references))


def _fitted_to_people(
    metric: BaseMetric, human: str | os.PathLike[str], references: References, *, match: Match
) -> Savable:
    from captious.metrics.smurf import Smurf

    if not isinstance(metric, Smurf):
        raise ParameterError(
            f"{metric.name} does not take human captions", hint=f"remove {option('human', 'FILE')}, or fit smurf"
        )
    people = read_captions(human, references, match=match)
    name = os.path.basename(references.name)
    source = f"{os.path.basename(human)}, with the references {name}; {counted(len(people), 'image')}"
    return metric.calibrate(people, name.partition(".")[0], source)
