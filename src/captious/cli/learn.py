"""captious learn: make training data, train metrics, and write features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from captious.cli import Group
from captious.cli.inputs import SYSTEM, Reading, SystemFile, named_systems, reads_captions, shared
from captious.cli.library_options import FILE, converted, option, option_of, options
from captious.cli.options import SEED, output_file, recipe_attributes
from captious.cli.outputs import Destination, output_options, warn
from captious.data import read_captions, read_references
from captious.errors import ParameterError
from captious.judgment.files import data_folder
from captious.judgment.judging import coco_sources
from captious.learned.leic import CRITIQUE_RECIPES, CritiqueRecipe, as_critique_recipe
from captious.learned.networks import (
    FEATURE_FORMATS,
    FEATURE_SETS,
    RECIPES,
    FeatureMetric,
    Recipe,
    as_recipe,
    check_feature_file,
    write_features,
)
from captious.learned.training.critiques import captions_by_image, train_critique, two_folds
from captious.learned.training.examples import NEGATIVES, make_examples, read_ids, write_examples
from captious.learned.training.networks import learn as train_network
from captious.metrics.contract.settings import Settings
from captious.models import WordVectors
from captious.models.image_features import (
    EFFICIENTNET,
    IMAGE_FEATURE_FORMATS,
    ImageFeatures,
    check_image_feature_file,
)
from captious.models.image_features import image_features as features_of_images
from captious.native import using_threads
from captious.words import counted


class _InOrder(Group):
    """A group that lists its commands in the order of the work."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.commands]


@click.group(cls=_InOrder, subcommand_metavar="COMMAND")
def learn() -> None:
    """Train metrics: features, training data, networks."""


def _seeded(read: Callable[[str], Any]) -> Callable[[Any], Any]:
    """Turn the options ``--recipe`` and ``--seed`` into a recipe with its seed."""

    def with_seed(recipe: str, seed: int | None) -> dict[str, Any]:
        known = read(recipe)
        return {"recipe": known if seed is None else replace(known, seed=seed)}

    return converted(with_seed, takes=("recipe", "seed"))


def _named(output: Path, name: str | None) -> dict[str, Any]:
    return {"output": output, "name": output.name.partition(".")[0] if name is None else name}


_seed_option = click.option("--seed", **{**SEED, "help": "Random seed. Default: that of the recipe."})
#: The options ``-o`` and ``--name`` of trained weights.
_weights_options = options(
    output_file(),
    click.option("--name", metavar="NAME", help="Name of the weights in signatures. Default: that of the output file."),
    converted(_named, takes=("output", "name")),
)


def _inputs(images: Path | None, vectors: str | None) -> dict[str, Any]:
    return {
        "images": None if images is None else ImageFeatures.load(images),
        "vectors": None if vectors is None else WordVectors.open(vectors),
    }


#: The training options of a critique: the command is called with a ``recipe`` with its seed, image features as
#: ``images``, word vectors as ``vectors``, and files as ``sampled``.
_critique_options = options(
    click.option("--recipe", default="leic", show_default=True, **recipe_attributes(CRITIQUE_RECIPES)),
    converted(
        _inputs,
        option_of(train_critique, "images", FILE, metavar="FEATURES"),
        option_of(train_critique, "vectors", metavar="NAME|FILE"),
    ),
    option_of(train_critique, "sampled", FILE, multiple=True),
    _seed_option,
    _seeded(as_critique_recipe),
)


@learn.command(short_help="Write the features of captions to a file.")
@click.argument("candidates", type=FILE)
@click.argument("references", type=FILE)
@click.option(
    "--set",
    "set_",
    default="lceval",
    show_default=True,
    metavar="NAME|FILE",
    help=f"Feature set: {', '.join(FEATURE_SETS)}, or a file (.json, .toml).",
)
@output_file(help=f"Output file, written atomically: {', '.join(FEATURE_FORMATS)}.")
@shared("match", "ids")
@reads_captions("candidates", "references")
@shared("settings")
def features(candidates: Path, references: Path, set_: str, output: Path, settings: Settings, **matching: Any) -> None:
    """Write the features of CANDIDATES, one row per image and one column per feature.

    The features are those of a feature set, the input of a learned metric such as lceval. Everything that they depend
    on is written to the file as a signature (parquet and json).
    """
    check_feature_file(output)
    computed = FeatureMetric(feature_set=set_, settings=settings)
    captions = read_captions(candidates, references, **matching)
    table = captions.with_references_as(settings.references_as)
    with using_threads(settings.threads):
        state = computed.fit(table.references)
        matrix = computed.matrix(table, state)
    signature = computed.signature(state)
    write_features(output, captions.ids, computed.feature_set.labels, matrix, signature)
    size = f"{counted(len(captions), 'caption')}, {counted(matrix.shape[1], 'feature')}"
    click.echo(f"{output}: {size}, {signature}", err=True)
    warn(computed.warnings(table, state))


