"""Models of sentences: encoders, which return a vector for each, and detectors of fluency errors."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import References
from captious.data.tables import TextCache
from captious.errors import ParameterError, ResourceError
from captious.models.encoders import Encoder, TextLayer, TextVectors, equal_lengths, numbered, token_ids
from captious.models.pretrained import check_extra, pretrained, torch_threads, version_of
from captious.words import shortened

# Detectors of fluency errors: the probability that a caption has an error, from a user-supplied classifier.
#
# A detector is a checkpoint of FENSE's authors, or any sequence classifier of transformers whose last class is "has an
# error".

#: The most tokens that are read of a caption, as in FENSE's code.
MOST_TOKENS = 64
_TEXTS_PER_BATCH = 64
_PUNCTUATION = re.compile(r"[^\w\s]")
#: Where FENSE's authors offer their detectors.
DETECTORS = "echecker_clotho_audiocaps_base.ckpt from github.com/blmoistawinde/fense/releases"
_HELP = f"give a checkpoint of FENSE, such as {DETECTORS}, or a sequence classifier"


def as_error_detector(detector: ErrorDetector | str | os.PathLike[str]) -> ErrorDetector:
    """Return a detector from a checkpoint file, a folder, or a name on the Hugging Face hub.

    Raises:
        ParameterError: neither of these.
    """
    if isinstance(detector, ErrorDetector):
        return detector
    if not isinstance(detector, str | os.PathLike) or not os.fspath(detector):
        raise ParameterError(f"{shortened(detector)} is not an error detector", hint=_HELP)
    return ErrorDetector(os.fspath(detector))


@dataclass(frozen=True)
class ErrorDetector:
    """A detector of fluency errors, loaded on first use.

    Args:
        model: a checkpoint file of FENSE (``.ckpt``), a folder, or a name on the Hugging Face hub.
    """

    model: str

    @property
    def label(self) -> str:
        """The detector in signatures: its name and version."""
        return f"{Path(self.model).name if os.path.exists(self.model) else self.model}@{_loaded(self).version}"

    def probabilities(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the probability that each text has an error, float64[n].

        Texts are read without punctuation, in lower case, up to ``MOST_TOKENS`` tokens.

        Raises:
            MissingExtraError: torch or transformers is not installed.
            ResourceError: the model cannot be found or read.
        """
        return self.class_probabilities(texts)[:, -1]

    def class_probabilities(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the probability of each class, the last of which is "has an error": float64[n, classes]; otherwise as
        ``probabilities``.
        """
        return _loaded(self).probabilities(texts)


class _Detector:
    """A detector in memory."""

    def __init__(self, model: str) -> None:
        check_extra("error detectors need")
        import transformers

        self._name = model
        if os.path.isfile(model):
            base, self._network, self._head = _load_checkpoint(Path(model))
        else:
            base, self._head = model, None
            load = transformers.AutoModelForSequenceClassification.from_pretrained
            self._network, found = pretrained(model, load, output_loading_info=True)
            if found["missing_keys"]:  # whose weights would be random
                lacks = min(found["missing_keys"])
                raise ResourceError(f"the model is no trained classifier: it has no {lacks}", where=model, hint=_HELP)
        self._n_classes = self._network.config.num_labels if self._head is None else self._head.out_features
        self._network.eval()
        self._tokenizer = pretrained(base, transformers.AutoTokenizer.from_pretrained)

    def probabilities(self, texts: Sequence[str]) -> NDArray[np.float64]:
        import torch

        plain = [_PUNCTUATION.sub("", text).lower() for text in texts]
        distinct, rows_of = numbered(plain)
        ids = token_ids(self._tokenizer, distinct, truncation=True, max_length=MOST_TOKENS) if distinct else []
        logits = np.empty((len(distinct), self._n_classes))
        with torch.inference_mode(), torch_threads():
            for rows, batch in equal_lengths(ids, lambda length: _TEXTS_PER_BATCH, "looking for fluency errors"):
                logits[rows] = self._logits(batch).double().numpy()
        return 1 / (1 + np.exp(-logits[rows_of]))

    def _logits(self, ids: Any) -> Any:
        """Return the logits of each text, a tensor [b, classes], from token ids, int64[b, n]."""
        if self._head is None:
            return self._network(input_ids=ids).logits
        return self._head(self._network(input_ids=ids).last_hidden_state[:, 0])

    @cached_property
    def version(self) -> str:
        return version_of(self._name, self._network.config)


@cache
def _loaded(detector: ErrorDetector) -> _Detector:
    return _Detector(detector.model)


def _load_checkpoint(path: Path) -> tuple[str, Any, Any]:
    """Load a FENSE checkpoint: the base encoder, that encoder with the checkpoint's weights, and its linear layer.

    Configuration and tokenizer are those in the folder of the checkpoint, or else those of the model that it names.
    """
    import torch
    import transformers

    try:
        saved = torch.load(path, map_location="cpu", weights_only=True)
        base, weights = str(saved["model_type"]), dict(saved["state_dict"])
        head = torch.nn.Linear(weights["clf.weight"].shape[1], weights["clf.weight"].shape[0])
        head.load_state_dict({"weight": weights.pop("clf.weight"), "bias": weights.pop("clf.bias")})
    except Exception as error:  # torch raises many kinds of errors on files that it did not write
        raise ResourceError(f"not a checkpoint of FENSE: {_line(error)}", where=str(path), hint=_HELP) from error
    if (path.parent / "config.json").is_file():
        base = str(path.parent)
    config = pretrained(base, transformers.AutoConfig.from_pretrained)
    encoder = transformers.AutoModel.from_config(config)
    parameters = encoder.state_dict()
    tensors = {name.removeprefix("encoder."): tensor for name, tensor in weights.items()}
    tensors.pop("embeddings.position_ids", None)  # saved by transformers before 4.31
    try:
        missing = [name for name in encoder.load_state_dict(tensors, strict=False).missing_keys if "pooler" not in name]
    except RuntimeError as error:
        raise ResourceError(f"the weights do not fit {base}: {_line(error)}", where=str(path), hint=_HELP) from error
    if missing or not tensors.keys() <= parameters.keys():
        lacks = next(iter(missing or tensors.keys() - parameters.keys()))
        raise ResourceError(f"the weights do not fit {base}: {lacks}", where=str(path), hint=_HELP)
    return base, encoder, head.eval()


def _line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


# Sentence encoders: a unit vector for each text, from any model that transformers can load.
#
# The configuration that sentence-transformers saves with a model specifies the pooling (mean, first token, maximum) and
# the maximum length. Without it, the maximum length is the model's, and the pooling is the mean.

#: Pools, as sentence-transformers calls them.
_POOLS = {"cls_token": "cls", "mean_tokens": "mean", "max_tokens": "max", "cls": "cls", "mean": "mean", "max": "max"}
#: The parts of a model of sentence-transformers that are understood; lengths are made 1 in any case.
_PARTS = ("Transformer", "Pooling", "Normalize")
_PHRASES_KEPT = 1 << 16  # 100 MB at 384 numbers each


@dataclass(frozen=True)
class _Form:
    """Pooling and maximum length of a model."""

    pool: str
    most: int


def most_tokens(encoder: Encoder) -> int:
    """Return the maximum number of tokens of a text, including special ones."""
    return _form(encoder).most


def sentence_vectors(encoder: Encoder, texts: Sequence[str]) -> TextVectors:
    """Return the vectors of texts.

    Raises:
        ParameterError, MissingExtraError: as ``Encoder.run``.
        ResourceError: the model cannot be read, or its pooling is not supported.
    """
    form = _form(encoder)
    ids = encoder.tokenize(texts)
    cut = encoder.were_cut(texts, ids, form.most)
    ids = [each if len(each) <= form.most else each[: form.most - 1] + each[-1:] for each in ids]
    vectors = np.zeros((len(texts), encoder.width), np.float32)
    layer = encoder.n_blocks
    for batch in encoder.run(ids, [layer]):
        pooled = _pooled(batch.hidden[layer], form.pool)
        lengths = np.linalg.norm(pooled, axis=1, keepdims=True)
        vectors[batch.rows] = pooled / np.maximum(lengths, 1e-12)
    return TextVectors(vectors, cut)


def phrase_vectors(encoder: Encoder, phrases: Sequence[str], references: References) -> NDArray[np.float32]:
    """Return the vectors of phrases, float32[n, d], cached with the references for other systems."""
    memo: TextCache[NDArray[np.float32]] = references.memo(("phrases", encoder), _PHRASES_KEPT)

    def encode(texts: list[str]) -> list[NDArray[np.float32]]:
        return [vector.copy() for vector in sentence_vectors(encoder, texts).vectors]

    return np.array(memo.get(phrases, encode), np.float32).reshape(len(phrases), encoder.width)


def sentence_layer(encoder: Encoder) -> TextLayer[TextVectors]:
    """Return the layer of ``sentence_vectors`` of references and candidates."""
    return TextLayer(("sentences", encoder), partial(sentence_vectors, encoder))


def _pooled(states: NDArray[np.float32], pool: str) -> NDArray[np.float32]:
    """Return one vector per text, float32[b, d], from hidden states, float32[b, tokens, d]."""
    if pool == "cls":
        return states[:, 0]
    return np.asarray(states.max(axis=1) if pool == "max" else states.mean(axis=1))


@cache
def _form(encoder: Encoder) -> _Form:
    check_extra(f"{encoder.model} needs")
    modules = _saved(encoder.model, "modules.json")
    parts = [str(part["type"]).rpartition(".")[2] for part in modules or []]
    if unknown := [part for part in parts if part not in _PARTS]:
        raise ResourceError(
            f"{encoder.name} makes vectors with a part that captious does not have: {unknown[0]}",
            where=encoder.model,
            hint="use a sentence encoder that only pools hidden states, such as sentence-transformers/all-MiniLM-L6-v2",
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
        hint="use a sentence encoder that takes the mean, the maximum, or the first token",
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
        raise ResourceError(f"not JSON: {error}", where=path, hint="save the model again") from error
