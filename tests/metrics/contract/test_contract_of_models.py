"""The contract, over the metrics on contextual encoders, each with a small random model.

As test_contract.py, but for rounding: what is encoded together differs in the last digits of single precision.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious.data import Captions
from captious.errors import ParameterError
from captious.metrics.contract import registry
from captious.metrics.contract.metric import Metric
from captious.metrics.shared.frequencies import TokenFrequencies
from captious.metrics.smurf import PUBLISHED, SmurfConstants
from captious.models import Encoder
from tests.support.corpora import large_corpus, references_table, table
from tests.support.encoders import random_head, save_tiny_encoder
from tests.support.every_metric import MODEL_VARIANTS, MODELS
from tests.support.parses import KnownParses
from tests.support.tiny_clip import save_pictures, save_tiny_clip

pytestmark = pytest.mark.models

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("PIL")

#: The last digits of single precision. Those of SMURF's parts grow when they are divided by a standard deviation.
ROUNDING = {"smurf": 1e-3}
#: The metric of image features has tests of its own.
NAMES = [name for name in MODELS if name != "leic"]
#: Metrics on images.
OF_IMAGES = ("clipscore", "refclipscore")
VARIANTS = [*((name, variant) for name in NAMES for variant in registry.get(name).variants), *MODEL_VARIANTS]

CORPUS = large_corpus(40, seed=3)
HARD = table(
    ["", "dog", "a dog", "", "3 1/2 (555) 555-1234", "dog " * 40],
    [["a dog", ""], ["dog"], [""], ["", ""], ["call (555) 555-1234 now", "3 1/2 dogs"], ["dog", "dog dog dog"]],
)
Make = Callable[..., Metric]


@pytest.fixture(scope="module")
def encoders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two encoders of text, two of text and images, and pictures of all images."""
    folder = tmp_path_factory.mktemp("encoders")
    found = {seed: save_tiny_encoder("bert", folder / seed, seed=int(seed)) for seed in ("0", "1")}
    for seed in ("0", "1"):
        (folder / f"clip-{seed}").mkdir()
        found[f"clip-{seed}"] = save_tiny_clip(folder / f"clip-{seed}", seed=int(seed))
    (folder / "pictures").mkdir()
    return found | {"pictures": save_pictures(folder / "pictures", [f"{i}.png" for i in range(40)])}


@pytest.fixture(params=VARIANTS, ids=["@".join(each) for each in VARIANTS])
def make(request: pytest.FixtureRequest, encoders: dict[str, Path]) -> Make:
    """Makes the metric with a small model, and with other parameters if these are given."""
    name, variant = request.param

    def built(**parameters: Any) -> Metric:
        encoder = Encoder(str(encoders["clip-0" if name in OF_IMAGES else "0"]))
        with_model = {"model": encoder, "variant": variant, **parameters}
        if name in OF_IMAGES:
            with_model = {"images": encoders["pictures"], **with_model}
        if name == "concur":
            with_model = {"weights": random_head(encoder), **with_model}
        return registry.get(name)(**with_model)

    return built


@pytest.fixture
def metric(make: Make) -> Metric:
    return make()


def assert_close(metric: Metric, actual: Any, expected: Any) -> None:
    np.testing.assert_allclose(actual, expected, rtol=0, atol=ROUNDING.get(metric.name, 1e-5))


