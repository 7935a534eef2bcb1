"""The benchmarks, one file each: files, loader, protocols, published figures. benchmark_names.py lists them."""
