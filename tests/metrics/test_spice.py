"""SPICE and SPIDEr: the official program's scores, given its parses; layers, rewards and explanations."""

from __future__ import annotations

import gc
import gzip
import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import captious
from captious.data import Captions
from captious.errors import ParameterError, shown
from captious.metrics.spice import Spice, statistics_of
from captious.metrics.spider import Spider
from captious.parsing.parse_files import write_parses
from captious.parsing.sources import ParsedCaptions
from captious.resources.meteor_tables import MeteorTables
from captious.scenes.layers import SceneGraphLayer, facts_of
from captious.scenes.tuples import tuples_of
from captious.text import PTB, WHITESPACE
from tests.support.corpora import references_table, table
from tests.support.parses import KnownParses, gold_parses, parse
from tests.support.selection import nightly_but

PARSES = {
    "two brown dogs sit on a sofa": parse(
        "two/CD brown/JJ dogs/NNS/dog sit/VBP on/IN a/DT sofa/NN",
        "0<4:root 3<1:nummod 3<2:amod 4<3:nsubj 4<7:nmod:on 7<5:case 7<6:det",
    ),
    "a dog is on a large couch": parse(
        "a/DT dog/NN is/VBZ/be on/IN a/DT large/JJ couch/NN",
        "0<7:root 2<1:det 7<2:nsubj 7<3:cop 7<4:case 7<5:det 7<6:amod",
    ),
    "a large dog": parse("a/DT large/JJ dog/NN", "0<3:root 3<1:det 3<2:amod"),
    "quickly": parse("quickly/RB", "0<1:root"),
}
TWO, ONE, LARGE, NOTHING = PARSES
RAW = re.compile("[^a-z0-9]")


@pytest.fixture
def parser() -> KnownParses:
    return KnownParses(PARSES)


@pytest.fixture
def spice(parser: KnownParses, meteor_tables: MeteorTables) -> Spice:
    return Spice(parser=parser)


def scored(metric: captious.Metric, candidate: str, *references: str) -> dict[str, float]:
    statistics = metric.statistics(table([candidate], [[*references]]))
    return dict(zip(metric.outputs, metric.aggregate(statistics)[0].tolist(), strict=True))


# ---- by hand


def test_spice_score_is_as_expected(spice: Spice) -> None:
    # dog, sofa, (dog, two), (dog, brown), (dog, sofa, sit on)
    # dog, couch, (couch, large), (dog, large), (dog, couch, on)
    scores = scored(spice, TWO, ONE, LARGE)
    expected = {
        "spice": 2 * (2 / 5) * (2 / 5) / (2 / 5 + 2 / 5),
        **{"spice-p": 2 / 5, "spice-r": 2 / 5, "spice-object": 1.0, "spice-attribute": 0.0, "spice-relation": 0.0},
        **{"spice-cardinality": np.nan, "spice-color": np.nan, "spice-size": 0.0},
    }
    assert list(scores) == list(expected)
    np.testing.assert_array_equal([*scores.values()], [*expected.values()])


def test_recall_may_exceed_one(meteor_tables: MeteorTables) -> None:
    """A plank and a table have nothing in common, but both are boards."""
    parses = KnownParses(
        {"plank table": parse("plank/NN table/NN", "0<1:root 1<2:dep"), "board": parse("board/NN", "0<1:root")}
    )
    scores = scored(Spice(parser=parses), "plank table", "board")
    assert (scores["spice-p"], scores["spice-r"], scores["spice"]) == (1.0, 2.0, 2 * 1.0 * 2.0 / 3.0)


@pytest.mark.parametrize(
    ("candidate", "references", "scores"),
    [
        ("", [TWO], [0.0, 0.0, 0.0, 0.0]),
        (TWO, [""], [0.0, 0.0, 0.0, np.nan]),
        (TWO, [NOTHING, "."], [0.0, 0.0, 0.0, np.nan]),
        ("", ["", ""], [0.0, 0.0, 0.0, np.nan]),
        (TWO, [TWO], [1.0, 1.0, 1.0, 1.0]),
        ("Two brown dogs sit on a sofa.", [TWO, ""], [1.0, 1.0, 1.0, 1.0]),
    ],
)
def test_captions_that_say_nothing(spice: Spice, candidate: str, references: list[str], scores: list[float]) -> None:
    outputs = scored(spice, candidate, *references)
    np.testing.assert_array_equal([*outputs.values()][:4], scores)


