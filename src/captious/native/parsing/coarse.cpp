// Coarse rules from finer ones, and dense loops over them.
#include "parsing/coarse.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <tuple>

#include "interrupt.hpp"
#include "parsing/clones.hpp"

namespace captious::parsing {
namespace {

constexpr std::size_t kLanes = CoarseChart::kLanes;
#pragma GCC diagnostic ignored "-Wpsabi"  // Lanes never leave this file
typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float))));

CAPTIOUS_INLINE Lanes load(const float* from) {
    Lanes lanes;
    std::memcpy(&lanes, from, sizeof lanes);
    return lanes;
}

CAPTIOUS_INLINE void store(float* to, Lanes lanes) { std::memcpy(to, &lanes, sizeof lanes); }

CAPTIOUS_INLINE Lanes larger(Lanes a, Lanes b) { return a > b ? a : b; }

CAPTIOUS_INLINE Lanes all(float value) { return Lanes{} + value; }

CAPTIOUS_INLINE bool any(Lanes scores) {
    auto found = scores != all(kNever);
    std::uint64_t parts[sizeof found / sizeof(std::uint64_t)];
    std::memcpy(parts, &found, sizeof found);
    return (parts[0] | parts[1] | parts[2] | parts[3]) != 0;
}

// The outside scores that reach the threshold with those inside; kNever for the others.
CAPTIOUS_INLINE Lanes cut(float threshold, Lanes inside, Lanes outside) { return outside + inside >= all(threshold) ? outside : all(kNever); }

// Scores of eight cells on the left and eight on the right: those of one symbol are `stride` apart from those of the next.
struct Strip {
    const float* left;
    const float* right;
    std::size_t stride;
};

// Binary rules over eight cells with the same split: `bases` has kLanes scores for each symbol.
CAPTIOUS_INLINE void combine(std::span<const Coarsening::Group> groups, const Coarsening::Binary* rules, const Strip& strip, float* bases) {
    for (const Coarsening::Group& group : groups) {
        Lanes best = all(kNever);
        for (std::uint32_t rule = group.first; rule < group.end; ++rule)
            best = larger(rules[rule].score + load(strip.right + rules[rule].right * strip.stride), best);
        float* base = bases + group.parent * kLanes;
        store(base, larger(best + load(strip.left + group.left * strip.stride), load(base)));
    }
}

// The same upside down, for groups of one parent, whose outside scores are given.
CAPTIOUS_INLINE void raise(std::span<const Coarsening::Group> groups, const Coarsening::Binary* rules, const Strip& strip, Lanes outside,
                           float* left_outside, float* right_outside) {
    for (const Coarsening::Group& group : groups) {
        Lanes with_left = outside + load(strip.left + group.left * strip.stride), best = all(kNever);
        for (std::uint32_t rule = group.first; rule < group.end; ++rule) {
            std::size_t right = rules[rule].right * strip.stride;
            best = larger(rules[rule].score + load(strip.right + right), best);
            store(right_outside + right, larger(rules[rule].score + with_left, load(right_outside + right)));
        }
        float* left = left_outside + group.left * strip.stride;
        store(left, larger(best + outside, load(left)));
    }
}

}  // namespace

Coarsening::Coarsening(const Grammar& fine, std::vector<State> symbols, std::size_t n_symbols, std::vector<float> potentials)
    : symbols_(std::move(symbols)), n_symbols_(n_symbols), potentials_(std::move(potentials)) {
    number_phrases_first(fine.rules());
    std::map<std::tuple<bool, State, State, State>, std::uint32_t> binary;
    auto key_of = [&](const BinaryRule& rule) { return std::tuple(of(rule.right) >= n_phrases_, of(rule.parent), of(rule.left), of(rule.right)); };
    for (const BinaryRule& rule : fine.rules().binary) binary[key_of(rule)] = 0;
    bool before = false;
    for (auto& [key, number] : binary) {
        auto [word, parent, left, right] = key;
        number = static_cast<std::uint32_t>(binary_.size());
        if (groups_.empty() || word != before || groups_.back().parent != parent || groups_.back().left != left) groups_.push_back({parent, left, number, number});
        if (!word) n_phrase_groups_ = groups_.size();
        binary_.push_back({kNever, right});
        ++groups_.back().end;
        before = word;
    }
    for (const BinaryRule& rule : fine.rules().binary) binary_of_.push_back(binary[key_of(rule)]);
    std::map<std::pair<State, State>, std::uint32_t> unary;  // by parent and child
    for (const UnaryRule& rule : fine.rules().unary) unary[{of(rule.parent), of(rule.child)}] = 0;
    unary_starts_.assign(n_symbols + 1, 0);
    phrase_unary_.assign(n_symbols, 0);
    for (auto& [key, number] : unary) {
        number = static_cast<std::uint32_t>(unary_.size());
        unary_.push_back({key.first, key.second, kNever});
        ++unary_starts_[key.first + 1u];
        phrase_unary_[key.first] += key.second < n_phrases_;
    }
    std::partial_sum(unary_starts_.begin(), unary_starts_.end(), unary_starts_.begin());
    for (const UnaryRule& rule : fine.rules().unary) unary_of_.push_back(unary[{of(rule.parent), of(rule.child)}]);
    update(fine);
}

