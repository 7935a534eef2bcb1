"""Which warnings are shown to whom: only operators can run the commands that some of them recommend."""

from __future__ import annotations

import pytest

from captious.parsing.parsed_captions import approximate
from captious.resources.grammar import VERSION
from tests.support.site import Site


@pytest.mark.parametrize(
    ("warning", "shown"),
    [
        ("The scores are odd.", "The scores are odd."),
        ("The scores are odd (.002). For others, run: captious get x --from Y.", "The scores are odd (.002)."),
        ("Odd. Very odd! Run captious get. Then score again.", "Odd. Very odd!"),
        ("Run captious get x.", ""),
        ("", ""),
    ],
)
def test_without_commands(site: Site, warning: str, shown: str) -> None:
    from captious.server.people.access import without_commands

    assert without_commands(warning) == shown


def test_organizers_read_what_others_do_not(site: Site) -> None:
    from captious.server.models import User

    [warning] = approximate(VERSION)
    site.demo()
    ann = site.user()
    root = User.objects.create_superuser("root", password="x")
    site.submit(ann)
    site.work()
    [submission] = site.submissions()
    submission.all_scores.update(set_warnings={"c4": [warning, "Run captious get."]})
    for user, reads in ((None, False), (ann, False), (root, True)):
        text = site.client(user).get(submission.url).content.decode()
        assert "approximate grammar" in text
        assert ("captious resources get" in text) is reads
        headers = {} if user is None else {"Authorization": f"Bearer {site.token(user)}"}
        answer = site.client().get(f"/api/v1/submissions/{submission.pk}", headers=headers).json()["warnings"]
        assert answer == ([warning, "Run captious get."] if reads else [warning.partition(" For official")[0]])
