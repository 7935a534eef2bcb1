"""References prepared in a worker, with everything that metrics compute about them.

A challenge is prepared by scoring the first reference of every image once: metrics then compute everything they need to
know about the references, and a submission costs only its own captions. The result is written to the data folder, as a
file of prepared references that all workers map into memory, also those that start later.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings

from captious import Captions, Metric, References, Selection, prepare, read_references, select
from captious.errors import CaptiousError, OutputError
from captious.evaluation import evaluate
from captious_server.challenges.definition import ReferencesDefinition, settings_in
from captious_server.challenges.folder import read_reference_set
from captious_server.models import Challenge

_MAX_SETS = 8  # cached reference sets
_prepared_versions: set[_Version] = set()
_lock = threading.RLock()  # web processes have several threads
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Version:
    """A version of a challenge, with its creation time: one of the same name may have been deleted."""

    challenge: int
    number: int
    created: str
    row: Challenge = field(compare=False, repr=False)


def is_ready(challenge: Challenge) -> bool:
    """Return whether a challenge was prepared in this process, or cannot be prepared."""
    return _version(challenge) in _prepared_versions


def give_up(challenge: Challenge) -> None:
    """Do not try to prepare this version again."""
    _prepared_versions.add(_version(challenge))


def prepare_challenge(challenge: Challenge, *, threads: int | None) -> None:
    """Compute everything about the references of a challenge that its metrics need.

    Raises:
        CaptiousError: the references cannot be read, or a metric cannot run.
    """
    metrics = selection(challenge, threads=threads)
    for reference_set in challenge.definition.references:
        file = _file(challenge, reference_set)
        if not file.exists():
            try:
                file.parent.mkdir(mode=0o700, exist_ok=True)
                prepare(references(challenge, reference_set), metrics, path=file)
            except (OutputError, OSError):  # no disk space: this worker keeps it in memory only
                _log.exception("prepared references cannot be written", extra={"challenge": challenge.slug})
        table = references(challenge, reference_set)
        firsts = tuple(table.texts[start] for start in table.offsets[:-1].tolist())
        evaluate(Captions(firsts, table), metrics, system="preparing")
    _remove_other_files(challenge)
    _prepared_versions.add(_version(challenge))


def references(challenge: Challenge, reference_set: ReferencesDefinition) -> References:
    """A reference set, the same object at every call while it is cached."""
    return _table_and_states(challenge, reference_set)[0]


def state(challenge: Challenge, reference_set: ReferencesDefinition, metric: Metric) -> Any:
    """The fitted state of a metric for a reference set, computed once while the set is cached.

    Raises:
        CaptiousError: the metric cannot run here.
    """
    table, states = _table_and_states(challenge, reference_set)
    signature = metric.signatures()[0]
    if signature not in states:
        states[signature] = metric.fit(table)
    return states[signature]


def selection(challenge: Challenge, *, threads: int | None) -> Selection:
    """The metrics of a challenge, made once.

    Raises:
        CaptiousError: a metric that cannot run here.
    """
    with _lock:
        return _selection(_version(challenge), threads)


@lru_cache(maxsize=_MAX_SETS)
def _selection(version: _Version, threads: int | None) -> Selection:
    definition = version.row.definition
    settings = settings_in(version.row.folder, definition.settings, threads=threads)
    return select(list(definition.metrics), settings)


def _table_and_states(challenge: Challenge, reference_set: ReferencesDefinition) -> tuple[References, dict[str, Any]]:
    """A reference set, and the states of metrics fitted to it, by signature."""
    with _lock:
        return _read(_version(challenge), reference_set, _file(challenge, reference_set).exists())


@lru_cache(maxsize=_MAX_SETS)
def _read(
    version: _Version, reference_set: ReferencesDefinition, is_prepared: bool
) -> tuple[References, dict[str, Any]]:
    """The references of a set, from the file that they were prepared in if there is one."""
    if is_prepared:
        file = _file(version.row, reference_set)
        try:
            table = read_references(file)
            return replace(table, name=reference_set.file).attach_store(table.stored), {}
        except CaptiousError:
            _log.exception("prepared references cannot be used", extra={"challenge": version.row.slug})
            file.unlink(missing_ok=True)
    return read_reference_set(version.row.folder, version.row.definition, reference_set), {}


def _version(challenge: Challenge) -> _Version:
    return _Version(challenge.pk, challenge.version, challenge.created.isoformat(), challenge)


def _file(challenge: Challenge, reference_set: ReferencesDefinition) -> Path:
    """The path of a set in prepared form, which need not exist yet."""
    key = repr((_version(challenge), reference_set.captions, reference_set.name)).encode()
    return _folder() / f"{challenge.pk}-{hashlib.sha256(key).hexdigest()[:16]}.prepared"


def _folder() -> Path:
    folder: Path = settings.CAPTIOUS.data / "prepared"
    return folder


def _remove_other_files(challenge: Challenge) -> None:
    """Remove prepared references of other versions of a challenge."""
    current = {_file(challenge, reference_set) for reference_set in challenge.definition.references}
    for file in {*_folder().glob(f"{challenge.pk}-*.prepared")} - current:
        file.unlink(missing_ok=True)
