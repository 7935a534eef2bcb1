"""The metrics: the contract in ``base``, the names in ``registry``, and one file per metric."""
