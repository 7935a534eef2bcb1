"""The critique of LEIC (Cui et al. 2018): a network that reads a caption together with a reference, the image, or
both, and tells whether a person wrote it. Torch trains it, numpy scores with it."""
