// Word mover's distances of candidates from their references, and means of word vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace captious::vectors {

// Vectors of words, one after the other.
struct WordTable {
    const float* values;
    std::size_t words, width;

    const float* operator[](std::size_t word) const { return values + word * width; }
};

// Captions as bags: distinct words with their counts.
struct Bags {
    const std::int32_t* words;
    const std::int32_t* counts;
    const std::int64_t* offsets;  // [count + 1]
    std::size_t count;
};

// Distance of each reference from the candidate of its image, out [references.count]. As in gensim, infinite where
// a bag is empty, 0 where both are the same single word, infinite where no two different words differ in their vectors.
void word_mover_distances(const WordTable& table, const Bags& candidates, const Bags& references,
                          std::span<const std::int64_t> image_offsets, int threads, double* out);

// The smallest of these distances for each image, out [candidates.count]. References that cannot be nearer, by the
// lower bounds of Kusner et al. 2015, section 4, are skipped, which changes no result.
void nearest_word_mover_distances(const WordTable& table, const Bags& candidates, const Bags& references,
                                  std::span<const std::int64_t> image_offsets, int threads, double* out);

// Euclidean distances of all words of a from all words of b, out [a.size()][b.size()].
void word_distances(const WordTable& table, std::span<const std::int32_t> a, std::span<const std::int32_t> b,
                    double* out);

// Mean of the vectors of each caption's words, summed in their order, out [captions][width]; zeros without words.
void mean_vectors(const WordTable& table, std::span<const std::int32_t> words, std::span<const std::int64_t> offsets,
                  int threads, double* out);

}  // namespace captious::vectors
