"""The folder ``pycocoevalcap.tokenizer`` of the toolkit; forks import its class from here."""

from captious.compat.pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

__all__ = ["PTBTokenizer"]
