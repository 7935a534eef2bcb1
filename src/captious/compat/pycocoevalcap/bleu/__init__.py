"""The folder ``pycocoevalcap.bleu`` of the toolkit."""
