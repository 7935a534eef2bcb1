"""Submissions that look like probes of private references are held, and released by organizers."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from captious_server.models import AuditEvent, Challenge, Notice, User, Webhook
from captious_server.notices.delivery import ended_submissions
from captious_server.scoring.queue import release
from captious_server.submissions import probes
from server.tests.support.site import EXAMPLES, Site, example
from server.tests.support.small_challenge import as_toml

IDS = [row["image_id"] for row in example()]
PUBLIC, PRIVATE = IDS[:12], IDS[12:]


def write(folder: Path, *, public: bool = True, **values: Any) -> Path:
    """Return the folder of a challenge with a private captions file, and a public one, if wanted."""
    folder.mkdir()
    references = json.loads((EXAMPLES / "references.json").read_text())
    parts = {"val": PUBLIC, "test": PRIVATE} if public else {"test": PRIVATE}
    for name, ids in parts.items():
        (folder / f"{name}.json").write_text(json.dumps({image: references[str(image)] for image in ids}))
    rows: dict[str, Any] = {
        "title": "Probed",
        "slug": "probed",
        "metrics": ["bleu"],
        "organizers": ["olga"],
        **values,
        "captions": [{"name": name, "public": name == "val"} for name in parts],
        "references": [{"name": "c5", "captions": name, "file": f"{name}.json"} for name in parts],
        "phases": [{"name": name, "captions": [name]} for name in parts],
    }
    (folder / "challenge.toml").write_text(as_toml(rows))
    return folder


def rows(text: Any) -> list[dict[str, Any]]:
    """Return captions of the private images, made from their number."""
    return [{"image_id": image, "caption": text(n)} for n, image in enumerate(PRIVATE)]


def gibberish(n: int, words: int = 13) -> str:
    rng = random.Random(n)
    return " ".join("".join(rng.choices("bcdfghjklmnpqrstvwxz", k=7)) for _ in range(words))


def probe(n: int) -> str:
    """A word that references may have, and words that none has."""
    return f"man {gibberish(n)}"


def real() -> list[dict[str, Any]]:
    return [row for row in example() if row["image_id"] in PRIVATE]


@pytest.fixture
def probed(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A site on which the few words of twelve images tell which words are usual."""
    monkeypatch.setattr(probes, "_MIN_WORDS", 100)
    site.user("olga")
    site.load(write(tmp_path / "probed", unknown_words=0.6))
    return site


def submit(site: Site, user: Any, captions: Any, **values: Any) -> Any:
    answer = site.submit(user, captions, challenge="probed", phase="test", **values)
    assert answer.status_code == 302, answer.content.decode()
    return site.submissions()[-1]


def test_probe_is_held_until_an_organizer_releases_it(probed: Site) -> None:
    ann, olga = probed.user(), User.objects.get(username="olga")
    row = submit(probed, ann, rows(probe), method="Probe")
    assert row.status == "held"
    assert row.reason == "It waits for the organizers, as 93% of its words are in hardly any other captions."
    probed.work()
    row.refresh_from_db()
    assert (row.status, row.shown_scores) == ("held", None)
    page = probed.client(ann).get(row.url).content.decode()
    assert "<strong>Held.</strong> It waits for the organizers" in page
    manage = probed.client(olga).get("/challenges/probed/manage?status=held").content.decode()
    assert "Decide" in manage
    post = {"action": "let_through", "submission": row.pk}
    assert probed.client(ann).post("/challenges/probed/manage", post).status_code == 404
    assert probed.client(olga).post("/challenges/probed/manage", post).status_code == 302
    probed.work()
    row.refresh_from_db()
    assert (row.status, row.reason) == ("done", "")
    assert row.shown_scores is not None
    assert AuditEvent.objects.filter(action="let through", target="Probe", actor="olga").exists()


def test_held_submissions_can_be_canceled(probed: Site) -> None:
    ann = probed.user()
    row = submit(probed, ann, rows(probe))
    assert "Cancel scoring" in probed.client(ann).get(row.url).content.decode()
    headers = {"Authorization": f"Bearer {probed.token(ann)}"}
    address = f"/api/v1/submissions/{row.pk}/cancel"
    assert probed.client().generic("POST", address, headers=headers).json()["status"] == "canceled"
    answer = probed.client().generic("POST", address, headers=headers)
    message = "Only what waits to be scored for the first time can be canceled. This one is canceled."
    assert (answer.status_code, answer.json()["error"]) == (409, message)
    row.refresh_from_db()
    assert not row.counts


def test_real_captions_and_public_phases_are_not_held(probed: Site) -> None:
    assert submit(probed, probed.user(), real()).status == "queued"
    ids = iter(PUBLIC)
    public = [{"image_id": next(ids), "caption": row["caption"]} for row in rows(probe)]
    answer = probed.submit(probed.user("bob"), public, challenge="probed", phase="val")
    assert answer.status_code == 302
    assert probed.submissions()[-1].status == "queued"


def test_few_distinct_captions_are_held(site: Site, tmp_path: Path) -> None:
    site.user("olga")
    site.load(write(tmp_path / "probed", distinct_captions=0.5))
    words = sorted({word for row in real() for word in row["caption"].split() if word.isalpha()})
    row = submit(site, site.user(), rows(lambda n: words[n % 4]))
    assert row.reason == "It waits for the organizers, as 33% of its captions are distinct."


def test_few_public_references_tell_nothing(site: Site, tmp_path: Path) -> None:
    site.user("olga")
    site.load(write(tmp_path / "probed"))
    assert submit(site, site.user(), rows(probe)).status == "queued"


def test_organizers_turn_holding_off(probed: Site, tmp_path: Path) -> None:
    site = probed
    site.load(write(tmp_path / "off", unknown_words=1.0, distinct_captions=0.0))
    assert submit(site, site.user(), rows(probe)).status == "queued"


def test_without_public_references_other_submissions_tell_usual_words(site: Site, tmp_path: Path) -> None:
    site.user("olga")
    site.load(write(tmp_path / "probed", public=False))
    assert submit(site, site.user("first"), rows(probe)).status == "queued"  # nothing to compare it with
    for n in range(5):
        assert submit(site, site.user(f"team-{n}"), real()).status == "queued"
    assert submit(site, site.user("prober"), rows(probe)).status == "held"
    assert submit(site, site.user("honest"), real()).status == "queued"


def test_webhooks_are_told(probed: Site) -> None:
    Webhook.objects.create(challenge=Challenge.objects.get(), url="https://example.org/", secret="x")
    row = submit(probed, probed.user(), rows(probe))
    for after, status in (("held", "held"), ("ended", "done")):
        assert (ended_submissions(), ended_submissions()) == (1, 0)
        told = json.loads(Notice.objects.latest("pk").body)
        assert told["event"] == f"submission.{after}"
        assert (told["submission"]["id"], told["submission"]["status"]) == (row.pk, status)
        release(row)
        probed.work()
