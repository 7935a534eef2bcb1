"""The scores of a submission: computed with the library, shown from the database, with a file of what tests need.

Scores are ``{label: {output: {"score", "low", "high", "signature"}}}``, where a label names a captions file and a
reference set. The file holds two arrays for each label: the outputs on each image, and on each bootstrap resample of
the images. All submissions see the same resamples, so the difference of two arrays is the paired bootstrap.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References
from captious.errors import option, option_style
from captious.evaluation import Report, evaluate
from captious.evaluation.caption_checks.caption_findings import KINDS, CaptionFindings
from captious.files.atomic_write import whole_file
from captious.metrics.contract.selection import Selection
from captious.random_seed import DEFAULT_SEED
from captious.server.challenges.challenge_metrics import public_label


@dataclass(frozen=True, eq=False)
class StoredResults:
    """The results of one submission on one reference set, for tests and pages.

    Args:
        outputs: m names of outputs.
        per_caption: float64[n_images, m], in the order of the references.
        resampled: float64[resamples, m].
    """

    outputs: tuple[str, ...]
    per_caption: NDArray[np.float64]
    resampled: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SetScores:
    """The scores of one reference set: plain values and warnings for the database, and arrays for the file.

    The warnings are those of ``Scores.set_warnings``, by who reads them.
    """

    scores: dict[str, dict[str, Any]]
    results: StoredResults
    warnings: dict[str, list[str]]


def score_set(
    candidates: dict[Any, str], references: References, selection: Selection, *, system: str, resamples: int
) -> SetScores:
    """Score candidates against one reference set, which may have fewer images than there are candidates.

    Outputs have their public labels.
    """
    captions = Captions(tuple(candidates[image] for image in references.ids), references)
    with option_style("challenge"):
        report: Report = evaluate(captions, selection, system=system)
        warnings = _warnings(captions, selection, report.warnings)
        replacements = {label: public_label(label) for label in report} | _site_words()
    scores: dict[str, dict[str, Any]] = {}
    for label, result in report.items():
        name = public_label(label)
        low, high = result.confidence_interval(resamples=resamples)
        values = {"score": result.score, "low": low, "high": high}
        scores[name] = {key: value if np.isfinite(value) else None for key, value in values.items()}
        scores[name]["signature"] = result.signature
    columns = [result.statistics.resampled(resamples, DEFAULT_SEED)[:, result.column] for result in report.values()]
    results = StoredResults(
        outputs=tuple(scores),
        per_caption=np.stack([result.per_caption for result in report.values()], axis=1),
        resampled=np.stack(columns, axis=1),
    )
    return SetScores(
        scores, results, {reader: _site_warnings(texts, replacements) for reader, texts in warnings.items()}
    )


def _site_warnings(texts: list[str], replacements: Mapping[str, str]) -> list[str]:
    """Warnings in the words of a site, with public labels of outputs."""
    for text, replacement in replacements.items():
        texts = [warning.replace(text, replacement) for warning in texts]
    return texts


def _site_words() -> dict[str, str]:
    """The advice of warnings in terms of the site, which has no options: text to be replaced -> replacement."""
    options = [kind.option for kind in KINDS.values() if kind.option is not None]
    return {f" with {option(*name_and_value)}": " before you submit" for name_and_value in options}


def _warnings(captions: Captions, selection: Selection, warnings: list[str]) -> dict[str, list[str]]:
    """The warnings of a run by reader.

    Counts and ids of candidates that resemble references would reveal what private references say.
    """
    findings = CaptionFindings.of(captions)
    tokens = [item.metric.tokens for item in selection]
    findings_texts = findings.warnings_for(tokens)
    general = [*findings.few_references, *(warning for warning in warnings if warning not in findings_texts)]
    candidate_findings = findings.without_references.findings_for(tokens)
    reference_findings = [finding for finding in findings.findings_for(tokens) if KINDS[finding.kind].needs_references]
    team = [*general, *(finding.sentence for finding in candidate_findings)]
    return {
        "public": warnings,
        "organizers": [*team, *(finding.sentence_without_numbers for finding in reference_findings)],
        "team": team,
        "others": [*general, *(finding.sentence_without_ids for finding in candidate_findings)],
    }


def write_results(path: Path, results: dict[str, StoredResults]) -> None:
    """Write the file of a submission, atomically.

    Raises:
        OutputError: it cannot be written.
    """
    arrays: dict[str, NDArray[Any]] = {"labels": np.array([*results], dtype=np.str_)}
    for i, result in enumerate(results.values()):
        arrays[f"outputs_{i}"] = np.array(result.outputs, dtype=np.str_)
        arrays[f"per_caption_{i}"] = result.per_caption
        arrays[f"resampled_{i}"] = result.resampled
    with whole_file(path, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


@lru_cache(maxsize=64)
def read_results(path: Path | None, label: str) -> StoredResults | None:
    """The arrays of one reference set, from a file whose content never changes.

    None if the file does not have the label or does not exist: a submission may be deleted while its board is viewed.
    """
    arrays = _arrays(path, label, "outputs", "per_caption", "resampled")
    if arrays is None:
        return None
    outputs, per_caption, resampled = arrays
    return StoredResults(outputs=tuple(outputs.tolist()), per_caption=per_caption, resampled=resampled)


def read_resampled(path: Path, label: str, output: str) -> NDArray[np.floating] | None:
    """The resampled scores of one output, floating[resamples], without reading those of images.

    None if the file does not have the label and output, or does not exist.
    """
    arrays = _arrays(path, label, "outputs", "resampled")
    if arrays is None or output not in arrays[0].tolist():
        return None
    column: NDArray[np.floating] = arrays[1][:, arrays[0].tolist().index(output)]
    return column.copy()


def _arrays(path: Path | None, label: str, *names: str) -> list[NDArray[Any]] | None:
    """Arrays of a reference set; None if the file does not have the label or does not exist."""
    if path is None or not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as arrays:
        labels = arrays["labels"].tolist()
        return [arrays[f"{name}_{labels.index(label)}"] for name in names] if label in labels else None
