"""Leaderboards of many submissions: what a page, a file and one more submission cost.

    python benchmarks/server_board.py [--rows 200 800 5000] [--data ../shared/data] [--pages 20]

The submissions are made up from real ones: resampled scores of nine published systems on 5,000 images of COCO, mixed
in pairs with random weights, with some noise. They are of 300 teams. Everything happens in this process, with SQLite
or the database of ``DATABASE_URL``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

import captious
from captious.words import DEFAULT_SEED

METRICS = ["bleu", "rouge-1", "rouge-2", "rouge-l", "cider-d"]
IMAGES, TEAMS = 5000, 300


def systems(data: Path) -> tuple[list[str], list[str], np.ndarray, np.ndarray]:
    """Return outputs, signatures, scores[systems, outputs] and resampled ones[systems, 1000, outputs] of real data."""
    with gzip.open(data / "coco" / "captions_val2014.json.gz") as file:
        annotations = json.load(file)["annotations"]
    chosen: dict[int, list[str]] = {row["image_id"]: [] for row in annotations[: 6 * IMAGES]}
    chosen = dict([*chosen.items()][:IMAGES])
    for row in annotations:
        if row["image_id"] in chosen:
            chosen[row["image_id"]].append(row["caption"])
    scores, resampled = [], []
    for path in sorted((data / "coco" / "results_val2014").glob("*.json.gz")):
        with gzip.open(path) as file:
            candidates = {row["image_id"]: row["caption"] for row in json.load(file) if row["image_id"] in chosen}
        report = captious.score(candidates, chosen, metrics=METRICS)
        scores.append([result.score for result in report.values()])
        columns = [result.statistics.resampled(1000, DEFAULT_SEED)[:, result.column] for result in report.values()]
        resampled.append(np.stack(columns, axis=1))
    return [*report], [result.signature for result in report.values()], np.array(scores), np.array(resampled)


class Board:
    """A site with one challenge, and submissions that are made up."""

    def __init__(self, folder: Path, data: Path) -> None:
        from captious_server.operations.setup import migrate, set_up

        set_up(folder / "site", make=True)
        from django.test.utils import setup_test_environment

        setup_test_environment()
        migrate()
        from captious_server.actions.loading import load_challenge
        from captious_server.models import Phase, Team

        self.outputs, self.signatures, self.scores, self.resampled = systems(data)
        challenge = folder / "big"
        challenge.mkdir()
        (challenge / "c1.json").write_text(json.dumps({str(image): ["a cat"] for image in range(10)}))
        (challenge / "challenge.toml").write_text(
            f'title = "Big"\nmetrics = {json.dumps(METRICS)}\n[[references]]\nname = "c1"\nfile = "c1.json"\n'
            '[[phases]]\nname = "main"\n'
        )
        load_challenge(challenge)
        self.phase = Phase.objects.get()
        self.teams = [Team.objects.create(name=f"Team {n}", slug=f"team-{n}") for n in range(TEAMS)]
        self.rng = np.random.default_rng(0)

    def add(self, n: int) -> None:
        """Store the scores of n more submissions, as a worker does, but for the board."""
        from django.utils import timezone

        from captious_server.models import Scores, Submission
        from captious_server.scoring.results import StoredResults, write_results
        from captious_server.submissions import storage

        submissions, scores = [], []
        number = Submission.objects.count()
        for i in range(number, number + n):
            a, b = self.rng.choice(len(self.scores), 2, replace=False)
            weight, noise = self.rng.random(), self.rng.normal(0, 0.002, self.resampled[0].shape)
            score = weight * self.scores[a] + (1 - weight) * self.scores[b]
            resampled = weight * self.resampled[a] + (1 - weight) * self.resampled[b] + noise
            folder = storage.new_folder()
            stored = StoredResults(tuple(self.outputs), np.zeros((IMAGES, len(score))), resampled)
            write_results(folder / "results-1.npz", {"c1": stored})
            low, high = np.quantile(resampled, [0.025, 0.975], axis=0)
            outputs = {
                name: {"score": float(score[j]), "low": float(low[j]), "high": float(high[j]), "signature": signature}
                for j, (name, signature) in enumerate(zip(self.outputs, self.signatures, strict=True))
            }
            now = timezone.now() + timedelta(seconds=i)
            submission = Submission(
                phase=self.phase,
                team=self.teams[int(self.rng.integers(TEAMS))],
                method=f"Method {i}",
                size=1,
                filename="captions.json",
                folder_name=folder.name,
                created=now,
                status="done",
                finished=now,
            )
            submissions.append(submission)
            scores.append(
                Scores(
                    submission=submission,
                    version=1,
                    program=self.phase.program,
                    set_keys=self.phase.set_keys,
                    outputs={"c1": outputs},
                    set_warnings={},
                    results_file="results-1.npz",
                    finished=now,
                )
            )
        Submission.objects.bulk_create(submissions, batch_size=500)
        Scores.objects.bulk_create(scores, batch_size=500)
        for submission, row in zip(submissions, scores, strict=True):
            submission.shown_scores = row
        Submission.objects.bulk_update(submissions, ["shown_scores"], batch_size=500)


@contextmanager
def measured(what: str) -> Iterator[None]:
    """Print what a block costs."""
    cpu, wall = time.process_time(), time.perf_counter()
    yield
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  {what:46} {wall:8.3f} s   CPU {cpu:8.3f} s   peak {peak:6.0f} MiB", flush=True)


def fetch(client: Any, address: str, times: int) -> None:
    """Print what a page costs: the median and the slowest of several views."""
    walls, cpus, size = [], [], 0
    for _ in range(times):
        cpu, wall = time.process_time(), time.perf_counter()
        response = client.get(address)
        size = len(response.getvalue() if response.streaming else response.content)
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
        assert response.status_code == 200, address
    name = address.replace("/challenges/big/", "")
    print(
        f"  {name:46} {np.median(walls):8.3f} s   CPU {np.median(cpus):8.3f} s   slowest {max(walls):.3f} s   "
        f"{size / 1e6:.2f} MB",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[200, 800, 5000])
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--pages", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        board = Board(Path(folder), options.data)
        from django.test import Client

        from captious_server.boards.ranking import refresh_stale
        from captious_server.models import Submission, board_changed

        def compute() -> None:
            board_changed(board.phase.pk)
            refresh_stale()

        client = Client()
        for n in options.rows:
            print(f"{n:,} submissions", flush=True)
            board.add(n - 1 - Submission.objects.count())
            with measured("all of the board"):
                compute()
            board.add(1)
            with measured("one more submission"):
                compute()
            Submission.objects.filter(pk=Submission.objects.latest("pk").pk).update(is_hidden=True)
            with measured("one submission hidden"):
                compute()
            for address in ("leaderboard", "leaderboard?all=1", "leaderboard?all=1&page=9999", "compare?all=1"):
                fetch(client, f"/challenges/big/{address}", options.pages)
            for address in ("leaderboard.csv?all=1", "leaderboard.json?all=1"):
                fetch(client, f"/challenges/big/{address}", 3)


if __name__ == "__main__":
    main()
