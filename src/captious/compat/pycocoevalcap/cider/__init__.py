"""The folder ``pycocoevalcap.cider`` of the toolkit."""
