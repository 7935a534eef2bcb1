"""clipscore and refclipscore: held against one forward pass per image and per text, on a small random CLIP."""

from __future__ import annotations

import gzip
import itertools
import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("PIL")

from captious.data import Captions, References
from captious.errors import CaptiousWarning, InputError, MissingExtraError, ResourceError
from captious.evaluation import score
from captious.metrics.clipscore import ClipScore, RefClipScore
from captious.models import Encoder, clip
from captious.models.pretrained import INSTALL
from tests.oracles import clipscore as oracle
from tests.support.corpora import references_table, table
from tests.support.tiny_clip import EDGE, MAX_TOKENS, save_pictures, save_tiny_clip

pytestmark = pytest.mark.models

#: Vectors are float32, and batches add in another order.
CLOSE = 2e-6
N = 24
METRICS = (ClipScore, RefClipScore)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_pictures(tmp_path_factory.mktemp("pictures"), [f"{i}.png" for i in range(N)])


@pytest.fixture(scope="module")
def vectors(tiny_clip: str) -> tuple[Any, Any]:
    """The model and its tokenizer, as transformers loads them."""
    from transformers import CLIPModel, CLIPTokenizer

    return CLIPModel.from_pretrained(tiny_clip).eval(), CLIPTokenizer.from_pretrained(tiny_clip)


