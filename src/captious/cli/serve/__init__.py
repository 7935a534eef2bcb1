"""captious serve: run an evaluation server and its parts; one file per command."""

from captious.cli.serve.group import serve

__all__ = ["serve"]
