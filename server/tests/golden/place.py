"""A small site that is made as users make one: with commands, forms and calls of the API.

The challenge "open" is public and "circle" is for participants. A submission has captions of two halves of the images
of examples/: "val", whose references everybody may see, and "test". Teams must be approved for "circle", which also
has terms.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from server.tests.golden.commands import done
from server.tests.support.site import EXAMPLES, FOLDERS, PASSWORD, Site
from server.tests.support.small_challenge import as_toml
from tests.support.tables import tables

#: The roles of the record -> what they are. All but the first have signed in.
ROLES = {
    "visitor": "has not signed in",
    "stranger": "has an account, and no team with others",
    "member": "is in the team Alpha",
    "captain": "is the captain of the team Alpha, which has all submissions of the record",
    "rival": "is in the team Beta, and a participant of the challenge circle",
    "organizer": "organizes both challenges",
    "administrator": "",
}
#: Holders of tokens with less than all rights: scopes, and the only challenge.
TOKENS = {"reader": ("captain", ("read",), ""), "limited": ("captain", ("submit", "organize"), "circle")}
_ALL_SCOPES = ("read", "submit", "teams", "organize")
_CREATED = "Created by a test."

_CHALLENGE = tables(__file__)["challenge"]


def captions_of(name: str) -> dict[str, str]:
    """The captions of a system: one of examples/, people, or a mixture of those."""
    references = json.loads((EXAMPLES / "references.json").read_text())
    if name == "people":
        return {image: texts[-1] for image, texts in references.items()}
    if name.startswith("mixture"):
        every = int(name.removeprefix("mixture"))
        a, b = captions_of("baseline"), captions_of("improved")
        return {image: (b if n % every else a)[image] for n, image in enumerate(references)}
    return {str(row["image_id"]): row["caption"] for row in json.loads((EXAMPLES / f"{name}.json").read_text())}


def halves(captions: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The captions of the two captions files."""
    images = sorted(captions)
    middle = len(images) // 2
    return {
        name: {image: captions[image] for image in part}
        for name, part in (("val", images[:middle]), ("test", images[middle:]))
    }


