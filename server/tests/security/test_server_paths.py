"""Where files of the server are is on no page, although challenges may name models and files outside their folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from captious import CiderD, read_references
from captious_server.challenges.definition import public_label
from captious_server.models import Submission
from server.tests.support.site import EXAMPLES, Site
from server.tests.support.small_challenge import upload, write_folder

PAGES = ("/", "/challenges/small/", "leaderboard", "leaderboard.csv", "leaderboard.json", "captions", "submit")


@pytest.mark.parametrize(
    ("label", "public"),
    [
        ("bleu-4", "bleu-4"),
        ("cider-d@paper:sigma=5", "cider-d@paper:sigma=5"),
        ("sbert:model=sentence-transformers/all-MiniLM-L6-v2", "sbert:model=sentence-transformers/all-MiniLM-L6-v2"),
        ("sbert:model=/srv/models/minilm", "sbert:model=minilm"),
        ("sbert:model=/srv/models/minilm/", "sbert:model=minilm"),
        ("wmd:vectors=~/vectors/glove.txt", "wmd:vectors=glove.txt"),
        ("cider-d:sigma=5,idf=/srv/idf.npz", "cider-d:sigma=5,idf=idf.npz"),
    ],
)
def test_public_labels_have_no_folders(label: str, public: str) -> None:
    assert public_label(label) == public


def test_no_page_shows_a_server_path(site: Site, tmp_path: Path) -> None:
    private = tmp_path / "models of the server"
    private.mkdir()
    CiderD().fit_resource(read_references(EXAMPLES / "references.json")).save(private / "idf.npz")
    folder = write_folder(tmp_path / "small")
    text = (folder / "challenge.toml").read_text()
    metric = f"cider-d:idf={private / 'idf.npz'}"
    text = text.replace('["bleu", "rouge-l"]', f'["bleu", "{metric}"]').replace('"bleu-4"', f'"{metric}"')
    (folder / "challenge.toml").write_text(f'{text}\n[[captions]]\nname = "captions"\npublic = true\n')
    challenge = site.load(folder)
    assert challenge.definition.rank_by == "cider-d:idf=idf.npz"
    ann = site.user("ann")
    site.submit(ann, upload(), challenge="small")
    site.work()
    submission = Submission.objects.get()
    assert submission.status == "done"
    assert {label for outputs in submission.shown_scores.outputs.values() for label in outputs} == {
        *(f"bleu-{n}" for n in (1, 2, 3, 4)),
        "cider-d:idf=idf.npz",
    }
    paths = [path if path.startswith("/") else f"/challenges/small/{path}" for path in PAGES]
    paths += [submission.url, f"{submission.url}scores/captions/c2.csv", "/challenges/small/captions/1"]
    paths += ["/api/v1/challenges/small", "/api/v1/challenges/small/leaderboard", "/challenges/small/submissions"]
    client = site.client(ann)
    for path in paths:
        answer = client.get(path)
        assert answer.status_code == 200, path
        content = b"".join(answer.streaming_content) if answer.streaming else answer.content
        assert b"models of the server" not in content, path