@learn.command(short_help="Make training examples from references and the results of systems.")
@click.argument("references", type=FILE, required=False)
@click.argument("systems", type=SYSTEM, nargs=-1, metavar="[SYSTEM]...")
@output_file()
@option("keep_out")
@option_of(make_examples, "negatives", click.Choice(NEGATIVES))
@option_of(make_examples, "images")
@option_of(make_examples, "per_image")
@option_of(make_examples, "n_references", flags=("--references-each",))
@option_of(make_examples, "validation", click.FloatRange(0, 1), metavar="SHARE")
@shared("seed", "data", "reading")
def data(
    references: Path | None,
    systems: tuple[SystemFile, ...],
    reading: Reading,
    output: Path,
    data: Path | None,
    keep_out: Path | None = None,
    **options: Any,
) -> None:
    """Make examples for 'captious learn train' from REFERENCES and the results of real SYSTEMs.

    Half of the examples are human captions, each with the other references of its image; half are captions of
    systems, or of other images, with as many references. Captions that people and systems both wrote, ignoring case
    and punctuation, are dropped on both sides, and counted. All examples of an image are either for training or for
    validation.

    Without REFERENCES, the captions of COCO's validation images and the systems in the folder of judgment data are used
    (coco/captions_val2014.json.gz, coco/results_val2014), except for the images of coco/evaluation_images.json.gz.

    Args:
        keep_out: ids of images that must not be used: a JSON list, or one id on each line.
    """
    files: dict[str, Any] = {"references": references, "systems": named_systems(systems)}
    if references is None:
        files["references"], of_coco, left_out = coco_sources(data_folder(data).folder)
        files["systems"] = named_systems(of_coco)
        keep_out = keep_out or left_out
    elif data is not None:
        raise ParameterError("--data has no effect when REFERENCES are given", hint="remove --data")
    out = read_ids(keep_out) if keep_out is not None else []
    sources = reading.sources(files)
    examples, counts = make_examples(
        read_references(sources["references"]), sources["systems"], keep_out=out, **options
    )
    write_examples(output, examples)
    click.echo(f"{output}: {counts}", err=True)


@learn.command(short_help="Train nneval, lceval or a network of your own.")
@click.argument("examples", type=FILE)
@option_of(train_network, "recipe", **recipe_attributes(RECIPES))
@option_of(train_network, "validation")
@_weights_options
@_seed_option
@option_of(train_network, "force")
@shared("settings")
@_seeded(as_recipe)
def train(
    examples: Path,
    recipe: Recipe,
    output: Path,
    **options: Any,
) -> None:
    """Train on EXAMPLES made by 'captious learn data', and write the weights.

    The weights are used as nneval:weights=FILE or lceval:weights=FILE. Training needs torch (pip install
    'captious[models]'), scoring does not. Ctrl-C ends the training and keeps the best weights so far.
    """
    trained, outcome = train_network(examples, recipe, **options)
    trained.save(output)
    best = f"validation tau-b {outcome.best_tau:.4f} after epoch {outcome.best_epoch} of {len(outcome.taus)}"
    click.echo(f"{output}: {trained.contents}; {best}", err=True)
    if outcome.interrupted:
        done = f"after epoch {len(outcome.taus)} of {recipe.epochs}"
        warn([f"training was interrupted {done}: the weights are the best so far."])


@learn.command("image-features", short_help="Compute the features of images.")
@click.argument("folder", type=FILE, metavar="DIR")
@click.option(
    "--model",
    default=EFFICIENTNET,
    show_default=True,
    metavar="NAME|DIR",
    help=f"Vision model: {EFFICIENTNET}, the name of another on the Hugging Face hub, or a folder.",
)
@output_file(help=f"Output file, written atomically: {', '.join(IMAGE_FEATURE_FORMATS)}.")
def image_features(folder: Path, model: str, output: Path) -> None:
    """Compute the features of all images in DIR with a vision model.

    The output has a vector for each image, under the name of its file, which stands for its id. Pass it to leic with
    --images.
    """
    check_image_feature_file(output)
    computed = features_of_images(folder, model)
    computed.save(output)
    size = f"{counted(len(computed), 'image')}, {counted(computed.width, 'feature')}"
    click.echo(f"{output}: {size} of {computed.label}", err=True)


@learn.command(short_help="Train the critique of LEIC.")
@click.argument("references", type=FILE)
@click.argument("systems", type=FILE, nargs=-1, metavar="[SYSTEM]...")
@_weights_options
@_critique_options
@reads_captions("references", "systems")
def critique(
    references: Path,
    systems: tuple[Path, ...],
    output: Path,
    recipe: CritiqueRecipe,
    sampled: tuple[Path, ...],
    **inputs: Any,
) -> None:
    """Train a critique to tell the human captions in REFERENCES from corrupted ones and from captions of SYSTEMs.

    It is used as leic:weights=FILE. Training needs torch (pip install 'captious[models]'), scoring does not. Ctrl-C
    ends the training and keeps the network of the last complete epoch.
    """
    table = read_references(references)
    trained, course = train_critique(
        table,
        recipe,
        generated=captions_by_image(systems, table),
        sampled=captions_by_image(sampled, table),
        **inputs,
    )
    trained.save(output)
    outcome = f"loss {course.losses[-1]:.4f}, training accuracy {course.accuracies[-1]:.1%}"
    click.echo(f"{output}: {trained.contents}; {outcome} in epoch {len(course.losses)}", err=True)
    if course.interrupted:
        warn([f"training was interrupted after epoch {len(course.losses)} of {recipe.epochs}."])


@learn.command()
@click.argument("candidates", type=FILE)
@click.argument("references", type=FILE)
@option_of(two_folds, "all_references")
@option_of(two_folds, "trainings")
@option_of(two_folds, "last_epochs")
@shared("match", "ids")
@reads_captions("candidates", "references")
@_critique_options
@shared("resamples")
@output_options(presentation=("transpose", "naming"))
def leic(candidates: Path, references: Path, destination: Destination, **options: Any) -> None:
    """Score a system by LEIC, in two folds.

    A critique is trained on half of the images of CANDIDATES and REFERENCES and scores the other half, and vice
    versa. The score is the mean probability that a person wrote the captions; human captions are scored, too.
    The intervals are over images: they do not show how much the score depends on the training. Training needs torch.
    """
    from captious.judgment.studies.critiques import two_fold_study  # slow to import

    destination.deliver_result(two_fold_study(candidates, references, **options))
