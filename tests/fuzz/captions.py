"""Captions that nobody would write: text that is hard for tokenizers, in any mixture and number."""

from __future__ import annotations

import random
from collections.abc import Callable

from captious.data import Captions
from tests.support.corpora import table

#: Pieces of text that mean something to a tokenizer.
PIECES = (
    *" \t\n\r\v\f\0\x1b\x7f.,'-/@#&<>()[]{}:;!?\"$%*_=~^|\\`",
    *"abcABCàßİΣς½£€…–—“”‘’\u00a0\u00ad\u0085\u200b\u2028\u2029\u3000犬😀",
    "n't", "'s", "U.S.", "Mr.", "Inc.", "&amp;", "&quot;", "http://", "www.", ".com", "<b>", "...", "--", "1/2",
    "(555) 555-1234", "3 1/2", "cannot", "The", " a ", " dog ", " dog ", " on ", "0", "12", "1,000.5", "👨\u200d👩",
)  # fmt: skip
#: Words that mean something to a metric, and others.
WORDS = tuple(
    """
    a a a the the on in of and is are two dogs dog puppy cat cats man men woman women children child went goes going
    running ran runs large big small little red in front of next to sitting standing holding not no his her its
    running-mate U.S. 3 three 10 , . ! ' s 's n't -lrb- ||| | || before automobile car
    """.split()  # noqa: SIM905
)
SCRIPTS = (
    (0x0370, 0x03FF), (0x0400, 0x04FF), (0x0530, 0x058F), (0x0590, 0x05FF), (0x0600, 0x06FF), (0x0900, 0x097F),
    (0x0E00, 0x0E7F), (0x1100, 0x11FF), (0x1F00, 0x1FFF), (0x2000, 0x206F), (0x2100, 0x214F), (0x2C00, 0x2C5F),
    (0x3040, 0x30FF), (0x4E00, 0x4FFF), (0xAC00, 0xAD00), (0xFB00, 0xFB4F), (0xFE00, 0xFEFF), (0xFF00, 0xFFEF),
    (0x10400, 0x1044F), (0x1D400, 0x1D7FF), (0xE0000, 0xE007F),
)  # fmt: skip
COMBINING = tuple(map(chr, [*range(0x300, 0x370), *range(0x20D0, 0x20F0), 0xFE0E, 0xFE0F, 0x200D, 0x1F3FB, 0x1F3FF]))
BIDI = tuple(map(chr, [0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x061C, 0x05D0, 0x0627]))
CONTROLS = tuple(map(chr, [*range(0x20), *range(0x7F, 0xA0), 0xFEFF, 0xFFFE, 0xFFFF, 0x1FFFE, 0x10FFFF, 0xFFFD]))
EMOJI = (
    "😀",
    "👩🏽\u200d🚀",
    "👨\u200d👩\u200d👧\u200d👦",
    "🇩🇪",
    "🇩",
    "🏴\U000e0067\U000e0062\U000e007f",
    "1\ufe0f\u20e3",
    "❤\ufe0f",
)
SMILEYS = (":-)", ":)", ";-(", ":'(", ":-P", "=^)", "8-)", ":-]", "<3", "^_^", "(:", "*<|:-)", "@}->--", ":o", "<:-|")
ADDRESSES = (
    "http://a.b/c?d=e&f#g", "https://x.y:80/", "ftp://", "www.x.com", "x.com/~y", "a@b.cd", "a.b@c", "@user",
    "#tag", "1.2.3.4", "C:\\x\\y", "/usr/bin", "a.b.c.d", "x.co.uk,",
)  # fmt: skip
ABBREVIATIONS = (
    "U.S.", "U.S.A.", "e.g.", "i.e.,", "Mr.", "Mrs", "St.", "Jan.", "Ph.D.", "a.m.", "No.", "vs.", "Inc.",
    "Co.,", "etc.", "J.", "J.R.R.", "o'clock", "y'all", "d'ye", "gonna", "cannot", "'tis", "'twas",
    "rock'n'roll", "O'Neil", "C++", "AT&T", "R&B",
)  # fmt: skip
NUMBERS = (
    "3.14", ".5", "1,000", "1,00,0.", "-7", "+4", "±2", "1/2", "1\u20442", "½", "5'10\"", "$5.00", "US$9", "€7",
    "50%", "1st", "2:30pm", "555-1234", "(555) 555-1234", "+1 (555) 123-4567", "1e10", "0x1F", "10\u00a0000",
    "٣", "１２", "Ⅻ", "²", "1990s", "'90s",
)  # fmt: skip


