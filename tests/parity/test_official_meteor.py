"""METEOR against the official jar, run beside it: statistics, scores, corpus scores. Slow: a minute or two in all.

The nine systems on val2014 are in test_coco_systems.py.
"""

from __future__ import annotations

import gzip
import itertools
import random
import shlex
import zipfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from Stemmer import Stemmer

import captious
from captious.text import PTB, TokenLayer, Tokens
from tests.parity import official_meteor
from tests.parity.real_captions import read_lines
from tests.support.corpora import table

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("meteor_tables")]

CLOSE = 1e-12

Segments = tuple[list[str], list[list[str]]]


def check(segments: Segments, *options: str, metric: captious.Meteor | None = None) -> None:
    """Check for equal statistics, with modules in their usual order, and equal scores.

    Where modules are left out, the jar's statistics are those of the modules in the order of naming.
    """
    metric = metric or captious.Meteor(tokenizer="whitespace")
    expected = official_meteor.statistics(*segments, *options)
    scores, corpus = official_meteor.scores(expected, *options)
    found = metric.statistics(table(*segments))
    in_jar = np.zeros_like(found)
    in_jar[:, [0, 1, 2, 3, 20, 21, 22]] = found[:, [0, 1, 2, 3, 20, 21, 22]]
    for place, name in enumerate(metric.modules):
        usual = ("exact", "stem", "synonym", "paraphrase").index(name)
        in_jar[:, 4 + 4 * place : 8 + 4 * place] = found[:, 4 + 4 * usual : 8 + 4 * usual]
    different = np.flatnonzero((in_jar != official_meteor.as_summed(expected)).any(axis=1))
    assert not different.size, [(segments[0][i], segments[1][i]) for i in different[:3]]
    np.testing.assert_allclose(metric.aggregate(found)[:, 0], scores, atol=CLOSE, rtol=0)
    assert metric.aggregate(found.sum(axis=0))[0] == pytest.approx(corpus, abs=CLOSE, rel=0)


@pytest.fixture(scope="module")
def karpathy(shared_data: Path) -> list[Segments]:
    """The four systems, as the official toolkit has tokenized them."""
    systems = [read_lines(shared_data / "gold" / f"karpathy_sys{number}.jsonl.gz") for number in range(4)]
    return [([g["tokens"] for g in gold], [g["ref_tokens"] for g in gold]) for gold in systems]


@pytest.mark.nightly
@pytest.mark.parametrize("number", range(4))
def test_meteor_of_karpathy_systems_equals_the_jar(karpathy: list[Segments], number: int) -> None:
    check(karpathy[number])


@pytest.mark.nightly
def test_meteor_of_wmt16_equals_the_jar(shared_data: Path) -> None:
    records = read_lines(shared_data / "wmt16" / "daseg_to_english.jsonl.gz")
    assert len(records) == 3_360
    raw = table([record["candidate"] for record in records], [[record["reference"]] for record in records])
    candidates, references = (joined(tokens) for tokens in raw.layer(TokenLayer(PTB)))
    check((candidates, [[reference] for reference in references]))


def joined(tokens: Tokens) -> list[str]:
    words, at = tokens.vocabulary.words(), tokens.offsets.tolist()
    return [" ".join(words[i] for i in tokens.ids[start:end]) for start, end in itertools.pairwise(at)]


# ---- word soup: captions where much matches in many ways, so that beams are full and alignments tie


@pytest.fixture(scope="module")
def relatives(karpathy: list[Segments]) -> list[list[str]]:
    """Groups of words and phrases of captions that are each other's forms, synonyms and paraphrases."""
    texts = [text for candidates, references in karpathy for text in itertools.chain(candidates, *references)]
    counts = Counter(word for text in texts for word in text.split())
    known = sorted(word for word, n in counts.items() if n > 1)
    groups: dict[object, list[str]] = defaultdict(list)
    for word, stem in zip(known, Stemmer("english").stemWords(known), strict=True):
        groups["stem", stem].append(word)
    with zipfile.ZipFile(official_meteor.jar()) as jar:
        lines = jar.read("synonym/english.synsets").decode().splitlines()
    for word, sets in zip(lines[::2], lines[1::2], strict=True):
        for number in sets.split() if word in counts else ():
            groups["synset", number].append(word)
    with gzip.open(official_meteor.jar().parent / "data" / "paraphrase-en.gz", "rt", encoding="utf-8") as file:
        for _, phrase, paraphrase in zip(file, file, file, strict=True):
            if all(word in counts for word in f"{phrase} {paraphrase}".split()):
                groups["phrase", phrase.strip()] += [phrase.strip(), paraphrase.strip()]
    return [sorted(set(group)) for group in groups.values() if len(set(group)) > 1]


