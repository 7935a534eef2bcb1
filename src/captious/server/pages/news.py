"""News of a challenge: on its overview, and as an Atom feed."""

from __future__ import annotations

from datetime import UTC

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.views.decorators.http import require_safe

from captious.server.challenges.news import news_of
from captious.server.people.access import challenge_for


@require_safe
def feed(request: HttpRequest, slug: str) -> HttpResponse:
    """The news as an Atom feed, for everybody who sees the challenge."""
    challenge = challenge_for(request.user, slug)
    page = request.build_absolute_uri(challenge.url)
    address = request.build_absolute_uri(reverse("captious:news", args=[slug]))
    atom = Atom1Feed(challenge.title, page, challenge.summary, feed_url=address, feed_guid=page)
    for item in news_of(challenge):
        row = item["row"]
        time = row.created.astimezone(UTC)
        link = f"{page}#{item['anchor']}"
        atom.add_item(row.title, link, item["html"], unique_id=link, pubdate=time, updateddate=time)
    return HttpResponse(atom.writeString("utf-8"), atom.content_type)
