"""How often metrics order adversarial pairs rightly: a human caption, and a text that must score lower.

    python training/captious/adversarial.py --data ../shared/data captious cider-d meteor

The captions are of images that are held out when coefficients are chosen, each against the other captions of its image.
The weights of the package were trained on them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import captious
from captious.learned.caption_weights import CaptionWeights
from captious.metrics.contract.selection import select
from captious.text import PTB
from captious.text.stop_words import NLTK_STOP_WORDS
from examples import Examples
from negatives import make_negatives

_IMAGES = 3_000
_PAIRS = 300
_MADE = {
    "roles exchanged": ("nouns swapped",),
    "attributes exchanged": ("adjectives swapped",),
    "another number": ("number",),
    "negated": ("negated",),
    "another noun": ("noun",),
}
Pair = tuple[str, str, list[str]]  # right, wrong, references


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder that train.py reads")
    parser.add_argument("metrics", nargs="+", help="names of metrics, as for captious score")
    options = parser.parse_args()
    metrics: list[str] = options.metrics
    settings = _frequencies(metrics)
    print("| | pairs | " + " | ".join(f"`{name}`" for name in metrics) + " |")
    print("|---" * (len(metrics) + 2) + "|")
    for name, pairs in _pairs(options.data):
        references = [own for _, _, own in pairs]
        right, wrong = (
            captious.score([pair[side] for pair in pairs], references, metrics, settings=settings) for side in (0, 1)
        )
        shares = []
        for metric in metrics:
            difference = right[metric].per_caption - wrong[metric].per_caption
            shares.append(100 * float(np.mean((difference > 1e-9) + 0.5 * (abs(difference) <= 1e-9))))
        print(f"| {name} | {len(pairs)} | " + " | ".join(f"{share:.0f}" for share in shares) + " |", flush=True)


def _frequencies(metrics: Sequence[str]) -> captious.Settings:
    """Settings with the document frequencies of COCO, for metrics that take some, such as CIDEr-D.

    Those of a few hundred pairs would make scores depend on the pairs beside them.
    """
    use_them = any("idf" in type(item.metric).declared for item in select(metrics))
    return captious.Settings(idf="coco") if use_them else captious.Settings()


def _pairs(data: Path) -> Iterator[tuple[str, list[Pair]]]:
    """Pairs by what is wrong with their second caption."""
    examples = Examples.read(data).part(held_out=True)
    images = {image: captions for image, captions in examples.images.items() if len(captions) >= 4}
    examples = replace(examples, images=dict([*images.items()][:_IMAGES]))
    weights = CaptionWeights.load()
    texts = examples.texts
    for name, ways in _MADE.items():
        negatives = make_negatives(examples, weights.words, weights.vectors, ways=ways, seed=1)
        pairs, copies = [], []
        for image, negative in [*negatives.items()][:_PAIRS]:
            others = [texts[i] for i in examples.images[image].tolist() if i != negative.caption]
            wrong = " ".join(negative.words)
            pairs.append((texts[negative.caption], wrong, others))
            copies.append((others[0], wrong, [texts[negative.caption], *others[1:]]))
        yield name, pairs
        if name == "another noun":
            yield "a reference with another noun", copies
    captions = [[texts[i] for i in numbers] for numbers in [*examples.images.values()][:_PAIRS]]
    firsts = [own[0] for own in captions]
    changes = {
        "first half": [" ".join(PTB(text)[: len(PTB(text)) // 2]) for text in firsts],
        "said twice": [f"{text.rstrip(' .')}. {text}" for text in firsts],
        "empty": [""] * len(firsts),
        "content words only": [" ".join(w for w in PTB(text) if w not in NLTK_STOP_WORDS.words) for text in firsts],
        "200 words of other captions added": [
            " ".join([text, *PTB(" ".join(firsts[i + 1 :] + firsts[:i]))[:200]]) for i, text in enumerate(firsts)
        ],
        "words in random order": [" ".join(np.random.default_rng(i).permutation(PTB(t))) for i, t in enumerate(firsts)],
    }
    for name, wrong_texts in changes.items():
        yield name, [(own[0], wrong, own[1:]) for own, wrong in zip(captions, wrong_texts, strict=True)]


if __name__ == "__main__":
    main()
