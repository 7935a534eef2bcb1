"""Names of metrics, and metrics of other packages."""

from __future__ import annotations

import importlib.metadata
import pickle
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import captious
from captious.compat.evaluate_modules import write_modules
from captious.data import Captions
from captious.errors import CaptiousError, ParameterError, UnknownNameError
from captious.evaluation.scoring import fit_resource
from captious.metrics.contract import registry
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.contract.registry import METRICS
from captious.metrics.contract.selection import select
from tests.support.corpora import table
from tests.support.every_metric import MISSING

NAMES = list(METRICS)


class Length(MeanMetric):
    """Number of characters."""

    name = "extent"

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        return np.array([float(len(candidate)) for candidate in captions.candidates])


@pytest.fixture(autouse=True)
def nothing_registered() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_registered", {})
        yield


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EntryPoint]]:
    """The entry points of other packages: the items of this list."""
    points: list[EntryPoint] = []
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **chosen: EntryPoints(points).select(**chosen))
    vars(registry.PLUGINS).pop("by_name", None)
    yield points
    vars(registry.PLUGINS).pop("by_name", None)


def plugin(name: str, value: str) -> EntryPoint:
    return EntryPoint(name=name, value=value, group="captious.metrics")


# ---- what exists


@pytest.mark.parametrize("name", NAMES)
def test_metrics_say_what_they_are(name: str) -> None:
    metric = registry.get(name)
    assert metric.name == name
    assert metric.outputs == METRICS[name][2]
    assert metric.summary
    assert all(metric.variants.values())
    assert all(parameter.summary for parameter in metric.declared.values())
    if name not in MISSING:
        assert metric().variant == next(iter(metric.variants))
        assert repr(metric()) == f"{metric.__name__}()"


def test_outputs_have_one_metric_each() -> None:
    every = [output for _, _, outputs in METRICS.values() for output in outputs]
    assert len(set(every)) == len(every)


def test_unknown_names() -> None:
    with pytest.raises(UnknownNameError, match="no metric 'xyzzy'"):
        registry.get("xyzzy")


def test_outputs_belong_to_their_metric() -> None:
    assert registry.owner_of("bleu-4") == registry.owner_of("bleu") == "bleu"
    assert registry.owner_of("spice-relation") == "spice"
    assert registry.owner_of("xyzzy") is None


def test_everything_that_can_be_requested() -> None:
    expected = [name for metric, (_, _, outputs) in METRICS.items() for name in dict.fromkeys((metric, *outputs))]
    assert registry.requestable() == expected


# ---- joining


def test_registered_metric_can_be_requested_by_name() -> None:
    @captious.register("letters")
    class Letters(Length):
        outputs = ("letters",)

    assert registry.get("letters") is Letters
    assert registry.metric_names() == [*NAMES, "letters"]
    assert Letters.name == "letters"
    assert select(["Letters", "bleu-1"]).labels == ("letters", "bleu-1")
    with pytest.warns(captious.CaptiousWarning):
        report = captious.score(["a dog", "a"], [["x"], ["y"]], metrics=["letters"])
    assert report["letters"].score == 3.0
    assert report["letters"].signature.startswith("letters|variant:official|tokenizer:ptb|class:")


def test_outputs_follow_the_name() -> None:
    @captious.register("characters")
    class Characters(MeanMetric):
        scores = Length.scores

    assert Characters.outputs == ("characters",)


def test_a_registered_metric_may_build_on_another() -> None:
    # Its outputs are its own, not those of the metric it is derived from.
    @captious.register("narrow-cider")
    class NarrowCider(captious.CiderD):
        """CIDEr-D with another scale."""

    assert NarrowCider.outputs == ("narrow-cider",)
    assert captious.CiderD.outputs == ("cider-d",)


@pytest.mark.parametrize(
    ("value", "declaration"),
    [
        (2.0, "captious.NumberParameter(default=2.0)"),
        (3, "captious.IntegerParameter(default=3)"),
        (True, "captious.FlagParameter(default=True)"),
        ("a", "captious.TextParameter(default='a')"),
    ],
)
def test_a_plain_attribute_is_not_a_parameter(value: object, declaration: str) -> None:
    capped = captious.register("capped")(type("Capped", (MeanMetric,), {"bound": value, "scores": Length.scores}))
    for make in (lambda: select(["capped:bound=3"]), lambda: capped(bound=3)):
        with pytest.raises(UnknownNameError, match="capped has no parameter 'bound'") as caught:
            make()
        assert caught.value.hint == f"declare it in the class, as in bound = {declaration}"
    with pytest.raises(UnknownNameError) as caught:
        capped(summary="x")
    assert caught.value.hint == "its parameters are variant, tokenizer"


