"""Cleaning of candidates before scoring: each rule, by its name, removes a kind of debris that ``checks`` finds."""

from __future__ import annotations

import json
import re
import unicodedata
from ast import literal_eval
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from captious.data import patterns
from captious.data.checks import TEXT_KINDS, masks_of
from captious.data.patterns import regex
from captious.errors import ParameterError, UnknownNameError

if TYPE_CHECKING:
    from markdown_it.token import Token


_ENDS = tuple(".!?:;,…。！？")
_CLOSING_QUOTES = "\"'”“’»«」』"


def _plain(text: str) -> str:
    """Convert Markdown to plain text.

    Paragraphs, headings, list items and table cells are joined, with a full stop after those that do not end in a
    punctuation mark. Links become their text, images their description; HTML tags are removed.
    """
    from markdown_it import MarkdownIt

    while regex("tex").search(text):
        text = regex("tex").sub(r"\1", text)
    text = _tidy(regex("tags").sub(" ", text)) if regex("tag").search(text) else text
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    blocks = [block for token in tokens if (block := " ".join(_block(token).split()))]
    sentences = [block if block.endswith(_ENDS) else f"{block}." for block in blocks[:-1]]
    return " ".join([*sentences, *blocks[-1:]]) or text  # such as the definition of a link


def _block(token: Token) -> str:
    if token.type == "inline":
        return "".join(map(_inline, token.children or ()))
    if token.type == "html_block":
        return regex("unknown_tag").sub(" ", token.content)
    return token.content if token.type in ("fence", "code_block") else ""


def _inline(token: Token) -> str:
    if token.type in ("text", "code_inline", "image"):
        return token.content
    return " " if token.type in ("softbreak", "hardbreak", "html_inline") else ""


def _without_opening(text: str) -> str:
    """Remove numbers and marks of items, and openings such as "Sure! Here is a caption:" and "The image shows"."""
    text = regex("item").sub("", text)
    match = regex("prompt").match(text)
    if match is None:
        match = regex("openings").match(text)
        text = text if match is None else regex("closings").sub("", text)
    caption = text if match is None else text[match.end() :].strip()
    if caption[:1] in "\"'*" and caption[-1:] == caption[:1]:
        caption = caption[1:-1]
    return caption or text


def _tidy(text: str) -> str:
    """Remove the blanks that removed pieces leave."""
    return re.sub(r"[ \t]{2,}", " ", text).strip()


def _without_thoughts(text: str) -> str:
    """Remove thoughts, up to the last end mark, and the marks of the answer; without an end mark, to the end."""
    text = regex("answer").sub(" ", regex("channel").sub("", text))
    opened = False
    answer, end = "", 0
    for mark in regex("think").finditer(text):
        if mark[0].startswith(("</", "[/", "◁/", "<|end")):
            answer, opened = ("" if not opened else answer), False
        elif not opened:
            answer, opened = answer + text[end : mark.start()], True
        end = mark.end()
    return _tidy(answer if opened else answer + text[end:])


_CAPTION_KEYS = ("caption", "description", "answer", "response", "output", "text", "result", "content")


def _caption_of(value: Any) -> str | None:
    """Return the caption in a document of JSON; None if there is not exactly one."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | set):
        return _caption_of(next(iter(value))) if len(value) == 1 else None
    if not isinstance(value, dict):
        return None
    for wanted in _CAPTION_KEYS:
        if found := [item for key, item in value.items() if wanted in str(key).lower()]:
            return _caption_of(found[0]) if len(found) == 1 else None
    return _caption_of([*value.values()])


def _from_json(text: str) -> str:
    """Return the caption in a JSON document, also one in a fence, in Python's notation or cut off."""
    content = re.sub(rf"{patterns.text('before_json')}|\s*```\s*\Z", "", text).strip()
    content = content if content[:1] in ("{", "[") else f"{{{content.rstrip(',')}}}"
    for read in (json.loads, literal_eval):
        try:
            caption = _caption_of(read(content))
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        return text if caption is None else caption.strip()
    cut = re.search(r""""(?:\w*_)?(?:caption|description|answer)"\s*:\s*"((?:[^"\\]|\\.)*)""", content, re.IGNORECASE)
    return (cut and cut[1].replace('\\"', '"').strip()) or text


