"""``judge`` with "all": every benchmark whose files are there, every metric that can run; and tests by bootstrap."""

from __future__ import annotations

import gzip
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from captious.errors import ParameterError, ResourceError, UnknownNameError
from captious.judgment import judge, load_judgments
from captious.metrics.contract.metric import SetMetric
from captious.metrics.contract.registry import get, metric_names
from captious.metrics.contract.selection import available, select, select_single
from captious.metrics.contract.settings import Settings
from captious.statistics import Sampling, holm
from tests.support.every_metric import INPUTS
from tests.support.judgments import write_jsonl


@pytest.fixture
def folder(shared_data: Path, tmp_path: Path) -> Path:
    """Some of Flickr8k-Expert, and two benchmarks of systems."""
    (tmp_path / "flickr8k").mkdir()
    with gzip.open(shared_data / "flickr8k" / "expert.jsonl.gz", "rt", encoding="utf-8") as lines:
        (tmp_path / "flickr8k" / "expert.jsonl").write_text("".join(islice(lines, 200)), encoding="utf-8")
    for file in ("coco2015/teams.json.gz", "conll14_gec/systems.json.gz"):
        (tmp_path / file).parent.mkdir()
        (tmp_path / file).write_bytes((shared_data / file).read_bytes())
    return tmp_path


def test_every_available_metric_is_judged() -> None:
    here, warnings = available(Settings())
    expected = [name for name in metric_names() if get(name).missing() is None and not get(name).default_models]
    single = [name for name in expected if not issubclass(get(name), SetMetric)]
    assert here == [name for name in single if name not in (*INPUTS, "leic")]
    assert "bertscore (needs model=NAME)" in warnings[0]
    vectors = Path(__file__).parents[2] / "examples" / "captions-12d.txt"
    assert {"wmd", "mowe", "wembsim"} <= {*available(Settings(vectors=vectors))[0]}
    selection = select(["all", "cider-d:sigma=5"])
    assert selection.labels[:4] == ("bleu-1", "bleu-2", "bleu-3", "bleu-4")
    assert selection.labels[-1] == "cider-d:sigma=5"
    assert set(selection.warnings) == set(warnings)
    with pytest.raises(ParameterError, match="cider-d is requested twice"):
        select(["all", "cider-d"])
    with pytest.raises(UnknownNameError, match="there is no metric 'all'"):
        select_single("all")


@pytest.mark.models
def test_every_model_metric_is_available_with_a_model() -> None:
    pytest.importorskip("torch")
    here, (warning,) = available(Settings(model="no-such-model"))
    assert "bertscore" in here
    assert "clipscore (clipscore needs the images)" in warning


def test_every_benchmark_with_files_is_judged(folder: Path) -> None:
    judgment = judge("all", ["bleu-4", "rouge-s"], data=folder, resamples=5)
    assert list(judgment) == ["flickr8k-expert@spice2016", "coco-2015@m1"]
    assert list(judgment["flickr8k-expert"].agreements) == ["bleu-4", "rouge-s"]
    assert list(judgment["coco-2015"].agreements) == ["bleu-4"]  # the leaderboard has no ROUGE-S
    assert any(warning.startswith("conll14-gec was skipped") for warning in judgment.warnings)
    missing = next(warning for warning in judgment.warnings if "files are missing" in warning)
    assert "composite" in missing
    assert "coco-2015" not in missing


def test_named_benchmark_of_systems_refuses_metrics_without_scores(folder: Path) -> None:
    with pytest.raises(ParameterError, match="no published scores for rouge-s"):
        judge("coco-2015", ["bleu-4", "rouge-s"], data=folder, resamples=5)
    found = judge("coco-2015", "all", data=folder, resamples=5)["coco-2015"].agreements
    assert set(found) == {"bleu-1", "bleu-2", "bleu-3", "bleu-4", "meteor", "rouge-l", "cider-d", "spice"}


def test_judging_without_benchmarks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match="there are no judgments"):
        judge("all", "bleu-4", data=tmp_path)