def test_registered_outputs_need_distinct_names() -> None:
    class Bleuish(captious.Bleu):
        """Four outputs, called as those of BLEU."""

    with pytest.raises(ParameterError, match="outputs"):
        captious.register("bleuish")(Bleuish)


def test_registering_again_replaces() -> None:
    # So that a cell of a notebook can be run twice.
    for _ in range(2):

        @captious.register("extent")
        class Again(Length):
            outputs = ("extent",)

    assert registry.get("extent") is Again


@pytest.mark.parametrize(
    ("name", "members", "message", "hint"),
    [
        *((name, {}, "taken", "") for name in ("bleu", "cider-d", "bleu-4", "rouge-1")),
        ("thief", {"outputs": ("mine", "bleu-4")}, "taken", ""),
        ("Extent", {}, "cannot name", "such as extent"),
        ("extent", {"outputs": ("extent-P", "extent-r")}, "cannot name", "such as extent-p"),
        *((name, {}, "cannot name a metric", "") for name in ("", "all", "a b", "a,b", "my-metric:a", "a@b", "-a")),
        ("extent", {"outputs": "extent"}, "extent has outputs", "set outputs to a tuple of names"),
        ("extent", {"outputs": ("extent", "extent")}, "an output twice", "another name"),
        ("extent", {"lower_is_better": True}, "True as lower_is_better", 'lower_is_better = frozenset({"extent"})'),
        ("extent", {"no_direction": "extent"}, "'extent' as no_direction", 'no_direction = frozenset({"extent"})'),
        ("extent", {"bounds": (1.0, 0.0)}, "has the bounds", "the lowest score, then the highest"),
        ("My_Extent (new)", {}, "cannot name", "such as my-extent-new"),
    ],
)
def test_names_and_outputs_that_cannot_be_registered(
    name: str, members: dict[str, object], message: str, hint: str
) -> None:
    with pytest.raises(ParameterError, match=message) as caught:
        captious.register(name)(type("Thief", (MeanMetric,), {"scores": Length.scores, **members}))
    assert hint in caught.value.hint
    assert registry.metric_names() == NAMES
    assert registry.get("bleu") is captious.Bleu


@pytest.mark.parametrize("thing", [42, len, dict, captious.Bleu()])
def test_only_metrics_can_register(thing: object) -> None:
    with pytest.raises(ParameterError, match="is not a metric"):
        captious.register("thing")(thing)  # type: ignore[type-var]


def test_entry_points_register_metrics(plugins: list[EntryPoint]) -> None:
    plugins.append(plugin("extent", f"{Length.__module__}:Length"))
    assert registry.metric_names() == [*NAMES, "extent"]
    assert registry.get("extent").name == "extent"
    assert select(["extent"]).labels == ("extent",)
    metric = select(["extent"])[0].metric
    assert metric.statistics(table(["abc"], [["x"]])).tolist() == [[3.0, 1.0]]


def test_entry_points_with_capitals_are_known_in_lower_case(plugins: list[EntryPoint]) -> None:
    plugins.append(plugin("Extent", f"{Length.__module__}:Length"))
    assert registry.metric_names() == [*NAMES, "extent"]
    assert select(["Extent"]).labels == ("extent",)


def test_a_broken_plugin_does_not_hide_that_a_setting_is_not_used(plugins: list[EntryPoint]) -> None:
    plugins.append(plugin("broken", "nowhere:Nothing"))
    with pytest.raises(ParameterError, match="the setting images was given, but no requested metric"):
        select(["bleu-1"], captious.Settings(images="pictures"))


def test_entry_points_of_other_groups_are_ignored(plugins: list[EntryPoint]) -> None:
    plugins.append(EntryPoint("extent", "nowhere:Nothing", "console_scripts"))
    assert registry.metric_names() == NAMES


