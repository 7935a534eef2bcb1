"""Measures the ways through the code that a reader follows: what runs for a score, and for a submission to the server.

    python tools/ways.py            prints files, functions and calls of both packages, and what they should be at most
    python tools/ways.py --list     prints the functions, too, by file, and how often each is called

A way is followed the second time: the first imports modules and compiles patterns. That of a submission goes from its
upload to its place on the leaderboard, without the process that reads the uploaded file. It needs the server.
Comprehensions are part of their functions, as in Python 3.12.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

PROJECT = Path(__file__).parents[1]
PACKAGES = tuple(
    str(Path(spec.origin).parent)
    for name in ("captious", "captious_server")
    if (spec := find_spec(name)) and spec.origin
)
INLINED = {"<dictcomp>", "<listcomp>", "<setcomp>"}


def followed(way: Callable[[], object]) -> Counter[CodeType]:
    """Count the calls of every function of captious, in the order of the first call."""
    calls: Counter[CodeType] = Counter()

    def follow(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGES) and code.co_name not in INLINED:
            calls[code] += 1

    sys.setprofile(follow)
    try:
        way()
    finally:
        sys.setprofile(None)
    return calls


def of_score() -> Counter[CodeType]:
    """Follow ``score`` of two dicts."""
    from captious import score

    candidates = {1: "a dog on a beach", 2: "cats doze"}
    references = {1: ["a dog runs on a beach", "a dog at the sea"], 2: ["two cats sleep", "cats nap"]}
    score(candidates, references, "bleu-4")
    return followed(lambda: score(candidates, references, "bleu-4"))


def of_submission(folder: Path) -> Counter[CodeType]:
    """Follow a submission to the demonstration, on a site in ``folder``."""
    from captious_server.operations.setup import load_demo, migrate, set_up

    set_up(folder, make=True)
    migrate()
    load_demo()
    from django.core.files.uploadedfile import SimpleUploadedFile
    from django.test import Client

    from captious_server.models import User
    from captious_server.operations import worker
    from captious_server.people.sign_in import confirm_address
    from captious_server.people.teams import personal_team
    from captious_server.scoring import queue

    user = User.objects.create_user("ann")
    confirm_address(user)
    client = Client(HTTP_HOST="localhost")
    client.force_login(user)
    form = {"phase": "main", "team": personal_team(user).slug, "public": "on", "action": "submit"}

    def submit(method: str) -> None:
        file = SimpleUploadedFile("captions.json", (PROJECT / "examples" / f"{method}.json").read_bytes())
        answer = client.post("/challenges/demo/submit", {**form, "method": method, "file": file})
        assert answer.status_code == 302, answer.content.decode()
        while (taken := queue.take("ways")) is not None:
            worker.score(taken)
        assert method in client.get("/challenges/demo/leaderboard").content.decode()

    submit("baseline")
    return followed(lambda: submit("improved"))


def show(name: str, calls: Counter[CodeType], goals: str, *, listed: bool) -> None:
    """Print a way beside its goals."""
    files = dict.fromkeys(code.co_filename for code in calls)
    print(f"{name}: {len(files)} files, {len(calls)} functions, {calls.total():,} calls (goals: {goals})")
    for file in files if listed else ():
        print("  " + file.rpartition("site-packages/")[2])
        for code, n in calls.items():
            if code.co_filename == file:
                print(f"{n:8,} {code.co_qualname}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the functions, too")
    listed = parser.parse_args().list
    show("a score of two dicts", of_score(), "13 files, 90 functions, 250 calls", listed=listed)
    if find_spec("captious_server") is None:
        print("captious-server is not installed")
        return
    with tempfile.TemporaryDirectory() as folder:
        show("a submission", of_submission(Path(folder) / "site"), "35 files", listed=listed)


if __name__ == "__main__":
    main()
