"""How much processor time a submission may take."""

from __future__ import annotations

import pytest

from captious.metrics.contract.selection import select
from captious.metrics.contract.settings import Settings
from captious_server.scoring.results import cpu_limit
from server.tests.support.site import Site


@pytest.mark.parametrize(
    ("metrics", "n_words", "seconds"),
    [
        (["bleu", "rouge-l"], 0, 60),
        (["bleu", "rouge-l"], 1_000_000, 60 + 2 * 50),
        (["hwcm"], 1_000_000, 60 + 500),
        (["hwcm", "bleu"], 400_000, 60 + 0.4 * 550),
    ],
)
def test_cpu_limit_grows_with_words_and_metrics(site: Site, metrics: list[str], n_words: int, seconds: float) -> None:
    assert cpu_limit(select(metrics, Settings()), n_words) == pytest.approx(seconds)


def test_settings_change_the_cpu_limit(site: Site) -> None:
    site.configure(scoring_cpu_seconds=10, scoring_cpu_seconds_per_million_words=1000)
    assert cpu_limit(select(["hwcm"], Settings()), 500_000) == pytest.approx(10 + 500)
