"""The tokenizer and the scorers as code written for pycocoevalcap calls them."""

from __future__ import annotations

import pickle
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.compat import pycocoevalcap
from captious.compat.pycocoevalcap import WMD, Bleu, Cider, Meteor, PTBTokenizer, Rouge, Spice
from captious.errors import (
    CaptionTypeError,
    CaptiousError,
    EncodingError,
    InputError,
    MissingCandidatesError,
    MissingExtraError,
    UnknownImageError,
)
from tests.compat.conftest import (
    GTS,
    MEAN_CIDER,
    MEAN_ROUGE,
    RES,
)
from tests.compat.copies import CLASSES
from tests.support.every_metric import MISSING

needs_tables = pytest.mark.usefixtures("meteor_tables")
no_meteor = pytest.mark.skipif("meteor" in MISSING, reason=MISSING.get("meteor", ""))
SCORERS = [Bleu, pytest.param(Meteor, marks=no_meteor), Rouge, Cider, WMD]


def compute(scorer: Any, gts: Any, res: Any) -> tuple[Any, Any]:
    """Return scores without printing anything."""
    return scorer.compute_score(gts, res, verbose=0) if isinstance(scorer, Bleu) else scorer.compute_score(gts, res)


@pytest.mark.parametrize(
    ("module", "name"),
    [("eval", "COCOEvalCap"), ("wmd.wmd", "WMD"), *(item for item in CLASSES.items() if "_scorer" not in item[0])],
)
def test_modules_are_named_as_the_toolkits(module: str, name: str) -> None:
    class_ = getattr(import_module(f"captious.compat.pycocoevalcap.{module}"), name)
    assert class_ is getattr(pycocoevalcap, name)
    assert name in pycocoevalcap.__all__


# ---- tokenizer


@pytest.mark.parametrize("control", list("\n\r\v\f\x1c\x85\u2028\u2029"))
def test_tokenizer_takes_every_caption_for_itself(control: str) -> None:
    raw = {1: [{"caption": f"a{control}cat"}, {"caption": "a dog"}], 2: [{"caption": f"{control}"}, {"caption": "cow"}]}
    tokenized = PTBTokenizer().tokenize(raw)
    assert [len(captions) for captions in tokenized.values()] == [2, 2]
    assert tokenized[1][1] == "a dog"
    assert tokenized[2][1] == "cow"
    assert "\n" not in "".join(tokenized[1] + tokenized[2])


def test_tokenizer_looks_at_what_comes_next() -> None:
    captions = [{"caption": "platform b."}, {"caption": "The train."}]
    assert PTBTokenizer().tokenize({1: captions}) == {1: ["platform b", "the train"]}
    assert PTBTokenizer().tokenize({1: captions[:1], 2: captions[1:]}) == {1: ["platform b"], 2: ["the train"]}
    assert PTBTokenizer().tokenize({1: captions[:1]}) == {1: ["platform b."]}
    assert PTBTokenizer().tokenize({1: captions[::-1]}) == {1: ["the train", "platform b."]}


@pytest.mark.parametrize("make", SCORERS)
def test_two_lists_are_scored_by_position(make: Any) -> None:
    of_lists = make().compute_score([*GTS.values()], [*RES.values()])
    by_id = make().compute_score(GTS, RES)
    assert of_lists[0] == by_id[0]
    assert np.array_equal(of_lists[1], by_id[1])


@pytest.mark.parametrize(
    ("captions", "kind"),
    [
        ("a cat", CaptionTypeError),
        ([{"caption": "a \ud800 cat"}], EncodingError),
    ],
)
def test_tokenizer_refuses_invalid_captions(captions: Any, kind: type[CaptiousError]) -> None:
    with pytest.raises(kind, match="image_id 17"):
        PTBTokenizer().tokenize({16: [{"caption": "fine"}], 17: captions})


# ---- scores of the toy corpus


@needs_tables
def test_meteor_normalizes_as_the_toolkit() -> None:
    """White space other than blanks, and three bars, which are never a word."""
    cases = {
        "a  dog   runs": (["a dog runs", "a  dog"], 1.0),
        "trail ": (["trail"], 1.0),
        " lead": (["lead lead"], 0.2162162162162162),
        "can't n't 's": (["can 't n 't 's"], 0.19857137094185898),
        "猫 a": (["猫 a b"], 0.29170666383042776),
        "a\tb": (["a b"], 1.0),
        "a\u00a0b c": (["a b c"], 1.0),
        "x|||y z": (["xy z"], 1.0),
        "a ||| b": (["a b"], 1.0),
        "|||": (["a"], 0.0),
        "-lrb- a -rrb-": (["-lrb- a -rrb- b"], 0.2801919259156008),
    }
    gts = {candidate: references for candidate, (references, _) in cases.items()}
    corpus, per_image = Meteor().compute_score(gts, {candidate: [candidate] for candidate in cases})
    assert dict(zip(gts, per_image, strict=True)) == {
        candidate: pytest.approx(score, abs=1e-15) for candidate, (_, score) in cases.items()
    }
    assert corpus == pytest.approx(0.4064809353449724, abs=1e-15)


@needs_tables
def test_three_bars_in_a_reference_are_dropped() -> None:
    """The toolkit's protocol breaks there."""
    assert Meteor().compute_score({1: ["a ||| dog"]}, {1: ["a dog"]}) == (1.0, [1.0])


@pytest.mark.usefixtures("no_tables")
@pytest.mark.parametrize("make", [Meteor, Spice])
def test_meteor_and_spice_without_tables_are_an_error(make: Any) -> None:
    scorer = make()  # programs make all scorers before they use one
    assert scorer.method() in ("METEOR", "SPICE")
    with pytest.raises(MissingExtraError) as caught:
        scorer.compute_score(GTS, RES)
    assert caught.value.hint.startswith("pip install 'captious[meteor]'")


