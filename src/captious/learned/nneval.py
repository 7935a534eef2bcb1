"""NNEval: eight metrics, and a network that distinguishes human captions from machine captions.

Sharif, White, Bennamoun and Shah 2018, "NNEval: neural network based evaluation metric for image captioning". The
published checkpoint scores bad captions above good ones, so it is not an option here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from captious.learned.networks.learned_metric import LearnedMetric
from captious.metrics.bleu import Bleu
from captious.metrics.cider_d import CiderD
from captious.metrics.meteor import Meteor
from captious.metrics.spice import Spice
from captious.metrics.wmd import Wmd


class NNEval(LearnedMetric):
    """NNEval, 0 to 1: the probability that a person wrote the caption. The corpus score is the mean."""

    name = "nneval"
    english_only = True
    summary = "network over METEOR, WMD, BLEU, SPICE and CIDEr-D: the probability of a human caption"
    variants: ClassVar[Mapping[str, str]] = {"trained": "weights trained with captious, or those of a file"}
    part_classes = (Meteor, Wmd, Bleu, Spice, CiderD)
