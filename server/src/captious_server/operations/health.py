"""``/healthz`` and metrics for Prometheus.

They say whether database and data folder can be written, workers are alive and the queue moves.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import lru_cache

from django.conf import settings
from django.db import Error, connection
from django.db.models import Count, F, Q, QuerySet
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from captious.version import __version__
from captious_server.models import Challenge, Phase, RateCount, Submission, User, WorkerSeen
from captious_server.settings import SQLITE_WAIT

_Status = Submission.Status
#: A worker without a heartbeat for this long is gone; heartbeats come every 5 seconds.
_WORKER_TIMEOUT = timedelta(seconds=15)
_CHECK_SECONDS = 5.0  # seconds for which a check that writes is not repeated
_TEST_BYTES = 64 * 1024  # bytes that it writes
_WAIT_MILLISECONDS = 3000  # milliseconds that it waits for others who write to the database


@dataclass(frozen=True)
class Queue:
    """Workers and the queue."""

    workers: int
    running: int
    queued: int
    #: Age of the oldest submission waiting to be scored for the first time.
    oldest_queued_seconds: int
    #: Leaderboards whose ranks are being computed.
    stale_boards: int

    @classmethod
    def now(cls) -> Queue:
        """The current state.

        Raises:
            Error: the database cannot be read.
        """
        now = timezone.now()
        is_lost = Q(status=_Status.RUNNING, lease_until__lt=now)  # which waits for another worker
        rows = Submission.objects.filter(Q(status=_Status.QUEUED) | is_lost)
        oldest = rows.filter(finished=None).order_by("created").values_list("created", flat=True).first()
        return cls(
            workers=WorkerSeen.objects.filter(seen__gte=now - _WORKER_TIMEOUT).count(),
            running=Submission.objects.filter(status=_Status.RUNNING, lease_until__gte=now).count(),
            queued=rows.count(),
            oldest_queued_seconds=round((now - oldest).total_seconds()) if oldest else 0,
            stale_boards=Phase.objects.filter(board_stored__lt=F("board_changes")).count(),
        )

    @property
    def problem(self) -> str:
        """The problem in a few words; empty if there is none."""
        if not self.workers:
            return "no worker"
        return "the queue is late" if self.oldest_queued_seconds > 60 * settings.CAPTIOUS.queue_minutes else ""


@lru_cache(maxsize=1)
def _writing(period: float) -> dict[str, str]:
    """Whether the database and the data folder can be written, "ok" or "failed"; tried once in a period."""
    states = {"database": "ok", "data_folder": "ok"}
    try:
        with _impatient():
            RateCount.objects.update_or_create(key="health", minute=int(time.time() // 60))
    except Error:
        states["database"] = "failed"
    try:
        with tempfile.TemporaryFile(dir=settings.CAPTIOUS.data) as file:
            file.write(os.urandom(_TEST_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        states["data_folder"] = "failed"
    return states


def _writing_now() -> dict[str, str]:
    """The current state, of the last few seconds: anyone may ask, and each check writes to the disk."""
    return _writing(time.monotonic() // _CHECK_SECONDS)


@contextmanager
def _impatient() -> Iterator[None]:
    """Let the database answer within seconds, even while others lock it."""
    is_sqlite = connection.vendor == "sqlite"
    variable, usual = ("PRAGMA busy_timeout", SQLITE_WAIT) if is_sqlite else ("SET lock_timeout", 0)
    with connection.cursor() as cursor:
        cursor.execute(f"{variable} = {_WAIT_MILLISECONDS}")
        try:
            yield
        finally:
            cursor.execute(f"{variable} = {usual}")


@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 and "ok" if submissions can be taken and scored; otherwise 503 and the problem."""
    writing = _writing_now()
    answer = {"status": "", **writing, "version": __version__}
    try:
        queue = Queue.now()
    except Error:
        return JsonResponse({**answer, "status": "no database", "database": "failed"}, status=503)
    failed = [name.replace("_", " ") for name, state in writing.items() if state != "ok"]
    problem = f"the {failed[0]} cannot be written" if failed else queue.problem
    return JsonResponse({**answer, **asdict(queue), "status": problem or "ok"}, status=503 if problem else 200)


# Metrics for Prometheus, queried at each request so that all web processes report the same.


class _Site(Collector):
    def __init__(self, challenges: QuerySet[Challenge]) -> None:
        self._challenges = challenges

    def collect(self) -> Iterator[GaugeMetricFamily]:
        writing, queue = _writing_now(), Queue.now()
        values = {
            "database_writable": ("Whether the database can be written.", writing["database"] == "ok"),
            "data_folder_writable": ("Whether the data folder can be written.", writing["data_folder"] == "ok"),
            "data_folder_free_bytes": (
                "Free space on the disk of the data folder.",
                shutil.disk_usage(settings.CAPTIOUS.data).free,
            ),
            "workers": ("Workers that have reported recently.", queue.workers),
            "running_submissions": ("Submissions being scored.", queue.running),
            "queued_submissions": ("Submissions waiting for a worker.", queue.queued),
            "oldest_queued_seconds": (
                "Age of the oldest submission waiting to be scored for the first time.",
                queue.oldest_queued_seconds,
            ),
            "stale_boards": ("Leaderboards whose ranks are being computed.", queue.stale_boards),
        }
        for name, (text, value) in values.items():
            yield GaugeMetricFamily(f"captious_{name}", text, value=float(value))
        family = GaugeMetricFamily("captious_submissions", "Submissions.", labels=["challenge", "status"])
        rows = Submission.objects.filter(phase__challenge__in=self._challenges).order_by()
        for slug, status, n in rows.values_list("phase__challenge__slug", "status").annotate(n=Count("pk")):
            family.add_metric([slug, status], n)
        yield family


def prometheus_text(user: User) -> bytes:
    """The state of the server and the submissions to the challenges that a user manages, in Prometheus' format."""
    challenges = Challenge.objects.all() if user.is_superuser else user.organized.all()
    registry = CollectorRegistry()
    registry.register(_Site(challenges))
    return bytes(generate_latest(registry))