def test_entry_point_that_is_not_a_metric_is_reported(plugins: list[EntryPoint]) -> None:
    plugins.append(plugin("wrong", "json:JSONEncoder"))
    with pytest.raises(ParameterError, match="json:JSONEncoder is not a metric"):
        registry.get("wrong")


def shared_letters(candidate: str, references: list[str]) -> float:
    """Share of letters that a reference has, too."""
    return len({*candidate} & {*"".join(references)}) / max(len({*candidate}), 1)


def test_an_entry_point_may_name_a_function(plugins: list[EntryPoint]) -> None:
    plugins.append(plugin("common-letters", f"{__name__}:shared_letters"))
    report = captious.score(["ab"], [["bc"]], ["common-letters", "bleu-1"])
    assert report["common-letters"].score == 0.5
    assert report["common-letters"].signature.startswith("common-letters|function:")
    assert registry.get("common-letters").summary == "Share of letters that a reference has, too."
    assert captious.metric_info("common-letters").outputs == ("common-letters",)
    again = pickle.loads(pickle.dumps(registry.get("common-letters")()))
    assert again.signatures() == registry.get("common-letters")().signatures()
    plugins.append(plugin("of-one", "json:dumps"))
    vars(registry.PLUGINS).pop("by_name", None)
    with pytest.raises(ParameterError, match="of-one cannot be called with candidates and references"):
        registry.get("of-one")


def test_a_plugin_that_cannot_be_imported_breaks_nothing_else(plugins: list[EntryPoint]) -> None:
    plugins.append(plugin("broken", "no_such_package.metrics:Broken"))
    assert select(["bleu-4"]).labels == ("bleu-4",)
    with pytest.raises(CaptiousError, match="broken"):
        registry.get("broken")
    with pytest.raises(UnknownNameError, match="blue-4"):
        select(["blue-4"])


@pytest.mark.parametrize(
    ("name", "message"),
    [("broken", "the metric broken cannot be loaded"), ("two words", "'two words' cannot name a metric or an output")],
)
def test_what_lists_metrics_leaves_out_plugins_that_cannot_be_loaded(
    plugins: list[EntryPoint], tmp_path: Path, name: str, message: str
) -> None:
    plugins.append(plugin(name, "no_such_package.metrics:Broken" if name == "broken" else f"{__name__}:shared_letters"))
    (references := tmp_path / "references.csv").write_text("image_id,caption\n1,a dog\n")
    infos = {info.name: info for info in captious.list_metrics()}
    assert [*infos] == [*NAMES, name]
    assert str(infos[name].missing).startswith(message)
    assert infos["bleu"].outputs == captious.Bleu.outputs
    with pytest.raises(ParameterError, match="rouge-s cannot be explained yet") as caught:
        captious.explain("a dog", ["a dog"], "rouge-s")
    assert "supported: bleu, chair" in str(caught.value)
    with pytest.raises(ParameterError, match="rouge-s cannot be fitted") as caught:
        fit_resource("rouge-s", [references])
    assert name not in str(caught.value)
    assert write_modules(tmp_path / "modules")


def test_a_plugin_with_underscores_is_named_as_it_is_requested(plugins: list[EntryPoint]) -> None:
    plugins.append(plugin("My_overlap", f"{__name__}:shared_letters"))
    assert captious.score(["ab"], [["bc"]], "my_overlap")["my-overlap"].score == 0.5
    assert captious.list_metrics()[-1].outputs == ("my-overlap",)


@pytest.mark.parametrize("name", ["bleu", "bleu-4", "Bleu_4"])
def test_a_built_in_metric_cannot_be_shadowed(plugins: list[EntryPoint], name: str) -> None:
    plugins.append(plugin(name, f"{Length.__module__}:Length"))
    assert registry.get("bleu") is captious.Bleu
    assert registry.metric_names() == NAMES
    assert [point for _, point in registry.PLUGINS.ignored] == plugins


def test_register_without_a_name() -> None:
    with pytest.raises(ParameterError, match="takes the name"):
        captious.register(captious.Bleu)  # type: ignore[arg-type]


def test_parameters_are_declared_not_taken_by_a_constructor() -> None:
    class Within(Length):
        outputs = ("within",)

        def __init__(self, *, bound: float = 2.0) -> None:
            super().__init__()
            self.bound = bound

    with pytest.raises(ParameterError, match="within has a constructor of its own") as caught:
        captious.register("within")(Within)
    assert "bound: captious.NumberParameter" in caught.value.hint


