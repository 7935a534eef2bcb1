// Longest common subsequences and skip-bigrams.
#include "ngrams/sequences.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

#include "parallel.hpp"

namespace captious::ngrams {
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
        Pulse pulse;
        row_.assign(blocks_, ~std::uint64_t{0});
        for (std::int32_t word : reference) {
            pulse(blocks_);
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
        auto place = std::lower_bound(words_.begin(), words_.end(), word);
        return place != words_.end() && *place == word ? static_cast<std::size_t>(place - words_.begin())
                                                       : words_.size();
    }

    std::size_t length_, blocks_;
    std::vector<std::int32_t> words_;
    std::vector<std::uint64_t> positions_;  // [distinct words][blocks]
    std::vector<std::uint64_t> row_;
};

// A longest common subsequence of two captions by dynamic programming, with the most neighbors.
class Subsequence {
public:
    void find(std::span<const std::int32_t> caption, std::span<const std::int32_t> other, std::int32_t* out) {
        std::fill_n(out, caption.size(), -1);
        if (other.empty() || caption.size() > kMostCells / other.size()) return;
        std::size_t columns = other.size() + 1;
        best_.assign((caption.size() + 1) * columns, 0);
        ending_.assign(best_.size(), kNone);
        for (std::size_t i = 0; i < caption.size(); ++i) {
            pulse_(columns);
            for (std::size_t j = 0; j < other.size(); ++j) {
                std::size_t before = i * columns + j, at = before + columns + 1;
                if (caption[i] == other[j]) ending_[at] = kWord + std::max(best_[before], ending_[before] + kNeighbor);
                best_[at] = std::max({ending_[at], best_[at - 1], best_[before + 1]});
            }
        }
        std::size_t i = caption.size(), j = other.size();
        bool is_ending = false;  // whether the words before i and j must be a pair
        while (i > 0 && j > 0) {
            std::size_t at = i * columns + j;
            if (is_ending || (ending_[at] == best_[at] && best_[at] > 0)) {
                std::size_t before = at - columns - 1;
                is_ending = ending_[at] == kWord + kNeighbor + ending_[before] && ending_[before] > 0;
                out[--i] = static_cast<std::int32_t>(--j);
            } else if (best_[at] == best_[at - 1]) {
                --j;
            } else {
                --i;
            }
        }
    }

private:
    static constexpr std::size_t kMostCells = std::size_t{1} << 22;
    static constexpr std::int64_t kWord = std::int64_t{1} << 24, kNeighbor = 1, kNone = -(std::int64_t{1} << 48);

    std::vector<std::int64_t> best_, ending_;  // [words + 1][words of the other + 1]; ending_ in a pair
    Pulse pulse_;
};

// Skip-bigrams of a candidate, counted left word by left word, so that memory is linear in the number of
// words.
class SkipBigrams {
public:
    explicit SkipBigrams(std::int64_t gap) : gap_(static_cast<std::size_t>(std::max<std::int64_t>(gap, 0))) {}

    void set_candidate(std::span<const std::int32_t> candidate) {
        words_.assign(candidate.begin(), candidate.end());
        std::sort(words_.begin(), words_.end());
        words_.erase(std::unique(words_.begin(), words_.end()), words_.end());
        number(candidate, candidate_);
        left_.assign(words_.size(), 0);
    }

    // Number of common pairs, each counted as often as in the caption with fewer.
    std::int64_t matches_with(std::span<const std::int32_t> reference) {
        number(reference, reference_);
        std::int64_t matches = 0;
        for (std::size_t word = 0; word < words_.size(); ++word) {
            if (reference_.begins[word] == reference_.begins[word + 1]) continue;
            for_each_pair(candidate_, word, [&](std::int32_t right) { ++left_[static_cast<std::size_t>(right)]; });
            for_each_pair(reference_, word, [&](std::int32_t right) {
                if (right < 0 || left_[static_cast<std::size_t>(right)] == 0) return;
                --left_[static_cast<std::size_t>(right)];
                ++matches;
            });
            for_each_pair(candidate_, word, [&](std::int32_t right) { left_[static_cast<std::size_t>(right)] = 0; });
        }
        return matches;
    }

private:
    struct Caption {
        std::vector<std::int32_t> numbers;  // of its words among those of the candidate, or -1
        std::vector<std::size_t> places;    // of those that the candidate has, by number
        std::vector<std::size_t> begins;    // [distinct words + 1], into places
    };

