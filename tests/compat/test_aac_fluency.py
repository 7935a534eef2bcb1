"""FENSE, SPIDEr-FL and their parts in captious.compat.aac_metrics: keys, tensors and scores of aac-metrics."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from captious.errors import ParameterError, ResourceError
from captious.metrics.fense import Fense
from tests.support.corpora import table

torch = pytest.importorskip("torch")

from captious.compat import aac_metrics  # noqa: E402

pytestmark = pytest.mark.models

CANDIDATES = ["A dog runs.", "two men are playing the guitar on a stage", "rain falls on the the roof", "a cat, and a"]
REFERENCES = [
    ["a dog is running", "the dog runs"],
    ["two men play guitars"],
    ["heavy rain", "rain on a roof"],
    ["a cat"],
]
PROBABILITIES = [
    f"fer.{name}_prob" for name in ("add_tail", "repeat_event", "repeat_adv", "remove_conj", "remove_verb", "error")
]
SPIDER = ["cider_d", "spice", "spider"]
PUBLISHED = "echecker_clotho_audiocaps_base"


@pytest.fixture
def checkpoint(minilm: str, tmp_path: Path) -> str:
    """A detector with a random linear layer on MiniLM."""
    import transformers

    generator = torch.Generator().manual_seed(5)
    encoder = transformers.AutoModel.from_pretrained(minilm).state_dict()
    state = {f"encoder.{name}": tensor for name, tensor in encoder.items()}
    state["clf.weight"] = torch.randn(
        6, state["encoder.embeddings.word_embeddings.weight"].shape[1], generator=generator
    )
    state["clf.weight"] /= 4  # for probabilities between 0.05 and 0.95
    state["clf.bias"] = torch.randn(6, generator=generator)
    path = tmp_path / f"{PUBLISHED}.ckpt"
    torch.save({"model_type": minilm, "num_classes": 6, "state_dict": state}, path)
    return str(path)


@pytest.fixture
def options(checkpoint: str) -> dict[str, Any]:
    """A threshold that two of the captions are above."""
    _, sents = aac_metrics.functional.fer(CANDIDATES, echecker=checkpoint, return_probs=True)
    threshold = sents["fer.error_prob"].double().sort().values[1:3].mean().item()
    return {"echecker": checkpoint, "error_threshold": threshold}


def test_fense_reduces_the_similarity_by_the_penalty(minilm: str, options: dict[str, Any]) -> None:
    corpus, sents = aac_metrics.functional.fense(CANDIDATES, REFERENCES, sbert_model=minilm, device="cpu", **options)
    assert [*corpus] == [*sents] == ["sbert_sim", "fer", "fense"]
    metric = Fense(model=minilm, detector=options["echecker"], threshold=options["error_threshold"])
    expected = metric.scores(table(CANDIDATES, REFERENCES))
    assert sents["fense"].tolist() == pytest.approx(expected[:, 0], abs=1e-12)
    assert sents["fer"].tolist() == expected[:, 1].tolist()
    assert corpus["fer"] == 0.5
    assert corpus["fense"].item() == pytest.approx(expected[:, 0].mean(), abs=1e-12)
    milder = aac_metrics.functional.fense(
        CANDIDATES, REFERENCES, False, sbert_model=minilm, penalty=0.0, device=None, **options
    )
    assert milder.item() == pytest.approx(corpus["sbert_sim"].item(), abs=1e-12)


def test_classes_score_like_functions(minilm: str, options: dict[str, Any]) -> None:
    fense = aac_metrics.FENSE(sbert_model=minilm, return_probs=True, **options)
    assert fense.get_output_names() == ("sbert_sim", "fer", "fense", *PROBABILITIES)
    fense.update(CANDIDATES[:1], REFERENCES[:1])
    fense.update(CANDIDATES[1:], REFERENCES[1:])
    corpus, sents = fense.compute()
    assert {*sents} == {*fense.get_output_names()}
    fer = aac_metrics.FER(return_all_scores=False, **options)
    fer.update(CANDIDATES)
    assert fer.get_output_names() == ("fer",)
    assert fer.compute() == corpus["fer"]
    sbert_sim = aac_metrics.SBERTSim(sbert_model=minilm)
    assert sbert_sim.get_output_names() == ("sbert_sim",)
    assert torch.equal(sbert_sim(CANDIDATES, REFERENCES)[1]["sbert_sim"], sents["sbert_sim"])
    spider_fl = aac_metrics.SPIDErFL(**options)
    assert spider_fl.get_output_names() == (*SPIDER, "spider_fl", "fer", *PROBABILITIES)


@pytest.mark.filterwarnings("ignore")
def test_evaluate_finds_the_checkpoint_that_the_toolkit_has_downloaded(
    checkpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FENSE_DATA", str(Path(checkpoint).parent))
    corpus, sents = aac_metrics.dcase2023_evaluate(CANDIDATES, REFERENCES, device="cpu")
    assert [*corpus] == [*sents] == ["meteor", *SPIDER, *PROBABILITIES, "fer", "spider_fl"]
    kept = 1 - 0.9 * sents["fer"]
    assert torch.equal(sents["spider_fl"], sents["spider"] * kept)
    assert torch.equal(corpus["spider_fl"], sents["spider_fl"].mean())
    of_class = aac_metrics.DCASE2023Evaluate(device="cpu")(CANDIDATES, REFERENCES)[1]
    assert torch.equal(of_class["spider_fl"], sents["spider_fl"])
    assert aac_metrics.evaluate(CANDIDATES, REFERENCES, metrics="fer")[0]["fer"] == corpus["fer"]


def test_missing_models_are_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, checkpoint: str) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("FENSE_DATA", str(tmp_path / "empty"))
    for make in (aac_metrics.FENSE, aac_metrics.SPIDErFL, aac_metrics.FER):  # before there are any captions
        with pytest.raises(ResourceError, match=rf"{PUBLISHED} is not on this machine"):
            make()
    for metrics in ("fense", "dcase2023", ["bleu_1", "spider_fl"]):
        with pytest.raises(ResourceError, match=rf"{PUBLISHED}.ckpt"):
            aac_metrics.evaluate(CANDIDATES, REFERENCES, metrics=metrics)
    with pytest.raises(ResourceError, match="sentence-transformers/paraphrase-TinyBERT-L6-v2"):
        aac_metrics.functional.fense(CANDIDATES, REFERENCES, echecker=checkpoint)
    with pytest.raises(ResourceError, match="no-such-detector"):
        aac_metrics.functional.fer(CANDIDATES, echecker="no-such-detector")


def test_unsupported_arguments_are_refused(minilm: str, checkpoint: str) -> None:
    functional = aac_metrics.functional
    for arguments in ({"echecker": torch.nn.Identity()}, {"echecker": checkpoint, "echecker_tokenizer": len}):
        with pytest.raises(ParameterError, match="no objects"):
            functional.fer(CANDIDATES, **arguments)
    with pytest.raises(ParameterError, match="no objects"):
        functional.sbert_sim(CANDIDATES, REFERENCES, sbert_model=torch.nn.Identity())
    for candidates in ("a dog", [], [1]):
        with pytest.raises(ValueError, match="candidates"):
            functional.fer(candidates, echecker=checkpoint)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least 2"):
        functional.spider_fl(CANDIDATES[:1], REFERENCES[:1], echecker=checkpoint)


@pytest.mark.filterwarnings("ignore")
def test_fluency_metrics_equal_aac_metrics(
    aac_toolkit: ModuleType, minilm: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The toolkit runs with its own classifier; sentence-transformers' encoder and Java's SPICE are replaced."""
    import transformers

    saved = torch.load(options["echecker"], weights_only=True)
    classifier = importlib.import_module("aac_metrics.functional.fer").BERTFlatClassifier(minilm, num_classes=6)
    classifier.load_state_dict(saved["state_dict"])
    tokenizer = transformers.AutoTokenizer.from_pretrained(minilm)

    class Sentences(torch.nn.Module):  # type: ignore[misc, name-defined]
        def encode(self, texts: list[str], **ignored: Any) -> Any:
            inputs = tokenizer(texts, padding=True, return_tensors="pt")
            states = classifier.encoder(**inputs).last_hidden_state
            weights = inputs["attention_mask"][..., None]
            return torch.nn.functional.normalize((states * weights).sum(dim=1) / weights.sum(dim=1))

    spider = importlib.import_module("aac_metrics.functional.spider_fl")
    monkeypatch.setattr(spider, "spider", aac_metrics.functional.spider)
    threshold = {"error_threshold": options["error_threshold"]}
    own = {"echecker": classifier, "echecker_tokenizer": tokenizer, "device": "cpu", **threshold}
    for name, theirs, ours in [
        ("fense", {"sbert_model": Sentences(), **own}, {"sbert_model": minilm, **options}),
        (
            "fense",
            {"sbert_model": Sentences(), "penalty": 0.5, **own},
            {"sbert_model": minilm, "penalty": 0.5, **options},
        ),
        ("spider_fl", {"n": 3, **own}, {"n": 3, **options}),
    ]:
        their_outs = getattr(aac_toolkit, name)(CANDIDATES, REFERENCES, **theirs)
        our_outs = getattr(aac_metrics.functional, name)(CANDIDATES, REFERENCES, **ours)
        for their_scores, our_scores in zip(their_outs, our_outs, strict=True):
            assert [*our_scores] == [*their_scores]
            for key, scores in their_scores.items():
                assert our_scores[key].dtype == scores.dtype
                assert torch.allclose(our_scores[key], scores, rtol=0, atol=1e-6), key
