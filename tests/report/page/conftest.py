"""Fixtures of the tests of pages: systems on awkward captions, and on those of the examples."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import captious

EXAMPLES = Path(__file__).parents[3] / "examples"

#: Captions that are hard to carry: markup, controls, scripts from right to left, emoji, tokens that depend on others.
HOSTILE = {
    1: "</script><script>alert(1)</script><!-- <b>bold</b>",
    2: "a\0b \ufeff \u202e desrever  two  blanks ",
    3: "כלב רץ ברחוב 👩‍🚀 \U0001f600 \u2028 end",
    4: "",
    5: "Mr. Smith's dog can't run, 3 1/2 miles... \"quoted\" (etc.)",
    6: "dog " * 20_000,
    7: "= HYPERLINK(\"http://x.invalid\") 'single' & ampersand; &lt;",
}


def systems(metrics: list[str], settings: captious.Settings | None = None) -> list[captious.Report]:
    """Return both systems of the examples."""
    references = captious.read_references(EXAMPLES / "references.json")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            captious.score(EXAMPLES / f"{name}.json", references, metrics, system=name, settings=settings)
            for name in ("baseline", "improved")
        ]


def hostile(metrics: list[str]) -> list[captious.Report]:
    """Return two systems whose captions and names are hard to display, with such references."""
    texts = [*HOSTILE.values()]
    references = {image: [texts[image % 7], "a dog runs down the street .", text] for image, text in HOSTILE.items()}
    other = dict(zip(HOSTILE, texts[::-1], strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = captious.read_references(references)
        return [
            captious.score(candidates, table, metrics, system=name)
            for name, candidates in (("</title><script>x</script>\0", HOSTILE), ("b & 'c' \"d\"", other))
        ]


@pytest.fixture(scope="session")
def examples() -> list[captious.Report]:
    return systems(["bleu", "rouge-l", "cider-d", "cider", "cider-d@paper", "wmd", "wmd@lceval"])
