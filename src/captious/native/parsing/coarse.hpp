// A coarser grammar whose scores bound those of a finer one, and its chart.
//
// A coarse symbol stands for several states, and a coarse rule has the score of the best of the rules merged into
// it, so the best coarse derivation over any words scores at least as high as the best finer one. Potentials make that
// bound tight: a number for each state that is added where a rule makes the state and subtracted where a rule uses it.
// The scores of derivations do not change, but merged rules become more alike.
//
// Bounds are 16-bit numbers, rounded up. Sixteen sentences are computed at once, one per lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parsing/grammar.hpp"

namespace captious::parsing {

// A bound in units of 1 / kUnits. kBottom also stands for every lower score and for missing derivations: it is a
// bound like others, and additions may raise it. A bound that reaches kTop cannot be trusted.
using Bound = std::int16_t;

constexpr float kUnits = 64.0f;
constexpr Bound kBottom = -16384, kTop = 8192;

// The lowest bound that is not below a score, and the highest that is not above it.
Bound rounded_up(float score);
Bound rounded_down(float score);

// Phrases, the symbols made by rules, have lower numbers than symbols of single words.
class Coarsening {
public:
    struct Binary {  // a coarse rule, stored with its parent and left child
        Bound score;
        State right;
    };
    struct Unary {
        State parent, child;
        Bound score;
    };
    struct Group {  // rules with the same parent and left child
        State parent, left;
        std::uint32_t first, end;
    };
    struct Goal {
        State symbol;
        Bound score;
    };

    Coarsening(const Coarsening&) = delete;
    // `symbols` gives the coarse symbol of each state, below `n_symbols`; potentials one number for each state.
    Coarsening(const Grammar& fine, std::vector<State> symbols, std::size_t n_symbols, std::vector<float> potentials);

    State of(State state) const { return symbols_[state]; }
    float potential(State state) const { return potentials_[state]; }
    std::size_t n_symbols() const { return n_symbols_; }
    std::size_t n_phrases() const { return n_phrases_; }
    std::vector<float>& potentials() { return potentials_; }
    const std::vector<float>& potentials() const { return potentials_; }

    void update(const Grammar& fine);  // after the scores of the grammar or the potentials have changed
    // Whether 16 bits suffice for the rules, and 32-bit sums for potentials.
    bool sound() const { return sound_; }

    // First groups whose right child is a phrase, then those whose right child is over a single word; within each, by
    // the number of rules: loops whose length rarely changes are fast.
    const std::vector<Group>& groups() const { return groups_; }
    std::size_t n_phrase_groups() const { return n_phrase_groups_; }
    const std::vector<Binary>& binary() const { return binary_; }
    const std::vector<std::uint32_t>& groups_of(State parent) const { return groups_of_[parent]; }  // their indices
    // By parent, and then by child.
    const std::vector<Unary>& unary() const { return unary_; }
    std::span<const Unary> unary(std::size_t parent) const {
        return {unary_.data() + unary_starts_[parent], unary_.data() + unary_starts_[parent + 1]};
    }
    // Chains above phrases.
    const std::vector<Unary>& phrase_unary() const { return phrase_unary_; }
    const std::vector<Goal>& goals() const { return goals_; }
    // The indices of the finer rules that gave the coarse ones their scores.
    std::uint32_t best_binary(std::size_t rule) const { return best_binary_[rule]; }
    std::uint32_t best_unary(std::size_t rule) const { return best_unary_[rule]; }

private:
    void number_phrases_first(const Rules& fine);

    std::vector<State> symbols_;
    std::size_t n_symbols_, n_phrases_ = 0, n_phrase_groups_ = 0;
    bool sound_ = true;
    std::vector<float> potentials_;
    std::vector<std::uint32_t> binary_of_, unary_of_, best_binary_, best_unary_;  // by finer rule; by coarse rule
    std::vector<Group> groups_;
    std::vector<std::vector<std::uint32_t>> groups_of_;
    std::vector<Binary> binary_;
    std::vector<Unary> unary_, phrase_unary_;
    std::vector<std::uint32_t> unary_starts_;  // [n_symbols + 1]
    std::vector<Goal> goals_;
};

// A coarse symbol over a word: the bounds of its best derivation without a chain on top, and of its best derivation;
// and which items of the word have this symbol.
struct Seed {
    State symbol;
    Bound base, score;
    std::uint32_t first, size;
};

// All items of up to sixteen sentences, one in each lane.
class CoarseChart {
public:
    static constexpr std::size_t kLanes = 16;
    // Items over each word of a sentence.
    using Words = std::span<const std::span<const Seed>>;

