"""COCOEvalCap with the further arguments of forks, and with their audio."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captious import DocumentFrequencies
from captious.compat.pycocoevalcap import COCOEvalCap
from captious.compat.pycocoevalcap.cider.cider import Cider
from captious.compat.pycocoevalcap.eval_spice import COCOEvalCapSpice
from captious.errors import MissingExtraError, ParameterError, ResourceError
from tests.compat.conftest import BLEU, GTS, MEAN_CIDER, MEAN_ROUGE, RES, FakeCoco, NoSpice
from tests.oracles import cider as oracle

BLEUS = ["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4"]


def evaluated(*arguments: Any, **further: Any) -> COCOEvalCap:
    evaluation = COCOEvalCap(FakeCoco(GTS), FakeCoco(RES), *arguments, **further)
    evaluation.evaluate()
    return evaluation


@pytest.mark.parametrize(
    ("further", "names"),
    [
        ({"use_scorers": ["CIDEr", "Bleu"]}, [*BLEUS, "CIDEr"]),
        ({"use_scorers": ("ROUGE_L",)}, ["ROUGE_L"]),
        ({"use_scorers": {"rouge", "BLEU"}}, [*BLEUS, "ROUGE_L"]),
        ({"coco_types": ["CIDEr", "BLEU"]}, ["CIDEr", *BLEUS]),
        ({"cocoTypes": ["ROUGE_L"], "verbose": False}, ["ROUGE_L"]),
        ({"metrics": {"CIDEr", "Bleu"}}, [*BLEUS, "CIDEr"]),
        ({"scorers_to_run": ["rouge", "bleu"], "spice_threads": 4}, [*BLEUS, "ROUGE_L"]),
        ({"exclude_scorers": ["METEOR", "spice", "Rouge"]}, [*BLEUS, "CIDEr"]),
        ({"metrics": ["CIDEr", "ROUGE_L"], "exclude_scorers": ["cider"]}, ["ROUGE_L"]),
    ],
)
def test_arguments_select_scorers(further: dict[str, Any], names: list[str]) -> None:
    evaluation = evaluated(**further)
    assert [*evaluation.eval] == names
    assert all([*image_scores] == ["image_id", *names] for image_scores in evaluation.evalImgs)
    expected = dict(zip([*BLEUS, "ROUGE_L", "CIDEr"], [*BLEU, MEAN_ROUGE, MEAN_CIDER], strict=True))
    assert evaluation.eval == pytest.approx({name: expected[name] for name in names}, abs=1e-14)


def test_third_argument_may_list_scorers() -> None:
    """As language-evaluation calls it: types, a tokenizer, verbose."""
    assert [*evaluated(["CIDEr", "ROUGE_L"], None, verbose=False).eval] == ["CIDEr", "ROUGE_L"]


@pytest.mark.parametrize("argument", ["use_scorers", "metrics", "coco_types", "exclude_scorers"])
def test_unknown_scorers_are_refused(argument: str) -> None:
    with pytest.raises(ParameterError, match="'CLAIR'"):
        evaluated(**{argument: ["Bleu", "CLAIR"]})
    with pytest.raises(ParameterError, match="list of scorers"):
        evaluated(**{argument: "Bleu"})


def test_unsupported_arguments_are_refused() -> None:
    with pytest.raises(ParameterError, match="'language'"):
        evaluated(language="de")
    with pytest.raises(TypeError, match="use_scorers"):
        evaluated(wbleu_set="x")
    with pytest.raises(ParameterError, match="both choose"):
        evaluated(metrics=["CIDEr"], use_scorers=["CIDEr"])
    with pytest.raises(ParameterError, match="both choose"):
        evaluated(["CIDEr"], use_scorers=["CIDEr"])
    with pytest.raises(ParameterError, match="several tokenizers"):
        evaluated(tokenizer=str.split, tokenization_fn=str.split)
    with pytest.raises(ParameterError, match="'nltk' is not a tokenizer"):
        evaluated(tokenizer="nltk")
    with pytest.raises(ParameterError, match="already tokenized"):
        evaluated(False)
    with pytest.raises(ParameterError, match="third argument"):
        evaluated(5)


@pytest.mark.parametrize("third", [None, True])
def test_third_argument_may_be_the_default(third: object) -> None:
    assert evaluated(third, use_scorers=["CIDEr"]).eval["CIDEr"] == pytest.approx(MEAN_CIDER, abs=1e-14)


def test_wmd_runs_only_on_request() -> None:
    assert "WMD" not in evaluated(exclude_scorers=["METEOR", "SPICE"]).eval
    assert [*evaluated(scorers_to_run=["rouge", "wmd"]).eval] == ["ROUGE_L", "WMD"]


@pytest.mark.usefixtures("no_tables")
def test_requested_scorer_without_tables_is_an_error() -> None:
    with pytest.raises(MissingExtraError):
        evaluated(use_scorers=["METEOR"])


def test_df_argument_sets_document_frequencies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert evaluated("corpus", use_scorers=["CIDEr"]).eval["CIDEr"] == pytest.approx(MEAN_CIDER, abs=1e-14)
    frequencies = oracle.frequencies([[text.split() for text in texts] for texts in GTS.values()] * 3)
    (tmp_path / "data").mkdir()
    DocumentFrequencies.of_counts(frequencies.counts, frequencies.documents).to_pickle(tmp_path / "data" / "train-df.p")
    monkeypatch.chdir(tmp_path)
    expected = np.mean([oracle.cider_d(RES[i][0].split(), [text.split() for text in GTS[i]], frequencies) for i in GTS])
    for df in ("train-df", tmp_path / "data" / "train-df.p"):
        assert evaluated(df, use_scorers=["CIDEr"]).eval["CIDEr"] == pytest.approx(expected, abs=1e-12)
        assert evaluated(df=df, use_scorers=["CIDEr"]).eval["CIDEr"] == pytest.approx(expected, abs=1e-12)
    assert Cider("train-df").compute_score(GTS, RES)[0] == pytest.approx(expected, abs=1e-12)
    with pytest.raises(ResourceError, match="val-df"):
        evaluated("val-df")


def test_document_frequency_pickles_of_forks_are_read(tmp_path: Path) -> None:
    (tmp_path / "own.p").write_bytes(pickle.dumps({"df": {("dog",): 2.0}, "ref_len": 7.0}))
    assert Cider(df=tmp_path / "own.p")._idf.n_documents == 7  # type: ignore[union-attr]
    (tmp_path / "coco-val-df.p").write_bytes(pickle.dumps({("dog",): 2.0}))
    assert Cider(df=tmp_path / "coco-val-df.p")._idf.n_documents == 40_504  # type: ignore[union-attr]


@pytest.mark.parametrize("as_list", [False, True])
def test_custom_tokenizer_is_used(as_list: bool) -> None:
    def tokenize(text: str) -> Any:
        words = text.replace("runs", "run").split()
        return words if as_list else " ".join(words)

    evaluation = evaluated(tokenization_fn=tokenize, use_scorers=["ROUGE_L"])
    assert evaluation.eval["ROUGE_L"] == pytest.approx(MEAN_ROUGE, abs=1e-14)
    coco = FakeCoco({1: ["run ."]}), FakeCoco({1: ["runs !"]})
    apart = COCOEvalCap(*coco, tokenization_fn=tokenize, use_scorers=["ROUGE_L"])
    apart.evaluate()
    assert apart.eval["ROUGE_L"] == 0.5  # punctuation is for the function to drop


class Tokenizer:
    """A tokenizer with the method of the toolkit's."""

    def tokenize(self, captions_for_image: Mapping[Any, list[dict[str, Any]]]) -> dict[Any, list[str]]:
        return {
            image: [annotation["caption"].upper() for annotation in group]
            for image, group in captions_for_image.items()
        }


