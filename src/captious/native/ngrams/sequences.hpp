// Matches of word order between two captions: longest common subsequence, skip-bigrams.
#pragma once

#include <cstdint>
#include <span>

#include "tokens.hpp"

namespace captious::ngrams {

// Per reference: length of the longest common subsequence with the candidate of its image. `out` is [references].
void lcs_lengths(TokensView candidates, TokensView references, std::span<const std::int64_t> image_offsets, int threads,
                 std::int64_t* out);

// Per word of each caption: its position in the paired caption by a longest common subsequence, or -1.
// Ties are broken by the number of adjacent pairs that are adjacent in both. Captions of more than
// 2,048 words on average are not compared: all their words have -1. `out` is [words].
void subsequence_places(TokensView captions, TokensView others, int threads, std::int32_t* out);

// Per reference: matching skip-bigrams (ordered word pairs at most `gap` positions apart, each counted as often as in
// the caption with fewer) with the candidate of its image. `out` is [references].
void skip_bigram_matches(TokensView candidates, TokensView references, std::span<const std::int64_t> image_offsets,
                         std::int64_t gap, int threads, std::int64_t* out);

}  // namespace captious::ngrams
