"""Every caption of the shared data: token by token what the official tokenizer gives for it alone. Slow."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from captious.native import TokenizerRule, Vocabulary, threads
from tests.parity.official_tokenizer import tokenize
from tests.parity.real_captions import SOURCES, captions

pytestmark = pytest.mark.slow

GOLDEN = Path(__file__).parents[1] / "text" / "ptb_golden.jsonl"


def tokens_of(texts: list[str]) -> list[list[str]]:
    vocabulary = Vocabulary()
    ids, offsets = vocabulary.encode(tuple(texts), TokenizerRule.ptb_raw, threads())
    words, at = vocabulary.words(), offsets.tolist()
    return [[words[i] for i in ids[start:end]] for start, end in itertools.pairwise(at)]


@pytest.mark.parametrize("source", SOURCES)
def test_tokens_of_real_captions_equal_the_official_tokenizer(source: str, shared_data: Path) -> None:
    texts = captions(shared_data, source)
    assert len(texts) > 3_000
    pairs = zip(texts, tokens_of(texts), tokenize(texts), strict=True)
    differing = [(text, mine, official) for text, mine, official in pairs if mine != official]
    assert differing == []


def test_the_golden_captions_are_still_the_official_ones() -> None:
    golden = [json.loads(line) for line in GOLDEN.read_text("utf-8").splitlines()]
    official = tokenize([record["caption"] for record in golden])
    assert official == [record["tokens"] for record in golden]