@pytest.mark.parametrize(
    ("resamples", "permutations"), [(10, {2: 50, 3: 150, 4: 300}), (200, {2: 200, 3: 200, 4: 300})]
)
def test_permutations_suffice_for_the_correction(tmp_path: Path, resamples: int, permutations: dict[int, int]) -> None:
    """At least 50 for each pair of metrics, of which the smallest p value is 1 / (n + 1) before Holm's correction."""
    lines = [{"better": "a cat", "worse": "a dog", "references": ["a cat sits"]} for _ in range(40)]
    write_jsonl(tmp_path, "mine.jsonl", lines)
    scores = {"right": [1.0, 0.0] * 40, **{f"wrong {n}": [0.0, 1.0 + n] * 40 for n in range(3)}}
    for n_metrics, expected in permutations.items():
        given = {"mine": dict(list(scores.items())[:n_metrics])}
        judgment = judge(tmp_path / "mine.jsonl", scores=given, compare=True, resamples=resamples)
        verdict = judgment["mine"]
        n_pairs = n_metrics * (n_metrics - 1) // 2
        smallest = min(n_pairs / (expected + 1), 1)
        assert verdict.p_values["right", "wrong 0"] == pytest.approx(smallest), n_metrics
        assert verdict.permutations == verdict.to_dict()["permutations"] == expected
        assert f"({expected:,} permutations over images; " in " ".join(str(judgment).split())


class TestBootstrap:
    METRICS = ("bleu-1", "rouge-l", "cider-d")

    def test_bootstrap_p_values_use_the_normal_distribution(self, folder: Path) -> None:
        """The normal distribution with the deviation of differences in the resamples of the intervals."""
        judgment = judge(
            "flickr8k-expert", self.METRICS, data=folder, compare=True, test="bootstrap", resamples=200, seed=4
        )
        verdict = judgment["flickr8k-expert"]
        judgments = load_judgments("flickr8k-expert", folder)
        scores = dict(zip(self.METRICS, _scores(judgments, self.METRICS), strict=True))
        raw = []
        for a, b in verdict.p_values:
            left, right = (judgments.resampled_mean([scores[m]], Sampling(200, 4)) for m in (a, b))
            z = (verdict[a].value - verdict[b].value) / np.std(left - right, ddof=1)
            raw.append(2 * norm.sf(abs(z)))
        assert list(verdict.p_values.values()) == pytest.approx(holm(raw))
        assert judgment.test == judgment.to_dict()["test"] == "bootstrap"
        assert verdict["cider-d"].rank == 1

    def test_bootstrap_agrees_with_permutation_test(self, folder: Path) -> None:
        found = [
            judge("flickr8k-expert", self.METRICS, data=folder, compare=True, test=test)["flickr8k-expert"]
            for test in ("permutation", "bootstrap")
        ]
        for pair, p in found[0].p_values.items():
            assert found[1].p_values[pair] == pytest.approx(p, abs=0.12)
        assert found[0]["bleu-1"].interval == found[1]["bleu-1"].interval

    def test_equal_metrics_do_not_differ(self, folder: Path) -> None:
        lengths = [len(text) for text in load_judgments("flickr8k-expert", folder).captions.candidates]
        scores = {"flickr8k-expert": {"length": lengths, "size": lengths}}
        judgment = judge("flickr8k-expert", scores=scores, data=folder, compare=True, test="bootstrap")
        assert list(judgment["flickr8k-expert"].p_values.values()) == [1.0]

    @pytest.mark.parametrize("difference", [1.0, 0.5, 0.3, 0.1])
    def test_constant_difference_of_metrics_is_significant(self, tmp_path: Path, difference: float) -> None:
        """Each image has ten pairs; one metric is right about all of them, the other about the same share of each."""
        lines = [
            {"better": "a cat", "worse": "a dog", "references": ["a cat sits"], "image": i // 10} for i in range(300)
        ]
        write_jsonl(tmp_path, "mine.jsonl", lines)
        wrong = round(10 * difference)
        scores = {
            "mine": {
                "right": [1.0, 0.0] * 300,
                "other": [float(side == (i % 10 < wrong)) for i in range(300) for side in (0, 1)],
            }
        }
        judgment = judge(tmp_path / "mine.jsonl", scores=scores, compare=True, test="bootstrap", resamples=100)
        verdict = judgment["mine"]
        assert verdict["right"].value - verdict["other"].value == pytest.approx(difference)
        assert list(verdict.p_values.values()) == [0]
        assert [verdict["right"].rank, verdict["other"].rank] == [1, 2]

    def test_unknown_test_is_refused(self, folder: Path) -> None:
        with pytest.raises(UnknownNameError, match="there is no test 't'"):
            judge("flickr8k-expert", "bleu-1", data=folder, test="t")

    def test_table_names_the_test(self, folder: Path) -> None:
        text = str(judge("flickr8k-expert", self.METRICS, data=folder, compare=True, test="bootstrap", resamples=50))
        assert "(paired bootstrap over images, normal approximation; Holm's correction" in " ".join(text.split())


def _scores(judgments: object, metrics: tuple[str, ...]) -> list[np.ndarray]:
    import captious

    report = captious.score(judgments.captions, metrics=list(metrics))  # type: ignore[attr-defined]
    return [report[metric].per_caption for metric in metrics]
