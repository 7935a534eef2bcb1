"""The toolkit's scorers under its names, and the protocol of METEOR's program."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.compat.counted import CORPUS, filled, frequencies, groups_of
from captious.compat.pycocoevalcap.bleu_scorer import scores_of
from captious.compat.pycocoevalcap.cider_scorer import CiderScorer
from captious.compat.pycocoevalcap.inputs import Texts, captions, captions_of_several, is_nothing, table
from captious.compat.reexports import is_changed
from captious.data import Captions
from captious.errors import ParameterError
from captious.evaluation.checks import issue
from captious.evaluation.reward import Reward, RewardTerm
from captious.metrics import cider, meteor, rouge, spice, wmd
from captious.metrics.shared.frequencies import DocumentFrequencies
from captious.models import WordVectors
from captious.scenes.graphs import CATEGORIES, agreement, count
from captious.text import SPACES, WHITESPACE

#: Columns of the statistics: words of both sides, chunks, matched words of both sides.
_WORDS, _CHUNKS, _MATCHED = slice(0, 2), 20, slice(21, 23)
# The protocol between METEOR's program and its callers, and a simulated process that implements it.
#
#     SCORE ||| reference ||| ... ||| candidate   -> 23 numbers, the statistics of the best reference
#     EVAL ||| statistics ||| ...                 -> a score for each, and the score of all of them
#     SING ||| statistics                         -> the score
#
# Some evaluation programs, such as those for news captions, write these lines to ``Meteor().meteor_p``.

_COLUMNS = 23
_SEPARATOR = "|||"


def statistics_line(metric: meteor.Meteor, candidate: str, references: Sequence[str]) -> str:
    """Return the statistics of a candidate, formatted as by METEOR's program."""
    (row,) = metric.statistics(captions({0: list(references)}, {0: [candidate]})).tolist()
    if row[_CHUNKS] == 0 and any(row[_MATCHED]):  # a perfect match, whose one chunk the metric does not count
        row[_CHUNKS] = 1.0
    return " ".join(map(str, row))


def statistics_scores(metric: meteor.Meteor, lines: Sequence[str]) -> tuple[list[float], float]:
    """Return the score of each line of statistics, and of all together; a ValueError for other lines."""
    numbers = [np.array(line.split(), dtype=np.float64) for line in lines]
    if any(row.shape != (_COLUMNS,) for row in numbers):
        raise ValueError("not the 23 numbers of METEOR's statistics")
    rows = np.array(numbers).reshape(-1, _COLUMNS)
    perfect = (rows[:, _MATCHED] == rows[:, _WORDS]).all(axis=1) & (rows[:, _CHUNKS] == 1)
    rows[perfect, _CHUNKS] = 0
    return metric.aggregate(rows)[:, 0].tolist(), float(metric.aggregate(rows.sum(axis=0))[0])


class Process:
    """A replacement of METEOR's process, with ``stdin.write(line)`` and ``stdout.readline()``.

    Args:
        scorer: a ``Meteor`` of the toolkit, whose tables are read at the first line.
    """

    def __init__(self, scorer: Meteor) -> None:
        self.stdin = self.stdout = pipe = _Pipe(scorer)
        self.stderr = SimpleNamespace(readline=lambda: pipe.nothing, close=pipe.close)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return None until ``kill`` or ``terminate``."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the status of an ended process, 0."""
        self.kill()
        return 0

    def kill(self) -> None:
        """Set ``returncode``, and do nothing else."""
        self.returncode = 0

    terminate = kill

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"captious computes METEOR without Java: meteor_p is not a process, and has no {name!r}, but it takes the "
            "lines of METEOR's protocol by stdin.write, stdin.flush and stdout.readline"
        )


