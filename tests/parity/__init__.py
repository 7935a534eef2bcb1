"""captious against the official programs and their published outputs, on real captions."""
