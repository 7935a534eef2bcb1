"""The benchmarks: from files to evidence, one function each. docs/judgment.md says which files, in which form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References
from captious.errors import CaptionFileError, EmptyInputError, ParameterError, ResourceError
from captious.judgment.evidence import CaptionPairs, Evidence, RatedCaptions, SystemRanking
from captious.judgment.judgment_files import DataFolder
from captious.judgment.protocols import Protocol
from captious.judgment.published import PUBLISHED, SUGARCREPE, letters

__all__ = ["FILES", "load_benchmark"]

#: The normalised files of each benchmark, and where they come from. ``published.PUBLISHED`` has the owners' own files.
FILES: dict[str, tuple[tuple[str, ...], str]] = {
    "flickr8k-expert": (("flickr8k/expert.jsonl",), "Hodosh et al. 2013, ExpertAnnotations.txt and Flickr8k.token.txt"),
    "flickr8k-cf": (
        ("flickr8k/crowdflower.jsonl", "flickr8k/crowdflower_refs.json"),
        "Hodosh et al. 2013, CrowdFlowerAnnotations.txt and Flickr8k.token.txt",
    ),
    "composite": (("composite/composite.jsonl",), "Aditya et al. 2015"),
    "pascal-50s": (("pascal50s/pairs.jsonl",), "Vedantam et al. 2015; five references as Lee et al. 2024 drew them"),
    "abstract-50s": (("abstract50s/pairs.jsonl",), "Vedantam et al. 2015"),
    "coco-2015": (("coco2015/teams.json",), "the leaderboard of the COCO captioning challenge 2015"),
    "wmt16-daseg": (("wmt16/daseg_to_english.jsonl",), "Bojar et al. 2016, direct assessment of segments"),
    "conll14-gec": (("conll14_gec/systems.json",), "Grundkiewicz et al. 2015"),
    "sugarcrepe": (tuple(f"sugarcrepe/{name}.jsonl" for name in SUGARCREPE), "Hsieh et al. 2023"),
}


def load_benchmark(protocol: Protocol, folder: DataFolder) -> Evidence:
    """The evidence of a benchmark, from its normalised files or, where these are not there, from its owner's.

    Raises:
        ResourceError: a file is not there.
        CaptionFileError: a file is not of the form that is expected.
    """
    names = _files(protocol.benchmark, folder)
    try:
        return _LOADERS[protocol.benchmark](protocol, folder)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise CaptionFileError(
            f"the data of {protocol.benchmark} are not of the expected form: {type(error).__name__} {error}",
            where=f"{folder.folder}: {', '.join(names)}",
            help="docs/judgment.md shows the form",
        ) from error


def _files(benchmark: str, folder: DataFolder) -> tuple[str, ...]:
    """The files to read: the normalised ones, or those of the first published form that is there.

    Raises:
        ResourceError: neither is there.
    """
    published = PUBLISHED.get(benchmark, ())
    forms = [FILES[benchmark][0], *(form.files for form in published)]
    for files in forms:
        if folder.has(*files):
            return files
    if not published:
        return forms[0]  # reading it says what is missing
    missing = [" and ".join(name for name in files if not folder.has(name)) for files in forms]
    raise ResourceError(
        f"the files of {benchmark} are not there",
        where="\nor ".join([f"{folder.folder} lacks {missing[0]}", *missing[1:]]),
        help="captious data list says how to obtain them",
    )


def _published(benchmark: str, folder: DataFolder) -> list[dict[str, Any]] | None:
    """The records of the published files if these are to be read; they have the fields of the normalised ones."""
    files = _files(benchmark, folder)
    records = next((form.read(folder) for form in PUBLISHED[benchmark] if form.files == files), None)
    if records == []:
        raise EmptyInputError("there are no judgments", where=folder.place(files[0]), help="get the file again")
    return records


# ---- captions that were rated


def _flickr8k_expert(protocol: Protocol, folder: DataFolder) -> Evidence:
    records = _published(protocol.benchmark, folder)
    if records is None:
        records = folder.records("flickr8k/expert.jsonl")
    records = [r for r in records if not r["candidate_in_refs"]]
    if protocol.ratings == "mean":
        ratings = [np.array([r["mean"] if "mean" in r else np.mean(r["scores"])]) for r in records]
    elif "mean" in records[0]:
        raise ParameterError(
            f"{protocol.full_name} takes every rating; there are only their means",
            where=str(folder.folder),
            help=f"get {FILES[protocol.benchmark][1]}, or judge {protocol.benchmark}@yi2020",
        )
    else:
        ratings = [np.array(r["scores"], float) for r in records]
    captions = table(
        [f"{r['image']}|{r['caption_id']}" for r in records],
        [r["candidate"] for r in records],
        [r["refs"] for r in records],
    )
    return RatedCaptions(protocol, folder.read, captions, ratings, numbered(r["image"] for r in records)[0])


def _flickr8k_cf(protocol: Protocol, folder: DataFolder) -> Evidence:
    records = _published(protocol.benchmark, folder)
    if records is None:
        references = folder.json("flickr8k/crowdflower_refs.json")
        records = [r | {"refs": references[r["image"]]} for r in folder.records("flickr8k/crowdflower.jsonl")]
    captions = table(
        [f"{r['image']}|{r['caption_id']}" for r in records],
        [r["candidate"] for r in records],
        [r["refs"] for r in records],
    )
    ratings = [np.array([r["yes_frac"]], float) for r in records]
    return RatedCaptions(protocol, folder.read, captions, ratings, numbered(r["image"] for r in records)[0])


def _composite(protocol: Protocol, folder: DataFolder) -> Evidence:
    records = folder.records("composite/composite.jsonl")
    rated_reference = {r["image"]: letters(r["candidate"]) for r in records if r["slot"] == 1}
    references = []
    for r in records:
        others = [text for text in r["refs"] if letters(text) != rated_reference.get(r["image"])]
        references.append(others or r["refs"])
    captions = table(
        [f"{r['source']}|{r['image']}|{r['slot']}" for r in records], [r["candidate"] for r in records], references
    )
    ratings = [np.array([r["human"]], float) for r in records]
    return RatedCaptions(protocol, folder.read, captions, ratings, numbered(r["image"] for r in records)[0])


def _wmt16(protocol: Protocol, folder: DataFolder) -> Evidence:
    records = folder.records("wmt16/daseg_to_english.jsonl")
    parts, names = numbered(r["pair"] for r in records)
    captions = table(
        [f"{r['pair']}|{i}" for i, r in enumerate(records)],
        [r["candidate"] for r in records],
        [[r["reference"]] for r in records],
    )
    ratings = [np.array([r["human"]], float) for r in records]
    return RatedCaptions(protocol, folder.read, captions, ratings, np.arange(len(records)), parts, names)


# ---- pairs of captions


def _pascal_50s(protocol: Protocol, folder: DataFolder) -> Evidence:
    records = folder.records("pascal50s/pairs.jsonl")
    parts, names = numbered((r["category"] for r in records), ("HC", "HI", "HM", "MM"))
    return pairs_of(
        protocol,
        folder,
        [(r["image"], r["sent"], r["refs5_fleur"]) for r in records],
        np.array([r["label48"] for r in records]),
        parts,
        names,
    )


def _abstract_50s(protocol: Protocol, folder: DataFolder) -> Evidence:
    records = folder.records("abstract50s/pairs.jsonl")
    parts, names = numbered(r.get("category", "all") for r in records)
    return pairs_of(
        protocol,
        folder,
        [(r["image"], r["sent"], r["refs"]) for r in records],
        np.array([r["label"] for r in records]),
        parts,
        names,
    )


def _sugarcrepe(protocol: Protocol, folder: DataFolder) -> Evidence:
    records = _published(protocol.benchmark, folder)
    if records is None:
        records = [r | {"part": part} for part in SUGARCREPE for r in folder.records(f"sugarcrepe/{part}.jsonl")]
    parts, names = numbered((r["part"] for r in records), SUGARCREPE)
    pairs = [(r["image_id"], (r["pos"], r["neg"]), r["refs"]) for r in records]
    return pairs_of(protocol, folder, pairs, np.zeros(len(records), np.int64), parts, names)


def pairs_of(
    protocol: Protocol,
    folder: DataFolder,
    pairs: Sequence[tuple[Any, Sequence[str], Sequence[str]]],
    preferred: NDArray[np.int64],
    parts: NDArray[np.int64],
    names: Sequence[str],
) -> CaptionPairs:
    """Pairs of (image, both captions, references)."""
    if not set(np.unique(preferred)) <= {0, 1}:
        raise ValueError("a preference is neither 0 nor 1")
    captions = table(
        [f"{image}|{number}|{side}" for number, (image, _, _) in enumerate(pairs) for side in (0, 1)],
        [text for _, (first, second), _ in pairs for text in (first, second)],
        [references for _, _, references in pairs for _ in (0, 1)],
    )
    units = numbered(image for image, _, _ in pairs)[0]
    return CaptionPairs(protocol, folder.read, captions, preferred, units, parts, names)


# ---- systems that were ranked


def _coco_2015(protocol: Protocol, folder: DataFolder) -> Evidence:
    """Entries are known by the day on which they were submitted: later ones of the same team were not judged."""
    teams = folder.json("coco2015/teams.json")
    judged = {}
    for team, record in teams.items():
        scores = [scores for date, _, scores in record["cap_c40"] if date == record["date"]]
        if scores and team not in ("Human", "Random"):
            judged[team] = scores[0]
    names = {f"bleu-{n}": f"Bleu_{n}" for n in (1, 2, 3, 4)}
    names |= {"meteor": "METEOR", "rouge-l": "ROUGE_L", "cider-d": "CIDEr", "spice": "SPICE"}
    published = {
        metric: np.array([scores[key] for scores in judged.values()], float)
        for metric, key in names.items()
        if all(scores.get(key) is not None for scores in judged.values())
    }
    human = np.array([teams[team][protocol.name.upper()] for team in judged], float)
    return SystemRanking(protocol, folder.read, list(judged), human, published)


def _conll14_gec(protocol: Protocol, folder: DataFolder) -> Evidence:
    content = folder.json("conll14_gec/systems.json")
    systems = [name for name in content["outputs"] if name != "INPUT"]
    human = np.array([content["expected_wins"][name] for name in systems], float)
    return SystemRanking(protocol, folder.read, systems, human, {}, [content["outputs"][name] for name in systems])


_LOADERS: dict[str, Callable[[Protocol, DataFolder], Evidence]] = {
    "flickr8k-expert": _flickr8k_expert,
    "flickr8k-cf": _flickr8k_cf,
    "composite": _composite,
    "pascal-50s": _pascal_50s,
    "abstract-50s": _abstract_50s,
    "coco-2015": _coco_2015,
    "wmt16-daseg": _wmt16,
    "conll14-gec": _conll14_gec,
    "sugarcrepe": _sugarcrepe,
}


# ---- helpers


def table(ids: Sequence[str], candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Captions:
    """Captions with a row per judged caption: metrics that count documents count each as one."""
    offsets = np.concatenate([[0], np.cumsum([len(texts) for texts in references])])
    texts = tuple(text for some in references for text in some)
    return Captions(tuple(candidates), References(tuple(ids), texts, offsets, name="judged captions"))


def numbered(values: Iterable[Any], known: Sequence[str] = ()) -> tuple[NDArray[np.int64], list[str]]:
    """Values as numbers from 0, in the order of `known` and then of coming, and what the numbers stand for."""
    numbers: dict[Any, int] = {value: number for number, value in enumerate(known)}
    found = np.array([numbers.setdefault(value, len(numbers)) for value in values], np.int64)
    return found, [str(value) for value in numbers]
