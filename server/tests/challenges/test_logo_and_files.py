"""The logo of a challenge; and baselines, files to download and the logo, changed in the browser."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from captious_server.actions.loading import export_challenge
from captious_server.challenges.folder import check_folder
from captious_server.challenges.problems import ChallengeError
from captious_server.models import Draft, Submission
from server.tests.challenges.drafting import COMMENTED, edited, file, form_of, olga, toml
from server.tests.support.site import Site
from server.tests.support.small_challenge import upload

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><circle r="5"/></svg>'
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=")
FILES = "/drafts/commented/files"


def with_logo(folder: Path, name: str, content: bytes) -> Path:
    (folder / name).write_bytes(content)
    (folder / "challenge.toml").write_text(f'logo = "{name}"\n{COMMENTED}')
    return folder


def put(site: Site, kind: str, filename: str, content: bytes, *rows: str) -> Any:
    """Upload a file, and add rows to challenge.toml."""
    client = olga(site)
    client.post("/challenges/commented/edit")
    answer = client.post(FILES, {"kind": kind, "file": file(filename, content)})
    edited(site, *[("[[references]]", f"{row}\n\n[[references]]") for row in rows])
    return answer


def publish(site: Site) -> None:
    assert Draft.objects.get().problems == []
    assert olga(site).post("/drafts/commented/publish").status_code == 302


class TestLogo:
    @pytest.mark.parametrize(("name", "content", "kind"), [("a.svg", SVG, "svg+xml"), ("a.PNG", PNG, "png")])
    def test_logo_is_on_pages(self, site: Site, commented_folder: Path, name: str, content: bytes, kind: str) -> None:
        site.load(with_logo(commented_folder, name, content))
        for address in ("/", "/challenges/commented/"):
            assert b'<img class="logo" src="/challenges/commented/logo?v=2"' in site.client().get(address).content
        response = site.client().get("/challenges/commented/logo?v=2")
        assert response.content == content
        assert response["Content-Type"] == f"image/{kind}"
        assert response["Content-Security-Policy"].endswith("; sandbox")
        answer = site.client().get("/api/v1/challenges/commented").json()
        assert answer["logo"] == "http://testserver/challenges/commented/logo?v=2"

    def test_challenge_without_a_logo_has_none(self, site: Site, commented_folder: Path) -> None:
        assert site.client().get("/challenges/commented/logo").status_code == 404
        assert b'class="logo"' not in site.client().get("/").content

    @pytest.mark.parametrize(
        ("name", "content", "problem"),
        [
            ("a.gif", b"GIF89a", "a logo must be one of .png, .jpg, .jpeg, .webp, .svg"),
            ("a.png", SVG, "its content is not image/png, as its name says"),
            ("a.svg", b"<html><svg></svg>", "its content is not image/svg+xml, as its name says"),
            ("a.svg", b"<!DOCTYPE svg [<!ENTITY a 'b'>]>" + SVG, "its content is not image/svg+xml, as its name says"),
            ("a.png", PNG + bytes(100 * 1024), "a logo may have up to 100 KiB"),
            ("c2.json", b"[]", "a logo must be one of .png, .jpg, .jpeg, .webp, .svg"),
        ],
    )
    def test_invalid_logos_are_refused(self, commented_folder: Path, name: str, content: bytes, problem: str) -> None:
        references = (commented_folder / "c2.json").read_bytes()
        folder = with_logo(commented_folder, name, content)
        (commented_folder / "c2.json").write_bytes(references)
        with pytest.raises(ChallengeError) as caught:
            check_folder(folder)
        assert caught.value.problems == [f"logo: {problem}"]

    def test_logo_outside_the_folder_is_refused(self, commented_folder: Path) -> None:
        with pytest.raises(ChallengeError) as caught:
            check_folder(with_logo(commented_folder, "../logo.svg", SVG))
        assert caught.value.problems == ["logo: ../logo.svg is outside the folder"]

    def test_logo_is_exported(self, site: Site, commented_folder: Path, tmp_path: Path) -> None:
        challenge = site.load(with_logo(commented_folder, "a.svg", SVG))
        export_challenge(challenge, tmp_path / "again")
        assert (tmp_path / "again" / "a.svg").read_bytes() == SVG


IMAGES = '[[downloads]]\ntitle = "Images"\nfile = "downloads/images.csv"'
CONSTANT = '[[baselines]]\nmethod = "Constant"\nfile = "baselines/b.json"'


class TestUploads:
    def test_uploaded_logo_is_published_and_removed(self, site: Site, commented_folder: Path) -> None:
        assert put(site, "logo", "My Logo.SVG", SVG).status_code == 302
        edited(site, ('title = "C', 'logo = "logo/my-logo.svg"\ntitle = "C'))
        publish(site)
        assert b'class="logo"' in site.client().get("/").content
        edited(site, ('logo = "logo/my-logo.svg"\n', ""))
        publish(site)
        assert b'class="logo"' not in site.client().get("/").content

    def test_uploaded_downloads_are_published(self, site: Site, commented_folder: Path) -> None:
        assert put(site, "downloads", "images.csv", b"1", IMAGES).status_code == 302
        put(site, "downloads", "images.csv", b"2")
        publish(site)
        client = olga(site)
        answer = client.get("/challenges/commented/files/downloads/images.csv")
        assert b"".join(answer.streaming_content) == b"2"
        edited(site, ('"Images"', '"List"'))
        publish(site)
        assert "List" in client.get("/challenges/commented/").content.decode()
        assert "a comment that stays" in (site.data / "challenges/commented/3/challenge.toml").read_text()

    def test_uploaded_baselines_are_checked_and_scored(self, site: Site, commented_folder: Path) -> None:
        put(site, "baselines", "b.json", b"[]", CONSTANT)
        assert any("baselines[1].file" in problem for problem in Draft.objects.get().problems)
        put(site, "baselines", "b.json", upload())
        publish(site)
        site.work()
        assert [(row.method, row.status) for row in Submission.objects.all()] == [("Constant", "done")]
        edited(site, (CONSTANT, f"{CONSTANT}\nhuman = true"))
        publish(site)
        assert Submission.objects.get().is_human
        edited(site, (f"{CONSTANT}\nhuman = true", ""))
        publish(site)
        assert [row.status for row in Submission.objects.all()] == ["deleted"]

    @pytest.mark.parametrize("name", ["../../etc/passwd", "a/b.csv", "\u202e.csv", "x" * 300 + ".csv", ".htaccess"])
    def test_hostile_upload_names_are_cleaned(self, site: Site, commented_folder: Path, name: str) -> None:
        put(site, "downloads", name, b"1")
        [made] = (site.data / "drafts" / "commented" / "downloads").iterdir()
        assert not made.name.startswith(".")
        edited(site, ("[[references]]", f"{IMAGES.replace('images.csv', made.name)}\n\n[[references]]"))
        publish(site)

    def test_private_references_cannot_be_downloads(self, site: Site, commented_folder: Path) -> None:
        refused = put(site, "downloads", "images.csv", (commented_folder / "c2.json").read_bytes(), IMAGES)
        assert refused.status_code == 302
        assert toml(site) == COMMENTED
        assert Draft.objects.get().problems == []

    @pytest.mark.parametrize("values", [{"kind": "texts", "file": "x.md"}, {"kind": ""}, {"kind": "downloads"}])
    def test_incomplete_upload_is_refused(self, site: Site, commented_folder: Path, values: dict[str, str]) -> None:
        client = olga(site)
        client.post("/challenges/commented/edit")
        sent = {**values, "file": file()} if "file" in values else values
        refused = client.post(FILES, sent)
        assert refused.status_code == 422
        assert form_of(refused)["toml"] == COMMENTED
