// Coarse rules from finer ones, and dense loops over them.
#include "parsing/coarse.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <tuple>

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

// Where the loops find scores: those of one symbol are `stride` apart from those of the next.
struct Strip {
    const float* left;
    const float* right;
    std::size_t stride;
    const std::uint8_t* left_alive;
};

// Binary rules over eight cells with the same split: `bases` has kLanes scores for each symbol.
CAPTIOUS_CLONES void combine(const Coarsening& grammar, const Strip& strip, float* bases) {
    const Coarsening::Binary* rules = grammar.binary().data();
    for (std::size_t left = 0; left < grammar.n_symbols(); ++left) {
        if (!strip.left_alive[left]) continue;
        Lanes lefts = load(strip.left + left * strip.stride);
        const Coarsening::Group* end = grammar.groups().data() + grammar.first_group(left + 1);
        for (const Coarsening::Group* group = grammar.groups().data() + grammar.first_group(left); group != end; ++group) {
            Lanes best = all(kNever);
            for (std::uint32_t rule = group->first; rule < group[1].first; ++rule)
                best = larger(all(rules[rule].score) + load(strip.right + rules[rule].right * strip.stride), best);
            float* base = bases + group->parent * kLanes;
            store(base, larger(best + lefts, load(base)));
        }
    }
}

// The same upside down: `above` has kLanes outside scores for each symbol.
CAPTIOUS_CLONES void raise(const Coarsening& grammar, const Strip& strip, const float* above, const std::uint8_t* above_alive, float* left_outside,
                           float* right_outside) {
    const Coarsening::Binary* rules = grammar.binary().data();
    for (std::size_t left = 0; left < grammar.n_symbols(); ++left) {
        if (!strip.left_alive[left]) continue;
        Lanes lefts = load(strip.left + left * strip.stride), most = load(left_outside + left * strip.stride);
        const Coarsening::Group* end = grammar.groups().data() + grammar.first_group(left + 1);
        for (const Coarsening::Group* group = grammar.groups().data() + grammar.first_group(left); group != end; ++group) {
            if (!above_alive[group->parent]) continue;
            Lanes outer = load(above + group->parent * kLanes), with_left = outer + lefts, best = all(kNever);
            for (std::uint32_t rule = group->first; rule < group[1].first; ++rule) {
                std::size_t right = rules[rule].right * strip.stride;
                best = larger(all(rules[rule].score) + load(strip.right + right), best);
                store(right_outside + right, larger(all(rules[rule].score) + with_left, load(right_outside + right)));
            }
            most = larger(best + outer, most);
        }
        // Cells of both children may be the same ones, and have been raised meanwhile.
        store(left_outside + left * strip.stride, larger(most, load(left_outside + left * strip.stride)));
    }
}

// Chains over eight cells, for symbols of which `alive` says that they have scores there.
CAPTIOUS_CLONES void apply_chains(const std::vector<UnaryRule>& chains, const std::uint8_t* alive, const float* bases, float* scores) {
    for (const UnaryRule& chain : chains) {
        if (!alive[chain.child]) continue;
        float* score = scores + chain.parent * kLanes;
        store(score, larger(all(chain.score) + load(bases + chain.child * kLanes), load(score)));
    }
}

CAPTIOUS_CLONES void raise_chains(const std::vector<UnaryRule>& chains, const std::uint8_t* alive, const float* scores, float* bases) {
    for (const UnaryRule& chain : chains) {
        if (!alive[chain.child]) continue;
        float* base = bases + chain.child * kLanes;
        store(base, larger(all(chain.score) + load(scores + chain.parent * kLanes), load(base)));
    }
}

// Whether any of eight scores is one.
CAPTIOUS_INLINE bool any(const float* scores) {
    bool found = false;
    for (std::size_t lane = 0; lane < kLanes; ++lane) found |= scores[lane] != kNever;
    return found;
}

// Of eight cells, outside scores that do not reach the threshold with those inside become kNever; `best`, if given, is
// raised to those that do, with the inside. Returns whether any does.
CAPTIOUS_CLONES bool cut(float threshold, const float* inside, float* outside, float* best) {
    Lanes outer = load(outside), total = outer + load(inside);
    outer = total >= all(threshold) ? outer : all(kNever);
    store(outside, outer);
    if (best != nullptr) store(best, larger(outer + load(inside), load(best)));
    return any(outside);
}

}  // namespace

Coarsening::Coarsening(const Grammar& fine, std::vector<State> symbols, std::size_t n_symbols, std::vector<float> potentials)
    : symbols_(std::move(symbols)), n_symbols_(n_symbols), potentials_(std::move(potentials)) {
    std::map<std::tuple<State, State, State>, std::uint32_t> binary;  // by left child, parent and right child
    auto key_of = [&](const BinaryRule& rule) { return std::tuple(of(rule.left), of(rule.parent), of(rule.right)); };
    for (const BinaryRule& rule : fine.rules().binary) binary[key_of(rule)] = 0;
    starts_.assign(n_symbols + 1, 0);
    const std::tuple<State, State, State>* before = nullptr;
    for (auto& [key, number] : binary) {
        auto [left, parent, right] = key;
        number = static_cast<std::uint32_t>(binary_.size());
        if (before == nullptr || std::get<0>(*before) != left || std::get<1>(*before) != parent) {
            groups_.push_back({parent, number});
            ++starts_[left + 1u];
        }
        binary_.push_back({kNever, right});
        before = &key;
    }
    groups_.push_back({0, static_cast<std::uint32_t>(binary_.size())});
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    for (const BinaryRule& rule : fine.rules().binary) binary_of_.push_back(binary[key_of(rule)]);
    std::map<std::pair<State, State>, std::uint32_t> unary;  // by child and parent
    for (const UnaryRule& rule : fine.rules().unary) unary[{of(rule.child), of(rule.parent)}] = 0;
    for (auto& [key, number] : unary) {
        number = static_cast<std::uint32_t>(unary_.size());
        unary_.push_back({key.second, key.first, kNever});
    }
    for (const UnaryRule& rule : fine.rules().unary) unary_of_.push_back(unary[{of(rule.child), of(rule.parent)}]);
    update(fine);
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
    std::size_t size = n_ * grammar_.n_symbols() * stride_;
    bases_.assign(size, kNever);
    scores_.assign(size, kNever);
    alive_.assign(n_ * grammar_.n_symbols(), 0);
}

