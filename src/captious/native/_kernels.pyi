"""Kernels over arrays of numbers and UTF-8 text."""

import enum
from typing import Annotated, Any

import numpy
import numpy.typing
from numpy.typing import NDArray


class TokenizerRule(enum.Enum):
    """Rules that split a caption into tokens."""

    ptb = 0
    """
    Penn Treebank tokens, lower-cased, without the punctuation the COCO harness drops
    """

    ptb_raw = 1
    """Penn Treebank tokens, lower-cased, with punctuation"""

    whitespace = 2
    """pieces between white space, as str.split()"""

    spaces = 3
    """pieces between single spaces, empty ones included, as str.split(' ')"""

class Vocabulary:
    """Words numbered from 0 in order of addition."""

    def __init__(self) -> None: ...

    def copy(self) -> Vocabulary:
        """A copy with the same words and ids."""

    def arrays(self) -> dict[str, numpy.typing.NDArray[Any]]:
        """
        The words as arrays to save: their concatenated UTF-8, and the end of each.
        """

    @staticmethod
    def of_arrays(arrays: dict[str, numpy.typing.NDArray[Any]]) -> Vocabulary:
        """
        The vocabulary saved as `arrays`. Raises ValueError for arrays that contradict each other.
        """

    def __len__(self) -> int: ...

    def words(self, first: int = 0) -> list[str]:
        """Words from the id `first` on, in the order of their ids."""

    def find(self, words: tuple[str, ...]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """Ids of words; -1 for an unknown word."""

    def add(self, words: tuple[str, ...]) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """Ids of words, which are added if they are new."""

    def ids_in(self, other: Vocabulary) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """Id of each word in another vocabulary, or -1; int32[len(self)]."""

    def divisible(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """
        Ids of words that are empty or contain white space, which str.split() would split again.
        """

    def word(self, id: int) -> str: ...

    def encode(self, captions: tuple[str, ...], rule: TokenizerRule, threads: int) -> tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int64]]:
        """
        Tokenize captions and add their words: ids int32[n_tokens], offsets int64[n_captions + 1].
        """

    def lookup(self, captions: tuple[str, ...], rule: TokenizerRule, threads: int) -> tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int64]]:
        """
        Words of captions, where tokens are split at white space; unknown words are not added, but numbered from
        len(self) on, starting over in every caption.
        """

class ReferenceNgrams:
    """The n-grams (n = 1..4) of the references of each image."""

    def __init__(self, ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], image_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> None: ...

    def __len__(self) -> int:
        """Number of images."""

    def arrays(self) -> dict[str, numpy.typing.NDArray[Any]]:
        """The index as arrays to save."""

    @staticmethod
    def of_arrays(ids: numpy.typing.NDArray[numpy.int32], offsets: numpy.typing.NDArray[numpy.int64], image_offsets: numpy.typing.NDArray[numpy.int64], arrays: dict[str, numpy.typing.NDArray[Any]], threads: int) -> ReferenceNgrams:
        """
        The index of these references saved as `arrays`, which it uses in place. Raises ValueError
        for arrays that contradict each other; whether they belong to these references is not checked.
        """

def bleu_statistics(references: ReferenceNgrams, ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """
    Per image: clipped matches and n-grams of order 1..4, candidate length, closest reference length;
    float64[n_images, 10].
    """

def bleu_statistics_within(captions: ReferenceNgrams, threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """
    The statistics of bleu_statistics per caption, with the other captions of its image as references;
    float64[n_captions, 10]. A single caption has no matches and the reference length 0.
    """

def distinct_ngrams(references: ReferenceNgrams) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
    """Per image: distinct n-grams of order 1..4; int64[n_images, 4]."""

def ngram_matches(references: ReferenceNgrams, ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
    """
    Per reference: n-grams of order 1..4 that it shares with its candidate; int64[n_references, 4].
    """

def lcs_lengths(ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], reference_ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], reference_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], image_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """
    Per reference: length of the longest common subsequence with its candidate; int64[n_references].
    """

def subsequence_places(ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], other_ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], other_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
    """
    Per word of a caption: its place in the other caption by a longest common subsequence, the one with the most neighbors, or -1; int32[n_tokens]. Captions of more than 2,048 words on average have none.
    """