void Coarsening::number_phrases_first(const Rules& fine) {
    std::vector<bool> phrase(n_symbols_);
    for (const BinaryRule& rule : fine.binary) phrase[of(rule.parent)] = true;
    for (const UnaryRule& rule : fine.unary) phrase[of(rule.parent)] = true;
    n_phrases_ = static_cast<std::size_t>(std::count(phrase.begin(), phrase.end(), true));
    std::vector<State> number(n_symbols_);
    std::size_t phrases = 0, words = n_phrases_;
    for (std::size_t symbol = 0; symbol < n_symbols_; ++symbol) number[symbol] = static_cast<State>(phrase[symbol] ? phrases++ : words++);
    for (State& symbol : symbols_) symbol = number[symbol];
}

void Coarsening::update(const Grammar& fine) {
    best_binary_.assign(binary_.size(), 0);
    best_unary_.assign(unary_.size(), 0);
    for (Binary& rule : binary_) rule.score = kNever;
    for (UnaryRule& rule : unary_) rule.score = kNever;
    for (std::uint32_t i = 0; i < binary_of_.size(); ++i) {
        const BinaryRule& rule = fine.rules().binary[i];
        float score = rule.score + potential(rule.parent) - potential(rule.left) - potential(rule.right);
        if (score > binary_[binary_of_[i]].score) {
            binary_[binary_of_[i]].score = score;
            best_binary_[binary_of_[i]] = i;
        }
    }
    for (std::uint32_t i = 0; i < unary_of_.size(); ++i) {
        const UnaryRule& rule = fine.rules().unary[i];
        float score = rule.score + potential(rule.parent) - potential(rule.child);
        if (score > unary_[unary_of_[i]].score) {
            unary_[unary_of_[i]].score = score;
            best_unary_[unary_of_[i]] = i;
        }
    }
    goals_.clear();
    for (const Goal& goal : fine.goals()) {
        float score = goal.score - potential(goal.state);
        auto known = std::find_if(goals_.begin(), goals_.end(), [&](const Goal& other) { return other.state == of(goal.state); });
        if (known == goals_.end())
            goals_.push_back({of(goal.state), score});
        else
            known->score = std::max(known->score, score);
    }
}

void CoarseChart::begin(std::size_t n_words) {
    n_ = n_words;
    stride_ = (n_ + 2 * kLanes - 1) / kLanes * kLanes;
    bases_.assign(row(n_ + 1, 0), kNever);
    scores_.assign(row(n_ + 1, 0), kNever);
    alive_.assign(n_ * grammar_.n_symbols(), 0);
    live_.clear();
    live_starts_.clear();
}

void CoarseChart::seed(std::size_t word, std::span<const Seed> seeds) {
    for (const Seed& seed : seeds) {
        bases_[row(1, seed.symbol) + word] = seed.base;
        scores_[row(1, seed.symbol) + word] = seed.score;
        alive_[seed.symbol] = 1;
    }
}

void CoarseChart::find_live(std::size_t length) {
    const std::uint8_t* alive = alive_.data() + (length - 1) * grammar_.n_symbols();
    const std::vector<Coarsening::Group>& groups = grammar_.groups();
    std::size_t group = 0;
    for (bool word : {false, true}) {
        std::size_t end = word ? groups.size() : grammar_.n_phrase_groups();
        for (std::size_t parent = 0; parent < grammar_.n_phrases(); ++parent) {
            live_starts_.push_back(static_cast<std::uint32_t>(live_.size()));
            for (; group < end && groups[group].parent == parent; ++group)
                if (alive[groups[group].left]) live_.push_back(groups[group]);
        }
    }
    live_starts_.push_back(static_cast<std::uint32_t>(live_.size()));
}

