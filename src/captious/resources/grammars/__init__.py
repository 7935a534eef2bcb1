"""Grammars of English: the bundled one, and the one of CoreNLP, which is read from its published files."""
