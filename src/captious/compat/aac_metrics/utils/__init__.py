"""What surrounds the metrics, ``aac_metrics.utils``."""
