"""Challenges that are made, changed and published in the browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission

from captious_server.models import Challenge, Draft, Phase
from server.tests.challenges.drafting import COMMENTED, admin, edited, file, form_of, olga, toml
from server.tests.support.site import Site
from server.tests.support.small_challenge import upload


class TestThreeSteps:
    def test_draft_is_created_previewed_and_published(self, site: Site) -> None:
        """Afterwards, teams can submit."""
        client = admin(site)
        assert client.get("/drafts/").status_code == 200
        made = client.post("/drafts/", {"title": "My Scenes", "file": file()})
        assert made["Location"] == "/drafts/my-scenes/"
        assert b"problem" not in client.get("/drafts/my-scenes/preview").content.partition(b"</head>")[2]
        published = client.post("/drafts/my-scenes/publish")
        assert published["Location"] == "/challenges/my-scenes/"
        challenge = Challenge.objects.get(slug="my-scenes")
        assert challenge.title == "My Scenes"
        assert challenge.is_open
        assert not Draft.objects.exists()
        assert not (site.data / "drafts" / "my-scenes").exists()
        ann = site.user("ann")
        assert site.submit(ann, json.loads(upload()), challenge="my-scenes").status_code == 302
        site.work()
        assert site.submissions()[0].status == "done"

    def test_unreadable_references_are_refused(self, site: Site) -> None:
        answer = admin(site).post("/drafts/", {"title": "Mine", "file": file(content=b"{")})
        assert answer.status_code == 422
        assert b"The references cannot be read" in answer.content
        assert not Draft.objects.exists()
        assert [path.name for path in (site.data / "drafts").glob("[!.]*")] == []
        assert [*(site.data / "incoming").iterdir()] == []

    def test_taken_and_invalid_slugs_are_refused(self, site: Site, commented_folder: Path) -> None:
        client = admin(site)
        for title, slug in (("Commented", ""), ("Other", "commented"), ("???", ""), ("Other", "A B")):
            answer = client.post("/drafts/", {"title": title, "slug": slug, "file": file()})
            assert answer.status_code == 422, (title, slug)

    def test_draft_creation_needs_permission(self, site: Site) -> None:
        ann = site.user("ann")
        assert site.client(ann).get("/drafts/").status_code == 404
        assert b"New challenge" not in site.client(ann).get("/").content
        ann.user_permissions.add(Permission.objects.get(codename="add_challenge"))
        client = site.client(ann)
        assert b"New challenge" in client.get("/").content
        client.post("/drafts/", {"title": "Mine", "file": file()})
        assert client.get("/drafts/mine/").status_code == 200
        assert site.client(site.user("bob")).get("/drafts/mine/").status_code == 404
        assert 'organizers = ["ann"]' in toml(site, "mine")

    def test_two_references_make_a_public_and_a_private_phase(self, site: Site) -> None:
        client = admin(site)
        private = file("test.json", json.dumps({"8": ["a bus"], "9": ["a car"]}).encode())
        client.post("/drafts/", {"title": "Two", "file": file("val.json"), "private": private})
        assert client.post("/drafts/two/publish").status_code == 302
        challenge = Challenge.objects.get()
        assert [(phase.name, phase.captions, phase.board) for phase in challenge.definition.phases] == [
            ("public", ("public",), "public"),
            ("private", ("private",), "hidden"),
        ]
        assert challenge.is_public("public")
        assert not challenge.is_public("private")


TITLE, SUMMARY = ('"Commented" ', '"Renamed" '), ('"One."', '"Two."')
PHASES = "\n[[phases]]              # the only one"


class TestEditing:
    def test_unchanged_text_is_kept_byte_for_byte(self, site: Site, commented_folder: Path) -> None:
        assert edited(site).status_code == 302
        draft = site.data / "drafts" / "commented"
        assert toml(site) == COMMENTED
        for name in ("pages/overview.md", "c2.json"):
            assert (draft / name).read_bytes() == (commented_folder / name).read_bytes()

    def test_edited_texts_are_published(self, site: Site, commented_folder: Path) -> None:
        late = '\n[[phases]]\nname = "late"\ntitle = "Late phase"\nopens = 2121-01-01T12:00:00Z\n'
        rules = '[[texts]]\ntitle = "Rules & more"\nfile = "rules.md"\n\n[[references]]'
        page = edited(
            site,
            TITLE,
            ("2120-12-31T23:59:59Z\n", f"2121-01-01T12:00:00Z\nscored_per_day = 3\n{late}"),
            ("[[references]]", rules),
            **{"text-pages/overview.md": "Changed.\r\n"},
        )
        assert page.status_code == 302
        [problem] = Draft.objects.get().problems
        assert "rules.md" in problem
        edited(site, **{"text-rules.md": "# Rules\r\n"})  # there is a field for it now
        assert Draft.objects.get().problems == []
        client = olga(site)
        assert b"Late phase" in client.get("/drafts/commented/preview").content
        publishing = client.get("/drafts/commented/publish").content.decode()
        assert "phase &#x27;main&#x27;, scored per day: 0 → 3" in publishing
        assert client.post("/drafts/commented/publish").status_code == 302
        challenge = Challenge.objects.get()
        assert challenge.title == "Renamed"
        assert [(phase.name, phase.scored_per_day) for phase in challenge.definition.phases] == [
            ("main", 3),
            ("late", 0),
        ]
        assert [text["title"] for text in challenge.texts] == ["Overview", "Rules & more"]
        assert challenge.texts[0]["html"] == "<p>Changed.</p>\n"
        assert "# a comment that stays" in (site.data / "challenges/commented/2/challenge.toml").read_text()

    def test_dates_written_as_text_are_in_the_preview(self, site: Site, commented_folder: Path) -> None:
        edited(site, ("2120-12-31T23:59:59Z", '"2120-12-31T23:59:59+02:00"'))
        assert "2120-12-31 21:59 UTC" in olga(site).get("/drafts/commented/preview").content.decode()

    @pytest.mark.parametrize(
        ("text", "line"), [("title = \n", 1), ("a = 1\nb = [1,\n", 3), ("a = 1\na = 2\n", 2), ("[" * 5000, 0)]
    )
    def test_text_that_is_no_toml_is_refused_with_its_line(
        self, site: Site, commented_folder: Path, text: str, line: int
    ) -> None:
        answer = self.send(site, text)
        assert answer.status_code == 422
        assert answer.context["form"]["toml"].value() == text
        assert "This is not TOML" in answer.content.decode()
        assert not line or f"line {line}" in answer.content.decode() or "end of document" in answer.content.decode()
        assert toml(site) == COMMENTED

    def send(self, site: Site, text: str) -> Any:
        client = olga(site)
        client.post("/challenges/commented/edit")
        return client.post("/drafts/commented/", form_of(client.get("/drafts/commented/"), toml=text))

    @pytest.mark.parametrize(
        "text",
        [
            "x = 1\n",
            "title = 3\nsummary = []\nmetrics = 1\nsettings = 2\ntexts = 4\nphases = [1]\nlogo = 5\norganizers = 6\n",
            '[[texts]]\nfile = 3\n[[phases]]\nname = []\ncloses = "x"\n[[captions]]\n',
            '[[references]]\nfile = "\\u0000"\n[[texts]]\nfile = "\\u0000"\n',
            'title = "x"\nteams_close = 3\ncitation = {}\nterms = 1\nrank_by = 1\n[settings]\nlanguage = []\n',
        ],
    )
    def test_wrong_types_are_problems_on_every_page(self, site: Site, commented_folder: Path, text: str) -> None:
        assert self.send(site, text).status_code == 302
        assert Draft.objects.get().problems
        for page in ("", "preview", "publish"):
            assert olga(site).get(f"/drafts/commented/{page}").status_code == 200
        assert olga(site).post("/drafts/commented/publish").status_code == 409

    def test_slug_stays(self, site: Site, commented_folder: Path) -> None:
        """A draft cannot replace another challenge."""
        refused = edited(site, ('title = "C', 'slug = "other"\ntitle = "C'))
        assert refused.status_code == 422
        assert "Line 2: the slug stays &#x27;commented&#x27;." in refused.content.decode()
        assert toml(site) == COMMENTED

    def test_second_captions_file_is_added(self, site: Site, commented_folder: Path) -> None:
        captions = "".join(f'[[captions]]\nname = "{name}"\npattern = "{name}_*"\n\n' for name in ("val", "test"))
        edited(site, ("[[references]]\n", f'{captions}[[references]]\ncaptions = "val"\n'))
        assert Draft.objects.get().problems == ["captions[2]: no reference set judges 'test'"]
        client = olga(site)
        assert client.post("/drafts/commented/files", {"kind": "references", "file": file("x.JSON")}).status_code == 302
        row = '[[references]]\ncaptions = "test"\nname = "c5"\nfile = "references/x.json"\n\n[[phases]]'
        edited(site, ("[[phases]]", row))
        assert Draft.objects.get().problems == []

    def test_concurrent_edit_is_refused(self, site: Site, commented_folder: Path) -> None:
        client = olga(site)
        client.post("/challenges/commented/edit")
        form = form_of(client.get("/drafts/commented/"))
        client.post("/drafts/commented/", {**form, "toml": form["toml"].replace("One.", "Two.")})
        answer = client.post("/drafts/commented/", {**form, "toml": form["toml"].replace("One.", "Three.")})
        assert answer.status_code == 422
        assert b"Somebody else has saved" in answer.content
        assert "Two." in toml(site)

    def test_draft_of_an_older_version_cannot_be_published(self, site: Site, commented_folder: Path) -> None:
        edited(site, SUMMARY)
        (commented_folder / "challenge.toml").write_text(COMMENTED.replace("One.", "Loaded."))
        site.load(commented_folder)
        client = olga(site)
        for page in ("", "preview", "publish"):
            assert b"has been loaded since" in client.get(f"/drafts/commented/{page}").content
        assert client.post("/drafts/commented/publish").status_code == 409
        client.post("/drafts/commented/discard", {"sure": "1"})
        client.post("/challenges/commented/edit")
        assert "Loaded." in toml(site)

    def test_settings_of_the_site_are_undone_only_on_confirmation(self, site: Site, commented_folder: Path) -> None:
        client = olga(site)
        edited(site, (PHASES, f'{PHASES}\nboard = "hidden"'))
        client.post("/drafts/commented/publish", {"agree": "on"})
        client.post("/challenges/commented/manage", {"action": "board", "phase": "main", "board": "public"})
        edited(site, SUMMARY)
        assert 'board = "public"' in toml(site)  # a draft begins with what the site has
        client.post(
            "/challenges/commented/manage", {"action": "board", "phase": "main", "board": "hidden", "sure": "1"}
        )
        for agree, board in (("", "hidden"), ("on", "public")):
            client.post("/drafts/commented/publish", {"agree": agree})
            assert Phase.objects.get().board == board
