"""What a page needs to show why captions got their scores: one module for each kind of explanation.

Alignments (METEOR), scene graphs (SPICE), transport plans (WMD) and agreements of words (captious) are computed here
and packed as small integers.
N-grams (BLEU, CIDEr) and common subsequences (ROUGE-L) are found in the page, from tokens and document frequencies.
"""
