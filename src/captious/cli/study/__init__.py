"""captious study: studies of metrics, one command and one file each."""

from captious.cli.study.group import study

__all__ = ["study"]
