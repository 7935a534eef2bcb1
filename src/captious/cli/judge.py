"""captious judge: metrics held against people, with intervals and tests of the differences."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from captious.cli.options import (
    check_result_outputs,
    default_metrics,
    deliver_result,
    judgment_options,
    model_option,
    references_option,
    result_options,
    vectors_option,
    warn,
)
from captious.evaluation.cautions import few_images
from captious.judgment import judge as judge_metrics
from captious.judgment import load_evidence
from captious.progress import Progress
from captious.report.numbers import plain

__all__ = ["judge"]


@click.command()
@click.argument("benchmarks", nargs=-1, required=True, metavar="BENCHMARK...")
@click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    help="A metric or output, with its variant and parameters: bleu, bleu-4, cider-d@paper, rouge-s:gap=2. May be "
    "repeated. Default: the COCO set, or, with "
    "--scores, none.",
)
@click.option(
    "--scores",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Scores that were computed elsewhere, json: {benchmark: {metric: scores}}, with scores as a list in the order "
    "of 'captious data items', or as {id: score}.",
)
@model_option
@vectors_option
@references_option
@click.option("--compare", is_flag=True, help="Test all pairs of metrics for a difference, and rank the metrics.")
@judgment_options
@result_options
def judge(
    benchmarks: tuple[str, ...],
    metrics: tuple[str, ...],
    scores: Path | None,
    model: str | None,
    vectors: str | None,
    references_as: str,
    compare: bool,
    data: Path | None,
    resamples: int,
    seed: int,
    format_: str,
    output: Path | None,
    plot: Path | None,
) -> None:
    """How well do metrics agree with people? Correlations with judgments, or shares of pairs that are judged as people
    do, with intervals.

    BENCHMARK is a name that 'captious data list' shows, such as composite; a name with a protocol, such as
    flickr8k-expert@yi2020; or a .jsonl file of your own judgments, on every line {"candidate", "references", "rating"}
    or {"better", "worse", "references"}.
    """
    check_result_outputs(output, plot, [scores, *(Path(each) for each in benchmarks if ".jsonl" in each)])
    evidence = [load_evidence(benchmark, data) for benchmark in benchmarks]
    chosen = metrics or (() if scores is not None else default_metrics())
    with Progress(len(evidence) * (len(chosen) + compare + 1)) as progress:
        judgment = judge_metrics(
            evidence,
            chosen,
            scores=scores,
            model=model,
            vectors=vectors,
            references_as=references_as,
            compare=compare,
            resamples=resamples,
            seed=seed,
            on_step=progress.step,
        )
    deliver_result(judgment, format_, output, plot)
    warn([caution for each in evidence for caution in few_images(each.n_units)])
    several = any(len(verdict.results) > 1 for verdict in judgment.values())
    if format_ == "table" and output is None and several and not compare:
        given = [f"-m {shlex.quote(metric)}" for metric in metrics]
        named = {"scores": scores, "data": data, "model": model, "vectors": vectors}
        given += [f"--{name} {shlex.quote(str(value))}" for name, value in named.items() if value]
        given += [f"--references-as {references_as}"] * (references_as != "each")
        command = " ".join(["captious judge", *map(shlex.quote, benchmarks), *given, "--compare"])
        click.echo(f"Are the differences real? {plain(command)}", err=True)
