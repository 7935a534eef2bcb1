// The n-grams of a candidate: those in its references, and unknown ones.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ngrams/reference_ngrams.hpp"

namespace captious::ngrams {

// The distinct n-grams of one candidate with their counts: those in its references, and unknown ones.
class CandidateNgrams {
public:
    struct Match {
        std::uint32_t ngram;  // number within the block
        std::uint32_t count;
        int order;
    };
    struct UnknownNgram {
        Ngram ngram;
        std::uint64_t hash;
        std::uint32_t count;
    };

    // Replaces the content. Without `with_unknown` these are not listed.
    void collect(const ReferenceNgrams::Image& image, std::span<const std::int32_t> words, bool with_unknown);

    const std::vector<Match>& matches() const { return matches_; }
    const std::vector<UnknownNgram>& unknown_ngrams() const { return unknown_ngrams_; }

private:
    void add_unknown(const std::int32_t* words, int order, std::uint64_t hash);

    std::vector<Match> matches_;
    std::vector<UnknownNgram> unknown_ngrams_;
    std::vector<std::uint32_t> index_of_;  // [n-grams of the image] index in matches_ + 1, or 0
    std::vector<std::uint32_t> slots_;     // hash table of unknown_ngrams_
};

}  // namespace captious::ngrams
