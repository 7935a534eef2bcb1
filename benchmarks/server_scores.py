"""The evaluation server on real captions: from upload to scores, compared with ``captious score`` on the same files.

    python benchmarks/server_scores.py [--repeats N] [--spice N]

A server with web and worker in processes of their own has a challenge on all of val2014 with five references for each
image. When its references are prepared, systems are uploaded one after the other. README.md beside this file says what
is measured.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measurement import default_data, machine, print_table, read_references, run_child, spread, systems

METRICS = ("bleu", "meteor", "rouge-l", "cider-d")
PASSWORD = "not-a-secret-5"
LONGEST = 3600.0  # seconds to wait for anything

#: What is shown, label -> key.
FIGURES = {
    "upload and validation, wall s": "upload",
    "upload and validation, CPU s": "upload cpu",
    "from then to scores, wall s": "scoring",
    "from then to scores, CPU s": "scoring cpu",
    "captious score, wall s": "command",
    "captious score, CPU s": "command cpu",
    "captious score, peak memory, MiB": "command peak",
}


def write_challenge(folder: Path, data: Path, metrics: tuple[str, ...]) -> Path:
    """Return a challenge folder; gives its file of references."""
    folder.mkdir()
    references = read_references(data)
    annotations = [
        {"image_id": image, "id": 10 * image + n, "caption": text}
        for image, texts in references.items()
        for n, text in enumerate(texts)
    ]
    file = folder / "c5.json"
    file.write_text(json.dumps({"images": [{"id": image} for image in references], "annotations": annotations}))
    (folder / "challenge.toml").write_text(
        f'title = "COCO"\nslug = "coco"\nmetrics = {json.dumps(metrics)}\nrank_by = "cider-d"\n'
        '[[references]]\nname = "c5"\nfile = "c5.json"\n[[phases]]\nname = "dev"\n'
    )
    return file


@dataclass
class Usage:
    """What the processes of a role have used so far; children of theirs that have ended are included."""

    cpu: float
    #: The largest peak of resident memory of one of the processes, MiB.
    peak: float


class Server:
    """A running server with the challenge."""

    def __init__(self, folder: Path, challenge: Path) -> None:
        self._data, self._log = folder / "data", folder / "log"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        self.url = f"http://127.0.0.1:{port}"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("CAPTIOUS_SERVER_")}
        self._environment = {**kept, "CAPTIOUS_ADMIN": "admin", "CAPTIOUS_ADMIN_PASSWORD": PASSWORD}
        self._command("serve", "admin", "--user", "admin")
        self._command("challenge", "load", str(challenge))
        self.token = self._command("serve", "token", "--user", "admin").strip()
        command = [sys.executable, "-m", "captious", "serve", "--data", str(self._data), "--port", str(port)]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(command, env=self._environment, stdout=log, stderr=log)

    def _command(self, *arguments: str) -> str:
        command = [sys.executable, "-m", "captious", *arguments, "--data", str(self._data)]
        return subprocess.run(command, env=self._environment, stdout=subprocess.PIPE, text=True, check=True).stdout

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()

    def preparation(self) -> float:
        """Wait until the references are prepared; gives the seconds that took."""
        until = time.monotonic() + LONGEST
        while time.monotonic() < until:
            for line in self._log.read_text().splitlines():
                if '"references are prepared"' in line:
                    return float(json.loads(line)["seconds"])
            if self._process.poll() is not None:
                break
            time.sleep(0.2)
        raise SystemExit(self._log.read_text())

    def usage(self, role: str) -> Usage:
        found = Usage(0.0, 0.0)
        for folder in Path("/proc").iterdir():
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
                if not {b"serve", role.encode(), str(self._data).encode()} <= {*words}:
                    continue
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
            except OSError:
                continue
            found.cpu += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
            found.peak = max(found.peak, int(status["VmHWM"].split()[0]) / 1024)
        return found

    def cpu(self) -> float:
        return self.usage("web").cpu + self.usage("worker").cpu

    def call(self, path: str, content: bytes | None = None) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/octet-stream"}
        with urllib.request.urlopen(urllib.request.Request(self.url + path, content, headers), timeout=300) as answer:
            return json.load(answer)

    def submit(self, content: bytes, method: str) -> tuple[dict[str, float], dict[str, float]]:
        """Upload captions and wait for their scores: the figures, and the scores."""
        cpu, began = self.cpu(), time.perf_counter()
        made = self.call(f"/api/v1/challenges/coco/submissions?method={method}", content)
        cpu_taken, taken = self.cpu(), time.perf_counter()
        while made["status"] in {"queued", "running"}:
            time.sleep(0.1)
            made = self.call(f"/api/v1/submissions/{made['id']}")
        done = time.perf_counter()
        if made["status"] != "done":
            raise SystemExit(self._log.read_text())
        figures = {"upload": taken - began, "upload cpu": cpu_taken - cpu}
        return {**figures, "scoring": done - taken, "scoring cpu": self.cpu() - cpu_taken}, made["scores"]


@contextlib.contextmanager
def serving(folder: Path, challenge: Path) -> Iterator[Server]:
    server = Server(folder, challenge)
    try:
        yield server
    finally:
        server.stop()


def measure(metrics: tuple[str, ...], data: Path, repeats: int) -> bool:
    """Measure one challenge, and print it; gives whether the scores are those of the command."""
    runs: list[dict[str, float]] = []
    results = data / "coco" / "results_val2014"
    same = True
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        references = write_challenge(folder / "coco", data, metrics)
        with serving(folder, folder / "coco") as server:
            print(f"\n{', '.join(metrics)}: references prepared in {server.preparation():,.1f} s")
            for number in range(repeats):
                system = systems(data)[number % len(systems(data))]
                content = gzip.decompress((results / f"{system}.json.gz").read_bytes())
                figures, scores = server.submit(content, system)
                file = folder / f"{system}.json"
                file.write_bytes(content)
                chosen = [part for metric in metrics for part in ("-m", metric)]
                arguments = ["-m", "captious", "score", str(file), str(references), *chosen, "--ci", "--format", "json"]
                printed, whole = run_child(sys.executable, arguments)
                command = {name: entry["score"] for name, entry in metrics_in(printed).items()}
                same = same and scores == {name: round(score, 4) for name, score in command.items()}
                runs.append(
                    {**figures, "command": whole["wall"], "command cpu": whole["cpu"], "command peak": whole["peak"]}
                )
            peaks = {role: server.usage(role).peak for role in ("web", "worker")}
    rows = [["median (min to max)", f"x{len(runs)}"]]
    rows += [[label, spread([run[key] for run in runs], 0 if "peak" in key else 3)] for label, key in FIGURES.items()]
    middle = {key: statistics.median(run[key] for run in runs) for key in FIGURES.values()}
    for unit in ("", " cpu"):
        ratio = middle[f"command{unit}"] / (middle[f"upload{unit}"] + middle[f"scoring{unit}"])
        rows.append([f"captious score / server, {'CPU' if unit else 'wall'}", f"{ratio:,.1f}"])
    rows += [[f"{role}, peak memory, MiB", f"{peak:,.0f}"] for role, peak in peaks.items()]
    print_table(rows)
    print("scores are equal" if same else "scores differ")
    return same


def metrics_in(printed: Any) -> dict[str, Any]:
    """Return the scores that the command prints for its only system."""
    [system] = printed["systems"]
    found: dict[str, Any] = system["metrics"]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=default_data(), help="folder of real captions")
    parser.add_argument("--repeats", type=int, default=5, help="number of systems that are uploaded")
    parser.add_argument("--spice", type=int, default=0, metavar="N", help="also N systems with SPICE")
    options = parser.parse_args()
    if not options.data.is_dir():
        parser.error(f"no shared data in {options.data}")
    print(machine())
    challenges = {METRICS: options.repeats, (*METRICS, "spice"): options.spice}
    if not all(measure(metrics, options.data, repeats) for metrics, repeats in challenges.items() if repeats > 0):
        raise SystemExit("scores of the server and of the command differ")


if __name__ == "__main__":
    main()
