"""Document frequencies of n-grams and of tokens: counted, read, saved, and as a parameter of metrics."""
