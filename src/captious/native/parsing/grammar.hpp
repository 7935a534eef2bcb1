// A weighted grammar in the form used by charts.
#pragma once

#include <cstddef>
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

// Items above all words, and their scores.
struct Goal {
    State state;
    float score;
};

struct Rules {
    std::vector<BinaryRule> binary;
    std::vector<UnaryRule> unary;  // closed under chains: at most one of them applies above a constituent
    std::vector<Goal> goals;
};

struct Driven {
    float score;
    State parent;
};

// Rules in the order in which charts use them. Each binary rule is found from one of its children, its driver, which is
// the one in more rules: the other, for symbols of binarization, is usually in few.
class Grammar {
public:
    struct Chain {  // a unary rule, stored with its child
        State parent;
        float score;
    };
    struct Made {  // a binary rule, stored with its parent
        State left, right;
        float score;
        std::uint32_t rule;  // index in Rules::binary
    };
    struct Under {  // a unary rule, stored with its parent
        State child;
        float score;
        std::uint32_t rule;  // index in Rules::unary
    };
    // Rules by driver, and those of one driver in blocks: by 64 states that the other child, the mate, may be. A pair
    // of children may have several parents: these are in several tables of blocks, end to end.
    struct Side {
        std::vector<std::uint32_t> starts;  // [n_states + 1] of blocks
        // By block, and kPiece more: which of the states from 64 * word on are mates, that word, and the place of the
        // first of the rules, which the others follow in the order of their mates.
        std::vector<std::uint64_t> mates;
        std::vector<std::uint16_t> words;
        std::vector<std::uint32_t> firsts;
        std::vector<Driven> rules;
        std::vector<std::uint32_t> order;  // the indices of rules in Rules::binary
    };
    // Short lists are copied in pieces of this many entries, the last of which may be partly unused: stopping at the
    // end would take a branch that processors mispredict.
    static constexpr std::size_t kPiece = 4;

    Grammar() = default;
    Grammar(std::size_t n_states, Rules rules);

    std::size_t n_states() const { return n_states_; }
    const Rules& rules() const { return rules_; }
    std::span<const Goal> goals() const { return rules_.goals; }
    std::size_t n_drivers() const { return n_drivers_; }  // states from this number on drive no rule

    const Side& by_left() const { return by_left_; }    // whose driver is the left child
    const Side& by_right() const { return by_right_; }  // whose driver is the right child
    std::span<const Chain> chains(State child) const {
        return {chains_.data() + chain_starts_[child], chains_.data() + chain_starts_[child + 1u]};
    }
    // The rules that make a state: binary ones in the order in which charts use them, unary ones in that of children.
    std::span<const Made> made(State parent) const {
        return {made_.data() + made_starts_[parent], made_.data() + made_starts_[parent + 1u]};
    }
    std::span<const Under> chains_to(State parent) const {
        return {under_.data() + under_starts_[parent], under_.data() + under_starts_[parent + 1u]};
    }

    void set_scores(Rules rules);  // the same rules with other scores

private:
    std::size_t n_states_ = 0, n_drivers_ = 0;
    Rules rules_;
    Side by_left_, by_right_;
    std::vector<Chain> chains_;
    std::vector<std::uint32_t> chain_starts_, unary_order_;
    std::vector<Made> made_;
    std::vector<Under> under_;
    std::vector<std::uint32_t> made_starts_, under_starts_;
};

// Unary rules closed under chains: for each pair of states, by child and then parent, the best chain between them.
struct Closure {
    std::vector<UnaryRule> rules;
    std::vector<std::vector<std::uint32_t>> chains;  // parallel to rules: the rules of the chain, from the top
};

Closure close_unary(std::size_t n_states, std::span<const UnaryRule> rules);

// The states in an order that keeps charts small: those that drive binary rules first, then those that are children
// of the same drivers next to each other. Returns the new number of each state.
std::vector<State> good_order(std::size_t n_states, std::span<const BinaryRule> binary);

}  // namespace captious::parsing
