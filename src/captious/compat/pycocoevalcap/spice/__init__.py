"""The folder ``pycocoevalcap.spice`` of the toolkit."""