def test_corpus_scores_are_means_of_captions_that_have_one(spice: Spice) -> None:
    captions = table([TWO, ONE, LARGE, ""], [[ONE], [TWO], [LARGE], [NOTHING]])
    statistics = spice.statistics(captions)
    assert statistics.shape == (4, 18)
    assert np.isfinite(statistics).all()
    with np.errstate(all="raise"):
        per_caption = spice.aggregate(statistics)
        corpus = spice.aggregate(statistics.sum(axis=0))
    np.testing.assert_allclose(corpus[:3], per_caption[:, :3].mean(axis=0))
    np.testing.assert_allclose(corpus, np.nanmean(per_caption, axis=0))
    assert np.isnan(per_caption[:, 8]).tolist() == [False, True, False, True]


# ---- layers


def test_every_distinct_caption_is_parsed_once(parser: KnownParses, meteor_tables: MeteorTables) -> None:
    captions = table([TWO, "A large dog!", LARGE, ""], [[ONE, ONE + " ."], [ONE], [LARGE, ""], ["A large dog"]])
    Spice(parser=parser).statistics(captions)
    Spice(parser=parser).statistics(Captions((LARGE, ONE, TWO, NOTHING), captions.references))
    assert parser.asked == [ONE, LARGE, TWO, NOTHING, TWO]
    parses = captions.layer(ParsedCaptions(PTB, parser))[0].of_captions
    assert parses[1] is parses[2]
    assert parses[3].words == ()


@pytest.mark.parametrize("parsed_before", [False, True])
def test_tuples_are_the_same_whenever_captions_are_parsed(
    parser: KnownParses, meteor_tables: MeteorTables, parsed_before: bool
) -> None:
    captions = table([LARGE, LARGE], [[LARGE, TWO], [TWO]])
    layer = SceneGraphLayer(PTB, parser, meteor_tables)
    if parsed_before:
        captions.layer(ParsedCaptions(PTB, parser))
    candidates, references = captions.layer(layer)
    alone = [facts_of(tuples_of(PARSES[text]), meteor_tables).by_category for text in (LARGE, TWO)]
    assert [facts.by_category for facts in candidates] == [alone[0]] * 2
    assert references[1].by_category == alone[1]
    assert parser.asked == [LARGE, TWO]
    assert gc.isenabled()


def test_layers_depend_on_tokenizer_and_source(parser: KnownParses, meteor_tables: MeteorTables) -> None:
    captions = table([TWO], [[ONE]])
    for metric in (Spice(parser=parser), Spice(parser=KnownParses(PARSES)), Spice(parser=parser, tokenizer="spaces")):
        metric.statistics(captions)
    assert parser.asked == [ONE, TWO, ONE, TWO]


def test_words_are_cut_at_white_space(parser: KnownParses) -> None:
    layer = ParsedCaptions(WHITESPACE, parser)
    assert layer.of_texts([LARGE.replace(" ", "\u00a0"), LARGE]).of_captions == (PARSES[LARGE],) * 2


def test_parses_without_collapsed_dependencies_are_refused(meteor_tables: MeteorTables) -> None:
    metric = Spice(parser=KnownParses({"dog": parse("dog/NN", "")}))
    with pytest.raises(ParameterError, match="needs collapsed dependencies"):
        metric.statistics(table(["dog"], [["dog"]]))


# ---- parameters


def test_spice_uses_parses_of_a_file(spice: Spice, tmp_path: Path) -> None:
    file = tmp_path / "parses.jsonl"
    write_parses(file, ((caption, parsed, "") for caption, parsed in PARSES.items()))
    metric = Spice(parser=file)
    captions = table([TWO, LARGE], [[ONE], [ONE, ""]])
    np.testing.assert_array_equal(metric.statistics(captions), spice.statistics(captions))
    assert "|parser:parses.jsonl@" in metric.signatures()[0]


# ---- SPIDEr and rewards


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_spider_is_the_mean(parser: KnownParses, meteor_tables: MeteorTables) -> None:
    captions = table([TWO, ONE, LARGE, "", TWO], [[ONE], [TWO, LARGE], [LARGE], [NOTHING], [TWO]])
    spice = Spice(parser=parser).statistics(captions)[:, 0]
    cider_d = captious.CiderD().scores(captions)
    metric = Spider(parser=parser)
    statistics = metric.statistics(captions)
    np.testing.assert_allclose(metric.aggregate(statistics)[:, 0], (spice + cider_d) / 2, rtol=1e-12)
    corpus = metric.aggregate(statistics.sum(axis=0))
    np.testing.assert_allclose(corpus, [(spice.mean() + cider_d.mean()) / 2])
    stream = captious.Stream(metric)
    stream.update(captions)
    np.testing.assert_allclose([*stream.compute().values()], corpus)


