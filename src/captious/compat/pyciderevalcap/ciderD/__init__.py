"""The folder ``pyciderevalcap.ciderD`` of the authors' code."""
