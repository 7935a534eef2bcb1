// The n-gram counts behind BLEU, ROUGE-N and measures of diversity.
#pragma once

#include <cstdint>

#include "ngrams/reference_ngrams.hpp"
#include "tokens.hpp"

namespace captious::ngrams {

// Per image: clipped matches of order 1..4, n-grams of order 1..4, words of the candidate, words of the reference whose
// length is closest (of two equally close ones the shorter). `out` is [images][10].
void bleu_statistics(const ReferenceNgrams& references, TokensView candidates, int threads, double* out);

// The counts of bleu_statistics for captions of one image against each other: per caption, with the other captions of
// its image as its references. `out` is [captions][10]; a single caption has no matches and the reference length 0.
void bleu_statistics_within(const ReferenceNgrams& captions, int threads, double* out);

// Per image: distinct n-grams of order 1..4. `out` is [images][4].
void distinct_ngrams(const ReferenceNgrams& references, std::int64_t* out);

// Per reference: clipped n-gram matches with the candidate of its image, order 1..4. `out` is [references][4].
void ngram_matches(const ReferenceNgrams& references, TokensView candidates, int threads, std::int64_t* out);

}  // namespace captious::ngrams
