// Longest common subsequences and skip-bigrams.
#include "sequences.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <vector>

#include "parallel.hpp"

namespace captious {
namespace {

// Bit-parallel longest common subsequence (Hyyro 2004): a bit per candidate word, one pass over the reference.
class Lcs {
public:
    explicit Lcs(std::span<const std::int32_t> candidate)
        : length_(candidate.size()), blocks_((candidate.size() + 63) / 64), words_(candidate.begin(), candidate.end()) {
        std::sort(words_.begin(), words_.end());
        words_.erase(std::unique(words_.begin(), words_.end()), words_.end());
        positions_.assign(words_.size() * blocks_, 0);
        for (std::size_t i = 0; i < candidate.size(); ++i)
            positions_[index_of(candidate[i]) * blocks_ + i / 64] |= std::uint64_t{1} << (i % 64);
    }

    std::int64_t length_with(std::span<const std::int32_t> reference) {
        row_.assign(blocks_, ~std::uint64_t{0});
        for (std::int32_t word : reference) {
            std::size_t index = index_of(word);
            if (index == words_.size()) continue;
            std::uint64_t carry = 0;
            for (std::size_t b = 0; b < blocks_; ++b) {
                std::uint64_t hits = row_[b] & positions_[index * blocks_ + b];
                std::uint64_t sum = row_[b] + hits, carried = sum + carry;
                carry = (sum < hits) | (carried < sum);
                row_[b] = carried | (row_[b] - hits);
            }
        }
        std::int64_t length = 0;
        for (std::size_t b = 0; b < blocks_; ++b) {
            std::size_t bits = std::min<std::size_t>(64, length_ - b * 64);
            std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
            length += std::popcount(~row_[b] & mask);
        }
        return length;
    }

private:
    std::size_t index_of(std::int32_t word) const {
        if (words_.size() <= 24) {
            for (std::size_t i = 0; i < words_.size(); ++i)
                if (words_[i] == word) return i;
            return words_.size();
        }
        auto found = std::lower_bound(words_.begin(), words_.end(), word);
        return found != words_.end() && *found == word ? static_cast<std::size_t>(found - words_.begin()) : words_.size();
    }

    std::size_t length_, blocks_;
    std::vector<std::int32_t> words_;
    std::vector<std::uint64_t> positions_;  // [distinct words][blocks]
    std::vector<std::uint64_t> row_;
};

using PairCounts = std::unordered_map<std::uint64_t, std::int64_t>;

template <typename Visit>
void each_skip_bigram(std::span<const std::int32_t> words, std::int64_t gap, const Visit& visit) {
    auto n = static_cast<std::int64_t>(words.size());
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = i + 1; j < n && j - i <= gap; ++j)
            visit(static_cast<std::uint64_t>(static_cast<std::uint32_t>(words[i])) << 32 | static_cast<std::uint32_t>(words[j]));
}

}  // namespace

void lcs_lengths(TokensView candidates, TokensView references, std::span<const std::int64_t> image_offsets, int threads,
                 std::int64_t* out) {
    parallel_for(candidates.count, threads, 64, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            Lcs lcs(candidates[i]);
            for (auto r = image_offsets[i]; r < image_offsets[i + 1]; ++r)
                out[r] = lcs.length_with(references[static_cast<std::size_t>(r)]);
        }
    });
}

void skip_bigram_matches(TokensView candidates, TokensView references, std::span<const std::int64_t> image_offsets,
                         std::int64_t gap, int threads, std::int64_t* out) {
    parallel_for(candidates.count, threads, 64, [&](std::size_t begin, std::size_t end) {
        PairCounts candidate, left;
        for (std::size_t i = begin; i < end; ++i) {
            candidate.clear();
            each_skip_bigram(candidates[i], gap, [&](std::uint64_t pair) { ++candidate[pair]; });
            for (auto r = image_offsets[i]; r < image_offsets[i + 1]; ++r) {
                left = candidate;
                std::int64_t matches = 0;
                each_skip_bigram(references[static_cast<std::size_t>(r)], gap, [&](std::uint64_t pair) {
                    auto found = left.find(pair);
                    if (found != left.end() && found->second > 0) {
                        --found->second;
                        ++matches;
                    }
                });
                out[r] = matches;
            }
        }
    });
}

}  // namespace captious
