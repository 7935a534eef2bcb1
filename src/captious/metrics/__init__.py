"""One file per metric; ``contract`` says what a metric is, ``shared`` holds what several use."""
