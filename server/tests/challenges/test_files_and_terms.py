"""What a challenge gives to teams: files to download, terms to accept, and what the overview says of it."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from captious_server.challenges.folder import check_folder
from captious_server.challenges.problems import ChallengeError
from captious_server.models import Challenge, Phase, TermsAcceptance, User
from captious_server.people.teams import create_team, personal_team
from server.tests.support.site import Site
from server.tests.support.small_challenge import REFERENCES, upload, write_folder

ABOUT = """organized_by = ["Ann Smith, University of X"]
license = "CC BY 4.0"
citation = "@inproceedings{x}"
terms = "Rules"

[[texts]]
title = "Rules"
file = "rules.md"

[[downloads]]
title = "Images"
file = "images.csv"
"""


def write(place: Path, about: str = ABOUT, rules: str = "Be *kind*.", images: bytes = b"id\n1\n") -> Path:
    folder = write_folder(place / "small")
    text = (folder / "challenge.toml").read_text()
    head, first, rest = text.partition("[[references]]")
    (folder / "challenge.toml").write_text(head + about + "\n" + first + rest)
    (folder / "rules.md").write_text(rules)
    (folder / "images.csv").write_bytes(images)
    return folder


@pytest.fixture
def small_site(site: Site, tmp_path: Path) -> Site:
    site.load(write(tmp_path))
    return site


def test_overview_links_files_and_terms(small_site: Site) -> None:
    ann = small_site.user("ann")
    Phase.objects.update(scored_per_day=2)
    page = small_site.client(ann).get("/challenges/small/").content.decode()
    digest = hashlib.sha256(b"id\n1\n").hexdigest()
    for shown in ("Ann Smith, University of X", "CC BY 4.0", "@inproceedings{x}", digest, "5\xa0bytes", "Your quotas"):
        assert shown in page, shown
    visitor = small_site.client().get("/challenges/small/").content.decode()
    assert "Your quotas" not in visitor
    answer = small_site.client().get("/api/v1/challenges/small").json()
    assert answer["files"] == [{"title": "Images", "file": "images.csv", "size": 5, "sha256": digest}]
    assert (answer["license"], len(answer["terms_version"])) == ("CC BY 4.0", 16)


class TestDownloads:
    def test_download_is_served_as_an_attachment(self, small_site: Site) -> None:
        answer = small_site.client().get("/challenges/small/files/images.csv")
        assert b"".join(answer.streaming_content) == b"id\n1\n"
        assert answer["Content-Disposition"] == 'attachment; filename="images.csv"'
        assert answer["Content-Type"] == "application/octet-stream"

    @pytest.mark.parametrize(
        "name",
        ["c2.json", "challenge.toml", "rules.md", "../1/images.csv", "./images.csv", ".captious-ids/captions.json"],
    )
    def test_files_that_are_not_downloads_are_not_served(self, small_site: Site, name: str) -> None:
        assert small_site.client().get(f"/challenges/small/files/{name}").status_code in {301, 404}

    @pytest.mark.parametrize("is_public", [False, True])
    def test_private_references_are_not_served_under_another_name(
        self, site: Site, tmp_path: Path, is_public: bool
    ) -> None:
        about = ABOUT + ("[[captions]]\npublic = true\n" if is_public else "")
        folder = write(tmp_path, about)
        (folder / "images.csv").write_bytes((folder / "c2.json").read_bytes())
        if is_public:
            check_folder(folder)
            return
        with pytest.raises(ChallengeError) as caught:
            check_folder(folder)
        assert caught.value.problems == ["downloads[1].file: has the private references of references[1]"]

    def test_private_references_are_not_served_in_another_form(self, tmp_path: Path) -> None:
        folder = write(tmp_path)
        captions = [text for texts in REFERENCES.values() for text in texts]
        table = "".join(f'{number},"{text.title()}"\n' for number, text in enumerate(captions)).encode()
        zipped, tarred = io.BytesIO(), io.BytesIO()
        with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("README", "Captions.")
            archive.writestr("val.json.gz", gzip.compress(json.dumps(captions).encode()))
        with tarfile.open(fileobj=tarred, mode="w:gz") as archive:
            archive.add(folder / "c2.json")
        escaped = "".join(f"\\u{ord(letter):04x}" for letter in captions[0])
        mixed = json.dumps(captions[1:4]).encode() + f'"{escaped}"'.encode()
        for content in (table, gzip.compress(table), zipped.getvalue(), tarred.getvalue(), mixed):
            (folder / "images.csv").write_bytes(content)
            with pytest.raises(ChallengeError) as caught:
                check_folder(folder)
            assert caught.value.problems == ["downloads[1].file: has the private references of references[1]"]
        for content in (json.dumps(captions[:3]).encode(), gzip.compress(table)[:30], zipped.getvalue()[-30:]):
            (folder / "images.csv").write_bytes(content)  # a few captions that anybody may have written, or no captions
            check_folder(folder)

    def test_missing_terms_are_reported(self, tmp_path: Path) -> None:
        with pytest.raises(ChallengeError) as caught:
            check_folder(write(tmp_path, ABOUT.replace('terms = "Rules"', 'terms = "Terms"')))
        assert caught.value.problems == ["terms: there is no text 'Terms'; known are Rules"]


class TestTerms:
    def submit(self, site: Site, user: Any) -> Any:
        return site.submit(user, json.loads(upload()), challenge="small")

    def accept(self, site: Site, user: Any, version: str | None = None) -> None:
        version = Challenge.objects.get().terms_version if version is None else version
        site.client(user).post("/challenges/small/terms", {"team": user.username, "version": version})

    def test_team_accepts_terms_once(self, small_site: Site) -> None:
        ann, bob = small_site.user("ann"), small_site.user("bob")
        refused = self.submit(small_site, ann)
        assert refused.status_code == 422
        assert b"must accept the terms first" in refused.content
        assert b"accept the terms" in small_site.client(ann).get("/challenges/small/submit").content
        page = (
            small_site.client(ann)
            .get(f"/challenges/small/submit?team={create_team('Alpha', ann).slug}")
            .content.decode()
        )
        assert "Alpha must <a" in page
        assert "ann must <a" not in page
        for _ in range(2):
            self.accept(small_site, ann)
        assert TermsAcceptance.objects.count() == 1
        assert self.submit(small_site, ann).status_code == 302
        assert self.submit(small_site, bob).status_code == 422

    def test_new_terms_need_acceptance_and_old_ones_are_kept(self, small_site: Site, tmp_path: Path) -> None:
        ann = small_site.user("ann")
        self.accept(small_site, ann)
        old = Challenge.objects.get().terms_version
        small_site.load(write(tmp_path, rules="Be *very* kind."))
        assert self.submit(small_site, ann).status_code == 422
        self.accept(small_site, ann, old)  # a page that was opened before
        assert self.submit(small_site, ann).status_code == 422
        self.accept(small_site, ann)
        assert self.submit(small_site, ann).status_code == 302
        assert [row.version == old for row in TermsAcceptance.objects.all()] == [False, True]
        assert b"earlier terms" in small_site.client(ann).get("/challenges/small/terms").content

    def test_outsiders_cannot_accept_for_a_team(self, small_site: Site) -> None:
        small_site.user("ann")
        version = Challenge.objects.get().terms_version
        small_site.client(small_site.user("bob")).post("/challenges/small/terms", {"team": "ann", "version": version})
        assert not TermsAcceptance.objects.exists()

    def test_api_accepts_terms(self, small_site: Site) -> None:
        ann = small_site.user("ann")
        personal_team(ann)
        headers = {"Authorization": f"Bearer {small_site.token(ann)}"}
        address = "/api/v1/challenges/small"

        def post(what: str) -> Any:
            send, body = small_site.client().generic, upload() if what.startswith("submissions") else b""
            return send("POST", f"{address}/{what}", body, "application/octet-stream", headers=headers)

        refused = post("submissions?method=x")
        assert refused.status_code == 409
        assert "/challenges/small/terms" in refused.json()["error"]
        assert post("terms?version=old").status_code == 409
        version = small_site.client().get(address).json()["terms_version"]
        assert post(f"terms?version={version}").json()["team"] == "ann"
        assert post("submissions?method=x").status_code == 201

    def test_organizers_see_teams_that_accepted(self, small_site: Site) -> None:
        self.accept(small_site, small_site.user("ann"))
        root = small_site.client(User.objects.create_superuser("root"))
        assert b"Accepted by all teams" in root.get("/challenges/small/terms").content
        assert (
            b"Accepted by all teams"
            not in small_site.client(small_site.user("bob")).get("/challenges/small/terms").content
        )
