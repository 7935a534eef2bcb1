"""The scores of submissions: computed within a limit of processor time, and stored with what tests and ranks need."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from captious import Captions, References, Selection, Settings, check
from captious.errors import CaptionWarning, option, shown
from captious.evaluation import FindingWarning, Report, evaluate
from captious.files import whole_file
from captious.statistics import DEFAULT_SEED, Sampling
from captious_server.challenges.definition import FormulaDefinition, public_label

# The processor time granted to a submission: in proportion to its captions, however busy the machine is.
#
# Seconds of one core for a million words, measured on captions of val2014 with annotated references (AMD EPYC, shared):
#
#     captions                        BLEU, ROUGE-L, CIDEr-D   METEOR     SPICE, HWCM
#     real ones, 10 words                    1 to 5               5        17 to 20
#     random words, 10 in a caption             1                 3        39 to 60
#     random words, 30                       1 to 2               3       150 to 180
#     random words, 75                       1 to 2               3     1,100 to 1,600
#     random words, 150                      1 to 3               6         2,300
#
# Parsing takes the third power of the length of a caption, so real captions are far from a limit that sentences of
# random words reach.

#: Metrics with one of these parameters parse captions, or run a model on them.
_COSTLY_PARAMETERS = {"parser", "model", "vectors"}


def cpu_limit(metrics: Selection, n_words: int) -> float:
    """Seconds of processor time in which a submission must be scored.

    Args:
        n_words: of all captions, once for each reference set that they are scored with.
    """
    n_slow = sum(not _COSTLY_PARAMETERS.isdisjoint(entry.metric.parameters) for entry in metrics)
    # Other metrics have a tenth of the time.
    weight = n_slow + (len(metrics) - n_slow) / 10
    per_word = settings.CAPTIOUS.scoring_cpu_seconds_per_million_words / 1e6
    return float(settings.CAPTIOUS.scoring_cpu_seconds + weight * per_word * n_words)


# The scores of a submission: computed with the library, shown from the database, with a file of what tests need.
#
# Scores are ``{label: {output: {"score", "low", "high", "signature"}}}``, where a label names a captions file and a
# reference set. The file holds two arrays for each label: the outputs on each image, and on each bootstrap resample of
# the images. All submissions see the same resamples, so the difference of two arrays is the paired bootstrap.


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
    candidates: dict[Any, str],
    references: References,
    selection: Selection,
    *,
    system: str,
    resamples: int,
    formula: FormulaDefinition | None = None,
) -> SetScores:
    """Score candidates against one reference set, which may have fewer images than there are candidates.

    Outputs have their public labels.
    """
    captions = Captions(tuple(candidates[image] for image in references.ids), references)
    report: Report = evaluate(captions, selection, system=system)
    warnings = _warnings(captions, selection.settings, report.warnings)
    labels = {label: public_label(label) for label in report}
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
    if formula is not None:
        results = _with_formula(scores, results, formula)
    return SetScores(scores, results, {reader: _site_warnings(texts, labels) for reader, texts in warnings.items()})


def _with_formula(
    scores: dict[str, dict[str, Any]], results: StoredResults, formula: FormulaDefinition
) -> StoredResults:
    """Results with the output of a formula, whose score is added to the others."""
    weights = np.array([formula.weights.get(name, 0.0) for name in results.outputs])
    used = np.flatnonzero(weights)
    per_caption, resampled = (values[:, used] @ weights[used] for values in (results.per_caption, results.resampled))
    entries = [scores[results.outputs[i]] for i in used]
    parts = [entry["score"] for entry in entries]
    pairs = zip(weights[used], entries, strict=True)
    signature = " + ".join(f"{weight:g} × {entry['signature']}" for weight, entry in pairs)
    entry: dict[str, Any] = {**dict.fromkeys(("score", "low", "high")), "signature": f"{formula.name} = {signature}"}
    if None not in parts:
        low, high = Sampling(resamples=len(resampled)).interval(resampled)
        entry |= {"score": float(np.dot(parts, weights[used])), "low": low, "high": high}
    scores[formula.name] = entry
    return StoredResults(
        (*results.outputs, formula.name),
        np.column_stack([results.per_caption, per_caption]),
        np.column_stack([results.resampled, resampled]),
    )


#: The advice to clean captions by a rule, which a site cannot do.
_CLEANING = re.compile(f" with {re.escape(shown(option('clean', 'RULE'), 'challenge')).replace('RULE', '[a-z-]+')}")


def _site_warnings(warnings: Sequence[CaptionWarning], labels: Mapping[str, str]) -> list[str]:
    """Warnings in the words of a site, with public labels of outputs."""
    texts = [_CLEANING.sub(" before you submit", shown(warning, "challenge")) for warning in warnings]
    for label, public in labels.items():
        texts = [text.replace(label, public) for text in texts]
    return texts


def _warnings(
    captions: Captions, settings: Settings, warnings: Sequence[CaptionWarning]
) -> dict[str, Sequence[CaptionWarning]]:
    """The warnings of a run by reader.

    Counts and ids of candidates that resemble references would reveal what private references say.
    """
    general = [warning for warning in warnings if not isinstance(warning, FindingWarning)]
    alone = check(dict(zip(captions.ids, captions.candidates, strict=True)), settings=settings).warnings
    findings = [warning.finding for warning in alone if isinstance(warning, FindingWarning)]
    compared = [warning.finding for warning in warnings if isinstance(warning, FindingWarning)]
    team = [*general, *(finding.sentence for finding in findings)]
    return {
        "public": warnings,
        "organizers": [
            *team,
            *(finding.sentence_without_numbers for finding in compared if finding.tells_of_references),
        ],
        "team": team,
        "others": [*general, *(finding.sentence_without_ids for finding in findings)],
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
    with whole_file(path, "wb") as file, zipfile.ZipFile(file, "w", compresslevel=1) as archive:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, array, allow_pickle=False)
            # Boards read the resampled scores of all submissions, so that only those of images are packed.
            method = zipfile.ZIP_DEFLATED if name.startswith("per_caption") else zipfile.ZIP_STORED
            archive.writestr(f"{name}.npy", content.getbuffer(), method)


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


@lru_cache(maxsize=1000)  # some 64 kB each
def read_resampled(path: Path, label: str) -> dict[str, NDArray[np.floating]]:
    """The resampled scores in each output, floating[resamples], without reading those of images; they never change.

    Empty if the file does not have the label or does not exist.
    """
    arrays = _arrays(path, label, "outputs", "resampled")
    return {} if arrays is None else dict(zip(arrays[0].tolist(), arrays[1].T, strict=True))


def n_resamples(path: Path) -> int | None:
    """The number of resamples of the scores in a file; None if it does not exist."""
    if not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as arrays:
        return len(arrays["resampled_0"]) if "resampled_0" in arrays else None


def _arrays(path: Path | None, label: str, *names: str) -> list[NDArray[Any]] | None:
    """Arrays of a reference set; None if the file does not have the label or does not exist."""
    if path is None or not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as arrays:
        labels = arrays["labels"].tolist()
        return [arrays[f"{name}_{labels.index(label)}"] for name in names] if label in labels else None
