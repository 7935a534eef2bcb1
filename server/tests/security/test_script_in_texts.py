"""Script in every text of organizers and teams: titles, Markdown, ids of images, references, captions, names."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from captious_server.models import Challenge, Membership, Phase, Scores, Submission, Team, User
from server.tests.security.pages import Page, crawl, is_html
from server.tests.security.test_hostile_text import SCRIPTS
from server.tests.security.world import write_challenge, write_references
from server.tests.support.site import Site
from tests.support.selection import slow_but


class TestScript:
    @pytest.fixture
    def site_of_scripts(self, site: Site, tmp_path: Path) -> Site:
        """A challenge, users, teams and submissions whose every text is script."""
        script = SCRIPTS[1]
        olga = site.user("olga")
        toml = f"""
            title = {json.dumps(SCRIPTS[0])}
            summary = {json.dumps(script)}
            organizers = ["olga"]
            image_url = "https://images.example.org/{{id}}.jpg?'\\"><script>alert(1)</script>"
            metrics = ["rouge-l"]
            [[texts]]
            title = {json.dumps(script)}
            file = "overview.md"
            [[captions]]
            public = true
            [[references]]
            name = "c5"
            file = "val.json"
            [[phases]]
            name = "main"
            title = {json.dumps(SCRIPTS[2])}
            [[baselines]]
            method = {json.dumps(script)}
            file = "base.json"
            description = {json.dumps(script)}
            link = "https://example.org/\\"onmouseover=alert(1)"
            """
        folder = write_challenge(tmp_path / "marked")
        (folder / "challenge.toml").write_text(toml, encoding="utf-8")
        markdown = [
            *SCRIPTS,
            "[a](javascript:alert(1))",
            "![a](javascript:alert(1))",
            "<a href='java\tscript:alert(1)'>x</a>",
        ]
        markdown += [
            "[a](data:text/html,<script>alert(1)</script>)",
            "<style>*{}</style>",
            '<p style="x" onclick="y">z</p>',
        ]
        (folder / "overview.md").write_text("\n\n".join(markdown))
        images = [*SCRIPTS, "javascript:alert(1)", "../..", "a/b?c#d", "%2e%2e%2f", "\u202ex"]
        write_references(folder / "val.json", {image: [script, "the cat"] for image in images})
        rows = [{"image_id": image, "caption": script} for image in images]
        (folder / "base.json").write_text(json.dumps(rows))
        site.load(folder)
        for name in ("ann", "bob"):
            site.user(name)
        ann = olga.__class__.objects.get(username="ann")
        form = site.form(
            ann, json.dumps(rows).encode(), method=script, description=script, filename=f"{SCRIPTS[0]}.json"
        )
        response = site.client(ann).post("/challenges/marked/submit", form)
        assert response.status_code == 302, response.content.decode()
        site.work()
        for team in Team.objects.all():
            Team.objects.filter(pk=team.pk).update(name=f"{script} {team.pk}")
        team = Team.objects.get(memberships__user=ann)
        Membership.objects.get_or_create(team=team, user=olga)
        site.token(ann)
        ann.tokens.update(name=script, prefix="<script>")
        assert Submission.objects.filter(status="done").count() == 2
        readers = ("public", "organizers", "team", "others")
        Scores.objects.update(set_warnings={"c2": {reader: [script] for reader in readers}})
        Submission.objects.filter(is_baseline=False).update(
            link='https://example.org/"onmouseover="alert(1)', traceback=script, reason=script
        )
        assert str(Challenge.objects.get()) == SCRIPTS[0]
        assert str(Phase.objects.get()) == SCRIPTS[2]
        return site

    @pytest.mark.parametrize("name", slow_but("ann", ("", "ann", "olga")))
    def test_no_page_runs_script(self, site_of_scripts: Site, name: str) -> None:
        user = User.objects.filter(username=name).first()
        seen = 0

        class Roles:
            def as_user(self, _: str) -> Any:
                return site_of_scripts.client(user)

        starts = [
            "/",
            "/challenges/marked/captions?order=image",
            "/challenges/marked/compare?a=1&b=2",
            "/submissions/2/",
        ]
        for address, response, _ in crawl(Roles(), "", *starts):  # type: ignore[arg-type]
            if is_html(response):
                page = Page(response.content.decode())
                assert page.dangers == [], address
                seen += "alert(1)" in page.text
            assert response.status_code < 500, address
        assert seen > 8

    def test_failed_submissions_and_form_errors_run_no_script(self, site_of_scripts: Site) -> None:
        Submission.objects.update(status="failed")
        for name in ("ann", "olga"):
            client = site_of_scripts.client(User.objects.get(username=name))
            for submission in Submission.objects.all():
                assert Page(client.get(submission.url).content.decode()).dangers == []
        ann = User.objects.get(username="ann")
        form = site_of_scripts.form(
            ann, b"[]", method="", link=SCRIPTS[1], description=SCRIPTS[2], filename=f"{SCRIPTS[0]}.json"
        )
        for changes in ({}, {"phase": SCRIPTS[1]}, {"team": SCRIPTS[1]}, {"method": SCRIPTS[1], "link": ""}):
            page = site_of_scripts.client(ann).post("/challenges/marked/submit", {**form, **changes})
            assert page.status_code == 422
            assert Page(page.content.decode()).dangers == []
        for address in ("/sign-up", "/sign-in"):
            page = site_of_scripts.client().post(
                address,
                {"username": SCRIPTS[1], "login": SCRIPTS[1], "email": SCRIPTS[1], "password": "x", "next": SCRIPTS[1]},
            )
            assert Page(page.content.decode()).dangers == []
        page = site_of_scripts.client(User.objects.get(username="olga")).post(
            "/challenges/marked/manage", {"action": "participants", "names": SCRIPTS[1]}
        )
        assert page.status_code == 422
        assert Page(page.content.decode()).dangers == []

    def test_csv_captions_are_not_formulas(self, site_of_scripts: Site) -> None:
        submission = Submission.objects.get(is_baseline=False)
        file = submission.folder / "captions" / "captions.json"
        rows = json.loads(file.read_text())
        file.write_text(json.dumps([{**row, "caption": "=HYPERLINK(1)"} for row in rows]))
        answer = site_of_scripts.client().get(f"{submission.url}scores/captions/c5.csv")
        cells = [*csv.DictReader(io.StringIO(answer.getvalue().decode()))]
        assert {row["caption"] for row in cells} == {"'=HYPERLINK(1)"}
        assert [row["image_id"] for row in cells] == [row["image_id"] for row in rows]
