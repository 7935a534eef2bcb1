"""capture and soft-spice: slow reimplementations on real captions of several sentences, and cases by hand."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from captious.data import Captions
from captious.metrics.capture import ABSTRACT_NOUNS, Capture
from captious.metrics.soft_spice import SoftSpice, phrases_of
from captious.models import Encoder
from captious.models.sentences import sentence_vectors
from captious.parsing.sources import ParsedSentences
from captious.resources.meteor_tables import MeteorTables
from tests.oracles import scene_phrases as oracle
from tests.support.corpora import table
from tests.support.encoders import save_tiny_encoder
from tests.support.parses import KnownParses, parse

pytestmark = pytest.mark.models

CANDIDATES = [
    "A small brown dog runs on the grass. It carries a red ball.",
    "Two men sit on a sofa.",
    "",
    "Quickly!",
    "A cat sleeps on a couch next to a large window. The image has a calm atmosphere.",
]
REFERENCES = [
    ["A little dog with a ball is running on a lawn.", "A puppy carries a toy. The grass is green."],
    ["Two people are sitting on a couch."],
    ["A bus."],
    ["A bus.", ""],
    ["A gray cat lies on a sofa. There is a big window behind it."],
]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    return Encoder(str(save_tiny_encoder("bert", tmp_path_factory.mktemp("encoder"))), device="cpu")


@pytest.fixture(scope="module")
def captions(shared_data: Path) -> Captions:
    """Texts by hand, and paragraphs about videos by systems and by people."""
    folder = shared_data / "factvc"
    with gzip.open(folder / "activitynet_factuality_annotation.json.gz") as file:
        videos = json.load(file)
    with gzip.open(folder / "activitynet_gt_1_para.json.gz") as file:
        paragraphs = json.load(file)
    candidates, references = [*CANDIDATES], [*REFERENCES]
    for video in [video for video in videos if video in paragraphs][:1]:
        sentences = next(iter(videos[video].values()))["sentences"]
        candidates.append(" ".join(sentences).replace("[", "").replace("]", ""))
        references.append([paragraphs[video]])
    return table(candidates, references)


def like(encoder: Encoder) -> oracle.Similarity:
    vectors: dict[str, np.ndarray] = {}

    def cosine(one: str, other: str) -> float:
        for text in (one, other):
            if text not in vectors:
                vectors[text] = sentence_vectors(encoder, [text]).vectors[0]
        return float(vectors[one] @ vectors[other])

    return cosine


def test_capture_is_that_of_the_slow_reimplementation(
    meteor_tables: MeteorTables, captions: Captions, encoder: Encoder
) -> None:
    metric = Capture(model=encoder, parser="bundled")
    sentences = ParsedSentences(metric.tuples.parses)

    def side(texts: list[str]) -> list[tuple[oracle.Tuples, set[str]]]:
        return [
            (
                tuples,
                {
                    lemma.lower()
                    for parse in parses
                    for lemma, tag in zip(parse.lemmas, parse.tags, strict=True)
                    if tag[:2] == "NN"
                },
            )
            for tuples, parses in zip(metric.tuples.of_texts(texts), sentences.of_texts(texts), strict=True)
        ]

    ours, theirs = side([*captions.candidates]), side([*captions.references.texts])
    expected = []
    for i, (start, end) in enumerate(pairwise(captions.references.offsets.tolist())):
        rows = [
            oracle.capture(ours[i], theirs[k], {*ABSTRACT_NOUNS.words}, meteor_tables.jar, like(encoder))
            for k in range(start, end)
        ]
        expected.append([float(np.mean([row[output] for row in rows])) for output in Capture.outputs])
    found = metric.scores(captions)
    np.testing.assert_allclose(found, expected, atol=2e-6)
    assert (found[:2, 0] > 0.3).all()
    assert not found[2:4].any()


@pytest.mark.parametrize("variant", SoftSpice.variants)
def test_soft_spice_is_that_of_the_slow_reimplementation(captions: Captions, encoder: Encoder, variant: str) -> None:
    metric = SoftSpice(model=encoder, parser="bundled", variant=variant)
    ours = metric.tuples.of_texts(captions.candidates)
    theirs = metric.tuples.of_texts(captions.references.texts)
    expected = [
        oracle.soft_spice(ours[i], theirs[start:end], like(encoder), two_sided=variant == "two-sided")
        for i, (start, end) in enumerate(pairwise(captions.references.offsets.tolist()))
    ]
    np.testing.assert_allclose(metric.scores(captions), expected, atol=2e-6)


def test_tuples_become_phrases() -> None:
    tuples = [("dog", "ball", "play with"), ("dog", "brown"), ("ball",), ("dog",)]
    assert phrases_of(tuples) == ("dog", "ball", "dog play with ball", "brown dog")


def capture_of(encoder: Encoder, candidate: str, reference: str, **parameters: object) -> dict[str, float]:
    metric = Capture(model=encoder, parser="bundled", **parameters)
    return dict(zip(metric.outputs, metric.scores(table([candidate], [[reference]]))[0].tolist(), strict=True))


def test_synonyms_match_whole(meteor_tables: MeteorTables, encoder: Encoder) -> None:
    scores = capture_of(encoder, "a small dog sits on a sofa", "a little dog sits on a couch")
    assert scores["capture-object"] == pytest.approx(1, abs=1e-5)
    assert scores["capture-attribute"] == pytest.approx(1, abs=1e-5)
    assert scores["capture-relation"] == pytest.approx(1, abs=1e-5)
    assert scores["capture"] == pytest.approx(1, abs=1e-5)


def test_nouns_of_relations_are_objects(meteor_tables: MeteorTables, encoder: Encoder) -> None:
    """A noun in a compound is no object of its own: here, only the relation has "sheep" as one."""
    text, dependencies = "sheep/NN dog/NN chases/VBZ/chase ball/NN", "0<3:root 2<1:compound 3<1:nsubj 3<4:dobj"
    parses = {"sheep dog chases ball": parse(text, dependencies), "sheep": parse("sheep/NN", "0<1:root")}
    tuples = (("sheep", "ball", "chase"), ("dog", "sheep"), ("ball",))
    metric = Capture(model=encoder, parser=KnownParses(parses))
    assert metric.tuples.of_texts([*parses]) == [tuples, (("sheep",),)]
    ours, theirs = (tuples, {"sheep", "dog", "ball"}), ((("sheep",),), {"sheep"})
    expected = oracle.capture(ours, theirs, {*ABSTRACT_NOUNS.words}, meteor_tables.jar, like(encoder))
    found = metric.scores(table(["sheep dog chases ball"], [["sheep"]]))[0]
    np.testing.assert_allclose(found, [expected[output] for output in Capture.outputs], atol=2e-6)


def test_abstract_nouns_are_no_objects(meteor_tables: MeteorTables, encoder: Encoder) -> None:
    text = "a dog in the background of the image"
    assert capture_of(encoder, text, "a dog")["capture-p"] == pytest.approx(5 / 12, abs=1e-5)
    all_objects = capture_of(encoder, text, "a dog", abstract_nouns=["none"])
    assert all_objects["capture-p"] < 0.3
    metric = Capture(model=encoder, abstract_nouns=["image", "dog"])
    assert str(metric.parameters["abstract-nouns"]).startswith("own")


def test_a_complete_caption_has_recall_and_a_careful_one_precision(
    meteor_tables: MeteorTables, encoder: Encoder
) -> None:
    reference = "A dog sleeps on a sofa. A lamp stands near a window."
    careful = capture_of(encoder, "A dog sleeps on a sofa.", reference)
    chatty = capture_of(encoder, f"{reference} A car is on a street. A horse eats an apple.", reference)
    assert careful["capture-p"] > careful["capture-r"]
    assert chatty["capture-r"] > chatty["capture-p"]
