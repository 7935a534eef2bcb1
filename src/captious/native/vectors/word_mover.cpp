// Word mover's distances: lower bounds avoid most transport problems, and the others are solved.
#include "vectors/word_mover.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "parallel.hpp"
#include "vectors/lanes.hpp"
#include "vectors/transport.hpp"

namespace captious::vectors {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNoDistance = 1e-8;  // gensim treats a sum of distances below this as zero

// Whether a lower bound exceeds a limit by more than rounding errors.
bool is_above(double bound, double limit) { return bound > limit + 1e-9 * (1.0 + limit); }

template <typename A, typename B>
double euclidean_distance(const A* a, const B* b, std::size_t width) {
    auto square = [&](std::size_t k) {
        double difference = static_cast<double>(a[k]) - static_cast<double>(b[k]);
        return difference * difference;
    };
    std::size_t end = lanes_end(width);
    std::array<double, kLanes> sums = lane_sums<double>(end, square);
    double rest = 0.0;
    for (std::size_t k = end; k < width; ++k) rest += square(k);
    return std::sqrt(std::accumulate(sums.begin(), sums.end(), rest));
}

struct Bag {
    std::span<const std::int32_t> words, counts;
    std::int64_t length = 0;  // number of words with repetitions
};

Bag bag_of(const Bags& bags, std::size_t i) {
    auto from = static_cast<std::size_t>(bags.offsets[i]), size = static_cast<std::size_t>(bags.offsets[i + 1]) - from;
    Bag bag{{bags.words + from, size}, {bags.counts + from, size}};
    bag.length = std::accumulate(bag.counts.begin(), bag.counts.end(), std::int64_t{0});
    return bag;
}

// Distances between bags, in reused memory.
class WordMover {
public:
    explicit WordMover(const WordTable& table) : table_(table), centroid_(table.width), other_centroid_(table.width) {}

    double distance(const Bag& a, const Bag& b) { return distance_within(a, b, kInfinity); }

    // The distance, or infinity if a bound shows that it is above `limit`.
    double distance_within(const Bag& a, const Bag& b, double limit) {
        if (a.length == 0 || b.length == 0) return kInfinity;
        if (a.words.size() == 1 && b.words.size() == 1 && a.words[0] == b.words[0]) return 0.0;
        costs_.resize(a.words.size() * b.words.size());
        word_distances(table_, a.words, b.words, costs_.data());
        double sum = std::accumulate(costs_.begin(), costs_.end(), 0.0);
        if (!std::isfinite(sum)) throw std::invalid_argument("vectors hold numbers that are not finite");
        if (sum < kNoDistance) return kInfinity;
        if (is_above(relaxed_distance(a, b), limit)) return kInfinity;
        supplies_.clear();
        demands_.clear();
        for (std::int32_t count : a.counts) supplies_.push_back(count * b.length);
        for (std::int32_t count : b.counts) demands_.push_back(count * a.length);
        return transport_.solve(costs_, supplies_, demands_) /
               (static_cast<double>(a.length) * static_cast<double>(b.length));
    }

    double nearest_distance(const Bag& candidate, const Bags& references, std::size_t begin, std::size_t end) {
        if (candidate.length == 0) return kInfinity;
        if (end - begin == 1) return distance(candidate, bag_of(references, begin));
        order_.clear();
        put_centroid(candidate, centroid_);
        for (std::size_t r = begin; r < end; ++r) {
            Bag reference = bag_of(references, r);
            if (reference.length == 0) continue;
            put_centroid(reference, other_centroid_);
            order_.emplace_back(euclidean_distance(centroid_.data(), other_centroid_.data(), table_.width), r);
        }
        std::sort(order_.begin(), order_.end());
        double best = kInfinity;
        for (auto [bound, r] : order_) {
            if (is_above(bound, best)) break;
            best = std::min(best, distance_within(candidate, bag_of(references, r), best));
        }
        return best;
    }

private:
    void put_centroid(const Bag& bag, std::vector<double>& out) {
        pulse_(bag.words.size() * table_.width);
        std::fill(out.begin(), out.end(), 0.0);
        for (std::size_t i = 0; i < bag.words.size(); ++i) {
            const float* vector = table_[static_cast<std::size_t>(bag.words[i])];
            double weight = static_cast<double>(bag.counts[i]) / static_cast<double>(bag.length);
            for (std::size_t k = 0; k < table_.width; ++k) out[k] += weight * static_cast<double>(vector[k]);
        }
    }