def test_rouge_counts_empty_words() -> None:
    def score(candidate: str, reference: str) -> float:
        return Rouge().calc_score([candidate], [reference])

    assert score("", "") == 1
    assert score("", "a") == 0
    assert score("x  y", "p  q") > 0
    assert score("x y", "p q") == 0
    assert score("a b", "a\u00a0b") == 0


def test_rouge_beta_changes_scores() -> None:
    rouge = Rouge()
    assert rouge.beta == 1.2
    rouge.beta = 2.0
    assert rouge.compute_score(GTS, RES)[0] == pytest.approx(0.4864819004524887, abs=1e-15)
    assert Rouge().compute_score(GTS, RES)[0] == pytest.approx(MEAN_ROUGE, abs=1e-15)


def test_cider_sigma_changes_scores() -> None:
    assert Cider(sigma=1.0).compute_score(GTS, RES)[0] == pytest.approx(0.862313597468002, abs=1e-14)
    assert Cider(["ignored"], ["too"], 4, 6.0).compute_score(GTS, RES)[0] == pytest.approx(MEAN_CIDER, abs=1e-14)


def test_bleu_and_cider_split_at_any_white_space() -> None:
    gts = {1: ["a red  bus"], 2: ["a cat"]}
    res = {1: ["a\u00a0red\u3000bus\x1c"], 2: ["a cat"]}
    apart = {1: ["a red bus"], 2: ["a cat"]}
    for scorer in (Bleu(), Cider()):
        assert np.array_equal(compute(scorer, gts, res)[1], compute(scorer, apart, apart)[1])


# ---- ids and edges


@pytest.mark.parametrize("make", SCORERS)
@given(order=st.permutations(list(GTS)), reference_order=st.permutations(list(GTS)))
def test_scores_belong_to_ids(make: Any, order: list[int], reference_order: list[int]) -> None:
    corpus, per_image = compute(make(), GTS, RES)
    gts, res = {image: GTS[image] for image in reference_order}, {image: RES[image] for image in order}
    shuffled_corpus, shuffled = compute(make(), gts, res)
    assert shuffled_corpus == pytest.approx(corpus, abs=1e-14)
    positions = [list(GTS).index(image) for image in reference_order]
    assert np.array_equal(np.asarray(shuffled).T, np.asarray(per_image).T[positions])


@pytest.mark.parametrize("make", SCORERS)
def test_any_key_is_an_id(make: Any) -> None:
    keys = [("a", 1), 2.5, frozenset(), "x", 0]
    gts = dict(zip(keys, GTS.values(), strict=True))
    res = dict(zip(keys, RES.values(), strict=True))
    assert np.array_equal(compute(make(), gts, res)[1], compute(make(), GTS, RES)[1])


@pytest.mark.parametrize(
    ("make", "score"), [(Bleu, 0.0), (Rouge, 1.0), (Cider, 0.0), pytest.param(Meteor, 0.0, marks=no_meteor)]
)
def test_empty_captions_have_fixed_scores(make: Any, score: float) -> None:
    corpus, per_image = compute(make(), {1: [""], 2: ["", ""]}, {1: [""], 2: [""]})
    assert np.all(np.asarray(corpus) == score)
    assert np.all(np.asarray(per_image) == score)


def test_cider_of_one_image_is_zero() -> None:
    assert Cider().compute_score({1: ["a b"]}, {1: ["a b"]})[0] == 0


# ---- refusals


@pytest.mark.parametrize("make", [Bleu, Rouge, Cider, WMD])
def test_scorers_but_meteor_refuse_tuples(make: Any) -> None:
    with pytest.raises(CaptionTypeError, match="image_id 2"):
        compute(make(), {1: ["a"], 2: ("b",)}, {1: ["a"], 2: ["b"]})


# The golden record has the refusals of each scorer; these are the forms that it has not.
@pytest.mark.parametrize("make", SCORERS)
@pytest.mark.parametrize(
    ("gts", "res", "kind", "message"),
    [
        ({}, {1: ["a"]}, UnknownImageError, "image_id 1"),
        ([["a"]], {0: ["a"]}, InputError, "gts is a list"),
        ({1: ["a"]}, ["a"], InputError, "res is a list"),
        ({1: ["a"]}, {1: ["a"], "b.jpg": ["b"]}, UnknownImageError, "image_id 'b.jpg'"),
        ({1: ["a"]}, {"1": ["a"]}, UnknownImageError, "make them the same"),
        ({1: ["a"], 2: [{"caption": "b"}]}, {1: ["a"], 2: ["b"]}, CaptionTypeError, "PTBTokenizer"),
        ({1: ["a"], 2: ["b \udfff"]}, {1: ["a"], 2: ["b"]}, EncodingError, "image_id 2"),
    ],
)
def test_scorers_refuse_invalid_captions(
    make: Any, gts: Any, res: Any, kind: type[CaptiousError], message: str
) -> None:
    with pytest.raises(kind, match=message) as caught:
        compute(make(), gts, res)
    assert caught.value.hint
    assert type(pickle.loads(pickle.dumps(caught.value))) is type(caught.value)


def test_a_refusal_names_the_first_few_images() -> None:
    gts = {image: ["a"] for image in range(3000)}
    with pytest.raises(MissingCandidatesError) as caught:
        Rouge().compute_score(gts, {5: ["a"]})
    assert "2,999 of 3,000" in str(caught.value)
    assert "image_id 0, 1, 2, 3, 4, ..." in str(caught.value)
