"""The editor of a draft: what can be ticked and written, and how rows are called."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from server.tests.challenges.drafting import admin, file, form_of, olga, toml
from server.tests.support.site import Site


def test_every_challenge_field_is_in_one_group(site: Site) -> None:
    from captious_server.pages.draft_forms import DraftForm

    form = DraftForm(initial={"metrics": [], "rank_by": "", "terms": "", "texts": []})
    shown = [field.name for group in form.groups for field in group["fields"]]
    assert sorted(shown) == sorted(form.fields)


class TestDraftEditor:
    def test_editor_ticks_plain_metrics_and_lists_others_as_text(self, site: Site, commented_folder: Path) -> None:
        """Metrics with parameters are written as text. Order and comments are kept."""
        client = olga(site)
        client.post("/challenges/commented/edit")
        page = client.get("/drafts/commented/")
        form = page.context["form"]
        assert form["metrics"].value() == ["bleu", "rouge-l"]
        names = [name for name, _ in form.fields["metrics"].choices]
        assert names[:5] == ["bleu", "meteor", "rouge-l", "cider-d", "spice"] or "meteor" not in names
        assert not {"judge-clair", "div", "pope"} & {*names}
        for name in names:
            form.fields["metrics"].clean([name])
        values = form_of(page, metrics=["cider-d", "rouge-l"], more_metrics="rouge-l\nspice:parser=bundled")
        client.post("/drafts/commented/", values)
        assert 'metrics = ["rouge-l", "cider-d", "spice:parser=bundled"]' in toml(site)
        again = client.get("/drafts/commented/").context["form"]
        assert again["more_metrics"].value() == "spice:parser=bundled"
        refused = client.post("/drafts/commented/", form_of(page, metrics=[], more_metrics=""))
        assert b"Choose at least one metric." in refused.content

    def test_editor_names_metrics_that_are_not_installed(
        self, site: Site, commented_folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from captious.metrics.meteor import Meteor
        from captious.metrics.spice import Spice
        from captious.metrics.spider import Spider

        for metric in (Meteor, Spice, Spider):
            monkeypatch.setattr(metric, "missing", classmethod(lambda cls: None))
        client = olga(site)
        client.post("/challenges/commented/edit")
        assert "not installed on this server" not in client.get("/drafts/commented/").content.decode()
        monkeypatch.setattr(Meteor, "missing", classmethod(lambda cls: "pip install captious[meteor]"))
        page = client.get("/drafts/commented/").content.decode()
        assert "meteor: not installed on this server; install them with pip install captious[meteor]." in page

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
        answer = client.post("/drafts/commented/", form_of(page, summary="Two.", action="publish"))
        assert answer["Location"] == "/drafts/commented/publish"
        assert "<button>Publish</button>" in client.get("/drafts/commented/publish").content.decode()
        page = client.get("/drafts/commented/")
        assert "disabled" not in page.content.decode().partition("</head>")[2]
        answer = client.post("/drafts/commented/", form_of(page, rank_by="spice", action="publish"), follow=True)
        assert answer.redirect_chain == [("/drafts/commented/", 302)]
        assert "Saved. Fix its problems first." in answer.content.decode()

    def test_editor_shows_the_starter_texts(self, site: Site) -> None:
        client = admin(site)
        client.post("/drafts/", {"title": "Mine", "file": file()})
        page = client.get("/drafts/mine/publish").content.decode()
        assert "The text &#x27;Overview&#x27; still has the words of the starter: “Describe what the challenge" in page
        assert "The summary" not in page  # which is empty
        texts = {"texts-0-markdown": "Birds.", "summary": "Describe the challenge in one sentence."}
        client.post("/drafts/mine/", form_of(client.get("/drafts/mine/"), **texts))
        page = client.get("/drafts/mine/publish").content.decode()
        assert "The summary still has the words of the starter" in page
        assert "The text" not in page
        client.post("/drafts/mine/", form_of(client.get("/drafts/mine/"), summary="Captions of birds."))
        assert "words of the starter" not in client.get("/drafts/mine/publish").content.decode()

    def test_editor_saves_a_summary_of_a_new_draft(self, site: Site) -> None:
        client = admin(site)
        client.post("/drafts/", {"title": "Mine", "summary": "Captions of birds.", "file": file()})
        assert 'summary = "Captions of birds."' in toml(site, "mine")

    def test_editor_rows_have_their_names_as_headings(self, site: Site, commented_folder: Path) -> None:
        client = olga(site)
        client.post("/challenges/commented/edit")
        page = client.get("/drafts/commented/").content.decode()
        assert "<summary>Overview</summary>" in page
        assert "<details open" not in page
        assert page.count("None yet.") == 2  # downloads and baselines

    def test_two_clicks_begin_one_draft(
        self, site: Site, commented_folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The second request waits for the first, and then finds its draft."""
        from captious_server.models import Draft
        from captious_server.pages import drafts

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
