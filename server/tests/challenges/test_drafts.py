"""Challenges that are made, changed and published in the browser."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

from server.tests.challenges.drafting import COMMENTED, CONTENT, admin, edited, file, form_of, olga, toml
from server.tests.support.site import Site
from server.tests.support.small_challenge import upload


class TestThreeSteps:
    def test_draft_is_created_previewed_and_published(self, site: Site) -> None:
        """Afterwards, teams can submit."""
        from captious_server.models import Challenge, Draft

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
        from captious_server.models import Draft

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
        from django.contrib.auth.models import Permission

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


class TestEditing:
    def test_unchanged_text_is_kept_byte_for_byte(self, site: Site, commented_folder: Path) -> None:
        assert edited(site).status_code == 302
        draft = site.data / "drafts" / "commented"
        assert toml(site) == COMMENTED
        for name in ("pages/overview.md", "c2.json"):
            assert (draft / name).read_bytes() == (commented_folder / name).read_bytes()

    def test_edited_fields_change_only_their_lines(self, site: Site, commented_folder: Path) -> None:
        """Comments are kept."""
        from captious_server.models import Challenge, Draft

        page = edited(
            site,
            **{
                "title": "Renamed",
                "metrics": ["bleu", "rouge-l", "cider-d"],
                "settings": "tokenizer = ptb",
                "max_words": "99",
                "phases-0-closes": "2121-01-01T12:00:00",
                "phases-0-scored_per_day": "3",
                "phases-1-name": "late",
                "phases-1-title": "Late phase",
                "phases-1-opens": "2121-01-01T12:00",
                "texts-0-markdown": "Changed.\r\n",
                "texts-1-title": "Rules & more",
                "texts-1-markdown": "# Rules\r\n",
            },
        )
        assert page.status_code == 302
        assert Draft.objects.get().problems == []
        text = toml(site)
        assert '"Renamed"     # a comment that stays' in text
        assert "[[phases]]              # the only one" in text
        client = olga(site)
        assert b"Late phase" in client.get("/drafts/commented/preview").content
        publishing = client.get("/drafts/commented/publish").content.decode()
        assert "phase &#x27;main&#x27;, scored per day: 0 → 3" in publishing
        assert client.post("/drafts/commented/publish").status_code == 302
        challenge = Challenge.objects.get()
        definition = challenge.definition
        assert (challenge.title, definition.max_words, definition.settings) == ("Renamed", 99, {"tokenizer": "ptb"})
        assert definition.metrics == ("bleu", "rouge-l", "cider-d")
        assert [(phase.name, phase.scored_per_day) for phase in definition.phases] == [("main", 3), ("late", 0)]
        assert definition.phases[0].closes.isoformat() == "2121-01-01T12:00:00+00:00"
        assert [text["title"] for text in challenge.texts] == ["Overview", "Rules & more"]
        assert challenge.texts[0]["html"] == "<p>Changed.</p>\n"

    def test_dates_written_as_text_stay_dates(self, site: Site, commented_folder: Path) -> None:
        text = COMMENTED.replace("2120-12-31T23:59:59Z", '"2120-12-31T23:59:59+02:00"')
        (commented_folder / "challenge.toml").write_text(text)
        site.load(commented_folder)
        edited(site)
        assert toml(site) == text
        page = olga(site).get("/drafts/commented/").content.decode()
        assert 'value="2120-12-31T21:59:59"' in page
        assert "2120-12-31 21:59 UTC" in olga(site).get("/drafts/commented/preview").content.decode()

    def test_rows_are_removed(self, site: Site, commented_folder: Path) -> None:
        edited(site, **{"texts-0-DELETE": "on", "phases-1-name": "late", "phases-1-title": "Late"})
        assert "texts" not in toml(site)
        client = olga(site)
        client.post("/drafts/commented/", form_of(client.get("/drafts/commented/"), **{"phases-0-DELETE": "on"}))
        assert "main" not in toml(site)
        assert "late" in toml(site)

    def test_second_captions_file_is_added(self, site: Site, commented_folder: Path) -> None:
        from captious_server.models import Draft

        edited(
            site,
            **{
                "captions-0-name": "val",
                "captions-0-pattern": "captions_val_*.json",
                "captions-1-name": "test",
                "captions-1-pattern": "captions_test_*.json",
            },
        )
        problems = Draft.objects.get().problems
        assert problems == ["captions[2]: no reference set judges 'test'"]
        client = olga(site)
        sent = {"name": "c5", "captions": "test", "file": file("x.JSON")}
        assert client.post("/drafts/commented/references", sent).status_code == 302
        assert Draft.objects.get().problems == []
        assert (site.data / "drafts" / "commented" / "references" / "test-c5.json").read_bytes() == CONTENT

    def test_captions_file_is_chosen_from_a_list(self, site: Site, commented_folder: Path) -> None:
        """The list appears with the second file; after a renaming, references and phases follow."""
        from captious_server.models import Draft

        def choices(prefix: str) -> set[str]:
            page = olga(site).get("/drafts/commented/").content.decode()
            return {*re.findall(rf'name="{prefix}" value="([^"]+)"', page)}

        edited(site)
        assert choices("phases-0-captions") == choices("phases-1-captions") == set()  # nothing to choose
        two = {"captions-0-name": "val", "captions-0-pattern": "v_*", "captions-1-name": "test"}
        edited(site, **two, **{"captions-1-pattern": "t_*"})
        assert choices("phases-0-captions") == choices("phases-1-captions") == {"val", "test"}
        assert 'captions = "val"' in toml(site)
        assert 'name = "val"' in toml(site)
        assert Draft.objects.get().problems == ["captions[2]: no reference set judges 'test'"]
        assert toml(site).partition("[[phases]]")[2].count("captions =") == 0  # all, as before
        edited(site, **{"phases-0-captions": ["val"]})
        edited(site, **{"captions-0-name": "val2014"})
        assert 'captions = "val2014"' in toml(site)
        assert 'captions = ["val2014"]' in toml(site)
        edited(site, **{"phases-0-captions": []})
        assert toml(site).partition("[[phases]]")[2].count("captions =") == 0
        assert edited(site, **{"phases-0-captions": ["nothing"]}).status_code == 422

    def test_ranking_output_and_terms_are_chosen_from_lists(self, site: Site, commented_folder: Path) -> None:
        page = edited(site, more_metrics="spice:parser=bundled", rank_by="spice:parser=bundled", terms="Overview")
        assert page.status_code == 302  # an output of a metric that is sent with it
        assert 'rank_by = "spice:parser=bundled"' in toml(site)
        assert 'terms = "Overview"' in toml(site)
        refused = edited(site, rank_by="bleu-9")
        assert refused.status_code == 422
        page = refused.content.decode()
        assert '<a href="#id_rank_by">Ranked by</a>: Select a valid choice.' in page
        assert "Nothing was saved" in page

    def test_uploaded_references_replace_the_old_ones(self, site: Site, commented_folder: Path) -> None:
        olga(site).post("/challenges/commented/edit")
        olga(site).post("/drafts/commented/references", {"name": "c2", "file": file("new.json")})
        assert 'file = "references/c2.json"' in toml(site)
        assert toml(site).count("[[references]]") == 1
        before = toml(site)
        answer = olga(site).post("/drafts/commented/references", {"name": "c2", "file": file("mine.json", b"[")})
        assert answer.status_code == 422
        assert re.search(r"The references cannot be read: .*\bmine\.json", html.unescape(answer.content.decode()))
        assert toml(site) == before
        assert json.loads((site.data / "drafts" / "commented" / "references" / "c2.json").read_bytes())
        assert [*(site.data / "incoming").iterdir()] == []

    def test_concurrent_edit_is_refused(self, site: Site, commented_folder: Path) -> None:
        client = olga(site)
        client.post("/challenges/commented/edit")
        form = form_of(client.get("/drafts/commented/"))
        client.post("/drafts/commented/", {**form, "summary": "Two."})
        answer = client.post("/drafts/commented/", {**form, "summary": "Three."})
        assert answer.status_code == 422
        assert b"Somebody else has saved" in answer.content
        assert "Two." in toml(site)

    def test_draft_of_an_older_version_cannot_be_published(self, site: Site, commented_folder: Path) -> None:
        edited(site, summary="Two.")
        (commented_folder / "challenge.toml").write_text(COMMENTED.replace("One.", "Loaded."))
        site.load(commented_folder)
        client = olga(site)
        for page in ("", "preview", "publish"):
            assert b"has been loaded since" in client.get(f"/drafts/commented/{page}").content
        assert client.post("/drafts/commented/publish").status_code == 409
        client.post("/drafts/commented/discard", {"sure": "1"})
        client.post("/challenges/commented/edit")
        assert "Loaded." in toml(site)

    def test_leaderboard_setting_equal_to_that_of_the_site_is_no_change(
        self, site: Site, commented_folder: Path
    ) -> None:
        from captious_server.models import Phase

        Phase.objects.update(board="hidden")
        edited(site, summary="Two.")
        changes = olga(site).get("/drafts/commented/publish").context["changes"]
        assert changes.folder == ["summary: One. → Two."]
        edited(site, **{"phases-0-board": "public"})
        changes = olga(site).get("/drafts/commented/publish").context["changes"]
        assert changes.folder == ["summary: One. → Two."]
        assert changes.overrides == ["phase main: the leaderboard stays hidden; challenge.toml says public"]

    def test_settings_of_the_site_are_undone_only_on_confirmation(self, site: Site, commented_folder: Path) -> None:
        from captious_server.models import Phase

        client = olga(site)
        edited(site, **{"phases-0-board": "hidden"})
        client.post("/drafts/commented/publish", {"agree": "on"})
        client.post("/challenges/commented/manage", {"action": "board", "phase": "main", "board": "public"})
        edited(site, summary="Two.")
        assert 'board = "public"' in toml(site)  # a draft begins with what the site has
        client.post(
            "/challenges/commented/manage", {"action": "board", "phase": "main", "board": "hidden", "sure": "1"}
        )
        for agree, board in (("", "hidden"), ("on", "public")):
            client.post("/drafts/commented/publish", {"agree": agree})
            assert Phase.objects.get().board == board

    def test_markdown_preview_is_sanitized(self, site: Site, commented_folder: Path) -> None:
        olga(site).post("/challenges/commented/edit")
        text = "# Head\n<script>alert(1)</script>\n[x](javascript:alert(1))"
        shown = olga(site).post("/drafts/commented/markdown", {"markdown": text}).content.decode()
        assert "<h3>Head</h3>" in shown
        assert "script" not in shown.replace("[x](javascript:alert(1))", "")
