"""Archives of challenges, and the scores that their commands compute."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from server.tests.support.site import Site


def archive(site: Site, challenge: str = "demo", **query: str) -> dict[str, bytes]:
    from captious_server.models import User

    root, _ = User.objects.get_or_create(username="root", is_superuser=True)
    response = site.client(root).get(f"/challenges/{challenge}/archive.zip", {"phase": "main", **query})
    content = b"".join(response.streaming_content)
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        assert opened.testzip() is None
        return {name: opened.read(name) for name in opened.namelist()}


def table(files: dict[str, bytes]) -> list[dict[str, str]]:
    return [*csv.DictReader(io.StringIO(files["scores.csv"].decode()))]


def extract(files: dict[str, bytes], folder: Path) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def commented(text: str) -> dict[str, Any]:
    """The part of a challenge.toml that an archive has in comments."""
    lines = text[text.index("# The entries below were left out") :].splitlines()
    return tomllib.loads("\n".join(line.removeprefix("#").removeprefix(" ") for line in lines[lines.index("#") :]))


def commands(files: dict[str, bytes]) -> list[str]:
    """What the README says to run."""
    return re.findall(r"^    captious (score .*)$", files["README.md"].decode(), flags=re.MULTILINE)


def computed_again(files: dict[str, bytes], folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run the commands of the README for all captions; compare every bit, and return the number of rows."""
    from click.testing import CliRunner

    from captious.cli import captious

    extract(files, folder)
    monkeypatch.chdir(folder / "challenge")
    rows, n = table(files), 0
    for line in commands(files):
        captions, references = re.findall(r"SUBMISSION/(\S+)\.json (\S+)", line)[0]
        for place in sorted(folder.glob(f"captions/*/{captions}.json")):
            run = CliRunner().invoke(captious, shlex.split(line.replace("SUBMISSION", place.parent.name)))
            assert run.exit_code == 0, run.output
            [computed] = json.loads(run.stdout)["systems"]
            expected = {
                row["output"]: row
                for row in rows
                if row["submission"] == place.parent.name
                and (row["captions"], row["references"]) == (captions, Path(references).stem.rpartition("_")[2])
            }
            assert computed["metrics"].keys() == expected.keys()
            for name, row in computed["metrics"].items():
                values = [row["score"], *row["ci95"], row["signature"]]
                assert [*map(str, values)] == [expected[name][key] for key in ("score", "low", "high", "signature")]
            n += len(expected)
    return n
