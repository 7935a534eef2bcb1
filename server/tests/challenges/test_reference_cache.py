"""References that are kept ready."""

from __future__ import annotations

from captious.metrics.contract.selection import select
from captious.metrics.contract.settings import Settings
from captious_server.challenges import references
from server.tests.support.site import Site


def test_references_are_prepared_once_per_metric(site: Site) -> None:
    """Pages that explain scores need the state for each candidate."""
    challenge = site.demo()
    reference_set = challenge.definition.references[0]
    [entry] = select(["cider"], Settings())
    first = references.state(challenge, reference_set, entry.metric)
    assert first == entry.metric.fit(references.references(challenge, reference_set))
    assert references.state(challenge, reference_set, entry.metric) is first
