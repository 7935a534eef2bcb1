"""Challenges that are made, changed and published in the browser, and folders that the site writes."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("django")
pytest.importorskip("tomlkit")

from tests.support.site import Site
from tests.support.small_challenge import REFERENCES, upload, write_folder

CONTENT = json.dumps({str(image): texts for image, texts in REFERENCES.items()}).encode()
COMMENTED = """# About this challenge.
title = "Commented"     # a comment that stays
summary = "One."
organizers = ["olga"]
metrics = ["bleu",
           "rouge-l"]
rank_by = "bleu-4"

[[texts]]
title = "Overview"
file = "pages/overview.md"

[[references]]
name = "c2"
file = "c2.json"

[[phases]]              # the only one
name = "main"
closes = 2120-12-31T23:59:59Z
"""


@pytest.fixture
def commented(site: Site, tmp_path: Path) -> Path:
    """A challenge folder, loaded, whose organizer is Olga."""
    site.user("olga")
    folder = tmp_path / "commented"
    (folder / "pages").mkdir(parents=True)
    (folder / "challenge.toml").write_text(COMMENTED)
    (folder / "pages" / "overview.md").write_text("\nA *first* text.\r\nAnd more.\n", newline="")
    write_folder(tmp_path / "small")
    (tmp_path / "small" / "c2.json").rename(folder / "c2.json")
    site.load(folder)
    return folder


def admin(site: Site) -> Any:
    from captious.server.models import User

    return site.client(User.objects.create_superuser("root"))


def file(name: str = "references.json", content: bytes = CONTENT) -> Any:
    from django.core.files.uploadedfile import SimpleUploadedFile

    return SimpleUploadedFile(name, content)


def form_of(page: Any, **changes: Any) -> dict[str, Any]:
    """What the form of the editor would send, with some changes."""
    context = page.context
    values = {}
    for form in (context["form"], *(row for part in context["parts"] for row in part["rows"].forms)):
        for field in form:
            value = field.value()
            if field.widget_type == "datetimelocal" or hasattr(value, "isoformat"):
                value = value.isoformat() if value else ""
            if value is False or value is None:
                continue
            values[field.html_name] = "on" if value is True else value
    for part in context["parts"]:
        for field in part["rows"].management_form:
            values[field.html_name] = field.value()
    return {**values, **changes}


def olga(site: Site) -> Any:
    from captious.server.models import User

    return site.client(User.objects.get(username="olga"))


def edited(site: Site, **changes: Any) -> Any:
    client = olga(site)
    client.post("/challenges/commented/edit")
    return client.post("/drafts/commented/", form_of(client.get("/drafts/commented/"), **changes))


def toml(site: Site, slug: str = "commented") -> str:
    return (site.data / "drafts" / slug / "challenge.toml").read_text()


class TestThreeSteps:
    def test_from_nothing_to_an_open_challenge(self, site: Site) -> None:
        """Create, look at it, publish: then teams can submit."""
        from captious.server.models import Challenge, Draft

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

    def test_references_that_cannot_be_read(self, site: Site) -> None:
        from captious.server.models import Draft

        answer = admin(site).post("/drafts/", {"title": "Mine", "file": file(content=b"{")})
        assert answer.status_code == 422
        assert b"The references cannot be read" in answer.content
        assert not Draft.objects.exists()
        assert [path.name for path in (site.data / "drafts").glob("[!.]*")] == []
        assert [*(site.data / "incoming").iterdir()] == []

    def test_names_that_are_taken(self, site: Site, commented: Path) -> None:
        client = admin(site)
        for title, slug in (("Commented", ""), ("Other", "commented"), ("???", ""), ("Other", "A B")):
            answer = client.post("/drafts/", {"title": title, "slug": slug, "file": file()})
            assert answer.status_code == 422, (title, slug)

    def test_who_may_create(self, site: Site) -> None:
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
    def test_what_is_not_changed_stays_byte_for_byte(self, site: Site, commented: Path) -> None:
        assert edited(site).status_code == 302
        draft = site.data / "drafts" / "commented"
        assert toml(site) == COMMENTED
        for name in ("pages/overview.md", "c2.json"):
            assert (draft / name).read_bytes() == (commented / name).read_bytes()

    def test_changes(self, site: Site, commented: Path) -> None:
        """Each changes its own line; comments stay."""
        from captious.server.models import Challenge, Draft

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

    def test_dates_as_text_are_dates(self, site: Site, commented: Path) -> None:
        text = COMMENTED.replace("2120-12-31T23:59:59Z", '"2120-12-31T23:59:59+02:00"')
        (commented / "challenge.toml").write_text(text)
        site.load(commented)
        edited(site)
        assert toml(site) == text
        page = olga(site).get("/drafts/commented/").content.decode()
        assert 'value="2120-12-31T21:59:59"' in page
        assert "2120-12-31 21:59 UTC" in olga(site).get("/drafts/commented/preview").content.decode()

    def test_rows_can_be_removed(self, site: Site, commented: Path) -> None:
        edited(site, **{"texts-0-DELETE": "on", "phases-1-name": "late", "phases-1-title": "Late"})
        assert "texts" not in toml(site)
        client = olga(site)
        client.post("/drafts/commented/", form_of(client.get("/drafts/commented/"), **{"phases-0-DELETE": "on"}))
        assert "main" not in toml(site)
        assert "late" in toml(site)

    def test_a_second_captions_file(self, site: Site, commented: Path) -> None:
        from captious.server.models import Draft

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

    def test_what_others_name_is_chosen(self, site: Site, commented: Path) -> None:
        """Captions files, once there are several; they keep their users when they get another name."""
        from captious.server.models import Draft

        def choices(prefix: str) -> set[str]:
            page = olga(site).get("/drafts/commented/").content.decode()
            return {*re.findall(rf'name="{prefix}" value="([^"]+)"', page)}

        edited(site)
        assert choices("phases-0-captions") == choices("phases-1-captions") == set()  # nothing to choose
        two = {"captions-0-name": "val", "captions-0-pattern": "v_*", "captions-1-name": "test"}
        edited(site, **two, **{"captions-1-pattern": "t_*"})
        assert choices("phases-0-captions") == choices("phases-1-captions") == {"val", "test"}
        assert 'captions = "val"' in toml(site) and 'name = "val"' in toml(
            site
        )  # of the references, which judged the only one
        assert Draft.objects.get().problems == ["captions[2]: no reference set judges 'test'"]
        assert toml(site).partition("[[phases]]")[2].count("captions =") == 0  # all, as before
        edited(site, **{"phases-0-captions": ["val"]})
        edited(site, **{"captions-0-name": "val2014"})
        assert 'captions = "val2014"' in toml(site) and 'captions = ["val2014"]' in toml(site)
        edited(site, **{"phases-0-captions": []})
        assert toml(site).partition("[[phases]]")[2].count("captions =") == 0
        assert edited(site, **{"phases-0-captions": ["nothing"]}).status_code == 422

    def test_outputs_and_terms_are_chosen(self, site: Site, commented: Path) -> None:
        page = edited(site, more_metrics="spice:parser=bundled", rank_by="spice:parser=bundled", terms="Overview")
        assert page.status_code == 302  # an output of a metric that is sent with it
        assert 'rank_by = "spice:parser=bundled"' in toml(site) and 'terms = "Overview"' in toml(site)
        refused = edited(site, rank_by="bleu-9")
        assert refused.status_code == 422
        page = refused.content.decode()
        assert '<a href="#id_rank_by">Ranked by</a>: Select a valid choice.' in page
        assert "Nothing was saved" in page

    def test_problems_are_told_in_words_of_the_form(self, site: Site, commented: Path) -> None:
        """Beside their fields, which links at the top lead to."""
        two = {"captions-0-pattern": "v_*", "captions-1-name": "test", "captions-1-pattern": "v_*"}
        late = {"phases-0-opens": "2121-01-01T12:00:00", "settings": "tokenizer = nothing", "rank_by": "spice"}
        again = {"phases-1-name": "main", "phases-1-title": "Again"}
        edited(site, **two, **late, **again, more_metrics="nonsense", image_url="x")
        assert 'name = "captions"' in toml(site)  # which needs a name beside another one
        page = olga(site).get("/drafts/commented/").content.decode()
        head = page.partition("to solve before")[2].partition("</section>")[0]
        found = {target: text for target, text in re.findall(r'<a href="#([^"]+)">([^<]+)</a>', head)}
        assert found["id_phases-0-closes"] == "Phase “main”, Closes"
        assert found["id_phases-1-name"] == "Phase “Again”, Name"
        assert found["id_captions-1-pattern"] == "Captions file “test”, Pattern"
        assert found["captions-2"] == "Captions file “test”"
        assert {found["id_more_metrics"], found["id_image_url"]} == {"Metrics with parameters", "Address of images"}
        assert "is also the name of phase “main”" in head
        assert not re.search(r"[a-z]\[\d+\]", head)
        for target in found:
            assert f'id="{target}"' in page, target
        described = 'aria-invalid="true" aria-describedby="id_phases-0-closes_problems id_phases-0-closes_helptext"'
        assert described in page and 'id="id_phases-0-closes_problems"' in page
        opened = re.findall(r'<details id="([^"]+)" open>', page)
        assert opened == ["phases-1", "phases-2", "captions-2"]
        preview = olga(site).get("/drafts/commented/publish").content.decode()
        assert 'href="/drafts/commented/#id_phases-0-closes">Phase “main”, Closes</a>' in preview

    def test_problems_are_those_of_the_command(self, site: Site, commented: Path) -> None:
        from captious.server.challenges.folder import check_folder
        from captious.server.challenges.problems import ChallengeError
        from captious.server.models import Draft

        edited(site, metrics=["bleu"], more_metrics="nonsense", rank_by="spice")
        with pytest.raises(ChallengeError) as caught:
            check_folder(site.data / "drafts" / "commented")
        assert Draft.objects.get().problems == caught.value.problems
        client = olga(site)
        assert b"to solve before it can be published" in client.get("/drafts/commented/").content
        assert client.post("/drafts/commented/publish").status_code == 409

    def test_references_are_replaced(self, site: Site, commented: Path) -> None:
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

    def test_warnings_call_rows_as_the_form_does(self, site: Site, commented: Path) -> None:
        olga(site).post("/challenges/commented/edit")
        one = json.dumps({str(image): texts[:1] for image, texts in REFERENCES.items()}).encode()
        olga(site).post("/drafts/commented/references", {"name": "c2", "file": file(content=one)})
        for page in ("", "preview", "publish"):
            shown = olga(site).get(f"/drafts/commented/{page}").content.decode()
            assert "<p>Reference set “c2”: every image has only one reference; are these the references?</p>" in shown

    def test_references_that_went_bad(self, site: Site, commented: Path) -> None:
        client = olga(site)
        client.post("/challenges/commented/edit")
        (site.data / "drafts" / "commented" / "c2.json").write_text("[")
        client.post("/drafts/commented/", form_of(client.get("/drafts/commented/")))
        page = client.get("/drafts/commented/").content.decode()
        assert '<a href="#references-1">Reference set “c2”</a>: ' in page
        assert '<details id="references-1" open>' in page

    def test_somebody_else_has_saved(self, site: Site, commented: Path) -> None:
        client = olga(site)
        client.post("/challenges/commented/edit")
        form = form_of(client.get("/drafts/commented/"))
        client.post("/drafts/commented/", {**form, "summary": "Two."})
        answer = client.post("/drafts/commented/", {**form, "summary": "Three."})
        assert answer.status_code == 422
        assert b"Somebody else has saved" in answer.content
        assert "Two." in toml(site)

    def test_a_draft_of_an_older_version(self, site: Site, commented: Path) -> None:
        edited(site, summary="Two.")
        (commented / "challenge.toml").write_text(COMMENTED.replace("One.", "Loaded."))
        site.load(commented)
        client = olga(site)
        for page in ("", "preview", "publish"):
            assert b"has been loaded since" in client.get(f"/drafts/commented/{page}").content
        assert client.post("/drafts/commented/publish").status_code == 409
        client.post("/drafts/commented/discard", {"sure": "1"})
        client.post("/challenges/commented/edit")
        assert "Loaded." in toml(site)

    def test_a_board_that_the_site_has_already_is_no_change(self, site: Site, commented: Path) -> None:
        from captious.server.models import Phase

        Phase.objects.update(board="hidden")
        edited(site, summary="Two.")
        changes = olga(site).get("/drafts/commented/publish").context["changes"]
        assert changes.folder == ["summary: One. → Two."]
        edited(site, **{"phases-0-board": "public"})
        changes = olga(site).get("/drafts/commented/publish").context["changes"]
        assert changes.folder == ["summary: One. → Two."]
        assert changes.kept == ["phase main: the leaderboard stays hidden; challenge.toml says public"]

    def test_what_was_set_on_the_site_is_undone_only_if_somebody_agrees(self, site: Site, commented: Path) -> None:
        from captious.server.models import Phase

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

    def test_markdown_is_sanitised(self, site: Site, commented: Path) -> None:
        olga(site).post("/challenges/commented/edit")
        text = "# Head\n<script>alert(1)</script>\n[x](javascript:alert(1))"
        shown = olga(site).post("/drafts/commented/markdown", {"markdown": text}).content.decode()
        assert "<h3>Head</h3>" in shown
        assert "script" not in shown.replace("[x](javascript:alert(1))", "")


class TestFilesOfTheServer:
    @pytest.mark.parametrize(
        "changes",
        [
            {"settings": "idf = /etc/passwd"},
            {"settings": "vectors = ../../../secret"},
            {"settings": "model = ~/models/x"},
            {"more_metrics": "bleu\nwmd:vectors=/srv/vectors.bin"},
            {"settings": "training = pyproject.toml"},
            {"more_metrics": "bleu\nhwcm-2:parser=spacy:/etc/model"},
            {"more_metrics": "bleu\nbertscore-f:model=somebody/model"},
            {"settings": "model = somebody/model"},
        ],
    )
    def test_cannot_be_named(
        self, site: Site, commented: Path, changes: dict[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from captious.server.models import Draft
        from captious.server.pages import drafts

        edited(site)  # what is checked before these are there is not of interest
        monkeypatch.setattr(drafts, "check_for_server", lambda *_: pytest.fail("they were read"))
        edited(site, **changes)
        [problem] = Draft.objects.get().problems
        assert "is a file of the server or a model, which only its operator can name" in problem

    def test_those_that_the_operator_named_stay(self, site: Site, commented: Path, tmp_path: Path) -> None:
        from captious.server.challenges.draft_folder import outside_problems

        text = COMMENTED.replace("[[texts]]", '[settings]\nmodel = "/srv/model"\n\n[[texts]]', 1)
        (commented / "challenge.toml").write_text(text)
        assert outside_problems(commented, {}) != []
        assert outside_problems(commented, {"settings": {"model": "/srv/model"}}) == []

    def test_names_of_uploads_lead_nowhere_else(self) -> None:
        from captious.server.challenges.draft_folder import reference_file

        assert reference_file("c5", "", "../../x.json.gz") == "references/c5.json.gz"
        assert reference_file("c5", "val", "/etc/.JSONL") == "references/val-c5.jsonl"
        assert reference_file("c5", "", "x") == "references/c5"


class TestPrivateReferences:
    """Organizers need not know the references that the operator of the server has loaded."""

    def test_cannot_be_given_to_metrics(self, site: Site, commented: Path) -> None:
        from captious.server.models import Challenge, Draft

        [row] = Challenge.objects.get().definition.references
        edited(site, more_metrics=f"bleu\nnovel-2:training={row.file}")
        assert "these references are private; metrics may not have them as a file" in Draft.objects.get().problems[0]

    def test_cannot_be_made_public(self, site: Site, commented: Path) -> None:
        from captious.server.models import Challenge, Draft

        edited(site, **{"captions-0-public": "on"})
        problem = "references[1]: these references are private; only the operator of the server can publish them"
        assert Draft.objects.get().problems == [problem]
        assert olga(site).post("/drafts/commented/publish").status_code == 409
        assert not Challenge.objects.get().is_public("captions")

    def test_nor_under_the_name_of_another_captions_file(self, site: Site, commented: Path) -> None:
        from captious.server.models import Draft

        edited(site, **{"captions-0-name": "other", "captions-0-public": "on", "references-0-captions": "other"})
        assert "these references are private" in Draft.objects.get().problems[0]

    def test_own_references_can(self, site: Site, commented: Path) -> None:
        from captious.server.models import Draft

        edited(site, **{"captions-0-public": "on"})
        olga(site).post("/drafts/commented/references", {"name": "c2", "file": file()})
        assert Draft.objects.get().problems == []


class TestExport:
    def test_the_round_trip_is_exact(self, site: Site, commented: Path, tmp_path: Path) -> None:
        """What is exported is what was loaded, and loading it changes nothing."""
        from captious.server.challenges.challenge_export import export_challenge
        from captious.server.challenges.challenge_store import check_for_server
        from captious.server.models import Challenge

        challenge = Challenge.objects.get()
        first = tmp_path / "out" / "commented"
        first.parent.mkdir()
        assert export_challenge(challenge, first) == ["c2.json", "challenge.toml", "pages/overview.md"]
        for name in ("c2.json", "challenge.toml", "pages/overview.md"):
            assert (first / name).read_bytes() == (commented / name).read_bytes()
        _, changes = check_for_server(first)
        assert (changes.folder, changes.undone, changes.kept) == ([], [], [])
        before = {name: getattr(challenge, name) for name in ("definition_values", "texts", "counts")}
        challenge.delete()
        loaded = site.load(first)
        assert {name: getattr(loaded, name) for name in before} == before

    def test_it_says_what_was_set_on_the_site(self, site: Site, commented: Path, tmp_path: Path) -> None:
        from captious.server.challenges.challenge_export import export_challenge
        from captious.server.challenges.challenge_store import check_for_server
        from captious.server.models import Challenge, Phase

        Phase.objects.update(board="hidden")
        other = tmp_path / "other-name"
        export_challenge(Challenge.objects.get(), other)
        checked, changes = check_for_server(other)
        assert checked.slug == "commented"
        assert checked.definition.phases[0].board == "hidden"
        assert changes.undone == []
        assert changes.kept == []

    def test_the_command(self, site: Site, commented: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from click.testing import CliRunner

        from captious.cli import challenge as command
        from captious.server.operations import setup

        monkeypatch.setattr(setup, "set_up", lambda *_, **__: None)
        for slug, code in (("commented", 0), ("nowhere", 1)):
            out = tmp_path / f"out-{slug}"
            run = CliRunner().invoke(command.challenge, ["export", slug, "-o", str(out), "--data", str(site.data)])
            assert (run.exit_code, out.exists()) == (code, code == 0), run.output
        assert "there is no challenge 'nowhere'" in str(run.exception)


def test_every_field_of_a_challenge_is_in_one_group() -> None:
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

    def test_those_that_can_be_ticked_have_no_problem(self, site: Site, commented: Path) -> None:
        from captious.server.challenges.challenge_metrics import metric_problems, ready_metrics

        assert metric_problems(ready_metrics(), commented, {}) == []

    def test_problems_are_found_together(self, site: Site, commented: Path) -> None:
        """Also of organizers, and each once."""
        from captious.server.models import Draft

        edited(site, organizers="olga nobody", more_metrics="cider-d:sigma=abc")
        problems = Draft.objects.get().problems
        assert len(problems) == 2
        assert problems[0].startswith("metrics[3]: ")
        assert problems[1] == "organizers[2]: there is no user 'nobody'; let them sign up first"
        edited(site, organizers="olga nobody", settings="vectors = /etc/passwd")
        assert problems[1] in Draft.objects.get().problems
        refused = edited(site, settings="language")
        assert "Write NAME = VALUE in each line, not &#x27;language&#x27;." in refused.content.decode()

    def test_numbers_out_of_bounds(self, site: Site, commented: Path) -> None:
        answer = edited(site, **{"max_words": 2000, "phases-0-scored_per_day": 10**9, "phases-0-digits": 0})
        for said in ("At most 1000.", "At most 1000000.", "At least 1."):
            assert said in answer.content.decode()

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
