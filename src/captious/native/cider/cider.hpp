// CIDEr and CIDEr-D: candidates against references weighted by document frequencies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cider/frequencies.hpp"
#include "ngrams/reference_ngrams.hpp"

namespace captious::cider {

struct CiderOptions {
    double log_documents;  // ln of the number of documents
    double sigma;          // of the Gaussian length penalty; infinity for none
    bool clip;             // CIDEr-D: a candidate's weight counts at most as much as the reference's
    bool relative;         // divide counts by the number of n-grams of the caption
    bool length_in_words;  // lengths of the penalty in words; otherwise in bigrams, as in the official code
};

// Weighted references of all images: built once, used for any number of candidates.
class CiderReferences {
public:
    // `word_map` translates word ids of captions to those of `frequencies` (-1: no such word); empty if they are the
    // same. References and frequencies must outlive the object.
    CiderReferences(const ReferenceNgrams& references, const NgramFrequencies& frequencies,
                    std::span<const std::int32_t> word_map, CiderOptions options, int threads);
    CiderReferences(const CiderReferences&) = delete;  // `documents_` may point into it
    CiderReferences& operator=(const CiderReferences&) = delete;

    std::size_t images() const { return references_.images(); }

    // Mean over n and references of the similarity of candidate c with the references of image rows[c]; `out` is
    // [candidates], in 0..1.
    void score(TokensView candidates, std::span<const std::int64_t> rows, std::span<const std::int32_t> word_map,
               int threads, double* out) const;

    // Mean over n of the similarity of each reference, as if it were a candidate, with each reference of its image: a
    // matrix for each image, [candidate][reference], one after the other; `out` is [pairs()], in 0..1. Throws
    // std::invalid_argument for relative counts.
    void score_within(int threads, double* out) const;
    std::size_t pairs() const;

private:
    struct Workspace;

    // The steps of `score` for one candidate: its n-grams, those shared with references, the others, the mean.
    void collect(Workspace& workspace, std::size_t row, std::span<const std::int32_t> words,
                 std::span<const std::int32_t> word_map) const;
    void add_matches(Workspace& workspace, std::size_t row, std::size_t n_words) const;
    void add_unknown(Workspace& workspace) const;
    double mean_similarity(const Workspace& workspace, std::size_t row, std::size_t n_words) const;

    double idf(std::uint32_t documents) const;
    double length_penalty(std::size_t words, std::size_t others) const;  // of captions of so many words
    void prefetch(std::size_t row) const;                                // prefetches the memory of the next image

    const ReferenceNgrams& references_;
    const NgramFrequencies& frequencies_;
    CiderOptions options_;
    std::vector<double> idf_of_;                        // [documents], for small numbers of documents
    std::vector<std::uint32_t> looked_up_;              // documents per n-gram, if frequencies came from elsewhere
    const std::vector<std::uint32_t>* documents_;       // documents per n-gram of the references
    std::vector<std::array<double, kMaxOrder>> norms_;  // [references]
};

}  // namespace captious::cider
