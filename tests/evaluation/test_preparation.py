"""Scores against a file of prepared references are those of the references, to the last bit."""

from __future__ import annotations

import contextlib
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import captious
from captious.data import prepared as module
from captious.data.prepared import ArrayFile, write_array_file
from captious.errors import CaptiousError
from captious.metrics.contract import registry
from captious.models import encoders
from tests.support.corpora import large_corpus
from tests.support.encoders import save_tiny_encoder
from tests.support.every_metric import every_variant

EXAMPLES = Path(__file__).parents[2] / "examples"
REFERENCES = EXAMPLES / "references.json"
FIRST, SECOND = EXAMPLES / "baseline.json", EXAMPLES / "improved.json"

pytestmark = pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")

WORDS = ["bleu", "rouge-l", "cider-d"]


def assert_same(a: captious.Report, b: captious.Report) -> None:
    assert list(a) == list(b)
    for name in a:
        assert a[name].signature == b[name].signature
        assert np.array_equal(a[name].statistics.rows, b[name].statistics.rows)
    assert a.warnings == b.warnings


@pytest.mark.parametrize("metric", every_variant())
def test_prepared_references_give_equal_scores_of_every_metric(metric: tuple[str, str], tmp_path: Path) -> None:
    name, variant = metric
    chosen = [registry.get(name)(variant=variant)]
    found = captious.prepare(REFERENCES, chosen, path=tmp_path / "refs.prepared")
    for candidates in (FIRST, SECOND):
        assert_same(captious.score(candidates, found, chosen), captious.score(candidates, REFERENCES, chosen))
    assert found.stored.n_missed == 0


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    return str(save_tiny_encoder("bert", tmp_path_factory.mktemp("encoder") / "0", seed=0))


@pytest.mark.models
@pytest.mark.parametrize("in_memory", [256 << 20, 1000])
@pytest.mark.parametrize("name", ["bertscore", "bertscore:token_idf=true", "yi2020"])
def test_prepared_references_give_equal_scores_of_model_metrics(
    name: str, in_memory: int, encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoders, "_MEMORY_LIMIT", in_memory)
    settings = captious.Settings(model=encoder)
    found = captious.prepare(REFERENCES, name, path=tmp_path / "refs.prepared", settings=settings)
    reports = [captious.score(FIRST, refs, name, settings=settings) for refs in (found, REFERENCES)]
    assert_same(*reports)
    assert found.stored.n_missed == 0


LARGE = large_corpus(700).table()
STRANGE = ["", " ", "...", "\0\n", "a\u00a0b 3\u00a01/2 c", "İstanbul ﬁsh 犬 🐕‍🦺", "a " * 700, "dog dog dog dog"]
ODD = {i: [text, *STRANGE[:i]] for i, text in enumerate(STRANGE)} | {99: ["x"] * 40}
#: References, counts and n-grams beyond 15 and 16 bits.
MANY = " ".join(f"w{i % 30_000}" for i in range(70_000))
BASELINE = captious.read_captions(FIRST, REFERENCES)
#: Candidates, references, metrics, settings.
CASES: dict[str, tuple[Any, Any, list[str], dict[str, Any]]] = {
    **{
        f"tokenizer {name}": (FIRST, REFERENCES, WORDS, {"tokenizer": name})
        for name in ("ptb", "ptb-harness", "whitespace", "spaces", "smurf")
    },
    "large corpus": (dict(zip(LARGE.ids, LARGE.candidates, strict=True)), LARGE.references, WORDS, {}),
    "strange texts": (dict.fromkeys(ODD, "a dog b 3 1/2 c"), ODD, [*WORDS, "rouge-s", "unigram-recall"], {}),
    "many words": ({0: "a b c", 1: MANY[:10_000]}, {0: ["a b"] * 33_000, 1: [MANY, "a b"]}, ["bleu", "cider-d"], {}),
    "some images": (dict(zip(BASELINE.ids[:5], BASELINE.candidates[:5], strict=True)), REFERENCES, WORDS, {}),
}


@pytest.mark.parametrize("case", CASES)
def test_prepared_references_give_equal_scores(case: str, tmp_path: Path) -> None:
    candidates, references, metrics, chosen = CASES[case]
    settings, file = captious.Settings(**chosen), tmp_path / "refs.prepared"
    found = captious.prepare(references, metrics, path=file, settings=settings)
    expected = captious.score(candidates, references, metrics, settings=settings, match="common")
    for prepared in (found, file):
        assert_same(captious.score(candidates, prepared, metrics, settings=settings, match="common"), expected)


def test_tokenizers_of_users_are_not_stored(tmp_path: Path) -> None:
    tokenizer = captious.Tokenizer("mine", str.split)
    found = captious.prepare(
        REFERENCES, WORDS, path=tmp_path / "refs.prepared", settings=captious.Settings(tokenizer=tokenizer)
    )
    same_name = captious.Settings(tokenizer=captious.Tokenizer("mine", list))
    assert_same(*(captious.score(FIRST, refs, WORDS, settings=same_name) for refs in (found, REFERENCES)))


