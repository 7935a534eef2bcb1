"""The benchmarks, one file for each kind: files, loader, protocols, published figures. names.py lists them."""
