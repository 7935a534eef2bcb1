"""The benchmarks, one file each: files, loader, protocols, published figures. registry.py lists them."""
