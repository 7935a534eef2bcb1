// One pass over the rows in the order of their scores; a Fenwick tree counts the earlier points of each rating.
#include "correlation/kendall.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "parallel.hpp"

namespace captious::correlation {
namespace {

class Fenwick {
public:
    explicit Fenwick(std::size_t size) : sums_(size + 1) {}

    void clear() { std::fill(sums_.begin(), sums_.end(), 0); }
    void add(std::size_t at, std::int64_t value) {
        for (++at; at < sums_.size(); at += at & (~at + 1)) sums_[at] += value;
    }
    std::int64_t before(std::size_t end) const {  // the sum of [0, end)
        std::int64_t sum = 0;
        for (; end > 0; end -= end & (~end + 1)) sum += sums_[end];
        return sum;
    }

private:
    std::vector<std::int64_t> sums_;
};

std::int64_t pairs(std::int64_t n) { return n * (n - 1) / 2; }

class Tallier {
public:
    explicit Tallier(const JudgedRows& rows)
        : rows_(rows),
          n_ratings_(rows.ratings.empty()
                         ? 0
                         : static_cast<std::size_t>(*std::max_element(rows.ratings.begin(), rows.ratings.end())) + 1),
          seen_(n_ratings_),
          totals_(n_ratings_) {}

    // Sorts the rows by score.
    void sort(std::span<const std::int32_t> scores) {
        std::size_t n_ranks =
            scores.empty() ? 0 : static_cast<std::size_t>(*std::max_element(scores.begin(), scores.end())) + 1;
        starts_.assign(n_ranks + 1, 0);
        for (std::int32_t score : scores) ++starts_[static_cast<std::size_t>(score) + 1];
        for (std::size_t rank = 0; rank < n_ranks; ++rank) starts_[rank + 1] += starts_[rank];
        order_.resize(scores.size());
        next_.assign(starts_.begin(), starts_.end());
        for (std::size_t row = 0; row < scores.size(); ++row)
            order_[next_[static_cast<std::size_t>(scores[row])]++] = static_cast<std::uint32_t>(row);
    }

    // The tally of the sorted rows; weight(group) is the number of times that a group was drawn.
    template <typename Weight>
    void tally(const Weight& weight, std::int64_t* out) {
        seen_.clear();
        std::fill(totals_.begin(), totals_.end(), 0);
        std::int64_t concordance = 0, points = 0, tied_scores = 0, distinct_scores = 0;
        for (std::size_t rank = 0; rank + 1 < starts_.size(); ++rank) {
            std::int64_t here = 0;
            for (std::size_t k = starts_[rank]; k < starts_[rank + 1]; ++k)
                for_each_point(order_[k], weight, [&](std::size_t rating, std::int64_t w) {
                    std::int64_t lower = seen_.before(rating), not_higher = seen_.before(rating + 1);
                    concordance += w * (lower - (points - not_higher));
                    here += w;
                });
            for (std::size_t k = starts_[rank]; k < starts_[rank + 1]; ++k)
                for_each_point(order_[k], weight, [&](std::size_t rating, std::int64_t w) {
                    seen_.add(rating, w);
                    totals_[rating] += w;
                });
            points += here;
            tied_scores += pairs(here);
            distinct_scores += here > 0;
        }
        std::int64_t tied_ratings = 0, distinct_ratings = 0;
        for (std::int64_t total : totals_) {
            tied_ratings += pairs(total);
            distinct_ratings += total > 0;
        }
        std::int64_t tally[] = {concordance,  pairs(points),   tied_scores,
                                tied_ratings, distinct_scores, distinct_ratings};
        std::copy(std::begin(tally), std::end(tally), out);
    }

private:
    template <typename Weight, typename Visit>
    void for_each_point(std::uint32_t row, const Weight& weight, const Visit& visit) const {
        std::int64_t w = weight(static_cast<std::size_t>(rows_.groups[row]));
        if (w == 0) return;
        for (auto p = static_cast<std::size_t>(rows_.offsets[row]);
             p < static_cast<std::size_t>(rows_.offsets[row + 1]); ++p)
            visit(static_cast<std::size_t>(rows_.ratings[p]), w);
    }

    const JudgedRows& rows_;
    std::size_t n_ratings_;
    Fenwick seen_;
    std::vector<std::int64_t> totals_;
    std::vector<std::size_t> starts_, next_;  // by rank of score, into order_
    std::vector<std::uint32_t> order_;
};

}  // namespace

void kendall_resampled(const JudgedRows& rows, std::span<const std::int32_t> scores, const std::int32_t* counts,
                       std::size_t n, std::size_t n_groups, int threads, std::int64_t* out) {
    parallel_for(n, threads, 8, [&](std::size_t begin, std::size_t end) {
        Tallier tallier(rows);
        tallier.sort(scores);
        Pulse pulse;
        for (std::size_t i = begin; i < end; ++i) {
            pulse(16 * rows.ratings.size());
            tallier.tally([&](std::size_t group) -> std::int64_t { return counts[i * n_groups + group]; },
                          out + i * kTally);
        }
    });
}

void kendall_exchanged(const JudgedRows& rows, std::span<const std::int32_t> a, std::span<const std::int32_t> b,
                       const std::uint8_t* swaps, std::size_t n, std::size_t n_groups, int threads, std::int64_t* out) {
    parallel_for(n, threads, 8, [&](std::size_t begin, std::size_t end) {
        Tallier tallier(rows);
        std::vector<std::int32_t> first(a.size()), second(a.size());
        auto once = [](std::size_t) -> std::int64_t { return 1; };
        Pulse pulse;
        for (std::size_t i = begin; i < end; ++i) {
            pulse(32 * rows.ratings.size());
            for (std::size_t row = 0; row < a.size(); ++row) {
                bool swap = swaps[i * n_groups + static_cast<std::size_t>(rows.groups[row])] != 0;
                first[row] = swap ? b[row] : a[row];
                second[row] = swap ? a[row] : b[row];
            }
            tallier.sort(first);
            tallier.tally(once, out + i * 2 * kTally);
            tallier.sort(second);
            tallier.tally(once, out + (i * 2 + 1) * kTally);
        }
    });
}

}  // namespace captious::correlation
