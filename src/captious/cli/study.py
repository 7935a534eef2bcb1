"""captious study: studies of metrics, one command each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from captious.cli.options import (
    check_result_outputs,
    choose,
    data_option,
    deliver_result,
    metric_option,
    model_option,
    result_options,
    system_names,
    vectors_option,
)
from captious.evaluation.resampling import MOST_RESAMPLES
from captious.judgment import studies
from captious.judgment.correlation import STATISTICS
from captious.judgment.studies.robustness import STRENGTHS
from captious.progress import Progress

__all__ = ["study"]


def _numbers(kind: type) -> Callable[[click.Context, click.Parameter, str | None], tuple[float, ...]]:
    """A callback that reads numbers between commas."""

    def read(context: click.Context, option: click.Parameter, text: str | None) -> tuple[float, ...]:
        try:
            return tuple(kind(piece) for piece in (text or "").split(",") if piece.strip())
        except ValueError:
            raise click.BadParameter(f"{text!r} is no list of numbers such as {option.metavar}") from None

    return read


def own_file(benchmark: str) -> list[Path]:
    """The file that a benchmark is read from, if it is one of the user's."""
    return [Path(benchmark)] if ".jsonl" in benchmark else []


statistic_option = click.option(
    "--statistic",
    type=click.Choice(STATISTICS),
    default="pearson",
    show_default=True,
    help="The correlation.",
)
resamples_option = click.option(
    "--resamples", type=click.IntRange(1, MOST_RESAMPLES), default=1000, show_default=True, help="Number of resamples."
)
seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the random numbers."
)


@click.group(subcommand_metavar="STUDY")
def study() -> None:
    """Studies of metrics: what they need, what they notice, where they fail, what they cost."""


@study.command(short_help="How many references does a metric need?")
@click.argument("benchmark")
@metric_option
@model_option
@vectors_option
@click.option(
    "--counts",
    callback=_numbers(int),
    metavar="1,2,5",
    help="Numbers of references. Default: 1 to 5, 10, 20, 40 and all, as far as there are so many.",
)
@click.option(
    "--draws", type=click.IntRange(min=1), default=5, show_default=True, help="Draws of references for each number."
)
@data_option
@resamples_option
@seed_option
@result_options
def references(
    benchmark: str,
    metrics: tuple[str, ...],
    model: str | None,
    vectors: str | None,
    counts: tuple[int, ...],
    draws: int,
    data: Path | None,
    resamples: int,
    seed: int,
    format_: str,
    output: Path | None,
    plot: Path | None,
) -> None:
    """How many references does a metric need? Agreement with people on BENCHMARK by number of references."""
    check_result_outputs(output, plot, own_file(benchmark))
    chosen = choose(metrics, model=model, vectors=vectors)
    with Progress((len(counts) or 9) * draws + len(chosen)) as progress:
        result = studies.reference_counts(
            benchmark,
            chosen,
            counts,
            draws=draws,
            data=data,
            resamples=resamples,
            seed=seed,
            on_step=progress.step,
        )
    deliver_result(result, format_, output, plot)


@study.command(short_help="Does a metric notice broken captions?")
@click.argument("references", type=click.Path(path_type=Path))
@metric_option
@model_option
@vectors_option
@click.option(
    "--images",
    type=click.IntRange(min=2),
    default=5000,
    show_default=True,
    metavar="N",
    help="Draw so many images at random; all, if there are fewer.",
)
@click.option(
    "--strengths",
    callback=_numbers(float),
    default=",".join(f"{strength:g}" for strength in STRENGTHS[1:]),
    show_default=True,
    metavar="0.25,0.5,1",
    help="Shares of captions or words to break; 0 is added.",
)
@resamples_option
@seed_option
@result_options
def robustness(
    references: Path,
    metrics: tuple[str, ...],
    model: str | None,
    vectors: str | None,
    images: int,
    strengths: tuple[float, ...],
    resamples: int,
    seed: int,
    format_: str,
    output: Path | None,
    plot: Path | None,
) -> None:
    """Does a metric notice broken captions? Scores of human captions with growing shares of random captions, of words
    that change places, and of random words.

    REFERENCES are human captions, several per image: one is broken, and scored against the others.
    """
    check_result_outputs(output, plot, [references])
    chosen = choose(metrics, model=model, vectors=vectors)
    with Progress(3 * (len(strengths) + 1)) as progress:
        result = studies.robustness(
            references,
            chosen,
            images=images,
            strengths=strengths,
            resamples=resamples,
            seed=seed,
            on_step=progress.step,
        )
    deliver_result(result, format_, output, plot)


