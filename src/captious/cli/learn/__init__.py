"""captious learn: make training data, train metrics, and write features; one file per command."""

from captious.cli.learn.group import learn

__all__ = ["learn"]
