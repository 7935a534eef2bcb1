"""``score``: requests, settings, and warnings."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import captious
from captious import Settings
from captious.data import References, read_references
from captious.errors import (
    CaptiousWarning,
    DuplicateCandidateError,
    EmptyInputError,
    ParameterError,
    ResourceError,
    UnknownNameError,
)
from captious.evaluation import evaluate
from captious.metrics.contract.metric import add_reference_counts, reference_counts
from captious.metrics.contract.selection import select
from captious.progress import observed
from tests.support.corpora import references_table
from tests.support.observers import Events

REFERENCES = {i: [f"a dog and {i} cats", f"{i} cats with a dog"] for i in range(120)}
CANDIDATES = {i: f"a dog with {i} cats" for i in range(120)}


def words(caption: str) -> list[str]:
    return caption.split()


class TestMetrics:
    def test_variants_stand_beside_each_other(self) -> None:
        terse = {
            i: f"a dog {i} cats" for i in CANDIDATES
        }  # relative counts are clipped where captions differ in length
        report = captious.score(terse, REFERENCES, ["cider-d", "cider-d@paper"])
        assert list(report) == ["cider-d", "cider-d@paper"]
        assert report["cider-d"].score != report["cider-d@paper"].score
        assert "variant:paper" in report["cider-d@paper"].signature

    def test_metric_objects_are_scored(self) -> None:
        report = captious.score(CANDIDATES, REFERENCES, [captious.CiderD(sigma=2.0), "rouge-l"])
        assert list(report) == ["cider-d:sigma=2", "rouge-l"]
        assert report["cider-d"] is report["cider-d:sigma=2"]
        assert "cider-d" in report
        assert "sigma:2" in report["cider-d"].signature

    def test_one_metric_needs_no_list(self) -> None:
        by_name = captious.score(CANDIDATES, REFERENCES, "rouge-l")
        by_object = captious.score(CANDIDATES, REFERENCES, captious.RougeL())
        assert list(by_name) == list(by_object) == ["rouge-l"]

    @pytest.mark.parametrize("asked", [["bleu-4", "bleu"], ["rouge-l", "rouge-l"], ["rouge-l", captious.RougeL()]])
    def test_duplicate_metrics_are_refused(self, asked: list[object]) -> None:
        with pytest.raises(ParameterError, match="requested twice"):
            captious.score(CANDIDATES, REFERENCES, asked)

    def test_empty_list_of_metrics_is_refused(self) -> None:
        with pytest.raises(ParameterError, match="no metric") as caught:
            captious.score(CANDIDATES, REFERENCES, [])
        assert "cider-d" in caught.value.hint

    def test_a_class_in_place_of_a_metric_is_explained(self) -> None:
        with pytest.raises((ParameterError, UnknownNameError)) as caught:
            captious.score(CANDIDATES, REFERENCES, [captious.Bleu])
        assert "Bleu()" in str(caught.value)

    def test_every_metric_is_a_step(self) -> None:
        events = Events()
        captions = captious.read_captions(CANDIDATES, REFERENCES)
        with observed(events):
            evaluate(captions, select(["rouge-l", "bleu"]), system="mine")
        assert events.steps == ["mine: rouge-l", "mine: bleu"]
        assert events.works[0].total == 2

    def test_subclass_of_a_metric_is_scored(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from captious.metrics.contract import registry

        monkeypatch.setattr(registry, "_registered", {})

        class Longer(captious.RougeL):
            beta = 2.0

        captious.register("rouge-l-recall")(Longer)
        assert list(captious.score(CANDIDATES, REFERENCES, ["rouge-l-recall"])) == ["rouge-l-recall"]


class TestTokenizers:
    def test_a_function_is_named_in_the_signature(self) -> None:
        signature = captious.score(CANDIDATES, REFERENCES, ["rouge-l"], settings=Settings(tokenizer=words))[
            "rouge-l"
        ].signature
        assert f"tokenizer:{words.__module__}.words" in signature

    def test_str_split_is_the_whitespace_tokenizer(self) -> None:
        own = captious.score(CANDIDATES, REFERENCES, ["rouge-l", "bleu", "cider-d"], settings=Settings(tokenizer=words))
        built_in = captious.score(
            CANDIDATES, REFERENCES, ["rouge-l", "bleu", "cider-d"], settings=Settings(tokenizer="whitespace")
        )
        for name in own:
            assert np.array_equal(own[name].per_caption, built_in[name].per_caption)

    def test_named_tokenizer_is_used(self) -> None:
        tokenizer = captious.Tokenizer("upper", lambda caption: caption.upper().split())
        report = captious.score({1: "A cat"}, {1: ["a CAT"]}, ["rouge-l"], settings=Settings(tokenizer=tokenizer))
        assert report["rouge-l"].score == 1
        assert "tokenizer:upper" in report["rouge-l"].signature

    def test_a_lambda_has_no_name(self) -> None:
        with pytest.raises(ParameterError, match="no name") as caught:
            captious.score(
                CANDIDATES, REFERENCES, ["rouge-l"], settings=Settings(tokenizer=lambda caption: caption.split())
            )
        assert "captious.Tokenizer(" in caught.value.hint

    def test_tokenizer_setting_does_not_change_metric_objects(self) -> None:
        metrics = [captious.RougeL(tokenizer="ptb-raw"), "bleu-1"]
        report = captious.score(CANDIDATES, REFERENCES, metrics, settings=Settings(tokenizer="whitespace"))
        assert "tokenizer:ptb-raw" in report["rouge-l"].signature
        assert "tokenizer:whitespace" in report["bleu-1"].signature

    def test_a_function_that_returns_nothing_is_refused(self) -> None:
        def forgets_to_return(caption: str) -> None:
            caption.split()

        with pytest.raises(ParameterError, match="NoneType"):
            captious.score(CANDIDATES, REFERENCES, ["rouge-l"], settings=Settings(tokenizer=forgets_to_return))

    def test_a_method_of_str_has_a_sensible_name(self) -> None:
        signature = captious.score(CANDIDATES, REFERENCES, ["rouge-l"], settings=Settings(tokenizer=str.split))[
            "rouge-l"
        ].signature
        assert "None" not in signature


class TestIdf:
    @pytest.fixture
    def frequencies(self) -> captious.DocumentFrequencies:
        from captious.text import PTB

        return captious.DocumentFrequencies.of(REFERENCES, PTB)

    def test_object_and_file_give_equal_scores(self, frequencies: captious.DocumentFrequencies, tmp_path: Path) -> None:
        frequencies.save(tmp_path / "dogs.idf")
        small = {i: CANDIDATES[i] for i in range(3)}, {i: REFERENCES[i] for i in range(3)}
        by_object = captious.score(*small, ["cider-d"], settings=Settings(idf=frequencies))["cider-d"]
        by_file = captious.score(*small, ["cider-d"], settings=Settings(idf=tmp_path / "dogs.idf"))["cider-d"]
        assert np.array_equal(by_object.per_caption, by_file.per_caption)
        assert "idf:dogs-120-" in by_file.signature

    def test_scores_do_not_depend_on_which_images_are_scored(self, frequencies: captious.DocumentFrequencies) -> None:
        whole = captious.score(CANDIDATES, REFERENCES, ["cider-d"], settings=Settings(idf=frequencies))
        part = captious.score(
            {i: CANDIDATES[i] for i in range(5)},
            {i: REFERENCES[i] for i in range(5)},
            ["cider-d"],
            settings=Settings(idf=frequencies),
        )
        np.testing.assert_allclose(part["cider-d"].per_caption, whole["cider-d"].per_caption[:5], atol=1e-12)

    def test_given_frequencies_need_no_warning_about_few_images(
        self, frequencies: captious.DocumentFrequencies
    ) -> None:
        report = captious.score({1: CANDIDATES[1]}, {1: REFERENCES[1]}, ["cider-d"], settings=Settings(idf=frequencies))
        assert report.warnings == []
        assert report["cider-d"].score > 0

    def test_the_tokenizer_of_the_frequencies_applies(self) -> None:
        from captious.text import WHITESPACE

        frequencies = captious.DocumentFrequencies.of(REFERENCES, WHITESPACE)
        report = captious.score(CANDIDATES, REFERENCES, ["cider-d"], settings=Settings(idf=frequencies))
        assert "tokenizer:whitespace" in report["cider-d"].signature
        with pytest.raises(ParameterError, match="counted with the tokenizer whitespace"):
            captious.score(CANDIDATES, REFERENCES, ["cider-d"], settings=Settings(idf=frequencies, tokenizer="ptb"))

    @pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04 cut off"])
    def test_other_files_are_refused_as_idf(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "broken.idf").write_bytes(content)
        with pytest.raises(ResourceError, match="damaged"):
            captious.score(CANDIDATES, REFERENCES, ["cider-d"], settings=Settings(idf=tmp_path / "broken.idf"))

    def test_other_types_are_refused_as_idf(self) -> None:
        with pytest.raises((ParameterError, TypeError)):
            captious.score(CANDIDATES, REFERENCES, ["cider-d"], settings=Settings(idf={"a": 1}))


class TestImages:
    def test_swapped_captions_and_references_are_explained(self) -> None:
        with pytest.raises(DuplicateCandidateError) as caught:
            captious.score(REFERENCES, CANDIDATES, ["rouge-l"])
        assert "are these the references?" in caught.value.hint

    @pytest.mark.filterwarnings("ignore:.*single letters:captious.CaptiousWarning")
    def test_an_integer_and_its_text_are_one_image(self) -> None:
        report = captious.score({"1": "one a", 2: "two a"}, {2: ["two", "x"], 1: ["one", "y"]}, ["rouge-1"])
        assert report.ids == (2, 1)
        assert report["rouge-1"].per_caption.tolist() == [0.5, 0.5]
        with pytest.raises(ParameterError, match="two ids would become one image"):
            captious.score({1: "one a", "1": "two a"}, {"1": ["two", "x"], 1: ["one", "y"]}, ["rouge-1"])

    @pytest.mark.filterwarnings("ignore:too few images")
    @pytest.mark.filterwarnings("ignore:.*single letters:captious.CaptiousWarning")
    def test_ids_are_read_by_a_rule(self) -> None:
        candidates, references = {"a/1.jpg": "one a", "a/2.jpg": "two a"}, {2: ["two", "x"], 1: ["one", "y"]}
        report = captious.score(candidates, references, ["rouge-1"], ids="stem")
        assert report.ids == (2, 1)
        plain = captious.score({1: "one a", 2: "two a"}, references, ["rouge-1"])
        assert report["rouge-1"].signature == plain["rouge-1"].signature  # ids are no part of a score
        assert captious.score_systems({"a": candidates}, references, "rouge-1", ids="stem")["a"].ids == (2, 1)
        assert captious.check(candidates, references, ids="stem").n_candidates == 2
        compared = captious.compare({"a": candidates, "b": candidates}, references, "rouge-1", ids="stem")
        assert compared["rouge-1"].difference == 0

    def test_references_may_be_read_once_for_many_systems(self) -> None:
        table = read_references(REFERENCES)
        first, second = (captious.score(CANDIDATES, table, ["cider-d"]) for _ in range(2))
        assert first.captions.references is second.captions.references
        assert first["cider-d"].score == second["cider-d"].score

    @pytest.mark.parametrize("caption", ["", " ", ".", "!?", "\u200b", "猫", "a\x00b", "a" * 100_000, "x " * 20_000])
    @pytest.mark.filterwarnings("ignore:1 of 120 candidates:captious.CaptiousWarning")
    def test_any_caption_has_finite_scores(self, caption: str) -> None:
        names = ["bleu", "bleu@paper", "rouge-l", "rouge-n", "rouge-s", "cider", "cider-d", "cider-d@paper"]
        candidates = {**CANDIDATES, 0: caption}
        report = captious.score(candidates, REFERENCES, [*names, "ngram-precision", "unigram-recall"])
        for result in report.values():
            assert np.isfinite(result.per_caption).all()
            assert np.isfinite(result.score)
            assert np.isfinite(result.confidence_interval(resamples=5)).all()


class TestWarnings:
    def test_few_images_are_warned_about(self) -> None:
        with pytest.warns(CaptiousWarning, match="only 3") as caught:
            report = captious.score(
                dict.fromkeys(range(3), "a cat"), {i: [f"a cat runs {i}", "it sits"] for i in range(3)}, ["cider-d"]
            )
        assert [str(warning.message) for warning in caught] == report.warnings
        assert report.to_dict()["warnings"] == report.warnings
        assert all(Path(warning.filename) == Path(__file__) for warning in caught)

    def test_few_images_are_said_once_per_metric(self) -> None:
        with pytest.warns(CaptiousWarning) as caught:
            captious.score({1: "a cat"}, {1: ["a cat runs", "it sits"]}, ["cider-d", "cider-d@paper", "cider"])
        assert len(caught) == 2

    def test_single_references_are_warned_about(self) -> None:
        with pytest.warns(CaptiousWarning, match="only one reference"):
            captious.score(dict.fromkeys(range(5), "a cat"), {i: ["a cat runs"] for i in range(5)}, ["rouge-l"])

    def test_several_references_of_an_image_need_no_warning(self) -> None:
        captious.score({1: "a cat", 2: "dogs"}, {1: ["a cat runs"], 2: ["dogs", "it sits"]}, ["rouge-l"])

    def test_occasional_copies_of_references_give_no_warning(self) -> None:
        captious.score(
            {i: "a cat" if i < 2 else "nothing" for i in range(20)},
            {i: ["a cat", "it sits"] for i in range(20)},
            ["rouge-l"],
        )

    def test_ordinary_corpus_has_no_warnings(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            report = captious.score(CANDIDATES, REFERENCES, ["bleu", "rouge-l", "cider-d"])
        assert report.warnings == []


def test_score_of_no_captions_is_refused() -> None:
    nothing = captious.read_captions(CANDIDATES, REFERENCES).select(np.zeros(0, np.int64))
    with pytest.raises(EmptyInputError, match="there are no captions") as caught:
        captious.score(nothing, metrics=["cider-d"], system="mine")
    assert caught.value.where == "mine"


@pytest.mark.parametrize(
    ("references", "counts", "part"),
    [
        (references_table([["a", "b"], ["c", "d"]]), (2, 4, 2), "references:2"),
        (references_table([["a", "b"], ["c"]]), (2, 3, 2), "references:var"),
        (references_table([["a", "b"], ["c"]]).concatenated, (2, 2, 1), "references:1"),
        (captious.read_captions({1: "a", 2: "b"}).references, (2, 0, 0), "references:0"),
    ],
)
def test_references_are_counted(references: References, counts: tuple[int, int, int], part: str) -> None:
    assert reference_counts(references) == counts
    assert add_reference_counts(["m|captious:1"], *counts)[0].split("|")[1] == part
