"""Neural models behind small interfaces: text encoders, word vectors, CLIP, image features.

They are imported, and their weights read, only when a metric that needs them runs.
"""

from captious.models.encoders import Batch, Encoder
from captious.models.encoding_layers import EncodedTexts, EncodingLayer, TextLayer
from captious.models.token_vectors import TokenVectors
from captious.models.word_vectors import WordVectors

__all__ = ["Batch", "EncodedTexts", "Encoder", "EncodingLayer", "TextLayer", "TokenVectors", "WordVectors"]
