"""The folder ``pycocoevalcap.rouge`` of the toolkit."""
