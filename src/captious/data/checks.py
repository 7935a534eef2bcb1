"""Checks of captions as text: debris of models, Markdown, prompts, repetitions.

``TEXT_KINDS`` is the table: each kind with an example, what is searched for, and the rule that cleans it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from captious.data import patterns
from captious.data.patterns import Pattern
from captious.native import Marks


def _marks(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


@dataclass(frozen=True)
class Kind:
    """A kind of caption that makes scores misleading.

    Args:
        predicate: the rest of the sentence "12 of 100 candidates ...", from its verb, in the plural.
        advice: the effect on scores, or the cause, and a remedy; ``{metrics}`` stands for the metrics of the run that
            it concerns.
        example: a text of this kind; empty for kinds that are not found by a pattern.
        pattern: what is searched for.
        marks: in lower case; texts with one of them are searched for the pattern, as every match contains one. An empty
            mark stands for any character beyond ASCII.
        rule: the rule that cleans it, which the advice ends with; empty for none.
        usual: the share of captions by people that may be of this kind; docs/long-captions.md has the counts.
        least: share of candidates below which it may be chance; 0 for kinds that are never chance.
        needs_references: it is detected by comparison with references.
        of_tokens: it only matters to metrics for English, whatever the references.
        of_length: it only matters to metrics that depend on length.
        before_scoring: only ``check`` reports it; the metrics concerned issue their own warnings.
        unless: texts without these marks are searched for the pattern, too.
    """

    predicate: str
    advice: str
    example: str = ""
    pattern: Pattern = patterns.NEVER
    marks: tuple[str, ...] = ("",)
    rule: str = ""
    usual: float = 0.0
    least: float = 0.0
    needs_references: bool = False
    of_tokens: bool = False
    of_length: bool = False
    before_scoring: bool = False
    unless: tuple[str, ...] = ()

    @property
    def alone(self) -> bool:
        """Whether it matters to metrics without references, too."""
        return not (self.needs_references or self.of_tokens or self.of_length or self.before_scoring)

    def place(self, text: str) -> int:
        """Return where the first match begins."""
        match = self.pattern.regex.search(text)
        return 0 if match is None else match.start()


_WORDS = "metrics count them as words"
#: The table of kinds that are found by a pattern, in the order of messages.
TEXT_KINDS: dict[str, Kind] = {
    "failure": Kind(
        "hold a failure message",
        "ask the captioner again, or leave these images out",
        "Failed to obtain answer via API.",
        patterns.FAILURE,
        _marks(
            "error,exception,fail,none,nan,null,nil,n/a,undefined,timeout,timed out,time-out,"
            "no caption,no answer,no response,no output,no prediction,no description,"
            "empty,missing,not available,"
            "todo,tbd,http,traceback,cuda,rate limit,could,cannot,unable,gateway,service unavailable,"
            "too many requests,object object"
        ),
        usual=2e-5,
    ),
    "refusal": Kind(
        "refuse to describe the image",
        "metrics score every word of it",
        "I'm sorry, but I can't assist with that.",
        patterns.REFUSAL,
        _marks(
            "sorry,apolog,unfortunately,cannot,can't,can’t,can not,unable,not able,don't have,don’t have,"
            "do not have,won't,won’t,will not,as an ai,as an artificial,language model,text-based,"
            "provide,upload,share,attach,send,seems,looks,appears,rather not,decline,filter,comfortable,"
            "is not,was not,policy,"
            "no image,no picture,no photo,no video,no audio,don't see,don’t see,do not see,did not,didn't,didn’t,"
            "don't find,don’t find,to describe,to identify,to caption,to make,to determine,to recogni,to tell,"
            "violate,against,response was,siento,lamento,leid,ich kann,"
            "leider,désolé,je ne peux,dispiace,desculpe,sinto,no puedo,не могу,извините,сожалению,抱歉,对不起,"
            "對不起,我,作为,作為,申し訳,すみません,죄송"
        ),
        usual=2e-4,
    ),
    "name": Kind(
        "consist of an id, a file name, an address, numbers or single letters",
        "is this the column of the captions?",
        "photo_000001.jpg",
        patterns.FILE_NAME,
        patterns.FILE_NAME_MARKS,
        usual=5e-5,
        unless=patterns.LETTER_PAIRS,
    ),
    "think": Kind(
        "hold the thoughts of a model",
        "metrics score them as part of the caption: remove them with",
        "<think>I see a dog.</think> a dog",
        patterns.THINK,
        ("think", "thought>", "thought|>", "reasoning>", "scratchpad>", "reflection>", "<|channel|>"),
        "think",
    ),
    "json": Kind(
        "are JSON",
        "metrics count its keys and marks as words: extract the caption with",
        '{"caption": "a dog"}',
        patterns.JSON,
        ("{", "[", '":', "':", '" :', "' :"),
        "json",
    ),
    "tokens": Kind(
        "hold special tokens of a model",
        f"{_WORDS}: remove them with",
        "a dog </s> <pad>",
        patterns.SPECIAL,
        ("<", "[", "startseq", "endseq", "##", "bos", "eos"),
        "tokens",
    ),
    "unknown": Kind(
        "hold marks of unknown words",
        "metrics count them as words, and captions are shorter without them: remove them with",
        "a <unk> runs",
        patterns.UNKNOWN,
        ("unk",),
        "tokens",
    ),
    "pieces": Kind(
        "hold marks of a subword tokenizer",
        "they do not match words of references: join the pieces with",
        "aĠdog",
        patterns.PIECES,
        ("ġ", "ċ", "▁", "##", "@@", "</w>"),
        "pieces",
    ),
    "mojibake": Kind(
        "hold characters read in the wrong encoding",
        "words with them do not match references: read the file as UTF-8, or repair them with",
        "a cafÃ©",
        patterns.MOJIBAKE,
        ("ã", "ä", "å", "â", "ð", "ñ"),
        "mojibake",
        1e-4,
    ),
    "lost": Kind(
        "hold U+FFFD in place of characters that could not be read",
        "no rule restores them: read the file in its own encoding",
        "a caf�",
        patterns.LOST,
        ("�", "ï¿½"),
        usual=1e-4,
    ),
    "html": Kind(
        "hold entities or tags of HTML",
        f"{_WORDS}: turn them into text with",
        "a &quot;red&quot; bus",
        patterns.HTML,
        ("&", "<"),
        "html",
        6e-4,
    ),
    "ansi": Kind(
        "hold codes of a terminal or control characters",
        f"{_WORDS}: remove them with",
        "\x1b[32ma dog\x1b[0m",
        patterns.ANSI,
        ("\x1b", "[", *patterns.CONTROLS),
        "ansi",
    ),
    "escapes": Kind(
        "hold escapes in place of characters",
        f"{_WORDS}: replace them with",
        r"a dog.\nIt runs.",
        patterns.ESCAPES_OR_SNAKE_CASE,
        ("\\", "_"),
        "escapes",
        1e-4,
    ),
    "markdown": Kind(
        "hold Markdown",
        "metrics count its marks as words, and read a list as one sentence: remove it with",
        "**A dog** runs.",
        patterns.MARKDOWN,
        patterns.MARKDOWN_MARKS,
        "markdown",
        1e-4,
    ),
    "prompt": Kind(
        "begin like the answer to a prompt",
        "if references do not, every word of it lowers precision: remove it with",
        "The image shows a dog.",
        patterns.AT_BEGINNING,
        patterns.OPENING_MARKS,
        "prompt",
        1e-3,
    ),
    "numbers": Kind(
        "begin with the number or the mark of an item of a list",
        "metrics count it as a word: remove it with",
        "1. a dog runs",
        patterns.ITEM,
        tuple("0123456789-*•"),
        "prompt",
        least=0.5,
    ),
    "quotes": Kind(
        "are in quotation marks",
        "metrics that keep punctuation count the marks: remove them with",
        '"A dog runs."',
        patterns.QUOTED,
        ('"', "“", "„", "‘", "«", "»", "「", "『", "'"),
        "quotes",
        5e-4,
    ),
    "decomposed": Kind(
        "hold letters and accents as separate characters (NFD)",
        "they do not match the same letters as one character (NFC), which most files have: compose both sides with",
        "un cafe\u0301",
        patterns.DECOMPOSED,
        rule="compose",
        usual=1e-4,
    ),
    "fullwidth": Kind(
        "hold full-width letters or digits, or ligatures",
        "they do not match ordinary ones: replace them on both sides with",
        "ａ ｄｏｇ",
        patterns.FORMS,
        rule="compose",
        usual=1e-4,
    ),
    "lookalikes": Kind(
        "hold Cyrillic or Greek letters within Latin words",
        "they look like Latin letters but do not match them: replace them on both sides with",
        "a d\u043eg",
        patterns.LOOK_ALIKES,
        rule="compose",
        usual=1e-4,
    ),
    "invisible": Kind(
        "hold invisible characters",
        "words with them do not match words without: remove them on both sides with",
        "a\u200b dog",
        patterns.INVISIBLE,
        rule="compose",
        usual=1e-4,
    ),
}


_SEARCHED = {**TEXT_KINDS, "sentences": Kind("", "", pattern=patterns.SENTENCE, marks=patterns.SENTENCE_MARKS)}


def kinds_in(texts: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    """Return masks of the texts of each kind, bool[n]: those of ``TEXT_KINDS``, empty ones, and several sentences."""
    masks = masks_of(tuple(_SEARCHED), texts)
    masks["prompt"] &= ~masks["refusal"]
    masks["html"] &= ~masks["markdown"]  # whose rule removes both
    masks["empty"] = np.array([not text.strip() for text in texts], bool)
    return masks


def masks_of(names: tuple[str, ...], texts: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    """Return masks of the texts of each kind, bool[n]; none of a kind that is so rare that it may be chance.

    Only texts with a mark of a kind are searched for its pattern, so kinds cost next to nothing for ordinary captions.

    Args:
        names: the names of at most 32 kinds.
        texts: n texts.
    """
    lowered = tuple([text.lower().rstrip(" ") for text in texts])  # a full stop before blanks ends no sentence
    found = _marks_of(names).groups_in(lowered)
    masks = {}
    for place, name in enumerate(names):
        kind = _SEARCHED[name]
        mask = found & (1 << 2 * place) != 0
        if kind.unless:
            mask |= found & (2 << 2 * place) == 0
        for row in np.flatnonzero(mask).tolist():
            mask[row] = kind.pattern.regex.search(texts[row]) is not None
        masks[name] = mask & (mask.sum() >= kind.least * len(texts))
    return masks


@cache
def _marks_of(names: tuple[str, ...]) -> Marks:
    kinds = [_SEARCHED[name] for name in names]
    return Marks(tuple([marks for kind in kinds for marks in (kind.marks, kind.unless)]))


_REPEATED = 6  # words that a repetition has at least
_LONG_PIECE = 8  # words: no longer piece is looked for as a repetition
_LONG_TEXT = 25  # words of a text whose end is looked at


def is_in_another_script(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Find texts in which most letters are not Latin."""
    mask = np.zeros(len(texts), bool)
    for i, text in enumerate(texts):
        if not text.isascii():
            letters = [character for character in text if character.isalpha()]
            latin = sum(character < "\u0250" or "\u1e00" <= character < "\u1f00" for character in letters)
            mask[i] = 2 * latin < len(letters)
    return mask


