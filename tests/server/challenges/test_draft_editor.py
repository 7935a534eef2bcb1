"""The editor of a draft: what can be ticked and written, and how rows are called."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("django")
pytest.importorskip("tomlkit")

from tests.server.challenges.drafting import admin, file, form_of, olga, toml
from tests.support.site import Site


def test_every_field_of_a_challenge_is_in_one_group(site: Site) -> None:
    from captious.server.pages.draft_forms import DraftForm

    form = DraftForm(initial={"metrics": [], "rank_by": "", "terms": "", "texts": []})
    shown = [field.name for group in form.groups for field in group["fields"]]
    assert sorted(shown) == sorted(form.fields)


class TestTheEditor:
    def test_metrics_are_ticked_or_written(self, site: Site, commented: Path) -> None:
        """What can run as it is, is ticked; what needs parameters is written. Order and comments stay."""
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

    def test_what_is_not_installed_is_said(self, site: Site, commented: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
        assert "meteor: not installed on this server; pip install captious[meteor] installs what is missing." in page

    def test_publishing_begins_in_the_editor(self, site: Site, commented: Path) -> None:
        """The button saves; it is off, with a reason, while there is nothing to publish."""
        client = olga(site)
        client.post("/challenges/commented/edit")
        page = client.get("/drafts/commented/")
        off = '<button name="action" value="publish" class="quiet" id="publish" disabled aria-describedby="why-not">'
        assert off in page.content.decode()
        assert "Nothing has changed since it was published." in page.content.decode()
        assert "Nothing has changed" in client.get("/drafts/commented/publish").content.decode()
        unchanged = client.post("/drafts/commented/", form_of(page, action="publish"))
        assert unchanged["Location"] == "/drafts/commented/"
        answer = client.post("/drafts/commented/", form_of(page, summary="Two.", action="publish"))
        assert answer["Location"] == "/drafts/commented/publish"
        assert "<button>Publish</button>" in client.get("/drafts/commented/publish").content.decode()
        page = client.get("/drafts/commented/")
        assert "disabled" not in page.content.decode().partition("</head>")[2]
        answer = client.post("/drafts/commented/", form_of(page, rank_by="spice", action="publish"), follow=True)
        assert answer.redirect_chain == [("/drafts/commented/", 302)]
        assert "Saved. Its problems have to be solved first." in answer.content.decode()

    def test_the_words_of_the_starter_are_seen(self, site: Site) -> None:
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

    def test_a_summary_can_be_given_at_once(self, site: Site) -> None:
        client = admin(site)
        client.post("/drafts/", {"title": "Mine", "summary": "Captions of birds.", "file": file()})
        assert 'summary = "Captions of birds."' in toml(site, "mine")

    def test_rows_are_called_by_their_names(self, site: Site, commented: Path) -> None:
        client = olga(site)
        client.post("/challenges/commented/edit")
        page = client.get("/drafts/commented/").content.decode()
        assert "<summary>Overview</summary>" in page
        assert "<details open" not in page
        assert page.count("None yet.") == 2  # downloads and baselines
