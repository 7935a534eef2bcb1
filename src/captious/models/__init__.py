"""Neural models behind small interfaces: text encoders, word vectors, CLIP, image features, chat models.

They are imported, and their weights read, only when a metric that needs them runs.
"""

from captious.models.encoders import Batch, EncodedTexts, Encoder, EncodingLayer, TextLayer, TokenVectors
from captious.models.word_vectors import WordVectors

__all__ = ["Batch", "EncodedTexts", "Encoder", "EncodingLayer", "TextLayer", "TokenVectors", "WordVectors"]
