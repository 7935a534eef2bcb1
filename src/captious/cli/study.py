"""captious study: a command for each study of metrics, built from the signature and docstring of its function.

A package adds a study with an entry point of the group ``captious.studies``, whose name is that of the command and
whose value is the result of ``study_command``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from captious.cli import Group
from captious.cli.inputs import SYSTEM, Reading, named_systems, reading_options, shared, systems_of
from captious.cli.library_options import FILE, argument_help, description, numbers, option_of
from captious.cli.options import RESAMPLES, SEED, recipe_attributes
from captious.cli.outputs import Destination, output_options
from captious.judgment.correlation import STATISTICS
from captious.learned.leic import CRITIQUE_RECIPES
from captious.learned.networks import RECIPES
from captious.plugins import EntryPoints

if TYPE_CHECKING:
    from captious.judgment import Study


def study_command(
    name: str,
    question: str,
    function: Callable[..., Study],
    options: Mapping[str, Any] = MappingProxyType({}),
    *,
    pictures: bool = True,
) -> click.Command:
    """Create a command that calls a function with the parameters of the command line, and outputs the study it returns.

    Every parameter of the function becomes an argument or option, with its docstring as help:

    - ``benchmark``, ``benchmarks``: names of benchmarks; ``candidates``, ``references``, ``examples``: files;
      ``systems``, the first parameter: files of systems, passed to the function by name;
    - ``metrics``, ``settings``, ``data``, ``match``, ``ids``, ``statistic``, ``resamples``, ``seed``: as in other
      commands;
    - others: an option of the parameter's name.

    Args:
        name: name of the command.
        question: the question that the study answers, the first line of the help.
        function: returns the study.
        options: parameter -> a click type, or attributes of ``option_of`` that do not follow from the function.
        pictures: whether the study has figures, for ``--plot``.
    """
    parameters = [*inspect.signature(function).parameters]
    arguments = [
        parameter for parameter in parameters if parameter not in options and _is_argument(function, parameter)
    ]
    reads = [parameter for parameter in parameters if parameter in _CAPTIONS]
    paragraphs = [f"{parameter.upper()}: {argument_help(function, parameter)}" for parameter in arguments]

    def command(destination: Destination, reading: Reading | None = None, **values: Any) -> None:
        if reading is not None:
            given = {name: values[name] for name in reads if name in values}
            if "systems" in given:
                given["systems"] = named_systems(values["systems"])
            values |= reading.sources(given)
            if "files" in values:
                systems = systems_of(values.pop("files"), reading)
                values |= {"systems": systems.sources, "references": systems.references}
        destination.deliver_result(function(**{name: value for name, value in values.items() if value is not None}))

    decorated: Any = command
    for parameter in reversed(parameters):
        if parameter == "references" and "systems" in arguments[:1]:
            continue  # among the files of systems
        decorated = _declaration(function, parameter, options.get(parameter))(decorated)
    if reads:
        decorated = reading_options(decorated)
    decorated = output_options(pictures=pictures, presentation=("transpose", "naming"))(decorated)
    help = "\n\n".join([f"{question} {description(function)}", *paragraphs])
    return click.command(name, help=help)(decorated)


_ARGUMENTS = {
    "benchmark": click.argument("benchmark"),
    "benchmarks": click.argument("benchmarks", nargs=-1, metavar="[BENCHMARK]..."),
    "candidates": click.argument("candidates", type=FILE),
    "examples": click.argument("examples", type=FILE),
    "references": click.argument("references", type=FILE),
    "systems": click.argument("files", nargs=-1, required=True, type=SYSTEM, metavar="SYSTEM... REFERENCES"),
}
#: Files of systems that are given without references.
_SYSTEMS = click.argument("systems", nargs=-1, required=True, type=SYSTEM, metavar="SYSTEM...")
#: Parameters that are files of captions.
_CAPTIONS = ("candidates", "references", "systems", "human")
_SHARED = ("metrics", "settings", "data", "match", "ids")
#: What does not follow from the function, for every parameter of a name.
_ATTRIBUTES: Mapping[str, Mapping[str, Any]] = {
    "counts": numbers(int, "1,2,5"),
    "depths": numbers(int, "0,1,2"),
    "evaluator": {"metavar": "METRIC"},
    "groups": {
        "flags": ("--group",),
        "multiple": True,
        "callback": lambda context, option, texts: _groups(texts),
        "metavar": "NAME=FEATURE,FEATURE",
    },
    "human": {"metavar": "FILE|BENCHMARK"},
    "k": {"flags": ("-k",)},
    "layers": numbers(int, "1,2"),
    "metric": {"flags": ("-m", "--metric")},
    "n_words": {"flags": ("--words",)},
    "near": {"metavar": "captions|FEATURES"},
    "people": {"metavar": "SYSTEM"},
    "place": {"type": click.IntRange(min=0)},
    "published": {"type": FILE, "multiple": True},
    "recipe": recipe_attributes(RECIPES),
    "resamples": RESAMPLES,
    "sample": {"type": click.IntRange(min=2)},
    "seed": SEED,
    "sizes": numbers(int, "100,1000"),
    "statistic": {"type": click.Choice(STATISTICS)},
    "strengths": numbers(float, "0.25,0.5,1"),
    "systems": {"type": SYSTEM, "flags": ("--system",), "multiple": True},
    "tagger": {"metavar": "NAME"},
    "vectors": {"metavar": "NAME|FILE"},
    "width": {"type": click.IntRange(1, 4096)},
}


def _is_argument(function: Callable[..., Any], parameter: str) -> bool:
    """Return whether a parameter is an argument; systems are an option where they may be left out."""
    needed = inspect.signature(function).parameters[parameter].default is inspect.Parameter.empty
    return parameter in _ARGUMENTS and (needed or parameter != "systems")


def _declaration(function: Callable[..., Any], parameter: str, option: Any) -> Callable[..., Any]:
    """Return the decorator that declares a parameter of a function; ``option`` is as in ``study_command``."""
    if option is not None:
        return option_of(function, parameter, **(option if isinstance(option, Mapping) else {"type": option}))
    if _is_argument(function, parameter):
        alone = parameter == "systems" and "references" not in inspect.signature(function).parameters
        return _SYSTEMS if alone else _ARGUMENTS[parameter]
    if parameter in _SHARED:
        return shared(parameter)
    return option_of(function, parameter, **_ATTRIBUTES.get(parameter, {}))


@dataclass(frozen=True)
class _Entry:
    """A study of the package: the name of its function, and the arguments of ``study_command``."""

    question: str
    function: str
    options: Mapping[str, Any] = field(default_factory=dict)
    pictures: bool = True


_CRITIQUES = {"recipe": recipe_attributes(CRITIQUE_RECIPES), "images": {"type": FILE, "metavar": "FEATURES"}}

_STUDIES = {
    "references": _Entry("How many references does a metric need?", "reference_counts"),
    "robustness": _Entry("Does a metric notice corrupted captions?", "robustness"),
    "failures": _Entry("How often does a metric fail where another does not?", "critical_failures", pictures=False),
    "metrics": _Entry("Which metrics agree with each other?", "metric_correlations"),
    "systems": _Entry("Do metrics rank systems alike, and as people do?", "system_correlations"),
    "timing": _Entry("What does a metric cost?", "scoring_time", pictures=False),
    "agreement": _Entry("How do human captions score?", "human_agreement", {"counts": numbers(int, "1,2,4")}),
    "words": _Entry("Which words do people agree on?", "word_agreement"),
    "frequencies": _Entry("Do systems use words as often as people do?", "word_frequencies"),
    "rules": _Entry("Do captions follow the rules by which COCO's were collected?", "collection_rules", pictures=False),
    "sentences": _Entry("How do metrics score sentences without references?", "sentence_scores"),
    "smurf": _Entry(
        "How do systems differ from people in semantics, style and grammar?", "smurf_analysis", {"human": FILE}
    ),
    "distributions": _Entry("Does a metric tell human from machine captions?", "score_distributions"),
    "ablation": _Entry("Which features does a learned metric need?", "feature_ablation"),
    "depth": _Entry("Does a learned metric need hidden layers?", "network_depth"),
    "size": _Entry("How many training examples does a learned metric need?", "training_size"),
    "epochs": _Entry("How does a learned metric improve as it is trained?", "training_epochs"),
    "critiques": _Entry("What does a critique of LEIC need?", "critique_grid", _CRITIQUES),
}


def _groups(texts: Sequence[str]) -> dict[str, list[str]] | None:
    """Parse NAME=FEATURE,FEATURE, any number of times."""
    groups: dict[str, list[str]] = {}
    for text in texts:
        name, mark, features = text.partition("=")
        if not mark or not name.strip() or name.strip() in groups:
            raise click.BadParameter(f"{text!r} is not of the form NAME=FEATURE,FEATURE, or its name is repeated")
        groups[name.strip()] = [feature.strip() for feature in features.split(",") if feature.strip()]
    return groups or None


_PLUGINS = EntryPoints("captious.studies", "study", tuple(_STUDIES))


class _Studies(Group):
    """The studies of the package, imported when called, followed by those of other packages."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return _PLUGINS.names

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _STUDIES:
            from captious.judgment import studies

            entry = _STUDIES[cmd_name]
            function = getattr(studies, entry.function)
            built_in = study_command(cmd_name, entry.question, function, entry.options, pictures=entry.pictures)
            built_in.epilog = f"The function in Python is captious.judgment.studies.{entry.function}."
            return built_in
        if cmd_name not in _PLUGINS.by_name:
            return None
        command: click.Command = _PLUGINS.load(
            cmd_name, lambda item: isinstance(item, click.Command), "a click command"
        )
        return command

    def sections(self, ctx: click.Context) -> Mapping[str, Mapping[str, str]]:
        lines = {name: entry.question for name, entry in _STUDIES.items()}
        return {"Studies": lines | {name: f"from {point.value}" for name, point in _PLUGINS.by_name.items()}}


@click.group(cls=_Studies, subcommand_metavar="STUDY")
def study() -> None:
    """Study metrics: how many references they need, which errors they detect, where they fail, how long they take."""
