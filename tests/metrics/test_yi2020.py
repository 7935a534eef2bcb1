"""The metric of Yi et al.: against the oracle and the released program's numbers, its parts, parameters and corners."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import kendalltau

from captious.data import Captions, References
from captious.errors import ParameterError, ResourceError
from captious.metrics.shared.frequencies import TokenFrequencies
from captious.metrics.yi2020 import Yi2020, _CombinationLayer
from captious.models import EncodedTexts, Encoder, TokenVectors
from tests.oracles import yi2020 as oracle
from tests.parity.real_captions import read_json
from tests.support.corpora import Corpus, references_table, table

pytestmark = pytest.mark.models

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

WORDS = ("a", "b", "c", "dog", "on")
#: The weights with which the released program was run.
WEIGHTS = "17279aed"


def bert(folder: Path, blocks: int, architecture: str = "Bert") -> Encoder:
    """Return a small model with random weights, for captions of WORDS."""
    import transformers

    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *(f"w{i}" for i in range(60)), "##s"]
    transformers.BertTokenizer(vocab={piece: i for i, piece in enumerate(pieces)}).save_pretrained(folder)
    sizes = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32, "max_position_embeddings": 40}
    config = getattr(transformers, f"{architecture}Config")(
        vocab_size=len(pieces), num_hidden_layers=blocks, pad_token_id=0, **sizes
    )
    torch.manual_seed(0)
    getattr(transformers, f"{architecture}Model")(config).save_pretrained(folder)
    return Encoder(str(folder), device="cpu")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    return bert(tmp_path_factory.mktemp("models") / "small", blocks=3)


@pytest.fixture(scope="module")
def minilm(minilm: str) -> Encoder:
    return Encoder(minilm, device="cpu")


@dataclass(frozen=True)
class Rated:
    """Captions of the released sample file, with their ratings."""

    captions: Captions
    ratings: list[float]


def rated(shared_data: Path, step: int = 1, most: int | None = None) -> Rated:
    """Return every step-th of the samples."""
    samples = list(read_json(shared_data / "yi2020" / "flickr.json.gz").values())[::step][:most]
    captions = table([sample["cand"][0] for sample in samples], [sample["refs"] for sample in samples])
    return Rated(captions, [sample["score"] for sample in samples])


@pytest.fixture(scope="module")
def stop_list(shared_data: Path) -> Path:
    return shared_data / "yi2020" / "stop_word_list.txt.gz"


def every_caption(captions: Captions) -> list[str]:
    return [*captions.references.texts, *captions.candidates]


def scores(metric: Yi2020, captions: Captions) -> NDArray[np.float64]:
    return metric.aggregate(metric.statistics(captions, metric.fit(captions.references)))[:, 0]


def pieces(text: str, encoder: Encoder) -> list[str]:
    return list(encoder.tokenizer.convert_ids_to_tokens(encoder.tokenize([text])[0]))


@cache
def read(text: str, encoder: Encoder, layer: int) -> oracle.Text:
    """Return a text whose hidden states are computed without other texts."""
    (batch,) = encoder.run(encoder.tokenize([text]), [layer])
    return oracle.Text(pieces(text, encoder), batch.hidden[layer][0].astype(np.float64))


def by_oracle(metric: Yi2020, captions: Captions, counted: Sequence[str]) -> list[float]:
    """Return the scores by the oracle, with frequencies of the captions that are counted."""
    encoder = metric.encoder
    counts, n = oracle.frequencies([pieces(text, encoder) for text in counted])
    parts = []
    for i, (start, end) in enumerate(itertools.pairwise(captions.references.offsets.tolist())):
        candidate, *references = (
            read(text, encoder, metric.compared_layer)
            for text in (captions.candidates[i], *captions.references.texts[start:end])
        )
        parts.append(
            oracle.score(
                *(candidate, references, counts, n),
                *(metric.stop_words.words, metric.match_threshold, metric.variant),
                combined=metric.combine,
                cut=metric.cut,
                remove=metric.remove,
            )
        )
    return parts


PARTS: list[dict[str, Any]] = [
    dict(zip(("combine", "cut", "remove"), switches, strict=True))
    for switches in itertools.product([True, False], repeat=3)
]


# ---- against the oracle


@pytest.mark.parametrize("variant", Yi2020.variants)
def test_yi2020_of_real_captions_equals_the_oracle(
    variant: str, minilm: Encoder, shared_data: Path, stop_list: Path
) -> None:
    captions = rated(shared_data, 450).captions
    counted = every_caption(captions)
    metric = Yi2020(model=minilm, stop_words=stop_list, token_idf=TokenFrequencies.of(counted, minilm), variant=variant)
    expected = by_oracle(metric, captions, counted)
    assert len({round(score, 3) for score in expected}) > 6
    np.testing.assert_allclose(scores(metric, captions), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("variant", Yi2020.variants)
@pytest.mark.parametrize("parts", PARTS, ids=lambda parts: "+".join(k for k, on in parts.items() if on) or "none")
def test_parts_that_are_switched_off(variant: str, parts: dict[str, Any], small: Encoder) -> None:
    captions = small_corpus().table()
    metric = Yi2020(model=small, threshold=0.8, stop_words=["a", "on"], variant=variant, **parts)
    expected = by_oracle(metric, captions, captions.references.texts)
    np.testing.assert_allclose(scores(metric, captions), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("variant", Yi2020.variants)
@pytest.mark.parametrize("threshold", [0.0, 0.5, 0.7, 0.9, 0.99])
def test_yi2020_thresholds_equal_the_oracle(variant: str, threshold: float, small: Encoder) -> None:
    captions = small_corpus(seed=2).table()
    metric = Yi2020(model=small, threshold=threshold, stop_words=["c"], layer=1, variant=variant)
    expected = by_oracle(metric, captions, captions.references.texts)
    np.testing.assert_allclose(scores(metric, captions), expected, rtol=0, atol=1e-6)


def small_corpus(seed: int = 1) -> Corpus:
    """Return images with few words; some captions are empty."""
    rng = np.random.default_rng(seed)

    def caption() -> list[str]:
        return [str(word) for word in rng.choice(WORDS, size=int(rng.integers(0, 6)))]

    return Corpus(
        [caption() for _ in range(15)], [[caption() for _ in range(int(rng.integers(1, 5)))] for _ in range(15)]
    )


# ---- against the released program

#: What it gives for every 45th of the samples, run on every 9th of the first 5,400, with the weights named above.
OFFICIAL = [0.72012372, 0.5974247, 0.0, 0.08863586, 0.71694098, 0.10403911]
OFFICIAL += [0.5461071, 0.0, 0.35650363, 0.11843816, 0.26215615, 0.0]


def test_yi2020_equals_the_released_program(minilm: Encoder, shared_data: Path, stop_list: Path) -> None:
    if not minilm.label.endswith(f"@{WEIGHTS}"):
        pytest.skip(f"not here: other weights: {minilm.label}")
    run = rated(shared_data, 9, 600).captions
    idf = TokenFrequencies.of(every_caption(run), minilm)
    metric = Yi2020(model=minilm, stop_words=stop_list, token_idf=idf)
    few = run.select(range(0, 60, 5))
    np.testing.assert_allclose(scores(metric, few), OFFICIAL, rtol=0, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "idf", "tau"),
    [
        pytest.param("official", "both", 0.4972, marks=pytest.mark.nightly),
        pytest.param("official", "refs", 0.4974, marks=pytest.mark.nightly),
        ("paper", "refs", 0.5577),
    ],
)
def test_yi2020_agreement_with_people_is_as_recorded(
    variant: str, idf: str, tau: float, minilm: Encoder, shared_data: Path, stop_list: Path
) -> None:
    sample = rated(shared_data)
    counts = TokenFrequencies.of(every_caption(sample.captions), minilm) if idf == "both" else None
    metric = Yi2020(model=minilm, stop_words=stop_list, token_idf=counts, variant=variant)
    assert kendalltau(scores(metric, sample.captions), sample.ratings)[0] == pytest.approx(tau, abs=2e-4)


# ---- combination


@dataclass(eq=False)
class Given:
    """Hidden states that are given, as a layer: for each text its rows."""

    states: dict[str, list[list[int]]]

    def of_references(self, references: References) -> EncodedTexts:
        texts = list(dict.fromkeys(references.texts))
        ids = [[2, *(ord(letter) for letter in text), 3] for text in texts]
        vectors = TokenVectors([len(sequence) for sequence in ids], 4)
        for row, text in enumerate(texts):
            vectors.write(row, np.array(self.states[text], np.float32))
        return EncodedTexts(np.array([texts.index(text) for text in references.texts]), texts, ids, vectors)


#: Each letter has a direction of its own, special tokens the fourth.
AXIS = {"x": [1, 0, 0, 0], "y": [0, 1, 0, 0], "z": [0, 0, 1, 0]}
END = [0, 0, 0, 1]


def combined(shifted: bool, *texts: str, threshold: float | None = 0.4) -> list[list[tuple[int, str]]]:
    """For each base: rows of states, and the letters that stand for them."""
    encoded = Given({text: [END, *(AXIS[letter] for letter in text), END] for text in texts})
    layer = _CombinationLayer(encoded, threshold, shifted)  # type: ignore[arg-type]
    rows, tokens, bases = layer.of_references(references_table([list(texts)])).of_image(0)
    pairs = [(int(row), chr(token)) for row, token in zip(rows, tokens, strict=True)]
    return [[pair for pair, base in zip(pairs, bases, strict=True) if base == b] for b in range(len(texts))]


def test_new_tokens_of_a_reference_are_combined() -> None:
    # Rows: xy is 0..3 with ends 0 and 3, yz is 4..7.
    assert combined(False, "xy", "yz") == [[(1, "x"), (2, "y"), (6, "z")], [(5, "y"), (6, "z"), (1, "x")]]


def test_repeated_tokens_are_not_combined_again() -> None:
    # To the base x: y of the second, which the third, matched by it, does not bring again; z of the third.
    assert combined(False, "x", "y", "yz")[0] == [(1, "x"), (4, "y"), (8, "z")]
    # To the base yz nothing but x, and to the base y, x and z.
    assert combined(False, "x", "y", "yz")[2] == [(7, "y"), (8, "z"), (1, "x")]
    assert combined(False, "x", "y", "yz")[1] == [(4, "y"), (1, "x"), (8, "z")]


def test_official_states_lag_behind_their_tokens() -> None:
    # Two are added to x: y (row 4) and z (row 8). In their places are the closing row of x and the row before y.
    assert combined(True, "x", "y", "yz")[0] == [(1, "x"), (2, "y"), (3, "z")]
    # One is added: the closing row of the base stands for it.
    assert combined(True, "xy", "yz")[0] == [(1, "x"), (2, "y"), (3, "z")]
    # Nothing is added: nothing is out of place.
    assert combined(True, "xy", "x")[0] == [(1, "x"), (2, "y")]


def test_references_are_not_combined_without_a_threshold() -> None:
    assert combined(True, "xy", "z", threshold=None) == [[(1, "x"), (2, "y")], [(5, "z")]]


# ---- parameters


def test_threshold_and_layer_come_with_the_model(tmp_path: Path, small: Encoder) -> None:
    assert (Yi2020(model=small).match_threshold, Yi2020(model=small).compared_layer) == (0.4, 3)
    deep = bert(tmp_path / "deep", blocks=10, architecture="Roberta")
    assert (Yi2020(model=deep).match_threshold, Yi2020(model=deep).compared_layer) == (0.83, 8)
    chosen = Yi2020(model=deep, threshold=0.7, layer=2)
    assert (chosen.match_threshold, chosen.compared_layer) == (0.7, 2)
    with pytest.raises(ParameterError, match="has no layer 11"):
        scores(Yi2020(model=deep, layer=11), table(["a dog"], [["a dog"]]))


def test_words_that_begin_with_a_mark_are_stop_words(tmp_path: Path) -> None:
    from tokenizers import pre_tokenizers
    from transformers import RobertaConfig, RobertaModel, RobertaTokenizer

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    pieces = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *letters, "Ġa", "th", "the", "Ġthe"]
    merges = [("Ġ", "a"), ("t", "h"), ("th", "e"), ("Ġ", "the")]
    RobertaTokenizer(vocab={piece: i for i, piece in enumerate(pieces)}, merges=merges).save_pretrained(tmp_path)
    torch.manual_seed(0)
    config = RobertaConfig(
        vocab_size=len(pieces), hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8
    )
    RobertaModel(config).save_pretrained(tmp_path)
    metric = Yi2020(model=Encoder(str(tmp_path), device="cpu"))
    stopped = np.flatnonzero(metric._stop_tokens())
    assert {pieces[i] for i in stopped} >= {"Ġa", "a", "the", "Ġthe", "t", "s"}
    assert not {pieces[i] for i in stopped} & {"th", "x", "<s>", "Ġ"}
    assert scores(metric, table(["the a"], [["the a"]])).tolist() == [0]


def test_parameters_that_make_no_sense(small: Encoder) -> None:
    with pytest.raises(ParameterError, match="must be TokenFrequencies, not dict"):
        Yi2020(model=small, token_idf={})  # type: ignore[arg-type]
    with pytest.raises(ResourceError, match="cannot read stop words"):
        Yi2020(model=small, stop_words="nowhere.txt")


def test_frequencies_count_captions(small: Encoder) -> None:
    counts = TokenFrequencies.of(["a a dog", "a dog", "a dog", ""], small)
    ids = small.tokenizer.convert_tokens_to_ids(["a", "dog", "on", "[CLS]"])
    assert counts.counts[ids].tolist() == [3, 3, 0, 4]
    assert counts.n_captions == 4
    more = counts.merge(TokenFrequencies.of(["on a", "b"], small))
    assert more.counts[ids].tolist() == [4, 3, 1, 6]
    assert more.label == "captions-6"


def test_frequencies_of_another_model_are_refused(small: Encoder, tmp_path: Path) -> None:
    other = TokenFrequencies.of(["a dog"], bert(tmp_path / "other", blocks=1))
    with pytest.raises(ParameterError, match="cannot be merged"):
        other.merge(TokenFrequencies.of(["a dog"], small))
    with pytest.raises(ParameterError, match="another model"):
        scores(Yi2020(model=small, token_idf=other), table(["a dog"], [["a dog"]]))


def test_small_corpus_gives_a_warning(small: Encoder) -> None:
    captions = table(["a dog"], [["a dog"]])
    metric = Yi2020(model=small, layer=2)
    (warning,) = metric.warnings(captions, metric.fit(captions.references))
    assert "only 1 caption was counted" in warning
    many = TokenFrequencies.of(["a dog"] * 100, small)
    assert not Yi2020(model=small, layer=2, token_idf=many).warnings(captions, many)
    (warning,) = Yi2020(model=small, token_idf=many).warnings(captions, many)
    assert "has no layer 8" in warning


# ---- the contract


def test_candidate_equal_to_its_only_reference_scores_one(small: Encoder) -> None:
    many = TokenFrequencies.of(["b"] * 50, small)
    for variant in Yi2020.variants:
        values = scores(Yi2020(model=small, token_idf=many, variant=variant), table(["a dog on c"], [["a dog on c"]]))
        np.testing.assert_allclose(values, [1], atol=1e-6)
