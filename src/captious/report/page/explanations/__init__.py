"""Data for explanations of caption scores on a page: one module for each kind of explanation.

Alignments (METEOR), scene graphs (SPICE), transport plans (WMD) and word agreement (captious) are computed here and
packed as small integers. N-grams (BLEU, CIDEr) and common subsequences (ROUGE-L) are computed on the page, from tokens
and document frequencies.
"""
