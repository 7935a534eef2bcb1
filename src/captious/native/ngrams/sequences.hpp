// Matches of word order between two captions: longest common subsequence, skip-bigrams.
#pragma once

#include <cstdint>
#include <span>

#include "tokens.hpp"

namespace captious {

// Per reference: length of the longest common subsequence with the candidate of its image. `out` is [references].
void lcs_lengths(TokensView candidates, TokensView references, std::span<const std::int64_t> image_offsets, int threads,
                 std::int64_t* out);

// Per reference: matching skip-bigrams (ordered word pairs at most `gap` positions apart, each pair as often as in the
// caption that has it less often) with the candidate of its image. `out` is [references].
void skip_bigram_matches(TokensView candidates, TokensView references, std::span<const std::int64_t> image_offsets,
                         std::int64_t gap, int threads, std::int64_t* out);

}  // namespace captious
