"""Files of judgments: those of benchmarks, those derived from them for training, and your own."""
