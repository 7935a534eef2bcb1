"""What a metric is and declares, the catalogue of metrics by name, and how requests become metrics."""
