"""Metrics for Prometheus, queried at each request so that all web processes report the same."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.db.models import Count
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from captious.server.models import Challenge, Submission
from captious.server.operations.health import Queue, Storage


class _Site(Collector):
    def __init__(self, challenges: Any) -> None:
        self._challenges = challenges

    def collect(self) -> Iterator[GaugeMetricFamily]:
        storage, queue = Storage.now(), Queue.now()
        values = {
            "database_writable": ("Whether the database can be written.", storage.database == "ok"),
            "data_folder_writable": ("Whether the data folder can be written.", storage.data_folder == "ok"),
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
        }
        for name, (text, value) in values.items():
            yield GaugeMetricFamily(f"captious_{name}", text, value=float(value))
        family = GaugeMetricFamily("captious_submissions", "Submissions.", labels=["challenge", "status"])
        rows = Submission.objects.filter(phase__challenge__in=self._challenges).order_by()
        for slug, status, n in rows.values_list("phase__challenge__slug", "status").annotate(n=Count("pk")):
            family.add_metric([slug, status], n)
        yield family


def prometheus_text(user: Any) -> bytes:
    """The state of the server and the submissions to the challenges that a user manages, in Prometheus' format."""
    challenges = Challenge.objects.all() if user.is_superuser else user.organized.all()
    registry = CollectorRegistry()
    registry.register(_Site(challenges))
    return bytes(generate_latest(registry))
