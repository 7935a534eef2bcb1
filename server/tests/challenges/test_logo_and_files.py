"""The logo of a challenge; and baselines, files to download and the logo, changed in the browser."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from captious_server.challenges.folder import check_folder
from captious_server.challenges.problems import ChallengeError
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


def put(site: Site, kind: str, name: str, filename: str, content: bytes) -> Any:
    client = olga(site)
    client.post("/challenges/commented/edit")
    return client.post(FILES, {"kind": kind, "name": name, "file": file(filename, content)})


def publish(site: Site) -> None:
    from captious_server.models import Draft

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
        from captious_server.actions.loading import export_challenge

        challenge = site.load(with_logo(commented_folder, "a.svg", SVG))
        export_challenge(challenge, tmp_path / "again")
        assert (tmp_path / "again" / "a.svg").read_bytes() == SVG


class TestUploads:
    def test_uploaded_logo_is_published_and_removed(self, site: Site, commented_folder: Path) -> None:
        assert put(site, "logo", "", "My Logo.SVG", SVG).status_code == 302
        assert 'logo = "logo/my-logo.svg"' in toml(site)
        publish(site)
        assert b'class="logo"' in site.client().get("/").content
        edited(site, logo="")
        publish(site)
        assert b'class="logo"' not in site.client().get("/").content

    def test_uploaded_downloads_are_published(self, site: Site, commented_folder: Path) -> None:
        assert put(site, "downloads", "Images", "images.csv", b"1").status_code == 302
        put(site, "downloads", "Images", "images.csv", b"2")
        put(site, "downloads", "Notebook", "images.csv", b"3")
        publish(site)
        client = olga(site)
        names = ["downloads/images.csv", "downloads/images-1.csv"]
        contents = [b"".join(client.get(f"/challenges/commented/files/{name}").streaming_content) for name in names]
        assert contents == [b"2", b"3"]
        assert edited(site, **{"downloads-0-title": "List", "downloads-1-DELETE": "on"}).status_code == 302
        publish(site)
        page = client.get("/challenges/commented/").content.decode()
        assert "List" in page
        assert "Notebook" not in page
        assert "a comment that stays" in (site.data / "challenges/commented/3/challenge.toml").read_text()

    def test_uploaded_baselines_are_checked_and_scored(self, site: Site, commented_folder: Path) -> None:
        from captious_server.models import Draft, Submission

        put(site, "baselines", "Constant", "b.json", b"[]")
        assert any("baselines[1].file" in problem for problem in Draft.objects.get().problems)
        put(site, "baselines", "Constant", "b.json", upload())
        publish(site)
        site.work()
        assert [(row.method, row.status) for row in Submission.objects.all()] == [("Constant", "done")]
        changes = {"baselines-0-human": "on", "baselines-0-description": "By people.\r\nOf us.\r\n"}
        assert edited(site, **changes).status_code == 302
        assert "phases = " not in toml(site).partition("[[baselines]]")[2]  # all, as before
        publish(site)
        (row,) = Submission.objects.all()
        assert (row.is_human, row.description) == (True, "By people.\nOf us.")
        edited(site, **{"baselines-0-DELETE": "on"})
        publish(site)
        assert [row.status for row in Submission.objects.all()] == ["deleted"]

    def test_upload_replaces_no_other_file(self, site: Site, commented_folder: Path) -> None:
        """A file of a download may also be used elsewhere, such as public references."""
        public = '[[captions]]\npublic = true\n[[downloads]]\ntitle = "References"\nfile = "c2.json"\n'
        (commented_folder / "challenge.toml").write_text(COMMENTED + public)
        site.load(commented_folder)
        before = (commented_folder / "c2.json").read_bytes()
        put(site, "downloads", "References", "c2.json", b"other")
        draft = site.data / "drafts" / "commented"
        assert (draft / "c2.json").read_bytes() == before
        assert (draft / "downloads" / "c2.json").read_bytes() == b"other"

    @pytest.mark.parametrize("name", ["../../etc/passwd", "a/b.csv", "\u202e.csv", "x" * 300 + ".csv", ".htaccess"])
    def test_hostile_upload_names_are_cleaned(self, site: Site, commented_folder: Path, name: str) -> None:
        put(site, "downloads", "File", name, b"1")
        draft = site.data / "drafts" / "commented"
        made = list((draft / "downloads").iterdir())
        assert len(made) == 1
        assert not made[0].name.startswith(".")
        publish(site)

    def test_private_references_cannot_be_downloads(self, site: Site, commented_folder: Path) -> None:
        from captious_server.models import Draft

        put(site, "downloads", "Images", "images.json", (commented_folder / "c2.json").read_bytes())
        assert Draft.objects.get().problems == ["downloads[1].file: has the private references of references[1]"]

    @pytest.mark.parametrize("values", [{"kind": "downloads", "name": ""}, {"kind": "texts", "name": "x"}])
    def test_incomplete_upload_is_refused(self, site: Site, commented_folder: Path, values: dict[str, str]) -> None:
        client = olga(site)
        client.post("/challenges/commented/edit")
        refused = client.post(FILES, {**values, "file": file()})
        assert refused.status_code == 422
        assert form_of(refused)["title"] == "Commented"
