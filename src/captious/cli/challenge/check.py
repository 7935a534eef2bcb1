"""captious challenge check: check the folder of a challenge, and show what is in it."""

from __future__ import annotations

from pathlib import Path

import click

from captious.cli.outputs import print_table, warn
from captious.cli.server_extra import server_extra

__all__ = ["check"]


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
def check(folder: Path) -> None:
    """Check the FOLDER of a challenge, and show what is in it.

    All problems are reported at once: in challenge.toml, in the files that it names, and metrics that cannot run
    here.
    """
    from rich.table import Table
    from rich.text import Text

    with server_extra():
        from captious.server.challenges.folder import check_folder
        from captious.server.challenges.summary import summary_of
    checked = check_folder(folder)
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    before = ""
    for heading, text in summary_of(checked):
        table.add_row(Text("" if heading == before else heading), Text(text))
        before = heading
    print_table(table)
    warn(checked.warnings)
