"""Requests of each kind wait for their turn, and no sender keeps others out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from time import sleep
from types import SimpleNamespace
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from captious_server.pages.middleware import TakingTurns
from captious_server.people.accounts import TooManyRequests
from captious_server.people.turns import Turns, takes_long

UPLOAD = "/api/v1/challenges/open/submissions"


class Crowd:
    """Requests in threads of their own, each of which is answered when it is told to.

    Attributes:
        begun: the requests that have had their turn, in this order.
        refused: those for which there was no place.
    """

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._ends: dict[str, threading.Event] = {}
        self._threads: list[threading.Thread] = []
        self.begun: list[str] = []
        self.refused: list[str] = []

    def send(self, *names: str) -> None:
        """Send requests: "ann1" is one of ann, "ann1@here" is one of ann and of an address."""
        for name in names:
            before = self._n_known
            self._ends[name] = threading.Event()
            self._threads.append(threading.Thread(target=self._run, args=(name,), daemon=True))
            self._threads[-1].start()
            while self._n_known == before:
                sleep(0.001)

    @property
    def _n_known(self) -> int:
        return len(self.begun) + len(self.refused) + len(self._turns._waiting)

    def _run(self, name: str) -> None:
        first, _, address = name.partition("@")
        try:
            with self._turns.turn(*[party for party in (first.rstrip("0123456789"), address) if party]):
                self.begun.append(name)
                self._ends[name].wait(60)
        except TooManyRequests as refusal:
            assert refusal.seconds == 30
            self.refused.append(name)

    def end(self, *names: str) -> None:
        """Answer requests that have had their turn, and wait until the next of those that can begin have begun."""
        for name in names:
            assert name in self.begun
            self._ends[name].set()
            self._threads[[*self._ends].index(name)].join(60)
        while len(self.begun) < len(self._ends) - len(self.refused) - len(self._turns._waiting):
            sleep(0.001)

    def end_all(self) -> None:
        for each in self._ends.values():
            each.set()
        for thread in self._threads:
            thread.join(60)


@pytest.fixture
def crowd() -> Iterator[Callable[..., Crowd]]:
    made: list[Crowd] = []

    def new(*limits: int, **options: int) -> Crowd:
        made.append(Crowd(Turns(*limits, **options)))
        return made[-1]

    yield new
    for each in made:
        each.end_all()
        assert sorted([*each.begun, *each.refused]) == sorted(each._ends)
        assert (each._turns._passed, each._turns._last_ends, each._turns._waiting) == ({}, {}, [])


def test_requests_are_answered_in_order(crowd: Callable[..., Crowd]) -> None:
    people = crowd(2, 2)
    people.send("ann1", "bob1", "cleo1", "dan1")
    assert people.begun == ["ann1", "bob1"]
    people.end("bob1")
    assert people.begun == ["ann1", "bob1", "cleo1"]


def test_party_has_its_limit(crowd: Callable[..., Crowd]) -> None:
    people = crowd(4, 2)
    people.send("ann1", "ann2", "ann3", "bob1")
    assert people.begun == ["ann1", "ann2", "bob1"]
    people.end("ann1")
    assert people.begun[3:] == ["ann3"]


def test_parties_take_turns(crowd: Callable[..., Crowd]) -> None:
    """Whoever had a turn goes to the end of the queue."""
    people = crowd(1, 1)
    people.send("ann1", "ann2", "ann3", "bob1", "cleo1")
    for name in ("ann1", "bob1", "cleo1", "ann2"):
        people.end(name)
    assert people.begun == ["ann1", "bob1", "cleo1", "ann2", "ann3"]


def test_request_counts_for_account_and_address(crowd: Callable[..., Crowd]) -> None:
    """Uploads of many tokens of one address wait for one of another address."""
    people = crowd(2, 1, 2)
    people.send("a1@here", "b1@here", "c1@here", "d1@here", "a2@there", "e1@there")
    assert people.begun == ["a1@here", "b1@here"]
    people.end("b1@here")
    assert people.begun[2:] == ["e1@there"]  # a is being read
    people.end("a1@here")
    assert people.begun[3:] == ["c1@here"]  # a has just had its turn


def test_few_parties_leave_places_to_others(crowd: Callable[..., Crowd]) -> None:
    """Of ten places, one party may have five, and each of two others as many as are left then."""
    people = crowd(1, 1, places=10)
    people.send("zoe1", *[f"ann{n}" for n in range(8)], *[f"bob{n}" for n in range(8)])
    assert len(people._turns._waiting) == 8
    assert people.refused == ["ann5", "ann6", "ann7", *[f"bob{n}" for n in range(3, 8)]]
    people.send("cleo1", "dan1")
    assert "cleo1" not in people.refused
    people.send("ann8")
    assert people.refused[-1] == "ann8"


def test_turn_ends_with_an_error() -> None:
    turns = Turns(1, 1)
    for _ in range(2):
        with pytest.raises(ValueError, match="x"), turns.turn("ann"):
            raise ValueError("x")


@pytest.mark.parametrize(
    ("path", "is_slow"),
    [
        ("/challenges/demo/compare", True),
        ("/challenges/demo/captions/11", True),
        ("/submissions/1/scores/val/c5.csv", True),
        ("/api/v1/challenges/demo/compare", True),
        ("/api/v1/submissions/1/scores", True),
        ("/api/v1/submissions/1", False),
        ("/api/v1/challenges/demo/leaderboard", False),
        ("/challenges/demo/leaderboard", False),
    ],
)
def test_slow_pages_are_known(path: str, is_slow: bool) -> None:
    """API calls that compute the same count as slow pages."""
    assert takes_long(path) == is_slow


class Views:
    """Views behind the middleware: those of paths that are held are answered in the end."""

    def __init__(self, *held: str) -> None:
        self._held, self._go_on = held, threading.Event()
        self.begun: list[str] = []
        self._answer = TakingTurns(self._view)
        self._threads: list[threading.Thread] = []

    def _view(self, request: HttpRequest) -> HttpResponse:
        self.begun.append(request.path)
        if request.path in self._held:
            assert self._go_on.wait(60)
        return HttpResponse(request.path)

    def ask(self, path: str, method: str = "POST", address: str = "192.0.2.1", **headers: Any) -> HttpResponse:
        request = RequestFactory().generic(method, path, REMOTE_ADDR=address, headers=headers)
        request.user = SimpleNamespace(is_authenticated=False)
        return self._answer(request)

    def hold(self, n: int, path: str, method: str = "POST", *, addresses: int = 1) -> None:
        """Ask ``n`` times for a path that is held, and wait until as many views have begun as may."""
        for number in range(n):
            address = f"198.51.100.{number % addresses}"
            job = threading.Thread(target=self.ask, args=(path, method, address), daemon=True)
            self._threads.append(job)
            job.start()
        sleep(0.3)

    def close(self) -> None:
        self._go_on.set()
        for each in self._threads:
            each.join(60)


@pytest.fixture
def views(site: Any) -> Iterator[Callable[..., Views]]:
    site.configure(web_threads=4, concurrent_reads=2, concurrent_passwords=1)
    made: list[Views] = []

    def new(*held: str) -> Views:
        made.append(Views(*held))
        return made[-1]

    yield new
    for each in made:
        each.close()


@pytest.mark.parametrize(
    ("path", "method", "addresses", "at_once"),
    [
        (UPLOAD, "POST", 10, 2),
        ("/challenges/open/submit", "POST", 10, 2),
        ("/sign-in", "POST", 10, 1),
        ("/challenges/open/captions/1", "GET", 10, 1),
        ("/", "GET", 10, 4),
        ("/", "GET", 1, 2),
    ],
)
def test_kinds_of_requests_do_not_wait_for_each_other(
    views: Callable[..., Views], path: str, method: str, addresses: int, at_once: int
) -> None:
    site = views(path)
    site.hold(10, path, method, addresses=addresses)
    assert site.begun == [path] * at_once
    if path != "/":
        assert site.ask("/", "GET").content == b"/"
    elif addresses == 1:
        assert site.ask("/other", "GET").content == b"/other"
    if path != "/sign-in":
        assert site.ask("/sign-in").content == b"/sign-in"


@pytest.mark.parametrize(("path", "is_json"), [(UPLOAD, True), ("/sign-in", False)])
def test_requests_without_a_place_are_answered_429(
    views: Callable[..., Views], monkeypatch: pytest.MonkeyPatch, path: str, is_json: bool
) -> None:
    monkeypatch.setattr("captious_server.people.turns._UPLOAD_PLACES", 4)
    monkeypatch.setattr(Turns.__init__, "__kwdefaults__", {"places": 4})
    site = views(path)
    site.hold(8, path)
    response = site.ask(path, address="198.51.100.0")
    assert (response.status_code, response["Retry-After"]) == (429, "30")
    assert (response["Content-Type"] == "application/json") == is_json
