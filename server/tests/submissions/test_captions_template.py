"""What the page of a submission says about its captions, and the template that it offers."""

from __future__ import annotations

import io
import json
import zipfile
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from captious_server.models import Challenge
from captious_server.submissions.intake import _template_name
from captious_server.submissions.upload import ExpectedFile
from server.tests.browser.scenes import write_scenes
from server.tests.support.site import Site
from server.tests.support.small_challenge import CANDIDATES, write_folder


def test_filled_template_is_a_valid_submission(site: Site, tmp_path: Path) -> None:
    site.load(write_folder(tmp_path / "small"))
    user = site.user()
    page = site.client(user).get("/challenges/small/submit").content.decode()
    assert "3 captions needed, one for each image." in page
    assert "[{&quot;image_id&quot;: 1, &quot;caption&quot;: " in page
    response = site.client(user).get("/challenges/small/template?phase=main")
    assert response["Content-Disposition"] == 'attachment; filename="small-main-template.json"'
    rows = json.loads(b"".join(response.streaming_content))
    assert rows == [{"image_id": image, "caption": ""} for image in CANDIDATES]
    assert site.submit(user, rows, challenge="small").status_code == 422  # every caption is empty
    filled = [{**row, "caption": CANDIDATES[row["image_id"]]} for row in rows]
    form = site.form(user, json.dumps(filled).encode())
    page = site.client(user).post("/challenges/small/submit", form, follow=True).content.decode()
    onward = '<a href="/challenges/small/submissions">My submissions</a>'
    assert (
        f"Submitted to main. Its scores will appear on this page. All your submissions are listed under {onward}."
        in page
    )


def test_template_of_several_files_is_a_zip_file(site: Site, tmp_path: Path) -> None:
    site.user("olga")
    site.load(write_scenes(tmp_path / "scenes", organizer="olga"))

    Challenge.objects.update(access="public")
    user = site.user()
    page = site.client(user).get("/challenges/scenes/submit").content.decode()
    assert "<strong>Final</strong> 16 captions needed in <code>captions_val_*_results.json</code>" in page
    response = site.client(user).get("/challenges/scenes/template?phase=test")
    content = b"".join(response.streaming_content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: json.loads(archive.read(name)) for name in archive.namelist()}
    assert {name: len(rows) for name, rows in files.items()} == {
        "captions_val_template_results.json": 16,
        "captions_test_template_results.json": 8,
    }
    filled = io.BytesIO()
    with zipfile.ZipFile(filled, "w") as archive:
        for name, rows in files.items():
            captions = [{**row, "caption": f"a dog with {row['image_id']} balls"} for row in rows]
            archive.writestr(name, json.dumps(captions))
    answer = site.submit(user, filled.getvalue(), challenge="scenes", phase="test", filename="filled.zip")
    assert answer.status_code == 302


def test_phase_that_has_not_begun_has_no_template(site: Site, tmp_path: Path) -> None:
    site.load(write_folder(tmp_path / "small", limits='opens = "2120-01-01T00:00:00Z"'))
    assert site.client(site.user()).get("/challenges/small/template?phase=main").status_code == 404


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("*", "template.json"),
        ("val_?", "val_x"),
        ("captions_*_results.json", "captions_template_results.json"),
        ("val*", "valtemplate.json"),
    ],
)
def test_template_names_match_the_pattern(tmp_path: Path, pattern: str, name: str) -> None:
    assert _template_name(ExpectedFile("val", pattern, tmp_path)) == name
    assert fnmatchcase(name, pattern)