@study.command(short_help="How often is a metric grossly wrong?")
@click.argument("benchmark")
@metric_option
@model_option
@vectors_option
@click.option(
    "--gap",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.75,
    show_default=True,
    help="How far apart people put the captions at least, as a share of the scale.",
)
@data_option
@resamples_option
@seed_option
@result_options
def failures(
    benchmark: str,
    metrics: tuple[str, ...],
    model: str | None,
    vectors: str | None,
    gap: float,
    data: Path | None,
    resamples: int,
    seed: int,
    format_: str,
    output: Path | None,
    plot: Path | None,
) -> None:
    """How often is a metric grossly wrong? Pairs of captions of BENCHMARK that people put far apart and the metric the
    other way round."""
    check_result_outputs(output, plot, own_file(benchmark))
    chosen = choose(metrics, model=model, vectors=vectors)
    with Progress(len(chosen)) as progress:
        result = studies.critical_failures(
            benchmark, chosen, gap=gap, data=data, resamples=resamples, seed=seed, on_step=progress.step
        )
    deliver_result(result, format_, output, plot)


@study.command(short_help="Which metrics say the same?")
@click.argument("benchmark")
@metric_option
@model_option
@vectors_option
@statistic_option
@data_option
@result_options
def metrics(
    benchmark: str,
    metrics: tuple[str, ...],
    model: str | None,
    vectors: str | None,
    statistic: str,
    data: Path | None,
    format_: str,
    output: Path | None,
    plot: Path | None,
) -> None:
    """Which metrics say the same? Correlations between metrics, and with people, on what BENCHMARK judges."""
    check_result_outputs(output, plot, own_file(benchmark))
    chosen = choose(metrics, model=model, vectors=vectors)
    with Progress(len(chosen)) as progress:
        result = studies.metric_correlations(benchmark, chosen, statistic=statistic, data=data, on_step=progress.step)
    deliver_result(result, format_, output, plot)


@study.command(short_help="Do metrics rank systems alike, and as people do?")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SYSTEM... REFERENCES")
@metric_option
@model_option
@vectors_option
@click.option(
    "--human",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="What people gave the systems, json: {system: number}, or {measure: {system: number}}.",
)
@click.option("--subset", is_flag=True, help="Score the images that both sides have.")
@statistic_option
@resamples_option
@seed_option
@result_options
def systems(
    files: tuple[Path, ...],
    metrics: tuple[str, ...],
    model: str | None,
    vectors: str | None,
    human: Path | None,
    subset: bool,
    statistic: str,
    resamples: int,
    seed: int,
    format_: str,
    output: Path | None,
    plot: Path | None,
) -> None:
    """Do metrics rank systems alike, and as people do? Scores of three or more SYSTEMs; correlations between metrics
    over systems and over captions."""
    *candidates, references = files
    check_result_outputs(output, plot, [*files, human])
    results = dict(zip(system_names(candidates), candidates, strict=True))
    chosen = choose(metrics, model=model, vectors=vectors)
    with Progress(len(results)) as progress:
        result = studies.systems(
            results,
            references,
            chosen,
            human=human,
            statistic=statistic,
            subset=subset,
            resamples=resamples,
            seed=seed,
            on_step=progress.step,
        )
    deliver_result(result, format_, output, plot)


