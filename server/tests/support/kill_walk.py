"""A program that kills web and worker at every step, lets others go on, and prints what became of it as JSON.

    python -P kill_walk.py DATA [few]

It makes a site in DATA, with the database that DATABASE_URL names. Whatever happens in it happens in a child of its
own, which has its own connections and threads. ``WEB`` and ``WORKER`` name the steps. After each step come the same
things as in life: the user, who got no answer, submits again, and another worker goes on. With "few", only the steps
on which databases may differ are taken.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: step -> (module, attribute, when)
WEB = {
    "received": ("submissions.intake", "submit", "before"),
    "before the attempt": ("submissions.intake", "_begin_attempt", "before"),
    "in the transaction of the attempt": ("submissions.intake", "Attempt.objects.create", "before commit"),
    "after the attempt": ("submissions.intake", "_begin_attempt", "after"),
    "folder made": ("submissions.storage", "new_folder", "after"),
    "before reading": ("submissions.intake", "read_upload", "before"),
    "captions written": ("submissions.upload_process", "_read_in_child", "after"),
    "after reading": ("submissions.intake", "read_upload", "after"),
    "before the upload is moved": ("submissions.intake", "shutil.move", "before"),
    "after the upload is moved": ("submissions.intake", "shutil.move", "after"),
    "row made, not committed": ("submissions.intake", "Submission.save", "after"),
    "before the commit": ("submissions.intake", "Submission.save", "before commit"),
    "after the commit": ("submissions.intake", "Submission.save", "after commit"),
    "before the answer": ("api.challenges", "submission_answer", "before"),
}
#: Steps after which the submission is there, although its user has got no answer.
COMMITTED = ("after the commit", "before the answer")
WORKER = {
    "before it is taken": ("scoring.queue", "_end_of_lease", "before commit"),
    "taken": ("scoring.queue", "take", "after"),
    "heartbeat begun": ("scoring.queue", "Heartbeat.__enter__", "after"),
    "before references are read": ("challenges.references", "references", "before"),
    "after references are read": ("challenges.references", "references", "after"),
    "before scoring": ("operations.worker", "score_set", "before"),
    "after scoring": ("operations.worker", "score_set", "after"),
    "before results are written": ("operations.worker", "write_results", "before"),
    "while results are written": ("scoring.results", "np.lib.format.write_array", "second"),
    "after results are written": ("operations.worker", "write_results", "after"),
    "before finishing": ("scoring.queue", "finish", "before"),
    "row finished, not committed": ("scoring.queue", "finish", "before commit"),
    "finished": ("scoring.queue", "finish", "after commit"),
    "before old results are removed": ("scoring.queue", "finish", "after"),
}
#: Steps of both kinds around transactions.
FEW = (
    *("after the attempt", "row made, not committed", "before the commit", "after the commit"),
    *("before it is taken", "taken", "after scoring", "row finished, not committed", "finished"),
)
DELETE = ("submissions.storage", "remove_files", "before")
LOAD = {
    "while files are copied": ("actions.loading", "shutil.copyfile", "second"),
    "before the commit": ("actions.loading", "_store", "before commit"),
    "before baselines": ("actions.loading", "_submit_baselines", "before"),
    "after baselines": ("actions.loading", "_submit_baselines", "after"),
}

REPOSITORY = Path(__file__).parents[3]
CAPTIONS = REPOSITORY / "examples" / "improved.json"


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_at(place: str, attribute: str, when: str) -> None:
    """From now on, this process kills itself at a step."""
    from importlib import import_module

    from django.db.backends.base.base import BaseDatabaseWrapper

    owner: Any = import_module(f"captious_server.{place}")
    *path, name = attribute.split(".")
    for each in path:
        owner = getattr(owner, each)
    original = getattr(owner, name)
    calls = 0

    def commit(self: Any) -> None:
        if when == "after commit":
            commit_as_before(self)
        die()

    def killing(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        if when == "before" or (when == "second" and calls == 2):
            die()
        if when.endswith("commit"):
            BaseDatabaseWrapper._commit = commit  # type: ignore[attr-defined]  # private
        result = original(*args, **kwargs)
        if when == "after":
            die()
        return result

    commit_as_before = BaseDatabaseWrapper._commit  # type: ignore[attr-defined]
    setattr(owner, name, killing)


def in_child(do: Callable[..., Any], *args: Any) -> Any:
    """Do something in a child; gives what it gives, or "killed"."""
    from django.db import connections

    connections.close_all()
    with tempfile.TemporaryFile("w+") as answer:
        child = os.fork()
        if child == 0:
            try:
                json.dump(do(*args), answer)
                answer.flush()
                os._exit(0)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(1)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status == -signal.SIGKILL:
            return "killed"
        if status:
            raise SystemExit(f"a child ended with status {status}")
        answer.seek(0)
        return json.load(answer)


@dataclass
class Walk:
    """A site to walk through.

    Args:
        folder: the challenge's.
    """

    folder: Path

    def make(self) -> None:
        from captious_server.challenges.starter import write_demo
        from captious_server.operations.setup import migrate

        migrate()
        write_demo(self.folder)
        toml = self.folder / "challenge.toml"
        lines = [
            'metrics = ["bleu", "cider-d"]' if line.startswith("metrics") else line
            for line in toml.read_text().splitlines()
        ]
        at = lines.index('title = "Main phase"') + 1
        lines[at:at] = ["scored_per_day = 1", "attempts_per_day = 3"]
        toml.write_text("\n".join(lines))
        self.load()
        self.work()

    def load(self, step: Any = None) -> None:
        from captious_server.actions.loading import load_challenge

        if step is not None:
            kill_at(*step)
        load_challenge(self.folder)

    def submit(self, name: str, step: Any = None) -> int:
        """Submit through the API; gives the status of the answer."""
        from django.test import Client

        from captious_server.models import User
        from captious_server.people.accounts import make_token

        user, _ = User.objects.get_or_create(username=name)
        headers = {"authorization": f"Bearer {make_token(user, 'test')}"}
        if step is not None:
            kill_at(*step)
        address = f"/api/v1/challenges/demo/submissions?method={name.replace(' ', '+')}"
        answer = Client().post(address, CAPTIONS.read_bytes(), "application/octet-stream", headers=headers)
        return int(answer.status_code)

    def work(self, step: Any = None) -> None:
        """Score what is queued or was lost, as a worker does; leases of workers that were killed run out at once."""
        from datetime import timedelta

        from django.utils import timezone

        from captious_server.models import Submission
        from captious_server.operations import worker
        from captious_server.scoring import queue

        past = timezone.now() - timedelta(seconds=1)
        Submission.objects.filter(status="running").update(lease_until=past)
        if step is not None:
            kill_at(*step)
        while (taken := queue.take(f"worker {os.getpid()}")) is not None:
            worker.score(taken)

    def score_again(self, name: str) -> None:
        from captious_server.models import Submission
        from captious_server.scoring.queue import queue_again

        queue_again(Submission.objects.filter(method=name))

    def delete(self, name: str, step: Any) -> None:
        from django.test import Client

        from captious_server.models import Submission, User

        [found] = Submission.objects.filter(method=name)
        client = Client()
        client.force_login(User.objects.get(username=name))
        kill_at(*step)
        client.post(f"/submissions/{found.pk}/delete")

    def tidy(self) -> int:
        from captious_server.submissions import storage

        return storage.remove_leftovers(min_age=-10)

    def found(self) -> dict[str, Any]:
        """Return the remaining files."""
        from django.conf import settings
        from django.test import Client
        from django.utils import timezone

        from captious_server.models import Attempt, Phase, Submission, User
        from captious_server.people.teams import personal_team
        from captious_server.submissions import intake

        intake.READING_MINUTES = 0  # later than that
        phase = Phase.objects.get(name="main")
        users = {}
        for user in User.objects.all():
            quota = intake.quota(phase, personal_team(user), user, timezone.now())
            users[user.username] = {
                "submissions": [_seen(each) for each in Submission.objects.filter(user=user)],
                "attempts": Attempt.objects.filter(user=user, is_complete=True).count(),
                "counted attempts": quota.attempts_today,
                "counted": quota.scored,
            }
        baselines = Submission.objects.filter(is_baseline=True).exclude(status="deleted")
        data = settings.CAPTIOUS.data
        return {
            "users": users,
            "baselines": [_seen(each) for each in baselines],
            "board": json.loads(Client().get("/challenges/demo/leaderboard.json?all=1").getvalue()),
            "folders": sorted(path.name for path in (data / "submissions").iterdir()),
            "incoming": sorted(path.name for path in (data / "incoming").iterdir()),
            "challenge": sorted(path.name for path in (data / "challenges" / "demo").iterdir()),
        }


def _seen(submission: Any) -> dict[str, Any]:
    files = sorted(str(path.relative_to(submission.folder)) for path in submission.folder.rglob("*") if path.is_file())
    names = ("method", "status", "tries", "counts", "lease", "reason", "folder_name")
    shown = submission.shown_scores
    scores = {"scores": shown.outputs, "results_file": shown.results_file} if shown is not None else {}
    return {**{name: getattr(submission, name) for name in names}, **scores, "files": files}


def chosen(steps: dict[str, tuple[str, str, str]], *, few: bool) -> list[tuple[str, tuple[str, str, str]]]:
    return [(name, step) for name, step in steps.items() if name in FEW or not few]


def main() -> None:
    from captious_server.operations.setup import set_up

    data = Path(sys.argv[1])
    set_up(data, make=True)
    # Once, not in every child.
    import django.test  # noqa: F401

    import captious_server.operations.worker
    import captious_server.urls  # noqa: F401

    walk = Walk(data.parent / "demo")
    few = "few" in sys.argv
    in_child(walk.make)
    happened: dict[str, Any] = {}
    for name, step in chosen(WEB, few=few):
        who = f"web {name}"
        happened[who] = [in_child(walk.submit, who, step), in_child(walk.submit, who)]
    in_child(walk.work)
    for name, step in chosen(WORKER, few=few):
        for again in (False, True):
            who = f"{'again' if again else 'worker'} {name}"
            in_child(walk.submit, who)
            if again:
                in_child(walk.work)
                in_child(walk.score_again, who)
            happened[who] = [in_child(walk.work, step)]
            in_child(walk.work)
    in_child(walk.submit, "poison")
    happened["poison"] = [in_child(walk.work, WORKER["before scoring"]) for _ in range(3)]
    in_child(walk.work)
    happened["poison"].append(in_child(walk.submit, "poison"))
    in_child(walk.work)
    in_child(walk.submit, "deleted")
    in_child(walk.work)
    happened["deleted"] = [in_child(walk.delete, "deleted", DELETE)]
    in_child(walk.tidy)
    for name, step in LOAD.items():
        happened[f"load {name}"] = [in_child(walk.load, step), in_child(walk.load)]
    in_child(walk.work)
    print(json.dumps({"happened": happened, **in_child(walk.found)}))


if __name__ == "__main__":
    main()