# ---- explanations


def test_spice_explanation_has_the_counts_of_the_score(spice: Spice) -> None:
    explanation = spice.explain(TWO, [ONE, LARGE])
    assert explanation.candidate_tuples[0] == ("dog", "sofa", "sit on")
    assert explanation.reference_tuples[1] == (("dog", "large"), ("dog",))
    facts = {fact.names: (fact.kind, fact.match, fact.status) for fact in explanation.candidate}
    assert facts[(("sofa",),)] == ("object", (("couch",),), "synonyms")
    assert facts[(("dog",),)] == ("object", (("dog",),), "same")
    assert facts[("dog",), ("two",)] == ("attribute", None, None)
    assert facts[("dog",), ("sit on",), ("sofa",)] == ("relation", None, None)
    assert len(facts) == 5
    assert explanation.matched == sum(fact.match is not None for fact in explanation.candidate) == 2
    matched = {fact.names: fact.matched for fact in explanation.references}
    assert matched[(("couch",),)] is True
    assert matched[("dog",), ("large",)] is False
    scores = scored(spice, TWO, ONE, LARGE)
    assert (explanation.score, explanation.precision, explanation.recall) == (
        scores["spice"],
        scores["spice-p"],
        scores["spice-r"],
    )


def test_spice_explanation_of_an_empty_caption_is_empty(spice: Spice) -> None:
    explanation = spice.explain("", [TWO, ""])
    assert (
        explanation.candidate,
        explanation.reference_tuples[1],
        explanation.score,
        explanation.precision,
        explanation.recall,
    ) == ((), (), 0, 0, 0)


# ---- the official program

PAIRS = {
    "flickr8k": 5_822,
    "flickr8k_cf": 47_288,
    "composite": 11_985,
    **dict.fromkeys(["karpathy_sys0", "karpathy_sys1", "karpathy_sys2"], 5_000),
}


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def pairs(data: Path, name: str) -> Iterator[tuple[str, list[str]]]:
    """Yield candidates with the references that they were scored against, in the order of the scores."""
    if name.startswith("karpathy"):
        for row in rows(data / "gold" / f"{name}.jsonl.gz"):
            yield row["tokens"], row["ref_tokens"]
    elif name == "flickr8k":
        for row in rows(data / "flickr8k" / "expert.jsonl.gz"):
            yield row["candidate"], row["refs"]
    elif name == "flickr8k_cf":
        with gzip.open(data / "flickr8k" / "crowdflower_refs.json.gz", "rt", encoding="utf-8") as file:
            references = json.load(file)
        for row in rows(data / "flickr8k" / "crowdflower.jsonl.gz"):
            yield row["candidate"], references[row["image"]]
    else:
        judged = list(rows(data / "composite" / "composite.jsonl.gz"))
        human = {(row["source"], row["image"]): plain(row["candidate"]) for row in judged if row["slot"] == 1}
        for row in judged:
            own = human[row["source"], row["image"]]
            yield row["candidate"], [text for text in row["refs"] if plain(text) != own] or row["refs"]


def plain(text: str) -> str:
    return RAW.sub("", text.lower())


def differences(data: Path, name: str, n: int) -> int:
    """Of how many pairs a score of any kind is not the official one."""
    chosen = list(islice(pairs(data, name), n))
    tokenizer = WHITESPACE if name.startswith("karpathy") else PTB  # these are tokens already
    texts = {text for candidate, references in chosen for text in (candidate, *references)}
    parser = KnownParses(gold_parses(data, {" ".join(tokenizer(text)) for text in texts}))
    metric = Spice(parser=parser, tokenizer=tokenizer)
    images = {references: row for row, references in enumerate(dict.fromkeys(tuple(pair[1]) for pair in chosen))}
    merged = references_table([list(references) for references in images]).layer(metric.layer)
    candidates = metric.layer.of_texts([candidate for candidate, _ in chosen])
    ours = metric.aggregate(statistics_of(candidates, [merged[images[tuple(pair[1])]] for pair in chosen]))
    official = islice(rows(data / "spice" / f"scores_{name}.jsonl.gz"), n)
    return sum(not agree(scores, values) for scores, values in zip(ours, official, strict=True))


