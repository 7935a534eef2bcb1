// A weighted grammar as charts read it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace captious::parsing {

using State = std::uint16_t;

constexpr float kNever = -std::numeric_limits<float>::infinity();

struct BinaryRule {
    State parent, left, right;
    float score;
};

struct UnaryRule {
    State parent, child;
    float score;
};

// What may stand above all words, and the score of its being there.
struct Goal {
    State state;
    float score;
};

struct Rules {
    std::vector<BinaryRule> binary;
    std::vector<UnaryRule> unary;  // closed under chains: at most one of them applies above a constituent
    std::vector<Goal> goals;
};

// The binary rules that one state, the driver, is a child of, by their other children, 64 at a time.
struct Block {
    std::uint64_t mates;  // which of the states from 64 * word on are the other child of a rule
    std::uint32_t first;  // place of the first of these rules; the others follow in the order of the other children
    std::uint16_t word;
};

struct Driven {
    float score;
    State parent;
};

// Rules in the order in which charts use them. Each binary rule is found from one of its children, the one that is
// in more rules: the other, in symbols of binarisation, is usually in few.
class Grammar {
public:
    struct Chain {  // a unary rule, beside its child
        State parent;
        float score;
    };
    // Rules by driver. A pair of children may have several parents: these are in several tables of blocks, end to end.
    struct Side {
        std::vector<std::uint32_t> starts;  // [n_states + 1] of blocks
        std::vector<Block> blocks;
        std::vector<Driven> rules;
        std::vector<std::uint32_t> order;  // the places of rules in Rules::binary

        std::span<const Block> of(State driver) const { return {blocks.data() + starts[driver], blocks.data() + starts[driver + 1u]}; }
    };

    Grammar() = default;
    Grammar(std::size_t n_states, Rules rules);

    std::size_t n_states() const { return n_states_; }
    const Rules& rules() const { return rules_; }
    std::span<const Goal> goals() const { return rules_.goals; }
    std::size_t n_drivers() const { return n_drivers_; }  // no state from this number on drives a rule

    const Side& by_left() const { return by_left_; }    // whose driver is the left child
    const Side& by_right() const { return by_right_; }  // whose driver is the right child
    std::span<const Chain> chains(State child) const { return {chains_.data() + chain_starts_[child], chains_.data() + chain_starts_[child + 1u]}; }
    std::uint32_t first_chain(State child) const { return chain_starts_[child]; }
    std::uint32_t unary_rule(std::uint32_t chain) const { return unary_order_[chain]; }

    void set_scores(Rules rules);  // the same rules with other scores

private:
    std::size_t n_states_ = 0, n_drivers_ = 0;
    Rules rules_;
    Side by_left_, by_right_;
    std::vector<Chain> chains_;
    std::vector<std::uint32_t> chain_starts_, unary_order_;
};

// Unary rules closed under chains: for each pair of states, by child and then parent, the best chain between them.
struct Closure {
    std::vector<UnaryRule> rules;
    std::vector<std::vector<std::uint32_t>> chains;  // beside rules: the rules of the chain, from the top
};

Closure close_unary(std::size_t n_states, std::span<const UnaryRule> rules);

// The states in an order that keeps charts small: those that drive binary rules first, then those that are children
// beside the same drivers next to each other. Gives the new number of each state.
std::vector<State> good_order(std::size_t n_states, std::span<const BinaryRule> binary);

}  // namespace captious::parsing