def test_concatenated_references_are_prepared(tmp_path: Path) -> None:
    settings = captious.Settings(references_as="cat")
    found = captious.prepare(REFERENCES, WORDS, path=tmp_path / "refs.prepared", settings=settings)
    assert_same(*(captious.score(FIRST, refs, WORDS, settings=settings) for refs in (found, REFERENCES)))
    assert found.concatenated.stored.n_missed == 0
    assert found.stored.n_missed == 0


def test_unprepared_metric_is_scored_with_advice(tmp_path: Path) -> None:
    file = tmp_path / "refs.prepared"
    captious.prepare(REFERENCES, "rouge-l", path=file)
    with pytest.warns(captious.CaptiousWarning, match="is not prepared for bleu, cider-d with these settings"):
        report = captious.score(FIRST, file, WORDS)
    warning = report.warnings[-1]
    assert "captious prepare REFERENCES -o FILE -m bleu -m cider-d" in warning
    for name, result in captious.score(FIRST, REFERENCES, WORDS).items():
        assert np.array_equal(result.per_caption, report[name].per_caption)


def test_comparisons_use_prepared_references(tmp_path: Path) -> None:
    file = tmp_path / "refs.prepared"
    captious.prepare(REFERENCES, WORDS, path=file)
    a, b = (
        captious.compare({"a": FIRST, "b": SECOND}, refs, WORDS, resamples=50).to_dict() for refs in (file, REFERENCES)
    )
    assert json.dumps(a) == json.dumps(b)


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
@pytest.mark.parametrize("name", ["cider-d", "chrf", "rouge-l"])
def test_rewards_use_prepared_references(name: str, tmp_path: Path) -> None:
    file = tmp_path / "refs.prepared"
    metric: Any = registry.get(name)()
    captious.prepare(REFERENCES, [metric], path=file)
    table = captious.read_captions(FIRST, REFERENCES)
    ids, captions = table.ids * 2, (*table.candidates, *("a dog" for _ in table.ids))
    expected = captious.reward(REFERENCES, metric)
    scorer = captious.reward(file, metric)
    assert scorer.signature == expected.signature
    for each in (scorer, pickle.loads(pickle.dumps(scorer))):
        assert np.array_equal(each(ids, captions), expected(ids, captions))


def test_frequencies_can_be_merged_and_saved(tmp_path: Path) -> None:
    found = captious.prepare(REFERENCES, "cider-d", path=tmp_path / "refs.prepared")
    frequencies, expected = (captious.DocumentFrequencies.of(refs) for refs in (found, REFERENCES))
    assert frequencies.checksum == expected.checksum
    assert frequencies.merge(expected).checksum == expected.merge(expected).checksum


def test_frequencies_that_were_not_stored_are_counted_from_what_was(tmp_path: Path) -> None:
    found = captious.prepare(REFERENCES, "bleu", path=tmp_path / "refs.prepared")
    assert captious.DocumentFrequencies.of(found).checksum == captious.DocumentFrequencies.of(REFERENCES).checksum


@pytest.fixture(scope="module")
def prepared_file(tmp_path_factory: pytest.TempPathFactory) -> ArrayFile:
    path = tmp_path_factory.mktemp("forged") / "refs.prepared"
    metrics = [name for name in ("bleu", "cider-d", "rouge-l", "meteor") if registry.get(name).missing() is None]
    captious.prepare(REFERENCES, metrics, path=path)
    return ArrayFile(path, module.PREPARED_MAGIC, what="", help="")


@given(st.data())
def test_changed_numbers_in_prepared_files_are_handled(prepared_file: ArrayFile, data: st.DataObject) -> None:
    """Content with right checksums that contradicts itself is refused, or harmless."""
    file = prepared_file
    arrays = {name: file.array(name) for name in file._entries}
    name = data.draw(st.sampled_from(sorted(arrays)))
    changed = arrays[name].copy()
    what = data.draw(st.sampled_from(["one", "many", "shorter", "other type"]))
    limits = np.iinfo(changed.dtype)
    values = st.one_of(st.integers(limits.min, limits.max), st.integers(max(limits.min, -2), 100), st.just(limits.max))
    if what in ("one", "many") and changed.size:
        for _ in range(1 if what == "one" else 20):
            changed[data.draw(st.integers(0, changed.size - 1))] = data.draw(values)
    elif what == "shorter":
        changed = changed[: data.draw(st.integers(0, changed.size))]
    else:
        changed = changed.astype(np.float64)
    path = Path(file.path).with_name("changed.prepared")
    with open(path, "wb") as out:
        write_array_file(out, module.PREPARED_MAGIC, file.about, arrays | {name: changed})
    with contextlib.suppress(CaptiousError):
        captious.score(FIRST, path, file.about["metrics"], match="common")
