"""References prepared in a worker, with everything that metrics compute about them.

A challenge is prepared by scoring the first reference of every image once: metrics then compute everything they need to
know about the references, and a submission costs only its own captions. The result is written to the data folder, as a
file of prepared references that all workers map into memory, also those that start later.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections import OrderedDict
from dataclasses import replace
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
#: A version of a challenge and its creation time: one of the same name may have been deleted.
_Version = tuple[str, int, str]
_tables: OrderedDict[tuple[_Version, str, str], References] = OrderedDict()
_selections: dict[_Version, Selection] = {}
#: States of metrics fitted to a reference set, by signature.
_states: dict[tuple[_Version, str, str], dict[str, Any]] = {}
_prepared_versions: set[_Version] = set()
_lock = threading.RLock()  # web processes have several threads
_log = logging.getLogger(__name__)


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
                with _lock:
                    _tables.pop((_version(challenge), reference_set.captions, reference_set.name), None)
            except (OutputError, OSError):  # no disk space: this worker keeps it in memory only
                _log.exception("prepared references cannot be written", extra={"challenge": challenge.slug})
        table = references(challenge, reference_set)
        firsts = tuple(table.texts[start] for start in table.offsets[:-1].tolist())
        evaluate(Captions(firsts, table), metrics, system="preparing")
    _remove_other_files(challenge)
    _prepared_versions.add(_version(challenge))


def references(challenge: Challenge, reference_set: ReferencesDefinition) -> References:
    """A reference set, the same object at every call while it is cached."""
    version = _version(challenge)
    key = (version, reference_set.captions, reference_set.name)
    with _lock:
        if key not in _tables:
            _forget_other_versions(version)
            _tables[key] = _read(challenge, reference_set)
        _tables.move_to_end(key)
        while len(_tables) > _MAX_SETS:
            _states.pop(_tables.popitem(last=False)[0], None)
        return _tables[key]


def state(challenge: Challenge, reference_set: ReferencesDefinition, metric: Metric) -> Any:
    """The fitted state of a metric for a reference set, computed once while the set is cached.

    Raises:
        CaptiousError: the metric cannot run here.
    """
    table = references(challenge, reference_set)
    key = (_version(challenge), reference_set.captions, reference_set.name)
    signature = metric.signatures()[0]
    with _lock:
        states = _states.setdefault(key, {})
    if signature not in states:
        states[signature] = metric.fit(table)
    return states[signature]


def selection(challenge: Challenge, *, threads: int | None) -> Selection:
    """The metrics of a challenge, made once.

    Raises:
        CaptiousError: a metric that cannot run here.
    """
    version = _version(challenge)
    with _lock:
        if version not in _selections:
            _forget_other_versions(version)
            settings = settings_in(challenge.folder, challenge.definition.settings, threads=threads)
            _selections[version] = select(list(challenge.definition.metrics), settings)
        return _selections[version]


def _version(challenge: Challenge) -> _Version:
    return (str(challenge.slug), int(challenge.version), challenge.created.isoformat())


def _read(challenge: Challenge, reference_set: ReferencesDefinition) -> References:
    """The references of a set, from the file that they were prepared in if there is one."""
    file = _file(challenge, reference_set)
    if file.exists():
        try:
            table = read_references(file)
            return replace(table, name=reference_set.file).attach_store(table.stored)
        except CaptiousError:
            _log.exception("prepared references cannot be used", extra={"challenge": challenge.slug})
            file.unlink(missing_ok=True)
    return read_reference_set(challenge.folder, challenge.definition, reference_set)


def _file(challenge: Challenge, reference_set: ReferencesDefinition) -> Path:
    """The path of a set in prepared form, which need not exist yet."""
    key = repr((_version(challenge), reference_set.captions, reference_set.name)).encode()
    return (
        settings.CAPTIOUS.data
        / "prepared"
        / f"{challenge.slug}-{challenge.version}-{hashlib.sha256(key).hexdigest()[:16]}.prepared"
    )


def _remove_other_files(challenge: Challenge) -> None:
    """Remove prepared references of earlier versions of a challenge."""
    current = {_file(challenge, reference_set) for reference_set in challenge.definition.references}
    for file in (settings.CAPTIOUS.data / "prepared").glob(f"{challenge.slug}-*.prepared"):
        version, _, rest = file.name.removeprefix(f"{challenge.slug}-").partition("-")
        if version.isdecimal() and "-" not in rest and file not in current and int(version) != challenge.version:
            file.unlink(missing_ok=True)


def _forget_other_versions(version: _Version) -> None:
    """Free the memory of earlier versions of a challenge."""
    slug = version[0]
    for key in [key for key in _tables if key[0][0] == slug and key[0] != version]:
        del _tables[key]
        _states.pop(key, None)
    for other in [other for other in _selections if other[0] == slug and other != version]:
        del _selections[other]
