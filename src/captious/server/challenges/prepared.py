"""References that are kept ready in a worker, with everything that metrics compute about them.

A challenge is prepared by scoring the first reference of every image once: metrics then find all that they need to know
about the references, and a submission costs only its own captions.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from captious.data import Captions, References
from captious.evaluation import evaluate
from captious.metrics.contract.selection import Selection, select
from captious.server.challenges.definition import ReferencesDefinition
from captious.server.challenges.files import read_reference_set
from captious.server.challenges.metrics import settings_in
from captious.server.models import Challenge

__all__ = ["give_up", "is_ready", "prepare", "references", "selection"]

_MOST = 8  # reference sets that are kept
_Key = tuple[str, int, str]
_kept: OrderedDict[tuple[_Key, str, str], References] = OrderedDict()
_selections: dict[_Key, Selection] = {}
_ready: set[_Key] = set()
_lock = threading.RLock()  # web processes have several threads


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
        table = references(challenge, each)
        firsts = tuple(table.texts[start] for start in table.offsets[:-1].tolist())
        evaluate(Captions(firsts, table), chosen)
    _ready.add(_key(challenge))


def references(challenge: Challenge, each: ReferencesDefinition) -> References:
    """A reference set, the same object at every call while it is kept."""
    key = (_key(challenge), each.captions, each.name)
    with _lock:
        if key not in _kept:
            _forget_other_versions(key[0])
            _kept[key] = read_reference_set(challenge.folder, each)
        _kept.move_to_end(key)
        while len(_kept) > _MOST:
            _kept.popitem(last=False)
        return _kept[key]


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
