"""Contextual encoders: hidden states and attention maps of texts, by any model that transformers can load.

An ``Encoder`` is a value: model, device and precision. Its weights are read on first use, once per process. Texts of
equal length share a batch, so nothing is computed for padding, and the result for a text depends on the rest of its
batch only in the last bits of floating point.
"""

from __future__ import annotations

import json
import mmap
import re
import tempfile
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References, Stored, stored_key
from captious.data.prepared import text_array, texts_of
from captious.errors import OutputError, ParameterError, ResourceError, either, requesting
from captious.models.pretrained import check_extra, pretrained, torch_threads, version_of
from captious.progress import Progress
from captious.words import shortened

# CLIP checkpoints in the layout of OpenAI's code, in which PAC-S and others are published, as CLIP models.
#
# Tokenizer and image processor are those in the folder of the checkpoint, or else those of OpenAI's model.

_OPENAI = "openai/clip-vit-base-patch32"
_HEAD = 64  # dimensions of an attention head
#: Names in OpenAI's code -> in transformers: of the model's parts, and of those of a block.
_NAMES, _BLOCK_NAMES = json.loads(Path(__file__).with_name("clip-names.json").read_text("utf-8")).values()
_TRANSPOSED = ("visual.proj", "text_projection")
_NOT_WEIGHTS = ("input_resolution", "context_length", "vocab_size", "attn_mask")
_BLOCK = re.compile(r"(?P<stack>(?:visual\.)?transformer\.resblocks)\.(?P<number>\d+)\.(?P<name>.+)")


def companion(path: Path) -> str:
    """Return the folder or model with the tokenizer and image processor of a checkpoint."""
    folder = path.resolve().parent
    has_tokenizer = any((folder / name).is_file() for name in ("tokenizer.json", "vocab.json"))
    return str(folder) if has_tokenizer and (folder / "preprocessor_config.json").is_file() else _OPENAI


def clip_of_checkpoint(path: Path) -> Any:
    """Load a ``CLIPModel`` with the weights of a checkpoint: a dict with ``state_dict``, or a state dict itself.

    The activation function is that of OpenAI's models, or of OpenCLIP's if the file name contains ``openclip``.

    Raises:
        ResourceError: a file that is not such a checkpoint, or has parts other than those of a CLIP with two
            transformers.
    """
    import torch
    import transformers

    try:
        saved = torch.load(path, map_location="cpu", weights_only=True)
        weights = saved.get("state_dict", saved)
        weights = {name.removeprefix("module."): weights[name].float() for name in weights if name not in _NOT_WEIGHTS}
        activation = "gelu" if "openclip" in path.name.lower().replace("_", "").replace("-", "") else "quick_gelu"
        model = transformers.CLIPModel(_config(weights, activation))
        model.load_state_dict(dict(_renamed(weights)))
    except Exception as error:  # torch raises many kinds of errors on files that it did not write
        raise ResourceError(
            f"not a CLIP checkpoint: {(str(error).splitlines() or [type(error).__name__])[0]}",
            where=str(path),
            hint="give a checkpoint in the layout of OpenAI's CLIP with a vision transformer, such as "
            "clip_ViT-B-32.pth of PAC-S, or a folder written by save_pretrained",
        ) from error
    return model


def _config(weights: Mapping[str, Any], activation: str) -> Any:
    """Return the configuration that the shapes of the weights imply."""
    import transformers

    vision, patch = weights["visual.conv1.weight"].shape[0], weights["visual.conv1.weight"].shape[-1]
    text = weights["ln_final.weight"].shape[0]
    places, words = weights["positional_embedding"].shape[0], weights["token_embedding.weight"].shape[0]
    grid = round((weights["visual.positional_embedding"].shape[0] - 1) ** 0.5)
    return transformers.CLIPConfig(
        projection_dim=weights["text_projection"].shape[1],
        text_config={
            **_stack(weights, "transformer", text, activation),
            "vocab_size": words,
            "max_position_embeddings": places,
            "bos_token_id": words - 2,
            "eos_token_id": words - 1,
            "pad_token_id": words - 1,
        },
        vision_config={
            **_stack(weights, "visual.transformer", vision, activation),
            "image_size": grid * patch,
            "patch_size": patch,
        },
    )


