"""captious challenges, submit and submissions: an evaluation server's challenges, and what your teams send to it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from captious import drawing
from captious.cli.library_options import FILE, Command, DocumentedCommand, option, option_of
from captious.cli.outputs import format_option, print_rows
from captious.client import Client
from captious.errors import CaptiousError
from captious.files import whole_file
from captious.words import counted

server_option = click.option(
    "--server", required=True, metavar="URL", envvar="CAPTIOUS_SERVER", help="Address of the server."
)


def token_option(*, required: bool = True) -> Callable[[Command], Command]:
    """Return the option for a user's token."""
    return click.option(
        "--token",
        required=required,
        metavar="T",
        envvar="CAPTIOUS_TOKEN",
        help="Your token, from your account page. Default: CAPTIOUS_TOKEN, which others on the machine cannot see.",
    )


@click.command()
@server_option
@token_option(required=False)
@format_option("text", "json")
def challenges(server: str, token: str, format_: str) -> None:
    """List the challenges of an evaluation server, newest first.

    With a token, also those visible to participants only. For phases with withheld scores, the list shows until when.
    """
    rows = Client(server, token or "").challenges()
    if format_ == "json":
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    if not rows:
        hidden = "" if token else "; with --token, those for participants would be listed, too"
        click.echo(f"There are no challenges on this server that you can see{hidden}.", err=True)
        return
    print_rows(
        (
            row["slug"],
            row["title"],
            "open" if row["is_open"] else "closed",
            row["url"],
            " ".join(row["withheld"]),
        )
        for row in rows
    )


@click.command(cls=DocumentedCommand)
@click.argument("file", type=FILE)
@server_option
@option_of(Client.submit, "challenge", metavar="SLUG")
@option_of(Client.submit, "phase", metavar="NAME")
@token_option()
@option_of(Client.submit, "method", metavar="NAME")
@option_of(Client.submit, "team", metavar="NAME")
@option_of(Client.submit, "link", metavar="URL")
@option_of(Client.submit, "description")
@option("private")
@option_of(Client.submit, "anonymous")
@option_of(Client.submit, "may_publish")
@option("fields", flags=("--field",), multiple=True, metavar="NAME=VALUE")
@option_of(Client.submit, "accept_terms")
@option_of(Client.submit, "dry_run")
@option("wait")
@format_option("text", "json")
def submit(
    file: Path,
    server: str,
    token: str,
    dry_run: bool,
    format_: str,
    fields: tuple[str, ...] = (),
    private: bool = False,
    wait: bool = False,
    **about: Any,
) -> None:
    """Submit a FILE of captions to a challenge.

    FILE is .json, .jsonl, .ndjson, .csv or .tsv, each also compressed as .gz, or a .zip if a submission has several
    files.

    Args:
        fields: a field of the challenge.
        private: do not show the submission on the leaderboard.
        wait: wait for the scores, and show them with the rank and the quotas.
    """
    client, pairs = Client(server, token), [field.partition("=") for field in fields]
    if wrong := [name for name, equals, _ in pairs if not equals]:
        raise click.BadParameter(f"{wrong[0]!r} is not NAME=VALUE", param_hint="--field")
    values = {name: value for name, _, value in pairs}
    answer = client.submit(file, public=not private, dry_run=dry_run, fields=values, **about)
    if dry_run:
        remarks = [f"a submission would be refused now: {remark}" for remark in answer["remarks"]]
        warnings = [f"warning: {warning}" for warning in answer["warnings"]]
        click.echo(json.dumps(answer) if format_ == "json" else "\n".join(["no problems found", *warnings, *remarks]))
        click.get_current_context().exit(1 if remarks else 0)
    quota: dict[str, Any] = {}
    if wait:
        answer = client.wait(answer["id"])
        quotas = client.quotas(answer["challenge"], answer["team"])
        quota = next((row for row in quotas if row["phase"] == answer["phase"]), {})
    click.echo(_answer_json(answer, quota) if format_ == "json" else _answer_text(answer, quota, server))
    if answer["status"] == "failed":
        raise CaptiousError(
            "the submission was not scored", where=answer["reason"], hint=f"see {server.rstrip('/')}{answer['url']}"
        )


def _answer_json(answer: dict[str, Any], quota: dict[str, Any]) -> str:
    keys = ("id", "status", "rank", "references", "scores", "all_scores", "withheld", "reason", "url")
    values = {key: answer[key] for key in keys}
    return json.dumps({**values, "quota": quota} if quota else values, indent=2, ensure_ascii=False)


def _answer_text(answer: dict[str, Any], quota: dict[str, Any], server: str) -> str:
    lines = [f"{answer['method']}: {answer['status']}", f"{server.rstrip('/')}{answer['url']}"]
    if answer["status"] == "done" and answer["withheld"]:
        lines.append(answer["withheld"])
    if answer["status"] == "held":
        lines.append(answer["reason"])
    if answer["rank"] is not None:
        lines.append(f"rank on the leaderboard: {answer['rank']}")
    if answer["scores"]:
        lines.append(f"scores with the references {answer['references']}, and their 95% intervals:")
    width = max(map(len, answer["scores"]), default=0)
    for name, score in answer["scores"].items():
        entry, digits = answer["all_scores"][answer["references"]][name], answer["digits"]
        text = drawing.format_score(float("nan") if score is None else score, digits)
        has_ends = entry["low"] is not None and entry["high"] is not None
        ends = f"  {drawing.format_interval(entry['low'], entry['high'], max(digits - 1, 1))}" if has_ends else ""
        lines.append(f"  {name:{width}}  {text:>7}{ends}")
    lines += [
        f"{what}: {quota[left]:,} of {quota[limit]:,} left"
        for what, left, limit in (
            ("scored submissions today", "scored_left_today", "scored_per_day"),
            ("scored submissions in total", "scored_left", "scored_in_total"),
            ("uploads today", "attempts_left_today", "attempts_per_day"),
        )
        if quota.get(left) is not None
    ]
    return "\n".join(lines)


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
        click.echo(_rows_json(rows))
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
        file.write(_rows_json(rows) + "\n")
    click.echo(f"{folder}: {counted(len(rows), 'submission')}", err=True)


def _rows_json(rows: list[dict[str, Any]]) -> str:
    return json.dumps(rows, indent=2, ensure_ascii=False)


def _scores(row: dict[str, Any]) -> str:
    by_output = {name: score for name, score in row["scores"].items() if score is not None}
    scores = " ".join(f"{name} {drawing.format_score(score, row['digits'])}" for name, score in by_output.items())
    shown = f"{row['references']}: {scores}" if scores else ""
    withheld = row["withheld"] if row["status"] == "done" else ""
    return " · ".join(filter(None, [shown, withheld]))