def test_a_parameter_without_annotation_can_be_written_as_text() -> None:
    @captious.register("within")
    class Within(Length):
        outputs = ("within",)
        bound = captious.NumberParameter(default=2.0)

    metric = select(["within:bound=1.5"])[0].metric
    assert isinstance(metric, Within)
    assert metric.bound == 1.5
    assert "|bound:1.5|" in metric.signatures()[0]
    assert select([Within(bound=3)]).labels == ("within:bound=3",)


def test_objects_are_labeled_by_what_is_not_the_default() -> None:
    labels = select([captious.CiderD(), captious.CiderD(variant="paper"), captious.CiderD(sigma=3)]).labels
    assert labels == ("cider-d", "cider-d@paper", "cider-d:sigma=3")
    assert select([captious.CiderD(sigma=6)]).labels == ("cider-d",)
    labels = select([captious.CiderD(tokenizer="spaces"), captious.CiderD()]).labels
    assert labels == ("cider-d:tokenizer=spaces", "cider-d")


def test_catalogue_file_is_current() -> None:
    program = Path(__file__).parents[3] / "tools" / "catalogue.py"
    subprocess.run([sys.executable, str(program), "--check"], check=True)


@pytest.mark.parametrize(("request_", "modules"), [("spice", {"spice"}), ("bleu-4", {"bleu"}), ("length", {"length"})])
def test_finding_a_metric_imports_no_other(request_: str, modules: set[str]) -> None:
    program = (
        "import sys; from captious.metrics.contract import registry;"
        f"registry.get(registry.Request.from_text({request_!r}).metric);"
        "print(*(m for m in sys.modules if m.count('.') == 2 and m.startswith('captious.metrics.')))"
    )
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    metrics = {module.split(".")[-1] for module in loaded} - {"contract", "shared"}
    assert metrics == modules


def test_a_metric_without_name_is_refused() -> None:
    class Extent(MeanMetric):
        scores = Length.scores

    with pytest.raises(ParameterError, match="Extent has no name"):
        select([Extent()])


def test_scores_of_another_shape_are_refused() -> None:
    class Wrong(MeanMetric):
        name = "wrong"

        def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
            return np.zeros(3)

    with pytest.raises(ParameterError, match="wrong gave scores of shape"):
        Wrong().statistics(table(["a"], [["a"]]))


def test_metrics_do_not_change() -> None:
    metric = captious.CiderD()
    with pytest.raises(AttributeError, match="make another CiderD"):
        metric.sigma = 3.0
    assert repr(captious.OfK(captious.CiderD(sigma=3), "best")) == "OfK(CiderD(sigma=3), 'best')"


# ---- classes that are not registered


def named(name: str, **attributes: object) -> MeanMetric:
    return type("Own", (Length,), {"name": name, **attributes})()  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", ["cider-d", "bleu-1"])
def test_a_class_cannot_take_the_name_of_a_metric_of_the_package(name: str) -> None:
    with pytest.raises(ParameterError, match=f"the name {name} is taken"):
        select([named(name)])


def test_a_class_keeps_no_inherited_name() -> None:
    class Mine(captious.CiderD):
        """CIDEr-D with changes, called as the original."""

    with pytest.raises(ParameterError, match="the name cider-d is taken"):
        select([Mine()])


@pytest.mark.parametrize("name", ["a|b,c:d", "foo bar", "all", "Capitals"])
def test_names_of_classes_follow_the_grammar(name: str) -> None:
    with pytest.raises(ParameterError, match="cannot name a metric"):
        select([named(name)])


def test_a_class_with_a_constructor_of_its_own_is_refused() -> None:
    class Constructed(Length):
        name = "constructed"

        def __init__(self) -> None:
            pass

    with pytest.raises(ParameterError, match="constructed has a constructor of its own"):
        select([Constructed()])


def test_signatures_tell_classes_of_one_name_apart() -> None:
    def scores(self: object, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        return np.zeros(len(captions))

    (first,), (same,), (other,) = (
        metric.signatures() for metric in (named("own"), named("own"), named("own", scores=scores))
    )
    assert first == same != other
    assert first.startswith("own|variant:official|tokenizer:ptb|class:")
    assert "class:" not in captious.CiderD().signatures()[0]
