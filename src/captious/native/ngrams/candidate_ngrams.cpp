// Looks a candidate's n-grams up in the index of its image.
#include "ngrams/candidate_ngrams.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace captious::ngrams {

void CandidateNgrams::collect(const ReferenceNgrams::Image& image, std::span<const std::int32_t> words,
                              bool with_unknown) {
    matches_.clear();
    unknown_ngrams_.clear();
    index_of_.assign(image.count, 0);
    if (with_unknown) slots_.assign(std::bit_ceil(words.size() * kMaxOrder * 2 + 1), 0);
    for (std::size_t at = 0; at < words.size(); ++at) {
        int longest = static_cast<int>(std::min<std::size_t>(kMaxOrder, words.size() - at));
        bool matches = true;  // once an n-gram is unknown, so are those that begin with it
        std::uint64_t hash = 0;
        for (int order = 1; order <= longest && (matches || with_unknown); ++order) {
            hash = hash_step(hash, words[at + order - 1]);
            std::int64_t k = matches ? image.find(&words[at], order, hash) : -1;
            matches = k >= 0;
            if (!matches) {
                if (with_unknown) add_unknown(&words[at], order, hash);
                continue;
            }
            std::uint32_t& index = index_of_[static_cast<std::size_t>(k)];
            if (index == 0) {
                matches_.push_back({image.begin + static_cast<std::uint32_t>(k), 0, order});
                index = static_cast<std::uint32_t>(matches_.size());
            }
            ++matches_[index - 1].count;
        }
    }
}

void CandidateNgrams::add_unknown(const std::int32_t* words, int order, std::uint64_t hash) {
    Ngram ngram(words, order);
    std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash & mask;
    for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
        UnknownNgram& s = unknown_ngrams_[slots_[slot] - 1];
        if (s.hash == hash && s.ngram == ngram) {
            ++s.count;
            return;
        }
    }
    unknown_ngrams_.push_back({ngram, hash, 1});
    slots_[slot] = static_cast<std::uint32_t>(unknown_ngrams_.size());
}

}  // namespace captious::ngrams
