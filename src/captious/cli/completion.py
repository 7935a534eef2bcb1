"""captious completion: the script that makes a shell complete commands, options, metrics and files."""

from __future__ import annotations

import os

import click
from click.shell_completion import get_completion_class

from captious.cli import COMPLETION

_SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(_SHELLS), required=False)
@click.pass_context
def completion(context: click.Context, shell: str | None) -> None:
    """Print the script that makes a SHELL complete the commands, options and metrics of captious, and files.

    \b
    bash: eval "$(captious completion bash)" in ~/.bashrc.
    zsh:  eval "$(captious completion zsh)" in ~/.zshrc, after compinit.
    fish: captious completion fish | source in ~/.config/fish/config.fish.

    Without SHELL, it is that of the variable SHELL. bash needs to be version 4.4 or later.
    """
    name = shell or os.path.basename(os.environ.get("SHELL", ""))
    kind = get_completion_class(name)
    if kind is None:
        raise click.UsageError(f"which shell is meant? {', '.join(_SHELLS)} can complete")
    root = context.find_root()
    click.echo(kind(root.command, {}, "captious", COMPLETION).source())
