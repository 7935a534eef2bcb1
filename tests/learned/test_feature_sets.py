"""Feature sets: the built-in ones, sets in files, and refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from captious.errors import CaptiousError, UnknownNameError
from captious.learned.networks import FEATURE_SETS, Feature, FeatureSet, as_feature_set


def test_named_feature_sets_have_the_sizes_of_the_papers() -> None:
    nneval = as_feature_set("nneval")
    assert [(f.metric.partition(":")[0], f.scale) for f in nneval.features] == [
        *(("meteor", 1), ("wmd@lceval", 1), ("bleu-1", 1), ("bleu-2", 1), ("bleu-3", 1), ("bleu-4", 1)),
        *(("spice", 1), ("cider-d", 0.1)),
    ]
    lceval = as_feature_set("lceval")
    assert [f.metric.partition(":")[0] for f in lceval.features] == [
        *(f"ngram-precision-{n}" for n in (1, 2, 3, 4)),
        *("unigram-recall", "rouge-l", "meteor", "wmd@lceval", "spice", "cider-d", "mowe"),
        *("hwcm-2", "hwcm-3", "hwcm-4", "hwcm-2", "hwcm-3"),
    ]
    assert {f.scale for f in lceval.features} == {1.0}
    assert [len(as_feature_set(name)) for name in FEATURE_SETS] == [8, 16, 16, 16]
    assert len({as_feature_set(name).label for name in FEATURE_SETS}) == 4


def test_labels_change_with_the_content() -> None:
    one = FeatureSet("mine", (Feature("bleu-1"), Feature("rouge-l")))
    same = FeatureSet("mine", (Feature("BLEU-1"), Feature("rouge-l", 1)))
    assert one.labels == same.labels == ("bleu-1", "rouge-l")
    others = [
        FeatureSet("mine", (Feature("rouge-l"), Feature("bleu-1"))),
        FeatureSet("mine", (Feature("bleu-1", 0.5), Feature("rouge-l"))),
        FeatureSet("mine", (Feature("bleu-1@paper"), Feature("rouge-l"))),
        FeatureSet("yours", one.features),
    ]
    assert len({feature_set.label for feature_set in (one, *others)}) == 5


@pytest.mark.parametrize("form", ["json", "toml"])
def test_feature_sets_are_read_from_files(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"mine.{form}"
    texts = {
        "json": '{"name": "mine", "features": ["bleu-1", {"metric": "cider-d:idf=coco", "scale": 0.1}]}',
        "toml": 'name = "mine"\nfeatures = ["bleu-1", {metric = "cider-d:idf=coco", scale = 0.1}]\n',
    }
    path.write_text(texts[form])
    loaded = as_feature_set(path)
    assert loaded == FeatureSet("mine", (Feature("bleu-1"), Feature("cider-d:idf=coco", 0.1)))
    assert FeatureSet.from_dict(loaded.to_dict()) == loaded


def test_names_that_are_no_sets(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="there is no feature set 'lcevil'") as refused:
        as_feature_set("lcevil")
    assert "lceval" in refused.value.hint
    with pytest.raises(CaptiousError, match="cannot read"):
        as_feature_set(tmp_path / "none.json")
