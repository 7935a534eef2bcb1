"""The critique of LEIC (Cui et al. 2018): a network that reads a caption together with a reference, the image, or both,
and predicts whether a person wrote it. It is trained with torch, and scores with numpy.
"""
