"""Cleaning of candidates before they are scored: Markdown to text, and the beginnings of an assistant's answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from captious.data.text_checks import PROMPT, is_markdown, is_prompt_answer
from captious.errors import UnknownNameError

if TYPE_CHECKING:
    from markdown_it.token import Token

_ENDS = tuple(".!?:;,…。！？")


def _plain(text: str) -> str:
    """Markdown as text: what is marked, without its marks.

    Paragraphs, headings, items of lists and cells of tables follow each other, with a full stop after those that have
    no mark at their end. Of links the text stays, of images the description, of HTML only what is between the tags.
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


def _without_opening(text: str) -> str:
    """A text without "Sure! Here is a caption:", "The image shows" and the like; a refusal stays as it is."""
    match = PROMPT.match(text)
    if match is None or match["refusal"]:
        return text
    caption = text[match.end() :].strip()
    if caption[:1] in "\"'*" and caption[-1:] == caption[:1]:
        caption = caption[1:-1]
    return caption


#: The rules by name, in the order in which they are applied.
RULES: dict[str, Callable[[str], str]] = {"markdown": _plain, "prompt": _without_opening}
_APPLY = {"markdown": is_markdown, "prompt": is_prompt_answer}


def rules_of(clean: str | Sequence[str]) -> tuple[str, ...]:
    """The rules that are asked for, in the order in which they are applied.

    Args:
        clean: names of rules, or one text with commas between them.

    Raises:
        UnknownNameError: no such rule.
    """
    names = [name.strip() for name in clean.split(",")] if isinstance(clean, str) else [*clean]
    for name in names:
        if name and name not in RULES:
            raise UnknownNameError(
                f"there is no rule {name!r} to clean captions by", help=f"the rules are {', '.join(RULES)}"
            )
    return tuple(rule for rule in RULES if rule in names)


def cleaned(texts: Sequence[str], rules: Sequence[str]) -> tuple[str, ...]:
    """Texts cleaned by rules; those that a rule has nothing to do with stay as they are.

    Args:
        texts: n texts.
        rules: names of ``RULES``.
    """
    result = [*texts]
    for rule in rules:
        for i in np.flatnonzero(_APPLY[rule](result)).tolist():
            result[i] = RULES[rule](result[i])
    return tuple(result)
