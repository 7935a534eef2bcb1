"""``/healthz``: whether the database answers, workers are alive and the queue moves."""

from __future__ import annotations

from datetime import timedelta

from django.db import Error
from django.db.models import Q
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from captious.server.models import Submission, WorkerSeen
from captious.version import __version__

__all__ = ["healthz"]

#: A worker that was not heard from for so long is gone. Within a submission, its lease counts.
_SILENCE = timedelta(seconds=20)


@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 and "ok" if submissions can be taken and scored; otherwise 503 and what is wrong."""
    try:
        now = timezone.now()
        status = Submission.Status
        lost = Q(status=status.RUNNING, lease_until__lt=now)  # which waits for another worker
        queued = Submission.objects.filter(Q(status=status.QUEUED) | lost)
        oldest = queued.order_by("created").values_list("created", flat=True).first()
        running = Submission.objects.filter(status=status.RUNNING, lease_until__gte=now).count()
        workers = WorkerSeen.objects.filter(seen__gte=now - _SILENCE).count()
        is_alive = bool(workers or running)
        return JsonResponse(
            {
                "status": "ok" if is_alive else "no worker",
                "database": "ok",
                "workers": workers,
                "running": running,
                "queued": queued.count(),
                "oldest_queued_seconds": round((now - oldest).total_seconds()) if oldest else 0,
                "version": __version__,
            },
            status=200 if is_alive else 503,
        )
    except Error:
        return JsonResponse({"status": "no database", "database": "failed"}, status=503)
