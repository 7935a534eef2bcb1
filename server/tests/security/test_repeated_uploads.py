"""Uploads that are repeated because an answer was lost: of those with the same key, there is one submission."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any
from unittest.mock import Mock

import pytest

from captious_server.models import Attempt, Membership, Phase, Submission
from captious_server.pages.middleware import TakingTurns
from captious_server.submissions import intake
from server.tests.security.world import World, upload

CONTENT = upload()  # an archive has the time in it


def send(
    world: World,
    user: str = "ann",
    key: str = "one",
    phase: str = "daily",
    content: bytes = CONTENT,
    more: str = "",
) -> Any:
    """Submit captions for a user's own team."""
    address = f"/api/v1/challenges/open/submissions?method=Mine&phase={phase}&filename=captions.zip&team={user}{more}"
    header = {"HTTP_IDEMPOTENCY_KEY": key} if key else {}
    return world.call(user, "POST", address, content, **header)


@pytest.fixture
def several_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each request is answered by a web process of its own: the turns of one are not those of another."""
    monkeypatch.setattr(TakingTurns, "_turn", lambda *_: nullcontext())


def n_attempts(phase: str = "daily") -> int:
    return Attempt.objects.filter(phase__name=phase, phase__challenge__slug="open").count()


def test_same_key_returns_the_same_submission(sandbox: World) -> None:
    first = send(sandbox)
    assert first.status_code == 201
    for _ in range(3):
        again = send(sandbox)
        assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])
    assert n_attempts() == 1


def test_repeated_form_creates_one_submission(sandbox: World) -> None:
    client = sandbox.as_user("ann")

    def key() -> str:
        found = re.search(r'name="form_key" value="(.+?)"', client.get("/challenges/open/submit").content.decode())
        assert found
        return found[1]

    def sent(**values: Any) -> str:
        content = values.pop("content", CONTENT)
        form = sandbox.site.form(sandbox.users["ann"], content, filename="captions.zip", **values)
        response = client.post("/challenges/open/submit", form)
        assert response.status_code == 302
        return str(response["Location"])

    first = key()
    addresses = [sent(form_key=first) for _ in range(3)]
    assert len({*addresses}) == 1
    others = [
        sent(form_key=first, method="Other"),
        sent(form_key=first, content=upload("a dog")),  # the browser went back
        sent(form_key=key()),
        sent(),
        sent(),
    ]
    assert len({*addresses, *others}) == 6


def test_other_keys_and_users_create_other_submissions(sandbox: World) -> None:
    numbers = [
        send(sandbox).json()["id"],
        send(sandbox, key="two").json()["id"],
        send(sandbox, user="bob").json()["id"],
        send(sandbox, key="", phase="main").json()["id"],
        send(sandbox, key="", phase="main").json()["id"],
    ]
    assert len({*numbers}) == 5


def test_repeated_upload_after_the_close_is_answered(sandbox: World) -> None:
    number = send(sandbox).json()["id"]
    Phase.objects.update(closes="2020-01-01T00:00:00Z")
    assert send(sandbox).json()["id"] == number


@pytest.mark.usefixtures("several_processes")
@pytest.mark.parametrize("phase", ["daily", "attempts", "total"])
def test_concurrent_uploads_with_one_key_are_one_attempt(
    sandbox: World, monkeypatch: pytest.MonkeyPatch, while_reading: Callable[..., None], phase: str
) -> None:
    """The second begins while the first is being read."""
    monkeypatch.setattr(intake, "_turn", lambda _: nullcontext())
    answers: list[Any] = []
    while_reading(lambda: answers.append(send(sandbox, phase=phase)))
    answers.append(send(sandbox, phase=phase))
    assert sorted(answer.status_code for answer in answers) == [200, 201]
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert n_attempts(phase) == 1


@pytest.mark.usefixtures("several_processes")
def test_concurrent_invalid_uploads_each_count(sandbox: World, while_reading: Callable[..., None]) -> None:
    """The second is not given the attempt of the first; it would be read without counting."""
    answers: list[Any] = []
    while_reading(lambda: answers.append(send(sandbox, content=b"bad")))
    answers.append(send(sandbox, content=b"bad"))
    assert [answer.status_code for answer in answers] == [429, 422]
    assert n_attempts() == 1


@pytest.mark.usefixtures("several_processes")
@pytest.mark.parametrize("more", ["", "&dry_run=1"])
def test_account_has_one_upload_read_at_a_time(sandbox: World, while_reading: Callable[..., None], more: str) -> None:
    answers: list[Any] = []
    others = (("ann", "second"), ("bob", "third"))
    while_reading(lambda: answers.extend([send(sandbox, user, key, more=more) for user, key in others]))
    answers.append(send(sandbox, more=more))
    taken = 200 if more else 201
    assert [answer.status_code for answer in answers] == [429, taken, taken]
    assert answers[0]["Retry-After"] == "5"
    assert answers[0].json()["error"].startswith("Another upload of your account is being read.")
    assert send(sandbox, key="second", more=more).status_code == taken


def interrupted(sandbox: World, monkeypatch: pytest.MonkeyPatch, begin: Callable[..., Any]) -> None:
    """An upload that ends in the middle, as when its process is killed."""
    with monkeypatch.context() as patch:
        patch.setattr(intake, "read_upload", Mock(side_effect=SystemExit))
        patch.setattr(intake, "_end_attempt", lambda *_, **__: None)
        with pytest.raises(SystemExit):
            begin()


def test_upload_resumes_after_a_killed_web_process(sandbox: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its attempt continues, so the last one of a day is enough."""
    assert send(sandbox, key="before", phase="attempts").status_code == 201
    interrupted(sandbox, monkeypatch, lambda: send(sandbox, phase="attempts"))
    assert send(sandbox, key="other", phase="attempts").status_code == 409
    assert send(sandbox, phase="attempts").status_code == 201
    assert n_attempts("attempts") == 2


def test_refused_captions_count_each_time(sandbox: World) -> None:
    """Otherwise a key would give any number of attempts."""
    for _ in range(2):
        assert send(sandbox, phase="attempts", content=b"bad").status_code == 422
    assert send(sandbox, phase="attempts", key="two").status_code == 409


def test_former_members_learn_nothing(sandbox: World) -> None:
    number = send(sandbox).json()["id"]
    Submission.objects.update(public=False)
    Membership.objects.filter(user__username="ann").delete()
    answer = send(sandbox)
    assert (answer.status_code, [*answer.json()]) == (409, ["error"])
    assert sandbox.call("ann", "GET", f"/api/v1/submissions/{number}").status_code == 404


def test_key_of_another_upload_is_refused(sandbox: World) -> None:
    assert send(sandbox).status_code == 201
    for changed in ({"phase": "main"}, {"content": upload("a dog")}, {"content": b"bad"}):
        answer = send(sandbox, **changed)
        assert (answer.status_code, "a different upload" in answer.json()["error"]) == (422, True)
    assert n_attempts() == 1


def test_dry_runs_ignore_keys(sandbox: World) -> None:
    assert send(sandbox).status_code == 201
    assert "problems" in send(sandbox, more="&dry_run=1").json()


@pytest.mark.parametrize("key", ["k" * 65, "schlüssel"])
def test_invalid_keys_are_refused(sandbox: World, key: str) -> None:
    assert send(sandbox, key=key).status_code == 400
