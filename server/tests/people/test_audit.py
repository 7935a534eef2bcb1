"""How long the audit log is kept."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from captious_server.models import AuditEvent
from captious_server.people import accounts
from server.tests.support.site import Site


@pytest.mark.parametrize(("days", "left"), [(30, ["new"]), (60, ["old", "new"]), (0, ["old", "new"])])
def test_old_events_are_removed(site: Site, monkeypatch: pytest.MonkeyPatch, days: int, left: list[str]) -> None:
    monkeypatch.setattr(accounts, "_BATCH_EVENTS", 2)
    for _ in range(3):
        accounts.record("old", "x")
    AuditEvent.objects.update(time=timezone.now() - timedelta(days=45))
    accounts.record("new", "x")
    site.configure(audit_days=days)
    assert accounts.remove_old_events() == (3 if days == 30 else 0)
    assert {*AuditEvent.objects.values_list("action", flat=True)} == {*left}
