"""A program in which threads race for submissions on the database that DATABASE_URL names; prints what happened.

python -P races.py DATA
"""

from __future__ import annotations

import functools
import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from server.tests.support.small_challenge import REFERENCES, queue, upload, write_folder


def at_once(*jobs: Callable[[], Any]) -> list[Any]:
    """Run jobs in threads that begin together; gives what they give."""
    from django.db import connection

    barrier = threading.Barrier(len(jobs))
    found: list[Any] = [None] * len(jobs)

    def run(number: int) -> None:
        barrier.wait()
        try:
            found[number] = jobs[number]()
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[number]) for number in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def take_all() -> dict[str, Any]:
    from captious_server.models import Submission
    from captious_server.scoring import queue as lease

    Submission.objects.all().delete()
    queued = [each.pk for each in queue(40)]

    def work() -> list[int]:
        taken = []
        while (found := lease.take("worker")) is not None:
            taken.append(found.submission.pk)
        return taken

    return {"queued": queued, "taken": [each for taken in at_once(*[work] * 5) for each in taken]}


def burst() -> list[str]:
    """Return the teams of each pair of submissions that two workers take at the same time, pair by pair."""
    from captious_server.models import Submission, Team
    from captious_server.operations import worker
    from captious_server.scoring import queue as lease

    Submission.objects.all().delete()
    teams = [Team.objects.create(name=name, slug=name) for name in "abc"]
    for team, n in zip(teams, (20, 1, 3), strict=True):
        queue(n, team=team)
    pairs = []
    for _ in range(4):
        taken = at_once(*[lambda: lease.take("worker")] * 2)
        pairs.append("".join(sorted(each.submission.team.slug for each in taken)))
        for each in taken:
            worker.score(each)
    return pairs


def cancel_or_take() -> list[Any]:
    from captious_server.scoring import queue as lease
    from captious_server.scoring.queue import cancel

    results = []
    for _ in range(20):
        [submission] = queue()
        taken, canceled = at_once(lambda: lease.take("worker"), functools.partial(cancel, submission))
        submission.refresh_from_db()
        results.append([taken is not None, canceled, submission.status])
    return results


def first_requests() -> int:
    """Return the number of personal teams of a user whose first two requests arrive at the same time."""
    from captious_server.models import Team, User
    from captious_server.people.teams import personal_team

    user = User.objects.create_user("cem")
    at_once(lambda: personal_team(user), lambda: personal_team(user))
    return int(Team.objects.filter(is_personal=True, memberships__user=user).count())


def two_uploads() -> list[int]:
    from django.test import Client

    from captious_server.models import Membership, Team, User
    from captious_server.people.accounts import make_token

    team = Team.objects.create(name="Both", slug="both")
    users = [User.objects.create_user(name) for name in ("ann", "ben")]  # one account uploads one file at a time
    for user in users:
        Membership.objects.create(team=team, user=user)

    def send(user: User) -> int:
        address = "/api/v1/challenges/small/submissions?method=Mine&team=both"
        headers = {"authorization": f"Bearer {make_token(user, 'test')}"}
        return int(Client().post(address, upload(), "application/octet-stream", headers=headers).status_code)

    return at_once(*[functools.partial(send, user) for user in users])


def while_loading(folder: Path) -> list[Any]:
    """Return what becomes of a submission that is taken and scored while a transaction loads its challenge."""
    from captious_server.actions import loading
    from captious_server.models import Submission
    from captious_server.operations import worker
    from captious_server.scoring import queue as lease
    from captious_server.scoring.queue import queue_again
    from captious_server.scoring.results import write_results

    Submission.objects.all().delete()
    [submission] = queue()
    has_queued, goes_on, is_written = threading.Event(), threading.Event(), threading.Event()

    def then_wait(rows: Any) -> int:
        n = queue_again(rows)
        has_queued.set()
        assert goes_on.wait(60)
        return n

    def then_say(path: Path, results: Any) -> None:
        write_results(path, results)
        is_written.set()

    def load() -> None:
        loading.load_challenge(write_folder(folder, references={**REFERENCES, 1: ["a dog in the park"]}))

    def score() -> None:
        assert has_queued.wait(60)
        taken = lease.take("worker")
        assert taken is not None
        worker.score(taken)  # waits for the load before it finishes

    def commit() -> None:
        assert is_written.wait(60)
        goes_on.set()

    with mock.patch.multiple(lease, queue_again=then_wait), mock.patch.multiple(worker, write_results=then_say):
        at_once(load, score, commit)
    found = [seen(submission)]
    while (taken := lease.take("worker")) is not None:
        worker.score(taken)
    return [*found, seen(submission)]


def seen(submission: Any) -> dict[str, Any]:
    submission.refresh_from_db()
    scores = submission.shown_scores
    return {"status": submission.status, "version": None if scores is None else scores.version}


def main() -> None:
    from captious_server.operations.setup import migrate, set_up

    data = Path(sys.argv[1])
    set_up(data, make=True)
    migrate()
    from django.db import connection

    from captious_server.actions.loading import load_challenge

    folder = write_folder(data.parent / "small", limits="scored_per_day = 1")
    load_challenge(folder)
    found: dict[str, Any] = {"two uploads": two_uploads()}
    found["burst"] = burst()
    found |= {**take_all(), "canceled or taken": cancel_or_take()}
    found["teams"] = first_requests()
    if connection.vendor == "postgresql":  # on SQLite, nobody takes anything while a challenge is loaded
        found["while loading"] = while_loading(folder)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
