"""A small CLIP with random weights, saved as a folder as the hub's checkpoints are; and small random pictures."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np

#: Pixels of a side of what the model sees, and the most tokens it reads: every letter of a word is one.
EDGE, MAX_TOKENS = 32, 77

#: In the form of the published checkpoints.
_PREPROCESSOR = {
    "feature_extractor_type": "CLIPFeatureExtractor",
    "do_resize": True,
    "size": EDGE,
    "resample": 3,
    "do_center_crop": True,
    "crop_size": EDGE,
    "do_normalize": True,
    "image_mean": [0.48145466, 0.4578275, 0.40821073],
    "image_std": [0.26862954, 0.26130258, 0.27577711],
}


def save_tiny_clip(folder: Path, *, seed: int = 4) -> Path:
    """Write the model, its tokenizer and what prepares images for it."""
    import torch
    from tokenizers.pre_tokenizers import ByteLevel
    from transformers import CLIPConfig, CLIPModel, CLIPTokenizer

    letters = sorted(ByteLevel.alphabet())
    pieces = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    start, end = len(pieces) - 2, len(pieces) - 1
    shape = {"hidden_size": 32, "intermediate_size": 37, "num_hidden_layers": 2, "num_attention_heads": 4}
    text = {
        "vocab_size": len(pieces),
        "max_position_embeddings": MAX_TOKENS,
        "bos_token_id": start,
        "eos_token_id": end,
        "pad_token_id": end,
    }
    config = CLIPConfig(
        text_config=shape | text, vision_config=shape | {"image_size": EDGE, "patch_size": 8}, projection_dim=24
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = CLIPModel(config)
        for weights in model.parameters():
            if weights.ndim > 1:
                torch.nn.init.normal_(weights, std=0.3)  # far from the start of training, where all vectors are alike
    model.save_pretrained(folder)
    CLIPTokenizer(vocabulary, [], model_max_length=MAX_TOKENS).save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(_PREPROCESSOR))
    return folder


def save_pictures(folder: Path, names: Iterable[str], *, seed: int = 5) -> Path:
    """Write a picture for each file name: a few blurred spots of color, of any width and height."""
    from PIL import Image

    rng = np.random.default_rng(seed)
    for name in names:
        width, height = (int(side) for side in rng.integers(EDGE - 4, 3 * EDGE, 2))
        spots = Image.fromarray(rng.integers(0, 256, (3, 4, 3), np.uint8))
        spots.resize((width, height), Image.Resampling.BICUBIC).save(folder / name)
    return folder