def skip_bigram_matches(ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], reference_ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], reference_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], image_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], gap: int, threads: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """
    Per reference: skip-bigrams at most `gap` positions apart that it shares with its candidate; int64[n_references].
    """

class NgramFrequencies:
    """The number of documents in which each n-gram occurs."""

    def __init__(self) -> None: ...

    def __len__(self) -> int:
        """Number of distinct n-grams."""

    def count(self, references: ReferenceNgrams, threads: int) -> None:
        """
        Count every image's references as one document. Can be called once, if nothing was added.
        """

    def add(self, ngrams: Annotated[NDArray[numpy.int32], dict(shape=(None, 4), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Add counts: ngrams int32[n, 4] of word ids padded with -1, counts int64[n].
        """

    def entries(self) -> tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int64]]:
        """All n-grams and their counts, as `add` takes them."""

    def arrays(self) -> dict[str, numpy.typing.NDArray[Any]]:
        """The counts of `count` as arrays to save."""

    @staticmethod
    def of_arrays(references: ReferenceNgrams, arrays: dict[str, numpy.typing.NDArray[Any]]) -> NgramFrequencies:
        """
        The frequencies of these references saved as `arrays`. Raises ValueError for arrays that do
        not fit.
        """

class CiderReferences:
    """References of all images, weighted for CIDEr."""

    def __init__(self, references: ReferenceNgrams, frequencies: NgramFrequencies, word_map: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], log_documents: float, *, sigma: float, clip: bool, relative: bool, length_in_words: bool, threads: int) -> None: ...

    def score(self, ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], word_map: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        Similarity, 0..1, of each candidate with the references of the image in its row; float64[n_candidates].
        """

    def score_within(self, threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        Similarity, 0..1, of each reference with each reference of its image: for every image a matrix of
        candidates by references, one after the other; float64[n_pairs]. Raises ValueError for
        relative counts.
        """

def kendall_resampled(offsets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ratings: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], groups: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], threads: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
    """
    Counts of Kendall's tau between scores and ratings, for each resample: concordant minus discordant pairs,
    all pairs, pairs tied in score, pairs tied in rating, distinct scores, distinct ratings;
    int64[n_resamples, 6]. ratings and scores are ranks from 0; counts int32[n_resamples, n_groups] is how
    often each group was drawn.
    """

def kendall_exchanged(offsets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ratings: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], groups: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], a: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], swaps: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], threads: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
    """
    The counts of kendall_resampled for the scores a and b of two metrics, after exchanging the scores of the
    groups where swaps uint8[n, n_groups] is not 0; int64[n, 12], first for a, then for b.
    """

def json_outline(text: bytes, start: int = 0) -> list[tuple[str | None, int, int, int, int]] | None:
    """
    The values of a JSON object, or of a document that is a list, with the key None: key, start, end, end of the
    first object of a list of objects, and the number of objects, or 0 and 0. None for text, UTF-8 from
    `start` on, that is neither, not JSON, or nested deeply.
    """

def json_columns(text: bytes, start: int, end: int, names: tuple[str, ...]) -> list[list[str | int]] | None:
    """
    Fields of the objects of a list of json_outline: the value of each name in every object. None if a
    value is missing or neither text nor an integer of 64 bits. Raises ValueError if it is no list of objects.
    """

class Marks:
    """
    At most 64 groups of marks that are looked for in texts all at once. An empty mark stands for any
    character beyond ASCII.
    """

    def __init__(self, groups: tuple[tuple[str, ...], ...]) -> None: ...

    def groups_in(self, texts: tuple[str, ...]) -> numpy.typing.NDArray[numpy.uint64]:
        """
        The groups that have a mark in each text: bit i for group i, uint64[n].
        """

class MeteorTablesCompiler:
    """METEOR's published files, compiled to arrays."""

    def __init__(self) -> None: ...

    def add_paraphrases(self, bytes: bytes) -> None:
        """
        Add the next bytes of the unpacked paraphrase table. Raises ValueError if it is malformed.
        """

    def finish(self, *, synsets: bytes, exceptions: bytes, function_words: bytes) -> dict[str, numpy.typing.NDArray[Any]]:
        """
        The arrays of MeteorLexicon by name. Can be called once. Raises as `add_paraphrases` does.
        """

class MeteorLexicon:
    """METEOR's facts about the words of one vocabulary."""

    def __init__(self, tables: dict[str, numpy.typing.NDArray[Any]]) -> None: ...

    def copy(self) -> MeteorLexicon:
        """A copy with the same words."""

    def __len__(self) -> int: ...

    def learn(self, first: int, words: tuple[str, ...], stems: tuple[str, ...]) -> None:
        """
        Add words of the vocabulary from the id `first` on, with their stems. Known words are skipped.
        """

    def arrays(self) -> dict[str, numpy.typing.NDArray[Any]]:
        """The facts as arrays to save."""

    @staticmethod
    def of_arrays(tables: dict[str, numpy.typing.NDArray[Any]], arrays: dict[str, numpy.typing.NDArray[Any]]) -> MeteorLexicon:
        """
        The lexicon saved as `arrays`, given the same tables. Raises ValueError for arrays that do
        not fit.
        """

def meteor_normalize(source: Vocabulary, ids: numpy.typing.NDArray[numpy.int32], offsets: numpy.typing.NDArray[numpy.int64], target: Vocabulary) -> tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int64]]:
    """
    Captions of words of one vocabulary after METEOR's normalization, as ids in another and offsets. Words
    missing from the other are added to it.
    """

def meteor_counts(lexicon: MeteorLexicon, ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], reference_ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], reference_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], image_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], modules: int, threads: int) -> Annotated[NDArray[numpy.int32], dict(shape=(None, None))]:
    """
    Per reference, of its alignment with the candidate: words of candidate and reference, function words of
    both; for each module matched content words of both, matched function words of both; chunks, matched words
    of both; int32[n_references, 23]. `modules` has bit 0 for exact, 1 for stem, 2 for synonym, 3 for
    paraphrase. Raises OverflowError(row) for a reference with more than 16,777,216 matches of paraphrases.
    """

