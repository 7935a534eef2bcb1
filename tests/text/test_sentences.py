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
from tests.support.tables import tables

CASES = tables(__file__)["cases"]


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
        start = time.process_time()
        sentences_of(text)
        return time.process_time() - start

    for piece in ("a", "1. ", "a.", ".", " ", "\n", '."', "。", "A dog runs. "):
        assert seconds(piece * 100_000) < 20  # quadratic time would take minutes
