"""Word vectors: published files in several formats, compiled once into an index that is mapped into memory."""