def meteor_alignment(lexicon: MeteorLexicon, ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], reference_ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], modules: int) -> Annotated[NDArray[numpy.int32], dict(shape=(None, None))]:
    """
    The alignment of one pair: candidate start and length, reference start and length, module (0..3), in the
    order of the reference; int32[n_matches, 5].
    """

class Pcfg:
    """A probabilistic context-free grammar to parse with."""

    def __init__(self, binary_rules: Annotated[NDArray[numpy.int32], dict(shape=(None, 3), order='C', device='cpu', writable=False)], binary_scores: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], unary_rules: Annotated[NDArray[numpy.int32], dict(shape=(None, 2), order='C', device='cpu', writable=False)], unary_scores: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], *, root: int, boundary: int, symbols: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], potentials: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], common: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        binary_rules int32[n, 3]: parent, left and right child; unary_rules int32[m, 2]: parent and child;
        scores float32. Without a boundary (-1) sentences are derived from the root; else from what comes
        before the boundary in a rule of the root. symbols int32[n_states] and potentials float32[n_states]
        define the coarser grammar that guides the search; common uint8[n + m] is not 0 for rules that are
        tried first. No result depends on these three.
        """

    def parse(self, tag_offsets: numpy.typing.NDArray[numpy.int64], tag_states: numpy.typing.NDArray[numpy.int32], tag_scores: numpy.typing.NDArray[numpy.float32], words: numpy.typing.NDArray[numpy.int32], offsets: numpy.typing.NDArray[numpy.int64], *, plainly: bool, threads: int) -> tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.float32]]:
        """
        The best derivation of each sentence: offsets of nodes, then states, rules, begins and ends in
        preorder, and the score of each sentence, -inf where there is none. Rules are numbers of binary rules,
        then of unary ones; -1 above a word. Word i has the tags from tag_offsets[i] on. `plainly` does not
        use the coarser grammar.
        """

    def parse_spans(self, tag_offsets: numpy.typing.NDArray[numpy.int64], tag_states: numpy.typing.NDArray[numpy.int32], tag_scores: numpy.typing.NDArray[numpy.float32], words: numpy.typing.NDArray[numpy.int32], offsets: numpy.typing.NDArray[numpy.int64], *, may: numpy.typing.NDArray[numpy.uint8], longest: int, threads: int) -> tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.float32]]:
        """
        As parse(), for long sentences, in a time that grows with their length: only some spans of words may be
        constituents, and the best derivation may be lost, or all of them. may[i] is the sum of 1 if several
        words may begin with word i of all sentences, and 2 if they may end with it. Spans of more than
        `longest` words begin with the first word of a sentence or end with one of its last two.
        """

    @property
    def work(self) -> int:
        """
        The number of blocks of rules that charts have looked at so far: time, but the same on every machine.
        """

    def set_scores(self, binary_scores: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], unary_scores: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Replace the scores of the rules."""

    def tune(self, tag_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tag_states: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], tag_scores: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, passes: int) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]:
        """
        Potentials that make the coarser grammar a good guide for sentences like these; float32[n_states].
        """

