"""The folder ``pyciderevalcap.cider`` of the authors' code."""
