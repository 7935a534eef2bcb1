"""What the server says about itself: to anybody, and to Prometheus."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from functools import lru_cache
from typing import Any
from unittest.mock import Mock

import pytest
from django.db import connection
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from captious_server.models import Challenge, Submission, User, WorkerSeen
from captious_server.operations import health as module
from server.tests.support.site import Site


@pytest.fixture
def working_site(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A site with a worker."""
    monkeypatch.setattr(module, "_writing", module._writing.__wrapped__)
    WorkerSeen.objects.create(name="worker", seen=timezone.now())
    return site


def health(site: Site) -> tuple[int, str]:
    response = site.client().get("/healthz")
    return response.status_code, response.json()["status"]


def queued(site: Site, **values: Any) -> None:
    """The submissions of the demonstration, which wait, with other values."""
    site.demo()
    Submission.objects.update(**values)


def test_health_of_a_working_site_is_ok(working_site: Site) -> None:
    queued(working_site)
    assert health(working_site) == (200, "ok")


def test_health_reports_a_full_disk(working_site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.os, "fsync", Mock(side_effect=OSError(28, "No space left on device")))
    assert health(working_site) == (503, "the data folder cannot be written")


@pytest.mark.usefixtures("sqlite")
def test_health_reports_a_read_only_database(working_site: Site) -> None:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA query_only = 1")
        try:
            assert health(working_site) == (503, "the database cannot be written")
        finally:
            cursor.execute("PRAGMA query_only = 0")


@pytest.mark.usefixtures("sqlite")
def test_health_of_a_locked_database_is_answered_soon(working_site: Site) -> None:
    """Other requests wait for half a minute."""
    with closing(sqlite3.connect(working_site.data / "database.sqlite3")) as other:
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        assert health(working_site) == (503, "the database cannot be written")
        assert time.monotonic() - began < 20

    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout")
        assert cursor.fetchone() == (30_000,)


def test_health_reports_a_killed_worker(working_site: Site) -> None:
    """The lease that the worker still holds does not count."""
    now = timezone.now()
    queued(working_site, status="running", lease_until=now + timedelta(hours=1))
    WorkerSeen.objects.update(seen=now - timedelta(seconds=20))
    assert health(working_site) == (503, "no worker")


def test_health_reports_a_late_queue(working_site: Site) -> None:
    working_site.configure(queue_minutes=10)
    queued(working_site, created=timezone.now() - timedelta(minutes=11))
    assert health(working_site) == (503, "the queue is late")
    Submission.objects.update(finished=timezone.now())  # they are scored again, which can wait
    assert health(working_site) == (200, "ok")


def test_health_tests_writing_only_now_and_then(working_site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    times: list[int] = []
    monkeypatch.setattr(module.os, "fsync", times.append)
    monkeypatch.setattr(module, "_writing", lru_cache(module._writing))
    monkeypatch.setattr(module, "_CHECK_SECONDS", 1e9)
    for _ in range(5):
        health(working_site)
    assert len(times) == 1


def test_prometheus_metrics_cover_managed_challenges(working_site: Site) -> None:
    """Organizers see their own challenges, administrators all."""
    queued(working_site)
    organizer, administrator = working_site.user("olga"), User.objects.create_superuser("root")
    other = Challenge.objects.create(slug="other", title="Other", definition_values={})
    other.organizers.add(organizer)
    for user, challenges in ((organizer, set()), (administrator, {"demo"})):
        header = {"Authorization": f"Bearer {working_site.token(user)}"}
        response = working_site.client().get("/api/v1/metrics", headers=header)
        families = {each.name: each for each in text_string_to_metric_families(response.content.decode())}
        assert families["captious_workers"].samples[0].value == 1
        assert families["captious_data_folder_writable"].samples[0].value == 1
        assert families["captious_queued_submissions"].samples[0].value > 0
        assert {each.labels["challenge"] for each in families["captious_submissions"].samples} == challenges
