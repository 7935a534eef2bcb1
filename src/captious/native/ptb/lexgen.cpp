// Build-time program: turns a file of lexer rules into a C++ header of finite-automaton tables.
//
//   lexgen OUT.inc RULES.lex...
//
// A rules file holds definitions `NAME = pattern`, rules `action : pattern [/ look-ahead]` and `#` comments; an
// indented line continues the one before. Patterns ignore blanks between their parts and know
//   "text"    the characters, ASCII letters in either case     [a-z^...]  a character class, case matters
//   {NAME}    a definition                                     ( | ) * + ? {m,n}   as everywhere
// with the escapes \uXXXX \t \n \" \\ and, inside classes, \] \- \^.
// At every position the rule with the longest match wins, its look-ahead included; among equals, the first.
//
// The method is the textbook's (Aho, Sethi and Ullman, chapter 3): pattern -> NFA (Thompson) -> DFA (subset
// construction) -> minimal DFA (Moore's partition refinement), over classes of characters that no pattern tells apart.

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

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

struct Rule {
    std::string action;
    std::string head;
    std::string tail;  // look-ahead, or empty
    int line;
};

[[noreturn]] void fail(int line, const std::string& what) {
    throw std::runtime_error("line " + std::to_string(line) + ": " + what);
}

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

class PatternParser {
public:
    PatternParser(Nfa& nfa, const std::map<std::string, std::string>& definitions, const std::string& text, int line)
        : nfa_(nfa), definitions_(definitions), text_(text), line_(line) {}

    Fragment parse() {
        Fragment whole = alternatives();
        if (at_ != text_.size()) fail(line_, "unexpected '" + text_.substr(at_, 10) + "' in pattern: " + text_);
        return whole;
    }

private:
    void skip_blanks() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
    }

    Fragment alternatives() {
        Fragment left = sequence();
        for (skip_blanks(); at_ < text_.size() && text_[at_] == '|'; skip_blanks()) {
            ++at_;
            left = nfa_.either(left, sequence());
        }
        return left;
    }

    Fragment sequence() {
        Fragment left = nfa_.empty();
        for (skip_blanks(); at_ < text_.size() && text_[at_] != '|' && text_[at_] != ')'; skip_blanks())
            left = nfa_.then(left, repeated());
        return left;
    }

    Fragment repeated() {
        size_t from = at_;
        Fragment x = atom();
        for (;;) {
            skip_blanks();
            if (at_ >= text_.size()) return x;
            char c = text_[at_];
            if (c == '*') {
                ++at_;
                x = nfa_.star(x);
            } else if (c == '?') {
                ++at_;
                x = nfa_.either(x, nfa_.empty());
            } else if (c == '+') {
                size_t after = ++at_;
                x = nfa_.then(x, nfa_.star(again(from, after)));
            } else if (c == '{' && at_ + 1 < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_ + 1]))) {
                size_t close = text_.find('}', at_);
                if (close == std::string::npos) fail(line_, "missing } in: " + text_);
                int low = 0, high = 0;
                std::string bounds = text_.substr(at_ + 1, close - at_ - 1);
                if (std::sscanf(bounds.c_str(), "%d,%d", &low, &high) != 2) {
                    low = high = std::stoi(bounds);
                }
                at_ = close + 1;
                size_t after = at_;
                Fragment counted = nfa_.empty();
                for (int i = 0; i < high; ++i) {
                    Fragment copy = again(from, after);
                    counted = nfa_.then(counted, i < low ? copy : nfa_.either(copy, nfa_.empty()));
                }
                x = counted;
            } else {
                return x;
            }
        }
    }

    Fragment again(size_t from, size_t after) {  // a second copy of the atom that starts at `from`
        at_ = from;
        Fragment x = atom();
        at_ = after;
        return x;
    }

    Fragment atom() {
        skip_blanks();
        char c = text_[at_];
        if (c == '(') {
            ++at_;
            Fragment x = alternatives();
            if (at_ >= text_.size() || text_[at_] != ')') fail(line_, "missing ) in: " + text_);
            ++at_;
            return x;
        }
        if (c == '{') {
            size_t close = text_.find('}', at_);
            std::string name = text_.substr(at_ + 1, close - at_ - 1);
            at_ = close + 1;
            auto found = definitions_.find(name);
            if (found == definitions_.end()) fail(line_, "no definition of {" + name + "}");
            return PatternParser(nfa_, definitions_, found->second, line_).parse();
        }
        if (c == '"') return literal();
        if (c == '[') return nfa_.over(char_class());
        fail(line_, std::string("unexpected '") + c + "' in pattern: " + text_);
    }

    Fragment literal() {
        Fragment x = nfa_.empty();
        for (++at_; at_ < text_.size() && text_[at_] != '"';) {
            int c = character();
            CharSet set(kCodePoints);
            set[c] = true;
            if (c < 128 && std::isalpha(c)) {
                set[std::tolower(c)] = true;
                set[std::toupper(c)] = true;
            }
            x = nfa_.then(x, nfa_.over(set));
        }
        if (at_ >= text_.size()) fail(line_, "missing \" in: " + text_);
        ++at_;
        return x;
    }

    CharSet char_class() {
        CharSet set(kCodePoints);
        ++at_;
        bool negated = text_[at_] == '^';
        if (negated) ++at_;
        while (at_ < text_.size() && text_[at_] != ']') {
            if (text_[at_] == ' ' || text_[at_] == '\n') {  // blanks only lay out the file; the space is \u0020
                ++at_;
                continue;
            }
            if (text_[at_] == '{' && std::isalpha(static_cast<unsigned char>(text_[at_ + 1]))) {  // a definition that is itself one class
                size_t close = text_.find('}', at_);
                auto found = definitions_.find(text_.substr(at_ + 1, close - at_ - 1));
                if (found == definitions_.end()) fail(line_, "no definition for a class in: " + text_);
                CharSet inner = PatternParser(nfa_, definitions_, found->second, line_).char_class();
                for (int i = 0; i < kCodePoints; ++i)
                    if (inner[i]) set[i] = true;
                at_ = close + 1;
                continue;
            }
            int low = character(), high = low;
            if (text_[at_] == '-' && at_ + 1 < text_.size() && text_[at_ + 1] != ']') {
                ++at_;
                high = character();
            }
            for (int c = low; c <= high; ++c) set[c] = true;
        }
        if (at_ >= text_.size()) fail(line_, "missing ] in: " + text_);
        ++at_;
        if (negated) set.flip();
        return set;
    }

    int character() {
        auto byte = static_cast<unsigned char>(text_[at_++]);
        if (byte >= 128) fail(line_, "rules are ASCII: write \\uXXXX");
        if (byte != '\\') return byte;
        char escaped = text_[at_++];
        if (escaped == 'u') {
            int code = std::stoi(text_.substr(at_, 4), nullptr, 16);
            at_ += 4;
            return code;
        }
        if (escaped == 't') return '\t';
        if (escaped == 'n') return '\n';
        if (escaped == 'r') return '\r';
        if (escaped == 'f') return '\f';
        return escaped;
    }

    Nfa& nfa_;
    const std::map<std::string, std::string>& definitions_;
    const std::string& text_;
    int line_;
    size_t at_ = 0;
};

