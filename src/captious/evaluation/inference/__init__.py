"""Statistical inference: exact sums, resampling, and paired tests, as functions of arrays."""
