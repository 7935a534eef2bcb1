"""Objects that are imported on first use: functions of this package, and entry points of other packages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from captious.errors import ParameterError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint  # slow to import


def deferred(path: str) -> Callable[..., Any]:
    """Return a function by its path, such as "text.languages:as_language", imported when it is called."""
    module, name = path.split(":")
    return lambda *arguments: attrgetter(name)(import_module(f"captious.{module}"))(*arguments)


@dataclass(frozen=True)
class EntryPoints:
    """The entry points of a group. Names are converted to lower case.

    Args:
        group: such as "captious.metrics".
        kind: kind of object in messages.
        built_in: names that other packages cannot use.
    """

    group: str
    kind: str
    built_in: Sequence[str]

    @cached_property
    def by_name(self) -> dict[str, EntryPoint]:
        """Entry points by name."""
        from importlib.metadata import entry_points

        points = {point.name.lower(): point for point in entry_points(group=self.group)}
        return {name: point for name, point in points.items() if name not in self.built_in}

    @property
    def names(self) -> list[str]:
        """Built-in names, then those of other packages in alphabetical order."""
        return [*self.built_in, *sorted(self.by_name)]

    def load(self, name: str, fits: Callable[[Any], bool], expected: str) -> Any:
        """Load the object that an entry point names.

        Args:
            name: one of ``by_name``.
            fits: checks whether an object is as expected.
            expected: the kind of object expected, in messages.

        Raises:
            ParameterError: it cannot be imported, or is not as expected.
        """
        point = self.by_name[name]
        try:
            loaded = point.load()
        except MemoryError:
            raise
        except Exception as error:  # whatever the code of another package does when it is imported
            raise ParameterError(
                f"the {self.kind} {name} cannot be loaded: {error}",
                where=f"entry point {point.value}",
                hint="repair or uninstall the package that provides it",
            ) from error

        if not fits(loaded):
            raise ParameterError(f"{point.value} is not a {self.kind}", hint=f"the entry point must name {expected}")
        return loaded


#: Words that people use for names of ours -> those names, of metrics, keywords, settings and options.
MEANINGS: Mapping[str, Sequence[str]] = {
    name: names
    for words, names in {
        "refs ref references reference gts gt ground-truth targets target labels golds": ("references",),
        "candidates candidate cands hyps hyp hypotheses hypothesis preds pred predictions prediction res results "
        "captions caption generated": ("candidates", "systems", "system", "candidate", "captions"),
        "models": ("systems",),
        "names": ("system", "systems", "naming"),
        "name label": ("system", "systems"),
        "benchmark dataset datasets": ("benchmarks", "judge"),
        "captious": ("concur",),
        "metric metrics scorers scorer measures measure": ("metrics", "metric"),
        "df document-frequencies document-frequency idf-file corpus": ("idf",),
        "lang locale": ("language",),
        "tokeniser tokenize tokenization": ("tokenizer",),
        "endpoint url base-url api-base api-url server llm": ("endpoint", "judge", "server"),
        "checkpoint model-name model-type encoder": ("model",),
        "embeddings word-vectors glove word2vec": ("vectors",),
        "image-dir image-folder images-dir img-dir": ("images",),
        "n-jobs num-workers workers jobs processes nproc num-processes n-processes num-threads nthreads": (
            "threads",
            "workers",
        ),
        "n-bootstrap bootstrap n-boot n-resamples num-resamples samples n-samples": ("resamples", "intervals", "ci"),
        "confidence-interval confidence-intervals interval": ("ci", "intervals"),
        "confidence alpha confidence-level": ("level", "ci"),
        "random-state random-seed rng": ("seed",),
        "subset common intersection allow-missing skip-missing ignore-missing partial strict": ("match",),
        "id-type id-mode match-ids id-rule": ("ids",),
        "of-k best-of best-of-k reduce aggregate multiple n-captions": ("several",),
        "column fields field keys key mapping": ("columns",),
        "fold set partition": ("split",),
        "layout input-format format-of-input": ("layout", "from"),
        "normalize normalization preprocess strip": ("clean",),
        "quiet silent no-progress no-warnings": ("quiet",),
        "out outfile out-file output-file output file save save-to dest": ("output", "path"),
        "verbose traceback": ("debug",),
        "show inspect why": ("explain",),
        "eval evaluate run-metrics": ("score",),
        "validate lint": ("check",),
        "diff significance test": ("compare",),
        "per-image per-sentence per-sample sentence-level segment-level details individual": ("per-caption",),
        "percentage percentages scale x100": ("percent",),
        "group groups by category": ("group-by",),
        "output-format out-format fmt": ("format",),
        "name-style metric-names": ("naming",),
        "top": ("worst", "examples"),
        "image-id img": ("image",),
        "batch-size batch": ("batch-rows",),
        "plots figure figures plot-dir": ("plot",),
        "no-refs without-references": ("no-references",),
        "html page dashboard": ("report",),
        "correlate correlation meta-eval": ("judge",),
        "rank prefer pairwise arena": ("judge-pairwise",),
        "leaderboard competitions": ("challenges",),
        "upload": ("submit",),
        "download install fetch setup": ("get", "resources"),
        "info env status": ("doctor",),
        "list-metrics list ls": ("metrics",),
        "autocomplete complete": ("completion",),
        "hallucination hallucinations object-hallucination": ("chair", "amber", "pope"),
        "diversity diverse": ("div", "distinct", "mbleu", "self-cider"),
        "grammar grammaticality fluency": ("fense", "spurts"),
        "semantic semantics scene-graph": ("spice", "sbert"),
        "embedding sentence-bert sentence-similarity similarity": ("sbert", "bertscore"),
        "reference-free image-text": ("clipscore",),
        "clip": ("clipscore", "refclipscore"),
        "llm-judge gpt gpt-4 gpt4": ("judge-clair", "judge-geval"),
        "clair": ("judge-clair",),
        "geval g-eval": ("judge-geval",),
        "rouge": ("rouge-l", "rouge-n"),
        "brevity number-of-words": ("length",),
        "self-bleu": ("mbleu",),
        "bert": ("bertscore",),
        "novelty originality": ("novel",),
        "earth-mover word-movers-distance": ("wmd",),
    }.items()
    for name in words.split()
}


def meant(name: object, names: Iterable[str], most: int = 1) -> list[str]:
    """Return the known names that an unknown one may mean: by ``MEANINGS``, else those with the closest letters.

    Args:
        name: the unknown name; capitals, underscores and the dashes of an option are ignored.
        names: the known names.
        most: maximum number of names that are only close.
    """
    import difflib

    known: dict[str, str] = {}
    for item in names:
        known.setdefault(_plain_name(item), item)
    plain = _plain_name(str(name))
    by_meaning = [known[item] for item in MEANINGS.get(plain, ()) if item in known]
    return by_meaning or [known[item] for item in difflib.get_close_matches(plain, known, n=most, cutoff=0.6)]


def did_you_mean(name: object, names: Iterable[str], most: int = 1) -> str:
    """Return a suggestion for the hint of an error, followed by a space; empty if no name is close.

    Args:
        name, names, most: as for ``meant``.
    """
    *before, last = meant(name, names, most) or [""]
    return f"did you mean {', '.join(before)}{' or ' if before else ''}{last}? " if last else ""


def _plain_name(name: str) -> str:
    return name.lower().lstrip("-").replace("_", "-")
