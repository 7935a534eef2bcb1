"""LCEval and NNEval: networks that distinguish human captions from machine captions, by the scores of metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from captious.errors import ParameterError
from captious.learned.networks import Feature, FeatureSet, LearnedMetric, Network, NetworkWeights, as_feature_set
from captious.metrics.bleu import Bleu, NgramPrecision, UnigramRecall
from captious.metrics.cider import Cider, CiderD
from captious.metrics.hwcm import Hwcm
from captious.metrics.meteor import Meteor
from captious.metrics.rouge import RougeL
from captious.metrics.spice import Spice
from captious.metrics.wmd import Wmd
from captious.metrics.word_means import Mowe
from captious.resources.cache import COCO_VAL

# LCEval: sixteen lexical, semantic and syntactic features, and a network that distinguishes human captions from machine
# captions.
#
# Sharif, White, Bennamoun, Liu and Shah 2019, "LCEval: learned composite metric for caption evaluation", IJCV.

_OFFICIAL_8010 = "official-8010"

#: The authors' checkpoint 8010, as the weights and the bias of the logit of "human". Unigram recall was always 0 in
#: training, so its weight is 0.
OFFICIAL_8010 = (
    (
        *(-0.0342, -0.9777, -1.0760, -1.0596, 0.0, -3.0038, 5.4290, 3.7798),
        *(5.8539, 7.2886, 0.7825, 0.7486, 0.8667, -0.3953, -0.1507, -0.0897),
    ),
    -2.9692,
)


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
        coefficients, bias = OFFICIAL_8010
        features = _features_of_training()
        human = np.column_stack([np.zeros(len(coefficients)), coefficients])
        bias += coefficients[features.labels.index("mowe")] / 2  # MOWE / 2 + 1 / 2
        return NetworkWeights("lceval", _OFFICIAL_8010, features, Network((human,), (np.array([0.0, bias]),)))


def _features_of_training() -> FeatureSet:
    """Return the features that checkpoint 8010 was trained with, except that MOWE there is (MOWE + 1) / 2.

    The authors' code uses CIDEr without the changes of CIDEr-D, and divides it by 10 in the script that prepares
    features for training (feature_subset.py, in its history); the script for new captions does not.
    """
    changed = {f"cider-d:idf={COCO_VAL}": Feature(f"cider:idf={COCO_VAL}", 0.1), "mowe": Feature("mowe", 0.5)}
    features = as_feature_set("lceval")
    return FeatureSet(features.name, tuple(changed.get(feature.metric, feature) for feature in features.features))


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
