"""Cleaning of candidates before scoring: removal of Markdown, and of opening phrases of assistants."""

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
                f"there is no rule {name!r} to clean captions by", help=f"the rules are {', '.join(RULES)}"
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
