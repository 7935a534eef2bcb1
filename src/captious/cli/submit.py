"""captious submit: submit captions to an evaluation server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from captious.cli.outputs import format_option
from captious.errors import CaptiousError
from captious.report import numbers
from captious.server.client import Client

__all__ = ["submit"]


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--server", required=True, metavar="URL", envvar="CAPTIOUS_SERVER", help="Address of the server.")
@click.option("--challenge", required=True, metavar="SLUG", help="The challenge, as in its address.")
@click.option("--phase", default="", metavar="NAME", help="The phase. Default: the one that is open.")
@click.option(
    "--token",
    required=True,
    metavar="T",
    envvar="CAPTIOUS_TOKEN",
    help="Your token, from your account page. Default: CAPTIOUS_TOKEN, which other users of the machine cannot see.",
)
@click.option("--method", required=True, metavar="NAME", help="Name of the method on the leaderboard.")
@click.option("--team", default="", metavar="NAME", help="The team. Default: your only one.")
@click.option("--link", default="", metavar="URL", help="A paper or repository.")
@click.option("--description", default="", metavar="TEXT", help="A few sentences about the method.")
@click.option("--private", is_flag=True, help="Do not show it on the leaderboard.")
@click.option("--anonymous", is_flag=True, help="Do not show the name of the team.")
@click.option("--dry-run", is_flag=True, help="Only check the file; nothing is submitted, and nothing counts.")
@click.option("--wait", is_flag=True, help="Wait for the scores.")
@format_option("text", "json")
def submit(
    file: Path,
    server: str,
    challenge: str,
    phase: str,
    token: str,
    method: str,
    team: str,
    link: str,
    description: str,
    private: bool,
    anonymous: bool,
    dry_run: bool,
    wait: bool,
    format_: str,
) -> None:
    """Submit a FILE of captions to a challenge.

    FILE is .json, .jsonl, .ndjson, .csv or .tsv, each also compressed as .gz, or a .zip where a submission has several
    files.
    """
    client = Client(server, token)
    made = client.submit(
        file,
        challenge,
        method=method,
        phase=phase,
        team=team,
        link=link,
        description=description,
        public=not private,
        anonymous=anonymous,
        dry_run=dry_run,
    )
    if dry_run:
        remarks = [f"a submission would be refused now: {remark}" for remark in made["remarks"]]
        click.echo(json.dumps(made) if format_ == "json" else "\n".join(["no problems found", *remarks]))
        return
    if wait:
        made = client.wait(made["id"])
    click.echo(_as_json(made) if format_ == "json" else _as_text(made, server))
    if made["status"] == "failed":
        raise CaptiousError(
            "the submission was not scored", where=made["reason"], help=f"see {server.rstrip('/')}{made['url']}"
        )


def _as_json(made: dict[str, Any]) -> str:
    shown = {key: made[key] for key in ("id", "status", "scores", "all_scores", "reason", "url")}
    return json.dumps(shown, indent=2, ensure_ascii=False)


def _as_text(made: dict[str, Any], server: str) -> str:
    lines = [f"{made['method']}: {made['status']}", f"{server.rstrip('/')}{made['url']}"]
    width = max(map(len, made["scores"]), default=0)
    for name, score in made["scores"].items():
        lines.append(f"  {name:{width}}  {numbers.score(float('nan') if score is None else score):>7}")
    return "\n".join(lines)
