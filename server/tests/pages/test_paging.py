"""Lists of submissions come in pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from captious_server.models import Submission
from captious_server.people.teams import personal_team
from server.tests.support.site import Site
from server.tests.support.small_challenge import queue, write_folder


@pytest.fixture
def ann(site: Site, tmp_path: Path) -> Any:
    """An administrator with 105 submissions, of which the oldest is called "oldest"."""
    site.load(write_folder(tmp_path / "small"))
    ann = site.user(is_superuser=True)
    values = {"user": ann, "team": personal_team(ann), "status": "done"}
    [oldest] = queue(method="oldest", **values)
    Submission.objects.bulk_create(
        Submission(
            **values,
            phase=oldest.phase,
            method=f"newer {n}",
            folder_name=f"folder {n}",
            size=1,
            created=oldest.created,
            filename="x",
        )
        for n in range(104)
    )
    return ann


@pytest.mark.parametrize(
    ("address", "link"),
    [("/challenges/small/submissions", '"?page=2"'), ("/challenges/small/manage", '"?page=2#submissions"')],
)
def test_list_has_a_hundred_submissions_per_page(site: Site, ann: Any, address: str, link: str) -> None:
    first, second, beyond = (
        site.client(ann).get(address, {"page": page}).content.decode() for page in ("1", "2", "999")
    )
    assert (first.count(">newer "), second.count(">newer ")) == (100, 4)
    assert link in first
    assert "Page 1 of 2" in first
    assert ">oldest<" in second
    assert ">oldest<" not in first
    assert ">oldest<" in beyond


def test_action_of_an_organizer_returns_to_the_same_page(site: Site, ann: Any) -> None:
    oldest = Submission.objects.get(method="oldest")
    address = "/challenges/small/manage?page=2"
    answer = site.client(ann).post(address, {"action": "hide", "submission": oldest.pk, "sure": "1"})
    assert (answer.status_code, answer["Location"]) == (302, address)
    assert Submission.objects.get(method="oldest").is_hidden


def test_api_returns_a_hundred_submissions_per_page(site: Site, ann: Any) -> None:
    headers = {"Authorization": f"Bearer {site.token(ann)}"}

    def page(number: str) -> Any:
        return site.client().get("/api/v1/challenges/small/submissions", {"page": number}, headers=headers)

    assert [len(page(number).json()) for number in ("1", "2", "3")] == [100, 5, 0]
    assert page("2").json()[-1]["method"] == "oldest"
    assert [page(number).status_code for number in ("0", "-1", "x", "1" * 30)] == [400] * 4
