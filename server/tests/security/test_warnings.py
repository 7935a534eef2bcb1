"""Which warnings are shown to whom: only operators can run the commands that some of them recommend."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from captious.parsing.sources import approximate
from captious.resources.grammar import VERSION
from captious_server.boards.query import without_commands
from captious_server.models import User
from server.tests.support.site import Site
from server.tests.support.small_challenge import REFERENCES, write_folder


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
def test_commands_are_removed_from_warnings(site: Site, warning: str, shown: str) -> None:
    assert without_commands(warning) == shown


def test_organizers_read_warnings_that_others_do_not(site: Site) -> None:
    [warning] = approximate(VERSION)
    site.demo()
    ann = site.user()
    root = User.objects.create_superuser("root", password="x")
    site.submit(ann)
    site.work()
    [submission] = site.submissions()
    submission.all_scores.update(set_warnings={"c4": {"public": [warning, "Run captious get."]}})
    for user, reads in ((None, False), (ann, False), (root, True)):
        text = site.client(user).get(submission.url).content.decode()
        assert "approximate grammar" in text
        assert ("captious resources get" in text) is reads
        headers = {} if user is None else {"Authorization": f"Bearer {site.token(user)}"}
        answer = site.client().get(f"/api/v1/submissions/{submission.pk}", headers=headers).json()["warnings"]
        assert answer == ([warning, "Run captious get."] if reads else [warning.partition(" For official")[0]])


@pytest.mark.parametrize("public", [False, True])
def test_warnings_do_not_count_private_references(site: Site, tmp_path: Path, public: bool) -> None:
    """The number of captions that match their references, and which, would be an oracle."""
    folder = write_folder(tmp_path / "small")
    toml = folder / "challenge.toml"
    captions = f'[[captions]]\nname = "captions"\npublic = {str(public).lower()}\n'
    toml.write_text(f'organizers = ["olga"]\n{toml.read_text()}{captions}')
    ann, olga = site.user(), site.user("olga")
    site.load(folder)
    rows = [{"image_id": image, "caption": texts[0]} for image, texts in REFERENCES.items()]
    site.submit(ann, rows, challenge="small", method="copies")
    site.submit(ann, [{**row, "caption": "# A cat #"} for row in rows], challenge="small", method="marks")
    site.work()
    copies, marks = site.submissions()

    def read(user: Any, submission: Any) -> str:
        text = unescape(site.client(user).get(submission.url).content.decode())
        return "".join(re.findall(r'<div class="note">.*?</div>', text, re.S))

    for user in (None, ann, olga):
        shown = read(user, copies)
        assert ("3 of 3 candidates repeat a reference" in shown) is public, user
        assert ("Some candidates repeat a reference" in shown) is (user == olga and not public), user
        assert ("image_id" in shown) is public, user
        assert "3 of 3 candidates hold Markdown" in read(user, marks), user
        assert "remove it before you submit." in read(user, marks), user
        assert "clean" not in read(user, marks), user
        assert ("image_id" in read(user, marks)) is (public or user is not None), user
