"""Tokens of models, brackets and other words that no sentence consists of cost what the words of sentences cost."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path

import pytest

from captious.metrics.hwcm import Hwcm
from captious.metrics.spice import Spice
from captious.parsing.sources import CaptionParser, parse_of, parser_with
from captious.parsing.tree_parser import EXACT, LONGEST, SHORT, TreeParser, sample_captions
from captious.resources.meteor_tables import MeteorTables
from captious.text import PTB
from tests.support.corpora import table

CAPTION = ("a", "brown", "dog", "runs", "on", "the", "grass")


def ordinary(n: int) -> tuple[str, ...]:
    """Return the first words of captions one after the other."""
    return tuple(islice((word for caption in cycle(sample_captions()) for word in (*caption, "while")), n))


def repeated(*words: str) -> Callable[[int], tuple[str, ...]]:
    return lambda n: tuple(islice(cycle(words), n))


STRAY: dict[str, Callable[[int], tuple[str, ...]]] = {
    "pad": repeated("<pad>"),
    "end": repeated("</s>"),
    "chat": repeated("<", "|", "im_end", "|", ">"),
    "unk": repeated("[unk]"),
    "open": repeated("-lrb-"),
    "brackets": repeated("-lrb-", "-rrb-"),
    "square": repeated("-lsb-"),
    "marks": repeated("*"),
    "dollars": repeated("$"),
    "hashes": repeated("#"),
    "entities": repeated("&amp;", "&lt;"),
    "emoji": repeated("😀"),
    "digits": lambda n: tuple(str(i * 7919 % 1000) for i in range(n)),
    "unknown": lambda n: tuple("".join("bcdfg"[i // 5**k % 5] for k in range(6)) for i in range(n)),
    "bytes": lambda n: tuple(f"Ġ{word}" for word in ordinary(n)),
    "pieces": lambda n: tuple(text for word in ordinary(n) for text in ("▁", word))[:n],
    "chinese": repeated("狗"),
    "noun": repeated("dog"),
    "preposition": repeated("of"),
    "long": lambda n: tuple(f"x{'yz'[i % 2] * 999}{i}" for i in range(n)),
}


def work(parser: CaptionParser, words: tuple[str, ...]) -> int:
    """Return how many rules the parser looks at for a caption."""
    before = parser.parser.work
    (items,) = parser.trees([words])
    assert tuple(word for _, arity, word in items if not arity) == words
    assert len(parse_of(items).words) == len(words)
    return parser.parser.work - before


@pytest.fixture(scope="module")
def bundled() -> CaptionParser:
    return parser_with("bundled")


@pytest.fixture(scope="module")
def official(parser: TreeParser) -> CaptionParser:
    return CaptionParser("official", parser)


@pytest.mark.parametrize("n", [14, 30, 100, 400])
@pytest.mark.parametrize("kind", STRAY)
def test_stray_words_cost_at_most_twice_what_words_of_sentences_cost(bundled: CaptionParser, kind: str, n: int) -> None:
    words = STRAY[kind](n)
    # Seven marks between words are too few to be cut out, so they cost what a longer sentence costs.
    compared = ordinary(30 if (kind, n) == ("pieces", 14) else n)
    assert work(bundled, (*CAPTION, *words)) <= 2 * work(bundled, (*CAPTION, *compared))


@pytest.mark.parametrize("kind", ["pad", "chat", "brackets", "dollars", "unknown"])
def test_stray_words_cost_no_more_with_the_official_grammar(official: CaptionParser, kind: str) -> None:
    assert work(official, (*CAPTION, *STRAY[kind](60))) <= work(official, (*CAPTION, *ordinary(30)))


@pytest.mark.parametrize("name", ["pads_50", "brackets", "debris_pad", "debris_eos", "debris_bpe", "debris_json"])
def test_real_debris_costs_what_words_of_sentences_cost(bundled: CaptionParser, shared_data: Path, name: str) -> None:
    path = shared_data.parent / "cases" / f"{name}.json"
    if not path.exists():
        pytest.skip("no shared cases")
    captions = [tuple(PTB(text)) for text in json.loads(path.read_text("utf-8")).values()]
    of_words = sum(work(bundled, ordinary(len(words))) for words in captions)
    assert sum(work(bundled, words) for words in captions) <= 2 * of_words


@pytest.mark.parametrize("kind", [*STRAY, "ordinary"])
def test_work_is_linear_in_the_length(bundled: CaptionParser, kind: str) -> None:
    words = {**STRAY, "ordinary": ordinary}[kind]
    small, large = (work(bundled, words(n)) for n in (500, 4000))
    assert large <= 10 * small


def test_a_caption_keeps_its_tree_before_stray_words(bundled: CaptionParser) -> None:
    alone, longer = bundled.trees([CAPTION, (*CAPTION, *["<pad>"] * 30)])
    assert longer[1 : len(alone)] == alone[1:]


@pytest.mark.parametrize(
    ("words", "cut"),
    [
        (CAPTION, [7]),
        (CAPTION + ("<pad>",) * 7, [7 + 7]),
        (CAPTION + ("<pad>",) * 7 + CAPTION, [21]),
        (CAPTION + ("<pad>",) * 8 + CAPTION, [7, 5, 3, 7]),
        (CAPTION + ("<pad>", "cat", "-lrb-", "dog") * 6 + CAPTION, [38]),
        (CAPTION + ("<pad>", "cat", "-lrb-", "dog") * 7 + CAPTION, [7, 5, 5, 5, 5, 5, 2, 8]),
        (("<pad>",) * EXACT, [EXACT]),
        (CAPTION * 15, [100, 5]),
        ((), [0]),
    ],
)
def test_runs_of_stray_words_are_cut_out_of_long_captions(
    bundled: CaptionParser, words: tuple[str, ...], cut: list[int]
) -> None:
    pieces = bundled.parser.pieces(words)
    assert [word for piece in pieces for word in piece] == [*words]
    assert [*map(len, pieces)] == cut


def test_sentences_that_no_tree_is_found_for_are_parsed_in_pieces(bundled: CaptionParser) -> None:
    words = (*["#", "dog"] * 5, "a", "#", "man", "the", "#", "grass")
    (tree,) = bundled.trees([words])
    assert tree[0] == ("ROOT", tree[0][1], "")
    assert [word for _, arity, word in tree if not arity] == [*words]


def test_captions_of_people_are_parsed_whole(bundled: CaptionParser, shared_data: Path) -> None:
    references = json.loads(gzip.decompress((shared_data / "coco" / "karpathy_test_refs.json.gz").read_bytes()))
    texts = {text for of_image in references.values() for text in of_image}
    assert len(texts) > 20_000
    assert [text for text in texts if len(bundled.parser.pieces(PTB(text))) > 1] == []


def test_captions_parsed_in_pieces_are_told(meteor_tables: MeteorTables) -> None:
    captions = table(["a dog " + "<pad> " * 40, "a cat", " ".join(ordinary(LONGEST + 1))], [["a dog"]] * 3)
    told = [
        "1 caption has more than 100 words, and the parser reads them in pieces of up to 100 words.",
        "1 caption has long runs of words that are not of an English sentence (<pad> <pad> <pad> ...), and the parser "
        f"reads these runs in pieces of {SHORT} words.",
    ]
    for metric in (Spice(parser="bundled"), Hwcm(parser="bundled")):
        assert [warning for warning in metric.warnings(captions, None) if "pieces" in warning] == told
    assert not any("pieces" in warning for warning in Hwcm(parser="bundled").warnings(table(["a dog"], [["a"]]), None))