// Characters that no pattern tells apart share a class; class 0 is what lies above the basic plane.
struct CharClasses {
    std::vector<int> of;               // [kCodePoints]
    std::vector<int> representative;   // [count]
    int count = 1;
};

CharClasses partition(const std::vector<CharSet>& sets) {
    CharClasses classes;
    classes.of.resize(kCodePoints);
    classes.representative = {-1};
    std::map<std::vector<bool>, int> seen;
    for (int c = 0; c < kCodePoints; ++c) {
        std::vector<bool> membership(sets.size());
        for (size_t s = 0; s < sets.size(); ++s) membership[s] = sets[s][c];
        auto [it, fresh] = seen.try_emplace(membership, classes.count);
        if (fresh) {
            ++classes.count;
            classes.representative.push_back(c);
        }
        classes.of[c] = it->second;
    }
    return classes;
}

struct Dfa {
    std::vector<std::vector<int>> next;  // [state][class]; state 0 is dead, state 1 the start
    std::vector<int> accept;             // rule number, or 0
};

Dfa determinise(const Nfa& nfa, int start, const CharClasses& classes) {
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
    for (size_t state = 0; state < members.size(); ++state) {
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

Dfa minimise(const Dfa& dfa) {
    size_t n = dfa.next.size();
    std::vector<int> block(n);
    std::map<int, int> by_accept;
    for (size_t s = 0; s < n; ++s) block[s] = by_accept.try_emplace(dfa.accept[s], by_accept.size()).first->second;
    for (size_t count = by_accept.size();;) {
        std::map<std::vector<int>, int> signatures;
        std::vector<int> refined(n);
        for (size_t s = 0; s < n; ++s) {
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
    std::vector<size_t> first;
    for (size_t s = 0; s < n; ++s)
        if (renumbered.try_emplace(block[s], renumbered.size()).second) first.push_back(s);
    for (size_t s : first) {
        small.accept.push_back(dfa.accept[s]);
        std::vector<int> row;
        for (int target : dfa.next[s]) row.push_back(renumbered[block[target]]);
        small.next.push_back(row);
    }
    return small;
}

struct RulesFile {
    std::map<std::string, std::string> definitions;
    std::vector<Rule> rules;
};

// Cuts `text` at the first `mark` that stands outside quotes and classes; returns npos if there is none.
size_t find_outside(const std::string& text, char mark) {
    bool quoted = false, in_class = false;
    for (size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (c == '\\') {
            ++i;
        } else if (quoted) {
            quoted = c != '"';
        } else if (in_class) {
            in_class = c != ']';
        } else if (c == '"') {
            quoted = true;
        } else if (c == '[') {
            in_class = true;
        } else if (c == mark) {
            return i;
        }
    }
    return std::string::npos;
}

std::string trimmed(const std::string& text) {
    size_t from = text.find_first_not_of(" \t\n");
    return from == std::string::npos ? "" : text.substr(from, text.find_last_not_of(" \t\n") - from + 1);
}

void read_rules(const std::string& path, RulesFile& out) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path);
    std::vector<std::pair<int, std::string>> statements;
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
        line = line.substr(0, find_outside(line, '#'));
        if (trimmed(line).empty()) continue;
        if (line[0] == ' ' || line[0] == '\t') {
            if (statements.empty()) fail(number, "a continuation of nothing");
            statements.back().second += "\n" + line;
        } else {
            statements.emplace_back(number, line);
        }
    }
    for (auto& [number, text] : statements) {
        size_t colon = find_outside(text, ':'), equals = find_outside(text, '=');
        if (colon == std::string::npos && equals == std::string::npos) fail(number, "neither definition nor rule");
        if (equals < colon) {
            out.definitions[trimmed(text.substr(0, equals))] = trimmed(text.substr(equals + 1));
        } else {
            std::string pattern = text.substr(colon + 1);
            size_t slash = find_outside(pattern, '/');
            Rule rule{trimmed(text.substr(0, colon)), trimmed(pattern.substr(0, slash)), "", number};
            if (slash != std::string::npos) rule.tail = trimmed(pattern.substr(slash + 1));
            out.rules.push_back(rule);
        }
    }
}

template <typename Values>
void write_array(std::ostream& out, const std::string& type, const std::string& name, const Values& values) {
    out << "inline constexpr " << type << " " << name << "[] = {";
    for (size_t i = 0; i < values.size(); ++i) out << (i % 24 == 0 ? "\n" : "") << values[i] << ",";
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

int run(const std::string& out_path, const std::vector<std::string>& rules_paths) {
    RulesFile file;
    for (const std::string& path : rules_paths) read_rules(path, file);
    if (file.rules.size() > 255) throw std::runtime_error("more than 255 rules");
    Nfa nfa;
    auto pattern = [&](const std::string& text, int line) {
        return PatternParser(nfa, file.definitions, text, line).parse();
    };

    int start = nfa.node();
    std::vector<std::pair<int, int>> heads(file.rules.size(), {-1, -1});  // NFA starts of head and tail, if a look-ahead
    int chain = start;
    for (size_t r = 0; r < file.rules.size(); ++r) {
        const Rule& rule = file.rules[r];
        Fragment whole = pattern(rule.head, rule.line);
        if (!rule.tail.empty()) {
            whole = nfa.then(whole, pattern(rule.tail, rule.line));
            Fragment head = pattern(rule.head, rule.line), tail = pattern(rule.tail, rule.line);
            nfa.nodes[head.last].accept = nfa.nodes[tail.last].accept = 1;
            heads[r] = {head.first, tail.first};
        }
        nfa.nodes[whole.last].accept = static_cast<int>(r) + 1;
        nfa.nodes[chain].out1 = whole.first;
        chain = nfa.nodes[chain].out2 = nfa.node();
    }

    CharClasses classes = partition(nfa.sets);
    std::ofstream out(out_path);
    out << "// Made by lexgen from the rules files; do not edit.\n#pragma once\n#include <cstdint>\nnamespace captious::ptb {\n";
    int stride = 1;  // a power of two, so that a row is found by a shift
    while (stride < classes.count) stride *= 2;
    out << "inline constexpr int kStride = " << stride << ";\n";

    Dfa main_dfa = minimise(determinise(nfa, start, classes));
    write_dfa(out, "kMain", main_dfa, stride);

    // Character classes as pages of 256, most of which are alike.
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

    std::map<std::string, int> actions;  // in order of name
    for (const Rule& rule : file.rules) actions[rule.action];
    int next_action = 0;
    out << "enum class Action : std::uint8_t {";
    for (auto& [name, number] : actions) {
        number = next_action++;
        out << " " << name << ",";
    }
    out << " };\n";
    out << "struct LexRule { Action action; const std::uint16_t* head_next; const std::uint8_t* head_accept; "
           "const std::uint16_t* tail_next; const std::uint8_t* tail_accept; };\n";
    std::ostringstream table;
    for (size_t r = 0; r < file.rules.size(); ++r) {
        table << "  {Action::" << file.rules[r].action;
        if (heads[r].first >= 0) {
            std::string name = "kRule" + std::to_string(r + 1);
            write_dfa(out, name + "Head", minimise(determinise(nfa, heads[r].first, classes)), stride);
            write_dfa(out, name + "Tail", minimise(determinise(nfa, heads[r].second, classes)), stride);
            table << ", " << name << "Head_next, " << name << "Head_accept, " << name << "Tail_next, " << name
                  << "Tail_accept},\n";
        } else {
            table << ", nullptr, nullptr, nullptr, nullptr},\n";
        }
    }
    out << "inline constexpr LexRule kRules[] = {\n" << table.str() << "};\n}  // namespace captious::ptb\n";
    std::cout << "lexgen: " << file.rules.size() << " rules, " << classes.count << " character classes, "
              << main_dfa.next.size() << " states\n";
    return out ? 0 : 1;
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
