"""The folder ``pycocoevalcap.meteor`` of the toolkit."""
