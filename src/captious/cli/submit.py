"""captious submit: submit captions to an evaluation server."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from captious import drawing
from captious.cli.library_options import FILE, Command, option_of
from captious.cli.outputs import format_option
from captious.client import Client
from captious.errors import CaptiousError

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
@click.argument("file", type=FILE)
@server_option
@option_of(Client.submit, "challenge", metavar="SLUG")
@option_of(Client.submit, "phase", metavar="NAME")
@token_option()
@option_of(Client.submit, "method", metavar="NAME")
@option_of(Client.submit, "team", metavar="NAME")
@option_of(Client.submit, "link", metavar="URL")
@option_of(Client.submit, "description")
@click.option("--private", is_flag=True, help="Do not show the submission on the leaderboard.")
@option_of(Client.submit, "anonymous")
@option_of(Client.submit, "may_publish")
@option_of(Client.submit, "dry_run")
@click.option("--wait", is_flag=True, help="Wait for the scores.")
@format_option("text", "json")
def submit(
    file: Path,
    server: str,
    token: str,
    private: bool,
    dry_run: bool,
    wait: bool,
    format_: str,
    **about: Any,
) -> None:
    """Submit a FILE of captions to a challenge.

    FILE is .json, .jsonl, .ndjson, .csv or .tsv, each also compressed as .gz, or a .zip if a submission has several
    files.
    """
    client = Client(server, token)
    answer = client.submit(file, public=not private, dry_run=dry_run, **about)
    if dry_run:
        remarks = [f"a submission would be refused now: {remark}" for remark in answer["remarks"]]
        warnings = [f"warning: {warning}" for warning in answer["warnings"]]
        click.echo(json.dumps(answer) if format_ == "json" else "\n".join(["no problems found", *warnings, *remarks]))
        return
    if wait:
        answer = client.wait(answer["id"])
    click.echo(_as_json(answer) if format_ == "json" else _as_text(answer, server))
    if answer["status"] == "failed":
        raise CaptiousError(
            "the submission was not scored", where=answer["reason"], hint=f"see {server.rstrip('/')}{answer['url']}"
        )


def _as_json(answer: dict[str, Any]) -> str:
    keys = ("id", "status", "references", "scores", "all_scores", "withheld", "reason", "url")
    return json.dumps({key: answer[key] for key in keys}, indent=2, ensure_ascii=False)


def _as_text(answer: dict[str, Any], server: str) -> str:
    lines = [f"{answer['method']}: {answer['status']}", f"{server.rstrip('/')}{answer['url']}"]
    if answer["status"] == "done" and answer["withheld"]:
        lines.append(answer["withheld"])
    if answer["scores"]:
        lines.append(f"scores with the references {answer['references']}:")
    width = max(map(len, answer["scores"]), default=0)
    for name, score in answer["scores"].items():
        lines.append(
            f"  {name:{width}}  {drawing.format_score(float('nan') if score is None else score, answer['digits']):>7}"
        )
    return "\n".join(lines)
