"""Problems of drafts: all at once, beside their fields, and of files that an organizer may not use."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from server.tests.challenges.drafting import COMMENTED, edited, file, form_of, olga, toml
from server.tests.support.site import Site
from server.tests.support.small_challenge import REFERENCES


def test_draft_problems_use_the_labels_of_the_form(site: Site, commented_folder: Path) -> None:
    """Problems stand at their fields, with links at the top of the page."""
    two = {"captions-0-pattern": "v_*", "captions-1-name": "test", "captions-1-pattern": "v_*"}
    late = {"phases-0-opens": "2121-01-01T12:00:00", "settings": "tokenizer = nothing", "rank_by": "spice"}
    again = {"phases-1-name": "main", "phases-1-title": "Again"}
    edited(site, **two, **late, **again, more_metrics="nonsense", image_url="x")
    assert 'name = "captions"' in toml(site)  # which needs a name beside another one
    page = olga(site).get("/drafts/commented/").content.decode()
    head = page.partition("to fix before")[2].partition("</section>")[0]
    found = dict(re.findall(r'<a href="#([^"]+)">([^<]+)</a>', head))
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
    assert described in page
    assert 'id="id_phases-0-closes_problems"' in page
    opened = re.findall(r'<details id="([^"]+)" open>', page)
    assert opened == ["phases-1", "phases-2", "captions-2"]
    preview = olga(site).get("/drafts/commented/publish").content.decode()
    assert 'href="/drafts/commented/#id_phases-0-closes">Phase “main”, Closes</a>' in preview


def test_draft_problems_equal_those_of_the_command(site: Site, commented_folder: Path) -> None:
    from captious_server.challenges.folder import check_folder
    from captious_server.challenges.problems import ChallengeError
    from captious_server.models import Draft

    edited(site, metrics=["bleu"], more_metrics="nonsense", rank_by="spice")
    with pytest.raises(ChallengeError) as caught:
        check_folder(site.data / "drafts" / "commented")
    assert Draft.objects.get().problems == caught.value.problems
    client = olga(site)
    assert b"to fix before the draft can be published" in client.get("/drafts/commented/").content
    assert client.post("/drafts/commented/publish").status_code == 409


def test_draft_warnings_use_the_labels_of_the_form(site: Site, commented_folder: Path) -> None:
    olga(site).post("/challenges/commented/edit")
    one = json.dumps({str(image): texts[:1] for image, texts in REFERENCES.items()}).encode()
    olga(site).post("/drafts/commented/references", {"name": "c2", "file": file(content=one)})
    for page in ("", "preview", "publish"):
        shown = olga(site).get(f"/drafts/commented/{page}").content.decode()
        assert "<p>Reference set “c2”: every image has only one reference; are these the references?</p>" in shown


def test_damaged_references_are_reported(site: Site, commented_folder: Path) -> None:
    client = olga(site)
    client.post("/challenges/commented/edit")
    (site.data / "drafts" / "commented" / "c2.json").write_text("[")
    client.post("/drafts/commented/", form_of(client.get("/drafts/commented/")))
    page = client.get("/drafts/commented/").content.decode()
    assert '<a href="#references-1">Reference set “c2”</a>: ' in page
    assert '<details id="references-1" open>' in page


def test_metrics_offered_by_the_form_have_no_problem(site: Site, commented_folder: Path) -> None:
    from captious_server.challenges.definition import metric_problems, ready_metrics

    assert metric_problems(ready_metrics(), commented_folder, {}) == []


def test_draft_problems_are_reported_together(site: Site, commented_folder: Path) -> None:
    """Problems of organizers are included, and none is repeated."""
    from captious_server.models import Draft

    edited(site, organizers="olga nobody", more_metrics="cider-d:sigma=abc")
    problems = Draft.objects.get().problems
    assert len(problems) == 2
    assert problems[0].startswith("metrics[3]: ")
    assert problems[1] == "organizers[2]: there is no user 'nobody'; ask them to sign up first"
    edited(site, organizers="olga nobody", settings="vectors = /etc/passwd")
    assert problems[1] in Draft.objects.get().problems
    refused = edited(site, settings="language")
    assert "Write NAME = VALUE on each line, not &#x27;language&#x27;." in refused.content.decode()


def test_numbers_out_of_range_are_refused(site: Site, commented_folder: Path) -> None:
    answer = edited(site, **{"max_words": 2000, "phases-0-scored_per_day": 10**9, "phases-0-digits": 0})
    for said in ("At most 1000.", "At most 1000000.", "At least 1."):
        assert said in answer.content.decode()


class TestServerFiles:
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
    def test_server_files_cannot_be_named_in_settings(
        self, site: Site, commented_folder: Path, changes: dict[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from captious_server.challenges import folder
        from captious_server.models import Draft

        found: list[Any] = []

        def asked(metrics: Any, *values: Any, unusable: Any) -> list[str]:
            found.append((metrics, values))
            return checked(metrics, *values, unusable=unusable)

        checked = folder.metric_problems
        monkeypatch.setattr(folder, "metric_problems", asked)
        edited(site, **changes)
        [problem] = Draft.objects.get().problems
        assert "is a server file or a model; only the operator of the server can use it" in problem
        [named] = re.findall("'(.+?)' is a server file", problem)
        assert all(named not in str(each) for each in found)  # nothing reads it

    def test_refused_server_files_hide_no_other_problem(self, site: Site, commented_folder: Path) -> None:
        """Problems of metrics that need the refused file are the exception."""
        from captious_server.models import Draft

        late = {"phases-0-opens": "2121-01-01T12:00:00", "captions-0-public": "on", "image_url": "x"}
        edited(
            site, **late, more_metrics="wmd\nnonsense\ncider-d:sigma=abc", settings="vectors = /srv/v\nlanguage = xx"
        )
        places = [problem.partition(": ")[0] for problem in Draft.objects.get().problems]
        settings = ["settings.vectors", "settings.language"]
        wanted = [*settings, "references[1]", "phases[1].closes", "image_url", "metrics[4]", "metrics[5]"]
        assert sorted(places) == sorted(wanted)

    def test_server_files_named_by_the_operator_stay(self, site: Site, commented_folder: Path, tmp_path: Path) -> None:
        from captious_server.challenges.drafts import outside_problems

        text = COMMENTED.replace("[[texts]]", '[settings]\nmodel = "/srv/model"\n\n[[texts]]', 1)
        (commented_folder / "challenge.toml").write_text(text)
        assert outside_problems(commented_folder, {}) != []
        assert outside_problems(commented_folder, {"settings": {"model": "/srv/model"}}) == []

    def test_upload_names_cannot_leave_the_draft_folder(self) -> None:
        from captious_server.challenges.drafts import reference_file

        assert reference_file("c5", "", "../../x.json.gz") == "references/c5.json.gz"
        assert reference_file("c5", "val", "/etc/.JSONL") == "references/val-c5.jsonl"
        assert reference_file("c5", "", "x") == "references/c5"


class TestPrivateReferences:
    """Organizers need not know the references that the operator has loaded."""

    def test_private_references_cannot_be_metric_settings(self, site: Site, commented_folder: Path) -> None:
        from captious_server.models import Challenge, Draft

        [row] = Challenge.objects.get().definition.references
        edited(site, more_metrics=f"bleu\nnovel-2:training={row.file}")
        assert "these references are private; metrics may not have them as a file" in Draft.objects.get().problems[0]

    def test_private_references_cannot_be_published(self, site: Site, commented_folder: Path) -> None:
        from captious_server.models import Challenge, Draft

        edited(site, **{"captions-0-public": "on"})
        problem = "references[1]: these references are private; only the operator of the server can publish them"
        assert Draft.objects.get().problems == [problem]
        assert olga(site).post("/drafts/commented/publish").status_code == 409
        assert not Challenge.objects.get().is_public("captions")

    def test_private_references_cannot_be_published_under_another_captions_file(
        self, site: Site, commented_folder: Path
    ) -> None:
        from captious_server.models import Draft

        edited(site, **{"captions-0-name": "other", "captions-0-public": "on", "references-0-captions": "other"})
        assert "these references are private" in Draft.objects.get().problems[0]

    def test_uploaded_references_can_be_published(self, site: Site, commented_folder: Path) -> None:
        from captious_server.models import Draft

        edited(site, **{"captions-0-public": "on"})
        olga(site).post("/drafts/commented/references", {"name": "c2", "file": file()})
        assert Draft.objects.get().problems == []
