// METEOR over a table of captions: normalized words in, counts per pair out.
#pragma once

#include <cstdint>
#include <span>

#include "meteor/alignment.hpp"
#include "meteor/lexicon.hpp"
#include "tokens.hpp"
#include "vocabulary/vocabulary.hpp"

namespace captious::meteor {

// Captions of `source` after METEOR's normalization, in words of `target`, to which new words are added.
FlatTokens normalize_captions(const vocabulary::Vocabulary& source, TokensView captions,
                              vocabulary::Vocabulary& target);

// Counts of each candidate with each reference of its image, [n_references][kCounts].
void count_pairs(const Lexicon& lexicon, ModuleSet modules, TokensView candidates, TokensView references,
                 std::span<const std::int64_t> image_offsets, int threads, std::int32_t* out);

}  // namespace captious::meteor
