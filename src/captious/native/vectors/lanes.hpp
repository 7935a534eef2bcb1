// Sums in parallel lanes, which the compiler may keep in one register.
#pragma once

#include <array>
#include <cstddef>

namespace captious::vectors {

constexpr std::size_t kLanes = 8;

// The end of the terms that fill whole lanes.
constexpr std::size_t lanes_end(std::size_t count) { return count - count % kLanes; }

// Sums of term(k) for all k below `end`, a multiple of kLanes: each lane sums every eighth term, in order.
template <typename T, typename Term>
std::array<T, kLanes> lane_sums(std::size_t end, const Term& term) {
    std::array<T, kLanes> sums{};
    for (std::size_t k = 0; k < end; k += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += term(k + lane);
    return sums;
}

}  // namespace captious::vectors
