"""The folder ``pycocoevalcap.tokenizer`` of the toolkit."""
