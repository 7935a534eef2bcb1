// Kendall's rank correlation of scores with judgments, many times over: for resampled and for exchanged scores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace captious::correlation {

// Judged captions. Scores belong to rows; a row may have several points, one for each judgment. Ranks are integers
// from 0, in the order of the ranked numbers.
struct JudgedRows {
    std::span<const std::int32_t> offsets;  // [n_rows + 1], of the points of each row
    std::span<const std::int32_t> ratings;  // [n_points], ranks
    std::span<const std::int32_t> groups;   // [n_rows], rows drawn or exchanged together
};

// The counts of any tau: concordant minus discordant pairs, all pairs, pairs tied in score, pairs tied in rating,
// distinct scores, distinct ratings. A point that was drawn twice counts twice.
constexpr std::size_t kTally = 6;

// For each row of counts [n][n_groups], the number of draws of each group: the tally, out [n][kTally].
void kendall_resampled(const JudgedRows& rows, std::span<const std::int32_t> scores, const std::int32_t* counts,
                       std::size_t n, std::size_t n_groups, int threads, std::int64_t* out);

// For each row of swaps [n][n_groups], where not 0 the group's rows exchange their scores in a and b: the tallies of
// both, out [n][2][kTally].
void kendall_exchanged(const JudgedRows& rows, std::span<const std::int32_t> a, std::span<const std::int32_t> b,
                       const std::uint8_t* swaps, std::size_t n, std::size_t n_groups, int threads, std::int64_t* out);

}  // namespace captious::correlation
