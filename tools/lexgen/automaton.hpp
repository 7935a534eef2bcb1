// Finite automata over the characters of the basic plane: non-deterministic ones, deterministic ones, minimal ones.
//
// The method is the textbook's (Aho, Sethi and Ullman, chapter 3): pattern -> NFA (Thompson) -> DFA (subset
// construction) -> minimal DFA (Moore's partition refinement), over classes of characters that no pattern tells apart.
#pragma once

#include <map>
#include <vector>

namespace lexgen {

constexpr int kCodePoints = 0x10000;  // the basic plane; everything above it is one character class of its own

using CharSet = std::vector<bool>;  // kCodePoints entries

struct Node {  // of the NFA: either one edge over a character set, or up to two empty edges
    int set = -1;
    int out1 = -1;
    int out2 = -1;
    int accept = 0;  // rule number from 1, or 0
};

struct Fragment {
    int first;
    int last;
};

// Grows by fragments, each with one first and one last node.
class Nfa {
public:
    std::vector<Node> nodes;
    std::vector<CharSet> sets;

    int node() {
        nodes.emplace_back();
        return static_cast<int>(nodes.size()) - 1;
    }

    Fragment empty() {
        int a = node(), b = node();
        nodes[a].out1 = b;
        return {a, b};
    }

    Fragment over(const CharSet& set) {
        auto [it, fresh] = set_ids_.try_emplace(set, static_cast<int>(sets.size()));
        if (fresh) sets.push_back(set);
        int a = node(), b = node();
        nodes[a].set = it->second;
        nodes[a].out1 = b;
        return {a, b};
    }

    Fragment then(Fragment x, Fragment y) {
        nodes[x.last].out1 = y.first;
        return {x.first, y.last};
    }

    Fragment either(Fragment x, Fragment y) {
        int a = node(), b = node();
        nodes[a].out1 = x.first;
        nodes[a].out2 = y.first;
        nodes[x.last].out1 = b;
        nodes[y.last].out1 = b;
        return {a, b};
    }

    Fragment star(Fragment x) {
        int a = node(), b = node();
        nodes[a].out1 = x.first;
        nodes[a].out2 = b;
        nodes[x.last].out1 = x.first;
        nodes[x.last].out2 = b;
        return {a, b};
    }

private:
    std::map<CharSet, int> set_ids_;
};

// Characters that no pattern tells apart share a class; class 0 is what lies above the basic plane.
struct CharClasses {
    std::vector<int> of;              // [kCodePoints]
    std::vector<int> representative;  // [count]
    int count = 1;
};

CharClasses partition(const std::vector<CharSet>& sets);

struct Dfa {
    std::vector<std::vector<int>> next;  // [state][class]; state 0 is dead, state 1 the start
    std::vector<int> accept;             // rule number, or 0
};

// The smallest automaton that accepts what the NFA accepts from `start` on; of several rules, the first.
Dfa minimal_dfa(const Nfa& nfa, int start, const CharClasses& classes);

}  // namespace lexgen
