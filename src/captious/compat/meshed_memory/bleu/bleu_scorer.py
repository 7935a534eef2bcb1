"""BLEU on counts of n-grams, under the name ``evaluation.bleu.bleu_scorer.BleuScorer``."""

from captious.compat.pycocoevalcap.bleu.bleu_scorer import BleuScorer, cook_refs, cook_test, precook

__all__ = ["BleuScorer", "cook_refs", "cook_test", "precook"]
