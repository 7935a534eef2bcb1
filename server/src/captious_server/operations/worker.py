"""The worker, which takes and scores submissions one by one until it is stopped."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import traceback as tracebacks
from contextlib import suppress
from datetime import timedelta

from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.db import close_old_connections, connection
from django.db.utils import Error as DatabaseError
from django.utils import timezone

from captious.errors import CaptiousError, OutputError
from captious.progress import Progress, observed
from captious_server.boards import ranking
from captious_server.challenges import references as reference_cache
from captious_server.challenges.definition import public_label
from captious_server.models import Challenge, Submission, WorkerSeen
from captious_server.notices.delivery import Deliveries, remove_old_notices
from captious_server.people.accounts import remove_old_counts, remove_old_events
from captious_server.scoring import queue
from captious_server.scoring.results import SetScores, cpu_limit, read_results, score_set, write_results
from captious_server.settings import BackgroundThread
from captious_server.submissions import storage
from captious_server.submissions.reading import count_words

_log = logging.getLogger(__name__)
_POLL_SECONDS = 0.3  # seconds between checks of an empty queue
_CLEANUP_SECONDS = 600.0  # seconds between cleanups
_HEARTBEAT_SECONDS = 5.0  # seconds between heartbeats
_ERROR_PAUSE_SECONDS = 2.0  # seconds to wait when the database or the disk cannot be used
_WORKER_LIFETIME = timedelta(hours=1)  # after which a worker without heartbeats is forgotten
_TIMEOUT_STATUS = 75  # exit status of a worker whose submission took too long


def run(stop: threading.Event) -> None:
    """Score submissions until ``stop`` is set; one that is being scored is finished first."""
    name = f"{socket.gethostname()}:{os.getpid()}"
    cleanup_time = -_CLEANUP_SECONDS
    with _Presence(name), Deliveries():
        while not stop.is_set():
            try:
                if time.monotonic() - cleanup_time > _CLEANUP_SECONDS:
                    cleanup_time = time.monotonic()
                    _clean_up()
                ranking.refresh_stale()
                lease = queue.take(name)
                if lease is not None:
                    score(lease)
                    continue
                queue.show_complete()
                if not _prepare_next():
                    stop.wait(_POLL_SECONDS)
            except (DatabaseError, OSError, OutputError):
                _log.exception("the database or the disk cannot be used; trying again")
                connection.close()
                stop.wait(_ERROR_PAUSE_SECONDS)
            close_old_connections()


def _clean_up() -> None:
    """Remove leftovers of killed processes, and expired rows."""
    storage.remove_leftovers()
    remove_old_counts()
    queue.remove_old_turns()
    remove_old_notices()
    remove_old_events()
    SessionStore.clear_expired()
    WorkerSeen.objects.filter(seen__lt=timezone.now() - _WORKER_LIFETIME).delete()


class _Presence(BackgroundThread):
    """A heartbeat thread of this worker, also during scoring and preparation. A context manager."""

    def __init__(self, name: str) -> None:
        super().__init__("presence")
        self._name = name

    def run(self) -> None:
        while True:
            with suppress(DatabaseError):
                WorkerSeen.objects.update_or_create(name=self._name, defaults={"seen": timezone.now()})
            connection.close()
            if self.stop.wait(_HEARTBEAT_SECONDS):
                break
        with suppress(DatabaseError):
            WorkerSeen.objects.filter(name=self._name).delete()
        connection.close()


def _prepare_next() -> bool:
    """Prepare the references of an open challenge, if one is not ready, so that its next submission need not wait."""
    for challenge in Challenge.objects.prefetch_related("phases"):
        if challenge.is_open and not reference_cache.is_ready(challenge):
            _prepare(challenge)
            return True
    return False


def _prepare(challenge: Challenge) -> None:
    began = time.monotonic()
    try:
        reference_cache.prepare_challenge(challenge, threads=settings.CAPTIOUS.scoring_threads or None)
        extra = {"challenge": challenge.slug, "seconds": round(time.monotonic() - began, 3)}
        _log.info("references are prepared", extra=extra)
    except (CaptiousError, OSError, MemoryError):
        _log.exception("references cannot be prepared", extra={"challenge": challenge.slug})
        reference_cache.give_up(challenge)


def score(lease: queue.Lease) -> None:
    """Score the submission of a lease, which then ends or returns to the queue."""
    submission = lease.submission
    began = time.monotonic()
    _log.info("scoring", extra={"submission": submission.pk, "lease": lease.number})
    path = submission.folder / f"results-{lease.number}.npz"
    try:
        with queue.Heartbeat(lease, on_timeout=_end_process) as heartbeat:
            set_scores = _scores_by_set(submission, heartbeat)
            write_results(path, {key: part.results for key, part in set_scores.items()})
        close_old_connections()  # the database may have been restarted in the meantime
        if not queue.finish(
            lease,
            outputs={key: part.scores for key, part in set_scores.items()},
            set_warnings={key: part.warnings for key, part in set_scores.items()},
            results_file=path.name,
        ):
            _log.warning("the result came too late", extra={"submission": submission.pk, "lease": lease.number})
            path.unlink(missing_ok=True)
            return
    except DatabaseError:
        raise  # nothing can be written now; the lease expires
    except Exception:
        _log.exception("scoring failed", extra={"submission": submission.pk, "lease": lease.number})
        path.unlink(missing_ok=True)
        queue.give_back(lease, tracebacks.format_exc())
        queue.show_complete()
        return
    storage.remove_old_results(submission)
    _log.info("scored", extra={"submission": submission.pk, "seconds": round(time.monotonic() - began, 3)})


def _scores_by_set(submission: Submission, heartbeat: queue.Heartbeat) -> dict[str, SetScores]:
    """The scores on each reference set, by key. Earlier scores are reused where nothing has changed."""
    challenge = submission.challenge
    set_scores = {}
    for key, scores in queue.reusable(submission).items():
        results = read_results(submission.folder / scores.results_file, key)
        if results is not None:
            set_scores[key] = SetScores(scores.outputs[key], results, scores.set_warnings[key])
    sets = {key: row for key, row in submission.phase.reference_sets.items() if key not in set_scores}
    if not sets:
        return set_scores
    if not reference_cache.is_ready(challenge):
        _prepare(challenge)  # not charged to the submission
    selection = reference_cache.selection(challenge, threads=settings.CAPTIOUS.scoring_threads or None)
    candidates = {row.captions: storage.candidates_in(submission.folder, row.captions) for row in sets.values()}
    n_words = {name: sum(map(count_words, texts.values())) for name, texts in candidates.items()}
    limit = cpu_limit(selection, sum(n_words[row.captions] for row in sets.values()))
    heartbeat.limit_cpu(limit, sum(n_words.values()))
    with observed(_Steps(heartbeat, len(sets))):
        for key, reference_set in sets.items():
            references = reference_cache.references(challenge, reference_set)
            set_scores[key] = score_set(
                candidates[reference_set.captions],
                references,
                selection,
                system=submission.method,
                resamples=settings.CAPTIOUS.resamples,
                formula=challenge.definition.formula,
            )
    return set_scores


class _Steps:
    """Converts progress of the library to that of a submission, in equal parts for each reference set."""

    def __init__(self, heartbeat: queue.Heartbeat, n_sets: int) -> None:
        self._heartbeat = heartbeat
        self._n_sets = n_sets
        self._depth = 0
        self._n_done = 0

    def begin(self, work: Progress) -> None:
        self._depth += 1

    def change(self, work: Progress) -> None:
        if self._depth == 1:
            within = work.done / max(work.total, 1)
            self._heartbeat.progress = int(100 * (self._n_done + within) / self._n_sets)
            self._heartbeat.doing = public_label(work.what.rpartition(": ")[2])

    def end(self, work: Progress) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._n_done += 1


def _end_process() -> None:
    """End this process, whatever its main thread does."""
    os._exit(_TIMEOUT_STATUS)