def repeats_itself(ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Find captions that repeat one to eight words three times or more in a row, at least six words in total.

    Args:
        ids: tokens of n captions, int32[n_tokens].
        offsets: int64[n + 1].

    Returns:
        bool[n].
    """
    n = len(offsets) - 1
    mask = np.zeros(n, bool)
    caption = np.repeat(np.arange(n), np.diff(offsets))
    for length in range(1, min(_LONG_PIECE, len(ids) // 3) + 1):
        is_repetition = (ids[length:] == ids[:-length]) & (caption[length:] == caption[:-length])
        more = max(2 * length, _REPEATED - length)  # words after the first piece
        total = np.concatenate([[0], np.cumsum(is_repetition)])
        run = total[more:] - total[:-more] == more
        mask[caption[np.flatnonzero(run)]] = True
    return mask


def is_cut_off(texts: Sequence[str], n_words: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Find long texts that end within a sentence, if most long texts end with a punctuation mark.

    Args:
        texts: n texts.
        n_words: their lengths, int64[n].
    """
    mask = np.zeros(len(texts), bool)
    candidates = np.flatnonzero(n_words >= _LONG_TEXT)
    for i in candidates.tolist():
        last = texts[i].rstrip().rstrip("\"'*_`)]”’»")[-1:]
        mask[i] = last.isalnum() or last in {",", ";", "-", "–"}
    return mask if 2 * mask.sum() < len(candidates) else np.zeros(len(texts), bool)
