"""Document frequencies: counted, merged, written to files and read back, and files that are not right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

import captious
from captious.data import read_references
from captious.errors import OutputError, ParameterError, ResourceError
from captious.metrics.shared.frequencies import DocumentFrequencies
from captious.text import PTB, WHITESPACE
from tests.oracles.cider import frequencies
from tests.support.corpora import Corpus, corpora, large_corpus, references_table

CORPUS = large_corpus(150, seed=3)
REFERENCES = [[" ".join(reference) for reference in references] for references in CORPUS.references]


def by_words(idf: DocumentFrequencies) -> dict[tuple[str, ...], int]:
    words = idf.vocabulary.words()
    ngrams, counts = idf.counts.entries()
    return {
        tuple(words[i] for i in ngram if i >= 0): count
        for ngram, count in zip(ngrams.tolist(), counts.tolist(), strict=True)
    }


def scores(idf: DocumentFrequencies | str | Path | None) -> np.ndarray:
    return captious.CiderD(idf=idf, tokenizer="whitespace").statistics(CORPUS.table())[:, 0]


@pytest.fixture
def idf() -> DocumentFrequencies:
    return DocumentFrequencies.of(references_table(REFERENCES), WHITESPACE)


# ---- counting


@given(corpus=corpora())
def test_counts_equal_the_oracle(corpus: Corpus) -> None:
    idf = DocumentFrequencies.of(corpus.table().references, WHITESPACE)
    expected = frequencies(corpus.references)
    assert by_words(idf) == expected.counts
    assert idf.n_documents == expected.documents == len(corpus.references)


def test_references_in_any_form() -> None:
    mapping = {"a": ["A dog."], "b": ["a cat", "a dog"]}
    idf = DocumentFrequencies.of(mapping, PTB)
    assert by_words(idf)[("a", "dog")] == 2
    assert idf.n_documents == 2
    references = read_references(mapping)
    assert DocumentFrequencies.of(references, PTB) is DocumentFrequencies.of(references, PTB)


# ---- merging


@given(left=corpora(), right=corpora())
def test_merged_is_counted_together(left: Corpus, right: Corpus) -> None:
    together = DocumentFrequencies.of(
        Corpus(left.candidates + right.candidates, left.references + right.references).table().references, WHITESPACE
    )
    first, second = (DocumentFrequencies.of(corpus.table().references, WHITESPACE) for corpus in (left, right))
    for merged in (first.merge(second), second.merge(first)):
        assert by_words(merged) == by_words(together)
        assert (merged.n_documents, merged.label) == (together.n_documents, together.label)


def test_merging_leaves_both_as_they_were() -> None:
    left = DocumentFrequencies.of(references_table([["a dog"]]), WHITESPACE)
    right = DocumentFrequencies.of(references_table([["a cat"]]), WHITESPACE)
    before = by_words(left), by_words(right)
    left.merge(right)
    assert (by_words(left), by_words(right)) == before
    assert (left.n_documents, right.n_documents) == (1, 1)


def test_frequencies_of_different_tokenizers_do_not_merge(idf: DocumentFrequencies) -> None:
    with pytest.raises(ParameterError, match="cannot be merged"):
        idf.merge(DocumentFrequencies.of(references_table([["a"]]), PTB))


@pytest.mark.parametrize(
    ("counts", "n_documents", "message"),
    [
        ({("a",): 1, ("b",): 4}, 3, "frequencies from 1 to 4 cannot be those of 3 documents"),
        ({("a",): 0, ("b",): 2}, 3, "frequencies from 0 to 2 cannot be those of 3 documents"),
        ({}, 0, "cannot be those of 0 documents"),
        ({("a",): 1}, 2**53 + 1, "cannot be those of"),
        ({("a",) * 5: 1}, 3, "not an n-gram of 1 to 4 words"),
        ({(): 1}, 3, "not an n-gram of 1 to 4 words"),
    ],
)
def test_impossible_counts_are_refused(counts: dict[tuple[str, ...], int], n_documents: int, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        DocumentFrequencies.of_counts(counts, n_documents)


def test_counts_are_kept() -> None:
    counts = {("a",): 3, ("a", "dog"): 1, ("a", "dog", "on", "it"): 2}
    for n_documents in (3, 2**53):
        frequencies = DocumentFrequencies.of_counts(counts, n_documents)
        assert (frequencies.by_ngram(), frequencies.n_documents) == (counts, n_documents)


def test_merged_frequencies_of_too_many_images_are_refused() -> None:
    """Counts have 32 bits, with a sign."""
    one = DocumentFrequencies.of(references_table([["a dog"]]), WHITESPACE)
    most = replace(one, n_documents=2**31 - 2)
    assert most.merge(one).n_documents == 2**31 - 1
    with pytest.raises(ParameterError, match="2,147,483,648 images cannot be counted") as caught:
        replace(one, n_documents=2**31 - 1).merge(one)
    assert "2,147,483,647" in caught.value.hint


# ---- files


def test_saved_frequencies_give_equal_scores(idf: DocumentFrequencies, tmp_path: Path) -> None:
    idf.save(tmp_path / "coco-val.idf")
    loaded = DocumentFrequencies.load(tmp_path / "coco-val.idf")
    assert by_words(loaded) == by_words(idf)
    assert (loaded.n_documents, loaded.tokenizer) == (idf.n_documents, "whitespace")
    np.testing.assert_array_equal(scores(loaded), scores(idf))
    np.testing.assert_array_equal(scores(tmp_path / "coco-val.idf"), scores(idf))
    np.testing.assert_array_equal(scores(str(tmp_path / "coco-val.idf")), scores(idf))


def test_signatures_name_the_corpus_its_size_and_its_content(idf: DocumentFrequencies, tmp_path: Path) -> None:
    def in_signature(frequencies: DocumentFrequencies) -> str:
        (signature,) = captious.CiderD(idf=frequencies, tokenizer="whitespace").signatures()
        (part,) = (part for part in signature.split("|") if part.startswith("idf:"))
        return part

    idf.save(tmp_path / "mine.idf")
    DocumentFrequencies.of(references_table([*REFERENCES[:-1], ["other"]]), WHITESPACE).save(tmp_path / "other.idf")
    loaded, other = (DocumentFrequencies.load(tmp_path / name) for name in ("mine.idf", "other.idf"))
    assert loaded.label == "mine-150"
    assert in_signature(loaded).startswith("idf:mine-150-")
    assert in_signature(other).startswith("idf:other-150-")
    # The last part says what was counted, whether it came from a file or not.
    content = [in_signature(frequencies).rpartition("-")[2] for frequencies in (loaded, other, idf)]
    assert content[0] == content[2] != content[1]
    (tmp_path / "copy.idf").write_bytes((tmp_path / "mine.idf").read_bytes())
    assert DocumentFrequencies.load(tmp_path / "copy.idf").checksum == loaded.checksum == idf.checksum


def test_bytes_do_not_depend_on_the_order_of_images(idf: DocumentFrequencies, tmp_path: Path) -> None:
    idf.save(tmp_path / "one.idf")
    DocumentFrequencies.of(references_table(REFERENCES[::-1]), WHITESPACE).save(tmp_path / "two.idf")
    halves = [DocumentFrequencies.of(references_table(REFERENCES[i::2]), WHITESPACE) for i in range(2)]
    halves[1].merge(halves[0]).save(tmp_path / "three.idf")
    DocumentFrequencies.load(tmp_path / "one.idf").save(tmp_path / "four.idf")
    # A vocabulary grows with the candidates that are scored; the file holds what was counted.
    references = references_table(REFERENCES)
    captious.CiderD(tokenizer="whitespace").statistics(captious.Captions(("unheard of",) * 150, references))
    DocumentFrequencies.of(references, WHITESPACE).save(tmp_path / "five.idf")
    files = [(tmp_path / f"{name}.idf").read_bytes() for name in ("one", "two", "three", "four", "five")]
    assert files == [files[0]] * 5


def test_words_of_any_script_survive(tmp_path: Path) -> None:
    idf = DocumentFrequencies.of(references_table([["ein Hündchen 犬 🐕", "x\x00y"], [""]]), WHITESPACE)
    idf.save(tmp_path / "any.idf")
    assert by_words(DocumentFrequencies.load(tmp_path / "any.idf")) == by_words(idf)


def test_frequencies_without_words_give_finite_scores(tmp_path: Path) -> None:
    idf = DocumentFrequencies.of(references_table([[""], ["", ""]]), WHITESPACE)
    idf.save(tmp_path / "empty.idf")
    loaded = DocumentFrequencies.load(tmp_path / "empty.idf")
    assert loaded.n_documents == 2
    assert len(loaded.counts) == 0
    assert np.isfinite(scores(loaded)).all()


def test_saving_to_a_missing_folder_is_refused(idf: DocumentFrequencies, tmp_path: Path) -> None:
    with pytest.raises(OutputError):
        idf.save(tmp_path / "nowhere" / "x.idf")


#: Frequencies of two n-grams, written before.
WHOLE = Path(__file__).with_name("small.idf").read_bytes()


def test_small_frequency_file_is_exact(tmp_path: Path) -> None:
    (tmp_path / "x.idf").write_bytes(WHOLE)
    assert by_words(DocumentFrequencies.load(tmp_path / "x.idf")) == {("a",): 3, ("a", "dog"): 2}


@pytest.mark.parametrize("path", ["nowhere.idf", ".", "a\0.idf"])
def test_files_that_cannot_be_read(path: str, tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match="cannot read"):
        DocumentFrequencies.load(tmp_path / path)


def test_every_byte_may_be_damaged(tmp_path: Path) -> None:
    # Some bytes of an archive mean nothing; what does load is the same frequencies, and nothing else happens.
    for at in range(len(WHOLE)):
        for value in {WHOLE[at] ^ 1, WHOLE[at] ^ 0x80}:
            path = tmp_path / f"{at}-{value}.idf"  # to write over a file takes longer
            path.write_bytes(WHOLE[:at] + bytes([value]) + WHOLE[at + 1 :])
            try:
                loaded = DocumentFrequencies.load(path)
            except ResourceError:
                continue
            assert by_words(loaded) == {("a",): 3, ("a", "dog"): 2}, f"byte {at}"
    for length in range(0, len(WHOLE), 7):
        path = tmp_path / f"{length}.idf"
        path.write_bytes(WHOLE[:length])
        with pytest.raises(ResourceError) as caught:
            DocumentFrequencies.load(path)
        assert "DocumentFrequencies.of(references)" in caught.value.hint


# ---- use


def test_tokenizer_defaults_to_that_of_the_frequencies(idf: DocumentFrequencies) -> None:
    for metric in (captious.Cider, captious.CiderD):
        assert metric(idf=idf).tokenizer is metric(idf=idf, tokenizer="whitespace").tokenizer is WHITESPACE
        assert metric().tokenizer.name == "ptb"
