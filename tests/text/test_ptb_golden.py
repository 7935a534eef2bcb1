"""Captions of every kind with the tokens that the official tokenizer, CoreNLP 3.4.1, gives them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from captious.text import PTB, PTB_RAW
from tests.support.tables import tables

#: One caption a line, each tokenized alone: {"caption": ..., "tokens": [...]}, punctuation included.
GOLDEN = [json.loads(line) for line in Path(__file__).with_name("ptb_golden.jsonl").read_text("utf-8").splitlines()]

#: What the COCO harness drops, after tokens were lower-cased: so it never sees -LRB-.
DROPPED = {"''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-", ".", "?", "!", ",", ":", "-", "--", "...", ";"}

#: The official tokens of captions that show the rules at work.
TABLE = tables(__file__)["table"]


@pytest.mark.parametrize("caption", TABLE)
def test_ptb_tokens_equal_the_table(caption: str) -> None:
    assert PTB_RAW(caption) == TABLE[caption].split(" ")


@pytest.mark.parametrize("number", range(0, len(GOLDEN), 20))
def test_ptb_tokens_equal_the_official_ones(number: int) -> None:
    block = GOLDEN[number : number + 20]
    assert {g["caption"]: PTB_RAW(g["caption"]) for g in block} == {g["caption"]: g["tokens"] for g in block}


def test_ptb_drops_the_official_punctuation() -> None:
    for golden in GOLDEN:
        raw = PTB_RAW(golden["caption"])
        assert PTB(golden["caption"]) == [token for token in raw if token not in DROPPED]


def test_golden_holds_no_caption_twice() -> None:
    assert len({golden["caption"] for golden in GOLDEN}) == len(GOLDEN) > 400
