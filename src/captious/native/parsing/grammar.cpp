// Ordering rules, closing unary rules.
#include "parsing/grammar.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace captious::parsing {
namespace {

// The order of rules by key, and the range of each key: out[key]..out[key + 1].
template <typename Rule, typename Key>
std::vector<std::uint32_t> starts_of(const std::vector<Rule>& rules, std::size_t n, const Key& key) {
    std::vector<std::uint32_t> starts(n + 1);
    for (const Rule& rule : rules) ++starts[key(rule) + 1u];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    return starts;
}

template <typename Rule, typename Key>
std::vector<std::uint32_t> order_of(const std::vector<Rule>& rules, const Key& key) {
    std::vector<std::uint32_t> order(rules.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return key(rules[a]) < key(rules[b]); });
    return order;
}

// For each binary rule whether its right child drives it: the child that is in more rules, the right one if both are.
std::vector<bool> driven_by_right(std::size_t n_states, std::span<const BinaryRule> binary) {
    std::vector<std::uint32_t> as_left(n_states), as_right(n_states);
    for (const BinaryRule& rule : binary) {
        ++as_left[rule.left];
        ++as_right[rule.right];
    }
    std::vector<bool> right;
    for (const BinaryRule& rule : binary) right.push_back(as_right[rule.right] >= as_left[rule.left]);
    return right;
}

Grammar::Side side_of(std::size_t n_states, const std::vector<BinaryRule>& binary,
                      const std::vector<bool>& driven_by_right, bool right) {
    struct Key {
        State driver;
        std::uint32_t layer;  // number of earlier parents of the pair of children
        State mate;
        auto operator<=>(const Key&) const = default;
    };
    std::map<std::pair<State, State>, std::uint32_t> parents;
    std::vector<std::pair<Key, std::uint32_t>> rules;
    for (std::uint32_t place = 0; place < binary.size(); ++place) {
        if (driven_by_right[place] != right) continue;
        auto [left_child, right_child] = std::pair(binary[place].left, binary[place].right);
        State driver = right ? right_child : left_child, mate = right ? left_child : right_child;
        rules.emplace_back(Key{driver, parents[{driver, mate}]++, mate}, place);
    }
    std::sort(rules.begin(), rules.end());
    Grammar::Side side;
    side.starts.assign(n_states + 1, 0);
    const Key* before = nullptr;
    for (const auto& [key, place] : rules) {
        bool same = before != nullptr && before->driver == key.driver && before->layer == key.layer &&
                    before->mate / 64 == key.mate / 64;
        if (!same) {
            side.mates.push_back(0);
            side.words.push_back(static_cast<std::uint16_t>(key.mate / 64));
            side.firsts.push_back(static_cast<std::uint32_t>(side.order.size()));
            ++side.starts[key.driver + 1u];
        }
        side.mates.back() |= std::uint64_t{1} << key.mate % 64;
        side.order.push_back(place);
        before = &key;
    }
    std::partial_sum(side.starts.begin(), side.starts.end(), side.starts.begin());
    side.rules.resize(side.order.size());
    side.mates.resize(side.mates.size() + Grammar::kPiece);
    side.words.resize(side.mates.size());
    side.firsts.resize(side.mates.size());
    return side;
}

}  // namespace

Grammar::Grammar(std::size_t n_states, Rules rules) : n_states_(n_states) {
    std::vector<bool> right = driven_by_right(n_states, rules.binary);
    by_left_ = side_of(n_states, rules.binary, right, false);
    by_right_ = side_of(n_states, rules.binary, right, true);
    for (std::size_t state = 0; state < n_states; ++state)
        if (by_left_.starts[state] < by_left_.starts[state + 1] ||
            by_right_.starts[state] < by_right_.starts[state + 1])
            n_drivers_ = state + 1;
    chain_starts_ = starts_of(rules.unary, n_states, [](const UnaryRule& rule) { return rule.child; });
    unary_order_ = order_of(rules.unary, [](const UnaryRule& rule) { return std::tuple(rule.child, rule.parent); });
    made_starts_ = starts_of(rules.binary, n_states, [](const BinaryRule& rule) { return rule.parent; });
    under_starts_ = starts_of(rules.unary, n_states, [](const UnaryRule& rule) { return rule.parent; });
    made_.resize(rules.binary.size());
    under_.resize(rules.unary.size());
    set_scores(std::move(rules));
}

