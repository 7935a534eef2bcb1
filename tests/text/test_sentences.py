"""Sentences: rules one by one, real captions, and that nothing is lost."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.text.sentences import sentences_of

CASES = {
    "A dog runs. It barks.": ["A dog runs.", "It barks."],
    "a dog runs . a cat sleeps .": ["a dog runs .", "a cat sleeps ."],
    "chop the lettuce. place it in a bowl": ["chop the lettuce.", "place it in a bowl"],
    "Dr. Smith stands beside St. Mary's. He smiles.": ["Dr. Smith stands beside St. Mary's.", "He smiles."],
    "A photo of J. K. Rowling. She smiles.": ["A photo of J. K. Rowling.", "She smiles."],
    "It is 5 p.m. and dark. A U.S. Navy ship docks at 6 p.m. The sky is red.": [
        "It is 5 p.m. and dark.",
        "A U.S. Navy ship docks at 6 p.m.",
        "The sky is red.",
    ],
    "Cups, plates, etc. on a table, etc. The table is red.": [
        "Cups, plates, etc. on a table, etc.",
        "The table is red.",
    ],
    "A bus, no. 5, waits. Is it red? no. Yes!": ["A bus, no. 5, waits.", "Is it red?", "no.", "Yes!"],
    "A sign reads 'STOP!' and a man waits.": ["A sign reads 'STOP!'", "and a man waits."],
    'A sign reads "STOP!" and a man waits. "No." He goes.': [
        'A sign reads "STOP!" and a man waits.',
        '"No."',
        "He goes.",
    ],
    "It has 3.5 stars... and a half... The rest is dark.": ["It has 3.5 stars... and a half...", "The rest is dark."],
    "He sits in row 5. The row is full.": ["He sits in row 5.", "The row is full."],
    "1. A dog.\n2. A cat": ["1. A dog.", "2. A cat"],
    "Items:\n- a red dog\n- two cats": ["Items:", "- a red dog", "- two cats"],
    "a long line that was wrapped\nat its end. A second": ["a long line that was wrapped\nat its end.", "A second"],
    "First paragraph\n\nsecond": ["First paragraph", "second"],
    "一只狗在跑。一只猫在睡觉！很好": ["一只狗在跑。", "一只猫在睡觉！", "很好"],
    "एक कुत्ता दौड़ता है। एक बिल्ली सोती है।": ["एक कुत्ता दौड़ता है।", "एक बिल्ली सोती है।"],
    "It was I. He left. J. K. came": ["It was I.", "He left.", "J. K. came"],
    "Two. 3. A cat. 4. A dog": ["Two.", "3. A cat.", "4. A dog"],
    "a list\n1) a dog\n12. a cat\n## a bus\n123. a car": ["a list", "1) a dog", "12. a cat", "## a bus", "123. a car"],
    "Figs: fig. 3, nos. 4 and 5, vs. Rome. No fig. Next": ["Figs: fig. 3, nos. 4 and 5, vs. Rome.", "No fig.", "Next"],
    "and so… he goes… The end": ["and so… he goes…", "The end"],
    "A sign reads “STOP!” and a man waits. “No.” He goes.": [
        "A sign reads “STOP!” and a man waits.",
        "“No.”",
        "He goes.",
    ],
    "at 6 p.m. Rome is dark, at 7 p.m. the sky, at 8 p.m. There": [
        "at 6 p.m. Rome is dark, at 7 p.m. the sky, at 8 p.m.",
        "There",
    ],
    "「走れ。」彼は言う！？はい": ["「走れ。」", "彼は言う！？", "はい"],
    "": [],
    " . ": ["."],
}


@pytest.mark.parametrize("text", CASES)
def test_sentence_rules_give_the_expected_sentences(text: str) -> None:
    assert sentences_of(text) == CASES[text]


@given(st.text(st.sampled_from("aB1 .!?\n\"'()。…-*#e")))
def test_sentences_keep_all_characters(text: str) -> None:
    sentences = sentences_of(text)
    assert "".join("".join(sentences).split()) == "".join(text.split())
    assert all(sentence == sentence.strip() != "" for sentence in sentences)


def test_sentences_agree_with_human_marks(shared_data: Path) -> None:
    """Paragraphs of FactVC, joined, come apart where they were joined."""
    with gzip.open(shared_data / "factvc" / "activitynet_factuality_annotation.json.gz") as file:
        videos = json.load(file)
    paragraphs = [
        [sentence.replace("[", "").replace("]", "") for sentence in system["sentences"]]
        for video in videos.values()
        for system in video.values()
    ]
    marked = [sentences for sentences in paragraphs if all(sentence.endswith(".") for sentence in sentences)]
    assert len(marked) > 1000
    assert all(sentences_of(" ".join(sentences)) == sentences for sentences in marked)


def test_time_is_linear() -> None:
    def seconds(text: str) -> float:
        start = time.perf_counter()
        sentences_of(text)
        return time.perf_counter() - start

    for piece in ("a", "1. ", "a.", ".", " ", "\n", '."', "。", "A dog runs. "):
        assert seconds(piece * 100_000) < 20  # quadratic time would take minutes