def pieces(captions: Captions) -> list[Captions]:
    n = len(captions)
    return [captions.select(range(a, b)) for a, b in ((0, n // 5), (n // 5, n // 5 + 1), (n // 5 + 1, n))]


@pytest.mark.parametrize("captions", [CORPUS.table(), HARD], ids=["many", "hard"])
@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_statistics_of_pieces_are_those_of_the_whole(metric: Metric, captions: Captions) -> None:
    state = metric.fit(captions.references)
    whole = metric.statistics(captions, state)
    assert whole.dtype == np.float64
    assert whole.shape[0] == len(captions)
    assert np.isfinite(whole).all()
    parts = [metric.statistics(piece, state) for piece in pieces(captions)]
    assert_close(metric, np.vstack(parts), whole)


def test_order_does_not_matter(metric: Metric) -> None:
    captions = CORPUS.table()
    order = np.random.default_rng(5).permutation(len(captions))
    expected = metric.statistics(captions, metric.fit(captions.references))
    shuffled = captions.select(order)
    assert_close(metric, metric.statistics(shuffled, metric.fit(shuffled.references)), expected[order])


def test_a_row_depends_on_its_own_candidate_only(metric: Metric) -> None:
    captions = CORPUS.table()
    candidates = list(captions.candidates)
    candidates[7] = "unheard of words"
    changed = Captions(tuple(candidates), captions.references)
    state = metric.fit(captions.references)
    others = np.arange(len(captions)) != 7
    assert_close(metric, metric.statistics(changed, state)[others], metric.statistics(captions, state)[others])


def test_empty_table_has_no_rows_of_statistics(metric: Metric) -> None:
    captions = CORPUS.table()
    state = metric.fit(captions.references)
    k = metric.statistics(captions, state).shape[1]
    assert metric.statistics(Captions((), references_table([])), state).shape == (0, k)


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_streams_merge_to_the_corpus_score(make: Make) -> None:
    captions = CORPUS.table()
    metric = make()
    expected = metric.aggregate(metric.statistics(captions, metric.fit(captions.references)).sum(axis=0))
    streams = [captious.Stream(make()) for _ in range(3)]
    for stream, piece in zip(streams, pieces(captions), strict=True):
        stream.update(piece, piece.references)
    for other in streams[1:]:
        streams[0].merge(other)
    assert list(streams[0].compute()) == [output + metric.suffix() for output in metric.outputs]
    assert_close(metric, [*streams[0].compute().values()], expected)


def others(metric: type[Metric], encoders: dict[str, Path]) -> dict[str, object]:
    """Return another value of each parameter."""
    parts = [np.array([0.0, 1.0]), np.array([0.5, 1.0]), np.array([1.0, 4.0])]
    constants = SmurfConstants.of(*parts, mima_model="a", spurts_model="b", name="mine", source="two captions")
    other = Encoder(str(encoders["clip-1" if metric.name in OF_IMAGES else "1"]))
    idf: object = True
    if metric.name == "yi2020":
        idf = TokenFrequencies.of(references_table([["a dog"], ["the cat"]]).texts, Encoder(str(encoders["0"])))
    values = {
        "model": other,
        "mima_model": other,
        "spurts_model": other,
        "layer": 1,
        "token_idf": idf,
        "rescale": (0.1, 0.2, 0.3),
        "threshold": 0.25,
        "combine": False,
        "cut": False,
        "remove": False,
        "stop_words": ["the", "dog"],
        "constants": constants,
        "tokenizer": "spaces",
        "parser": KnownParses({}),
        "split": "none",
        "abstract_nouns": ["dog"],
        "prompt": "this is",
        "w": 1.0,
    }
    if metric.name == "concur":
        values |= {"weights": random_head(Encoder(str(encoders["0"])), seed=1, name="other")}
    # The language of concur chooses among weights that the package has for the variant light; images are data.
    return {name: values[name] for name in metric.declared if name not in ("variant", "language", "images")}


def test_every_parameter_is_in_the_signature_and_keeps_streams_apart(make: Make, encoders: dict[str, Path]) -> None:
    metric = make()
    distinct = {metric.signatures(metric.fit(CORPUS.table().references))}
    changed = others(type(metric), encoders)
    for name, value in changed.items():
        other = make(**{name: value})
        assert other.signatures(other.fit(CORPUS.table().references)) not in distinct, f"{name} is not in the signature"
        distinct.add(other.signatures(other.fit(CORPUS.table().references)))
        with pytest.raises(ParameterError, match="cannot be merged"):
            captious.Stream(metric).merge(captious.Stream(other))
    assert PUBLISHED.name != "mine"
    for signature in distinct:
        for output, text in zip(metric.outputs, signature, strict=True):
            name, *parts = text.split("|")
            assert name == output
            is_of_light = output in ("concur-precision", "concur-recall")  # which no encoder changes
            assert f"variant:{'light' if is_of_light else metric.variant}" in parts
            assert parts[-1].startswith("captious:")