class _Pipe:
    """What a program writes to METEOR, and the answers."""

    def __init__(self, scorer: Meteor) -> None:
        self.nothing: bytes | str = b""  # read without an answer; the type is that of the last write
        self._answers: deque[bytes | str] = deque()
        self._scorer = scorer
        self._rest = ""

    def write(self, data: bytes | str) -> int:
        text = data.decode() if isinstance(data, bytes | bytearray) else data
        self.nothing = "" if isinstance(data, str) else b""
        *lines, self._rest = (self._rest + text).split("\n")
        answers = (f"{answer}\n" for line in lines for answer in self._answer(line))
        self._answers.extend(answers if isinstance(data, str) else map(str.encode, answers))
        return len(data)

    def readline(self) -> bytes | str:
        """Return the next answer, text for text and bytes for bytes; empty if all have been read.

        A real process would block the reader.
        """
        return self._answers.popleft() if self._answers else self.nothing

    def flush(self) -> None:
        """Do nothing: all answers are there."""

    close = flush

    def _answer(self, line: str) -> list[str]:
        verb, *fields = (field.strip() for field in line.split(_SEPARATOR))
        if verb == "SCORE" and len(fields) > 1:
            *references, candidate = fields
            return [statistics_line(self._scorer._metric, candidate, references)]
        if verb not in ("EVAL", "SING"):
            return ["Error: specify SCORE or EVAL or SING"]
        try:
            scores, total = statistics_scores(self._scorer._metric, fields)
        except ValueError:
            fields = []
        if not fields:
            return ["Error: specify Meteor stats"]
        return [str(scores[0])] if verb == "SING" else [*map(str, scores), str(total)]


# The toolkit's scorers: BLEU, CIDEr-D, METEOR, ROUGE-L and SPICE, and the word mover's distance of a fork.


class Scorer:
    """A metric under the toolkit's interface."""

    _name: ClassVar[str]

    def method(self) -> str:
        """Return the toolkit's name for this scorer."""
        return self._name


class MeanScorer(Scorer):
    """A scorer whose corpus score is the mean of the images' scores."""

    #: Whether a corpus without images is an error; if not, its score is nan.
    _refuses_nothing: ClassVar[bool] = False

    def compute_score(self, gts: Texts, res: Texts) -> tuple[np.float64, NDArray[np.float64]]:
        """Score tokenized captions.

        Args:
            gts: image id -> list of references.
            res: image id -> list of one candidate.

        Returns:
            The mean, and float64[n_images] in the order of gts.

        Raises:
            InputError: invalid captions; the error names the image.
        """
        nothing = is_nothing(gts, res) and not self._refuses_nothing
        scores = np.zeros(0) if nothing else self._scores(gts, res)
        return np.float64(scores.mean()), scores

    def _scores(self, gts: Texts, res: Texts) -> NDArray[np.float64]:
        raise NotImplementedError


class Bleu(Scorer):
    """BLEU of order 1 to n.

    Args:
        n: 1 to 4.
    """

    _name = "Bleu"

    def __init__(self, n: int = 4) -> None:
        if n not in (1, 2, 3, 4):
            raise ParameterError(f"BLEU of order {n!r} is not supported", hint="n must be 1, 2, 3 or 4")
        self._n = n

    def compute_score(self, gts: Texts, res: Texts, verbose: int = 1) -> tuple[list[float], list[list[float]]]:
        """Score tokenized captions, split at white space.

        Args:
            gts: image id -> list of references.
            res: image id -> list of one candidate.
            verbose: print lengths and counts of the corpus; 0 to print nothing.

        Returns:
            Corpus scores by order, and by order the scores of every image, in the order of gts. Without any images, the
            corpus scores are 0.

        Raises:
            InputError: invalid captions; the error names the image.
        """
        return scores_of(None if is_nothing(gts, res) else captions(gts, res), self._n, verbose=verbose)


class Cider(MeanScorer):
    """CIDEr-D, which the toolkit calls CIDEr, with the document frequencies of the references in each call.

    Captions are split at white space; scores are 0 to 10. Calls without images raise ``ValueError``, as in the toolkit.

    Args:
        test: another name of ``df`` in some forks; otherwise ignored, as in the toolkit.
        refs: accepted and ignored, as in the toolkit.
        n: 4; with another n, the toolkit's scores are wrong or an error.
        sigma: width of the length penalty, in words.
        df: an argument of forks: "corpus", or document frequencies from a pickle, its path or its name in the folder
            ``data`` ("coco-val-df").
    """

    _name = "CIDEr"
    _refuses_nothing = True
    _idf: DocumentFrequencies | None = None

    def __init__(
        self,
        test: object = None,
        refs: object = None,
        n: int = 4,
        sigma: float = 6.0,
        df: str | os.PathLike[str] = CORPUS,
    ) -> None:
        if isinstance(test, str) and refs is None:
            df = test
        self._n = n
        self._sigma = sigma
        self._idf = frequencies(df)
        self._metric()

    def _metric(self) -> cider.CiderD:
        if self._n != 4:
            raise ParameterError(f"CIDEr-D up to order {self._n!r} is not supported", hint="leave n at 4")
        return cider.CiderD(idf=self._idf, sigma=self._sigma, tokenizer=WHITESPACE)

    def _scores(self, gts: Texts, res: Texts) -> NDArray[np.float64]:
        plain = captions(gts, res)
        if self._idf is None and is_changed(CiderScorer):  # methods that the program replaces run
            return filled(CiderScorer(n=self._n, sigma=self._sigma), plain).compute_score()[1]
        return cider_scores(self._metric(), plain)


