"""The tables and figures of papers on metrics, as values. One file per paper; nothing is computed here."""
