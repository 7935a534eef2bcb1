"""Networks over features of captions, for NNEval and LCEval: features, training examples, training, weights."""
