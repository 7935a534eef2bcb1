"""Parses in files: written and read back, CoNLL-U in both versions, and files of other formats."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from captious.errors import CaptionFileError, OutputError, ParameterError, UnknownNameError
from captious.metrics.spice import Spice
from captious.parsing.collapsed import collapsed
from captious.parsing.parse_files import read_parses, write_parses
from captious.parsing.parses import Parse
from captious.parsing.sources import approximate, as_parse_source
from captious.resources.meteor_tables import MeteorTables
from tests.support.corpora import table
from tests.support.parses import KnownParses
from tests.support.parses import parse as parsed

ENGLISH = """\
# sent_id = 1
# text = Two dogs are chased by a cat
1\tTwo\ttwo\tNUM\tCD\tNumType=Card\t2\tnummod\t_\t_
2\tdogs\tdog\tNOUN\tNNS\tNumber=Plur\t4\tnsubj:pass\t_\t_
3\tare\tbe\tAUX\tVBP\t_\t4\taux:pass\t_\t_
4\tchased\tchase\tVERB\tVBN\t_\t0\troot\t_\t_
5\tby\tby\tADP\tIN\t_\t7\tcase\t_\t_
6\ta\ta\tDET\tDT\t_\t7\tdet\t_\t_
7\tcat\tcat\tNOUN\tNN\tNumber=Sing\t4\tobl:agent\t_\t_
"""
GERMAN = """\
1-2\tIm\t_\t_\t_\t_\t_\t_\t_\t_
1\tIn\tin\tADP\tAPPR\t_\t3\tcase\t3:case\t_
2\tdem\tder\tDET\tART\t_\t3\tdet\t3:det\t_
3\tGarten\tGarten\tNOUN\tNN\tNumber=Sing\t4\tobl\t4:obl:in\t_
4\tspielen\tspielen\tVERB\tVVFIN\t_\t0\troot\t0:root\t_
5\tHunde\tHund\tNOUN\tNN-X\tNumber=Plur\t4\tnsubj\t4:nsubj\t_
"""


def test_written_parses_are_read_back(shared_data: Path, tmp_path: Path) -> None:
    with gzip.open(shared_data / "spice" / "gold_parses.jsonl.gz", "rt", encoding="utf-8") as lines:
        some = list(islice(lines, 300))
    source = tmp_path / "some.jsonl"
    source.write_text("".join(some), encoding="utf-8")
    read = read_parses(source)
    records = {record["caption"]: record for record in map(json.loads, some)}
    assert list(read.parses) == list(records)
    for caption, parse in read.parses.items():
        record = records[caption]
        n = len(parse.words)
        numbers = [[(at - 1) % n + 1 + (at - 1) // n / 10 if at else 0 for at in edge[:2]] for edge in parse.collapsed]
        assert [[*at, edge[2]] for at, edge in zip(numbers, parse.collapsed, strict=True)] == record["ccprocessed"]
        basic = {(head, dependent, relation) for head, dependent, relation in record["basic"]}
        assert {(h, i, r) for i, (h, r) in enumerate(zip(parse.heads, parse.relations, strict=True), 1)} == basic
        assert (list(parse.words), list(parse.tags), list(parse.lemmas)) == (
            record["word"],
            record["tag"],
            record["lemma"],
        )
    copy = tmp_path / "copy.jsonl"
    assert write_parses(copy, ((caption, parse, "") for caption, parse in read.parses.items())) == len(records)
    again = read_parses(copy)
    assert again.parses == read.parses
    assert read.label == f"some.jsonl@{read.checksum}"
    assert len(read.checksum) == 8


def many_copies(n_phrases: int) -> Parse:
    """Return the parse of "dogs on a bed and on a bed ...", where every phrase but the first has a copy of the dogs."""
    words, tags, heads, relations = ["dogs"], ["NNS"], [0], ["root"]
    for phrase in range(n_phrases):
        start = len(words) + bool(phrase)
        noun = start + 3
        if phrase:
            words, tags, heads, relations = [*words, "and"], [*tags, "CC"], [*heads, 4], [*relations, "cc"]
        words += ["on", "a", f"bed{phrase}"]
        tags += ["IN", "DT", "NN"]
        heads += [noun, noun, 4 if phrase else 1]
        relations += ["case", "det", "conj" if phrase else "nmod:on"]
    edges = collapsed(words, tags, heads, relations)
    return Parse(tuple(words), tuple(tags), tuple(words), tuple(heads), tuple(relations), edges)


@pytest.mark.parametrize("n_phrases", [2, 10, 11, 12, 25])
def test_copied_words_are_read_back(tmp_path: Path, n_phrases: int) -> None:
    parse = many_copies(n_phrases)
    caption = " ".join(parse.words)
    n = len(parse.words)
    assert max(dependent for _, dependent, _ in parse.collapsed) == 1 + (n_phrases - 1) * n
    write_parses(tmp_path / "p.jsonl", [(caption, parse, "")])
    assert read_parses(tmp_path / "p.jsonl").parses == {caption: parse}


def test_copies_are_pairs_in_a_file(tmp_path: Path) -> None:
    """As numbers, copy 10 of word 1 would be word 2."""
    parse = many_copies(12)
    write_parses(tmp_path / "p.jsonl", [("dogs", parse, "")])
    (record,) = map(json.loads, (tmp_path / "p.jsonl").read_text().splitlines())
    copies = [dependent for _, dependent, relation in record["ccprocessed"] if relation == "conj:and"]
    assert copies == [[1, copy] for copy in range(1, 12)]


def test_a_caption_of_many_copies_scores_the_same_through_a_file(tmp_path: Path, meteor_tables: MeteorTables) -> None:
    candidate, reference = " ".join(many_copies(12).words), "dogs bed10"
    parses = {
        candidate: many_copies(12),
        reference: parsed("dogs/NNS/dogs bed10/NN/bed10", "0<1:root 1<2:nmod:on"),
    }
    write_parses(tmp_path / "p.jsonl", [(caption, parse, "") for caption, parse in parses.items()])
    captions = table([candidate], [[reference]])
    scores = [
        Spice(parser=parser, tokenizer="whitespace").statistics(captions).tolist()
        for parser in (KnownParses(parses), read_parses(tmp_path / "p.jsonl"))
    ]
    assert scores[0] == scores[1]


def test_universal_dependencies_version_2_is_read(tmp_path: Path) -> None:
    file = tmp_path / "english.conllu"
    file.write_text(ENGLISH)
    assert read_parses(file).parses == {
        "Two dogs are chased by a cat": Parse(
            ("Two", "dogs", "are", "chased", "by", "a", "cat"),
            ("CD", "NNS", "VBP", "VBN", "IN", "DT", "NN"),
            ("two", "dog", "be", "chase", "by", "a", "cat"),
            (2, 4, 4, 0, 7, 7, 4),
            ("nummod", "nsubjpass", "auxpass", "root", "case", "det", "nmod:agent"),
            (
                (0, 4, "root"),
                (2, 1, "nummod"),
                (4, 2, "nsubjpass"),
                (4, 3, "auxpass"),
                (7, 5, "case"),
                (7, 6, "det"),
                (4, 7, "nmod:agent"),
            ),
            ("NUM", "NOUN", "AUX", "VERB", "ADP", "DET", "NOUN"),
        )
    }


def test_enhanced_dependencies_of_another_language_are_read(tmp_path: Path) -> None:
    file = tmp_path / "german.conllu.gz"
    file.write_bytes(gzip.compress((GERMAN + "\n" + ENGLISH).encode()))
    read = read_parses(file).parses
    assert list(read) == ["In dem Garten spielen Hunde", "Two dogs are chased by a cat"]
    parse = read["In dem Garten spielen Hunde"]
    assert parse.tags == ("IN", "DT", "NN", "VBZ", "NNS")
    assert parse.heads == (3, 3, 4, 0, 4)
    assert (4, 3, "nmod:in") in parse.collapsed


def of_conllu(tmp_path: Path, *rows: str) -> Parse:
    """Return the parse of a sentence: lemma, universal and own tag, features, head, relation, enhanced dependencies."""
    lines = []
    for number, row in enumerate(rows, 1):
        lemma, universal, own, features, head, relation, enhanced = row.split()
        lines.append("\t".join((f"{number}", lemma, lemma, universal, own, features, head, relation, enhanced, "_")))
    (tmp_path / "p.conllu").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (parse,) = read_parses(tmp_path / "p.conllu").parses.values()
    return parse


def test_conjunctions_of_version_2_are_shared_out(tmp_path: Path) -> None:
    parse = of_conllu(
        tmp_path,
        "dog NOUN NN _ 4 nsubj _",
        "and CCONJ CC _ 3 cc _",
        "cat NOUN NN _ 1 conj _",
        "sleep VERB VBP _ 0 root _",
    )
    assert parse.heads == (4, 1, 1, 0)
    assert {(1, 3, "conj:and"), (4, 1, "nsubj"), (4, 3, "nsubj")} <= set(parse.collapsed)


@pytest.mark.parametrize("enhanced", [("_", "_", "_", "_"), ("2:nsubj", "0:root", "4:case", "2:obl:arg")])
def test_subtypes_are_no_prepositions(tmp_path: Path, enhanced: tuple[str, ...]) -> None:
    """Enhanced dependencies that are the basic ones again are not the collapsed ones."""
    rows = [
        "hund NOUN NN Number=Sing 2 nsubj",
        "sitzen VERB VV _ 0 root",
        "auf ADP APPR _ 4 case",
        "sofa NOUN NN _ 2 obl:arg",
    ]
    parse = of_conllu(tmp_path, *(f"{row} {deps}" for row, deps in zip(rows, enhanced, strict=True)))
    assert parse.relations == ("nsubj", "root", "case", "nmod")
    assert (2, 4, "nmod:auf") in parse.collapsed


def test_cases_behind_prepositions_are_dropped(tmp_path: Path) -> None:
    parse = of_conllu(
        tmp_path, "hund NOUN NN _ 2 nsubj 2:nsubj", "sitzen VERB VV _ 0 root 0:root",
        "auf ADP APPR _ 4 case 4:case", "sofa NOUN NN _ 2 obl 2:obl:auf:dat",
    )  # fmt: skip
    assert (2, 4, "nmod:auf") in parse.collapsed


def test_tags_of_other_sets_are_not_taken_for_penn_tags(tmp_path: Path) -> None:
    parse = of_conllu(tmp_path, "zwei NUM CARD _ 2 nummod _", "hund NOUN NN Number=Plur 0 root _")
    assert parse.tags == ("CD", "NNS")


def test_unknown_parser_name_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="'foo'") as caught:
        as_parse_source("foo")
    assert "corenlp, bundled" in caught.value.hint


def test_captions_without_a_parse_are_named(tmp_path: Path) -> None:
    read = read_parses(_plain(tmp_path))
    assert len(read.parse(["A DOG!"], [("a", "dog")])) == 1
    with pytest.raises(CaptionFileError, match=r"2 captions have no parse\n.*'a bird'"):
        read.parse(["a dog", "a bird", "a cat"], [("a", "dog"), ("a", "bird"), ("a", "cat")])


@pytest.mark.parametrize("parser", [5, b"bundled", ["bundled"], object(), KnownParses])
def test_unknown_parsers_are_refused(parser: object) -> None:
    with pytest.raises(ParameterError, match="is not a parser") as caught:
        as_parse_source(parser)  # type: ignore[arg-type]
    for form in ("'corenlp'", "'bundled'", "spacy:", ".jsonl", ".conllu", "parse(captions, words)"):
        assert form in caught.value.hint


def test_file_of_parses_records_its_parser(tmp_path: Path) -> None:
    file = tmp_path / "p.jsonl"
    write_parses(file, [("a", Parse(("a",), ("DT",), ("a",), (0,), ("root",), ()), "")], made_by="bundled-1")
    read = read_parses(file)
    assert read.made_by == ("bundled-1",)
    assert read.label == f"p.jsonl@{read.checksum}(bundled-1)"
    assert approximate(read.label)
    assert not approximate(read_parses(_plain(tmp_path)).label)


def _plain(tmp_path: Path) -> Path:
    (tmp_path / "plain.jsonl").write_text(_record())
    return tmp_path / "plain.jsonl"


def _record(**changes: object) -> str:
    record = {
        "word": ["a", "dog"],
        "tag": ["DT", "NN"],
        "lemma": ["a", "dog"],
        "basic": [[2, 1, "det"], [0, 2, "root"]],
    }
    return json.dumps({"caption": "a dog", **record, **changes})


def test_unfinished_file_of_parses_is_removed(tmp_path: Path) -> None:
    file = tmp_path / "p.jsonl"
    with pytest.raises(RuntimeError):
        write_parses(file, _broken())
    assert not list(tmp_path.iterdir())
    with pytest.raises(OutputError):
        write_parses(tmp_path / "no" / "p.jsonl", [])


def _broken() -> Iterator[tuple[str, Parse, str]]:
    yield "a", Parse(("a",), ("DT",), ("a",), (0,), ("root",), ((0, 1, "root"),)), ""
    raise RuntimeError