@pytest.mark.parametrize("tokenizer", [Tokenizer(), str.upper, lambda text: text.upper().split()])
def test_tokenizer_objects_and_functions_are_accepted(tokenizer: Any) -> None:
    coco = FakeCoco({1: ["a Dog ."]}), FakeCoco({1: ["A dOG !"]})
    for further in ({"tokenizer": tokenizer}, {"df": tokenizer}):
        evaluation = COCOEvalCap(*coco, use_scorers=["ROUGE_L"], **further)
        evaluation.evaluate()
        assert evaluation.eval["ROUGE_L"] == pytest.approx(2 / 3)


def test_patched_scorers_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("captious.compat.pycocoevalcap.eval.Spice", NoSpice)
    assert evaluated(use_scorers=["SPICE"]).eval["SPICE"] == 0.0


@pytest.mark.parametrize("where", ["constructor", "evaluate"])
def test_quiet_evaluation_prints_nothing(where: str, capsys: pytest.CaptureFixture[str]) -> None:
    here = where == "constructor"
    evaluation = COCOEvalCap(FakeCoco(GTS), FakeCoco(RES), use_scorers=["Bleu"], verbose=not here)
    evaluation.evaluate() if here else evaluation.evaluate(verbose=False)
    assert capsys.readouterr().out == ""
    assert evaluation.eval["Bleu_1"] == pytest.approx(BLEU[0])


