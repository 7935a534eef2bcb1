"""BERTScore: against the package bert_score and the oracle; layers, idf, baselines, references, empty captions."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from captious.data import Captions
from captious.errors import ParameterError, ResourceError
from captious.files import checksum
from captious.metrics.bertscore import LAYERS, BertScore
from captious.metrics.shared.frequencies import TokenFrequencies
from captious.models import Encoder
from captious.models import encoders as token_vectors
from tests.oracles import bertscore as oracle
from tests.parity.real_captions import read_lines
from tests.support.corpora import large_corpus, references_table, table
from tests.support.encoders import BLOCKS, SPECIAL_TOKENS, save_tiny_encoder

pytestmark = pytest.mark.models

pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

CLOSE = 1e-5
#: How far single precision is from the oracle's double.
SINGLE = 1e-6
CORPUS = large_corpus(40, seed=2)
ODD = table(
    ["", "a dog", "", "a", "  a   dog  ", "the the the", "a red bus runs on the cat " * 9],
    [["a dog", ""], [""], ["", ""], ["a", "the"], ["a dog"], ["a cat on a bus.", "the"], ["a bus", "unheard of"]],
)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    return Encoder(str(save_tiny_encoder("bert", tmp_path_factory.mktemp("models") / "tiny")), device="cpu")


@pytest.fixture(scope="module")
def tiny_roberta(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    return Encoder(str(save_tiny_encoder("roberta", tmp_path_factory.mktemp("models") / "tiny")), device="cpu")


@pytest.fixture(scope="module")
def minilm(minilm: str) -> Encoder:
    return Encoder(minilm, device="cpu")


def scores(metric: BertScore, captions: Captions) -> NDArray[np.float64]:
    return metric.aggregate(metric.statistics(captions, metric.fit(captions.references)))


def score(metric: BertScore, candidate: str, *references: str) -> list[float]:
    outputs: list[float] = scores(metric, table([candidate], [[*references]]))[0].tolist()
    return outputs


# ---- against the package bert_score


def by_bert_score(captions: Captions, model: str, layer: int, idf: bool, **options: Any) -> NDArray[np.float64]:
    """Return the scores of the package.

    It sets cosines of padding to 0, so the longest pair of a batch, which has no padding, would be scored differently
    from the others. Here, all pairs are in one batch, with a longer pair at its end, so that every pair is padded.
    """
    package = pytest.importorskip("bert_score")
    most = max(len(text.split()) for text in (*captions.candidates, *captions.references.texts))
    long = "w " * (most + 30)
    candidates = [*captions.candidates, long]
    bounds = itertools.pairwise(captions.references.offsets.tolist())
    references = [*([*captions.references.texts[start:end]] for start, end in bounds), [long]]
    with pytest.MonkeyPatch.context() as patch:
        # transformers 5 no longer has this method, which version 0.3.13 calls for empty captions
        patch.setattr(
            transformers.PreTrainedTokenizerBase,
            "build_inputs_with_special_tokens",
            lambda self, ids: self.encode(""),
            raising=False,
        )
        frequencies: bool | dict[int, float] = False
        if idf:  # without the pair at the end
            tokenizer = transformers.AutoTokenizer.from_pretrained(model)
            texts = [text for texts in references[:-1] for text in texts]
            counted = package.utils.get_idf_dict(texts, tokenizer, nthreads=0)
            frequencies = counted
        columns = package.score(
            candidates, references, model_type=model, num_layers=layer, idf=frequencies,
            device="cpu", batch_size=sum(map(len, references)), nthreads=0, **options,
        )  # fmt: skip
    return np.stack([column.double().numpy() for column in columns], axis=1)[:-1]


def karpathy(shared_data: Path, images: int, references: int = 4) -> Captions:
    """Return captions of three machines and a person, in turns."""
    records = list(itertools.islice(read_lines(shared_data / "smurf" / "karpathy_4captioners.jsonl.gz"), images))
    candidates = [record["captions"][i % 4] for i, record in enumerate(records)]
    return table(candidates, [record["refs"][:references] for record in records])


@pytest.mark.parametrize(("layer", "idf"), [(6, False), (4, True)])
def test_scores_are_those_of_bert_score(shared_data: Path, minilm: Encoder, layer: int, idf: bool) -> None:
    captions = karpathy(shared_data, 16)
    expected = by_bert_score(captions, minilm.model, layer, idf)
    np.testing.assert_allclose(
        scores(BertScore(model=minilm, layer=layer, token_idf=idf), captions), expected, atol=CLOSE, rtol=0
    )


@pytest.mark.slow
@pytest.mark.parametrize("references", [1, 4])
@pytest.mark.parametrize("idf", [False, True])
def test_scores_of_many_captions_are_those_of_bert_score(
    shared_data: Path, minilm: Encoder, references: int, idf: bool
) -> None:
    captions = karpathy(shared_data, 2000, references)
    expected = by_bert_score(captions, minilm.model, 6, idf)
    np.testing.assert_allclose(
        scores(BertScore(model=minilm, layer=6, token_idf=idf), captions), expected, atol=CLOSE, rtol=0
    )


@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.filterwarnings("ignore:Token indices sequence length")
def test_odd_captions_are_scored_as_by_bert_score(minilm: Encoder, idf: bool) -> None:
    odd = ["\u00a0 ", "犬 🐕 é e\u0301", "a" * 3000, "x " * 700, "Don't\tstop\r\n", "\u200b", "[SEP]", "."]
    captions = table([*ODD.candidates, *odd], [*([text, "a dog"] for text in (*ODD.candidates, *odd[::-1]))])
    expected = by_bert_score(captions, minilm.model, 6, idf)
    ours = scores(BertScore(model=minilm, layer=6, token_idf=idf), captions)
    assert np.isfinite(ours).all()
    weightless = ~np.isfinite(expected)  # "[SEP]": no token has any weight, and bert_score divides 0 by 0
    assert weightless.sum() == 2
    np.testing.assert_allclose(ours[~weightless], expected[~weightless], atol=CLOSE, rtol=0)


def test_roberta_texts_start_with_a_blank_as_in_bert_score(tmp_path: Path) -> None:
    folder = save_tiny_encoder("roberta", tmp_path / "tiny")
    vocabulary = transformers.AutoTokenizer.from_pretrained(folder).get_vocab()
    names = dict(zip(("cls_token", "pad_token", "sep_token", "unk_token"), SPECIAL_TOKENS, strict=True))
    names |= {"bos_token": "[CLS]", "eos_token": "[SEP]", "mask_token": "[UNK]"}
    tokenizer = transformers.RobertaTokenizer(vocab=vocabulary, merges=[], add_prefix_space=True, **names)
    tokenizer.model_max_length = 24
    peer = tmp_path / "peer"
    save_tiny_encoder("roberta", peer)
    tokenizer.save_pretrained(peer)
    captions = table([" a dog runs ", "a cat", "", "a bus"], [["a dog"], ["the cat ", "a"], ["a dog"], [" "]])
    expected = by_bert_score(captions, str(peer), 2, False)
    ours = scores(BertScore(model=Encoder(str(folder), device="cpu"), layer=2), captions)
    np.testing.assert_allclose(ours, expected, atol=CLOSE, rtol=0)


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
def test_rescaled_scores_are_those_of_bert_score(shared_data: Path, minilm: Encoder, tmp_path: Path) -> None:
    file = tmp_path / "baseline.tsv"
    file.write_text("LAYER,P,R,F\n" + "".join(f"{i},0.{i}1,0.{i}2,0.{i}3\n" for i in range(7)))
    captions = karpathy(shared_data, 8)
    options = {"rescale_with_baseline": True, "baseline_path": str(file), "lang": "en"}
    expected = by_bert_score(captions, minilm.model, 5, False, **options)
    np.testing.assert_allclose(scores(BertScore(model=minilm, layer=5, rescale=file), captions), expected, atol=CLOSE)


# ---- against torchmetrics


@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.filterwarnings("ignore")
def test_scores_of_the_variant_are_those_of_torchmetrics(minilm: Encoder, idf: bool) -> None:
    text = pytest.importorskip("torchmetrics.functional.text.bert")
    model, tokenizer = (
        kind.from_pretrained(minilm.model) for kind in (transformers.AutoModel, transformers.AutoTokenizer)
    )
    references = ["A dog, running  in a park.", "a dog runs", "the brown dogs play with a red ball outside"]
    metric = BertScore(model=minilm, variant="torchmetrics", token_idf=idf)
    assert metric.compared_layer == 6
    for candidate in (" A dog runs. ", "a", "", "dog [SEP] cat", "犬 🐕 é e\u0301 Don't\tstop\r\n", "x " * 60):
        # One candidate at a time: version 1.9 mixes candidates of different lengths up.
        columns = text.bert_score(
            [candidate] * 3, references, model=model, user_tokenizer=tokenizer, idf=idf, max_length=128
        )
        expected = np.array([np.max(np.nan_to_num(columns[name])) for name in ("precision", "recall", "f1")])
        captions = table([candidate], [references])
        np.testing.assert_allclose(scores(metric, captions)[0], expected, atol=CLOSE, rtol=0)
        assert not metric.warnings(captions, None) or idf


def test_special_tokens_are_not_matched_in_the_variant(tiny: Encoder) -> None:
    for captions in (CORPUS.table(), ODD):
        official = scores(BertScore(model=tiny, layer=2), captions)
        variant = scores(BertScore(model=tiny, layer=2, variant="torchmetrics"), captions)
        assert (variant <= official + SINGLE).all()
        assert (variant < official - 0.01).any()


# ---- against the oracle


def by_oracle(captions: Captions, encoder: Encoder, layer: int, idf: bool) -> NDArray[np.float64]:
    blank = " " if encoder.family == "roberta" else ""

    def tokens(text: str) -> tuple[list[int], list[list[float]]]:
        stripped = text.strip()
        (ids,) = encoder.tokenize([blank + stripped if stripped else ""])
        (batch,) = encoder.run([ids], [layer])
        return ids, batch.hidden[layer][0].tolist()

    references = [tokens(text) for text in captions.references.texts]
    frequencies = oracle.idf([ids for ids, _ in references])
    ends = [SPECIAL_TOKENS.index("[CLS]"), SPECIAL_TOKENS.index("[SEP]")]

    def weights(ids: Sequence[int]) -> list[float]:
        if idf:
            return [frequencies.get(token, frequencies[-1]) for token in ids]
        return [float(token not in ends) for token in ids]

    rows = []
    for i, (start, end) in enumerate(itertools.pairwise(captions.references.offsets.tolist())):
        ids, states = tokens(captions.candidates[i])
        of_image = [(states_, weights(ids_)) for ids_, states_ in references[start:end]]
        rows.append(oracle.score(states, weights(ids), of_image))
    return np.array(rows)


@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize("captions", [CORPUS.table(), ODD], ids=["many", "odd"])
def test_scores_are_those_of_the_oracle(tiny: Encoder, captions: Captions, idf: bool) -> None:
    expected = by_oracle(captions, tiny, 2, idf)
    assert expected.std() > 0.1
    np.testing.assert_allclose(
        scores(BertScore(model=tiny, layer=2, token_idf=idf), captions), expected, atol=SINGLE, rtol=0
    )


@pytest.mark.parametrize("idf", [False, True])
def test_scores_of_roberta_are_those_of_the_oracle(tiny_roberta: Encoder, idf: bool) -> None:
    captions = table(["a dog", " bus", "", "a cat "], [["a dog", "dog"], ["bus"], ["a"], ["the cat", "  "]])
    expected = by_oracle(captions, tiny_roberta, 3, idf)
    metric = BertScore(model=tiny_roberta, layer=3, token_idf=idf)
    np.testing.assert_allclose(scores(metric, captions), expected, atol=SINGLE, rtol=0)


@pytest.mark.parametrize("in_memory", [True, False], ids=["memory", "file"])
def test_steps_and_files_change_nothing(tiny: Encoder, monkeypatch: pytest.MonkeyPatch, in_memory: bool) -> None:
    metric = BertScore(model=tiny, layer=2)
    expected = scores(metric, CORPUS.table())
    monkeypatch.setattr("captious.metrics.bertscore._FLOATS_PER_STEP", 1)
    monkeypatch.setattr(token_vectors, "_MEMORY_LIMIT", 1 << 30 if in_memory else -1)
    np.testing.assert_allclose(scores(metric, CORPUS.table()), expected, atol=SINGLE, rtol=0)


# ---- references


def test_the_best_reference_is_chosen_for_each_output_by_itself(tiny: Encoder) -> None:
    metric = BertScore(model=tiny)
    candidate, references = "a dog on a bus", ["dog", "a dog on a bus runs on the red bus", "a cat on the bus"]
    alone = np.array([score(metric, candidate, reference) for reference in references])
    assert len(set(alone.argmax(axis=0).tolist())) > 1
    np.testing.assert_allclose(score(metric, candidate, *references), alone.max(axis=0), atol=SINGLE)


# ---- layers


def test_the_layer_is_that_of_bert_score() -> None:
    expected = {"roberta-large": 17, "bert-base-uncased": 9, "distilroberta-base": 5, "roberta-base": 10}
    expected |= {"FacebookAI/roberta-large": 17, "google-bert/bert-large-uncased": 18}
    expected |= {"distilbert/distilbert-base-uncased": 5, "microsoft/deberta-xlarge-mnli": 40}
    for model, layer in expected.items():
        metric = BertScore(model=model)
        assert metric.compared_layer == layer
        assert metric.layer_warnings() == []
    assert BertScore().encoder.model == "roberta-large"
    assert BertScore(model="roberta-large", layer=3).compared_layer == 3


def test_layers_are_those_compared_with_bert_score() -> None:
    """The checksum of 47 models whose layers equal those of bert_score 0.3.13, also where it is not installed."""
    assert len(LAYERS) == 47
    assert checksum(json.dumps(sorted(LAYERS.items()))) == "917df0c9"


def test_layers_are_those_of_the_package() -> None:
    package = pytest.importorskip("bert_score")
    assert {model: package.utils.model2layers[model] for model in LAYERS} == LAYERS


def test_a_folder_may_be_called_like_a_model(tmp_path: Path) -> None:
    (tmp_path / "bert-base-uncased").mkdir()
    assert BertScore(model=str(tmp_path / "bert-base-uncased")).compared_layer == 9
    assert BertScore(model="somebody/bert-base-uncased", layer=1).compared_layer == 1


def test_unlisted_models_use_the_last_layer_with_a_warning(tiny: Encoder) -> None:
    metric = BertScore(model=tiny)
    assert metric.compared_layer == BLOCKS
    (warning,) = metric.layer_warnings()
    assert "uses the last one, 3" in warning
    assert warning in metric.warnings(ODD, None)
    assert BertScore(model=tiny, layer=2).layer_warnings() == []
    assert (scores(metric, ODD) == scores(BertScore(model=tiny, layer=BLOCKS), ODD)).all()
    assert (scores(metric, ODD) != scores(BertScore(model=tiny, layer=2), ODD)).any()


def test_missing_layer_is_refused(tiny: Encoder) -> None:
    with pytest.raises(ParameterError, match="invalid layer for bertscore: -1"):
        BertScore(model=tiny, layer=-1)
    with pytest.raises(ParameterError, match=f"no layer {BLOCKS + 1}"):
        scores(BertScore(model=tiny, layer=BLOCKS + 1), ODD)


# ---- idf


def test_rare_tokens_weigh_more_with_idf(tiny: Encoder) -> None:
    references = [["a dog", "a cat"], ["a bus", "the red bus"]]
    metric = BertScore(model=tiny, token_idf=True)
    state = metric.fit(references_table(references))
    assert isinstance(state, TokenFrequencies)
    assert (state.n_captions, state.label) == (4, "references-4")
    tokens = tiny.tokenize(["a dog cat bus the red"])[0][1:-1]
    assert [int(state.counts[token]) for token in tokens] == [3, 1, 1, 2, 1, 1]
    assert state.counts[SPECIAL_TOKENS.index("[CLS]")] == 4
    assert BertScore(model=tiny).fit(references_table(references)) is None


def test_frequencies_of_another_model_are_refused(tiny: Encoder, tiny_roberta: Encoder) -> None:
    metric = BertScore(model=tiny, token_idf=True)
    with pytest.raises(ParameterError, match="another model"):
        metric.statistics(ODD, BertScore(model=tiny_roberta, token_idf=True).fit(ODD.references))
    with pytest.raises(ParameterError, match="invalid token_idf for bertscore"):
        BertScore(model=tiny, token_idf="words.idf")  # type: ignore[arg-type]


def test_few_references_are_warned_of(tiny: Encoder) -> None:
    metric = BertScore(model=tiny, layer=2, token_idf=True)
    few = table(["a dog"], [["a dog runs"]])
    (warning,) = metric.warnings(few, metric.fit(few.references))
    assert "there is only 1:" in warning
    assert score(metric, "a dog", "a dog runs") == [0, 0, 0]  # every token is in every reference
    captions = CORPUS.table()
    assert len(captions.references.texts) >= 100
    assert metric.warnings(captions, metric.fit(captions.references)) == []
    assert BertScore(model=tiny, layer=2).warnings(few, None) == []


# ---- baselines


def test_a_baseline_becomes_zero(tiny: Encoder) -> None:
    plain = scores(BertScore(model=tiny), ODD)
    rescaled = scores(BertScore(model=tiny, rescale=(0.1, 0.2, 0.5)), ODD)
    np.testing.assert_allclose(rescaled, (plain - [0.1, 0.2, 0.5]) / [0.9, 0.8, 0.5], atol=1e-12)
    np.testing.assert_allclose(rescaled[0], [-0.1 / 0.9, -0.2 / 0.8, -1])  # an empty candidate


def test_published_baselines_are_known_by_model_and_layer(tiny: Encoder) -> None:
    assert BertScore(model="roberta-large", rescale=True).baseline == (0.83150584, 0.8314941, 0.83122575)
    assert BertScore(model="google-bert/bert-base-uncased", rescale=True).baseline == (
        0.35375935,
        0.3537393,
        0.35219112,
    )
    assert BertScore(model="roberta-large").baseline is None
    for metric in (BertScore(model=tiny, rescale=True), BertScore(model="roberta-large", layer=16, rescale=True)):
        with pytest.raises(ParameterError, match="no baseline is known for layer") as caught:
            assert metric.baseline
        assert "rescale=FILE" in caught.value.hint


@pytest.mark.parametrize("baseline", [(0.1, 0.2), (0.1, 0.2, 1.0), ("a", "b", "c"), (0.1, 0.2, float("nan")), 5])
def test_invalid_baselines_are_refused(baseline: Any, tiny: Encoder) -> None:
    with pytest.raises(ParameterError, match="baseline"):
        BertScore(model=tiny, rescale=baseline)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("LAYER,P,R,F\n0,.1,.1,.1\n", "no baseline for layer 3"),
        ("LAYER,P,R,F\n3,.1,.1\n", "not a baseline file"),
        ("LAYER,P,R,F\n3,.1,.1,x\n", "not a baseline file"),
        ("a dog\nruns\n", "not a baseline file"),
        ("", "no baseline for layer 3"),
        (None, "No such file"),
    ],
)
def test_file_without_a_baseline_is_refused(content: str | None, message: str, tiny: Encoder, tmp_path: Path) -> None:
    file = tmp_path / "baseline.tsv"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ResourceError, match=message) as caught:
        scores(BertScore(model=tiny, rescale=str(file)), ODD)
    assert caught.value.where == str(file)


# ---- signatures


def test_metrics_of_one_model_and_layer_share_its_states(tiny: Encoder) -> None:
    captions = CORPUS.table()
    metric, other = (
        BertScore(model=tiny),
        BertScore(model=Encoder(tiny.model, device="cpu"), token_idf=True, rescale=(0, 0, 0)),
    )
    scores(metric, captions)
    layers = set(captions._layers)
    scores(other, captions)
    assert set(captions._layers) == layers


def test_truncated_captions_are_counted(tmp_path: Path) -> None:
    encoder = Encoder(str(save_tiny_encoder("bert", tmp_path / "tiny")))
    metric = BertScore(model=encoder, layer=1)
    captions = table(["a dog " * 20, "a dog", "a dog " * 11], [["a dog"], ["a cat", "dog " * 23], ["a dog"]])
    assert metric.warnings(captions, None) == [
        f"1 of 3 candidates is longer than the 24 tokens that {encoder.name} reads: the rest is ignored.",
        f"1 of 4 references is longer than the 24 tokens that {encoder.name} reads: the rest is ignored.",
    ]