def _stack(weights: Mapping[str, Any], name: str, width: int, activation: str) -> dict[str, object]:
    prefix = f"{name}.resblocks."
    blocks = {key.removeprefix(prefix).partition(".")[0] for key in weights if key.startswith(prefix)}
    return {
        "hidden_size": width,
        "intermediate_size": weights[f"{prefix}0.mlp.c_fc.weight"].shape[0],
        "num_hidden_layers": len(blocks),
        "num_attention_heads": max(1, width // _HEAD),
        "hidden_act": activation,
    }


def _renamed(weights: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Return the weights under the names that transformers uses.

    Raises:
        KeyError: a weight that a CLIP with two transformers does not have.
    """
    for name, tensor in weights.items():
        block = _BLOCK.fullmatch(name)
        if block is None:
            owner, _, last = name.rpartition(".")
            renamed = _NAMES[name] if name in _NAMES else f"{_NAMES[owner]}.{last}"
            yield renamed, tensor.T.contiguous() if name in _TRANSPOSED else tensor
            continue
        stack = f"{_NAMES[block['stack']]}.{block['number']}"
        owner, last = block["name"].replace("in_proj_", "in_proj.").rsplit(".", 1)
        if owner == "attn.in_proj":
            for part, piece in zip("qkv", tensor.chunk(3), strict=True):
                yield f"{stack}.self_attn.{part}_proj.{last}", piece
        else:
            yield f"{stack}.{_BLOCK_NAMES[owner]}.{last}", tensor


# ``Encoder``, and the batches that it returns.

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
            f"{shortened(model)} is not a model",
            hint="give a name on the Hugging Face hub, or the folder of a model"
            + either(python=", or a captious.Encoder", command=""),
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
                f"there is no precision {self.precision!r}", hint=f"precisions are {', '.join(PRECISIONS)}"
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
                hint=f"give each metric its own model, such as {requesting('bertscore:model=MODEL')}",
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

    def were_cut(
        self, texts: Sequence[str], ids: Sequence[Sequence[int]], most: int | None = None
    ) -> NDArray[np.bool_]:
        """Return a mask of the texts of more than ``most`` tokens, bool[n]; by default those that were truncated.

        Args:
            texts: the texts.
            ids: the result of ``tokenize`` for them.
            most: at most the maximum length of the model.
        """
        most = self.max_length if most is None else most
        cut = np.zeros(len(texts), bool)
        full = [row for row, sequence in enumerate(ids) if len(sequence) >= most]
        cut[full] = [len(sequence) > most for sequence in self.tokenize_whole([texts[row] for row in full])]
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
                f"{self.model} has no layer {bad[0]}", hint=f"its layers are 0 (the input) to {self.n_blocks}"
            )
        most = _TOKENS_PER_BATCH if weights.device.type == "cpu" else _TOKENS_PER_BATCH_GPU
        batches = equal_lengths(sequences, lambda n: most // max(1, n), f"encoding with {self.model}", weights.device)
        for rows, ids in batches:
            yield Batch(rows, *weights.forward(ids, layers, attentions))


def token_ids(tokenizer: Any, texts: Sequence[str], **options: Any) -> list[list[int]]:
    """Return the token ids of each text, from a transformers tokenizer with its options."""
    ids: list[list[int]] = []
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        batch = list(texts[start : start + _TEXTS_AT_ONCE])
        ids += tokenizer(batch, return_attention_mask=False, **options)["input_ids"]
    return ids


def equal_lengths(
    sequences: Sequence[Sequence[int]], most: Callable[[int], int], what: str, device: Any = "cpu"
) -> Iterator[tuple[NDArray[np.int64], Any]]:
    """Yield sequences of token ids of equal length in batches, the shortest first.

    Args:
        sequences: the token ids of each text.
        most: the most sequences of a length in a batch; there is at least one.
        what: label of the progress.
        device: device of the tensors.

    Returns:
        the rows of a batch, int64[b], and its ids, a tensor int64[b, n].
    """
    import torch

    lengths = np.array([len(sequence) for sequence in sequences], np.int64)
    order = np.argsort(lengths, kind="stable")
    start = 0
    with Progress(max(1, len(order))) as progress:
        while start < len(order):
            progress.reach(start, what)
            length = int(lengths[order[start]])
            longer = int(np.searchsorted(lengths, length, side="right", sorter=order))
            rows = order[start : min(longer, start + max(1, most(length)))]
            yield rows, torch.tensor([list(sequences[row]) for row in rows.tolist()], device=device)
            start += len(rows)


class _Weights:
    """A model in memory, with its tokenizer."""

    def __init__(self, encoder: Encoder) -> None:
        check_extra(f"{encoder.model} needs")
        import torch

        self._name = encoder.model
        device = encoder.device
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        try:
            self.device = torch.zeros(1, device=device).device
        except (AssertionError, RuntimeError) as error:
            raise ParameterError(
                f"there is no device {device!r} on this machine", hint="give cpu, cuda or auto"
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
                hint="save it next to the weights: AutoTokenizer.from_pretrained(...).save_pretrained(FOLDER)",
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


# Token vectors of many texts: in memory if they are few, otherwise in a temporary file.

_MEMORY_LIMIT = 256 << 20  # bytes
_ZEROS = bytes(1 << 20)


class TokenVectors:
    """Token vectors, float32[n_tokens, d] for each text, zeros at first, written in any order and read by text.

    The temporary file has no name: it disappears with this object or with the process, however the process ends.

    Args:
        lengths: number of tokens of each text.
        width: d.

    Attributes:
        array: all vectors, float32[n_tokens, d]; mapped if they are in a file.

    Raises:
        OutputError: the file cannot be written; most likely the disk is full.
    """

    def __init__(self, lengths: Sequence[int] | NDArray[np.int64], width: int) -> None:
        self.offsets = np.concatenate([[0], np.cumsum(np.asarray(lengths, np.int64))])
        self.width = width
        n = int(self.offsets[-1]) * width
        self.array = (np.zeros(n, np.float32) if n * 4 <= _MEMORY_LIMIT else _in_file(n)).reshape(-1, width)

    @classmethod
    def of(cls, lengths: NDArray[np.int64], array: NDArray[np.float32]) -> TokenVectors:
        """Wrap existing vectors, float32[n_tokens, d]; they cannot be written."""
        vectors = cls(lengths[:0], array.shape[1])
        vectors.offsets = np.concatenate([[0], np.cumsum(lengths)])
        vectors.array = array
        return vectors

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def write(self, text: int, vectors: NDArray[np.float32]) -> None:
        """Set the vectors of a text, float32[its number of tokens, d]."""
        start = int(self.offsets[text])
        self.array[start : start + len(vectors)] = vectors

    def read(self, text: int) -> NDArray[np.float32]:
        """Return the vectors of a text, float32[its number of tokens, d]."""
        start, stop = self.offsets[text : text + 2].tolist()
        return self.array[start:stop]

    def read_alike(self, texts: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the vectors of texts with equal numbers of tokens, float32[n_texts, tokens of each, d]."""
        starts = self.offsets[texts]
        length = int(self.offsets[texts[0] + 1] - starts[0]) if len(texts) else 0
        return self.array[starts[:, None] + np.arange(length)]


def _in_file(n: int) -> NDArray[np.float32]:
    """Return float32[n], zeros in an unnamed file that is mapped into memory."""
    try:
        with tempfile.TemporaryFile(prefix="captious-") as file:
            for start in range(0, n * 4, len(_ZEROS)):  # a full disk would end the process when the mapping is written
                file.write(_ZEROS[: n * 4 - start])
            file.flush()
            return np.frombuffer(mmap.mmap(file.fileno(), n * 4), np.float32)
    except OSError as error:
        raise OutputError(
            f"hidden states do not fit in the temporary folder: {error.strerror}",
            where=tempfile.gettempdir(),
            hint=f"set TMPDIR to a folder with room for {n * 4 / (1 << 30):,.1f} GiB, or score fewer captions at once",
        ) from error


# Annotation layers of encoders: each distinct text is encoded once for all metrics.
#
# ``EncodingLayer`` keeps the hidden states of one layer of a model; ``TextLayer`` is for small values computed from
# them, where keeping states or maps would take too much memory.

R = TypeVar("R")
Value = TypeVar("Value", bound=Hashable)


@dataclass(frozen=True, eq=False)
class EncodedTexts:
    """Captions as tokens with their hidden states.

    Args:
        rows: int64[n_captions]: caption i is the distinct text number ``rows[i]``.
        texts: the distinct texts.
        ids: token ids of each distinct text, special ones included.
        vectors: their hidden states.
    """

    rows: NDArray[np.int64]
    texts: list[str]
    ids: list[list[int]]
    vectors: TokenVectors

    def __len__(self) -> int:
        return len(self.rows)


def numbered(values: Iterable[Value]) -> tuple[list[Value], NDArray[np.int64]]:
    """Return the distinct values in order of first occurrence, and the index of each value among them."""
    numbers: dict[Value, int] = {}
    rows = np.array([numbers.setdefault(value, len(numbers)) for value in values], np.int64)
    return list(numbers), rows


@dataclass(frozen=True)
class EncodingLayer:
    """Hidden states of references and candidates.

    Args:
        encoder: the model.
        layer: which layer.
        lead: None to encode texts as they are; otherwise, texts are stripped of white space and prefixed with this
            unless empty.
    """

    encoder: Encoder
    layer: int
    lead: str | None = None

    @property
    def stored_as(self) -> str | None:
        return stored_key("states-1", self.encoder.stored_as, self.layer, repr(self.lead))

    def to_stored(self, annotation: EncodedTexts, references: References) -> Stored:
        lengths = np.array([len(sequence) for sequence in annotation.ids], np.int64)
        ids = np.array([token for sequence in annotation.ids for token in sequence], np.int64)
        arrays: dict[str, NDArray[Any]] = {"rows": annotation.rows, "texts": text_array(annotation.texts)}
        return Stored({**arrays, "ids": ids, "lengths": lengths, "vectors": annotation.vectors.array})

    def from_stored(self, stored: Stored, references: References) -> EncodedTexts:
        rows, ids, lengths, vectors = (stored.arrays[name] for name in ("rows", "ids", "lengths", "vectors"))
        texts = texts_of(stored.arrays["texts"])
        sound = (
            rows.shape == (len(references.texts),)
            and rows.dtype == lengths.dtype == ids.dtype == np.int64
            and 0 <= rows.min(initial=0) <= rows.max(initial=0) < max(len(texts), 1)
            and len(lengths) == len(texts)
            and lengths.min(initial=0) >= 0
            and lengths.sum() == len(ids) == len(vectors)
            and 0 <= ids.min(initial=0) <= ids.max(initial=0) < len(self.encoder.tokenizer)
            and vectors.dtype == np.float32
            and vectors.shape[1:] == (self.encoder.width,)
        )
        if not sound:
            raise ValueError("hidden states of other texts")
        bounds = pairwise([0, *np.cumsum(lengths).tolist()])
        flat = ids.tolist()
        return EncodedTexts(rows, texts, [flat[start:end] for start, end in bounds], TokenVectors.of(lengths, vectors))

    def form(self, texts: Sequence[str]) -> Sequence[str]:
        """Return texts as they are encoded."""
        if self.lead is None:
            return texts
        return [self.lead + text if text else "" for text in map(str.strip, texts)]

    def of_references(self, references: References) -> EncodedTexts:
        return self._encoded(references.texts)

    def of_candidates(self, captions: Captions, references: EncodedTexts) -> EncodedTexts:
        return self._encoded(captions.candidates, references)

    def _encoded(self, texts: Sequence[str], references: EncodedTexts | None = None) -> EncodedTexts:
        distinct, rows = numbered(self.form(texts))
        ids = self.encoder.tokenize(distinct)
        vectors = TokenVectors([len(sequence) for sequence in ids], self.encoder.width)
        places = {} if references is None else {text: row for row, text in enumerate(references.texts)}
        new = []
        for row, text in enumerate(distinct):
            if references is not None and text in places:
                vectors.write(row, references.vectors.read(places[text]))
            else:
                new.append(row)
        for batch in self.encoder.run([ids[row] for row in new], [self.layer]):
            for place, states in zip(batch.rows.tolist(), batch.hidden[self.layer], strict=True):
                vectors.write(new[place], states)
        return EncodedTexts(rows, distinct, ids, vectors)


@dataclass(frozen=True, eq=False)
class TextVectors:
    """Texts as vectors of length 1.

    Args:
        vectors: float32[n_texts, d].
        cut: which texts exceed the maximum length of the model, bool[n_texts].
    """

    vectors: NDArray[np.float32]
    cut: NDArray[np.bool_]

    def __getitem__(self, rows: NDArray[np.int64]) -> TextVectors:
        return TextVectors(self.vectors[rows], self.cut[rows])


@dataclass(frozen=True)
class TextLayer(Generic[R]):
    """The values of a function of each distinct text, by caption: an object indexed by rows of distinct texts.

    Args:
        name: the function, with everything that it depends on; equal names are the same annotation.
        function: maps distinct texts to an object indexed by ``rows``.
    """

    name: Hashable
    function: Callable[[Sequence[str]], Any] = field(compare=False)

    def of_references(self, references: References) -> R:
        return self._values(references.texts)

    def of_candidates(self, captions: Captions, references: R) -> R:
        return self._values(captions.candidates)

    def _values(self, texts: Sequence[str]) -> R:
        distinct, rows = numbered(texts)
        values: R = self.function(distinct)[rows]
        return values