    // A lower bound: every word goes to the nearest of the other bag, whatever its supply; the larger of both
    // directions (Kusner et al. 2015, relaxed word mover's distance).
    double relaxed_distance(const Bag& a, const Bag& b) {
        std::size_t n = b.words.size();
        double rows = 0.0, columns = 0.0;
        column_least_.assign(n, kInfinity);
        for (std::size_t i = 0; i < a.words.size(); ++i) {
            double least = kInfinity;
            for (std::size_t j = 0; j < n; ++j) {
                double cost = costs_[i * n + j];
                least = std::min(least, cost);
                column_least_[j] = std::min(column_least_[j], cost);
            }
            rows += least * a.counts[i];
        }
        for (std::size_t j = 0; j < n; ++j) columns += column_least_[j] * b.counts[j];
        return std::max(rows / static_cast<double>(a.length), columns / static_cast<double>(b.length));
    }

    const WordTable& table_;
    Transport transport_;
    std::vector<double> costs_, column_least_, centroid_, other_centroid_;
    std::vector<std::int64_t> supplies_, demands_;
    std::vector<std::pair<double, std::size_t>> order_;
    Pulse pulse_;
};

}  // namespace

void word_distances(const WordTable& table, std::span<const std::int32_t> a, std::span<const std::int32_t> b,
                    double* out) {
    Pulse pulse;
    for (std::int32_t from : a) {
        pulse(b.size() * table.width);
        for (std::int32_t to : b)
            *out++ = from == to ? 0.0
                                : euclidean_distance(table[static_cast<std::size_t>(from)],
                                                     table[static_cast<std::size_t>(to)], table.width);
    }
}

void word_mover_distances(const WordTable& table, const Bags& candidates, const Bags& references,
                          std::span<const std::int64_t> image_offsets, int threads, double* out) {
    parallel_for(candidates.count, threads, 64, [&](std::size_t begin, std::size_t end) {
        WordMover mover(table);
        for (std::size_t c = begin; c < end; ++c) {
            Bag candidate = bag_of(candidates, c);
            for (auto r = static_cast<std::size_t>(image_offsets[c]);
                 r < static_cast<std::size_t>(image_offsets[c + 1]); ++r)
                out[r] = mover.distance(candidate, bag_of(references, r));
        }
    });
}

void nearest_word_mover_distances(const WordTable& table, const Bags& candidates, const Bags& references,
                                  std::span<const std::int64_t> image_offsets, int threads, double* out) {
    parallel_for(candidates.count, threads, 64, [&](std::size_t begin, std::size_t end) {
        WordMover mover(table);
        for (std::size_t c = begin; c < end; ++c)
            out[c] =
                mover.nearest_distance(bag_of(candidates, c), references, static_cast<std::size_t>(image_offsets[c]),
                                       static_cast<std::size_t>(image_offsets[c + 1]));
    });
}

void mean_vectors(const WordTable& table, std::span<const std::int32_t> words, std::span<const std::int64_t> offsets,
                  int threads, double* out) {
    parallel_for(offsets.size() - 1, threads, 256, [&](std::size_t begin, std::size_t end) {
        Pulse pulse;
        for (std::size_t c = begin; c < end; ++c) {
            pulse(static_cast<std::size_t>(offsets[c + 1] - offsets[c]) * table.width);
            double* mean = out + c * table.width;
            std::fill(mean, mean + table.width, 0.0);
            for (auto w = static_cast<std::size_t>(offsets[c]); w < static_cast<std::size_t>(offsets[c + 1]); ++w) {
                const float* vector = table[static_cast<std::size_t>(words[w])];
                for (std::size_t k = 0; k < table.width; ++k) mean[k] += static_cast<double>(vector[k]);
            }
            if (auto n = static_cast<double>(offsets[c + 1] - offsets[c]); n > 0)
                for (std::size_t k = 0; k < table.width; ++k) mean[k] /= n;
        }
    });
}

}  // namespace captious::vectors
