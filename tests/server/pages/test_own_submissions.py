"""The form of a submission, and the list of a team's submissions."""

from __future__ import annotations

import pytest

pytest.importorskip("django")

from tests.support.site import Site, example


def test_a_check_needs_no_method(site: Site) -> None:
    site.demo()
    ann = site.user("ann")
    checked = site.submit(ann, action="check", method="")
    assert checked.status_code == 200
    assert "No problems found." in checked.content.decode()
    refused = site.submit(ann, method="")
    assert refused.status_code == 422
    assert "This field is required." in refused.content.decode()
    assert site.submissions() == []


def test_the_final_entry_is_chosen_in_the_list(site: Site) -> None:
    site.demo()
    ann = site.user("ann")
    site.submit(ann, method="Better")
    site.submit(ann, example("baseline"), method="Worse")
    site.work()
    better, worse = site.submissions()
    client, address = site.client(ann), "/challenges/demo/submissions"
    assert client.get(address).content.decode().count("Make final<") == 2 * 2  # once for phones
    chosen = client.post(f"{worse.url}choose", {"chosen": "1", "back": "list"})
    assert chosen["Location"] == address
    page = client.get(address).content.decode()
    assert "Worse is now the final entry of ann." in page
    assert "Let the best count" in page
    assert [row.is_entry for row in site.submissions()] == [False, True]
    assert client.post(f"{better.url}choose", {"chosen": "1"})["Location"] == better.url


def test_the_axes_of_a_page_follow_the_board(site: Site) -> None:
    """They are kept until the board changes, also when a submission is hidden."""
    from captious.server.boards.standings import board_changed
    from captious.server.boards.submission_place import place_of, query_of
    from captious.server.models import Submission

    site.demo()
    site.work()

    def ends() -> tuple[float, float]:
        submission = Submission.objects.select_related("phase__challenge").get(method="Human captions")
        query = query_of(submission)
        assert query is not None
        return place_of(site.client().request().wsgi_request.user, submission, query, own=False).scales["c4"]["cider-d"]

    before = ends()
    assert ends() == before
    Submission.objects.filter(method="Improved").update(is_hidden=True)
    board_changed(Submission.objects.get(method="Improved").phase_id)
    assert ends()[1] < before[1]


@pytest.mark.parametrize(("shown", "said"), [("at-once", ""), ("at-end", "not shown yet"), ("never", "not shown")])
def test_a_withheld_score_is_no_dash(site: Site, shown: str, said: str) -> None:
    from captious.server.models import Phase

    site.demo()
    ann = site.user("ann")
    site.submit(ann, method="Mine")
    Phase.objects.update(scores_shown=shown)
    address = "/challenges/demo/submissions"
    assert "not shown" not in site.client(ann).get(address).content.decode()  # it is not scored yet
    site.work()
    page = site.client(ann).get(address).content.decode()
    assert (f'<span class="quiet">{said}</span>' in page) is bool(said)
    phone = page.partition('<div class="beneath phone-only">')[2].partition("</div>")[0]
    assert "On the board: " in phone and "Make final" in phone