    void number(std::span<const std::int32_t> words, Caption& out) {
        out.numbers.clear();
        out.begins.assign(words_.size() + 1, 0);
        for (std::int32_t word : words) {
            auto place = std::lower_bound(words_.begin(), words_.end(), word);
            bool is_shared = place != words_.end() && *place == word;
            out.numbers.push_back(is_shared ? static_cast<std::int32_t>(place - words_.begin()) : -1);
            if (is_shared) ++out.begins[static_cast<std::size_t>(out.numbers.back()) + 1];
        }
        for (std::size_t word = 0; word < words_.size(); ++word) out.begins[word + 1] += out.begins[word];
        out.places.resize(out.begins.back());
        next_.assign(out.begins.begin(), out.begins.end() - 1);
        for (std::size_t at = 0; at < words.size(); ++at)
            if (out.numbers[at] >= 0) out.places[next_[static_cast<std::size_t>(out.numbers[at])]++] = at;
    }

    // Calls visit(right) for every pair of a caption that begins with this word.
    template <typename Visit>
    void for_each_pair(const Caption& caption, std::size_t word, const Visit& visit) {
        for (std::size_t k = caption.begins[word]; k < caption.begins[word + 1]; ++k) {
            std::size_t first = caption.places[k] + 1, last = first + std::min(gap_, caption.numbers.size() - first);
            pulse_(last - first);
            for (std::size_t at = first; at < last; ++at) visit(caption.numbers[at]);
        }
    }

    std::size_t gap_;
    std::vector<std::int32_t> words_;  // of the candidate, distinct and sorted
    Caption candidate_, reference_;
    std::vector<std::size_t> next_;
    std::vector<std::int64_t> left_;  // unmatched pairs of the candidate, by right word
    Pulse pulse_;
};

}  // namespace

void lcs_lengths(TokensView candidates, TokensView references, std::span<const std::int64_t> image_offsets, int threads,
                 std::int64_t* out) {
    parallel_for(candidates.count, threads, 64, [&](std::size_t begin, std::size_t end) {
        Pulse pulse;
        for (std::size_t i = begin; i < end; ++i) {
            pulse(256);
            Lcs lcs(candidates[i]);
            for (auto r = image_offsets[i]; r < image_offsets[i + 1]; ++r)
                out[r] = lcs.length_with(references[static_cast<std::size_t>(r)]);
        }
    });
}

void subsequence_places(TokensView captions, TokensView others, int threads, std::int32_t* out) {
    parallel_for(captions.count, threads, 64, [&](std::size_t begin, std::size_t end) {
        Subsequence subsequence;
        for (std::size_t i = begin; i < end; ++i) subsequence.find(captions[i], others[i], out + captions.offsets[i]);
    });
}

void skip_bigram_matches(TokensView candidates, TokensView references, std::span<const std::int64_t> image_offsets,
                         std::int64_t gap, int threads, std::int64_t* out) {
    parallel_for(candidates.count, threads, 64, [&](std::size_t begin, std::size_t end) {
        SkipBigrams bigrams(gap);
        for (std::size_t i = begin; i < end; ++i) {
            bigrams.set_candidate(candidates[i]);
            for (auto r = image_offsets[i]; r < image_offsets[i + 1]; ++r)
                out[r] = bigrams.matches_with(references[static_cast<std::size_t>(r)]);
        }
    });
}

}  // namespace captious::ngrams
