"""Files, whatever they hold: atomic writes, decompression with a limit, and rows as CSV, JSON lines and Parquet."""
