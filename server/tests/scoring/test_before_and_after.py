"""The organizers' page about two versions of scores: scores, ranks and signatures before and after a change."""

from __future__ import annotations

import html
import json
import re
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from captious.version import __version__
from captious_server.boards.query import query_from
from captious_server.boards.submission_pages import compare_versions, rows_of_versions, signatures_of
from captious_server.models import Scores
from captious_server.submissions import storage
from server.tests.scoring.test_scoring_again import NEW, expected
from server.tests.support.site import Site
from server.tests.support.small_challenge import CANDIDATES, REFERENCES, queue, write_folder


def test_comparison_of_versions_has_ranks_and_both_signatures(site: Site, folder: Path) -> None:
    queue(2)
    third = queue(1, method="added")[0]
    said = [{"image_id": image, "caption": "a dog in the park with men on a sofa"} for image in REFERENCES]
    storage.captions_file(third.folder, "captions").write_text(json.dumps(said))
    close = queue(1, method="close")[0]
    said = [{"image_id": image, "caption": f"{text} now" if image == 1 else text} for image, text in CANDIDATES.items()]
    storage.captions_file(close.folder, "captions").write_text(json.dumps(said))
    site.work()
    site.load(write_folder(folder, references=NEW))
    site.work()
    admin = site.user("root", is_superuser=True)
    challenge = third.phase.challenge
    challenge.refresh_from_db()
    query = query_from(challenge, {"sort": "-rouge-l"}, admin)
    versions = compare_versions(query.phase)
    rows = {row.submission.method: (row.rank_before, row.rank_after) for row in rows_of_versions(query, versions)}
    both = {row.submission.method: row for row in rows_of_versions(query, versions)}
    assert both["close"].before != both["method 0"].before
    assert rows.pop("close") == rows["method 0"]  # no significant difference
    assert rows == {"added": (4, 1), "method 1": (1, 2), "method 0": (1, 2)}
    (before, [old]), (after, [new]) = signatures_of(query, versions)
    assert (before, after) == (1, 2)
    assert "references:2" in old
    assert "references:3" in new
    text = " ".join(site.client(admin).get("/challenges/small/versions?sort=-rouge-l").content.decode().split())
    assert '4 → 1</span><span class="beneath">3 up</span>' in text
    assert '1 → 2</span><span class="beneath">1 down</span>' in text
    assert old in text
    assert new in text


def test_any_two_versions_are_compared_in_any_output(site: Site, folder: Path) -> None:
    queue(2)
    site.work()
    third = {image: [*texts, "a cat on a mat"] for image, texts in REFERENCES.items()}
    for references in (NEW, third):
        site.load(write_folder(folder, references=references))
        site.work()
    admin = site.client(site.user("root", is_superuser=True))

    def page(**values: object) -> tuple[str, set[str]]:
        """The heads of the versions, and the scores before and after of the first row, on a page."""
        text = " ".join(admin.get("/challenges/small/versions", values).content.decode().split())
        heads = re.findall(r">Version (\d)</th>", text.partition("What changed")[0])
        selected = re.findall(r'<option value="(\S+)" selected>', text)
        assert selected[1:] == heads
        assert f"Signatures of {selected[0].removeprefix('-')}" in text
        return "".join(heads), {*re.findall(r'class="value">(\.\d{4})<', text)}

    def score(references: dict[int, list[str]], output: str) -> str:
        return f"{expected(references)[output]:.4f}".removeprefix("0")

    assert page()[0] == "23"
    assert page(before=1, after=3, sort="-bleu-2") == ("13", {score(REFERENCES, "bleu-2"), score(third, "bleu-2")})
    assert page(before=1, after=2, sort="-bleu-1")[1] == {score(REFERENCES, "bleu-1"), score(NEW, "bleu-1")}
    assert page(before=3, after=1, sort="-bleu-2") == ("31", page(before=1, after=3, sort="-bleu-2")[1])
    for wrong in ({"before": 7}, {"after": "x"}, {"before": "", "after": -1}):
        assert page(**wrong)[0] == "23"
    assert page(after=2)[0] == "12"
    begun = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    first, *_ = Scores.objects.filter(version=2).order_by("pk")
    Scores.objects.filter(pk=first.pk).update(finished=begun)  # and others later
    assert "version 2: 2026-01-02 03:04 UTC<" in admin.get("/challenges/small/versions").content.decode()


def test_comparison_of_versions_lists_removed_and_added_metrics(site: Site, folder: Path) -> None:
    queue(2)
    site.work()
    text = (folder / "challenge.toml").read_text()
    (folder / "challenge.toml").write_text(text.replace('"bleu"', '"unigram-recall"').replace("bleu-4", "rouge-l"))
    site.load(folder)
    site.work()
    admin = site.client(site.user("root", is_superuser=True))

    def page(output: str) -> list[str]:
        text = " ".join(admin.get(f"/challenges/small/versions?sort=-{output}").content.decode().split())
        assert f'<option value="-{output}" selected>' in text
        row = text.partition("<tbody>")[2].partition("</tr>")[0]
        return re.findall(r'class="value">([^<]+)<', row)

    before, after, difference, ranks = page("bleu-2")
    assert (before, after, difference, ranks) == (f"{expected(REFERENCES)['bleu-2']:.4f}"[1:], "–", "–", "1 → –")
    before, after, _, ranks = page("unigram-recall")
    assert (before, ranks) == ("–", "– → 1")
    assert float(after) > 0


def test_changes_between_versions_are_listed(site: Site, folder: Path) -> None:
    """Fields have both values; tables and files are listed, even if nothing is scored again."""
    admin = site.client(site.user("root", is_superuser=True))

    def listed(**values: object) -> dict[str, list[str]]:
        page = admin.get("/challenges/small/versions", values).content.decode().partition("What changed")[2]
        rows = page.partition("<tbody>")[2].partition("</tbody>")[0].split("<tr>")[1:]
        cells = [[" ".join(re.sub("<[^>]+>", " ", cell).split()) for cell in re.split("</t[hd]>", row)] for row in rows]
        return {html.unescape(name): changes for name, *changes, _ in cells}

    queue(1)
    site.work()
    assert listed() == {}  # there is one version
    text, references = ((folder / name).read_text() for name in ("challenge.toml", "c2.json"))
    text = text.replace('"rouge-l"]', '"unigram-recall", "rouge-l"]')
    (folder / "challenge.toml").write_text(text + 'scored_per_day = 3\n[[texts]]\ntitle = "Rules"\nfile = "rules.md"\n')
    (folder / "rules.md").write_text("None.")
    (folder / "c2.json").write_text(references.replace("a grey cat", "one grey cat"))
    site.load(folder)
    site.work()
    (folder / "rules.md").write_text("One.")  # no score depends on it
    site.load(folder)
    before, after, rules = (
        sha256(each.encode()).hexdigest()[:12] for each in (references, (folder / "c2.json").read_text(), "One.")
    )
    assert listed() == {
        "metrics": ["bleu, rouge-l", "bleu, unigram-recall, rouge-l"],
        "text 'Rules'": ["–", "title Rules; file rules.md"],
        "phase 'main', scored per day": ["0", "3"],
        "file c2.json": [f"SHA-256 {before}", f"SHA-256 {after}"],
        "file rules.md": ["–", f"SHA-256 {rules}"],
    }
    assert listed(before=2, after=1)["metrics"] == ["bleu, unigram-recall, rouge-l", "bleu, rouge-l"]
    assert listed(before=1, after=1) == {}
    Scores.objects.filter(version=1).update(program="0.0.9")
    assert listed()["version of captious"] == ["0.0.9", __version__]
