"""Problems of drafts: all at once, with their lines, and of files that an organizer may not use."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

from captious_server.challenges import folder
from captious_server.challenges.drafts import line_of, outside_problems
from captious_server.challenges.folder import check_folder
from captious_server.challenges.problems import ChallengeError
from captious_server.models import Challenge, Draft
from server.tests.challenges.drafting import COMMENTED, edited, file, olga, toml
from server.tests.support.site import Site
from server.tests.support.small_challenge import REFERENCES

METRICS = 'metrics = ["bleu",\n           "rouge-l"]'
END = "closes = 2120-12-31T23:59:59Z\n"


def settings(text: str) -> tuple[str, str]:
    return "[[texts]]", f"[settings]\n{text}\n\n[[texts]]"


def metrics(*names: str) -> tuple[str, str]:
    return METRICS, f"metrics = {json.dumps(['bleu', 'rouge-l', *names])}"


def test_problems_stand_with_their_lines(site: Site, commented_folder: Path) -> None:
    late = f'{END}opens = 2121-01-01T12:00:00Z\n\n[[phases]]\nname = "main"\n\n[[captions]]\npattern = "v_*"\n'
    edited(site, (END, late), metrics("nonsense"), settings('tokenizer = "nothing"'), ('"bleu-4"', '"spice"'))
    page = olga(site).get("/drafts/commented/").content.decode()
    lines = toml(site).splitlines()
    head = html.unescape(page.partition("to fix before")[2].partition("</section>")[0])
    found = re.findall(r'data-line="(\d+)">Line (\d+)</a>, <code>(.*?)</code>: ([\w.-]+(?:\[\d+\])?[\w.]*)', head)
    assert {place for *_, place in found} >= {"phases[1].closes", "phases[2].name", "settings.tokenizer", "metrics[3]"}
    for number, shown, source, place in found:
        assert number == shown
        assert lines[int(number) - 1].partition("  #")[0].strip() == source
        key = re.split(r"[.\[]", place)[0]
        assert re.search(rf"{place.rpartition('.')[2] if '.' in place else key}\b", source), (place, source)
    elsewhere = olga(site).get("/drafts/commented/publish").content.decode()
    assert 'href="/drafts/commented/#id_toml" data-line="' in elsewhere


@pytest.mark.parametrize(
    ("problem", "line"),
    [
        ("title: is required", 2),
        ("metrics[2]: unknown", 5),
        ("settings.tokenizer: unknown", 8),
        ("settings: must be", 7),
        ("phases[1]: must", 10),
        ("phases[1].closes: must", 11),
        ("phases[2].closes: must", 14),
        ("phases[2].opens: must", 13),
        ("captions[1]: no file", 0),
        ("the text 'title' has", 0),
        ("", 0),
    ],
)
def test_line_of_a_problem(problem: str, line: int) -> None:
    text = """# closes = 1
title = "x"  # [settings]
summary = "y"

metrics = ["a",
  "b"]
[settings]
tokenizer = "t"

[[phases]] # one
closes = 1

[[ phases ]]
  closes=2
