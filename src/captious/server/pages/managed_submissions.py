"""Submissions on the organizers' page: their number, and the selection by a filter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from captious.server.models import Challenge, Phase, Submission

_Status = Submission.Status


@dataclass(frozen=True)
class Summary:
    """A challenge at a glance. Baselines are not counted.

    Attributes:
        open: the phases that take submissions now.
        upcoming: the next phase that opens, if none is open.
        today: submissions since midnight, in the server's time zone.
        total: all submissions but deleted ones.
        waiting: those that are queued or being scored.
        failed: those that could not be scored.
    """

    open: list[Phase]
    upcoming: Phase | None
    today: int
    total: int
    waiting: int
    failed: int


def summary_of(challenge: Challenge) -> Summary:
    """The summary of a challenge, with one query."""
    phases = challenge.phase_list
    open_phases = [phase for phase in phases if phase.state == "open"]
    upcoming = sorted((phase for phase in phases if phase.state == "upcoming"), key=lambda phase: phase.opens)
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    counts = Submission.objects.filter(phase__challenge=challenge, is_baseline=False).aggregate(
        today=Count("pk", filter=Q(created__gte=midnight)),
        total=Count("pk", filter=~Q(status=_Status.DELETED)),
        waiting=Count("pk", filter=Q(status__in=[_Status.QUEUED, _Status.RUNNING])),
        failed=Count("pk", filter=Q(status=_Status.FAILED)),
    )
    return Summary(open=open_phases, upcoming=upcoming[0] if upcoming and not open_phases else None, **counts)


class SubmissionFilter(forms.Form):
    """A selection of the submissions of a challenge, sent with GET so that addresses can be kept."""

    team = forms.CharField(required=False, max_length=80)
    phase = forms.ModelChoiceField(Phase.objects.none(), required=False, to_field_name="name", empty_label="all")
    status = forms.ChoiceField(required=False, choices=[("", "all"), *_Status.choices])

    def __init__(self, data: Any, challenge: Challenge) -> None:
        super().__init__(data, auto_id="filter-%s")
        phases: Any = self.fields["phase"]
        phases.queryset = Phase.objects.filter(challenge=challenge).select_related("challenge")
        self._challenge = challenge

    @property
    def is_used(self) -> bool:
        """Whether something is left out."""
        return self.is_valid() and any(self.cleaned_data.values())

    def rows(self) -> QuerySet[Submission]:
        """The submissions, the latest first: all of them if the filter is invalid."""
        rows = Submission.objects.filter(phase__challenge=self._challenge)
        if self.is_used:
            values = self.cleaned_data
            conditions = {"team__name__icontains": values["team"], "phase": values["phase"], "status": values["status"]}
            rows = rows.filter(**{name: value for name, value in conditions.items() if value})
        rows = rows.select_related("phase__challenge", "team", "user", "shown_scores")
        return rows.prefetch_related("phase__challenge__organizers")  # for ``may_manage``
