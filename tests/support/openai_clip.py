"""A small CLIP in the layout of OpenAI's code, without transformers; and checkpoints of it as PAC-S has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn

WIDTH, PATCH, EDGE, VOCABULARY, PLACES, DIMENSIONS = 64, 8, 32, 514, 77, 24


class QuickGelu(nn.Module):
    def forward(self, x: Any) -> Any:
        return x * torch.sigmoid(1.702 * x)


class Block(nn.Module):
    def __init__(self, mask: Any) -> None:
        super().__init__()
        self.attn = nn.MultiheadAttention(WIDTH, max(1, WIDTH // 64), batch_first=True)
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential()
        self.mlp.add_module("c_fc", nn.Linear(WIDTH, 4 * WIDTH))
        self.mlp.add_module("gelu", QuickGelu())
        self.mlp.add_module("c_proj", nn.Linear(4 * WIDTH, WIDTH))
        self.mask = mask

    def forward(self, x: Any) -> Any:
        y = self.ln_1(x)
        x = x + self.attn(y, y, y, need_weights=False, attn_mask=self.mask)[0]
        return x + self.mlp(self.ln_2(x))


class Stack(nn.Module):
    def __init__(self, mask: Any = None) -> None:
        super().__init__()
        self.resblocks = nn.Sequential(Block(mask), Block(mask))

    def forward(self, x: Any) -> Any:
        return self.resblocks(x)


class Visual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, WIDTH, PATCH, PATCH, bias=False)
        self.class_embedding = nn.Parameter(torch.randn(WIDTH))
        self.positional_embedding = nn.Parameter(torch.randn((EDGE // PATCH) ** 2 + 1, WIDTH))
        self.ln_pre, self.ln_post = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.transformer = Stack()
        self.proj = nn.Parameter(torch.randn(WIDTH, DIMENSIONS))

    def forward(self, pixels: Any) -> Any:
        patches = self.conv1(pixels).flatten(2).transpose(1, 2)
        x = torch.cat([self.class_embedding.expand(len(pixels), 1, -1), patches], dim=1) + self.positional_embedding
        return self.ln_post(self.transformer(self.ln_pre(x)))[:, 0] @ self.proj


class OpenAiClip(nn.Module):
    """The whole model; ``encode_text`` takes ids padded to ``PLACES`` with 0, as the official tokenizer does."""

    def __init__(self) -> None:
        super().__init__()
        self.visual = Visual()
        mask = torch.full((PLACES, PLACES), float("-inf")).triu(1)
        self.transformer = Stack(mask)
        self.token_embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.positional_embedding = nn.Parameter(torch.randn(PLACES, WIDTH))
        self.ln_final = nn.LayerNorm(WIDTH)
        self.text_projection = nn.Parameter(torch.randn(WIDTH, DIMENSIONS))
        self.logit_scale = nn.Parameter(torch.ones([]))

    def encode_image(self, pixels: Any) -> Any:
        return self.visual(pixels)

    def encode_text(self, ids: Any) -> Any:
        x = self.ln_final(self.transformer(self.token_embedding(ids) + self.positional_embedding))
        return x[torch.arange(len(x)), ids.argmax(dim=-1)] @ self.text_projection


def random_clip(seed: int = 7) -> OpenAiClip:
    """Return a model with random weights, far from the start of training."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = OpenAiClip()
        for weights in model.parameters():
            nn.init.normal_(weights, std=0.2)
    model.eval()
    return model


def save_checkpoint(model: OpenAiClip, path: Path) -> Path:
    """Write it as PAC-S writes its checkpoints."""
    torch.save({"epoch": 1, "state_dict": model.state_dict()}, path)
    return path