def upload(name: str) -> bytes:
    """A submission with the captions of a system."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        for half, captions in halves(captions_of(name)).items():
            rows = [{"image_id": int(image), "caption": text} for image, text in captions.items()]
            file.writestr(zipfile.ZipInfo(f"captions_{half}_{name}_results.json"), json.dumps(rows))
    return content.getvalue()


def write_challenge(folder: Path, **values: Any) -> Path:
    """The folder of a challenge; its challenge.toml has these values instead of the usual ones."""
    folder.mkdir(parents=True)
    (folder / "challenge.toml").write_text(as_toml({**_CHALLENGE, **values}), encoding="utf-8")
    (folder / "overview.md").write_text("# About\n\nCaptions are *judged*.\n", encoding="utf-8")
    (folder / "rules.md").write_text("1. No training on the images.\n", encoding="utf-8")
    (folder / "logo.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>', encoding="utf-8")
    references = json.loads((EXAMPLES / "references.json").read_text())
    (folder / "list.csv").write_text("\n".join(["image", *references, ""]), encoding="utf-8")
    for half, captions in halves(references).items():
        (folder / f"{half}_c5.json").write_text(json.dumps(captions), encoding="utf-8")
        (folder / f"{half}_c2.json").write_text(json.dumps({k: v[:2] for k, v in captions.items()}), encoding="utf-8")
    for name in ("baseline", "people"):
        (folder / f"{name}.zip").write_bytes(upload(name))
    return folder


class Place:
    """The site, once it has been filled.

    Attributes:
        submissions: their ids, by what they are; those in circle are the rival's.
        tokens: of the API, by role.
        values: of the parameters of addresses, by what they are: the other ids, and links that are secret.
    """

    def __init__(self, site: Site, folder: Path) -> None:
        self.site = site
        self.folder = folder
        self.submissions: dict[str, int] = {}
        self.tokens: dict[str, str] = {}
        self.values: dict[str, str] = {}
        self._cookies: dict[str, Any] = {}
        self._files: dict[str, bytes] = {}
        self._known: dict[str, tuple[int, int]] = {}

    def fill(self) -> None:
        """Make users, teams, challenges, submissions and drafts."""
        self._people()
        self._challenges()
        self._teams()
        self._submissions()
        self._rest()
        self.keep_files()

    # How it is reached

    def browser(self, role: str, *, strict: bool = False) -> Any:
        """A browser in which a role has signed in.

        Args:
            strict: whether forms need their secret; otherwise, they are accepted without it.
        """
        client = self.site.client()
        client.handler.enforce_csrf_checks = strict
        if role in self._cookies:
            client.cookies.update(self._cookies[role])
        return client

    def call(self, role: str, method: str, address: str, content: bytes = b"", type: str = "") -> Any:
        """A call of the API with the token of a role; a visitor has none."""
        headers = {"Authorization": f"Bearer {self.tokens[role]}"} if role in self.tokens else {}
        send: Callable[..., Any] = self.browser("visitor").generic
        return send(method, address, content, type or "application/octet-stream", headers=headers)

    def form(self, role: str, address: str, **values: Any) -> Any:
        """Send a form that must be accepted."""
        response = self.browser(role).post(address, values)
        assert response.status_code == 302, (address, response.status_code, response.content[-2000:])
        return response

    def api(self, role: str, address: str, content: bytes = b"", **query: Any) -> Any:
        """A POST to the API that must succeed; gives the JSON."""
        response = self.call(role, "POST", f"/api/v1/{address}?{urlencode(query)}", content)
        assert response.status_code < 300, response.content
        return response.json()

    def model(self, name: str) -> Any:
        """A table of the database, for what no page says."""
        from django.apps import apps

        return apps.get_model("captious", name)

    @contextmanager
    def undone(self, *, files: bool = True) -> Iterator[None]:
        """A block after which the database, the counts of requests and, with ``files``, the files are as before."""
        from django.core.cache import cache
        from django.db import transaction

        with transaction.atomic():
            try:
                yield
            finally:
                transaction.set_rollback(True)
        cache.clear()
        if files:
            self._restore_files()

    def _there(self) -> dict[str, tuple[int, int]]:
        """The files of the site, and what changes when one is written."""
        found = {}
        for part in FOLDERS:
            for folder, _, names in os.walk(self.site.data / part):
                for path in (os.path.join(folder, name) for name in names):
                    about = os.stat(path)
                    found[path] = (about.st_mtime_ns, about.st_size)
        return found

    def keep_files(self) -> None:
        """Remember the files of the site, so that ``undone`` restores them."""
        self._known = self._there()
        self._files = {path: Path(path).read_bytes() for path in self._known}

    def _restore_files(self) -> None:
        there = self._there()
        for path in there.keys() - self._known.keys():
            os.unlink(path)
        for path, about in self._known.items():
            if there.get(path) != about:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
                Path(path).write_bytes(self._files[path])
                os.utime(path, ns=(about[0], about[0]))

    # How it is made

    def _people(self) -> None:
        data = self.site.data
        with self.environment(CAPTIOUS_ADMIN_PASSWORD=PASSWORD):
            done("serve", "admin", "--data", data, "--user", "administrator")
        client = self.site.client()
        assert client.post("/sign-in", {"login": "administrator", "password": PASSWORD}).status_code == 302
        self._cookies["administrator"] = client.cookies
        for role in list(ROLES)[1:-1]:
            client = self.site.client()
            values = {"username": role, "email": f"{role}@example.org", "password1": PASSWORD, "password2": PASSWORD}
            response = client.post("/sign-up", values)
            assert response.status_code == 302, response.content
            self._cookies[role] = client.cookies

    @contextmanager
    def environment(self, **values: str) -> Iterator[None]:
        from unittest import mock

        with mock.patch.dict("os.environ", values):
            yield

    def _challenges(self) -> None:
        circle = {"access": "participants", "terms": "Rules", "team_approval": True}
        for slug, values in (("open", {}), ("circle", circle)):
            folder = write_challenge(self.folder / slug, title=slug.title(), **values)
            done("challenge", "load", folder, "--data", self.site.data)
        self.form("organizer", "/challenges/circle/manage", action="participants", names="rival")

    def _teams(self) -> None:
        data = self.site.data
        for role in list(ROLES)[1:]:
            scopes = [word for scope in _ALL_SCOPES for word in ("--scope", scope)]
            outcome = done("serve", "token", "--data", data, "--user", role, "--name", _CREATED, *scopes)
            self.tokens[role] = outcome.out.strip()
        for name, (role, some, challenge) in TOKENS.items():
            words = [word for scope in some for word in ("--scope", scope)]
            words += ["--challenge", challenge] if challenge else []
            self.tokens[name] = done("serve", "token", "--data", data, "--user", role, *words).out.strip()
        self.tokens["wrong"] = "cap_wrong"
        self.form("captain", "/account/", action="team", **{"team-name": "Alpha"})
        self.form("rival", "/account/", action="team", **{"team-name": "Beta"})
        invitation = self.api("captain", "teams/alpha/invite", label="for the member")["link"]
        self.form("member", invitation.removeprefix("http://testserver"))
        link = self.api("captain", "teams/alpha/invite", label="for nobody")["link"]
        self.values["invitation"] = link.rpartition("/")[2]

    def submit(self, name: str, role: str, system: str, *, challenge: str = "open", **query: Any) -> int:
        """Submit the captions of a system; the API gives the id."""
        values = {"method": name.title(), "filename": f"{system}.zip", "phase": "main", **query}
        answer = self.api(role, f"challenges/{challenge}/submissions", upload(system), **values)
        self.submissions[name] = int(answer["id"])
        return self.submissions[name]

    def _submissions(self) -> None:
        alpha, beta = {"team": "alpha"}, {"team": "beta"}
        link = {"link": "https://example.org/", "description": "Of *ours*.", "may_publish": "1"}
        self.submit("public", "captain", "improved", **alpha, **link)
        self.submit("second", "member", "baseline", **alpha)
        self.submit("private", "captain", "mixture2", public="0", **alpha)
        self.submit("anonymous", "rival", "mixture3", anonymous="1", **beta)
        self.submit("twin", "stranger", "mixture3")
        self.submit("kept back", "member", "mixture5", **alpha)
        self.submit("in hidden", "captain", "improved", phase="hidden", **alpha)
        self.site.work()
        self.submit("canceled", "captain", "baseline", **alpha)
        self.api("captain", f"submissions/{self.submissions['canceled']}/cancel")
        self.submit("deleted", "captain", "people", **alpha)
        self.api("captain", f"submissions/{self.submissions['deleted']}/delete")
        self.submit("queued", "captain", "mixture4", **alpha)
        hidden = self.submissions["kept back"]
        self.form("organizer", "/challenges/open/manage", action="hide", submission=hidden, sure="1")
        bad = self.call("captain", "POST", "/api/v1/challenges/open/submissions?method=Bad&phase=main&team=alpha", b"[")
        assert bad.status_code == 422, bad.content

    def _rest(self) -> None:
        """News, webhooks, terms, approvals, drafts; and a worker that was seen."""
        from django.core.files.uploadedfile import SimpleUploadedFile
        from django.utils import timezone

        manage = "/challenges/open/manage"
        self.form("organizer", manage, action="news", title="Open now", text="Submit *soon*.")
        proved = self.site.client(self.model("User").objects.get(username="organizer"))
        webhook = {"action": "webhook", "url": "https://hooks.example.org/x"}
        assert proved.post(manage, webhook).status_code == 302
        self.form("rival", "/challenges/circle/teams", action="ask", team="beta", message="We are at X.")
        self.form("organizer", "/challenges/open/edit")
        file = SimpleUploadedFile("references.json", (EXAMPLES / "references.json").read_bytes())
        self.form("administrator", "/drafts/", title="New one", slug="mine", summary="It is new.", file=file)
        seen = timezone.now() + timedelta(days=1)
        self.model("WorkerSeen").objects.create(name="test", seen=seen)
        user = self.model("User").objects.get(username="captain")
        user.socialaccount_set.create(provider="local", uid="captain")
        rows = {"member": self.model("User").objects.get(username="member")}
        rows["webhook"] = self.model("Webhook").objects.get()
        rows["token"] = self.model("Token").objects.filter(user=user).order_by("pk")[0]
        rows["open_invitation"] = self.model("Invitation").objects.get(label="for nobody")
        self.values |= {name: str(row.pk) for name, row in rows.items()}
