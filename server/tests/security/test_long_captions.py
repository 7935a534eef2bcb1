"""Captions that would hold a worker for long are refused before anything counts."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from captious_server.models import Attempt, Submission
from server.tests.support.site import Site
from server.tests.support.small_challenge import CANDIDATES, write_folder


@pytest.mark.parametrize(("words", "status"), [(900, 422), (20, 302)])
def test_caption_of_900_words_is_refused(site: Site, tmp_path: Path, words: int, status: int) -> None:
    choose = random.Random(0).choices
    site.load(write_folder(tmp_path / "small"))
    ann = site.user()
    rows = [
        {"image_id": image, "caption": " ".join(choose(["dog", "cat", "runs", "the", "on"], k=words))}
        for image in CANDIDATES
    ]
    answer = site.submit(ann, rows, challenge="small")
    assert answer.status_code == status
    assert Submission.objects.count() == (status == 302)
    assert Attempt.objects.filter(is_complete=True).count() == 1
    if status == 422:
        page = answer.content.decode()
        assert "3 captions have more than 150 words" in page
        assert "1, 2, 3" in page  # the images


def test_submit_page_states_the_word_limit(site: Site, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "small")
    text = (folder / "challenge.toml").read_text()
    (folder / "challenge.toml").write_text(f"max_words = 31\n{text}")
    site.load(folder)
    ann = site.user()
    page = site.client(ann).get("/challenges/small/submit").content.decode()
    assert "at most 31 words" in page
    rows = [{"image_id": image, "caption": "word " * (31 + image % 2)} for image in CANDIDATES]
    answer = site.submit(ann, rows, challenge="small").content.decode()
    assert "2 captions have more than 31 words" in answer