@pytest.fixture(scope="module")
def captions(shared_data: Path) -> Captions:
    """Candidates of a real system with human references; some are equal, one is empty, one is too long."""
    with gzip.open(shared_data / "smurf" / "karpathy_4captioners.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in itertools.islice(lines, N)]
    candidates = [record["captions"][2] for record in records]
    references = [record["refs"][: 1 + i % 4] for i, record in enumerate(records)]
    candidates[3], candidates[5] = "", candidates[4]
    candidates[7] = " ".join(record["captions"][1] for record in records[:5])
    references[8] = [candidates[8], ""]
    return table(candidates, references)


def expected(vectors: tuple[Any, Any], pictures: Path, captions: Captions) -> NDArray[np.float64]:
    """Return the values of the oracle, float64[n, 3]: cosine with the image, CLIPScore, RefCLIPScore."""
    model, tokenizer = vectors
    rows = []
    references = captions.references
    for i, candidate in enumerate(captions.candidates):
        image = oracle.image_vector(model, pictures / f"{captions.ids[i]}.png", EDGE)
        text = oracle.text_vector(model, tokenizer, candidate)
        others = [
            oracle.text_vector(model, tokenizer, reference)
            for reference in references.texts[references.offsets[i] : references.offsets[i + 1]]
        ]
        rows.append(
            [
                oracle.cosine(image, text),
                oracle.clipscore(image, text),
                oracle.refclipscore(image, text, others),
            ]
        )
    return np.array(rows)


def test_scores_are_those_of_single_passes(
    vectors: tuple[Any, Any], tiny_clip: str, pictures: Path, captions: Captions
) -> None:
    oracle = expected(vectors, pictures, captions)
    np.testing.assert_allclose(ClipScore(images=pictures, model=tiny_clip).scores(captions), oracle[:, 1], atol=CLOSE)
    np.testing.assert_allclose(
        RefClipScore(images=pictures, model=tiny_clip).scores(captions), oracle[:, 2], atol=CLOSE
    )
    assert oracle[:, 2].max() > 0.1
    assert len(set(oracle[:, 1].round(4))) > N / 3


def test_cosines_below_0_count_0(vectors: tuple[Any, Any], tiny_clip: str, pictures: Path, captions: Captions) -> None:
    negative = expected(vectors, pictures, captions)[:, 0] < 0
    assert 3 < negative.sum() < N - 3, "the corpus holds both"
    for metric in (ClipScore(images=pictures, model=tiny_clip), RefClipScore(images=pictures, model=tiny_clip)):
        scores = metric.scores(captions)
        assert (scores[negative] == 0).all()
        assert (scores[~negative] > 0).all()


def test_references_that_point_away_count_0(
    tiny_clip: str, pictures: Path, captions: Captions, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The official code leaves them negative, so that the mean of the two can be any number.
    own = {text: row for row, text in enumerate(captions.candidates)}
    metric = ClipScore(images=pictures, model=tiny_clip)
    images = captions.references.layer(clip.ImageLayer(metric.encoder, pictures))

    def opposite(encoder: Encoder, texts: list[str]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        rows = [own.get(text.removeprefix("A photo depicts "), -1) for text in texts]
        vectors = np.array([images[row] if row >= 0 else -images.mean(axis=0) for row in rows], np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.zeros(len(texts), np.bool_)

    monkeypatch.setattr(clip, "encode_texts", opposite)
    fresh = Captions(captions.candidates[:3], references_table([["x"], ["x", captions.candidates[1]], ["x"]]))
    scores = RefClipScore(images=pictures, model=tiny_clip).scores(fresh)
    assert scores[0] == scores[2] == 0
    assert scores[1] == pytest.approx(2 * 2.5 / 3.5, abs=1e-6), "image and reference agree with the candidate wholly"


@pytest.mark.parametrize("metric", METRICS)
def test_prompt_and_w_change_clipscore_as_in_the_formula(
    metric: type[ClipScore], vectors: tuple[Any, Any], tiny_clip: str, pictures: Path, captions: Captions
) -> None:
    few = captions.select(range(6))
    clip_model, tokenizer = vectors
    scores = metric(images=pictures, model=tiny_clip, prompt="this is", w=1.0).scores(few)
    for i, candidate in enumerate(few.candidates):
        image = oracle.image_vector(clip_model, pictures / f"{i}.png", EDGE)
        text = oracle.text_vector(clip_model, tokenizer, candidate, "this is ")
        references = few.references.texts[few.references.offsets[i] : few.references.offsets[i + 1]]
        others = [oracle.text_vector(clip_model, tokenizer, reference, "this is ") for reference in references]
        one = oracle.clipscore(image, text, 1.0)
        assert scores[i] == pytest.approx(
            one if metric is ClipScore else oracle.refclipscore(image, text, others, 1.0), abs=CLOSE
        )


def test_wide_image_is_cropped_as_in_the_official_code(tiny_clip: str, tmp_path: Path) -> None:
    # The margin of 3 pixels is halved to 2 on the left; transformers by itself would cut 1.
    from PIL import Image

    pixels = np.random.default_rng(6).integers(0, 256, (EDGE, EDGE + 3, 3), np.uint8)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    shown = (pixels[:, 2 : 2 + EDGE] / 255 - oracle.MEAN) / oracle.DEVIATION
    np.testing.assert_allclose(
        clip._clip(Encoder(tiny_clip)).pixels(tmp_path / "a.png").transpose(1, 2, 0), shown, atol=1e-5
    )


# ---- each text and image once


def test_every_text_and_image_is_encoded_once_per_run(
    tiny_clip: str, pictures: Path, captions: Captions, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []
    images: list[Path] = []
    encode_texts, encode_images = clip.encode_texts, clip.encode_images

    def count_texts(encoder: Encoder, more: list[str]) -> Any:
        texts.extend(more)
        return encode_texts(encoder, more)

    def count_images(encoder: Encoder, more: list[Path]) -> Any:
        images.extend(more)
        return encode_images(encoder, more)

    monkeypatch.setattr(clip, "encode_texts", count_texts)
    monkeypatch.setattr(clip, "encode_images", count_images)
    one = Captions(captions.candidates, captions.references.select(range(N - 1, -1, -1)))
    other = Captions(captions.candidates[::-1], one.references)
    for system in (one, other):
        for metric in (ClipScore(images=pictures, model=tiny_clip), RefClipScore(images=pictures, model=tiny_clip)):
            metric.statistics(system)
            metric.warnings(system, None)
    distinct = [*{*captions.candidates}, *{*captions.references.texts}]
    assert sorted(texts) == sorted(f"A photo depicts {text}" for text in distinct)
    assert len(images) == len(set(images)) == N


def test_clipscore_does_not_encode_references(
    tiny_clip: str, pictures: Path, captions: Captions, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[str] = []
    encode_texts = clip.encode_texts

    def record(encoder: Encoder, texts: list[str]) -> Any:
        encoded.extend(texts)
        return encode_texts(encoder, texts)

    monkeypatch.setattr(clip, "encode_texts", record)
    ClipScore(images=pictures, model=tiny_clip).scores(captions.select(range(N - 1, -1, -1)))
    assert set(encoded) == {f"A photo depicts {text}" for text in captions.candidates}


# ---- the contract of metrics


@pytest.mark.parametrize("metric", METRICS)
def test_order_of_references_does_not_matter(
    metric: type[ClipScore], tiny_clip: str, pictures: Path, captions: Captions
) -> None:
    offsets = captions.references.offsets
    texts = [list(captions.references.texts[a:b])[::-1] for a, b in itertools.pairwise(offsets)]
    backwards = metric(images=pictures, model=tiny_clip).scores(table(list(captions.candidates), texts))
    np.testing.assert_allclose(backwards, metric(images=pictures, model=tiny_clip).scores(captions), atol=CLOSE)


def test_many_images_are_scored_in_parts(
    tiny_clip: str, pictures: Path, captions: Captions, monkeypatch: pytest.MonkeyPatch
) -> None:
    from captious.metrics import clipscore

    whole = RefClipScore(images=pictures, model=tiny_clip).scores(captions)
    monkeypatch.setattr(clipscore, "_IMAGES_AT_A_TIME", 5)
    monkeypatch.setattr(clip, "_IMAGES_PER_BATCH", 7)
    monkeypatch.setattr(clip, "_TEXTS_PER_BATCH", 2)
    fresh = captions.select(range(N - 1, -1, -1))
    np.testing.assert_allclose(RefClipScore(images=pictures, model=tiny_clip).scores(fresh)[::-1], whole, atol=CLOSE)


@pytest.mark.parametrize("threads", ["1", "3"])
def test_threads_change_nothing(
    threads: str, tiny_clip: str, pictures: Path, captions: Captions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAPTIOUS_THREADS", threads)
    fresh = captions.select(range(N - 1, -1, -1))
    expected = ClipScore(images=pictures, model=tiny_clip).scores(captions)[::-1]
    np.testing.assert_allclose(ClipScore(images=pictures, model=tiny_clip).scores(fresh), expected, atol=CLOSE)


# ---- long captions


def test_truncated_captions_give_a_warning_and_equal_scores(tiny_clip: str, pictures: Path, captions: Captions) -> None:
    long = "ab" * MAX_TOKENS
    few = table([long, f"{long} and more", "a dog"], [["a cat", long], [long], ["a dog"]])
    metric, ref = ClipScore(images=pictures, model=tiny_clip), RefClipScore(images=pictures, model=tiny_clip)
    longer = f"are longer than the 77 tokens that {tiny_clip} reads, including the prompt: the rest is ignored."
    assert metric.warnings(few, None) == [f"2 of 3 candidates {longer}"]
    assert ref.warnings(few, None)[1:] == [f"2 of 4 references {longer}"]
    vectors = few.own_layer(clip.PromptedCandidates(metric.encoder, metric.prompt)).vectors
    np.testing.assert_allclose(vectors[0], vectors[1], atol=CLOSE)
    assert metric.warnings(captions.select(range(3)), None) == []
    with pytest.warns(CaptiousWarning, match="1 of 1 candidate is longer than the 77 tokens"):
        score({0: long}, {0: ["a cat", "a dog"]}, [metric])


def test_a_caption_that_just_fits_is_whole(tiny_clip: str, pictures: Path) -> None:
    room = MAX_TOKENS - 2 - len("Aphotodepicts")
    fits, longer = table(["a" * room], [["a"]]), table(["a" * (room + 1)], [["a"]])
    assert ClipScore(images=pictures, model=tiny_clip).warnings(fits, None) == []
    assert len(ClipScore(images=pictures, model=tiny_clip).warnings(longer, None)) == 1


# ---- what it is called, and what is refused


def test_signature_depends_on_the_weights_of_the_model(tiny_clip: str, pictures: Path, tmp_path: Path) -> None:
    other = save_tiny_clip(tmp_path / Path(tiny_clip).name, seed=9)
    assert (
        ClipScore(images=pictures, model=str(other)).signatures()
        != ClipScore(images=pictures, model=tiny_clip).signatures()
    )


def test_half_precision_is_near(tiny_clip: str, pictures: Path, captions: Captions) -> None:
    half = ClipScore(images=pictures, model=Encoder(tiny_clip, precision="bfloat16")).scores(captions)
    np.testing.assert_allclose(half, ClipScore(images=pictures, model=tiny_clip).scores(captions), atol=0.1)


def test_missing_and_broken_images_are_told_before_any_model_is_read(captions: Captions, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="24 of 24 images have no file"):
        ClipScore(images=tmp_path, model="no-such/model").scores(captions)


def test_a_broken_image_is_named(tiny_clip: str, pictures: Path, captions: Captions, tmp_path: Path) -> None:
    shutil.copytree(pictures, tmp_path / "pictures")
    (tmp_path / "pictures" / "17.png").write_bytes(b"\x89PNG")
    with pytest.raises(InputError, match=r"the image file 17\.png cannot be read"):
        ClipScore(images=tmp_path / "pictures", model=tiny_clip).scores(captions)


def test_models_other_than_clip_are_refused(pictures: Path, captions: Captions, tmp_path: Path, tiny_clip: str) -> None:
    from transformers import BertConfig, BertModel

    shape = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
    BertModel(BertConfig(vocab_size=514, **shape)).save_pretrained(tmp_path)
    for file in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(Path(tiny_clip) / file, tmp_path)
    with pytest.raises(ResourceError, match="is a bert model, not a CLIP"):
        ClipScore(images=pictures, model=str(tmp_path)).scores(captions)


def test_clipscore_without_pillow_is_refused(pictures: Path, tiny_clip: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clip, "missing_clip", lambda: INSTALL)
    with pytest.raises(MissingExtraError) as caught:
        clip.encode_images(Encoder(tiny_clip, precision="float16"), [pictures / "1.png"])
    assert caught.value.hint == "pip install 'captious[models]'"


def test_images_with_coco_names_are_found(tiny_clip: str, tmp_path: Path) -> None:
    save_pictures(tmp_path, ["COCO_val2014_000000391895.jpg", "000000000009.jpg", "a.png"])
    ids: tuple[int | str, ...] = (391895, 9, "a")
    references = References(ids, ("a dog", "a cat", "a bird"), np.arange(4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = ClipScore(images=tmp_path, model=tiny_clip).scores(
            Captions(("a dog runs", "a cat", "two birds"), references)
        )
    assert scores.shape == (3,)
