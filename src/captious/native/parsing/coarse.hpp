// A coarser grammar whose scores bound those of a finer one, and its chart.
//
// A coarse symbol stands for several states, and a coarse rule scores as the best of the rules that fall together in
// it, so the best coarse derivation over any words scores at least what the best finer one does. Potentials make that
// bound tight: a number for each state that is added where a rule makes the state and taken off where a rule uses it.
// No derivation's score changes, but what the rules that fall together have in common does.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parsing/grammar.hpp"

namespace captious::parsing {

// Symbols that rules make, phrases, have lower numbers than those that stand over words only.
class Coarsening {
public:
    struct Binary {  // a coarse rule beside its parent and its left child
        float score;
        State right;
    };
    struct Group {  // rules with the same parent and left child
        State parent, left;
        std::uint32_t first, end;
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

    // By parent; first those whose right child is a phrase, then those whose right child stands over words only.
    const std::vector<Group>& groups() const { return groups_; }
    std::size_t n_phrase_groups() const { return n_phrase_groups_; }
    const std::vector<Binary>& binary() const { return binary_; }
    const std::vector<UnaryRule>& unary() const { return unary_; }
    // By parent, and then by child.
    std::span<const UnaryRule> unary_above_phrases(std::size_t parent) const { return {unary_.data() + unary_starts_[parent], phrase_unary_[parent]}; }
    std::span<const UnaryRule> unary(std::size_t parent) const { return {unary_.data() + unary_starts_[parent], unary_.data() + unary_starts_[parent + 1]}; }
    const std::vector<Goal>& goals() const { return goals_; }
    // The places of the finer rules that lent the coarse ones their scores.
    std::uint32_t best_binary(std::size_t rule) const { return best_binary_[rule]; }
    std::uint32_t best_unary(std::size_t rule) const { return best_unary_[rule]; }

private:
    void number_phrases_first(const Rules& fine);

    std::vector<State> symbols_;
    std::size_t n_symbols_, n_phrases_ = 0, n_phrase_groups_ = 0;
    std::vector<float> potentials_;
    std::vector<std::uint32_t> binary_of_, unary_of_, best_binary_, best_unary_;  // by finer rule; by coarse rule
    std::vector<Group> groups_;
    std::vector<Binary> binary_;
    std::vector<UnaryRule> unary_;
    std::vector<std::uint32_t> unary_starts_, phrase_unary_;  // [n_symbols + 1]; how many of a parent's have a phrase below
    std::vector<Goal> goals_;
};

// A coarse symbol over a word: the scores of its best derivation without a chain on top, and of its best derivation; and
// which of the word's items are of this symbol.
struct Seed {
    State symbol;
    float base, score;
    std::uint32_t first, size;
};

// All items of a sentence. Cells of one length lie side by side, so that eight of them are computed at once.
class CoarseChart {
public:
    static constexpr std::size_t kLanes = 8;

    explicit CoarseChart(const Coarsening& grammar) : grammar_(grammar) {}

    // Makes room for a sentence, whose words are then given what may stand over them.
    void begin(std::size_t n_words);
    void seed(std::size_t word, std::span<const Seed> seeds);
    // Fills the cells of more than one word.
    void fill();
    // What is outside of items, for those that reach `threshold` with it.
    void fill_outside(float threshold);

    float best() const;
    // The best score of a derivation in which something stands over these words.
    float best_with(std::size_t begin, std::size_t end) const { return cell_bests_[(end - begin - 1) * stride_ + begin]; }
    // What is outside of the items of a cell, without a chain on top and with.
    struct Outside {
        const float *bases, *scores;
        std::size_t stride;
        float base(State symbol) const { return bases[symbol * stride]; }
        float score(State symbol) const { return scores[symbol * stride]; }
    };
    Outside outside(std::size_t begin, std::size_t end) const {
        std::size_t place = row(end - begin, 0) + begin;
        return {outside_bases_.data() + place, outside_scores_.data() + place, stride_};
    }
    // Scores of a symbol over words.
    float base(State symbol, std::size_t begin, std::size_t end) const { return has(symbol, end - begin) ? bases_[row(end - begin, symbol) + begin] : kNever; }
    float score(State symbol, std::size_t begin, std::size_t end) const { return has(symbol, end - begin) ? scores_[row(end - begin, symbol) + begin] : kNever; }

private:
    using Groups = std::span<const Coarsening::Group>;

    // Rows have a symbol's scores in all cells of a length. Only phrases have rows beyond the first length.
    bool has(State symbol, std::size_t length) const { return length == 1 || symbol < grammar_.n_phrases(); }
    std::size_t n_rows(std::size_t length) const { return length == 1 ? grammar_.n_symbols() : grammar_.n_phrases(); }
    std::size_t row(std::size_t length, std::size_t symbol) const {
        return ((length == 1 ? 0 : grammar_.n_symbols() + (length - 2) * grammar_.n_phrases()) + symbol) * stride_;
    }
    // Of the rules whose left child some cell of a length has: all with a phrase on the right or with a word, or one parent's.
    Groups live(std::size_t length, bool word, std::size_t parent, std::size_t n_parents) const {
        const std::uint32_t* starts = live_starts_.data() + (length - 1) * (2 * grammar_.n_phrases() + 1) + word * grammar_.n_phrases() + parent;
        return {live_.data() + starts[0], live_.data() + starts[n_parents]};
    }
    void find_live(std::size_t length);

    const Coarsening& grammar_;
    std::size_t n_ = 0, stride_ = 0;
    std::vector<float> bases_, scores_, outside_bases_, outside_scores_;  // [length][symbol][begin]
    std::vector<std::uint8_t> alive_;       // [length - 1][symbol], whether any cell has a score
    std::vector<Coarsening::Group> live_;   // [length - 1], of left children that are alive
    std::vector<std::uint32_t> live_starts_;  // [length - 1][phrases, words][parent]
    std::vector<float> cell_bests_;         // [length - 1][begin], the best score of a whole derivation with an item of the cell
};

}  // namespace captious::parsing
