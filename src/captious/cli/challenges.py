"""captious challenges: the challenges of an evaluation server."""

from __future__ import annotations

import json

import click

from captious.cli.outputs import format_option, print_rows
from captious.cli.submit import server_option, token_option
from captious.client import Client


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
