// Bounds that spare most transport problems, and the distances of those that are left.
#include "vectors/movers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "parallel.hpp"
#include "vectors/transport.hpp"

namespace captious {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNoDistance = 1e-8;  // gensim takes a sum of distances below this for none
constexpr std::size_t kLanes = 8;     // sums that run beside each other, which the compiler may put into one register

// A bound has to be above the best by more than rounding can do.
bool cannot_beat(double bound, double best) { return bound > best + 1e-9 * (1.0 + best); }

template <typename A, typename B>
double distance(const A* a, const B* b, std::size_t width) {
    std::array<double, kLanes> sums{};
    std::size_t k = 0;
    for (; k + kLanes <= width; k += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            double difference = static_cast<double>(a[k + lane]) - static_cast<double>(b[k + lane]);
            sums[lane] += difference * difference;
        }
    double sum = 0.0;
    for (; k < width; ++k) {
        double difference = static_cast<double>(a[k]) - static_cast<double>(b[k]);
        sum += difference * difference;
    }
    return std::sqrt(std::accumulate(sums.begin(), sums.end(), sum));
}

struct Bag {
    std::span<const std::int32_t> words, counts;
    std::int64_t length = 0;  // words, counted as often as they are there
};

Bag bag_of(const Bags& bags, std::size_t i) {
    auto from = static_cast<std::size_t>(bags.offsets[i]), size = static_cast<std::size_t>(bags.offsets[i + 1]) - from;
    Bag bag{{bags.words + from, size}, {bags.counts + from, size}};
    bag.length = std::accumulate(bag.counts.begin(), bag.counts.end(), std::int64_t{0});
    return bag;
}

// Distances between bags, in memory that is used again and again.
class Mover {
public:
    explicit Mover(const WordTable& table) : table_(table), center_(table.width), other_center_(table.width) {}

    double exact(const Bag& a, const Bag& b) { return moved(a, b, kInfinite); }

    // The distance, or infinity if it is plain that it is above `best`.
    double moved(const Bag& a, const Bag& b, double best) {
        if (a.length == 0 || b.length == 0) return kInfinite;
        if (a.words.size() == 1 && b.words.size() == 1 && a.words[0] == b.words[0]) return 0.0;
        costs_.resize(a.words.size() * b.words.size());
        word_distances(table_, a.words, b.words, costs_.data());
        double sum = std::accumulate(costs_.begin(), costs_.end(), 0.0);
        if (!std::isfinite(sum)) throw std::invalid_argument("vectors hold numbers that are not finite");
        if (sum < kNoDistance) return kInfinite;
        if (cannot_beat(relaxed(a, b), best)) return kInfinite;
        supplies_.clear();
        demands_.clear();
        for (std::int32_t count : a.counts) supplies_.push_back(count * b.length);
        for (std::int32_t count : b.counts) demands_.push_back(count * a.length);
        return transport_.solve(costs_, supplies_, demands_) /
               (static_cast<double>(a.length) * static_cast<double>(b.length));
    }

    double nearest(const Bag& candidate, const Bags& references, std::size_t begin, std::size_t end) {
        if (candidate.length == 0) return kInfinite;
        if (end - begin == 1) return exact(candidate, bag_of(references, begin));
        order_.clear();
        center(candidate, center_);
        for (std::size_t r = begin; r < end; ++r) {
            Bag reference = bag_of(references, r);
            if (reference.length == 0) continue;
            center(reference, other_center_);
            order_.emplace_back(distance(center_.data(), other_center_.data(), table_.width), r);
        }
        std::sort(order_.begin(), order_.end());
        double best = kInfinite;
        for (auto [bound, r] : order_) {
            if (cannot_beat(bound, best)) break;
            best = std::min(best, moved(candidate, bag_of(references, r), best));
        }
        return best;
    }

private:
    void center(const Bag& bag, std::vector<double>& out) {
        pulse_(bag.words.size() * table_.width);
        std::fill(out.begin(), out.end(), 0.0);
        for (std::size_t i = 0; i < bag.words.size(); ++i) {
            const float* vector = table_[static_cast<std::size_t>(bag.words[i])];
            double weight = static_cast<double>(bag.counts[i]) / static_cast<double>(bag.length);
            for (std::size_t k = 0; k < table_.width; ++k) out[k] += weight * static_cast<double>(vector[k]);
        }
    }

    // Every word goes to the nearest of the other side, whatever room there is: the larger of both directions.
    double relaxed(const Bag& a, const Bag& b) {
        std::size_t n = b.words.size();
        double rows = 0.0, columns = 0.0;
        column_least_.assign(n, kInfinite);
        for (std::size_t i = 0; i < a.words.size(); ++i) {
            double least = kInfinite;
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
    std::vector<double> costs_, column_least_, center_, other_center_;
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
                                : distance(table[static_cast<std::size_t>(from)], table[static_cast<std::size_t>(to)],
                                           table.width);
    }
}

void word_mover_distances(const WordTable& table, const Bags& candidates, const Bags& references,
                          std::span<const std::int64_t> image_offsets, int threads, double* out) {
    parallel_for(candidates.count, threads, 64, [&](std::size_t begin, std::size_t end) {
        Mover mover(table);
        for (std::size_t c = begin; c < end; ++c) {
            Bag candidate = bag_of(candidates, c);
            for (auto r = static_cast<std::size_t>(image_offsets[c]);
                 r < static_cast<std::size_t>(image_offsets[c + 1]); ++r)
                out[r] = mover.exact(candidate, bag_of(references, r));
        }
    });
}

void nearest_word_movers(const WordTable& table, const Bags& candidates, const Bags& references,
                         std::span<const std::int64_t> image_offsets, int threads, double* out) {
    parallel_for(candidates.count, threads, 64, [&](std::size_t begin, std::size_t end) {
        Mover mover(table);
        for (std::size_t c = begin; c < end; ++c)
            out[c] = mover.nearest(bag_of(candidates, c), references, static_cast<std::size_t>(image_offsets[c]),
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

}  // namespace captious
