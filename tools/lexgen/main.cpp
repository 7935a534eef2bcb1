// Build-time program: turns files of lexer rules into a C++ header of finite-automaton tables.
//
//   lexgen OUT.inc RULES.lex...
//
// At every position the rule with the longest match wins, its look-ahead included; among equals, the first.

#include <cstddef>
#include <exception>
#include <fstream>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "automaton.hpp"
#include "parser.hpp"
#include "writer.hpp"

namespace {

using namespace lexgen;

// The NFA of all rules, and for a rule with look-ahead where its parts begin.
struct RulesNfa {
    struct Parts {
        int head;
        int tail;
    };
    Nfa nfa;
    int start;
    std::vector<std::optional<Parts>> parts;
};

RulesNfa nfa_of(const RulesFile& file) {
    if (file.rules.size() > 255) throw std::runtime_error("more than 255 rules");
    RulesNfa all;
    Nfa& nfa = all.nfa;
    auto pattern = [&](const std::string& text, int line) { return parse_pattern(nfa, file.definitions, text, line); };
    int chain = all.start = nfa.node();
    for (const Rule& rule : file.rules) {
        Fragment whole = pattern(rule.head, rule.line);
        all.parts.emplace_back();
        if (!rule.tail.empty()) {
            whole = nfa.then(whole, pattern(rule.tail, rule.line));
            Fragment head = pattern(rule.head, rule.line), tail = pattern(rule.tail, rule.line);
            nfa.nodes[head.last].accept = nfa.nodes[tail.last].accept = 1;
            all.parts.back() = {head.first, tail.first};
        }
        nfa.nodes[whole.last].accept = static_cast<int>(all.parts.size());
        nfa.nodes[chain].out1 = whole.first;
        int next = nfa.node();
        chain = nfa.nodes[chain].out2 = next;
    }
    return all;
}

Lexer lexer_of(const RulesFile& file) {
    RulesNfa all = nfa_of(file);
    Lexer lexer;
    lexer.classes = partition(all.nfa.sets);
    lexer.main = minimal_dfa(all.nfa, all.start, lexer.classes);
    for (std::size_t r = 0; r < file.rules.size(); ++r) {
        lexer.rules.push_back({file.rules[r].action, std::nullopt});
        if (auto parts = all.parts[r])
            lexer.rules.back().look_ahead = {minimal_dfa(all.nfa, parts->head, lexer.classes),
                                             minimal_dfa(all.nfa, parts->tail, lexer.classes)};
    }
    return lexer;
}

int run(const std::string& out_path, const std::vector<std::string>& rules_paths) {
    RulesFile file;
    for (const std::string& path : rules_paths) read_rules(path, file);
    Lexer lexer = lexer_of(file);
    std::ofstream out(out_path);
    write_lexer(out, lexer);
    out.close();
    if (!out) throw std::runtime_error("cannot write " + out_path);
    std::cout << "lexgen: " << lexer.rules.size() << " rules, " << lexer.classes.count << " character classes, "
              << lexer.main.next.size() << " states\n";
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::cerr << "usage: lexgen OUT.inc RULES.lex...\n";
        return 2;
    }
    try {
        return run(argv[1], {argv + 2, argv + argc});
    } catch (const std::exception& error) {
        std::cerr << "lexgen: " << error.what() << "\n";
        return 1;
    }
}
