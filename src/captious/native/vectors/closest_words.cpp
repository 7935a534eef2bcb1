// Dot products of words with the others of their groups.
#include "vectors/closest_words.hpp"

#include <array>
#include <cstddef>
#include <numeric>

#include "interrupt.hpp"
#include "parallel.hpp"
#include "vectors/lanes.hpp"

namespace captious::vectors {
namespace {

float dot_product(const float* a, const float* b, std::size_t width) {
    auto product = [&](std::size_t k) { return a[k] * b[k]; };
    std::size_t end = lanes_end(width);
    std::array<float, kLanes> sums = lane_sums<float>(end, product);
    for (std::size_t k = end; k < width; ++k) sums[k - end] += product(k);
    return std::accumulate(sums.begin(), sums.end(), 0.0F);
}

}  // namespace

void closest_words(const WordTable& table, const WordGroups& groups, const WordGroups& others, int threads,
                   float* products, std::int32_t* closest) {
    auto at = [](std::span<const std::int64_t> offsets, std::size_t g) { return static_cast<std::size_t>(offsets[g]); };
    parallel_for(groups.offsets.size() - 1, threads, 16, [&](std::size_t begin, std::size_t end) {
        Pulse pulse;
        for (std::size_t g = begin; g < end; ++g)
            for (std::size_t i = at(groups.offsets, g); i < at(groups.offsets, g + 1); ++i) {
                pulse((at(others.offsets, g + 1) - at(others.offsets, g)) * table.width);
                const float* vector = table[static_cast<std::size_t>(groups.words[i])];
                products[i] = 0.0F;
                closest[i] = -1;
                for (std::size_t j = at(others.offsets, g); j < at(others.offsets, g + 1); ++j) {
                    std::int32_t other = others.words[j];
                    float product = dot_product(vector, table[static_cast<std::size_t>(other)], table.width);
                    if (closest[i] >= 0 && product <= products[i]) continue;
                    products[i] = product;
                    closest[i] = other;
                }
            }
    });
}

}  // namespace captious::vectors
