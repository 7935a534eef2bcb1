"""A small site with every role and every kind of submission, for tests of who may see and do what.

The challenge "open" is public. A submission has two captions files: "val", whose references everybody may see, and
"test", whose references are private and contain words that no response may contain. "circle" is the same for
participants only, and "other" belongs to another organizer.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from server.tests.support.site import Site
from server.tests.support.small_challenge import as_toml

#: Words of private references. Each is in one reference, and in no caption.
MARKERS = ("zebrafinch", "quokkaprint", "wombatlore")
IDS = (11, 12, 13)
VAL, TEST = "captions_val_x_results.json", "captions_test_x_results.json"
TRACEBACK = "Traceback (most recent call last): secret frame"

_VALUES: dict[str, Any] = {
    "summary": "Captions of three images.",
    "logo": "logo.svg",
    "image_url": "https://images.example.org/{id}.jpg",
    "metrics": ["rouge-l"],
    "texts": [{"title": "Overview", "file": "overview.md"}],
    "downloads": [{"title": "Images", "file": "list.csv"}],
    "captions": [
        {"name": "val", "pattern": "captions_val_*_results.json", "public": True},
        {"name": "test", "pattern": "captions_test_*_results.json"},
    ],
    "references": [{"name": "c5", "captions": name, "file": f"{name}.json"} for name in ("val", "test")],
    "phases": [
        {"name": "main"},
        {"name": "hidden", "board": "hidden"},
        {"name": "past", "opens": "2020-01-01T00:00:00Z", "closes": "2020-12-31T00:00:00Z"},
        {"name": "future", "opens": "2120-01-01T00:00:00Z"},
        {"name": "daily", "scored_per_day": 2},
        {"name": "total", "scored_in_total": 2},
        {"name": "attempts", "attempts_per_day": 2},
    ],
}


def write_challenge(folder: Path, **values: Any) -> Path:
    """A challenge folder; its challenge.toml has these values."""
    folder.mkdir(parents=True)
    values = {**_VALUES, "title": "Open", "organizers": ["olga"], **values}
    (folder / "challenge.toml").write_text(as_toml(values), encoding="utf-8")
    (folder / "overview.md").write_text("About this challenge.\n", encoding="utf-8")
    (folder / "list.csv").write_text("image\n11\n12\n13\n", encoding="utf-8")
    (folder / "logo.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>', encoding="utf-8")
    write_references(folder / "val.json", {image: ["a cat on a mat", "the cat"] for image in IDS})
    private = {image: [f"a {word} on a mat", "the dog"] for image, word in zip(IDS, MARKERS, strict=True)}
    write_references(folder / "test.json", private)
    return folder


def write_references(file: Path, captions: Mapping[Any, Sequence[str]]) -> None:
    """References as COCO writes annotations."""
    rows = [(image, text) for image, texts in captions.items() for text in texts]
    annotations = [{"id": n, "image_id": image, "caption": text} for n, (image, text) in enumerate(rows, start=1)]
    images = [{"id": image} for image in captions]
    file.write_text(json.dumps({"images": images, "annotations": annotations}), encoding="utf-8")


def upload(caption: str = "a cat on a mat", *, ids: Sequence[Any] = IDS) -> bytes:
    """A submission with both captions files, in which all images have this caption."""
    from server.tests.submissions.uploads import zipped

    rows = json.dumps([{"image_id": image, "caption": caption} for image in ids]).encode()
    return zipped({VAL: rows, TEST: rows})


class World:
    """The site, with clients and tokens of its users.

    Attributes:
        users: bob (another team), ann (captain of team Alpha), mia (member of Alpha), fred (was a member of Alpha),
            paul (a participant of the circle), olga (organizer of "open" and "circle"), otto (organizer of "other"),
            root (administrator), dora (in team Alpha; deactivated).
        submissions: by what they are: public, private, hidden, anonymous, queued, failed, canceled, deleted,
            in_hidden (in a phase with a hidden leaderboard), by_former (private, submitted by fred), in_circle.
    """

    def __init__(self, site: Site, place: Path) -> None:
        from allauth.socialaccount.models import SocialAccount
        from django.utils import timezone

        from captious_server.models import Membership, Participant, User, Webhook, WorkerSeen
        from captious_server.people.accounts import make_invitation
        from captious_server.people.teams import ask, create_team, personal_team

        self.site = site
        self.users: dict[str, Any] = {}
        for name in ("bob", "ann", "mia", "fred", "paul", "olga", "otto", "dora"):
            self.users[name] = site.user(name, email=f"{name}@example.org", confirmed=True)
        self.users["root"] = User.objects.create_superuser("root", password="correct-horse-77")
        for slug, access, organizer in (
            ("open", "public", "olga"),
            ("circle", "participants", "olga"),
            ("other", "public", "otto"),
        ):
            terms: dict[str, Any] = {"terms": "Overview", "team_approval": True} if slug == "other" else {}
            folder = write_challenge(place / slug, title=slug.title(), access=access, organizers=[organizer], **terms)
            site.load(folder)
        for user in self.users.values():
            personal_team(user)
        self.alpha = create_team("Alpha", self.users["ann"])
        for name in ("dora", "mia", "fred"):
            Membership.objects.create(team=self.alpha, user=self.users[name])
        self.beta = create_team("Beta", self.users["bob"])
        self.invitation = make_invitation(self.alpha, self.users["ann"])
        circle = self.challenge("circle")
        Participant.objects.create(challenge=circle, user=self.users["paul"])
        SocialAccount.objects.create(user=self.users["ann"], provider="local", uid="ann")
        Webhook.objects.create(challenge=self.challenge("open"), url="https://hooks.example.org/", secret="whsec_x")
        self._cookies = {name: site.client(user).cookies for name, user in self.users.items()}
        self.tokens = {name: site.token(user) for name, user in self.users.items()}
        User.objects.filter(username="dora").update(is_active=False)
        WorkerSeen.objects.create(name="test", seen=timezone.now() + timedelta(days=1))
        self.submissions = self._submissions()
        Membership.objects.filter(team=self.alpha, user=self.users["fred"]).delete()
        self._drafts(place)
        ask(self.challenge("other"), self.users["bob"].teams.get(is_personal=True), "Bob of X.")

    def _drafts(self, place: Path) -> None:
        """A draft of the challenge "open", which Olga began, and a new one by Otto, who may make none any more."""
        from captious_server.models import Draft

        self.as_user("olga").post("/challenges/open/edit")
        draft = Draft.objects.create(slug="mine", title="Mine", user=self.users["otto"])
        shutil.copytree(place / "other", draft.folder)

    def challenge(self, slug: str) -> Any:
        from captious_server.models import Challenge

        return Challenge.objects.get(slug=slug)

    def submit(self, user: str, method: str, *, challenge: str = "open", team: Any = None, **values: Any) -> Any:
        """Take in a submission, without its page."""
        from django.utils import timezone

        from captious_server.models import Submission
        from captious_server.people.teams import personal_team
        from captious_server.submissions import intake
        from captious_server.submissions.storage import incoming_folder

        phase = self.challenge(challenge).phases.get(name=values.pop("phase", "main"))
        path = incoming_folder() / "given"
        path.write_bytes(upload(values.pop("caption", "a cat on a mat")))
        member = self.users[user]
        submission = Submission(
            phase=phase,
            team=team or personal_team(member),
            user=member,
            method=method,
            filename=values.pop("filename", "captions.zip"),
            created=timezone.now(),
            **values,
        )
        intake.submit(submission, path)
        return submission

    def _submissions(self) -> dict[str, Any]:
        from captious_server.models import Submission

        alpha: dict[str, Any] = {"team": self.alpha}
        submissions = {
            "public": self.submit("ann", "Public", **alpha),
            "private": self.submit("ann", "Private", public=False, **alpha),
            "hidden": self.submit("ann", "Hidden", **alpha),
            "anonymous": self.submit("ann", "Nameless", anonymous=True, **alpha),
            "in_hidden": self.submit("ann", "In hidden", phase="hidden", **alpha),
            "by_former": self.submit("fred", "By former", public=False, **alpha),
            "in_circle": self.submit("paul", "In circle", challenge="circle"),
        }
        self.site.work()
        for name in ("queued", "failed", "canceled", "deleted"):
            submissions[name] = self.submit("ann", name.title(), **alpha)
        rows = Submission.objects.all()
        rows.filter(pk=submissions["hidden"].pk).update(is_hidden=True)
        rows.filter(pk=submissions["failed"].pk).update(
            status="failed", traceback=TRACEBACK, reason="It failed.", counts=False
        )
        rows.filter(pk=submissions["canceled"].pk).update(status="canceled", counts=False)
        rows.filter(pk=submissions["deleted"].pk).update(status="deleted")
        shutil.rmtree(submissions["deleted"].folder)
        for submission in submissions.values():
            submission.refresh_from_db()
        return submissions

    def as_user(self, name: str) -> Any:
        """A browser in which a user has signed in; that of the visitor in which nobody has."""
        client = self.site.client()
        if name in self._cookies:
            client.cookies.update(self._cookies[name])
        return client

    @contextmanager
    def rollback(self) -> Iterator[None]:
        """A block after which the database and the settings are as before."""
        from django.conf import settings
        from django.core.cache import cache
        from django.db import transaction

        before = settings.CAPTIOUS
        with transaction.atomic():
            try:
                yield
            finally:
                transaction.set_rollback(True)
                self.site.use(before)
        cache.clear()

    def call(self, name: str, method: str, address: str, content: Any = None, **options: Any) -> Any:
        """A call of the API with a user's token; the visitor has none."""
        headers = {"Authorization": f"Bearer {self.tokens[name]}"} if name in self.tokens else {}
        send: Callable[..., Any] = self.site.client().generic
        return send(method, address, content or b"", "application/octet-stream", headers=headers, **options)
