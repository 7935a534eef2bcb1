"""Settings: the metrics that they reach, precedence, and refusals."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import captious
from captious.data import Captions
from captious.errors import CaptiousError, ParameterError, ResourceError, UnknownNameError
from captious.metrics.contract import registry
from captious.metrics.contract.metric import MeanMetric, Metric, State
from captious.metrics.contract.parameters import label_of
from captious.metrics.contract.registry import Request
from captious.metrics.contract.selection import select
from captious.metrics.contract.settings import Settings
from captious.metrics.shared.frequencies import DocumentFrequencies
from captious.metrics.shared.objects import ImageObjects
from captious.models import Encoder, WordVectors
from captious.models.chat import ChatModel
from captious.native import MOST_THREADS, threads
from captious.text import PTB, WHITESPACE
from tests.support.corpora import large_corpus, references_table
from tests.support.every_metric import INPUTS, MISSING, MODELS
from tests.support.parses import KnownParses

IDF = DocumentFrequencies.of(references_table([["a dog"]] * 9), PTB)
MODEL = Encoder("a-model")
VECTORS = WordVectors.of(["dog", "cat"], [[1, 0], [0, 1]])
PARSER = KnownParses({})
IMAGES = Path("images")
TRAINING = references_table([["a dog"]])
JUDGE = ChatModel("a-model", "http://localhost:1/v1")

OBJECTS = ImageObjects({1: frozenset({"dog"})})

#: A value of each setting that metrics take.
VALUES: dict[str, Any] = {
    "tokenizer": WHITESPACE,
    "idf": IDF,
    "model": MODEL,
    "vectors": VECTORS,
    "parser": PARSER,
    "images": IMAGES,
    "objects": OBJECTS,
    "training": TRAINING,
    "judge": JUDGE,
}


def parts(metric: Any) -> tuple[Any, ...]:
    """Return the parts of a metric, or the metric itself."""
    return getattr(metric, "metrics", (metric,))


#: Where a metric has it.
FOUND: dict[str, Callable[[Any], list[object]]] = {
    "tokenizer": lambda metric: [metric.tokenizer],
    "idf": lambda metric: [getattr(metric, "cider_d", metric).idf],
    "model": lambda metric: (
        [part.encoder for part in (metric.mima, metric.spurts)] if metric.name == "smurf" else [metric.encoder]
    ),
    "vectors": lambda metric: [part.vectors for part in parts(metric) if hasattr(part, "vectors")],
    "parser": lambda metric: [part.parser for part in parts(metric) if hasattr(part, "parser")],
    "images": lambda metric: [metric.images],
    "objects": lambda metric: [metric.objects],
    "training": lambda metric: [metric.training],
    "judge": lambda metric: [metric.judge],
}
#: The metrics that use it.
USERS = {
    setting: [name for name in registry.metric_names() if setting in registry.get(name).declared] for setting in VALUES
}
#: One that does not.
OTHERS = {name: "bertscore" if name == "tokenizer" else "bleu-4" for name in VALUES}


def metric_with(name: str, **settings: Any) -> Metric:
    """Return a metric under settings, and under those that it cannot do without."""
    if "images" in registry.get(name).declared:
        settings = {"images": IMAGES, **settings}
    if "training" in registry.get(name).declared:
        settings = {"training": TRAINING, **settings}
    if "judge" in registry.get(name).declared:
        settings = {"judge": JUDGE, **settings}
    return Request(name).make(registry.get(name), Settings(**settings))


# ---- where they go


def test_every_setting_has_its_tests() -> None:
    assert {*VALUES, "language", "references_as", "threads"} == {field.name for field in fields(Settings)}
    assert VALUES.keys() == USERS.keys() == FOUND.keys() == OTHERS.keys()


#: Metrics that need files, which their own tests bring.
OF_FILES = ("amber", "fense", "leic", "spider-fl")


@pytest.mark.parametrize(
    ("setting", "name"),
    [(setting, name) for setting, names in USERS.items() for name in names if name not in OF_FILES],
)
def test_a_setting_reaches_every_metric_that_has_the_parameter(setting: str, name: str) -> None:
    if name in MISSING and name not in (*MODELS, *INPUTS):
        pytest.skip(MISSING[name])
    metric = metric_with(name, **{setting: VALUES[setting]})
    assert all(value is VALUES[setting] or value == VALUES[setting] for value in FOUND[setting](metric))


def test_registered_metric_declares_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registered", {})

    @captious.register("dogs")
    class Dogs(captious.Bleu):
        outputs = ("dogs-1", "dogs-2", "dogs-3", "dogs-4")

        vectors = captious.ResourceParameter(default=None)

    (chosen,) = select("dogs", Settings(vectors=VECTORS))
    assert isinstance(chosen.metric, Dogs)
    assert chosen.metric.vectors is VECTORS
    with pytest.raises(ParameterError, match="the setting idf was given"):
        select("dogs", Settings(idf=IDF))


def test_settings_reach_the_metrics_that_use_them() -> None:
    idf = DocumentFrequencies.of(references_table([["a dog"]] * 9), WHITESPACE)
    bleu, cider = select(["bleu-1", "cider-d"], Settings(idf=idf))
    assert isinstance(cider.metric, captious.CiderD)
    assert cider.metric.idf is idf
    # The frequencies know how they were counted; metrics without them keep their own way.
    assert cider.metric.tokenizer is WHITESPACE
    assert bleu.metric.tokenizer is PTB


def test_settings_give_vectors_or_a_model() -> None:
    both = Settings(vectors=VECTORS, model=MODEL)
    with pytest.raises(ParameterError, match="takes word vectors or a model, not both") as caught:
        select("mowe", both)
    assert "mowe:model=none" in caught.value.hint
    assert "mowe:vectors=none" in caught.value.hint
    words, context = (select(text, both)[0].metric for text in ("mowe:model=none", "mowe:vectors=none"))
    assert isinstance(words, captious.Mowe)
    assert isinstance(context, captious.Mowe)
    assert words.vectors is VECTORS
    assert context.encoder is MODEL


# ---- what goes first


def test_written_parameters_go_first() -> None:
    texts = ["rouge-s", "rouge-s@paper:tokenizer=ptb-raw"]
    plain, written = (requested.metric for requested in select(texts, Settings(tokenizer="spaces")))
    assert [plain.tokenizer.name, written.tokenizer.name] == ["spaces", "ptb-raw"]


def test_models_that_are_written_go_first() -> None:
    texts = ["bertscore:model=its-own", "mima", "smurf:mima_model=other"]
    own, shared, parts = (requested.metric for requested in select(texts, Settings(model="for-all")))
    assert isinstance(own, captious.BertScore)
    assert isinstance(shared, captious.Mima)
    assert isinstance(parts, captious.Smurf)
    assert [own.encoder.model, shared.encoder.model] == ["its-own", "for-all"]
    assert [parts.mima.encoder.model, parts.spurts.encoder.model] == ["other", "for-all"]


def test_explicit_none_overrides_a_setting() -> None:
    (chosen,) = select("cider-d:idf=none", Settings(idf=IDF))
    assert isinstance(chosen.metric, captious.CiderD)
    assert chosen.metric.idf is None


def test_tokenizer_must_agree_with_the_frequencies() -> None:
    for ask in (
        lambda: select("cider-d:tokenizer=whitespace", Settings(idf=IDF)),
        lambda: select("cider-d", Settings(idf=IDF, tokenizer="whitespace")),
    ):
        with pytest.raises(ParameterError, match="counted with the tokenizer ptb, not whitespace"):
            ask()


def test_metrics_that_are_made_keep_their_own() -> None:
    metric = captious.RougeL(tokenizer="ptb-raw")
    rouge, bleu = select([metric, "bleu-1"], Settings(tokenizer="spaces"))
    assert rouge.metric is metric
    assert metric.tokenizer.name == "ptb-raw"
    assert bleu.metric.tokenizer.name == "spaces"


# ---- what nothing uses


@pytest.mark.parametrize("setting", VALUES)
def test_a_setting_that_no_metric_uses_is_refused(setting: str) -> None:
    with pytest.raises(ParameterError) as caught:
        select([OTHERS[setting]], Settings(**{setting: VALUES[setting]}))
    assert caught.value.message == f"the setting {setting} was given, but no requested metric uses it"
    assert caught.value.where.startswith(f"{setting}: ")
    help = caught.value.hint
    assert help.startswith(f"remove {setting}, or request by name ")
    assert {*USERS[setting]} == {*help.removeprefix(f"remove {setting}, or request by name ").split(", ")}


def test_a_language_picks_tokenizers_and_is_never_refused() -> None:
    bleu, meteor = select(["bleu-1", "meteor"], Settings(language="pt-BR"))
    assert [bleu.metric.tokenizer.name, meteor.metric.tokenizer.name] == ["unicode", "unicode"]
    assert "|language:pt|" in meteor.metric.signatures()[0]
    assert select("bleu-1", Settings(language="de", tokenizer="spaces"))[0].metric.tokenizer.name == "spaces"
    assert select("chrf", Settings(language="de")).warnings == ()
    with pytest.raises(ParameterError, match="the setting tokenizer was given"):
        select("chrf", Settings(language="de", tokenizer="spaces"))
    assert select(["bleu-1", "concur"], Settings(language="fr")).warnings == (
        "concur: made for English, so scores of captions in French mean nothing.",
    )
    assert select("concur", Settings(language="de")).warnings == ()
    assert select("concur", Settings(language="en")).warnings == ()


def test_settings_do_not_apply_to_metric_objects() -> None:
    with pytest.raises(ParameterError, match="the setting idf was given"):
        select([captious.CiderD()], Settings(idf=IDF))


def test_setting_needs_one_metric_that_uses_it() -> None:
    assert select(["bleu-4", "cider-d"], Settings(idf=IDF)).labels == ("bleu-4", "cider-d")


def test_settings_of_a_run_concern_every_metric() -> None:
    assert select("bleu-4", Settings(references_as="cat", threads=1)).labels == ("bleu-4",)


@pytest.mark.parametrize(
    ("value", "label"),
    [("file.idf", "file.idf"), (Path("a/b"), "a/b"), (MODEL, "a-model"), (WHITESPACE, "whitespace"), (PARSER, "known")],
)
def test_value_label_is_as_expected(value: object, label: str) -> None:
    assert label_of(value) == label


# ---- values


def test_values_are_resolved_when_settings_are_made(tmp_path: Path) -> None:
    IDF.save(tmp_path / "dogs.idf")
    settings = Settings(tokenizer="whitespace", idf=tmp_path / "dogs.idf", model="a-model", images=str(IMAGES))
    assert settings.tokenizer is WHITESPACE
    assert isinstance(settings.idf, DocumentFrequencies)
    assert settings.idf.n_documents == 9
    assert settings.model == MODEL
    assert settings.of_metrics.keys() == {"tokenizer", "idf", "model", "images"}
    assert not Settings().of_metrics
    assert not Settings(references_as="cat", threads=2).of_metrics


def test_settings_do_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        Settings().threads = 2  # type: ignore[misc]
    with pytest.raises(TypeError):
        Settings("ptb")  # type: ignore[misc]


@pytest.mark.parametrize("value", [5, b"bert", ["bert"], object(), "", Encoder])
def test_value_that_is_not_a_model_is_refused(value: Any) -> None:
    for make in (Settings, captious.BertScore, captious.Mowe):
        with pytest.raises(ParameterError, match="is not a model") as caught:
            make(model=value)
        for form in ("Hugging Face hub", "folder", "captious.Encoder"):
            assert form in caught.value.hint


def test_a_number_is_no_file() -> None:
    for make in (captious.Concur, captious.NNEval, captious.Coverage):
        with pytest.raises(ParameterError, match=r"invalid weights for .*: 1"):
            make(weights=1)
    with pytest.raises(ParameterError, match="stop words must be strings"):
        captious.Yi2020(stop_words=1)
    os.fstat(1)  # still open


@pytest.mark.parametrize("value", [5, b"x", ["x"], object()])
@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("tokenizer", "is not a tokenizer"),
        ("idf", "does not hold document frequencies"),
        ("vectors", "are not word vectors"),
        ("parser", "is not a parser"),
        ("images", "is neither a folder of images nor a file of image features"),
    ],
)
def test_settings_of_wrong_types_are_refused(setting: str, message: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=message):
        Settings(**{setting: value})


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"tokenizer": "moses"}, UnknownNameError),
        ({"references_as": "best"}, UnknownNameError),
        ({"references_as": None}, UnknownNameError),
        ({"idf": "none.idf"}, ResourceError),
        ({"vectors": "none.txt"}, CaptiousError),
        ({"parser": "none.jsonl"}, CaptiousError),
    ],
)
def test_values_that_do_not_exist(
    arguments: dict[str, Any], error: type[CaptiousError], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error):
        Settings(**arguments)


_CALLS: dict[str, Callable[[Any], object]] = {
    "score": lambda settings: captious.score(["a dog"], [["a dog"]], "rouge-l", settings=settings),
    "check": lambda settings: captious.check(["a dog"], settings=settings),
    "explain": lambda settings: captious.explain("a dog", ["a dog"], "chair", settings=settings),
    "reward": lambda settings: captious.reward([["a dog"]], "concur", settings=settings),
}


@pytest.mark.parametrize(
    ("settings", "name"), [({"language": "de"}, "language"), ("de", "tokenizer"), (0, "tokenizer")]
)
@pytest.mark.parametrize("call", _CALLS)
def test_what_is_no_settings_is_refused(call: str, settings: Any, name: str) -> None:
    with pytest.raises(ParameterError, match=rf"is not a captious\.Settings\n.*Settings\({name}="):
        _CALLS[call](settings)


@pytest.mark.parametrize("number", [0, -1, MOST_THREADS + 1, 1.5, "2"])
def test_invalid_thread_count_is_refused(number: Any) -> None:
    with pytest.raises(ParameterError, match=f"number of threads {number!r}") as caught:
        Settings(threads=number)
    assert "1 to 1,024" in caught.value.hint


# ---- threads


class Threads(MeanMetric):
    """Says how many threads kernels may use."""

    name = "threads"

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        return np.full(len(captions), float(threads()))


@pytest.fixture
def captions() -> Captions:
    return large_corpus(300, seed=2).table()


def run(captions: Captions, metrics: list[str | Metric], settings: Settings | None) -> captious.Report:
    candidates = dict(zip(captions.ids, captions.candidates, strict=True))
    return captious.score(candidates, captions.references, metrics, settings=settings)


@pytest.mark.filterwarnings("ignore:.* references are empty.*:captious.CaptiousWarning")
def test_kernels_use_so_many_threads_within_a_run(captions: Captions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTIOUS_THREADS", "3")
    for settings, expected in ((Settings(threads=2), 2), (Settings(threads=MOST_THREADS), 1024), (None, 3)):
        assert run(captions, [Threads()], settings)["threads"].score == expected
        assert threads() == 3


def test_settings_show_what_was_set() -> None:
    assert repr(Settings(tokenizer="spaces", threads=2)) == "Settings(tokenizer='spaces', threads='2')"
    assert repr(Settings(idf="coco")) == f"Settings(idf={label_of(Settings(idf='coco').idf)!r})"
    assert repr(Settings()) == "Settings()"


def test_a_misspelled_parameter_cannot_be_set() -> None:
    with pytest.raises(
        AttributeError, match="no parameter 'sigmaa', and parameters cannot be changed: did you mean sigma"
    ):
        captious.CiderD().sigmaa = 3  # type: ignore[attr-defined]
