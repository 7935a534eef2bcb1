"""SMURF written down slowly: the model on padded batches, one head at a time in bits, and the fusion of one caption.

Feinglass and Yang 2021, with the conventions of the authors' code. The model is called with every input spelled out.
"""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from captious.text.stop_words import NLTK_STOP_WORDS


def prepared(caption: str) -> str:
    """Return a caption before it is cut."""
    return caption.lower().rstrip().replace(" .", "").replace(".", "")


class Oracle:
    """A model with its tokenizer, read from a folder or by name."""

    def __init__(self, model: str | Path) -> None:
        from transformers import AutoModel, AutoTokenizer

        self.tokenizer: Any = AutoTokenizer.from_pretrained(model)
        self.model: Any = AutoModel.from_pretrained(model, attn_implementation="eager").eval()
        self.start, *_, self.end = self.tokenizer("a")["input_ids"]
        self.pad = self.tokenizer.pad_token_id

    def ids(self, text: str, stop_words: str) -> list[int]:
        """Return token ids, special ones included; stop words "stay", are "masked" or "removed"."""
        found = [self.start]
        for piece in self.tokenizer.tokenize(text):
            plain = piece.replace("Ġ", "")
            if stop_words == "stay":
                found.append(self.tokenizer.convert_tokens_to_ids(piece))
            elif plain in NLTK_STOP_WORDS:
                found += [self.pad] if stop_words == "masked" else []
            elif plain not in list(string.punctuation):
                found.append(self.tokenizer.convert_tokens_to_ids(piece))
        return [*found, self.end]

    def positions(self, ids: Sequence[int]) -> list[int]:
        """Return the positions of tokens, for models that count from behind the padding's and leave padding out."""
        counted, found = self.pad, []
        for token in ids:
            counted += token != self.pad
            found.append(self.pad if token == self.pad else counted)
        return found

    def flows(self, texts: Sequence[str], stop_words: str = "stay", batch_size: int = 1) -> list[float]:
        """Return the information flow of each text; NaN for an empty one."""
        import torch

        sequences = [self.ids(prepared(text), stop_words) for text in texts]
        found = [math.nan] * len(texts)
        order = sorted(range(len(texts)), key=lambda row: len(sequences[row]), reverse=True)
        for first in range(0, len(order), batch_size):
            rows = order[first : first + batch_size]
            longest = max(len(sequences[row]) for row in rows)
            ids = [sequences[row] + [self.pad] * (longest - len(sequences[row])) for row in rows]
            inputs = {"input_ids": ids, "attention_mask": [[int(t != self.pad) for t in each] for each in ids]}
            if self.model.config.model_type == "roberta":
                inputs["position_ids"] = [self.positions(each) for each in ids]
            with torch.no_grad():
                out = self.model(
                    **{name: torch.tensor(value) for name, value in inputs.items()}, output_attentions=True
                )
            for place, row in enumerate(rows):
                if prepared(texts[row]):
                    n = len(sequences[row])
                    found[row] = median([best_head(layer[place, :, :n, :n].tolist()) for layer in out.attentions])
        return found


def best_head(heads: Sequence[Sequence[Sequence[float]]]) -> float:
    """Return the largest normalized mutual information of a layer's heads."""
    return max(map(mutual_information, heads))


def mutual_information(attention: Sequence[Sequence[float]]) -> float:
    """2 (H(X) + H(Y) - H(X, Y)) / (H(X) + H(Y)) of a map that is made a joint distribution."""
    total = math.fsum(map(math.fsum, attention))
    joint = [[value / total for value in row] for row in attention]
    of_rows = entropy([math.fsum(row) for row in joint])
    of_columns = entropy([math.fsum(column) for column in zip(*joint, strict=True)])
    together = entropy([value for row in joint for value in row])
    return 2 * (of_rows + of_columns - together) / (of_rows + of_columns)


def entropy(probabilities: Sequence[float]) -> float:
    """In bits."""
    return -math.fsum(p * math.log2(p) for p in probabilities if p > 0)


def median(values: Sequence[float]) -> float:
    """Return the middle value, or half way between the two."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def fused(sparcs: float, spurts: float, mima: float, threshold: float = -1.96, average: bool = True) -> float:
    """SMURF of standardized parts."""
    parts = [sparcs, min(mima - threshold, 0)]
    if sparcs >= threshold:
        parts.append(max(spurts - threshold, 0))
    return sum(parts) / len(parts) if average else sum(parts)
