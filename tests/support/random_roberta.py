"""A small random model of RoBERTa's shape with a byte-level tokenizer, saved in a folder."""

from __future__ import annotations

from pathlib import Path

__all__ = ["CAPTIONS", "random_roberta"]

#: What the tokenizer has seen; captions to score.
CAPTIONS = [
    "A man with a red helmet on a small moped on a dirt road. ",
    "a man riding a motorcycle down a dirt road",
    "A dog, a cat and a bird are sitting on the grass",
    "Two men playing guitar in front of a crowd!",
    "the cat isn't on the table",
    "A woman's hand holds a pair of scissors .",
    "a group of people standing around a kitchen with food",
    "a hill",
    "people",
    "A young boy is jumping into the water with his t-shirt on",
]
_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
_BLOCKS, _SIZE, _TOKENS = 5, 48, 400


def random_roberta(folder: Path, seed: int = 0) -> Path:
    """Return the folder of the model. Its maps differ from head to head and from text to text, as real ones do."""
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from tokenizers.processors import RobertaProcessing
    from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaModel
    from transformers.utils import logging

    logging.disable_progress_bar()
    pieces = ByteLevelBPETokenizer()
    texts = [text.lower() for text in CAPTIONS]
    pieces.train_from_iterator(texts, vocab_size=_TOKENS, min_frequency=1, special_tokens=_SPECIAL, show_progress=False)
    pieces._tokenizer.post_processor = RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    names = dict(zip(("bos_token", "pad_token", "eos_token", "unk_token", "mask_token"), _SPECIAL, strict=True))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=pieces._tokenizer, cls_token="<s>", sep_token="</s>", model_max_length=64, **names
    )
    tokenizer.save_pretrained(folder)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        config = RobertaConfig(
            vocab_size=_TOKENS,
            hidden_size=_SIZE,
            num_hidden_layers=_BLOCKS,
            num_attention_heads=4,
            intermediate_size=64,
            max_position_embeddings=66,
            type_vocab_size=1,
            pad_token_id=1,
            initializer_range=0.3,
        )
        model = RobertaModel(config)
        for block in model.encoder.layer:  # else all tokens would look alike after a few blocks
            block.attention.output.dense.weight.data *= 0.1
        model.save_pretrained(folder)
    return folder
