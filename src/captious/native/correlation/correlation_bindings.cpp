// Python bindings of rank correlations.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bindings.hpp"
#include "correlation/kendall.hpp"

using namespace nanobind::literals;

namespace captious {
namespace {

using namespace captious::correlation;

template <typename T>
using TableIn = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr std::size_t kMostDrawn = std::size_t{1} << 31;  // ratings in a resample: their pairs fit into 64 bits

bool below(const Int32In& values, std::size_t end) {
    return std::all_of(values.data(), values.data() + values.size(),
                       [end](std::int32_t v) { return v >= 0 && static_cast<std::size_t>(v) < end; });
}

// Judged rows, checked; scores are ranks below twice the number of rows plus one.
JudgedRows judged_rows(const Int32In& offsets, const Int32In& ratings, const Int32In& groups, std::size_t n_groups) {
    std::size_t n = groups.size();
    bool fits = offsets.size() == n + 1 && offsets.data()[0] == 0 &&
                offsets.data()[n] == static_cast<std::int32_t>(ratings.size()) &&
                std::is_sorted(offsets.data(), offsets.data() + n + 1) && below(groups, n_groups) &&
                below(ratings, ratings.size());
    if (!fits) throw nb::value_error("offsets, ratings and groups do not fit each other");
    return {{offsets.data(), offsets.size()}, {ratings.data(), ratings.size()}, {groups.data(), n}};
}

std::span<const std::int32_t> score_ranks(const Int32In& scores, const JudgedRows& rows) {
    if (scores.size() != rows.groups.size() || !below(scores, 2 * scores.size() + 1))
        throw nb::value_error("scores do not fit the rows");
    return {scores.data(), scores.size()};
}

}  // namespace

void bind_correlation(nb::module_& m) {
    m.def(
        "kendall_resampled",
        [](Int32In offsets, Int32In ratings, Int32In groups, Int32In scores, TableIn<std::int32_t> counts,
           int threads) {
            JudgedRows rows = judged_rows(offsets, ratings, groups, counts.shape(1));
            std::span<const std::int32_t> ranks = score_ranks(scores, rows);
            std::size_t most = kMostDrawn / std::max<std::size_t>(1, ratings.size());
            if (std::any_of(counts.data(), counts.data() + counts.size(),
                            [most](std::int32_t c) { return c < 0 || static_cast<std::size_t>(c) > most; }))
                throw nb::value_error("counts do not fit: one is negative or too large");
            return fill_array<std::int64_t>(counts.shape(0), kTally, [&](std::int64_t* out) {
                kendall_resampled(rows, ranks, counts.data(), counts.shape(0), counts.shape(1), threads, out);
            });
        },
        "offsets"_a, "ratings"_a, "groups"_a, "scores"_a, "counts"_a, "threads"_a,
        "Counts of Kendall's tau between scores and ratings, for each resample: concordant minus discordant pairs,\n"
        "all pairs, pairs tied in score, pairs tied in rating, distinct scores, distinct ratings;\n"
        "int64[n_resamples, 6]. ratings and scores are ranks from 0; counts int32[n_resamples, n_groups] is how\n"
        "often each group was drawn.");
    m.def(
        "kendall_exchanged",
        [](Int32In offsets, Int32In ratings, Int32In groups, Int32In a, Int32In b, TableIn<std::uint8_t> swaps,
           int threads) {
            JudgedRows rows = judged_rows(offsets, ratings, groups, swaps.shape(1));
            std::span<const std::int32_t> first = score_ranks(a, rows), second = score_ranks(b, rows);
            return fill_array<std::int64_t>(swaps.shape(0), 2 * kTally, [&](std::int64_t* out) {
                kendall_exchanged(rows, first, second, swaps.data(), swaps.shape(0), swaps.shape(1), threads, out);
            });
        },
        "offsets"_a, "ratings"_a, "groups"_a, "a"_a, "b"_a, "swaps"_a, "threads"_a,
        "The counts of kendall_resampled for the scores a and b of two metrics, after exchanging the scores of the\n"
        "groups where swaps uint8[n, n_groups] is not 0; int64[n, 12], first for a, then for b.");
}

}  // namespace captious