class FakeAudio:
    """As much of the audio forks' COCO as the toolkit touches."""

    def __init__(self, captions: Mapping[Any, list[str]]) -> None:
        self.audioToAnns = {
            audio: [{"audio_id": audio, "id": number, "caption": text} for number, text in enumerate(texts)]
            for audio, texts in captions.items()
        }

    def getAudioIds(self) -> list[Any]:  # noqa: N802
        return list(self.audioToAnns)


@pytest.mark.usefixtures("meteor_tables")
def test_audio_forks_are_evaluated(capsys: pytest.CaptureFixture[str]) -> None:
    evaluation = COCOEvalCap(FakeAudio(GTS), FakeAudio(RES))
    assert evaluation.params == {"audio_id": [*GTS]}
    evaluation.params["audio_id"] = evaluation.cocoRes.getAudioIds()
    evaluation.evaluate(verbose=False)
    assert capsys.readouterr().out == ""
    assert [*evaluation.eval] == [*BLEUS, "METEOR", "ROUGE_L", "CIDEr", "SPICE", "SPIDEr"]
    assert evaluation.eval["SPIDEr"] == pytest.approx((MEAN_CIDER + evaluation.eval["SPICE"]) / 2, abs=1e-14)
    assert evaluation.evalAudios == [*evaluation.audioToEval.values()]
    assert [recording["audio_id"] for recording in evaluation.evalAudios] == [*GTS]
    for recording in evaluation.evalAudios:
        assert "image_id" not in recording
        assert recording["SPIDEr"] == pytest.approx((recording["CIDEr"] + recording["SPICE"]["All"]["f"]) / 2)
    assert np.mean([recording["SPIDEr"] for recording in evaluation.evalAudios]) == pytest.approx(
        evaluation.eval["SPIDEr"]
    )


@pytest.mark.usefixtures("meteor_tables")
def test_subclass_of_evaluation_with_its_own_init_evaluates() -> None:
    class Own(COCOEvalCap):
        def __init__(self, gts: Any, res: Any) -> None:
            self.evalImgs, self.eval, self.imgToEval = [], {}, {}
            self.coco, self.cocoRes = gts, res
            self.params = {"image_id": [*GTS]}

    evaluation = Own(FakeCoco(GTS), FakeCoco(RES))
    evaluation.evaluate()
    assert evaluation.eval["CIDEr"] == pytest.approx(MEAN_CIDER)


@pytest.mark.usefixtures("meteor_tables")
def test_evaluations_pickle() -> None:
    for make in (COCOEvalCap, COCOEvalCapSpice):
        evaluation = pickle.loads(pickle.dumps(make(FakeCoco(GTS), FakeCoco(RES))))
        evaluation.evaluate()
        assert pickle.loads(pickle.dumps(evaluation)).eval == evaluation.eval


def test_audio_evaluation_without_recordings_is_refused() -> None:
    evaluation = COCOEvalCap(FakeAudio(GTS), FakeAudio(RES))
    evaluation.params["audio_id"] = []
    with pytest.raises(ValueError, match="no recordings"):
        evaluation.evaluate()
