"""The editor of a draft: its texts, its files and its buttons."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from captious_server.models import Draft
from captious_server.pages import drafts
from server.tests.challenges.drafting import COMMENTED, admin, file, form_of, olga, toml
from server.tests.support.site import Site


class TestDraftEditor:
    def test_publish_button_is_disabled_until_there_are_changes(self, site: Site, commented_folder: Path) -> None:
        """The button saves the draft first; while it is disabled, a reason is given."""
        client = olga(site)
        client.post("/challenges/commented/edit")
        page = client.get("/drafts/commented/")
        off = '<button name="action" value="publish" class="quiet" id="publish" disabled aria-describedby="why-not">'
        assert off in page.content.decode()
        assert "There are no changes since it was published." in page.content.decode()
        assert "There are no changes" in client.get("/drafts/commented/publish").content.decode()
        unchanged = client.post("/drafts/commented/", form_of(page, action="publish"))
        assert unchanged["Location"] == "/drafts/commented/"
        changed, wrong = COMMENTED.replace("One.", "Two."), COMMENTED.replace("bleu-4", "spice")
        answer = client.post("/drafts/commented/", form_of(page, toml=changed, action="publish"))
        assert answer["Location"] == "/drafts/commented/publish"
        assert "<button>Publish</button>" in client.get("/drafts/commented/publish").content.decode()
        page = client.get("/drafts/commented/")
        assert "disabled" not in page.content.decode().partition("</head>")[2]
        answer = client.post(
            "/drafts/commented/",
            form_of(page, toml=wrong, action="publish"),
            follow=True,
        )
        assert answer.redirect_chain == [("/drafts/commented/", 302)]
        assert "Saved. Fix its problems first." in answer.content.decode()

    def test_editor_shows_the_starter_texts(self, site: Site) -> None:
        client = admin(site)
        client.post("/drafts/", {"title": "Mine", "file": file()})
        page = client.get("/drafts/mine/publish").content.decode()
        assert "The text &#x27;Overview&#x27; still has the words of the starter: “Describe what the challenge" in page
        assert "The summary" not in page  # which is empty
        editor = client.get("/drafts/mine/")
        starter = toml(site, "mine").replace('summary = ""', 'summary = "Describe the challenge in one sentence."')
        client.post("/drafts/mine/", form_of(editor, toml=starter, **{"text-overview.md": "Birds."}))
        page = client.get("/drafts/mine/publish").content.decode()
        assert "The summary still has the words of the starter" in page
        assert "The text" not in page
        birds = starter.replace("Describe the challenge in one sentence.", "Captions of birds.")
        client.post("/drafts/mine/", form_of(client.get("/drafts/mine/"), toml=birds))
        assert "words of the starter" not in client.get("/drafts/mine/publish").content.decode()

    def test_editor_saves_a_summary_of_a_new_draft(self, site: Site) -> None:
        client = admin(site)
        client.post("/drafts/", {"title": "Mine", "summary": "Captions of birds.", "file": file()})
        assert 'summary = "Captions of birds."' in toml(site, "mine")

    def test_editor_lists_the_files(self, site: Site, commented_folder: Path) -> None:
        client = olga(site)
        client.post("/challenges/commented/edit")
        page = client.get("/drafts/commented/").content.decode()
        for name in ("challenge.toml", "pages/overview.md", "c2.json"):
            assert f"<li><code>{name}</code>" in page

    def test_comments_of_the_starter_are_in_the_editor(self, site: Site) -> None:
        client = admin(site)
        client.post("/drafts/", {"title": "Mine", "file": file()})
        assert "# decimal places of the scores that are shown" in toml(site, "mine")

    def test_two_clicks_begin_one_draft(
        self, site: Site, commented_folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The second request waits for the first, and then finds its draft."""
        client, lock = olga(site), drafts._draft_lock

        @contextmanager
        def lock_after_another_click(slug: str) -> Iterator[None]:
            monkeypatch.setattr(drafts, "_draft_lock", lock)
            olga(site).post("/challenges/commented/edit")
            [draft] = Draft.objects.all()
            (draft.folder / "edited").touch()
            with lock(slug):
                yield

        monkeypatch.setattr(drafts, "_draft_lock", lock_after_another_click)
        assert client.post("/challenges/commented/edit")["Location"] == "/drafts/commented/"
        [draft] = Draft.objects.all()
        assert (draft.folder / "edited").exists()
