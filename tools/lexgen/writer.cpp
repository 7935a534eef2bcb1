// Tables as C++.
#include "writer.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

namespace lexgen {
namespace {

template <typename Values>
void write_array(std::ostream& out, const std::string& type, const std::string& name, const Values& values) {
    out << "inline constexpr " << type << " " << name << "[] = {";
    for (std::size_t i = 0; i < values.size(); ++i) out << (i % 24 == 0 ? "\n" : "") << values[i] << ",";
    out << "\n};\n";
}

void write_dfa(std::ostream& out, const std::string& name, const Dfa& dfa, int stride) {
    if (dfa.next.size() > 65535) throw std::runtime_error("more than 65,535 states");
    std::vector<int> flat;
    for (auto row : dfa.next) {
        row.resize(stride, 0);
        flat.insert(flat.end(), row.begin(), row.end());
    }
    write_array(out, "std::uint16_t", name + "_next", flat);
    write_array(out, "std::uint8_t", name + "_accept", dfa.accept);
}

// Character classes as pages of 256, most of which are alike.
void write_classes(std::ostream& out, const CharClasses& classes) {
    std::vector<int> page_of, pages;
    std::map<std::vector<int>, int> page_numbers;
    for (int page = 0; page < kCodePoints / 256; ++page) {
        std::vector<int> content(classes.of.begin() + page * 256, classes.of.begin() + (page + 1) * 256);
        auto [it, fresh] = page_numbers.try_emplace(content, page_numbers.size());
        if (fresh) pages.insert(pages.end(), content.begin(), content.end());
        page_of.push_back(it->second);
    }
    write_array(out, "std::uint8_t", "kPageOf", page_of);
    write_array(out, "std::uint16_t", "kPages", pages);
}

void write_actions(std::ostream& out, const std::vector<LexerRule>& rules) {
    std::set<std::string> actions;
    for (const LexerRule& rule : rules) actions.insert(rule.action);
    out << "enum class Action : std::uint8_t {";
    for (const std::string& name : actions) out << " " << name << ",";
    out << " };\n";
}

void write_rules(std::ostream& out, const std::vector<LexerRule>& rules, int stride) {
    out << "struct LexRule { Action action; const std::uint16_t* head_next; const std::uint8_t* head_accept; "
           "const std::uint16_t* tail_next; const std::uint8_t* tail_accept; };\n";
    std::ostringstream table;
    for (std::size_t r = 0; r < rules.size(); ++r) {
        table << "  {Action::" << rules[r].action;
        if (rules[r].look_ahead) {
            std::string name = "kRule" + std::to_string(r + 1);
            write_dfa(out, name + "Head", rules[r].look_ahead->head, stride);
            write_dfa(out, name + "Tail", rules[r].look_ahead->tail, stride);
            table << ", " << name << "Head_next, " << name << "Head_accept, " << name << "Tail_next, " << name
                  << "Tail_accept},\n";
        } else {
            table << ", nullptr, nullptr, nullptr, nullptr},\n";
        }
    }
    out << "inline constexpr LexRule kRules[] = {\n" << table.str() << "};\n";
}

}  // namespace

void write_lexer(std::ostream& out, const Lexer& lexer) {
    out << "// Made by lexgen from the rules files; do not edit.\n"
           "#pragma once\n#include <cstdint>\nnamespace captious::ptb {\n";
    int stride = 1;  // a power of two, so that a row is found by a shift
    while (stride < lexer.classes.count) stride *= 2;
    out << "inline constexpr int kStride = " << stride << ";\n";
    write_dfa(out, "kMain", lexer.main, stride);
    write_classes(out, lexer.classes);
    write_actions(out, lexer.rules);
    write_rules(out, lexer.rules, stride);
    out << "}  // namespace captious::ptb\n";
}

}  // namespace lexgen
