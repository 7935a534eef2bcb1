"""Contextual encoders: hidden states and attention maps of texts, by any model that transformers can load.

An ``Encoder`` is a value: model, device and precision. Its weights are read on first use, once per process. Texts of
equal length share a batch, so nothing is computed for padding, and the result for a text depends on the rest of its
batch only in the last bits of floating point.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.errors import MissingExtraError, ParameterError, ResourceError
from captious.models.clip_checkpoints import clip_of_checkpoint, companion
from captious.models.pretrained import INSTALL, missing_extra, pretrained, torch_threads, version_of
from captious.progress import Progress

_TOKENS_PER_BATCH = 1024  # on a processor, where from 512 to 4096 makes no difference to speed
_TOKENS_PER_BATCH_GPU = 32_768
_NO_LIMIT = 1 << 30  # tokens; where there is no limit, transformers gives a larger number
_TEXTS_AT_ONCE = 4096  # the output of a tokenizer takes a hundred times the memory of its ids
#: Precisions of encoders.
PRECISIONS = ("float32", "bfloat16", "float16")


def as_encoder(model: Encoder | str) -> Encoder:
    """Return an encoder by the name or folder of its model.

    Raises:
        ParameterError: neither an encoder nor a name.
    """
    if isinstance(model, Encoder):
        return model
    if not isinstance(model, str) or not model:
        raise ParameterError(
            f"{model!r:.60} is not a model",
            help="give a name on the Hugging Face hub, the folder of a model, or captious.Encoder(...)",
        )
    return Encoder(model)


@dataclass(frozen=True, eq=False)
class Batch:
    """Encoded texts of equal length.

    Args:
        rows: int64[b], indices of the texts.
        hidden: layer -> float32[b, n, d]; layer 0 is the input embedding, layer i the output of the model truncated
            after block i.
        attentions: float32[blocks, b, heads, n, n], rows are queries; None unless requested.
    """

    rows: NDArray[np.int64]
    hidden: dict[int, NDArray[np.float32]]
    attentions: NDArray[np.float32] | None = None


@dataclass(frozen=True)
class Encoder:
    """A transformer encoder.

    Args:
        model: the name of a model on the Hugging Face hub, a local folder, or a file with a CLIP checkpoint in the
            layout of OpenAI's code.
        device: "cpu", "cuda", "cuda:1", ...; "auto" uses a GPU if there is one.
        precision: float32, bfloat16 or float16.

    Raises:
        ParameterError: an unknown precision.
    """

    model: str
    device: str = "auto"
    precision: str = "float32"

    def __post_init__(self) -> None:
        if self.precision not in PRECISIONS:
            raise ParameterError(
                f"there is no precision {self.precision!r}", help=f"precisions are {', '.join(PRECISIONS)}"
            )

    @property
    def label(self) -> str:
        """The encoder in signatures: the model's name and version, and its precision if that is not float32.

        The version is the hub's commit, or a checksum of the weights for a folder.
        """
        weights = loaded_weights(self)
        precision = "" if self.precision == "float32" else f",{self.precision}"
        return f"{self.name}@{weights.version}{precision}"

    @property
    def stored_as(self) -> str:
        """The encoder in files of prepared references: also its device, and the version of torch."""
        import torch

        return f"{self.label} on {loaded_weights(self).device.type} by torch {torch.__version__}"

    @property
    def name(self) -> str:
        """Human-readable name: that of the model, or of its folder or file."""
        path = Path(self.model)
        return path.resolve().name if path.exists() else self.model

    @property
    def n_blocks(self) -> int:
        """Number of transformer blocks, which is the number of the last layer.

        Raises:
            ResourceError: this is not a text encoder.
        """
        config = loaded_weights(self).config
        if not hasattr(config, "num_hidden_layers"):
            raise ResourceError(
                f"{self.name} is a {config.model_type} model, not a text encoder",
                where=self.model,
                help="give this metric its own model: -m bertscore:model=MODEL",
            )
        return int(config.num_hidden_layers)

    @property
    def width(self) -> int:
        """Length of a hidden state."""
        return int(loaded_weights(self).config.hidden_size)

    @property
    def family(self) -> str:
        """The architecture: bert, roberta, distilbert, ..."""
        return str(loaded_weights(self).config.model_type)

    @property
    def max_length(self) -> int:
        """Maximum number of tokens of a text, including special ones."""
        return loaded_weights(self).max_length

    @property
    def tokenizer(self) -> Any:
        """The model's transformers tokenizer."""
        return loaded_weights(self).tokenizer

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text with the model's special tokens; texts that are too long are truncated."""
        if not texts:
            return []
        return token_ids(self.tokenizer, texts, truncation=True, max_length=self.max_length)

    def tokenize_whole(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text with the model's special tokens, of any length."""
        return token_ids(self.tokenizer, texts, verbose=False) if texts else []

    def were_cut(self, texts: Sequence[str], ids: Sequence[Sequence[int]]) -> NDArray[np.bool_]:
        """Return a mask of the texts that ``tokenize`` truncated, bool[n], given its result."""
        cut = np.zeros(len(texts), bool)
        full = [row for row, sequence in enumerate(ids) if len(sequence) >= self.max_length]
        whole = self.tokenize_whole([texts[row] for row in full])
        cut[full] = [len(sequence) > self.max_length for sequence in whole]
        return cut

    def run(
        self, sequences: Sequence[Sequence[int]], layers: Sequence[int] = (), attentions: bool = False
    ) -> Iterator[Batch]:
        """Yield hidden states of layers, and attention maps if requested, for sequences of token ids, batch by batch.

        For attention maps, padding tokens inside a sequence are masked: no position attends to them. For hidden states
        they are ordinary tokens, as captions may contain them.

        Batches are in order of length, and memory holds one at a time. Sequences must not be empty.

        Raises:
            ParameterError: a layer that the model does not have.
            MissingExtraError: torch or transformers is not installed.
            ResourceError: the model cannot be found or read.
        """
        weights = loaded_weights(self)
        if bad := [layer for layer in layers if not 0 <= layer <= self.n_blocks]:
            raise ParameterError(
                f"{self.model} has no layer {bad[0]}", help=f"its layers are 0 (the input) to {self.n_blocks}"
            )
        import torch

        lengths = np.array([len(sequence) for sequence in sequences], np.int64)
        most = _TOKENS_PER_BATCH if weights.device.type == "cpu" else _TOKENS_PER_BATCH_GPU
        done = 0
        with Progress(max(1, len(lengths))) as progress:
            for rows in equal_lengths(lengths, lambda length: most // max(1, length)):
                progress.reach(done, f"encoding with {self.model}")
                ids = torch.tensor([list(sequences[row]) for row in rows.tolist()], device=weights.device)
                yield Batch(rows, *weights.forward(ids, layers, attentions))
                done += len(rows)


def token_ids(tokenizer: Any, texts: Sequence[str], **options: Any) -> list[list[int]]:
    """Return the token ids of each text, from a transformers tokenizer with its options."""
    ids: list[list[int]] = []
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        batch = list(texts[start : start + _TEXTS_AT_ONCE])
        ids += tokenizer(batch, return_attention_mask=False, **options)["input_ids"]
    return ids


def equal_lengths(lengths: NDArray[np.int64], most: Callable[[int], int]) -> Iterator[NDArray[np.int64]]:
    """Yield rows of equal length, the shortest first: at most ``most(length)`` of them, but at least one."""
    order = np.argsort(lengths, kind="stable")
    start = 0
    while start < len(order):
        length = int(lengths[order[start]])
        longer = int(np.searchsorted(lengths, length, side="right", sorter=order))
        stop = min(longer, start + max(1, most(length)))
        yield order[start:stop]
        start = stop


class _Weights:
    """A model in memory, with its tokenizer."""

    def __init__(self, encoder: Encoder) -> None:
        if missing_extra() is not None:
            raise MissingExtraError(f"{encoder.model} needs torch and transformers", help=INSTALL)
        import torch

        self._name = encoder.model
        device = encoder.device
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        try:
            self.device = torch.zeros(1, device=device).device
        except (AssertionError, RuntimeError) as error:
            raise ParameterError(
                f"there is no device {device!r} on this machine", help="give cpu, cuda or auto"
            ) from error
        self._dtype = getattr(torch, encoder.precision)
        self._lock = threading.RLock()
        self.model: Any = self._load()
        self.config = self.model.config
        from transformers import AutoTokenizer

        #: Source of the tokenizer and the image processor.
        self.companion = companion(Path(encoder.model)) if Path(encoder.model).is_file() else encoder.model
        self.tokenizer: Any = pretrained(self.companion, AutoTokenizer.from_pretrained)
        if len(self.tokenizer) <= len(self.tokenizer.all_special_ids):  # the tokenizer files are missing
            raise ResourceError(
                "the model has no tokenizer",
                where=str(Path(encoder.model).resolve()),
                help="save it next to the weights: AutoTokenizer.from_pretrained(...).save_pretrained(FOLDER)",
            )
        self.pad: int | None = self.tokenizer.pad_token_id
        self.max_length = min(self._positions(), int(min(self.tokenizer.model_max_length, _NO_LIMIT)))

    def forward(
        self, ids: Any, layers: Sequence[int], attentions: bool
    ) -> tuple[dict[int, NDArray[np.float32]], NDArray[np.float32] | None]:
        """Return hidden states by layer and attention maps for token ids, int64[b, n], as in ``Batch``."""
        import torch

        inputs = {"input_ids": ids, "attention_mask": None}  # without a mask attention is faster
        with self._lock, torch.inference_mode(), torch_threads():
            hidden = {layer: _array(self._states(inputs, layer)) for layer in layers}
            maps = None
            if attentions:
                if self.pad is not None and (ids == self.pad).any():
                    inputs["attention_mask"] = (ids != self.pad).long()
                maps = _array(torch.stack(self.eager_model(**inputs, output_attentions=True).attentions))
        return hidden, maps

    def _states(self, inputs: dict[str, Any], layer: int) -> Any:
        """Return hidden states of one layer, computed only from the blocks below it if the model can be truncated."""
        if self._blocks is None:
            return self.model(**inputs, output_hidden_states=True).hidden_states[layer]
        parent, name = self._blocks
        blocks = getattr(parent, name)
        setattr(parent, name, blocks[:layer])
        try:
            return self.model(**inputs).last_hidden_state
        finally:
            setattr(parent, name, blocks)

    @cached_property
    def _blocks(self) -> tuple[Any, str] | None:
        """The module that holds the list of blocks, and the name of the list; None if there is none."""
        from torch.nn import ModuleList

        lists = [
            (module, name)
            for module in self.model.modules()
            for name, child in module.named_children()
            if isinstance(child, ModuleList) and len(child) == self.config.num_hidden_layers
        ]
        return lists[0] if len(lists) == 1 else None

    def _positions(self) -> int:
        """Return the maximum number of tokens that the model has positions for."""
        positions = int(getattr(self.config, "max_position_embeddings", _NO_LIMIT))
        embedding = getattr(getattr(self.model, "embeddings", None), "position_embeddings", None)
        padding = getattr(embedding, "padding_idx", None)
        if padding is not None:  # as in RoBERTa, positions are counted from after that of padding
            positions -= int(padding) + 1
        return positions if positions > 0 else _NO_LIMIT

    def _load(self, **options: Any) -> Any:
        from transformers import AutoModel

        if Path(self._name).is_file():
            return clip_of_checkpoint(Path(self._name)).to(self.device, self._dtype).eval()
        model = pretrained(self._name, AutoModel.from_pretrained, dtype=self._dtype, **options)
        if model.config.is_encoder_decoder:
            model = model.get_encoder()
        return model.to(self.device).eval()

    @cached_property
    def eager_model(self) -> Any:
        """The model without fused attention, which returns no attention maps. It shares the weights."""
        model = self._load(attn_implementation="eager")
        model.load_state_dict(self.model.state_dict(), assign=True)
        return model

    @cached_property
    def version(self) -> str:
        return version_of(self._name, self.config)


@cache
def loaded_weights(encoder: Encoder) -> _Weights:
    return _Weights(encoder)


def _array(tensor: Any) -> NDArray[np.float32]:
    array: NDArray[np.float32] = tensor.float().cpu().numpy()
    return array
