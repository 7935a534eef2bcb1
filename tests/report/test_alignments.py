"""Alignments as text, character for character; the alignments are made up, so no table of METEOR is needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from captious.drawing import as_text
from captious.explanation_text import explanation_text
from captious.metrics.meteor import Alignment, Match

#: Of a match: where it starts and ends in the candidate, in the reference, and its module.
Link = tuple[int, int, int, int, str]
NUMBERS = "precision .5000 · recall .2500 · fragmentation .1250 · score 1.0000"
FOUR = ["exact", "stem", "synonym", "paraphrase"]


def alignment(candidate: str, reference: str, *links: Link, chunks: int = 0) -> Alignment:
    words = tuple(candidate.split(" ")) if candidate else (), tuple(reference.split(" ")) if reference else ()
    return Alignment(*words, tuple(matches(links)), chunks, 0.5, 0.25, 0.125, 1.0)


def matches(links: Sequence[Link]) -> Iterator[Match]:
    """Yield matches with their chunks."""
    chunk, ends = 0, (-1, -1)
    for start, end, reference_start, reference_end, module in links:
        chunk += (start, reference_start) != ends
        ends = end, reference_end
        yield Match(start, end, reference_start, reference_end, module, chunk)


def word_by_word(n: int, module: str = "exact") -> list[Link]:
    return [(i, i + 1, i, i + 1, module) for i in range(n)]


def picture(*alignments: Alignment, width: int | None = None, color: bool = False) -> str:
    fold = {} if width is None else {"width": width}
    return as_text(explanation_text([*alignments]), color=color, **fold)


def legend(*alignments: Alignment) -> str:
    return picture(*alignments).splitlines()[-1]


def test_alignment_in_order_is_drawn() -> None:
    links = [(0, 1, 0, 1, "exact"), (1, 2, 1, 2, "stem"), (2, 3, 3, 4, "synonym"), (4, 5, 4, 5, "exact")]
    assert picture(alignment("a dog sits by it", "a dogs is resting it", *links, chunks=3)).splitlines()[:5] == [
        "  candidate  a  dog sits by it",
        "             1= 1~  2≈      3=",
        "  reference  a  dogs is resting it",
        "             1= 1~      2≈      3=",
        f"  4 matches in 3 chunks · {NUMBERS}",
    ]


def test_crossing_alignment_is_drawn() -> None:
    """Chunks are counted along the reference."""
    links = [(3, 4, 0, 1, "exact"), (4, 5, 1, 2, "exact"), (1, 2, 2, 3, "exact"), (0, 1, 3, 4, "exact")]
    assert picture(alignment("a b c d e", "d e b a", *links, chunks=3)).splitlines()[:4] == [
        "  candidate  a  b  c d  e",
        "             3= 2=   1= 1=",
        "  reference  d  e  b  a",
        "             1= 1= 2= 3=",
    ]


def test_phrases_of_an_alignment_are_drawn() -> None:
    links = [(1, 4, 1, 2, "paraphrase"), (4, 5, 2, 4, "paraphrase")]
    assert picture(alignment("x in front of y", "z before a b", *links, chunks=1)).splitlines()[:4] == [
        "  candidate  x in front of y",
        "               1: 1:    1: 1:",
        "  reference  z before a  b",
        "               1:     1: 1:",
    ]


def test_a_gap_on_either_side_begins_a_chunk() -> None:
    gap_above = alignment("a x b", "a b", (0, 1, 0, 1, "exact"), (2, 3, 1, 2, "exact"))
    gap_below = alignment("a b", "a x b", (0, 1, 0, 1, "exact"), (1, 2, 2, 3, "exact"))
    assert picture(gap_above).splitlines()[3] == picture(gap_below).splitlines()[1] == "             1= 2="


def test_chunks_of_two_digits_are_aligned() -> None:
    words = " ".join("abcdefghijklmnopqrstuvwxyz"[:22])
    links = [(i, i + 1, i, i + 1, "exact") for i in range(0, 22, 2)]
    lines = picture(alignment(words, words, *links)).splitlines()
    assert lines[0].endswith("q  r s   t u   v")
    assert lines[1].endswith("9=   10=   11=")
    assert [lines[0].index(c) for c in "su"] == [lines[1].index(mark) for mark in ("10=", "11=")]


def test_alignment_without_matches_is_drawn() -> None:
    assert picture(alignment("red bus", "dog")).splitlines() == [
        "  candidate  red bus",
        "  reference  dog",
        f"  0 matches in 0 chunks · {NUMBERS}",
    ]


@pytest.mark.parametrize(("candidate", "reference"), [("", "dog"), ("dog", ""), ("", "")])
def test_alignment_without_words_is_drawn(candidate: str, reference: str) -> None:
    assert picture(alignment(candidate, reference)).splitlines()[:2] == [
        f"  candidate  {candidate or '(no words)'}",
        f"  reference  {reference or '(no words)'}",
    ]


def test_single_match_is_written_in_the_singular() -> None:
    text = picture(alignment("a", "a", *word_by_word(1), chunks=1))
    assert text.splitlines()[4] == f"  1 match in 1 chunk · {NUMBERS}"


def test_first_of_equally_good_references_is_marked() -> None:
    one = alignment("a", "a", *word_by_word(1), chunks=1)
    worse = replace(one, score=0.5)
    lines = picture(worse, one, one).splitlines()
    assert lines[6:12] == [
        "  candidate    a",
        "               1=",
        "  reference 2  a",
        "               1=",
        f"  1 match in 1 chunk · {NUMBERS} ◀",
        "",
    ]
    assert [line.endswith(" ◀") for line in lines if " · " in line] == [False, True, False]


class TestLegend:
    @pytest.mark.parametrize("modules", [FOUR[:1], FOUR[1:2], FOUR[::-1], FOUR[2:]])
    def test_legend_explains_the_shown_signs(self, modules: list[str]) -> None:
        signs = {"exact": "=", "stem": "~", "synonym": "≈", "paraphrase": ":"}
        links = [(i, i + 1, i, i + 1, module) for i, module in enumerate(modules)]
        aligned = alignment("a b c d", "a b c d", *links)
        used = "  ".join(f"{sign} {module}" for module, sign in signs.items() if module in modules)
        assert legend(aligned) == f"Number: chunk.  {used}"
        assert picture(aligned).splitlines()[1].split() == [f"1{signs[module]}" for module in modules]

    def test_legend_without_matches_has_no_signs(self) -> None:
        assert legend(alignment("a", "b")).startswith("  0 matches")

    def test_legend_of_several_alignments_merges_signs(self) -> None:
        one, other = (alignment("a", "a", *word_by_word(1, module)) for module in ("paraphrase", "exact"))
        assert legend(one, other) == "Number: chunk.  = exact  : paraphrase  ◀ best"
        assert legend(alignment("a", "b"), alignment("a", "b")) == "◀ best"


class TestWidth:
    LONG = alignment("a man rides a red bike", "a man on a bike", *word_by_word(2), (5, 6, 4, 5, "exact"), chunks=2)

    def test_wide_alignment_is_not_folded(self) -> None:
        longest = max(map(len, picture(self.LONG).splitlines()))
        assert picture(self.LONG, width=longest) == picture(self.LONG)
        assert picture(self.LONG, width=longest - 1) != picture(self.LONG)

    def test_narrow_alignment_is_folded(self) -> None:
        assert picture(self.LONG, width=30).splitlines()[:11] == [
            "  candidate  a  man rides a",
            "             1= 1=",
            "             red bike",
            "                 2=",
            "  reference  a  man on a bike",
            "             1= 1=       2=",
            "  3 matches in 2 chunks",
            "  precision .5000",
            "  recall .2500",
            "  fragmentation .1250",
            "  score 1.0000",
        ]

    def test_folded_line_uses_the_last_column(self) -> None:
        caption = alignment("a red motorcycle stands", "a", *word_by_word(1))
        assert picture(caption, width=37).splitlines()[0] == "  candidate  a  red motorcycle stands"
        assert picture(caption, width=36).splitlines()[0] == "  candidate  a  red motorcycle"

    def test_a_word_wider_than_the_terminal_is_not_cut_short(self) -> None:
        word = "abcdefghij" * 5
        text = picture(alignment(f"a {word} b", "a b c", *word_by_word(3)), width=33)
        assert text.splitlines()[:8] == [
            "  candidate  a",
            "             1=",
            "             abcdefghijabcdefghij",
            "             1=",
            "             abcdefghijabcdefghij",
            "             abcdefghij b",
            "                        1=",
            "  reference  a  b  c",
        ]

    def test_wide_characters_take_two_columns(self) -> None:
        """They take two columns, in which nothing else stands, and are not cut in two."""
        text = picture(alignment("猫が好き a 犬 b", "b 犬", (2, 3, 1, 2, "exact")), width=26)
        assert text.splitlines()[:5] == [
            "  candidate  猫が好き a 犬",
            "                        1=",
            "             b",
            "  reference  b 犬",
            "               1=",
        ]
        assert picture(alignment("猫" * 8, "a"), width=24).splitlines()[:2] == [
            "  candidate  猫猫猫猫猫",
            "             猫猫猫",
        ]

    @given(
        words=st.lists(
            st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z", "M"]), min_size=1), max_size=9
        ),
        other=st.lists(st.text("ab猫", min_size=1, max_size=30), max_size=9),
        width=st.integers(21, 120),
    )
    def test_folded_lines_fit_and_keep_all_words(self, words: list[str], other: list[str], width: int) -> None:
        links = word_by_word(min(len(words), len(other)))
        aligned = Alignment(tuple(words), tuple(other), tuple(matches(links)), 1, 0.5, 0.25, 0.125, 1.0)
        lines = picture(aligned, width=width).splitlines()
        assert [line for line in lines if cell_len(line) > width] == []
        if words and not set("1=") & set("".join(words)):
            start = next(i for i, line in enumerate(lines) if line.startswith("  reference"))
            above = "".join(line[13:] for line in lines[:start])
            assert above.replace("1=", "").replace(" ", "") == "".join(words)


class TestHostileWords:
    def test_control_characters_of_words_are_removed(self) -> None:
        text = picture(alignment("\x1b [31m \x9b0m \u202e a\x07\x08b \x00", "\x1b", *word_by_word(1)), color=False)
        assert [c for c in text if not c.isprintable() and c != "\n"] == []
        assert text.splitlines()[0] == "  candidate     [31m  0m   a  b"

    def test_words_are_text_and_never_markup(self) -> None:
        assert picture(alignment("[bold]x[/] :smile:", "[/]")).splitlines()[:2] == [
            "  candidate  [bold]x[/] :smile:",
            "  reference  [/]",
        ]


class TestColors:
    def test_each_module_has_its_own_color(self) -> None:
        links = [(i, i + 1, i, i + 1, module) for i, module in enumerate(FOUR)]
        text = picture(alignment("a b c d e", "a b c d", *links), color=True)
        for word, sign, code in zip("abcd", "=~≈:", (32, 36, 33, 35), strict=True):
            assert text.count(f"\x1b[{code}m{word}\x1b[0m") == 2
            assert text.count(f"\x1b[{code}m1{sign}\x1b[0m") == 2
        assert "\x1b[2me\x1b[0m" in text

    def test_pieces_of_a_folded_word_share_a_style(self) -> None:
        text = picture(alignment("x" * 20, "y"), color=True, width=25)
        assert f"\x1b[2m{'x' * 12}\x1b[0m" in text
        assert f"\x1b[2m{'x' * 8}\x1b[0m" in text

    def test_best_reference_is_marked(self) -> None:
        assert "score 1.0000 \x1b[32m◀\x1b[0m\n" in picture(alignment("a", "b"), alignment("a", "b"), color=True)

    def test_colored_lines_have_no_trailing_blanks(self) -> None:
        text = picture(alignment("a b c", "c", (2, 3, 0, 1, "stem")), color=True, width=40)
        assert [line for line in text.splitlines() if line.removesuffix("\x1b[0m").endswith(" ")] == []
