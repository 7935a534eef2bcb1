// Reads files of lexer rules.
//
// A file holds definitions `NAME = pattern`, rules `action : pattern [/ look-ahead]` and `#` comments; an indented line
// continues the one before. Patterns ignore blanks between their parts and know
//   "text"    the characters, ASCII letters in either case     [a-z^...]  a character class, case matters
//   {NAME}    a definition                                     ( | ) * + ? {m,n}   as everywhere
// with the escapes \uXXXX \t \n \r \f \" \\ and, inside classes, \] \- \^.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "automaton.hpp"

namespace lexgen {

struct Rule {
    std::string action;
    std::string head;
    std::string tail;  // look-ahead, or empty
    int line;
};

struct RulesFile {
    std::map<std::string, std::string> definitions;
    std::vector<Rule> rules;
};

// Adds what a file says. Throws std::runtime_error, with the line, for what is not a rule.
void read_rules(const std::string& path, RulesFile& out);

// Adds a pattern to the NFA. Throws std::runtime_error, with the line of its rule, for what is not a pattern.
Fragment parse_pattern(Nfa& nfa, const std::map<std::string, std::string>& definitions, const std::string& text,
                       int line);

}  // namespace lexgen