void CoarseChart::seed(std::size_t word, std::span<const Seed> seeds) {
    for (const Seed& seed : seeds) {
        bases_[at(seed.symbol, word, word + 1)] = seed.base;
        scores_[at(seed.symbol, word, word + 1)] = seed.score;
        alive_[seed.symbol] = 1;
    }
}

void CoarseChart::fill() {
    std::size_t n_symbols = grammar_.n_symbols();
    std::vector<float> bases(n_symbols * kLanes), scores(n_symbols * kLanes);
    std::vector<std::uint8_t> here(n_symbols);
    for (std::size_t length = 2; length <= n_; ++length) {
        std::uint8_t* alive = alive_.data() + (length - 1) * n_symbols;
        for (std::size_t begin = 0; begin + length <= n_; begin += kLanes) {
            std::fill(bases.begin(), bases.end(), kNever);
            for (std::size_t split = 1; split < length; ++split)
                combine(grammar_,
                        {scores_.data() + row(split, 0) + begin, scores_.data() + row(length - split, 0) + begin + split, stride_,
                         alive_.data() + (split - 1) * n_symbols},
                        bases.data());
            for (std::size_t symbol = 0; symbol < n_symbols; ++symbol) here[symbol] = any(bases.data() + symbol * kLanes);
            scores = bases;
            apply_chains(grammar_.unary(), here.data(), bases.data(), scores.data());
            for (std::size_t symbol = 0; symbol < n_symbols; ++symbol) {
                if (!any(scores.data() + symbol * kLanes)) continue;
                alive[symbol] = 1;
                std::size_t at = row(length, static_cast<State>(symbol)) + begin;
                std::memcpy(bases_.data() + at, bases.data() + symbol * kLanes, sizeof(Lanes));
                std::memcpy(scores_.data() + at, scores.data() + symbol * kLanes, sizeof(Lanes));
            }
        }
    }
}

void CoarseChart::requirements(std::size_t begin, std::size_t end, float threshold, float* bases, float* scores) const {
    const float* outside_base = outside_bases_.data() + at(0, begin, end);
    const float* outside_score = outside_scores_.data() + at(0, begin, end);
    for (std::size_t symbol = 0; symbol < grammar_.n_symbols(); ++symbol) {
        bases[symbol] = threshold - outside_base[symbol * stride_];
        scores[symbol] = threshold - outside_score[symbol * stride_];
    }
}

float CoarseChart::best() const {
    float best = kNever;
    for (const Goal& goal : grammar_.goals()) best = std::max(best, goal.score + score(goal.state, 0, n_));
    return best;
}

void CoarseChart::fill_outside(float threshold) {
    std::size_t n_symbols = grammar_.n_symbols();
    cell_bests_.assign(n_ * stride_, kNever);
    outside_bases_.assign(bases_.size(), kNever);
    outside_scores_.assign(scores_.size(), kNever);
    std::vector<float> bases(n_symbols * kLanes), scores(n_symbols * kLanes);
    std::vector<std::uint8_t> above(n_symbols);
    for (const Goal& goal : grammar_.goals()) {
        float& outside = outside_scores_[at(goal.state, 0, n_)];
        outside = std::max(outside, goal.score);
    }
    for (std::size_t length = n_; length > 0; --length) {
        const std::uint8_t* alive = alive_.data() + (length - 1) * n_symbols;
        for (std::size_t begin = 0; begin + length <= n_; begin += kLanes) {
            for (std::size_t symbol = 0; symbol < n_symbols; ++symbol)
                std::memcpy(scores.data() + symbol * kLanes, outside_scores_.data() + row(length, static_cast<State>(symbol)) + begin, sizeof(Lanes));
            bases = scores;
            raise_chains(grammar_.unary(), alive, scores.data(), bases.data());
            for (std::size_t symbol = 0; symbol < n_symbols; ++symbol) {
                above[symbol] = 0;
                if (!alive[symbol]) continue;
                std::size_t here = row(length, static_cast<State>(symbol)) + begin;
                float* base = bases.data() + symbol * kLanes;
                above[symbol] = cut(threshold, bases_.data() + here, base, cell_bests_.data() + (length - 1) * stride_ + begin);
                cut(threshold, scores_.data() + here, outside_scores_.data() + here, nullptr);
                std::memcpy(outside_bases_.data() + here, base, sizeof(Lanes));
            }
            for (std::size_t split = 1; split < length; ++split)
                raise(grammar_,
                      {scores_.data() + row(split, 0) + begin, scores_.data() + row(length - split, 0) + begin + split, stride_,
                       alive_.data() + (split - 1) * n_symbols},
                      bases.data(), above.data(), outside_scores_.data() + row(split, 0) + begin, outside_scores_.data() + row(length - split, 0) + begin + split);
        }
    }
}

}  // namespace captious::parsing