"""
    assert line_of(text, problem) == line


def test_draft_problems_equal_those_of_the_command(site: Site, commented_folder: Path) -> None:
    edited(site, metrics("nonsense"), ('"bleu-4"', '"spice"'))
    with pytest.raises(ChallengeError) as caught:
        check_folder(site.data / "drafts" / "commented")
    assert Draft.objects.get().problems == caught.value.problems
    client = olga(site)
    assert b"to fix before the draft can be published" in client.get("/drafts/commented/").content
    assert client.post("/drafts/commented/publish").status_code == 409


def test_draft_warnings_are_shown(site: Site, commented_folder: Path) -> None:
    olga(site).post("/challenges/commented/edit")
    one = json.dumps({str(image): texts[:1] for image, texts in REFERENCES.items()}).encode()
    olga(site).post("/drafts/commented/files", {"kind": "references", "file": file("one.json", one)})
    edited(site, ('"c2.json"', '"references/one.json"'))
    for page in ("", "preview", "publish"):
        shown = olga(site).get(f"/drafts/commented/{page}").content.decode()
        assert "every image has only one reference; are these the references?</p>" in shown


def test_damaged_references_are_reported(site: Site, commented_folder: Path) -> None:
    olga(site).post("/challenges/commented/edit")
    olga(site).post("/drafts/commented/files", {"kind": "references", "file": file("new.json", b"[")})
    edited(site, ('"c2.json"', '"references/new.json"'))
    page = olga(site).get("/drafts/commented/").content.decode()
    assert "<code>[[references]]</code>: references[1]: " in page or "<code>file = &quot;references/new.json" in page


def test_draft_problems_are_reported_together(site: Site, commented_folder: Path) -> None:
    """Problems of organizers are included, and none is repeated."""
    edited(site, ('["olga"]', '["olga", "nobody"]'), metrics("cider-d:sigma=abc"))
    problems = Draft.objects.get().problems
    assert len(problems) == 2
    assert problems[0].startswith("metrics[3]: ")
    assert problems[1] == "organizers[2]: there is no user 'nobody'; ask them to sign up first"
    edited(site, settings('vectors = "/etc/passwd"'))
    assert problems[1] in Draft.objects.get().problems


class TestServerFiles:
    @pytest.mark.parametrize(
        "changes",
        [
            settings('idf = "/etc/passwd"'),
            settings('vectors = "../../../secret"'),
            settings('model = "~/models/x"'),
            metrics("wmd:vectors=/srv/vectors.bin"),
            settings('training = "pyproject.toml"'),
            metrics("hwcm-2:parser=spacy:/etc/model"),
            metrics("bertscore-f:model=somebody/model"),
            settings('model = "somebody/model"'),
        ],
    )
    def test_server_files_cannot_be_named_in_settings(
        self, site: Site, commented_folder: Path, changes: tuple[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found: list[Any] = []

        def asked(metrics: Any, *values: Any, unusable: Any) -> list[str]:
            found.append((metrics, values))
            return checked(metrics, *values, unusable=unusable)

        checked = folder.metric_problems
        monkeypatch.setattr(folder, "metric_problems", asked)
        edited(site, changes)
        [problem] = Draft.objects.get().problems
        assert "is a server file or a model; only the operator of the server can use it" in problem
        [named] = re.findall("'(.+?)' is a server file", problem)
        assert all(named not in str(each) for each in found)  # nothing reads it

    def test_refused_server_files_hide_no_other_problem(self, site: Site, commented_folder: Path) -> None:
        """Problems of metrics that need the refused file are the exception."""
        edited(
            site,
            ('title = "C', 'image_url = "x"\ntitle = "C'),
            metrics("wmd", "nonsense", "cider-d:sigma=abc"),
            settings('vectors = "/srv/v"\nlanguage = "xx"'),
            (END, f"{END}opens = 2121-01-01T12:00:00Z\n\n[[captions]]\npublic = true\n"),
        )
        places = [problem.partition(": ")[0] for problem in Draft.objects.get().problems]
        others = ["references[1]", "phases[1].closes", "image_url", "metrics[4]", "metrics[5]"]
        assert sorted(places) == sorted(["settings.vectors", "settings.language", *others])

    def test_server_files_named_by_the_operator_stay(self, site: Site, commented_folder: Path, tmp_path: Path) -> None:
        text = COMMENTED.replace("[[texts]]", '[settings]\nmodel = "/srv/model"\n\n[[texts]]', 1)
        (commented_folder / "challenge.toml").write_text(text)
        assert outside_problems(commented_folder, {}) != []
        assert outside_problems(commented_folder, {"settings": {"model": "/srv/model"}}) == []


PUBLIC = ("[[references]]", "[[captions]]\npublic = true\n\n[[references]]")


class TestPrivateReferences:
    """Organizers need not know the references that the operator has loaded."""

    def test_private_references_cannot_be_metric_settings(self, site: Site, commented_folder: Path) -> None:
        [row] = Challenge.objects.get().definition.references
        edited(site, metrics(f"novel-2:training={row.file}"))
        assert "these references are private; metrics may not have them as a file" in Draft.objects.get().problems[0]

    def test_private_references_cannot_be_published(self, site: Site, commented_folder: Path) -> None:
        edited(site, PUBLIC)
        problem = "references[1]: these references are private; only the operator of the server can publish them"
        assert Draft.objects.get().problems == [problem]
        assert olga(site).post("/drafts/commented/publish").status_code == 409
        assert not Challenge.objects.get().is_public("captions")

    def test_private_references_cannot_be_published_under_another_captions_file(
        self, site: Site, commented_folder: Path
    ) -> None:
        other = '[[captions]]\nname = "other"\npublic = true\n\n[[references]]\ncaptions = "other"\n'
        edited(site, ("[[references]]\n", other))
        assert "these references are private" in Draft.objects.get().problems[0]

    def test_uploaded_references_can_be_published(self, site: Site, commented_folder: Path) -> None:
        edited(site, PUBLIC)
        olga(site).post("/drafts/commented/files", {"kind": "references", "file": file()})
        edited(site, ('"c2.json"', '"references/references.json"'))
        assert Draft.objects.get().problems == []

    @pytest.mark.parametrize(
        "row",
        [
            '[[texts]]\ntitle = "Secret"\nfile = "c2.json"\n',
            '[[texts]]\ntitle = "Secret"\nfile = "pages/../c2.json"\n',
            '[[downloads]]\ntitle = "Secret"\nfile = "c2.json"\n',
            '[[baselines]]\nmethod = "Secret"\nfile = "c2.json"\n',
        ],
    )
    def test_private_references_cannot_be_shown_as_another_file(
        self, site: Site, commented_folder: Path, row: str
    ) -> None:
        """Nothing is saved, so no page reads them as a text, a file to download or a baseline."""
        refused = edited(site, (END, f"{END}\n{row}"))
        assert refused.status_code == 422
        assert ".file: these references are private." in refused.content.decode()
        assert "a cat" not in refused.content.decode()
        assert toml(site) == COMMENTED
