"""The settings of the training, in one place; they are saved with the weights."""

from __future__ import annotations

from dataclasses import dataclass, fields

from captious.errors import ParameterError

__all__ = ["NOT_FITTED", "WEIGHTS", "HeadRecipe", "Recipe"]

#: The weights of comparisons when coefficients are fitted: of ratings by people, and of minimal pairs.
WEIGHTS = {
    "pascal-50s": 16.0,
    **dict.fromkeys(("captions", "pairs", "flickr8k-expert", "flickr8k-cf", "composite"), 8.0),
    "sugarcrepe": 4.0,
    "valse": 1.0,
    **dict.fromkeys(("sugarcrepe-pp", "wrong captions"), 0.25),
    "wrong copies": 0.125,
}

#: Features of the variant strict alone: long texts repeat words without fault.
NOT_FITTED = {"repetition": 0.0}


class _Checked:
    """Settings that are above 0, but for shares, which are below 1, and the seed.

    Raises:
        ParameterError: another value.
    """

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            name, value = field.name.replace("_", "-"), getattr(self, field.name)
            if name in ("masked", "spelled") and not 0 <= value < 1:
                raise ParameterError(f"--{name} is {value}", hint="give a share from 0 to below 1")
            if name not in ("masked", "spelled", "seed") and value <= 0:
                raise ParameterError(f"--{name} is {value}", hint="give a number above 0")


@dataclass(frozen=True)
class Recipe(_Checked):
    """Settings of the training.

    Args:
        words: the most frequent words, at most so many.
        buckets: of subwords, which share vectors by their hash.
        spelled: share of words that are spelled by their subwords in each step.
        width: of the vectors of words.
        steps: of the encoder, each with a batch of images.
        batch: images in a batch.
        learning_rate: of Adam at its start; it falls to almost 0.
        temperature: of the contrastive loss at its start.
        masked: share of dimensions that are left out of each step.
        junction_width: of the vectors of the model of junctions.
        junction_steps: of its training.
        flatness: what the logit of the predicted rating is divided by, so that good captions differ in their scores.
        seed: random seed.
    """

    words: int = 14_000
    buckets: int = 6_000
    spelled: float = 0.1
    width: int = 256
    steps: int = 1_800
    batch: int = 1_024
    learning_rate: float = 0.0015
    temperature: float = 0.05
    masked: float = 0.5
    junction_width: int = 32
    junction_steps: int = 3_000
    flatness: float = 3.0
    seed: int = 0


@dataclass(frozen=True)
class HeadRecipe(_Checked):
    """Settings of the training of a head.

    Args:
        width: of the vectors of captions.
        steps: each with a batch of images.
        batch: images in a batch.
        rated: rated captions, and rated pairs, in a batch, each so many.
        learning_rate: of Adam at its start; it falls to almost 0.
        temperature: of the contrastive loss at its start.
        masked: share of dimensions that are left out of each step.
        seed: random seed.
    """

    width: int = 384
    steps: int = 600
    batch: int = 1_024
    rated: int = 384
    learning_rate: float = 0.001
    temperature: float = 0.05
    masked: float = 0.3
    seed: int = 0
