"""CLIP checkpoints in the layout of OpenAI's code, in which PAC-S and others are published, as CLIP models.

Tokenizer and image processor are those in the folder of the checkpoint, or else those of OpenAI's model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from captious.errors import ResourceError

_OPENAI = "openai/clip-vit-base-patch32"
_HEAD = 64  # dimensions of an attention head
_NAMES = {
    "visual.class_embedding": "vision_model.embeddings.class_embedding",
    "visual.conv1.weight": "vision_model.embeddings.patch_embedding.weight",
    "visual.positional_embedding": "vision_model.embeddings.position_embedding.weight",
    "visual.ln_pre": "vision_model.pre_layrnorm",
    "visual.ln_post": "vision_model.post_layernorm",
    "visual.proj": "visual_projection.weight",
    "visual.transformer.resblocks": "vision_model.encoder.layers",
    "token_embedding": "text_model.embeddings.token_embedding",
    "positional_embedding": "text_model.embeddings.position_embedding.weight",
    "transformer.resblocks": "text_model.encoder.layers",
    "ln_final": "text_model.final_layer_norm",
    "text_projection": "text_projection.weight",
    "logit_scale": "logit_scale",
}
_BLOCK_NAMES = {
    "attn.out_proj": "self_attn.out_proj",
    "ln_1": "layer_norm1",
    "ln_2": "layer_norm2",
    "mlp.c_fc": "mlp.fc1",
    "mlp.c_proj": "mlp.fc2",
}
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
            help="give a checkpoint in the layout of OpenAI's CLIP with a vision transformer, such as "
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
