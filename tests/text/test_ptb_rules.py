"""The PTB tokenizer's quirks that scores depend on, and where it departs from the official program on purpose."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.native import TokenizerRule, Vocabulary
from captious.text import PTB, PTB_RAW
from tests.text.test_ptb_golden import GOLDEN

# ---- the punctuation filter


def test_brackets_stay() -> None:
    # The official list names them in upper case, but tokens are lower-cased before they meet it.
    assert " ".join(PTB("a (red) {big} [old] dog")) == "a -lrb- red -rrb- -lcb- big -rcb- -lsb- old -rsb- dog"


@pytest.mark.parametrize("mark", ["''", "'", "`", "``", ".", "?", "!", ",", ":", "-", "--", "...", ";"])
def test_punctuation_goes(mark: str) -> None:
    assert PTB_RAW(f"dog {mark} cat") == ["dog", mark, "cat"]
    assert PTB(f"dog {mark} cat") == ["dog", "cat"]


@pytest.mark.parametrize("mark", [*"/&@#$%+=*<>|~^_", "?!", "?!?!"])
def test_symbols_stay(mark: str) -> None:
    assert PTB(f"dog {mark} cat") == ["dog", mark, "cat"]


@pytest.mark.parametrize(
    ("caption", "tokens"),
    [
        ("a - b", ["a", "b"]),
        ("a -- b", ["a", "b"]),
        ("a --- b", ["a", "b"]),
        ("a ---- b", ["a", "b"]),
        ("a ----- b", ["a", "-----", "b"]),
        ("the dog's here, isn't it?", ["the", "dog", "'s", "here", "is", "n't", "it"]),
        ("rock 'n' roll", ["rock", "'n'", "roll"]),
        ("a dog..", ["a", "dog"]),
        ("a dog...", ["a", "dog"]),
    ],
)
def test_ptb_drops_punctuation_only(caption: str, tokens: list[str]) -> None:
    assert PTB(caption) == tokens


@pytest.mark.parametrize(
    ("caption", "tokens"),
    [
        ("½ ¼ ¾ ⅓ ⅔", ["1/2", "1/4", "3/4", "1/3", "2/3"]),
        ("5¢ £5 €5", ["5", "cents", "#", "5", "$", "5"]),
        ("“a” ‘b’", ["a", "b"]),
        ("a – b — c…", ["a", "b", "c"]),
        ("3½", ["3", "1/2"]),
        ("犬が走る", ["犬が走る"]),
        ("a 😀 dog 🐕", ["a", "dog"]),
        ("CAFÉ ÜBER", ["café", "über"]),
        ("co\u00adop", ["coop"]),
    ],
)
def test_ptb_tokenizes_characters_beyond_ascii(caption: str, tokens: list[str]) -> None:
    assert PTB(caption) == tokens


def test_tokens_may_hold_unbreakable_spaces() -> None:
    assert PTB("(555) 555-1234") == ["-lrb-555-rrb-\u00a0555-1234"]
    assert PTB("3 1/2 dogs") == ["3\u00a01/2", "dogs"]
    assert PTB('<a href="x y"> dog') == ['<a\u00a0href="x\u00a0y">', "dog"]


@pytest.mark.parametrize("caption", ["", " ", "  \t ", "\u3000", "\u00a0"])
def test_blank_captions_have_no_tokens(caption: str) -> None:
    assert PTB(caption) == PTB_RAW(caption) == []


# ---- one caption at a time


#: The official program reads captions as lines: these make one caption two, and shift all that follow.
LINE_BREAKS = ["\n", "\r", "\r\n", "\v", "\f", "\u2028", "\u2029"]
CONTROLS = [chr(c) for c in (*range(0x20), 0x7F) if chr(c) != "\t"]


@pytest.mark.parametrize("mark", [*LINE_BREAKS, *CONTROLS], ids=lambda mark: mark.encode("unicode_escape").decode())
def test_line_breaks_and_control_characters_are_spaces(mark: str) -> None:
    assert PTB_RAW(f"a dog{mark}runs.{mark}It is big") == PTB_RAW("a dog runs. It is big")
    assert PTB_RAW(f"{mark}a dog{mark}") == ["a", "dog"]
    assert PTB_RAW(mark) == []


def encoded(captions: list[str], cut: TokenizerRule) -> list[list[str]]:
    vocabulary = Vocabulary()
    ids, offsets = vocabulary.encode(tuple(captions), cut, 2)
    words = vocabulary.words()
    return [[words[i] for i in ids[a:b]] for a, b in itertools.pairwise(offsets)]


@pytest.mark.parametrize("cut", [TokenizerRule.ptb, TokenizerRule.ptb_raw], ids=lambda cut: cut.name)
def test_a_batch_is_each_caption_alone(cut: TokenizerRule) -> None:
    captions = [golden["caption"] for golden in GOLDEN] * 3
    alone = PTB if cut is TokenizerRule.ptb else PTB_RAW
    assert encoded(captions, cut) == [alone(caption) for caption in captions]


@given(st.lists(st.text(max_size=12), min_size=1, max_size=6), st.sampled_from(LINE_BREAKS))
def test_captions_never_shift_their_neighbors(captions: list[str], mark: str) -> None:
    around = ["a dog .", *(caption + mark for caption in captions), "two men"]
    tokens = encoded(around, TokenizerRule.ptb_raw)
    assert len(tokens) == len(around)
    assert tokens[0] == ["a", "dog", "."]
    assert tokens[-1] == ["two", "men"]
    assert tokens[1:-1] == [PTB_RAW(caption + mark) for caption in captions]


def test_the_end_of_a_caption_is_the_end_of_text() -> None:
    # The official program would look at the first words of the next caption.
    assert encoded(["platform b.", "The dog"], TokenizerRule.ptb) == [["platform", "b."], ["the", "dog"]]
    assert encoded(["made by Acme Inc.", "A dog"], TokenizerRule.ptb_raw)[0] == ["made", "by", "acme", "inc.", "."]
