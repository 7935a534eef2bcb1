"""captious.compat.aac_metrics: keys, tensors and scores of aac-metrics."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from captious.compat import redirected, uninstall
from captious.errors import ParameterError
from captious.resources import meteor_tables
from tests.compat.conftest import GTS, RES

torch = pytest.importorskip("torch")

from captious.compat import aac_metrics  # noqa: E402

pytestmark = pytest.mark.models

EXAMPLES = Path(__file__).parents[2] / "examples"
CANDIDATES = [candidate for (candidate,) in RES.values()]
MULT_REFERENCES = [*GTS.values()]
RAW = ["A dog's running, fast!", "Two men play guitar.", "Wind blows; rain (heavy) falls"]
RAW_REFERENCES = [["A dog runs.", "The dog is running"], ["Two men play - guitars"], ["It's raining", "wind, and rain"]]


@pytest.mark.filterwarnings("ignore::captious.errors.CaptiousWarning")
def test_default_metrics_are_those_of_the_toolkit() -> None:
    pytest.importorskip("pycocoevalcap")
    corpus, sents = aac_metrics.evaluate(CANDIDATES, MULT_REFERENCES)
    names = ["bleu_1", "bleu_2", "bleu_3", "bleu_4", "meteor", "rouge_l", "cider_d", "spice", "spider"]
    assert [*corpus] == [*sents] == names
    assert corpus["meteor"].item() == pytest.approx(0.25752952595284834, abs=1e-12)
    for scores in (corpus, sents):
        assert torch.equal(scores["spider"], (scores["cider_d"] + scores["spice"]) / 2)
    metric = aac_metrics.Evaluate()
    for candidate, references in zip(CANDIDATES, MULT_REFERENCES, strict=True):
        metric.update([candidate], [references])
    of_class = metric.compute()
    assert all(torch.equal(a[name], b[name]) for a, b in zip((corpus, sents), of_class, strict=True) for name in names)


def test_preprocessing_tokenizes_captions() -> None:
    by_default, _ = aac_metrics.evaluate(RAW, RAW_REFERENCES, metrics="bleu_1")
    as_given, _ = aac_metrics.evaluate(RAW, RAW_REFERENCES, preprocess=False, metrics="bleu_1")
    own, _ = aac_metrics.evaluate(RAW, RAW_REFERENCES, lambda texts: [text[:1].lower() for text in texts], ["bleu_1"])
    assert len({scores["bleu_1"].item() for scores in (by_default, as_given, own)}) == 3


@pytest.mark.parametrize(
    ("name", "key"),
    [("BLEU", "bleu_4"), ("BLEU1", "bleu_1"), ("BLEU3", "bleu_3"), ("ROUGEL", "rouge_l"), ("CIDErD", "cider_d")],
)
def test_classes_score_like_functions(name: str, key: str) -> None:
    corpus, sents = aac_metrics.evaluate(CANDIDATES, MULT_REFERENCES, preprocess=False, metrics=[key])
    metric = getattr(aac_metrics, name)()
    assert metric.get_output_names() == (key,)
    of_class = metric(CANDIDATES, MULT_REFERENCES)
    assert torch.equal(of_class[0][key], corpus[key])
    assert torch.equal(of_class[1][key], sents[key])
    alone = getattr(aac_metrics, name)(return_all_scores=False)
    alone.update(CANDIDATES[:2], MULT_REFERENCES[:2])
    alone.update(CANDIDATES[2:], MULT_REFERENCES[2:])
    assert torch.equal(alone.compute(), corpus[key])
    alone.reset()
    alone.update(mult_references=MULT_REFERENCES[:2], candidates=CANDIDATES[:2])
    assert not torch.equal(alone.compute(), corpus[key])


def test_captions_have_the_names_of_the_toolkit() -> None:
    """Nothing that is misspelled or too much is left out."""
    wrong: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((CANDIDATES,), {"references": MULT_REFERENCES}),
        ((CANDIDATES, MULT_REFERENCES, MULT_REFERENCES), {}),
        ((CANDIDATES, MULT_REFERENCES), {"mult_references": MULT_REFERENCES}),
    ]
    for captions, named in wrong:
        with pytest.raises(TypeError):
            aac_metrics.ROUGEL().update(*captions, **named)
    with pytest.raises(TypeError):
        aac_metrics.dcase2023_evaluate(CANDIDATES, MULT_REFERENCES, metrics="all")


BERT_SCORES = ("bert_score.precision", "bert_score.recall", "bert_score.f1")


def test_bert_score(minilm: str) -> None:
    corpus, sents = aac_metrics.functional.bert_score_mrefs(CANDIDATES, MULT_REFERENCES, model=minilm, device="cpu")
    assert (*corpus,) == (*sents,) == BERT_SCORES
    assert {tensor.dtype for scores in (corpus, sents) for tensor in scores.values()} == {torch.float32}
    assert {tensor.shape for tensor in sents.values()} == {torch.Size([5])}
    assert [sents[name][0].item() for name in BERT_SCORES] == pytest.approx([1, 1, 1], abs=1e-6)  # the same caption
    assert [sents[name][4].item() for name in BERT_SCORES] == [0, 0, 0]  # an empty one
    assert all(torch.equal(corpus[name], sents[name].mean()) for name in BERT_SCORES)
    metric = aac_metrics.BERTScoreMRefs(return_all_scores=False, model=minilm, device=torch.device("cpu"))
    assert metric.get_output_names() == BERT_SCORES
    assert torch.equal(metric(CANDIDATES, MULT_REFERENCES), corpus["bert_score.f1"])
    _, least = aac_metrics.functional.bert_score_mrefs(CANDIDATES, MULT_REFERENCES, model=minilm, reduction="min")
    _, median = aac_metrics.functional.bert_score_mrefs(
        CANDIDATES, MULT_REFERENCES, model=minilm, reduction=torch.median
    )
    assert torch.equal(least["bert_score.f1"], median["bert_score.f1"])  # of two, the lower one
    assert (least["bert_score.f1"] <= sents["bert_score.f1"]).all()


def test_bert_score_takes_captions_and_the_names_of_models(minilm: str) -> None:
    bert_score = aac_metrics.functional.bert_score_mrefs
    with pytest.raises(ValueError, match="at least 1"):
        bert_score([], [], model=minilm)
    with pytest.raises(ValueError, match="reduction"):
        bert_score(CANDIDATES, MULT_REFERENCES, model=minilm, reduction="sum")
    with pytest.raises(ParameterError, match="takes no objects"):
        bert_score(CANDIDATES, MULT_REFERENCES, model=torch.nn.Identity(), tokenizer=len)
    with pytest.raises(ParameterError, match="cuda:7"):
        aac_metrics.evaluate(CANDIDATES, MULT_REFERENCES, metrics="bert_score", device="cuda:7")


@pytest.mark.parametrize("options", [{}, {"idf": True}, {"reduction": "mean"}, {"reduction": "min"}])
@pytest.mark.filterwarnings("ignore")
def test_parity_of_bert_score(aac_toolkit: ModuleType, minilm: str, options: dict[str, Any]) -> None:
    candidates = ["A dog runs.", "two men are playing the guitar on a stage", "rain falls on the the roof"]
    references_of = [GTS[1], GTS[2], ["heavy rain", "rain on a roof", "it is raining outside"]]
    # One at a time: the toolkit mixes candidates of different lengths up.
    for candidate, references in zip(candidates, references_of, strict=True):
        arguments: dict[str, Any] = {"model": minilm, "device": "cpu", **options}
        theirs = aac_toolkit.bert_score_mrefs([candidate], [references], **arguments)
        ours = aac_metrics.functional.bert_score_mrefs([candidate], [references], **arguments)
        for their_scores, our_scores in zip(theirs, ours, strict=True):
            assert [*our_scores] == [*their_scores]
            for key, scores in their_scores.items():
                assert torch.allclose(our_scores[key], scores, rtol=0, atol=1e-5)


def test_unsupported_metrics_are_refused() -> None:
    for metrics in ("dcase2024", "all", "vocab", ["bleu_1", "mace"]):
        with pytest.raises(ParameterError, match=r"vocab|mace"):
            aac_metrics.Evaluate(metrics=metrics)
    with pytest.raises(ParameterError, match="clap_sim"):
        aac_metrics.CLAPSim()
    with pytest.raises(ParameterError, match="vocab"):
        aac_metrics.dcase2024_evaluate(CANDIDATES, MULT_REFERENCES)


@pytest.fixture
def undo() -> Iterator[None]:
    yield
    uninstall()


@pytest.mark.usefixtures("undo")
def test_imports_of_the_toolkit_are_redirected() -> None:
    before = {name for name in sys.modules if name.split(".")[0] == "aac_metrics"}
    with redirected("aac_metrics"):
        package = importlib.import_module("aac_metrics")
        assert package.evaluate is aac_metrics.evaluate
        module = importlib.import_module("aac_metrics.functional.cider_d")
        functional = importlib.import_module("aac_metrics.functional")
        assert functional.cider_d is module.cider_d  # the function, not the module
        assert importlib.import_module("aac_metrics.classes.spider").SPIDEr is package.SPIDEr
        assert importlib.import_module("aac_metrics.utils.tokenization").preprocess_mono_sents(["A dog."]) == ["a dog"]
        assert importlib.import_module("aac_metrics.classes").evaluate.Evaluate is package.Evaluate
        for folder, file, name in [("functional", "fense", "fense"), ("classes", "sbert_sim", "SBERTSim")]:
            module = importlib.import_module(f"aac_metrics.{folder}.{file}")
            assert getattr(module, name) is getattr(importlib.import_module(f"aac_metrics.{folder}"), name)
        importlib.import_module("aac_metrics.download").download_metrics(verbose=2)
        assert importlib.import_module("aac_metrics.utils.checks").check_java_path("java")
        package.set_default_java_path("/usr/bin/java")
        assert importlib.import_module("aac_metrics.utils.globals").get_default_java_path() == "/usr/bin/java"
        package.set_default_java_path(None)
        assert package.get_default_java_path() == "java"
        assert importlib.import_module("aac_metrics.classes.bert_score_mrefs").BERTScoreMRefs is package.BERTScoreMRefs
    assert {name for name in sys.modules if name.split(".")[0] == "aac_metrics"} == before


def test_spider_max_takes_the_best_candidate_of_each_recording() -> None:
    several = [
        [candidate, references[0], "a dog"] for candidate, references in zip(CANDIDATES, MULT_REFERENCES, strict=True)
    ]
    metric = aac_metrics.SPIDErMax(return_all_cands_scores=True)
    corpus, sents = metric(mult_references=MULT_REFERENCES, mult_candidates=several)
    for n in range(3):
        _, alone = aac_metrics.functional.spider([row[n] for row in several], MULT_REFERENCES)
        assert torch.equal(sents["spider_all"][:, n], alone["spider"])
    assert torch.equal(sents["spider_max"], sents["spider_all"].max(dim=1).values)
    assert torch.equal(corpus["spider_max"], sents["spider_max"].mean())
    with pytest.raises(ValueError, match="same number"):
        aac_metrics.functional.spider_max([["a"], ["a", "b"]], MULT_REFERENCES[:2])


OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("bleu", {}),
    ("bleu_2", {}),
    ("bleu", {"n": 3, "option": "shortest", "return_1_to_n": True}),
    ("bleu", {"option": "average", "tokenizer": list}),
    ("rouge_l", {}),
    ("rouge_l", {"beta": 2.0}),
    ("cider_d", {}),
    ("cider_d", {"n": 2, "sigma": 3.0, "scale": 1.0}),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_functions_equal_aac_metrics(aac_toolkit: ModuleType, name: str, options: dict[str, Any]) -> None:
    candidates = ["a dog runs in the park", "two men play guitar", "a cat", "rain falls on the the roof"]
    references = [GTS[1], GTS[2], GTS[3], ["rain falls on a roof", "heavy rain hits the roof"]]
    theirs = getattr(aac_toolkit, name)(candidates, references, **options)
    ours = getattr(aac_metrics.functional, name)(candidates, references, **options)
    for their_scores, our_scores in zip(theirs, ours, strict=True):
        assert [*our_scores] == [*their_scores]
        for key, scores in their_scores.items():
            assert our_scores[key].dtype == scores.dtype
            assert torch.allclose(our_scores[key], scores, rtol=0, atol=1e-12)
    alone = getattr(aac_metrics.functional, name)(candidates, references, return_all_scores=False, **options)
    their_own = getattr(aac_toolkit, name)(candidates, references, return_all_scores=False, **options)
    assert torch.allclose(alone, their_own, rtol=0, atol=1e-12)


def test_rouge_of_no_captions_is_nan_as_in_aac_metrics() -> None:
    corpus, sents = aac_metrics.functional.rouge_l([], [])
    assert corpus["rouge_l"].isnan()
    assert (sents["rouge_l"].dtype, [*sents["rouge_l"]]) == (torch.float64, [])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_java_metrics_equal_aac_metrics(
    aac_toolkit: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if (jars := meteor_tables.installed_folder("pycocoevalcap")) is None:
        pytest.skip("no pycocoevalcap")
    if shutil.which("java") is None:
        pytest.skip("no java")
    cache = tmp_path / "cache" / "aac-metrics"
    cache.mkdir(parents=True)
    (cache / "meteor").symlink_to(jars / "meteor")
    (cache / "stanford_nlp").symlink_to(jars / "tokenizer")
    for name in ("functional.meteor", "utils.tokenization"):  # it knows only some versions of Java
        monkeypatch.setattr(importlib.import_module(f"aac_metrics.{name}"), "check_java_path", lambda path: True)
    references = json.loads((EXAMPLES / "references.json").read_text())
    captions = {
        str(caption["image_id"]): caption["caption"] for caption in json.loads((EXAMPLES / "improved.json").read_text())
    }
    inputs = [*captions.values()], [references[image] for image in captions]
    names = ["bleu_1", "bleu_4", "meteor", "rouge_l", "cider_d"]
    paths = {"cache_path": str(tmp_path / "cache"), "java_path": "java", "tmp_path": str(tmp_path)}
    theirs = aac_toolkit.evaluate(*inputs, metrics=names, **paths)
    for their_scores, our_scores in zip(theirs, aac_metrics.evaluate(*inputs, metrics=names, **paths), strict=True):
        assert [*our_scores] == [*their_scores] == names
        for name in names:
            assert torch.allclose(our_scores[name], their_scores[name], rtol=0, atol=1e-12)
    numbers = {"params": [0.5, 0.6, 0.7, 0.8], "weights": [1, 0.5, 0.4, 0.2]}
    _, their_scores = aac_toolkit.meteor(*inputs, **numbers, **{k: v for k, v in paths.items() if k != "tmp_path"})
    _, our_scores = aac_metrics.functional.meteor(*inputs, **numbers)
    assert torch.allclose(our_scores["meteor"], their_scores["meteor"], rtol=0, atol=1e-12)