def any_character(rng: random.Random) -> str:
    """Return a character of any plane, most often of the first."""
    while True:
        code = rng.randrange(rng.choice([0x80, 0x100, 0x3000, 0x10000, 0x110000]))
        if not 0xD800 <= code < 0xE000:
            return chr(code)


def of_script(rng: random.Random) -> str:
    """Return a word of one script."""
    first, last = rng.choice(SCRIPTS)
    return "".join(chr(rng.randint(first, last)) for _ in range(rng.randint(1, 6)))


def sentence(rng: random.Random) -> str:
    """Return a sequence of random words."""
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, 14)))


def accented(rng: random.Random) -> str:
    """Return a letter, or nothing, followed by combining marks."""
    return rng.choice(["e", "a", "Σ", "i", "", "犬", "ﬁ"]) + "".join(
        rng.choice(COMBINING) for _ in range(rng.randint(1, 9))
    )


def repeated(rng: random.Random) -> str:
    """Return a text repeated many times."""
    return PIECE_MAKERS[rng.randrange(len(PIECE_MAKERS))](rng) * rng.choice([2, 3, 10, 40])


def long_word(rng: random.Random) -> str:
    """Return a word of up to a thousand letters."""
    return rng.choice(["a", "ab-", "x.", "1,", "é", "a'", "A", "/x", "&a", "Σ"]) * rng.choice([50, 200, 500])


def of(pieces: tuple[str, ...]) -> Callable[[random.Random], str]:
    """Return a function that chooses one of these pieces."""
    return lambda rng: rng.choice(pieces)


PIECE_MAKERS: tuple[Callable[[random.Random], str], ...] = (
    *map(of, (PIECES, WORDS, COMBINING, BIDI, CONTROLS, EMOJI, SMILEYS, ADDRESSES, ABBREVIATIONS, NUMBERS)),
    *(any_character, of_script, accented),
)
MAKERS = (*PIECE_MAKERS, sentence, repeated)


def caption(rng: random.Random) -> str:
    """Nothing, a word, a sentence, or a jumble of pieces of one kind or of all, with or without spaces between them."""
    kind = rng.random()
    if kind < 0.2:
        return sentence(rng)
    if kind < 0.22:
        return long_word(rng)
    makers = (rng.choice(MAKERS),) if kind < 0.5 else rng.choices(MAKERS, k=3) if kind < 0.8 else MAKERS
    blank = rng.choice(["", "", " ", " ", "\t", "\n", "\u00a0", "\u3000", "."])
    return blank.join(rng.choice(makers)(rng) for _ in range(rng.choice([0, 1, 2, 4, 8, 16])))


def long_caption(rng: random.Random, size: int = 100_000) -> str:
    """About 100 kB of a few pieces, over and over."""
    unit = "".join(caption(rng) for _ in range(3)) or "a"
    return (unit * (size // len(unit.encode()) + 1))[:size]


def corpus(rng: random.Random, images: int) -> Captions:
    """Return captions of images with 1 to 3 references, some of which are the candidate, or nearly."""
    candidates = [caption(rng) for _ in range(images)]
    references = [[_reference(rng, candidate) for _ in range(rng.randint(1, 3))] for candidate in candidates]
    return table(candidates, references)


def _reference(rng: random.Random, candidate: str) -> str:
    return rng.choice([caption(rng), candidate, candidate + caption(rng)])
