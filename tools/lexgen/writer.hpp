// Writes a lexer's automata as a C++ header of tables, which native/ptb/tokenizer.cpp runs.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "automaton.hpp"

namespace lexgen {

// A rule with look-ahead has automata of its two parts, which say where its token ends.
struct LookAhead {
    Dfa head;
    Dfa tail;
};

struct LexerRule {
    std::string action;
    std::optional<LookAhead> look_ahead;
};

struct Lexer {
    CharClasses classes;
    Dfa main;  // accepts the longest match of any rule, its look-ahead included
    std::vector<LexerRule> rules;
};

// Throws std::runtime_error if an automaton has more than 65,535 states.
void write_lexer(std::ostream& out, const Lexer& lexer);

}  // namespace lexgen