@study.command(short_help="What does a metric cost?")
@click.argument("candidates", type=click.Path(path_type=Path))
@click.argument("references", type=click.Path(path_type=Path))
@metric_option
@model_option
@vectors_option
@click.option(
    "--repeats", type=click.IntRange(min=1), default=5, show_default=True, help="How often to time each metric."
)
@result_options
def timing(
    candidates: Path,
    references: Path,
    metrics: tuple[str, ...],
    model: str | None,
    vectors: str | None,
    repeats: int,
    format_: str,
    output: Path | None,
    plot: Path | None,
) -> None:
    """What does a metric cost? Seconds per 1,000 captions, of all CANDIDATES beside their REFERENCES."""
    check_result_outputs(output, plot, [candidates, references])
    chosen = choose(metrics, model=model, vectors=vectors)
    with Progress(len(chosen)) as progress:
        result = studies.timing(candidates, references, chosen, repeats=repeats, on_step=progress.step)
    deliver_result(result, format_, output, plot)


@study.command(short_help="How do people's captions score?")
@click.argument("references", type=click.Path(path_type=Path))
@metric_option
@model_option
@vectors_option
@click.option(
    "--counts",
    callback=_numbers(int),
    metavar="1,2,4",
    help="Numbers of references. Default: 1 up to all but one of the usual number of captions.",
)
@click.option(
    "--place",
    type=click.IntRange(min=0),
    metavar="N",
    help="Hold out the caption of this place, from 0. Default: draw one.",
)
@click.option(
    "--published",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Show the human row of this leaderboard of COCO beside, such as cap_c5.json.",
)
@resamples_option
@seed_option
@result_options
def agreement(
    references: Path,
    metrics: tuple[str, ...],
    model: str | None,
    vectors: str | None,
    counts: tuple[int, ...],
    place: int | None,
    published: Path | None,
    resamples: int,
    seed: int,
    format_: str,
    output: Path | None,
    plot: Path | None,
) -> None:
    """How do people's captions score? One caption of every image is held out and scored against growing numbers of the
    others.

    REFERENCES are human captions, several per image.
    """
    check_result_outputs(output, plot, [references, published])
    chosen = choose(metrics, model=model, vectors=vectors)
    with Progress((len(counts) or 4) + 1) as progress:
        result = studies.human_agreement(
            references,
            chosen,
            counts,
            place=place,
            published=published,
            resamples=resamples,
            seed=seed,
            on_step=progress.step,
        )
    deliver_result(result, format_, output, plot)


@study.command(short_help="Which words do people agree on?")
@click.argument("references", type=click.Path(path_type=Path))
@click.option(
    "--system",
    "outputs",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="RESULTS",
    help="Captions of a system, for its precision at human recall. May be repeated.",
)
@click.option(
    "--tagger",
    metavar="NAME",
    help="Group words into nouns, verbs and adjectives with this spaCy pipeline: a name such as en_core_web_sm, or a "
    "folder.",
)
@click.option(
    "--words",
    "n_words",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    metavar="N",
    help="How many of the most frequent words; with a tagger, of each kind.",
)
@click.option(
    "-k",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of references. Default: all but one of the usual number of captions.",
)
@click.option("--subset", is_flag=True, help="Take the images that references and systems share.")
@seed_option
@result_options
def words(
    references: Path,
    outputs: tuple[Path, ...],
    tagger: str | None,
    n_words: int,
    k: int | None,
    subset: bool,
    seed: int,
    format_: str,
    output: Path | None,
    plot: Path | None,
) -> None:
    """Which words do people agree on? How precisely people's captions predict the most frequent words of other
    people's, how many they recall, and the model of Chen et al. 2015 for both.

    REFERENCES are human captions, several per image.
    """
    check_result_outputs(output, plot, [references, *outputs])
    with Progress(3 + len(outputs)) as progress:
        result = studies.word_agreement(
            references,
            n_words,
            systems=dict(zip(system_names(outputs), outputs, strict=True)),
            tagger=tagger,
            k=k,
            subset=subset,
            seed=seed,
            on_step=progress.step,
        )
    deliver_result(result, format_, output, plot)
