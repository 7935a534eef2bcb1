"""VATEX-EVAL: ratings of video captions from 1 to 5 by three annotators each. Shi et al. 2022 (EMScore).

The statistic is computed for each annotator and averaged. The authors round scores to four decimals first, which causes
a few more ties; that is not done here.

The format is taken from the owners' program, which reads four pickles of numpy arrays; the protocols have not been run
on their files. Pickles are read as data: no callable in them is called.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from captious.errors import CaptionFileError
from captious.judgment import Benchmark, DataFolder, Files, Protocol, RatedCaption, Rule
from captious.phrases import counted

_NAMES = ("candidates_list", "gts_list", "human_scores", "video_ids")
_FILES = tuple(f"vatex_eval/{name}.pkl" for name in _NAMES)
_ANNOTATORS = 3


def _read(folder: DataFolder) -> list[RatedCaption]:
    """Read candidates [n], references [n, 9], scores [3 n], annotator after annotator, and videos [n]."""
    candidates, references, scores, videos = (_listed(folder.pickle(name)) for name in _FILES)
    ratings = np.array(scores, dtype=np.float64).reshape(_ANNOTATORS, -1).T
    if not len(candidates) == len(references) == len(ratings) == len(videos):
        raise CaptionFileError(
            f"{counted(len(candidates), 'candidate')}, references of {len(references):,}, ratings of "
            f"{len(ratings):,} and {counted(len(videos), 'video')}",
            where=f"{folder.folder}: {', '.join(_FILES)}",
            help="get the files of one release",
        )
    return [
        RatedCaption(f"{number}|{video}", video, candidate, texts, own_ratings.tolist())
        for number, (video, candidate, texts, own_ratings) in enumerate(
            zip(videos, candidates, references, ratings, strict=True), start=1
        )
    ]


def _listed(values: Any) -> list[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


VATEX_EVAL = Benchmark(
    "vatex-eval",
    tuple(
        Protocol(
            "vatex-eval",
            f"{name}{tail}",
            statistic,
            "annotators",
            "captions",
            references=references,
            source="Shi et al. 2022",
        )
        for tail, references in (
            ("-nine-refs", Rule("the nine of the video", lambda item: [*item.references[:9]])),
            ("-one-ref", Rule("the first of the nine", lambda item: [*item.references[:1]])),
        )
        for name, statistic in (("kendall", "kendall-tau-b"), ("spearman", "spearman"))
    ),
    (Files(_FILES, _read),),
    "ShiYaya/emscore on GitHub, which links to the files",
)