CAPTIOUS_CLONES void CoarseChart::fill() {
    std::size_t n_phrases = grammar_.n_phrases();
    std::vector<float> bases(grammar_.n_symbols() * kLanes, kNever);
    for (std::size_t length = 2; length <= n_; ++length) {
        poll();
        find_live(length - 1);
        std::uint8_t* alive = alive_.data() + (length - 1) * grammar_.n_symbols();
        for (std::size_t begin = 0; begin + length <= n_; begin += kLanes) {
            std::fill(bases.begin(), bases.begin() + static_cast<std::ptrdiff_t>(n_phrases * kLanes), kNever);
            for (std::size_t split = 1; split < length; ++split) {
                Strip strip{scores_.data() + row(split, 0) + begin, scores_.data() + row(length - split, 0) + begin + split, stride_};
                combine(live(split, false, 0, n_phrases), grammar_.binary().data(), strip, bases.data());
                if (split + 1 == length) combine(live(split, true, 0, n_phrases), grammar_.binary().data(), strip, bases.data());
            }
            for (std::size_t symbol = 0; symbol < n_phrases; ++symbol) {
                Lanes base = load(bases.data() + symbol * kLanes), score = base;
                for (const UnaryRule& chain : grammar_.unary_above_phrases(symbol)) score = larger(chain.score + load(bases.data() + chain.child * kLanes), score);
                if (!any(score)) continue;
                alive[symbol] = 1;
                store(bases_.data() + row(length, symbol) + begin, base);
                store(scores_.data() + row(length, symbol) + begin, score);
            }
        }
    }
}

float CoarseChart::best() const {
    float best = kNever;
    for (const Goal& goal : grammar_.goals()) best = std::max(best, goal.score + score(goal.state, 0, n_));
    return best;
}

CAPTIOUS_CLONES void CoarseChart::fill_outside(float threshold) {
    cell_bests_.assign(n_ * stride_, kNever);
    outside_bases_.assign(bases_.size(), kNever);
    outside_scores_.assign(scores_.size(), kNever);
    std::vector<float> bases(grammar_.n_symbols() * kLanes);
    std::vector<State> above;
    for (const Goal& goal : grammar_.goals()) {
        if (!has(goal.state, n_)) continue;
        float& outside = outside_scores_[row(n_, goal.state)];
        outside = std::max(outside, goal.score);
    }
    for (std::size_t length = n_; length > 0; --length) {
        poll();
        const std::uint8_t* alive = alive_.data() + (length - 1) * grammar_.n_symbols();
        for (std::size_t begin = 0; begin + length <= n_; begin += kLanes) {
            Lanes best = all(kNever);
            std::fill(bases.begin(), bases.begin() + static_cast<std::ptrdiff_t>(n_rows(length) * kLanes), kNever);
            for (std::size_t symbol = 0; symbol < n_rows(length); ++symbol) {
                if (!alive[symbol]) continue;
                std::size_t here = row(length, symbol) + begin;
                Lanes inside = load(scores_.data() + here), outside = cut(threshold, inside, load(outside_scores_.data() + here));
                store(outside_scores_.data() + here, outside);
                if (!any(outside)) continue;
                best = larger(outside + inside, best);
                float* base = bases.data() + symbol * kLanes;
                store(base, larger(outside, load(base)));
                for (const UnaryRule& chain : grammar_.unary(symbol)) {
                    float* below = bases.data() + chain.child * kLanes;
                    store(below, larger(chain.score + outside, load(below)));
                }
            }
            above.clear();
            for (std::size_t symbol = 0; symbol < n_rows(length); ++symbol) {
                if (!alive[symbol]) continue;
                std::size_t here = row(length, symbol) + begin;
                Lanes inside = load(bases_.data() + here), outside = cut(threshold, inside, load(bases.data() + symbol * kLanes));
                if (!any(outside)) continue;
                best = larger(outside + inside, best);
                store(bases.data() + symbol * kLanes, outside);
                store(outside_bases_.data() + here, outside);
                above.push_back(static_cast<State>(symbol));
            }
            store(cell_bests_.data() + (length - 1) * stride_ + begin, best);
            for (std::size_t split = 1; split < length; ++split) {
                std::size_t left = row(split, 0) + begin, right = row(length - split, 0) + begin + split;
                Strip strip{scores_.data() + left, scores_.data() + right, stride_};
                for (State symbol : above) {
                    Lanes outside = load(bases.data() + symbol * kLanes);
                    raise(live(split, false, symbol, 1), grammar_.binary().data(), strip, outside, outside_scores_.data() + left, outside_scores_.data() + right);
                    if (split + 1 == length)
                        raise(live(split, true, symbol, 1), grammar_.binary().data(), strip, outside, outside_scores_.data() + left, outside_scores_.data() + right);
                }
            }
        }
    }
}

}  // namespace captious::parsing
