"""The metric interface, signatures, selection of metrics, and the registry of their names."""
