// For each word of some captions, the word of other captions with the closest vector.
#pragma once

#include <cstdint>
#include <span>

#include "vectors/word_mover.hpp"

namespace captious::vectors {

// Groups of words, and groups of others: those of group g are words[offsets[g]] up to words[offsets[g + 1]].
struct WordGroups {
    std::span<const std::int32_t> words;
    std::span<const std::int64_t> offsets;
};

// The largest dot product of each word with the others of its group, and the first word that has it; 0 and -1 if the
// group has no others. Sums are in single precision, in an order that depends on the width alone.
void closest_words(const WordTable& table, const WordGroups& groups, const WordGroups& others, int threads,
                   float* products, std::int32_t* closest);

}  // namespace captious::vectors
