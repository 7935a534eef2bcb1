"""captious challenge: make, check and load the challenges of an evaluation server; one file per command."""

from captious.cli.challenge.group import challenge

__all__ = ["challenge"]
