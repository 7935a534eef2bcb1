"""CLIPScore and RefCLIPScore as Hessel et al. 2021, section 3, write them: one image or text a forward pass.

Pixels are prepared by PIL and numpy alone: the shorter side resized, the middle cut out with half a margin rounded to
the even pixel (torchvision's way, which the official code takes), values scaled and standardized.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MEAN = (0.48145466, 0.4578275, 0.40821073)
DEVIATION = (0.26862954, 0.26130258, 0.27577711)


def image_vector(model: Any, path: Path, edge: int) -> NDArray[np.float64]:
    """Return the projected vector of an image, not normalized."""
    import torch
    from PIL import Image

    image = Image.open(path).convert("RGB")
    width, height = image.size
    if width < height:
        image = image.resize((edge, int(edge * height / width)), Image.Resampling.BICUBIC)
    else:
        image = image.resize((int(edge * width / height), edge), Image.Resampling.BICUBIC)
    left, top = round((image.width - edge) / 2.0), round((image.height - edge) / 2.0)
    pixels = np.asarray(image, np.float64)[top : top + edge, left : left + edge] / 255
    pixels = ((pixels - MEAN) / DEVIATION).transpose(2, 0, 1)
    with torch.no_grad():
        out = model.vision_model(pixel_values=torch.tensor(pixels[None], dtype=torch.float32))
        vector: NDArray[np.float64] = model.visual_projection(out.pooler_output)[0].double().numpy()
    return vector


def text_vector(model: Any, tokenizer: Any, text: str, prompt: str = "A photo depicts ") -> NDArray[np.float64]:
    """Return the projected vector of a text behind the prompt, padded to the full length as the official code does."""
    import torch

    start, end = tokenizer.bos_token_id, tokenizer.eos_token_id
    most = model.config.text_config.max_position_embeddings
    ids = [start, *tokenizer(prompt + text, add_special_tokens=False)["input_ids"], end]
    if len(ids) > most:
        ids = [*ids[: most - 1], end]
    last = len(ids) - 1
    ids += [0] * (most - len(ids))
    with torch.no_grad():
        states = model.text_model(input_ids=torch.tensor([ids])).last_hidden_state
        vector: NDArray[np.float64] = model.text_projection(states[0, last]).double().numpy()
    return vector


def cosine(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def clipscore(image: NDArray[np.float64], candidate: NDArray[np.float64], w: float = 2.5) -> float:
    return w * max(cosine(image, candidate), 0.0)


def refclipscore(
    image: NDArray[np.float64], candidate: NDArray[np.float64], references: list[NDArray[np.float64]], w: float = 2.5
) -> float:
    score = clipscore(image, candidate, w)
    closest = max(max(cosine(candidate, reference) for reference in references), 0.0)
    return 0.0 if score == 0 or closest == 0 else 2 / (1 / score + 1 / closest)
