"""captious submissions: list and download the submissions of your teams to an evaluation server."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click

from captious import drawing
from captious.cli.library_options import FILE, option_of
from captious.cli.outputs import format_option, print_rows
from captious.cli.submit import server_option, token_option
from captious.client import Client
from captious.files import whole_file
from captious.words import counted


@click.command()
@server_option
@option_of(Client.submissions, "challenge", metavar="SLUG")
@token_option()
@click.option("-o", "--output", type=FILE, metavar="FOLDER", help="Download the files, each as ID-NAME.")
@format_option("text", "json")
def submissions(server: str, challenge: str, token: str, output: Path | None, format_: str) -> None:
    """List the submissions of your teams to a challenge, newest first, with their scores.

    If scores are withheld, the list shows until when.

    With -o, their files are downloaded as well. Existing files are kept.
    """
    client = Client(server, token)
    rows = client.submissions(challenge)
    if output is not None:
        _download(client, rows, output)
    if format_ == "json":
        click.echo(_as_json(rows))
        return
    if not rows:
        click.echo(f"Your teams have not submitted anything to {challenge}.", err=True)
        return
    print_rows((str(row["id"]), row["method"], row["team"], row["phase"], row["status"], _scores(row)) for row in rows)


def _download(client: Client, rows: list[dict[str, Any]], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for row in rows:
        path = folder / f"{row['id']}-{os.path.basename(row['filename'])}"
        if path.exists():
            continue
        content = client.file(row["id"])
        with whole_file(path, "wb") as file:
            file.write(content)
    with whole_file(folder / "submissions.json") as file:
        file.write(_as_json(rows) + "\n")
    click.echo(f"{folder}: {counted(len(rows), 'submission')}", err=True)


def _as_json(rows: list[dict[str, Any]]) -> str:
    return json.dumps(rows, indent=2, ensure_ascii=False)


def _scores(row: dict[str, Any]) -> str:
    if row["status"] == "done" and row["withheld"]:
        return str(row["withheld"])
    by_output = {name: score for name, score in row["scores"].items() if score is not None}
    scores = " ".join(f"{name} {drawing.format_score(score, row['digits'])}" for name, score in by_output.items())
    return f"{row['references']}: {scores}" if scores else ""
