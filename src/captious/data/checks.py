"""Checks of captions as text (Markdown, answers to a prompt, repetitions), and cleaning of candidates."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from captious.errors import UnknownNameError

if TYPE_CHECKING:
    from markdown_it.token import Token


# Checks of captions as text: Markdown, answers to a prompt, several sentences, another script, repetitions.
#
# Each check takes all texts at once and returns bool[n]. It searches the joined texts, so it costs next to nothing for
# ordinary captions.

#: Between texts: with a line break on both sides, so that ``^`` and ``$`` hold where a text begins and ends.
_BETWEEN = "\n\x00\n"
_FLAGS = re.MULTILINE | re.IGNORECASE | re.VERBOSE

#: Marks that Markdown, or HTML within it, leaves in a text.
MARKDOWN = re.compile(
    r"""
    (\*\*|__)(?=\S)[^\n*_\x00]+\1           # bold
    | ^\ {0,3}\#{1,6}\ +\S                  # a heading
    | (?<!\x00)\n\ *(?:[-*+•]|\d{1,2}[.)])\ +\S   # an item of a list, after another line
    | `[^`\n]+` | ^```                      # code
    | !?\[[^\]\n]+\]\(\S+\)                 # a link or an image
    | ^\|.*\|[ \t]*$                        # a row of a table
    | </?(?:br|b|i|em|p|ul|ol|li|strong)\b[^>\n]*>
    """,
    _FLAGS,
)

_KIND = r"(?:image|picture|photo|photograph|figure|illustration|video|clip|audio|recording|snapshot)"
_SHOWS = r"shows?|depicts?|features?|displays?|captures?|presents?|portrays?|illustrates?|showcases?"
_SAYS = rf"(?:{_SHOWS}|contains?|appears\ to\ (?:show|be|depict))"
_CAPTION = r"(?:captions?|descriptions?|summary|sentence)"
#: Opening phrases of an assistant's answer, before it describes the image.
PROMPT = re.compile(
    rf"""[\s"'*#]*(?:
    (?:sure|certainly|of\ course|absolutely|okay)\s*[!,.:][ \t]*
        (?:here(?:'s|\ is|\ are)\b[^\n:]{{0,80}}:\s*)?
    | here(?:'s|\ is|\ are)\ [^\n:]{{0,60}}?\b{_CAPTION}\b[^\n:]{{0,40}}:\s*
    | (?:the|this|that)\ (?:(?:given\ |provided\ |above\ )?{_KIND}\ (?:you\ (?:provided|sent|shared)\ )?{_SAYS}
        | scene\ (?:{_SHOWS}))\b\s*
    | in\ (?:the|this)\ (?:given\ |provided\ |above\ )?{_KIND},\s*(?:(?:we|you|one|i)\ can\ see\s+)?
    | (?:caption|description|answer|assistant|output|response)\s*:\s*
    | (?P<refusal>(?:i'm|i\ am|we're)\ sorry\b | as\ an\ ai\b
        | i\ (?:cannot|can't|am\ unable\ to)\ (?:see|view|describe|provide)\b)
    )""",
    _FLAGS,
)
_SENTENCE = re.compile(r"""[.!?]["')\]*]*\s+(?=["'(*]*[A-ZÀ-ÖØ-Þ0-9])|[。！？](?=[^\n\x00])""")
_END = re.compile(r"[.!?][\"')\]]*[ \t]|[。！？]")  # every match contains this or a line break
_MARKS = ("\n", "**", "__", "`", "](", "|", "#", "<")  # Markdown contains at least one
_REPEATED = 6  # words that a repetition has at least
_LONG_PIECE = 8  # words: no longer piece is looked for as a repetition


def _matching(texts: Sequence[str], pattern: re.Pattern[str]) -> NDArray[np.bool_]:
    """Return a mask of the texts that a pattern matches. The pattern must not match across the end of a text."""
    mask = np.zeros(len(texts), bool)
    places = [match.start() for match in pattern.finditer(_BETWEEN.join(texts))]
    if places:
        starts = np.cumsum([0, *(len(text) + len(_BETWEEN) for text in texts[:-1])])
        mask[np.searchsorted(starts, np.array(places), side="right") - 1] = True
    return mask


def is_empty(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Find texts of white space alone."""
    return np.array([not text.strip() for text in texts], bool)


def is_markdown(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Find Markdown or HTML markup."""
    mask = np.zeros(len(texts), bool)
    whole = "\0".join(texts)
    marks = [mark for mark in _MARKS if mark in whole]
    rows = [row for row, text in enumerate(texts) if any(mark in text for mark in marks)] if marks else []
    mask[rows] = _matching([texts[row] for row in rows], MARKDOWN)
    return mask


def is_prompt_answer(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Find openings such as "Sure! Here is a caption:" or "The image shows"."""
    match = PROMPT.match
    return np.array([match(text) is not None for text in texts], bool)


def several_sentences(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Find texts of more than one sentence: an end mark followed by a capital letter or a digit."""
    text = _BETWEEN.join(texts)
    has_lines = text.count("\n") > 2 * (len(texts) - 1)
    if not has_lines and _END.search(text) is None:
        return np.zeros(len(texts), bool)
    return _matching(texts, _SENTENCE)


def is_in_another_script(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Find texts in which most letters are not Latin."""
    mask = np.zeros(len(texts), bool)
    if _BETWEEN.join(texts).isascii():
        return mask
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


def is_cut_off(texts: Sequence[str], n_words: NDArray[np.int64], *, long: int = 25) -> NDArray[np.bool_]:
    """Find long texts that end within a sentence, if most long texts end with a punctuation mark.

    Args:
        texts: n texts.
        n_words: their lengths, int64[n].
        long: minimum words of a long text.
    """
    mask = np.zeros(len(texts), bool)
    candidates = np.flatnonzero(n_words >= long)
    for i in candidates.tolist():
        last = texts[i].rstrip().rstrip("\"'*_`)]”’»")[-1:]
        mask[i] = last.isalnum() or last in {",", ";", "-", "–"}
    return mask if 2 * mask.sum() < len(candidates) else np.zeros(len(texts), bool)


# Cleaning of candidates before scoring: removal of Markdown, and of opening phrases of assistants.

_ENDS = tuple(".!?:;,…。！？")


def _plain(text: str) -> str:
    """Convert Markdown to plain text.

    Paragraphs, headings, list items and table cells are joined, with a full stop after those that do not end in a
    punctuation mark. Links become their text, images their description; HTML tags are removed.
    """
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    blocks = [block for token in tokens if (block := " ".join(_block(token).split()))]
    sentences = [block if block.endswith(_ENDS) else f"{block}." for block in blocks[:-1]]
    return " ".join([*sentences, *blocks[-1:]])


def _block(token: Token) -> str:
    if token.type == "inline":
        return "".join(map(_inline, token.children or ()))
    return token.content if token.type in ("fence", "code_block") else ""


def _inline(token: Token) -> str:
    if token.type in ("text", "code_inline", "image"):
        return token.content
    return " " if token.type in ("softbreak", "hardbreak", "html_inline") else ""


def _remove_opening(text: str) -> str:
    """Remove openings such as "Sure! Here is a caption:" and "The image shows". Refusals are not changed."""
    match = PROMPT.match(text)
    if match is None or match["refusal"]:
        return text
    caption = text[match.end() :].strip()
    if caption[:1] in "\"'*" and caption[-1:] == caption[:1]:
        caption = caption[1:-1]
    return caption


#: The rules by name, in the order in which they are applied.
RULES: dict[str, Callable[[str], str]] = {"markdown": _plain, "prompt": _remove_opening}
_APPLY = {"markdown": is_markdown, "prompt": is_prompt_answer}


def rules_of(clean: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of cleaning rules in the order in which they are applied.

    Args:
        clean: names of rules, or one text with commas between them.

    Raises:
        UnknownNameError: no such rule.
    """
    names = [name.strip() for name in clean.split(",")] if isinstance(clean, str) else [*clean]
    for name in names:
        if name and name not in RULES:
            raise UnknownNameError(
                f"there is no rule {name!r} to clean captions by", hint=f"the rules are {', '.join(RULES)}"
            )
    return tuple(rule for rule in RULES if rule in names)


def cleaned(texts: Sequence[str], rules: Sequence[str]) -> tuple[str, ...]:
    """Clean texts. Texts to which no rule applies are returned as they are.

    Args:
        texts: n texts.
        rules: names of ``RULES``.
    """
    result = [*texts]
    for rule in rules:
        for i in np.flatnonzero(_APPLY[rule](result)).tolist():
            result[i] = RULES[rule](result[i])
    return tuple(result)
