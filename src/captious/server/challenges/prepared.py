"""References that are kept ready in a worker, with everything that metrics compute about them.

A challenge is prepared by scoring the first reference of every image once: metrics then find all that they need to know
about the references, and a submission costs only its own captions. What they find is written to the server's folder, as
a file of prepared references that all workers map into memory, also those that start later.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections import OrderedDict
from dataclasses import replace
from pathlib import Path

from django.conf import settings

from captious.data import References, read_references
from captious.errors import CaptiousError, OutputError
from captious.evaluation.preparing import annotate, write
from captious.metrics.contract.selection import Selection, select
from captious.server.challenges.challenge_metrics import settings_in
from captious.server.challenges.definition import ReferencesDefinition
from captious.server.challenges.folder import read_reference_set
from captious.server.models import Challenge

__all__ = ["give_up", "is_ready", "prepare", "references", "selection"]

_MOST = 8  # reference sets that are kept
_Key = tuple[str, int, str]
_kept: OrderedDict[tuple[_Key, str, str], References] = OrderedDict()
_selections: dict[_Key, Selection] = {}
_ready: set[_Key] = set()
_lock = threading.RLock()  # web processes have several threads
_log = logging.getLogger(__name__)


def is_ready(challenge: Challenge) -> bool:
    """Whether it was prepared in this process, or cannot be."""
    return _key(challenge) in _ready


def give_up(challenge: Challenge) -> None:
    """Do not try to prepare this version again."""
    _ready.add(_key(challenge))


def prepare(challenge: Challenge, *, threads: int | None) -> None:
    """Compute everything about the references of a challenge that its metrics need.

    Raises:
        CaptiousError: the references cannot be read, or a metric cannot run.
    """
    chosen = selection(challenge, threads=threads)
    for each in challenge.definition.references:
        file = _file(challenge, each)
        if not file.exists():
            try:
                file.parent.mkdir(mode=0o700, exist_ok=True)
                write(references(challenge, each), file, chosen)
                _forget_table(challenge, each)
            except (OutputError, OSError):  # no room: this worker keeps it in memory only
                _log.exception("prepared references cannot be written", extra={"challenge": challenge.slug})
        annotate(references(challenge, each), chosen)
    _remove_other_files(challenge)
    _ready.add(_key(challenge))


def references(challenge: Challenge, each: ReferencesDefinition) -> References:
    """A reference set, the same object at every call while it is kept."""
    key = (_key(challenge), each.captions, each.name)
    with _lock:
        if key not in _kept:
            _forget_other_versions(key[0])
            _kept[key] = _read(challenge, each)
        _kept.move_to_end(key)
        while len(_kept) > _MOST:
            _kept.popitem(last=False)
        return _kept[key]


def _read(challenge: Challenge, each: ReferencesDefinition) -> References:
    """The references of a set, from the file that they were prepared in if there is one."""
    file = _file(challenge, each)
    if file.exists():
        try:
            table = read_references(file)
            return replace(table, name=each.file).with_store(table.stored)
        except CaptiousError:
            _log.exception("prepared references cannot be used", extra={"challenge": challenge.slug})
            file.unlink(missing_ok=True)
    return read_reference_set(challenge.folder, each)


def _file(challenge: Challenge, each: ReferencesDefinition) -> Path:
    """Where a set is, or will be, in prepared form."""
    data: Path = settings.CAPTIOUS.data
    content = repr((_key(challenge), each.captions, each.name)).encode()
    return (
        data / "prepared" / f"{challenge.slug}-{challenge.version}-{hashlib.sha256(content).hexdigest()[:16]}.prepared"
    )


def _remove_other_files(challenge: Challenge) -> None:
    """Remove what a challenge was prepared for before it was loaded again."""
    wanted = {_file(challenge, each) for each in challenge.definition.references}
    for file in wanted.pop().parent.glob(f"{challenge.slug}-*.prepared") if wanted else ():
        version, _, rest = file.name.removeprefix(f"{challenge.slug}-").partition("-")
        if version.isdecimal() and "-" not in rest and file not in wanted and int(version) != challenge.version:
            file.unlink(missing_ok=True)


def _forget_table(challenge: Challenge, each: ReferencesDefinition) -> None:
    with _lock:
        _kept.pop((_key(challenge), each.captions, each.name), None)


def selection(challenge: Challenge, *, threads: int | None) -> Selection:
    """The metrics of a challenge, made once.

    Raises:
        CaptiousError: a metric that cannot run here.
    """
    key = _key(challenge)
    with _lock:
        if key not in _selections:
            _forget_other_versions(key)
            settings = settings_in(challenge.folder, challenge.definition.settings, threads=threads)
            _selections[key] = select(list(challenge.definition.metrics), settings)
        return _selections[key]


def _forget_other_versions(key: _Key) -> None:
    """Free the memory of what a challenge was before it was loaded again."""
    for kept in [each for each in _kept if each[0][0] == key[0] and each[0] != key]:
        del _kept[kept]
    for chosen in [each for each in _selections if each[0] == key[0] and each != key]:
        del _selections[chosen]


def _key(challenge: Challenge) -> _Key:
    """What names a version: a challenge that was deleted and loaded under the same name begins with 1 again."""
    return (str(challenge.slug), int(challenge.version), str(challenge.scoring_key))
