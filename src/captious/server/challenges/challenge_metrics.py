"""The metrics of a challenge: requests, settings, and whether they can run here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import fields
from pathlib import Path, PurePath
from typing import Any

from captious.errors import CaptiousError
from captious.metrics.contract import catalogue
from captious.metrics.contract.metric import BaseMetric
from captious.metrics.contract.request import Request
from captious.metrics.contract.selection import ALL, check_used
from captious.metrics.contract.set_metrics import SetMetric
from captious.metrics.contract.settings import Settings
from captious.models.pretrained import is_here
from captious.server.challenges.problems import at, one_line

#: The settings of metrics that a challenge may have. The number of threads is a server setting, and
#: captions are never sent to other hosts.
SETTINGS = tuple(field.name for field in fields(Settings) if field.name not in ("threads", "judge"))
#: Settings that may name a file or folder.
FILE_SETTINGS = tuple(name for name in SETTINGS if name not in {"tokenizer", "references_as"})
#: Settings that name large files, which may be elsewhere on the server.
SHARED_SETTINGS = ("model", "vectors", "images")


def public_label(label: str) -> str:
    """The label of an output without folders of this server: "sbert:model=minilm" for "sbert:model=/srv/minilm".

    Pages, files and the API have no other labels.
    """
    head, colon, tail = label.partition(":")
    return head + colon + ",".join(map(_without_folders, tail.split(",")))


def public_path(value: str) -> str:
    """The last part of an absolute path, or of one in a home folder; anything else as it is."""
    is_path = PurePath(value).is_absolute() or value.startswith("~")
    return PurePath(value).name if is_path else value


def _without_folders(parameter: str) -> str:
    name, equals, value = parameter.partition("=")
    return name + equals + public_path(value)


def directions_of(text: str) -> dict[str, bool | None]:
    """Public labels of the outputs requested by a text -> whether lower scores are better.

    The value is None for undirected outputs. Only the metric's class is loaded.

    Raises:
        ValueError: the text is "all", which depends on the machine, or not a metric or output.
    """
    try:
        request = Request.from_text(text)
        if request.name == ALL:
            raise ValueError("list the metrics one by one, because 'all' depends on the installed metrics")
        metric = _class_of(request)
        if metric is None:
            raise catalogue.unknown(request.name)
        columns = request.output_indices(metric.outputs)
    except CaptiousError as error:
        guess, question, _ = error.help.partition("?")
        raise ValueError(f"{error.message}; {guess + question}") from None
    outputs = {label: metric.outputs[column] for label, column in columns.items()}
    return {
        public_label(label): None if output in metric.no_direction else output in metric.lower_is_better
        for label, output in outputs.items()
    }


def ready_metrics() -> list[str]:
    """The metrics that can run on this server as they are, without parameters or settings."""
    names = []
    for name in catalogue.metric_names():
        try:
            if not _missing_requirement(catalogue.get(name), Request.from_text(name), Settings()):
                names.append(name)
        except CaptiousError:  # it needs a parameter
            continue
    return names


def lacking_metrics(names: Iterable[str]) -> dict[str, list[str]]:
    """The metrics that miss requirements on this machine, by the command that installs these."""
    names_by_command: dict[str, list[str]] = {}
    for name in names:
        if command := catalogue.get(name).missing():
            names_by_command.setdefault(command, []).append(name)
    return names_by_command


def installed_metrics(names: Iterable[str]) -> list[str]:
    """The metrics that can run on this machine."""
    return [name for name in names if not catalogue.get(name).missing()]


def _class_of(request: Request) -> type[BaseMetric] | None:
    owner = catalogue.owner(request.name)
    return None if owner is None else catalogue.get(owner)


def settings_in(folder: Path, values: Mapping[str, str], *, threads: int | None = None) -> Settings:
    """The settings of a challenge, with paths into its folder; by default, for all cores.

    Raises:
        CaptiousError: a value that cannot be used, as ``Settings`` says.
    """
    settings: dict[str, Any] = dict(values)
    for name in FILE_SETTINGS:
        if name in settings and not Path(settings[name]).is_absolute() and (folder / settings[name]).exists():
            settings[name] = str(folder / settings[name])
    return Settings(**settings, threads=threads)


def metric_problems(
    metrics: Sequence[str], folder: Path, values: Mapping[str, str], *, unusable: Set[str] = frozenset()
) -> list[str]:
    """The reasons why metrics of a challenge cannot run here, a sentence each; unknown names are left out.

    Args:
        unusable: invalid settings. Metrics that use one are left out.
    """
    problems = []
    for name, value in values.items():
        try:
            settings_in(folder, {name: value})
        except (CaptiousError, OSError) as error:
            problems.append(f"{at(('settings', name))}: {one_line(error)}")
    settings = Settings() if problems else settings_in(folder, values)
    classes = []
    for position, text in enumerate(metrics):
        place = at(("metrics", position))
        try:
            request = Request.from_text(text)
            metric = _class_of(request)
            if metric is None or not unusable.isdisjoint(metric.declared):
                continue
            classes.append(metric)
            if reason := _missing_requirement(metric, request, settings):
                problems.append(f"{place}: {request.name} cannot run here: {reason}")
        except CaptiousError as error:
            problems.append(f"{place}: {one_line(error)}")
    if not problems and not unusable:
        try:
            check_used(settings, classes)
        except CaptiousError as error:
            problems.append(f"settings: {one_line(error)}")
    return problems


def _missing_requirement(metric: type[BaseMetric], request: Request, settings: Settings) -> str:
    """The missing requirement of a metric on this machine; "" if it can run.

    Raises:
        CaptiousError: the parameters are invalid.
    """
    if issubclass(metric, SetMetric):
        return "it judges several candidates per image together, but submissions have one"
    if "judge" in metric.declared:
        return "it sends captions to an endpoint, which servers do not do"
    # A setting may provide the missing default.
    parameters = {**settings.of_metrics, **request.parameters}
    command = None if "vectors" in parameters and "vectors" in metric.declared else metric.missing()
    if command is not None:
        return f"run {command}"
    request.make(metric, settings)
    if "model" in parameters or not metric.default_models:
        return ""
    models = [model for model in metric.default_models if not is_here(model)]
    return "; ".join(f"run hf download {model}" for model in models)
