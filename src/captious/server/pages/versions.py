"""The organizers' page about versions of scores: before and after, by submission."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from captious.server.boards.leaderboard_query import query_from
from captious.server.boards.version_comparison import MAX_RANKED, compare_versions, outputs_of, rows_of, signatures_of
from captious.server.challenges.changes import changes_between
from captious.server.pages.challenges import challenge_page, page_of
from captious.server.people.access import challenge_for, may_manage
from captious.server.request_values import row_id


@login_required
@require_safe
def versions(request: HttpRequest, slug: str) -> HttpResponse:
    """The scores of a phase in two versions."""
    challenge = challenge_for(request.user, slug)
    query = query_from(challenge, request.GET, request.user)
    if query is None or not may_manage(request.user, challenge):
        raise Http404
    comparison = compare_versions(query.phase, *(row_id(request.GET.get(name, "")) for name in ("before", "after")))
    outputs = outputs_of(query, comparison)
    if (output := request.GET.get("sort", "").removeprefix("-")) in outputs:  # the board may no longer have it
        query = replace(query, output=output)
    page = page_of(request, rows_of(query, comparison))
    definition, version_values = challenge.definition, {"before": comparison.before, "after": comparison.after}
    return challenge_page(
        request,
        challenge,
        "versions",
        "manage",
        query=query,
        versions=comparison,
        outputs=outputs,
        chosen=[*version_values.items()],
        n_scored=comparison.n_scored(query.phase.scoring_version),
        most_ranked=MAX_RANKED,
        page=page,
        rows=page.object_list,
        signatures=signatures_of(query, comparison),
        changes=changes_between(query.phase, comparison.before, comparison.after) if comparison.before else [],
        phases=[
            {"title": str(phase), "url": f"?{urlencode({'phase': phase.name})}", "current": phase == query.phase}
            for phase in challenge.phase_list
        ],
        sets=[
            {
                "label": definition.label(references.captions, references.name),
                "url": f"{replace(query, key=key).url('versions')}&{urlencode(version_values)}",
                "current": key == query.key,
            }
            for key, references in query.outputs.sets.items()
        ],
    )
