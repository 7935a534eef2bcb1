"""LCEval and NNEval: networks that distinguish human captions from machine captions, by the scores of metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from captious.errors import ParameterError
from captious.learned.files import of_package
from captious.learned.networks import LearnedMetric, NetworkWeights
from captious.metrics.bleu import Bleu, NgramPrecision, UnigramRecall
from captious.metrics.cider import Cider, CiderD
from captious.metrics.hwcm import Hwcm
from captious.metrics.meteor import Meteor
from captious.metrics.rouge import RougeL
from captious.metrics.spice import Spice
from captious.metrics.wmd import Wmd
from captious.metrics.word_means import Mowe

# LCEval: sixteen lexical, semantic and syntactic features, and a network that distinguishes human captions from machine
# captions.
#
# Sharif, White, Bennamoun, Liu and Shah 2019, "LCEval: learned composite metric for caption evaluation", IJCV.

_OFFICIAL_8010 = "official-8010"


class LCEval(LearnedMetric):
    """LCEval, 0 to 1: the probability that a person wrote the caption. The corpus score is the mean."""

    name = "lceval"
    english_only = True
    summary = "network over 16 lexical, semantic and syntactic features: the probability of a human caption"
    variants: ClassVar[Mapping[str, str]] = {
        "trained": "weights trained with captious, or those of a file",
        _OFFICIAL_8010: "the authors' published logistic weights, checkpoint 8010, four decimals",
    }
    part_classes = (NgramPrecision, UnigramRecall, RougeL, Meteor, Wmd, Spice, Cider, CiderD, Mowe, Hwcm)

    def load_weights(self) -> NetworkWeights:
        if self.variant != _OFFICIAL_8010:
            return super().load_weights()
        if self.weights is not None:
            raise ParameterError(
                f"lceval@{self.variant} has its own weights",
                hint="remove weights, or the variant, as in lceval:weights=FILE",
            )
        # The authors' code uses CIDEr without the changes of CIDEr-D, and divides it by 10 in the script that prepares
        # features for training (feature_subset.py, in its history); the script for new captions does not.
        weights: NetworkWeights = of_package(NetworkWeights, f"lceval-{_OFFICIAL_8010}")
        return weights


# NNEval: eight metrics, and a network that distinguishes human captions from machine captions.
#
# Sharif, White, Bennamoun and Shah 2018, "NNEval: neural network based evaluation metric for image captioning". The
# published checkpoint scores bad captions above good ones, so it is not an option here.


class NNEval(LearnedMetric):
    """NNEval, 0 to 1: the probability that a person wrote the caption. The corpus score is the mean."""

    name = "nneval"
    english_only = True
    summary = "network over METEOR, WMD, BLEU, SPICE and CIDEr-D: the probability of a human caption"
    variants: ClassVar[Mapping[str, str]] = {"trained": "weights trained with captious, or those of a file"}
    part_classes = (Meteor, Wmd, Bleu, Spice, CiderD)
