"""Sentence encoders: a unit vector for each text, from any model that transformers can load.

The configuration that sentence-transformers saves with a model specifies the pooling (mean, first token, maximum) and
the maximum length. Without it, the maximum length is the model's, and the pooling is the mean.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, KeyedByFields, References
from captious.data.text_cache import TextCache
from captious.errors import ResourceError
from captious.models.encoders import Encoder
from captious.models.encoding_layers import numbered

#: Pools, as sentence-transformers calls them.
_POOLS = {"cls_token": "cls", "mean_tokens": "mean", "max_tokens": "max", "cls": "cls", "mean": "mean", "max": "max"}
#: The parts of a model of sentence-transformers that are understood; lengths are made 1 in any case.
_PARTS = ("Transformer", "Pooling", "Normalize")
_PHRASES_KEPT = 1 << 16  # 100 MB at 384 numbers each


@dataclass(frozen=True, eq=False)
class SentenceVectors:
    """Texts as vectors of length 1.

    Args:
        vectors: float32[n_texts, d].
        cut: which texts exceed the maximum length of the model, bool[n_texts].
    """

    vectors: NDArray[np.float32]
    cut: NDArray[np.bool_]


@dataclass(frozen=True)
class _Form:
    """Pooling and maximum length of a model."""

    pool: str
    most: int


def most_tokens(encoder: Encoder) -> int:
    """Return the maximum number of tokens of a text, including special ones."""
    return _form(encoder).most


def sentence_vectors(encoder: Encoder, texts: Sequence[str]) -> SentenceVectors:
    """Return the vectors of texts; equal ones are encoded once.

    Raises:
        ParameterError, MissingExtraError: as ``Encoder.run``.
        ResourceError: the model cannot be read, or its pooling is not supported.
    """
    form = _form(encoder)
    distinct, rows = numbered(texts)
    ids = encoder.tokenize(distinct)
    cut = np.zeros(len(distinct), bool)
    full = [row for row, sequence in enumerate(ids) if len(sequence) >= form.most]
    for row, whole in zip(full, encoder.tokenize_whole([distinct[row] for row in full]), strict=True):
        cut[row] = len(whole) > form.most
        if len(ids[row]) > form.most:
            ids[row] = ids[row][: form.most - 1] + ids[row][-1:]
    vectors = np.zeros((len(distinct), encoder.width), np.float32)
    layer = encoder.n_blocks
    for batch in encoder.run(ids, [layer]):
        pooled = _pooled(batch.hidden[layer], form.pool)
        lengths = np.linalg.norm(pooled, axis=1, keepdims=True)
        vectors[batch.rows] = pooled / np.maximum(lengths, 1e-12)
    return SentenceVectors(vectors[rows], cut[rows])


def phrase_vectors(encoder: Encoder, phrases: Sequence[str], references: References) -> NDArray[np.float32]:
    """Return the vectors of phrases, float32[n, d], cached with the references for other systems."""
    memo: TextCache[NDArray[np.float32]] = references.memo(("phrases", encoder), _PHRASES_KEPT)

    def encode(texts: list[str]) -> list[NDArray[np.float32]]:
        return [vector.copy() for vector in sentence_vectors(encoder, texts).vectors]

    return np.array(memo.get(phrases, encode), np.float32).reshape(len(phrases), encoder.width)


@dataclass(frozen=True)
class SentenceLayer(KeyedByFields):
    """``SentenceVectors`` of references and candidates."""

    encoder: Encoder

    def of_references(self, references: References) -> SentenceVectors:
        return sentence_vectors(self.encoder, references.texts)

    def of_candidates(self, captions: Captions, references: SentenceVectors) -> SentenceVectors:
        return sentence_vectors(self.encoder, captions.candidates)


def _pooled(states: NDArray[np.float32], pool: str) -> NDArray[np.float32]:
    """Return one vector per text, float32[b, d], from hidden states, float32[b, tokens, d]."""
    if pool == "cls":
        return states[:, 0]
    return np.asarray(states.max(axis=1) if pool == "max" else states.mean(axis=1))


@cache
def _form(encoder: Encoder) -> _Form:
    modules = _saved(encoder.model, "modules.json")
    parts = [str(part["type"]).rpartition(".")[2] for part in modules or []]
    if unknown := [part for part in parts if part not in _PARTS]:
        raise ResourceError(
            f"{encoder.name} makes vectors with a part that captious does not have: {unknown[0]}",
            where=encoder.model,
            help="use a sentence encoder that only pools hidden states, such as sentence-transformers/all-MiniLM-L6-v2",
        )
    pool = "mean"
    for part in modules or []:
        if str(part["type"]).endswith("Pooling"):
            pool = _pool_of(encoder, _saved(encoder.model, f"{part['path']}/config.json") or {"mean": True})
    saved = _saved(encoder.model, "sentence_bert_config.json") or {}
    most = saved.get("max_seq_length")
    return _Form(pool, min(encoder.max_length, int(most)) if most else encoder.max_length)


def _pool_of(encoder: Encoder, config: Mapping[str, Any]) -> str:
    """Return the pooling in a configuration of sentence-transformers, in either of its forms."""
    prefix = "pooling_mode"
    flags = [key.removeprefix(f"{prefix}_") for key, is_on in config.items() if is_on is True]
    modes = [config[prefix]] if prefix in config else flags
    pools = [_POOLS.get(name) for name in modes if name != "include_prompt"]
    if len(pools) == 1 and pools[0] is not None:
        return pools[0]
    raise ResourceError(
        f"{encoder.name} pools hidden states in a way that captious does not have: {', '.join(map(str, modes))}",
        where=encoder.model,
        help="use a sentence encoder that takes the mean, the maximum, or the first token",
    )


def _saved(model: str, name: str) -> Any:
    """Return the content of a JSON file in the folder of a model; None if there is none."""
    path: str | None = str(Path(model) / name)
    if not Path(model).is_dir():
        from transformers.utils import cached_file

        path = cached_file(
            model,
            name,
            _raise_exceptions_for_missing_entries=False,
            _raise_exceptions_for_connection_errors=False,
            _raise_exceptions_for_gated_repo=False,
        )
    if path is None or not Path(path).is_file():
        return None
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ResourceError(f"not JSON: {error}", where=path, help="save the model again") from error