    explicit CoarseChart(const Coarsening& grammar);

    void fill(std::span<const Words> sentences);
    // The bound of a sentence; kBottom if it has no derivation.
    Bound best(std::size_t lane) const;
    // Outside scores of items that reach the threshold of their sentence with them.
    void fill_outside(std::span<const Bound> thresholds);
    // Whether 16 bits have sufficed for a sentence so far.
    bool sound(std::size_t lane) const { return grammar_.sound() && highest_[lane] < kTop; }

    // The first step of the best derivation of a symbol over several words, in a sound lane: a chain or none, and below
    // that a binary rule.
    struct Step {
        std::uint32_t chain, rule;  // their indices in unary() and binary(), or kNone
        std::size_t split;          // boundary between the children of the binary rule
    };
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;
    Step step(std::size_t lane, State symbol, std::size_t begin, std::size_t end) const;

    // Inside of a symbol over words.
    Bound base(std::size_t lane, State symbol, std::size_t begin, std::size_t end) const {
        return at(bases_, lane, symbol, begin, end);
    }
    Bound score(std::size_t lane, State symbol, std::size_t begin, std::size_t end) const {
        return at(scores_, lane, symbol, begin, end);
    }
    // The bound of a derivation in which something stands over these words.
    Bound best_with(std::size_t lane, std::size_t begin, std::size_t end) const {
        return cell_bests_[index(begin, end) * kLanes + lane];
    }
    // Outside bounds of the items of a cell, without and with a chain on top; to be called only if best_with() reaches
    // the threshold.
    struct Outside {
        const Bound *bases, *scores;
        Bound base(State symbol) const { return bases[symbol * kLanes]; }
        Bound score(State symbol) const { return scores[symbol * kLanes]; }
    };
    Outside outside(std::size_t lane, std::size_t begin, std::size_t end) const {
        std::size_t place = places_[index(begin, end)] + lane;
        return {outside_bases_.data() + place, outside_scores_.data() + place};
    }

private:
    // Groups whose left child may be in a cell, and the number of them with a phrase as right child.
    struct Live {
        std::vector<Coarsening::Group> groups;
        std::size_t n_phrase = 0;
        // Rules for a right child over one word, or over several.
        std::span<const Coarsening::Group> beside(bool word) const {
            return {groups.data(), word ? groups.size() : n_phrase};
        }
    };

    static std::size_t index(std::size_t begin, std::size_t end) { return end * (end - 1) / 2 + begin; }
    // Only phrases stand over more than one word.
    std::size_t n_rows(std::size_t begin, std::size_t end) const {
        return begin + 1 == end ? grammar_.n_symbols() : grammar_.n_phrases();
    }
    Bound at(const std::vector<Bound>& bounds, std::size_t lane, State symbol, std::size_t begin,
             std::size_t end) const {
        return symbol < n_rows(begin, end) ? bounds[places_[index(begin, end)] + symbol * kLanes + lane] : kBottom;
    }
    void seed(std::span<const Words> sentences);
    void close(std::size_t begin, std::size_t end);
    void close_outside(std::size_t begin, std::size_t end, const Bound* thresholds, std::uint8_t* above);
    template <typename Alive>
    void find_live(const Alive& alive, Live& live) const;
    const Live& live(std::size_t begin, std::size_t end);

    const Coarsening& grammar_;
    std::vector<std::size_t> lengths_;  // of the sentences
    std::size_t n_ = 0;                 // the longest
    std::vector<std::size_t> places_;   // by cell, of its first row; a row has a symbol's bounds in all lanes
    std::vector<Bound> bases_, scores_, outside_bases_, outside_scores_;
    std::vector<Bound> cell_bests_, highest_;  // by cell; of all
    Live over_several_, over_word_;            // in cells of several words, and over the word of the last call
    std::vector<std::uint8_t> seeded_;         // by word and symbol
};

}  // namespace captious::parsing
