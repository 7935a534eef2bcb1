"""The interface of metrics, the catalogue of metrics by name, and the parsing of metric requests."""
