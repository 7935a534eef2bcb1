"""The folder ``pyciderevalcap.tokenizer`` of the authors' code."""