void Grammar::set_scores(Rules rules) {
    rules_ = std::move(rules);
    for (Side* side : {&by_left_, &by_right_})
        for (std::size_t i = 0; i < side->order.size(); ++i)
            side->rules[i] = {rules_.binary[side->order[i]].score, rules_.binary[side->order[i]].parent};
    chains_.clear();
    std::vector<std::uint32_t> next = under_starts_;
    for (std::uint32_t place : unary_order_) {
        const UnaryRule& rule = rules_.unary[place];
        chains_.push_back({rule.parent, rule.score});
        under_[next[rule.parent]++] = {rule.child, rule.score, place};
    }
    next = made_starts_;
    for (const Side* side : {&by_right_, &by_left_})
        for (std::uint32_t place : side->order) {
            const BinaryRule& rule = rules_.binary[place];
            made_[next[rule.parent]++] = {rule.left, rule.right, rule.score, place};
        }
}

std::vector<State> good_order(std::size_t n_states, std::span<const BinaryRule> binary) {
    std::vector<bool> right = driven_by_right(n_states, binary);
    std::vector<bool> drives(n_states);
    std::vector<std::vector<State>> drivers(n_states);
    for (std::size_t i = 0; i < binary.size(); ++i) {
        State driver = right[i] ? binary[i].right : binary[i].left, mate = right[i] ? binary[i].left : binary[i].right;
        drives[driver] = true;
        drivers[mate].push_back(driver);
    }
    for (std::vector<State>& of_mate : drivers) std::sort(of_mate.begin(), of_mate.end());
    std::vector<State> order(n_states), number(n_states);
    std::iota(order.begin(), order.end(), State{0});
    std::stable_sort(order.begin(), order.end(), [&](State a, State b) {
        if (drives[a] != drives[b]) return static_cast<bool>(drives[a]);
        return !drives[a] && drivers[a] < drivers[b];
    });
    for (std::size_t i = 0; i < n_states; ++i) number[order[i]] = static_cast<State>(i);
    return number;
}

Closure close_unary(std::size_t n_states, std::span<const UnaryRule> rules) {
    // Each added rule joins the chains that end above it with those that begin below it.
    struct Chain {
        float score;
        std::vector<std::uint32_t> rules;
    };
    std::vector<std::map<State, Chain>> below(n_states);  // by parent and child
    std::vector<std::vector<State>> parents(n_states);    // by child
    auto relax = [&](State parent, State child, float score, const std::vector<std::uint32_t>& upper,
                     std::uint32_t rule, const std::vector<std::uint32_t>& lower) {
        if (parent == child) return false;
        auto [entry, added] = below[parent].try_emplace(child, Chain{kNever, {}});
        if (added) parents[child].push_back(parent);
        if (!added && score <= entry->second.score) return false;
        Chain chain{score, upper};
        chain.rules.push_back(rule);
        chain.rules.insert(chain.rules.end(), lower.begin(), lower.end());
        entry->second = std::move(chain);
        return true;
    };
    for (std::uint32_t i = 0; i < rules.size(); ++i) {
        const auto [top, bottom, score] = rules[i];
        if (!relax(top, bottom, score, {}, i, {})) continue;  // a better chain and its extensions are known
        const std::vector<State> uppers = parents[top];
        const std::map<State, Chain> lowers = below[bottom];
        for (const auto& [lowest, lower] : lowers) relax(top, lowest, lower.score + score, {}, i, lower.rules);
        for (State highest : uppers) {
            const Chain upper = below[highest].at(top);
            relax(highest, bottom, upper.score + score, upper.rules, i, {});
            for (const auto& [lowest, lower] : lowers)
                relax(highest, lowest, upper.score + lower.score + score, upper.rules, i, lower.rules);
        }
    }
    Closure closure;
    for (std::size_t child = 0; child < n_states; ++child) {
        std::sort(parents[child].begin(), parents[child].end());
        for (State parent : parents[child]) {
            Chain& chain = below[parent].at(static_cast<State>(child));
            closure.rules.push_back({parent, static_cast<State>(child), chain.score});
            closure.chains.push_back(std::move(chain.rules));
        }
    }
    return closure;
}

}  // namespace captious::parsing
