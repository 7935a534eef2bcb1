"""Tokenizers for captions of other languages: sacrebleu's, token for token, and the words of Unicode."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import captious
from captious.errors import MissingExtraError, ResourceError
from captious.text import as_tokenizer, tokenizers
from tests.support.captions_of_languages import CAPTIONS, ENGLISH
from tests.support.corpora import table
from tests.support.tables import tables

TABLES = tables(__file__)

EXAMPLES = Path(__file__).parents[2] / "examples"
OURS = ("13a", "intl", "char", "zh")
TEXTS = [text for pairs in (ENGLISH, *CAPTIONS.values()) for pair in pairs for text in pair]
TEXTS += [row["caption"] for row in json.loads((EXAMPLES / "improved.json").read_text(encoding="utf-8"))]


def peer(name: str) -> Any:
    """Return the tokens of sacrebleu's BLEU, which drops white space at the end first."""
    bleu = pytest.importorskip("sacrebleu.metrics.bleu")
    cut = bleu._get_tokenizer(name)()
    return lambda text: cut(text.rstrip()).split()


@pytest.mark.parametrize("name", OURS)
def test_tokens_are_those_of_sacrebleu(name: str) -> None:
    ours, theirs = as_tokenizer(name), peer(name)
    for text in TEXTS:
        assert ours(text) == theirs(text)


#: Pieces on which the rules depend, and all of Unicode.
PIECES = TABLES["pieces"]
texts = st.lists(st.one_of(st.sampled_from(PIECES), st.characters(exclude_categories=["Cs"])), max_size=12).map("".join)


@pytest.mark.parametrize("name", OURS)
@given(text=texts)
def test_tokens_of_any_text_are_those_of_sacrebleu(name: str, text: str) -> None:
    assert as_tokenizer(name)(text) == peer(name)(text)


def test_tokens_of_german_captions_are_those_of_sacrebleu(shared_data: Path) -> None:
    with gzip.open(shared_data / "multi30k" / "val.1.de.gz", "rt", encoding="utf-8") as file:
        captions = file.read().splitlines()
    for name in OURS:
        theirs = peer(name)
        assert [as_tokenizer(name)(caption) for caption in captions] == list(map(theirs, captions))


@pytest.mark.parametrize("language", ["chinese", "japanese", "arabic", "others"])
@pytest.mark.parametrize("name", OURS)
def test_bleu_is_that_of_sacrebleu(name: str, language: str) -> None:
    metrics = pytest.importorskip("sacrebleu.metrics")
    candidates, references = zip(*CAPTIONS[language], strict=True)
    expected = metrics.BLEU(tokenize=name, smooth_method="none").corpus_score(candidates, [references]).score / 100
    bleu = captious.Bleu(variant="paper", tokenizer=name)
    statistics = bleu.statistics(table([*candidates], [[reference] for reference in references]))
    assert bleu.aggregate(statistics.sum(axis=0))[3] == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize(("name", "text", "tokens"), TABLES["tokens"])
def test_tokens_equal_a_table_made_by_hand(name: str, text: str, tokens: str) -> None:
    assert as_tokenizer(name)(text) == tokens.split()


@pytest.mark.parametrize(
    ("name", "language", "module"), [("ja-mecab", "japanese", "MeCab"), ("ko-mecab", "others", "mecab_ko")]
)
def test_dictionary_tokenizers_equal_sacrebleu(name: str, language: str, module: str) -> None:
    pytest.importorskip(module)
    ours, theirs = as_tokenizer(name), peer(name)
    for pair in CAPTIONS[language]:
        assert [ours(text) for text in pair] == [theirs(text) for text in pair]


@pytest.mark.parametrize("name", ["ja-mecab", "ko-mecab", "flores200"])
def test_missing_dictionary_is_named_with_its_command(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def without(module: str, *arguments: Any) -> Any:
        raise ImportError(module)

    tokenizers._sacrebleu.cache_clear()
    monkeypatch.setattr(tokenizers.importlib, "import_module", without)
    with pytest.raises(MissingExtraError, match=f"the tokenizer {name} needs sacrebleu") as caught:
        as_tokenizer(name)("a")
    assert caught.value.hint == "pip install 'captious[languages]'"
    assert as_tokenizer("zh")("一只") == ["一", "只"]


def test_a_model_that_cannot_be_downloaded_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def offline() -> None:
        raise OSError("no network")

    tokenizers._sacrebleu.cache_clear()
    module = SimpleNamespace(Flores200Tokenizer=offline)
    monkeypatch.setitem(sys.modules, "sacrebleu.tokenizers.tokenizer_spm", module)
    with pytest.raises(ResourceError, match="the model of the tokenizer flores200 cannot be downloaded: no network"):
        as_tokenizer("flores200")("a")
