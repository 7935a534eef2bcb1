"""The entry of each team: the best one, or the one that it has chosen, and what others may learn of that."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from captious_server.models import AuditEvent, Phase, Standing, Submission, User
from server.tests.support.site import Site, parsed
from server.tests.support.small_challenge import CANDIDATES, write_folder

WORSE = dict.fromkeys(CANDIDATES, "a dog in the park with two men")


@pytest.fixture
def small_site(site: Site, tmp_path: Path) -> Site:
    """The challenge "small", in which Ann has two named submissions, and Bob one."""
    return made(site, tmp_path)


def made(site: Site, place: Path, limits: str = "", **values: Any) -> Site:
    site.load(write_folder(place / "small", limits=limits))
    ann, bob = site.user("ann"), site.user("bob")
    send(site, ann, "worse", WORSE, **values)
    send(site, ann, "better", CANDIDATES, **values)
    send(site, bob, "other", WORSE)
    site.work()
    return site


def send(site: Site, user: Any, method: str, captions: dict[int, str], **values: Any) -> Any:
    rows = [{"image_id": image, "caption": f"{caption} {image}"} for image, caption in captions.items()]
    response = site.submit(user, rows, challenge="small", method=method, **values)
    site.work()
    return response


def shown(site: Site, user: Any = None, **query: str) -> set[str]:
    response = site.client(user).get("/challenges/small/leaderboard.json", query)
    return {row["method"] for row in parsed(response)} if response.status_code == 200 else set()


def of(method: str) -> Any:
    return Submission.objects.get(method=method)


def choose(site: Site, method: str, chosen: str = "1", user: str = "ann") -> Any:
    return site.client(User.objects.get(username=user)).post(f"/submissions/{of(method).pk}/choose", {"chosen": chosen})


class TestChoice:
    def test_best_submission_is_the_entry_until_one_is_chosen(self, small_site: Site) -> None:
        assert shown(small_site) == {"better", "other"}
        assert choose(small_site, "worse").status_code == 302
        assert shown(small_site) == {"worse", "other"}
        assert shown(small_site, all="1") == {"worse", "better", "other"}
        choose(small_site, "better")
        assert shown(small_site) == {"better", "other"}
        choose(small_site, "worse")
        choose(small_site, "worse", "0")
        assert shown(small_site) == {"better", "other"}

    def test_entry_is_the_same_in_every_column(self, small_site: Site) -> None:
        """The entry is the best in the ranking output, whatever the leaderboard is sorted by."""
        assert {tuple(sorted(row.submissions)) for row in Standing.objects.filter(everything=False)} == {
            (of("better").pk, of("other").pk)
        }

    def test_other_submissions_link_to_the_chosen_one(self, small_site: Site) -> None:
        """They do so even while scores are withheld."""
        choose(small_site, "worse")
        ann = small_site.client(User.objects.get(username="ann"))
        for scores_shown in ("at-once", "never"):
            Phase.objects.update(scores_shown=scores_shown)
            page = ann.get(of("better").url).content.decode()
            assert f'which has chosen <a href="{of("worse").url}">worse</a>' in page
            assert "unless the team chooses one" not in page
            assert "which has chosen" not in small_site.client().get(of("better").url).content.decode()

    def test_chosen_entry_that_leaves_the_leaderboard_is_replaced(self, small_site: Site) -> None:
        choose(small_site, "worse")
        ann = small_site.client(User.objects.get(username="ann"))
        ann.post(f"{of('worse').url}edit", {"method": "worse"})  # private
        assert shown(small_site) == {"better", "other"}
        ann.post(f"{of('worse').url}edit", {"method": "worse", "public": "on"})
        assert shown(small_site) == {"worse", "other"}
        ann.post(f"{of('worse').url}delete")
        assert shown(small_site) == {"better", "other"}
        assert not of("worse").is_chosen

    def test_entry_is_chosen_only_while_the_phase_is_open(self, small_site: Site) -> None:
        choose(small_site, "worse")
        Phase.objects.update(closes=timezone.now() - timedelta(hours=1))
        for method, chosen in (("better", "1"), ("worse", "0")):
            choose(small_site, method, chosen)
            assert shown(small_site) == {"worse", "other"}
        User.objects.filter(username="bob").update(is_superuser=True)
        choose(small_site, "better", user="bob")  # organizers may correct it
        assert shown(small_site) == {"better", "other"}

    def test_team_cannot_change_its_entry_after_the_phase(self, small_site: Site) -> None:
        """Not by hiding or deleting it, nor by showing one that was private; organizers can."""
        Submission.objects.filter(method="worse").update(public=False)
        Phase.objects.update(closes=timezone.now() - timedelta(hours=1))
        ann = small_site.client(User.objects.get(username="ann"))

        def edit(method: str, **values: str) -> None:
            ann.post(f"{of(method).url}edit", {"method": method, **values})

        for values in ({}, {"public": "on", "anonymous": "on"}):
            edit("better", **values)
        edit("worse", public="on")
        ann.post(f"{of('better').url}delete")
        Submission.objects.filter(method="worse").update(public=True)
        assert shown(small_site, all="1") == {"worse", "better", "other"}
        assert (of("better").public, of("better").anonymous) == (True, False)
        for scores_shown in ("never", "at-once"):  # without scores, nothing reveals the entry
            Phase.objects.update(scores_shown=scores_shown)
            ann.post(f"{of('worse').url}delete")
            assert (of("worse").status == "deleted") == (scores_shown == "at-once")
        edit("better", public="on", description="with a beam")
        assert of("better").description == "with a beam"
        User.objects.filter(username="ann").update(is_superuser=True)
        edit("better")
        assert not of("better").public
        assert AuditEvent.objects.filter(action="edit").first().detail == "description, public: yes → no"
        ann.post(f"{of('better').url}delete")
        assert of("better").status == "deleted"

    def test_private_and_anonymous_submissions_cannot_be_chosen(self, small_site: Site) -> None:
        for values in ({"public": False}, {"anonymous": True}, {"status": "failed"}):
            rows = type(of("worse")).objects.filter(method="worse")
            before = {name: getattr(of("worse"), name) for name in values}
            rows.update(**values)
            choose(small_site, "worse")
            assert not of("worse").is_chosen
            rows.update(**before)

    def test_api_chooses_the_entry(self, small_site: Site) -> None:
        users = {name: User.objects.get(username=name) for name in ("ann", "bob")}
        headers = {name: {"Authorization": f"Bearer {small_site.token(user)}"} for name, user in users.items()}
        address = f"/api/v1/submissions/{of('worse').pk}"
        answer = small_site.client().generic("POST", f"{address}/choose", headers=headers["ann"]).json()
        assert (answer["chosen"], answer["entry"]) == (True, True)
        seen = small_site.client().get(address, headers=headers["bob"]).json()
        assert (seen["chosen"], seen["entry"]) == (False, True)  # others see the board, not how it came about
        answer = small_site.client().generic("POST", f"{address}/choose?chosen=0", headers=headers["ann"]).json()
        assert (answer["chosen"], answer["entry"]) == (False, False)

    def test_pages_mark_the_final_entry(self, small_site: Site) -> None:
        ann = small_site.client(User.objects.get(username="ann"))
        assert b"final entry" in ann.get(of("worse").url).content
        assert b"final entry" not in small_site.client().get(of("worse").url).content
        choose(small_site, "worse")
        assert b"Let the best submission count" in ann.get(of("worse").url).content
        assert b"chosen entry" in ann.get("/challenges/small/submissions").content


class TestOneEntry:
    """Phases with ``entries = "one"``."""

    @pytest.fixture
    def one_entry_site(self, site: Site, tmp_path: Path) -> Site:
        return made(site, tmp_path, 'entries = "one"')

    def test_others_see_only_the_entry(self, one_entry_site: Site) -> None:
        assert shown(one_entry_site) == shown(one_entry_site, all="1") == {"better", "other"}
        bob = one_entry_site.client(User.objects.get(username="bob"))
        ann = one_entry_site.client(User.objects.get(username="ann"))
        for method, status in (("worse", 404), ("better", 200)):
            assert bob.get(of(method).url).status_code == status
            assert ann.get(of(method).url).status_code == 200
        page = bob.get(f"/challenges/small/compare?a={of('worse').pk}&b={of('other').pk}").content
        assert b"worse" not in page
        assert b"all submissions" not in bob.get("/challenges/small/leaderboard").content

    def test_team_is_either_anonymous_or_named(self, one_entry_site: Site) -> None:
        """Otherwise a named row that goes when an anonymous one comes would reveal the anonymous team."""
        ann = User.objects.get(username="ann")
        assert send(one_entry_site, ann, "nameless", CANDIDATES, anonymous="on").status_code == 422
        one_entry_site.client(ann).post(
            f"{of('worse').url}edit", {"method": "worse", "public": "on", "anonymous": "on"}
        )
        assert of("better").anonymous
        assert send(one_entry_site, ann, "named", CANDIDATES).status_code == 422
        assert send(one_entry_site, ann, "nameless", CANDIDATES, anonymous="on").status_code == 302
        rows = parsed(one_entry_site.client().get("/challenges/small/leaderboard.json"))
        assert [row["team"] for row in rows].count("Anonymous") == 1
        choose(one_entry_site, "worse")
        assert shown(one_entry_site) == {"worse", "other"}

    def test_earlier_mix_of_named_and_anonymous_shows_one_of_each(self, site: Site, tmp_path: Path) -> None:
        made(site, tmp_path, anonymous="on")

        send(site, User.objects.get(username="ann"), "named", CANDIDATES)
        assert shown(site) == {"worse", "better", "named", "other"}
        site.load(write_folder(tmp_path / "small", limits='entries = "one"'))
        assert shown(site) == {"better", "named", "other"}


def test_best_submission_is_not_revealed_while_scores_are_withheld(site: Site, tmp_path: Path) -> None:
    made(site, tmp_path, 'entries = "one"\nscores_shown = "never"')
    assert of("better").is_entry
    ann = User.objects.get(username="ann")
    header = {"Authorization": f"Bearer {site.token(ann)}"}
    pages = ("/challenges/small/submissions", of("better").url, of("worse").url, f"{of('better').url}delete")
    texts = {method: [] for method in ("better", "worse")}
    for method in texts:
        answer = site.client().get(f"/api/v1/submissions/{of(method).pk}", headers=header).json()
        assert (answer["entry"], answer["chosen"]) == (False, False)
        for page in (of(method).url, f"{of(method).url}delete"):
            text = site.client(ann).get(page).content.decode()
            texts[method].append(text.count("entry"))
            assert "It disappears from the leaderboard" not in text
    assert texts["better"] == texts["worse"]
    assert ">entry<" not in site.client(ann).get(pages[0]).content.decode()
    assert choose(site, "worse").status_code == 302
    assert of("worse").is_entry