def agree(scores: NDArray[np.float64], official: dict[str, dict[str, float | None]]) -> bool:
    """Return whether scores equal the official ones to the last bit, where these exist."""
    expected = {f"spice-{category.lower()}": values["f"] for category, values in official.items()}
    expected |= {"spice": official["All"]["f"], "spice-p": official["All"]["pr"], "spice-r": official["All"]["re"]}
    pairs = [
        (score, expected[output]) for output, score in zip(Spice.outputs, scores, strict=True) if output in expected
    ]
    return all(np.isnan(score) if value is None else score == value for score, value in pairs)


@pytest.mark.parametrize("name", ["flickr8k", "composite", "karpathy_sys0"])
def test_official_scores(shared_data: Path, meteor_tables: MeteorTables, name: str) -> None:
    assert differences(shared_data, name, 400) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", nightly_but("flickr8k karpathy_sys0", PAIRS))
def test_spice_equals_all_official_scores(shared_data: Path, meteor_tables: MeteorTables, name: str) -> None:
    assert differences(shared_data, name, PAIRS[name]) == 0


# ---- sentence by sentence


def test_tuples_of_sentences_are_united(parser: KnownParses, meteor_tables: MeteorTables) -> None:
    whole, split = (Spice(parser=parser, split=split) for split in ("none", "sentences"))
    for candidate, reference in ((TWO, ONE), (ONE, LARGE), (NOTHING, TWO)):
        assert scored(split, candidate, reference) == pytest.approx(scored(whole, candidate, reference), nan_ok=True)
    # dog, sofa, (dog, two), (dog, brown), (dog, sofa, sit on), (dog, large) against dog, couch, (dog, large), ...
    united = scored(split, f"{TWO}. {LARGE}!", f"{ONE}\n\n{LARGE}")
    assert united["spice-p"] == pytest.approx(3 / 6)
    assert united["spice-r"] == pytest.approx(3 / 5)
    explained = split.explain(f"{TWO}. {LARGE}!", [ONE, LARGE])
    assert explained.score == pytest.approx(united["spice"])
    rows = split.row_scores(references_table([[ONE, LARGE]]), None)(np.array([0]), [f"{TWO}. {LARGE}!"])
    assert rows[0, 0] == pytest.approx(united["spice"])


def test_the_split_is_in_signatures_and_layers(parser: KnownParses, meteor_tables: MeteorTables) -> None:
    whole, split = Spice(parser=parser), Spice(parser=parser, split="sentences")
    assert "split" not in whole.parameters
    assert split.parameters["split"] == "sentences"
    assert whole.layer != split.layer
    bundled = SceneGraphLayer(PTB, Spice(parser="bundled").parser, meteor_tables)
    assert bundled.stored_as != SceneGraphLayer(PTB, bundled.source, meteor_tables, "sentences").stored_as
    assert "split" in Spider(parser=parser, split="sentences").parameters


def test_prepared_references_keep_scene_graphs_of_sentences(meteor_tables: MeteorTables, tmp_path: Path) -> None:
    references = {1: ["A dog runs. It carries a red ball.", "A dog."], 2: ["Two cats sleep. They lie on a sofa."]}
    candidates = {1: "A dog with a ball. The grass is green.", 2: "Cats on a couch."}
    metrics = ["spice:split=sentences,parser=bundled", "spice:parser=bundled"]
    prepared = captious.prepare(references, metrics, path=tmp_path / "references.prepared")
    ours, theirs = (captious.score(candidates, given, metrics) for given in (prepared, references))
    assert [r.score for r in ours.values()] == [r.score for r in theirs.values()]
    assert ours[metrics[0]].score != ours[metrics[1]].score


def test_long_captions_are_told_before_they_are_parsed(parser: KnownParses, meteor_tables: MeteorTables) -> None:
    captions = table(["a dog " * 40] * 10, [["a dog"]] * 10)
    whole, split = (Spice(parser=parser, split=split) for split in ("none", "sentences"))
    told = [*whole.warnings(captions, None), *split.warnings(captions, None)]
    assert [shown(warning, "command line") for warning in told] == [
        "10 captions have more than 60 words, and SPICE parses each as one sentence, as the official program does: "
        "-m spice:split=sentences parses sentence by sentence."
    ]
