"""README of an archive: no sentence of it ends in nothing."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from captious_server.models import Challenge, Submission, User
from server.tests.boards.archives import archive, commands
from server.tests.support.site import Site
from server.tests.support.small_challenge import queue, write_folder


def test_private_references_and_captions(site: Site, tmp_path: Path) -> None:
    site.load(write_folder(tmp_path / "small"))
    queue()
    site.work()
    root = User.objects.create(username="root", is_superuser=True)
    response = site.client(root).get("/challenges/small/archive.zip?phase=main&public=1")
    with zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content))) as opened:
        files = {name: opened.read(name) for name in opened.namelist()}
    readme = files["README.md"].decode()
    assert "There are no captions, as the captions files are not public." in readme
    assert "They cannot be computed again from this archive, as no references are public." in readme
    assert "`challenge/` cannot be loaded into a server, as no references are public." in readme
    assert not readme.rstrip().endswith(":")
    assert "captious score" not in readme
    text = files["challenge/challenge.toml"].decode()
    assert text.startswith("# This challenge cannot be loaded from the archive, as no references are public.")
    assert text.endswith((tmp_path / "small" / "challenge.toml").read_text())


def test_no_team_has_agreed(demo: Site) -> None:
    Submission.objects.update(may_publish=False, is_baseline=False)
    files = archive(demo, public="1")
    readme = files["README.md"].decode()
    assert "There are no captions, as no team has agreed to that." in readme
    assert "captions can be scored, in the folder `challenge/`. The captions file is one of yours." in readme
    assert "score captions.json references/c4.json" in commands(files)[0]
    assert not any(name.startswith("captions/") for name in files)


def test_nobody_has_submitted(demo: Site) -> None:
    Submission.objects.update(public=False)
    assert "There are no captions, as no submission has scores." in archive(demo, public="1")["README.md"].decode()


def test_the_creator(demo: Site) -> None:
    sentence = "the creator there is this site, captious: edit it."
    challenge = Challenge.objects.get()
    for names in ([], ["Ann Smith"]):
        challenge.definition_values |= {"organized_by": names}
        challenge.save()
        assert (sentence in archive(demo, public="1")["README.md"].decode()) is not bool(names)
        assert sentence not in archive(demo)["README.md"].decode()
