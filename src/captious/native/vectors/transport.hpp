// Optimal transport between two small sets of weights, exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "interrupt.hpp"

namespace captious::vectors {

// Solves one transport problem after another in the same memory.
//
// Successive shortest paths with potentials (Ahuja, Magnanti and Orlin 1993, section 9.7) on the dense bipartite graph.
// Weights are whole numbers, so that flows are exact and every step moves at least one unit; only costs are rounded.
class Transport {
public:
    // The minimum cost of moving all `supplies` (rows) to `demands` (columns), whose sums are equal, if a unit
    // costs costs[row * columns + column] >= 0.
    double solve(std::span<const double> costs, std::span<const std::int64_t> supplies,
                 std::span<const std::int64_t> demands);

    // The amounts moved by the last solution, row by row.
    const std::vector<std::int64_t>& flows() const { return flows_; }

private:
    static constexpr std::int32_t kNone = -1;

    void start(std::span<const double> costs);
    std::size_t search(std::span<const double> costs);  // shortest path from remaining supply; returns its last column
    void augment(std::size_t column);

    std::size_t rows_ = 0, columns_ = 0;
    std::vector<std::int64_t> left_, unmet_, flows_;  // remaining supply by row, remaining demand by column
    std::vector<double> row_potential_, column_potential_, row_distance_, column_distance_;
    std::vector<std::int32_t> row_from_, column_from_;  // previous step on the path: a column, a row
    std::vector<char> row_reached_, column_done_;
    Pulse pulse_;
};

}  // namespace captious::vectors