def soups(relatives: list[list[str]], count: int) -> Segments:
    """Candidate and references are drawn from the same few groups of relatives; half the candidates are references
    reworded."""
    rng = random.Random(20)
    candidates, references = [], []
    for _ in range(count):
        groups = [rng.sample(group, min(len(group), 5)) for group in rng.sample(relatives, rng.randint(1, 5))]
        groups += [
            [word] for word in rng.sample(("the", "a", "of", "in", "on", "is", "two", "'s"), rng.choice((0, 1, 2)))
        ]
        plan = rng.choices(groups, k=rng.choice((3, 6, 6, 10, 10, 15, 25, 40)))

        def text(plan: list[list[str]] = plan, groups: list[list[str]] = groups) -> str:
            own = list(plan) if rng.random() < 0.5 else rng.choices(groups, k=len(plan))
            for _ in range(rng.choice((0, 0, 1, 3, 6))):
                first, second = (rng.randrange(len(own)) for _ in range(2))
                own[first], own[second] = own[second], own[first]
            return " ".join(rng.choice(group) for group in own)

        candidates.append(text())
        references.append([text() for _ in range(rng.choice((1, 1, 2, 3)))])
    return candidates, references


@pytest.mark.parametrize("count", [200, pytest.param(10_000, marks=pytest.mark.nightly)])
def test_meteor_of_random_word_soups_equals_the_jar(relatives: list[list[str]], count: int) -> None:
    check(soups(relatives, count))


@pytest.mark.parametrize(
    ("code", "name", "language", "stem", "most"),
    [
        ("de", "de", "german", 0.8, 1),
        ("fr", "fr", "french", 0.2, 0),
        ("es", "es", "spanish", 0.8, 0),
        ("ru", "ru", "russian", 0.5, 0),
        ("cs", "cz", "czech", None, 0),
        ("sv", "se", "swedish", 0.5, 0),
        ("pl", "other", "other", None, 0),
    ],
)
def test_meteor_of_german_captions_equals_the_jar(
    shared_data: Path, tmp_path: Path, code: str, name: str, language: str, stem: float | None, most: int
) -> None:
    """German captions under the stemmers and function words of a language, whose list is named: with ``-l`` alone, the
    jar takes the English one. Snowball has changed since for a word in a thousand captions.
    """
    with zipfile.ZipFile(official_meteor.jar()) as archive:
        (tmp_path / "function.words").write_bytes(archive.read(f"function/{language}.words"))
    tokenizer = captious.text.as_tokenizer("unicode")
    sides = []
    for number in range(1, 6):
        with gzip.open(shared_data / "multi30k" / f"val.{number}.de.gz", "rt", encoding="utf-8") as file:
            sides.append([" ".join(tokenizer(line)) for line in file])
    references = [[*captions] for captions in zip(*sides[1:], strict=True)]
    modules = ["-m", "exact stem", "-w", f"1.0 {stem}"] if stem else ["-m", "exact", "-w", "1.0"]
    options = ["-l", name, "-s", str(tmp_path / "function.words"), *modules]
    expected = official_meteor.as_summed(official_meteor.statistics(sides[0], references, *options, norm=False))
    metric = captious.Meteor(language=code, tokenizer="whitespace")
    found = metric.statistics(table(sides[0], references))
    assert (found != expected).any(axis=1).sum() <= most


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ("-p '0.5 1.0 0.3 0.4' -w '1.0 0.6 0.8 0.6'", {"alpha": 0.5, "beta": 1.0, "gamma": 0.3, "delta": 0.4}),
        ("-p '0.85 0.2 0.6 0.0' -w '1.0 0.6 0.8 0.6'", {"delta": 0.0}),
        ("-w '0.9 0.1 0.7 0.35'", {"modules": {"exact": 0.9, "stem": 0.1, "synonym": 0.7, "paraphrase": 0.35}}),
        ("-m exact -w 1.0", {"modules": {"exact": 1.0}}),
        ("-m 'exact stem' -w '1.0 0.6'", {"modules": {"exact": 1.0, "stem": 0.6}}),
        ("-m 'exact synonym' -w '1.0 0.8'", {"modules": {"exact": 1.0, "synonym": 0.8}}),
        ("-m 'stem paraphrase' -w '0.6 0.5'", {"modules": {"stem": 0.6, "paraphrase": 0.5}}),
    ],
)
def test_meteor_under_other_parameters_equals_the_jar(
    relatives: list[list[str]], options: str, parameters: dict[str, Any]
) -> None:
    metric = captious.Meteor(tokenizer="whitespace", **parameters)
    check(soups(relatives, 1_000), *shlex.split(options), metric=metric)
