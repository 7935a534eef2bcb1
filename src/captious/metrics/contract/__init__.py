"""What a metric is: the contract, signatures, how metrics are asked for, and the registry of their names."""