def visible_nodes(offsets: numpy.typing.NDArray[numpy.int64], states: numpy.typing.NDArray[numpy.int32], begins: numpy.typing.NDArray[numpy.int32], ends: numpy.typing.NDArray[numpy.int32], labels: numpy.typing.NDArray[numpy.int32]) -> tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int32]]:
    """
    Trees of derivations, without the nodes whose state has a negative label: offsets of nodes, then in
    preorder their labels, the number of the node above in its tree (-1 for the top), begins and ends.
    """

def parse_vector_lines(lines: bytes, width: int) -> tuple[numpy.typing.NDArray[numpy.uint8], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float32], str, int, bytes]:
    """
    Parse lines of words with `width` numbers each: text of the words, their ends, the numbers float32[n_lines,
    width]; then what is wrong with the line after these, if anything is ("", "empty", "no word",
    "wrong count", "no number" or "not finite"), how many numbers it has, and what it has in place of a
    number.
    """

def sorted_words(text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """Stable order of words by their bytes; int64[n_words]."""

def find_words(text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: tuple[str, ...]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """
    Positions of words in a sorted list, -1 for missing words; int64[n_words].
    """

def subword_buckets(text: numpy.typing.NDArray[numpy.uint8], ends: numpy.typing.NDArray[numpy.int64], shortest: int, longest: int, buckets: int) -> tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int64]]:
    """
    Buckets of fastText's character n-grams of words: buckets int32[n], offsets int64[n_words + 1].
    """

def transport_plan(costs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], supplies: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], demands: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
    """
    Amounts moved when all supplies (rows) go to demands (columns) at the least cost; int64[n_rows,
    n_columns].
    """

def word_distances(vectors: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], a: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """Euclidean distances between words; float64[len(a), len(b)]."""

def word_mover_distances(vectors: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], reference_words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], reference_counts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], reference_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], image_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    Word mover's distance of each reference from its candidate; float64[n_references]. Bags are distinct
    words, rows of vectors, with their counts.
    """

def nearest_word_mover_distances(vectors: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], reference_words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], reference_counts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], reference_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], image_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """Smallest word mover's distance for each image; float64[n_images]."""

def mean_vectors(vectors: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """
    Mean of the vectors of each caption's words, zeros without words; float64[n_captions, width].
    """

def closest_words(vectors: numpy.typing.NDArray[numpy.float32], words: numpy.typing.NDArray[numpy.int32], offsets: numpy.typing.NDArray[numpy.int64], other_words: numpy.typing.NDArray[numpy.int32], other_offsets: numpy.typing.NDArray[numpy.int64], threads: int) -> tuple[numpy.typing.NDArray[numpy.float32], numpy.typing.NDArray[numpy.int32]]:
    """
    The largest dot product of each word with the others of its group, float32[n_words], and the first of the
    others that has it, int32[n_words]; 0 and -1 in a group without others.
    """
