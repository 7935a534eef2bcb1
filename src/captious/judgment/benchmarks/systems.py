"""Systems that people ranked or rated: COCO 2015 (captions), CoNLL-14 (grammar correction) and WMT16 (translation)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from captious.judgment import DataFolder, RankedSystem
from captious.metrics.contract.registry import TOOLKIT_NAMES

# COCO 2015: the systems of the COCO captioning challenge, with human rankings and leaderboard scores.
#
# Scores are those of the judged entry, identified by its submission date, as teams submitted later entries that were
# not judged. They are those with 40 references, or with 5 (c5). The leaderboard has an entry of human captions, too,
# which some papers count as a system.


def read_coco_2015(folder: DataFolder, name: str) -> list[RankedSystem]:
    """Read ``{team: record}``; the measures of a team are facts."""
    return [RankedSystem(team, record) for team, record in folder.json(name).items()]


def leaderboard_scores(system: RankedSystem, leaderboard: str) -> dict[str, float | None]:
    """Return the scores of the judged entry on a leaderboard, c5 or c40; empty if it has none."""
    for date, _, scores in system.facts[f"cap_{leaderboard}"]:
        if date == system.facts["date"]:
            return {metric: scores.get(key) for metric, key in TOOLKIT_NAMES.items()} if scores else {}
    return {}


def has_no_scores(system: RankedSystem, leaderboard: str, names: Sequence[str]) -> bool:
    """Return whether the judged entry has no scores, or the system one of these names."""
    return system.name in names or not leaderboard_scores(system, leaderboard)


# CoNLL-14: grammar correction systems with human rankings. Grundkiewicz et al. 2015.
#
# Metrics are computed on the corrected sentences alone.


def read_conll14_gec(folder: DataFolder, name: str) -> list[RankedSystem]:
    """Read ``{"outputs": {system: [sentence]}, "expected_wins": {system: number}}``."""
    content = folder.json(name)
    return [RankedSystem(system, content, outputs) for system, outputs in content["outputs"].items()]


def no_scores(system: RankedSystem) -> dict[str, float]:
    """Return no published scores."""
    return {}


def expected_wins(system: RankedSystem) -> Any:
    """Return the human measure."""
    return system.facts["expected_wins"][system.name]


# WMT16, direct assessment of segments: machine translations into English, with one rating each.
#
# Bojar et al. 2016 correlate with Pearson's r, Sharif et al. 2019 with Kendall's tau. The two differ for metrics that
# are probabilities: most are near 0 or 1, so r reflects two groups, and tau the order within them.
