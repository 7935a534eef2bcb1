// Successive shortest paths, which start from the cheapest way into each column.
#include "vectors/transport.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace captious::vectors {

double Transport::solve(std::span<const double> costs, std::span<const std::int64_t> supplies,
                        std::span<const std::int64_t> demands) {
    rows_ = supplies.size();
    columns_ = demands.size();
    left_.assign(supplies.begin(), supplies.end());
    unmet_.assign(demands.begin(), demands.end());
    flows_.assign(rows_ * columns_, 0);
    start(costs);
    std::int64_t missing = std::accumulate(unmet_.begin(), unmet_.end(), std::int64_t{0});
    while (missing > 0) {
        std::size_t column = search(costs);
        std::int64_t before = unmet_[column];
        augment(column);
        missing -= before - unmet_[column];
    }
    double total = 0.0;
    for (std::size_t k = 0; k < flows_.size(); ++k) total += costs[k] * static_cast<double>(flows_[k]);
    return total;
}

// The cheapest way into each column is free under these potentials, so it is used to its capacity.
void Transport::start(std::span<const double> costs) {
    row_potential_.assign(rows_, 0.0);
    column_potential_.assign(columns_, 0.0);
    for (std::size_t j = 0; j < columns_; ++j) {
        std::size_t cheapest = 0;
        for (std::size_t i = 1; i < rows_; ++i)
            if (costs[i * columns_ + j] < costs[cheapest * columns_ + j]) cheapest = i;
        column_potential_[j] = costs[cheapest * columns_ + j];
        std::int64_t moved = std::min(left_[cheapest], unmet_[j]);
        flows_[cheapest * columns_ + j] = moved;
        left_[cheapest] -= moved;
        unmet_[j] -= moved;
    }
}

// Dijkstra over reduced costs, from all rows with remaining supply at once. A row is reached from a column that it
// sends supply to, at no cost. Afterwards reduced costs are nonnegative again, and 0 along the path.
std::size_t Transport::search(std::span<const double> costs) {
    constexpr double kFar = std::numeric_limits<double>::infinity();
    row_distance_.assign(rows_, kFar);
    row_from_.assign(rows_, kNone);
    row_reached_.assign(rows_, 0);
    column_distance_.assign(columns_, kFar);
    column_from_.assign(columns_, kNone);
    column_done_.assign(columns_, 0);
    auto reach = [&](std::size_t i, double distance) {
        pulse_(columns_);
        row_reached_[i] = 1;
        row_distance_[i] = distance;
        for (std::size_t j = 0; j < columns_; ++j) {
            if (column_done_[j]) continue;
            double reduced = std::max(0.0, costs[i * columns_ + j] - row_potential_[i] - column_potential_[j]);
            if (distance + reduced < column_distance_[j]) {
                column_distance_[j] = distance + reduced;
                column_from_[j] = static_cast<std::int32_t>(i);
            }
        }
    };
    for (std::size_t i = 0; i < rows_; ++i)
        if (left_[i] > 0) reach(i, 0.0);
    std::size_t nearest;
    while (true) {
        pulse_(rows_ + columns_);
        nearest = columns_;
        for (std::size_t j = 0; j < columns_; ++j)
            if (!column_done_[j] && (nearest == columns_ || column_distance_[j] < column_distance_[nearest]))
                nearest = j;
        if (unmet_[nearest] > 0) break;
        column_done_[nearest] = 1;
        for (std::size_t i = 0; i < rows_; ++i) {
            if (row_reached_[i] || flows_[i * columns_ + nearest] == 0) continue;
            row_from_[i] = static_cast<std::int32_t>(nearest);
            reach(i, column_distance_[nearest]);
        }
    }
    double length = column_distance_[nearest];
    for (std::size_t i = 0; i < rows_; ++i)
        if (row_reached_[i]) row_potential_[i] += length - row_distance_[i];
    for (std::size_t j = 0; j < columns_; ++j)
        if (column_done_[j]) column_potential_[j] -= length - column_distance_[j];
    return nearest;
}

// Moves as much as the capacity of the path to this column.
void Transport::augment(std::size_t column) {
    std::int64_t amount = unmet_[column];
    std::size_t first = 0;
    for (std::size_t j = column;;) {
        first = static_cast<std::size_t>(column_from_[j]);
        if (row_from_[first] == kNone) break;
        j = static_cast<std::size_t>(row_from_[first]);
        amount = std::min(amount, flows_[first * columns_ + j]);
    }
    amount = std::min(amount, left_[first]);
    left_[first] -= amount;
    unmet_[column] -= amount;
    for (std::size_t j = column;;) {
        auto i = static_cast<std::size_t>(column_from_[j]);
        flows_[i * columns_ + j] += amount;
        if (row_from_[i] == kNone) break;
        j = static_cast<std::size_t>(row_from_[i]);
        flows_[i * columns_ + j] -= amount;
    }
}

}  // namespace captious::vectors