def _joined_pieces(text: str) -> str:
    """Join the pieces of byte-level BPE, sentencepiece, wordpiece and subword-nmt."""
    if re.search("[ĠĊ]", text):
        if re.search(r"\S Ġ", text):  # pieces with blanks between them
            text = text.replace(" ", "")
        text = re.sub(r"[^\s]+", lambda word: _of_bytes(word[0]), text)
    if "▁" in text:
        text = (text.replace(" ", "") if re.search(r"\S ▁", text) else text).replace("▁", " ")
    if 2 * text.count("</w>") > len(text.split()):  # at the end of each word
        text = text.replace(" ", "")
    return " ".join(re.sub(r"\s##(?=\w)(?!\w+##)|@@(?:\s|$)", "", text.replace("</w>", " ")).split())


def _of_bytes(word: str) -> str:
    """Return the text of byte-level BPE, whose letters stand for bytes; white space if its bytes are not UTF-8."""
    others = [byte for byte in range(256) if not (33 <= byte <= 126 or 161 <= byte <= 172 or 174 <= byte <= 255)]
    byte_of = {chr(byte): byte for byte in range(256)} | {chr(256 + i): byte for i, byte in enumerate(others)}
    try:
        return bytes(byte_of[letter] for letter in word).decode()
    except (KeyError, UnicodeDecodeError):
        return word.replace("Ġ", " ").replace("Ċ", "\n")


def _as_utf8(run: re.Match[str]) -> str:
    """Read characters of Windows-1252 or Latin-1 as the bytes of UTF-8 that they were, if they can be."""
    try:
        return b"".join(letter.encode("latin-1" if letter <= "\xff" else "cp1252") for letter in run[0]).decode()
    except UnicodeError:
        return run[0]


_ESCAPED = {"n": "\n", "r": "\n", "t": "\t", '"': '"', "'": "'"}


def _without_escapes(text: str) -> str:
    if regex("snake_case").match(text):
        return text.replace("_", " ").strip()
    characters = regex("escapes").sub(
        lambda escape: _ESCAPED.get(escape[0][1].lower()) or chr(int(escape[0][2:], 16)), text
    )
    return characters.strip()


def _without_quotes(text: str) -> str:
    inner = text.strip().removeprefix("b")  # as Python writes bytes
    marks = 2 if inner.startswith("``") else 1
    stop = "." if inner.endswith(".") and inner[-2:-1] in _CLOSING_QUOTES else ""
    inner = inner.removesuffix(stop)[marks:-marks].strip()
    return inner if inner.endswith(_ENDS) else inner + stop


def composed(text: str) -> str:
    """Return a text with each letter and its accents as one character, without invisible and full-width characters."""
    latin = str.maketrans(patterns.text("alike"), patterns.text("latin"))
    text = regex("look_alikes").sub(lambda word: word[0].translate(latin), text)
    plain = regex("forms").sub(
        lambda letters: unicodedata.normalize("NFKC", letters[0]), regex("invisible").sub("", text)
    )
    return unicodedata.normalize("NFC", plain)


def _without_html(text: str) -> str:
    from html import unescape  # no other rule needs its table

    return _tidy(unescape(regex("tag").sub(" ", text)))


#: The rules by name, in the order in which they are applied.
RULES: dict[str, Callable[[str], str]] = {
    "ansi": lambda text: _tidy(regex("ansi").sub("", text)),
    "pieces": _joined_pieces,
    "mojibake": lambda text: regex("misread").sub(_as_utf8, text),
    "think": _without_thoughts,  # by marks that are special tokens
    "tokens": lambda text: _tidy(
        regex("unknown").sub(" ", regex("special").sub(" ", regex("role").sub(" ", regex("channel").sub(" ", text))))
    ),
    "json": _from_json,
    "escapes": _without_escapes,
    "html": _without_html,
    "markdown": _plain,
    "prompt": _without_opening,
    "quotes": _without_quotes,
    "compose": composed,
}
#: The rule that references follow, too: it changes no visible character.
OF_BOTH_SIDES = "compose"


def rules_of(clean: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of cleaning rules in the order in which they are applied.

    Args:
        clean: names of rules, or one text with commas between them.

    Raises:
        UnknownNameError: no such rule.
        ParameterError: neither a text nor texts.
    """
    if not isinstance(clean, str | Iterable):
        raise ParameterError(f"clean is {clean!r}", hint=f"give the names of rules: {', '.join(RULES)}")
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
        masks = masks_of(tuple(name for name, kind in TEXT_KINDS.items() if kind.rule == rule), result)
        for i in np.flatnonzero(np.any([*masks.values()], axis=0)).tolist():
            result[i] = RULES[rule](result[i])
    return tuple(result)
