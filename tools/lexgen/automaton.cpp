// Subset construction and partition refinement.
#include "automaton.hpp"

#include <cstddef>
#include <set>

namespace lexgen {
namespace {

Dfa determinize(const Nfa& nfa, int start, const CharClasses& classes) {
    auto closure = [&](std::vector<int> states) {
        std::set<int> all;
        while (!states.empty()) {
            int s = states.back();
            states.pop_back();
            if (s < 0 || !all.insert(s).second) continue;
            if (nfa.nodes[s].set < 0) {
                states.push_back(nfa.nodes[s].out1);
                states.push_back(nfa.nodes[s].out2);
            }
        }
        std::vector<int> kept;  // only nodes that consume or accept tell states apart
        for (int s : all)
            if (nfa.nodes[s].set >= 0 || nfa.nodes[s].accept) kept.push_back(s);
        return kept;
    };
    Dfa dfa;
    std::map<std::vector<int>, int> numbers;
    std::vector<std::vector<int>> members;
    auto number = [&](const std::vector<int>& set) {
        auto [it, fresh] = numbers.try_emplace(set, static_cast<int>(members.size()));
        if (fresh) members.push_back(set);
        return it->second;
    };
    number({});
    number(closure({start}));
    for (std::size_t state = 0; state < members.size(); ++state) {
        std::vector<int> here = members[state];
        int accept = 0;
        for (int s : here)
            if (int rule = nfa.nodes[s].accept; rule && (!accept || rule < accept)) accept = rule;
        dfa.accept.push_back(accept);
        std::vector<int> row(classes.count, 0);
        for (int c = 1; c < classes.count; ++c) {
            std::vector<int> targets;
            for (int s : here)
                if (nfa.nodes[s].set >= 0 && nfa.sets[nfa.nodes[s].set][classes.representative[c]])
                    targets.push_back(nfa.nodes[s].out1);
            if (!targets.empty()) row[c] = number(closure(targets));
        }
        dfa.next.push_back(row);
    }
    return dfa;
}

Dfa minimize(const Dfa& dfa) {
    std::size_t n = dfa.next.size();
    std::vector<int> block(n);
    std::map<int, int> by_accept;
    for (std::size_t s = 0; s < n; ++s) block[s] = by_accept.try_emplace(dfa.accept[s], by_accept.size()).first->second;
    for (std::size_t count = by_accept.size();;) {
        std::map<std::vector<int>, int> signatures;
        std::vector<int> refined(n);
        for (std::size_t s = 0; s < n; ++s) {
            std::vector<int> signature{block[s]};
            for (int target : dfa.next[s]) signature.push_back(block[target]);
            refined[s] = signatures.try_emplace(signature, signatures.size()).first->second;
        }
        block = refined;
        if (signatures.size() == count) break;
        count = signatures.size();
    }
    Dfa small;
    std::map<int, int> renumbered;  // in order of first state, so that dead and start stay 0 and 1
    std::vector<std::size_t> first;
    for (std::size_t s = 0; s < n; ++s)
        if (renumbered.try_emplace(block[s], renumbered.size()).second) first.push_back(s);
    for (std::size_t s : first) {
        small.accept.push_back(dfa.accept[s]);
        std::vector<int> row;
        for (int target : dfa.next[s]) row.push_back(renumbered[block[target]]);
        small.next.push_back(row);
    }
    return small;
}

}  // namespace

CharClasses partition(const std::vector<CharSet>& sets) {
    CharClasses classes;
    classes.of.resize(kCodePoints);
    classes.representative = {-1};
    std::map<std::vector<bool>, int> class_of;
    for (int c = 0; c < kCodePoints; ++c) {
        std::vector<bool> membership(sets.size());
        for (std::size_t s = 0; s < sets.size(); ++s) membership[s] = sets[s][c];
        auto [it, fresh] = class_of.try_emplace(membership, classes.count);
        if (fresh) {
            ++classes.count;
            classes.representative.push_back(c);
        }
        classes.of[c] = it->second;
    }
    return classes;
}

Dfa minimal_dfa(const Nfa& nfa, int start, const CharClasses& classes) {
    return minimize(determinize(nfa, start, classes));
}

}  // namespace lexgen