def cider_scores(metric: cider.Cider, captions: Captions) -> NDArray[np.float64]:
    """Score candidates, each with the references at its place, which are prepared once for all that have the same.

    Without document frequencies of the metric, every candidate is a document.
    """
    if metric.idf is None:
        return metric.scores(captions)
    row_of: dict[tuple[str, ...], int] = {}
    rows = [row_of.setdefault(group, len(row_of)) for group in groups_of(captions.references)]
    return Reward([RewardTerm(metric, metric.name)], table(dict(enumerate(row_of)), "gts"))(rows, captions.candidates)


class Meteor(Scorer):
    """METEOR 1.5 with the toolkit's settings, in this process.

    METEOR's tables are loaded when the first caption is scored, so that programs that construct all scorers can run
    without them.

    Attributes:
        lock: for code that uses ``_stat`` or ``meteor_p`` from several threads; not needed here.
        meteor_p: answers the lines of METEOR's protocol like the toolkit's process, by ``stdin.write`` and
            ``stdout.readline``; other attributes of a process raise ``AttributeError``.
    """

    _name = "METEOR"

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.meteor_p = Process(self)

    @cached_property
    def _metric(self) -> meteor.Meteor:
        return meteor.Meteor(tokenizer=SPACES)

    def compute_score(self, gts: Texts, res: Texts) -> tuple[float, list[float]]:
        """Score tokenized captions, which METEOR normalizes further.

        Args:
            gts: image id -> list of references, or a tuple or array, as in the toolkit's METEOR.
            res: image id -> list of one candidate; likewise.

        Returns:
            The corpus score, and the scores of every image, in the order of gts.

        Raises:
            InputError: invalid captions; the error names the image. Without images, it is also a ``ValueError``.
            MissingExtraError: METEOR's tables are not installed.
        """
        statistics = self._metric.statistics(captions(_caption_lists(gts), _caption_lists(res)))
        corpus = float(self._metric.aggregate(statistics.sum(axis=0))[0])
        per_image: list[float] = self._metric.aggregate(statistics)[:, 0].tolist()
        return corpus, per_image

    def close(self) -> None:
        """Do nothing; forks end their process with it."""

    def _stat(self, hypothesis_str: str, reference_list: Sequence[str]) -> str:
        """Return METEOR's statistics of a candidate: 23 numbers."""
        return statistics_line(self._metric, hypothesis_str, reference_list)

    def _score(self, hypothesis_str: str, reference_list: Sequence[str]) -> float:
        """Return the score of a candidate; the toolkit's method fails in Python 3."""
        return statistics_scores(self._metric, [self._stat(hypothesis_str, reference_list)])[1]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("lock", "meteor_p")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.lock = threading.Lock()
        self.meteor_p = Process(self)


def _caption_lists(texts_of: Any) -> Any:
    """Convert captions to lists; anything that is not a tuple or an array is left to the check of the input."""
    if not isinstance(texts_of, list | Mapping):
        return texts_of
    items = enumerate(texts_of) if isinstance(texts_of, list) else texts_of.items()
    lists = {image: [*texts] if isinstance(texts, tuple | np.ndarray) else texts for image, texts in items}
    return [*lists.values()] if isinstance(texts_of, list) else lists


def my_lcs(string: Sequence[Hashable], sub: Sequence[Hashable]) -> int:
    """Return the length of the longest common subsequence of two lists of words."""
    row = [0] * (len(sub) + 1)
    for word in string:
        before = 0  # the value above and to the left
        for column, sub_word in enumerate(sub, 1):
            above = row[column]
            row[column] = before + 1 if word == sub_word else max(above, row[column - 1])
            before = above
    return row[-1]


