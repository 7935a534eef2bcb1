"""One file per metric; ``contract`` defines what a metric is, ``shared`` holds code used by several."""