class Rouge(MeanScorer):
    """ROUGE-L; a ``calc_score`` that a subclass or a program defines is called for every image.

    Captions are split at single spaces; two consecutive spaces enclose an empty word.

    Attributes:
        beta: weight of recall against precision.
    """

    _name = "Rouge"

    def __init__(self) -> None:
        self.beta = rouge.RougeL.beta.default

    def calc_score(self, candidate: Sequence[str], refs: Sequence[str]) -> float:
        """Score the candidate of one image, passed in a list.

        Raises:
            InputError: as ``compute_score``; the image counts as image 0.
        """
        return float(self._metric().scores(captions({0: list(refs)}, {0: list(candidate)}))[0])

    def _scores(self, gts: Texts, res: Texts) -> NDArray[np.float64]:
        plain = captions(gts, res)
        if getattr(self.calc_score, "__func__", None) is not _CALC_SCORE:
            groups = [list(references) for references in groups_of(plain.references)]
            pairs = zip(plain.candidates, groups, strict=True)
            return np.array([self.calc_score([candidate], references) for candidate, references in pairs])
        return self._metric().scores(plain)

    def _metric(self) -> rouge.RougeL:
        return rouge.RougeL(tokenizer=SPACES, beta=self.beta)


_CALC_SCORE = Rouge.calc_score


class Spice(Scorer):
    """SPICE, with the best grammar on this machine.

    METEOR's tables, which contain SPICE's synonyms, are loaded when the first caption is scored, so that programs that
    construct all scorers can run without them.
    """

    _name = "SPICE"

    @cached_property
    def _metric(self) -> spice.Spice:
        return spice.Spice(tokenizer=WHITESPACE)

    def compute_score(self, gts: Texts, res: Texts) -> tuple[np.float64, list[dict[str, dict[str, float]]]]:
        """Score tokenized captions, split at white space.

        Args:
            gts: image id -> list of references.
            res: image id -> list of one candidate, or of several, which are scored together as in the metric AllSPICE.

        Returns:
            The mean, and for every image, in the order of gts, a category (All, Object, Relation, Attribute, Color,
            Cardinality, Size) -> pr, re, f (nan if the references have no tuple of the category), tp, fp, fn (which may
            be negative) and numImages, which is 1.

        Raises:
            InputError: invalid captions; the error names the image.
            MissingExtraError: METEOR's tables are not installed.
        """
        if is_nothing(gts, res):
            return np.float64(np.mean([])), []
        references, candidates = (each.layer(self._metric.layer) for each in captions_of_several(gts, res))
        issue(spice.approximate(self._metric.parser.label))
        counts = [count(candidate, reference) for candidate, reference in zip(candidates, references, strict=True)]
        scores = agreement(np.array(counts, np.float64).reshape(-1, len(CATEGORIES), 3)).tolist()
        per_image = [
            {
                category.capitalize(): _category_record(category, *row)
                for category, *row in zip(CATEGORIES, *of_image, strict=True)
            }
            for of_image in zip(counts, scores, strict=True)
        ]
        return np.float64(np.mean([scores["All"]["f"] for scores in per_image])), per_image


def _category_record(category: str, counts: tuple[int, int, int], scores: list[float]) -> dict[str, float]:
    """Return the toolkit's record of a category of an image."""
    matched, in_candidate, in_references = counts
    precision, recall, f1 = scores if in_references or category == CATEGORIES[0] else (np.nan, np.nan, np.nan)
    return {
        "pr": precision,
        "re": recall,
        "f": f1,
        "tp": float(matched),
        "fp": float(in_candidate - matched),
        "fn": float(in_references - matched),
        "numImages": 1.0,
    }


def get_stanford_models() -> None:
    """Do nothing; the toolkit downloads CoreNLP.

    ``captious resources get spice-grammar`` fetches the official grammar.
    """


class WMD(MeanScorer):
    """Word mover's distance as a similarity, as in the fork mtanti/coco-caption. ``COCOEvalCap`` runs it only on
    request.

    Captions are split at single spaces. The fork reads a file of GoogleNews vectors from its own folder; here, any
    vectors can be used.

    Args:
        vectors: as for ``captious.Wmd``; None for the default.

    Raises:
        MissingExtraError: there are no word vectors.
    """

    _name = "WMD"

    def __init__(self, vectors: WordVectors | str | os.PathLike[str] | None = None) -> None:
        self._metric = wmd.Wmd(vectors=vectors, tokenizer=SPACES)

    def _scores(self, gts: Texts, res: Texts) -> NDArray[np.float64]:
        return self._metric.scores(captions(gts, res))
