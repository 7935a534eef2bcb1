// Rules and their patterns.
#include "parser.hpp"

#include <cctype>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace lexgen {
namespace {

[[noreturn]] void fail(int line, const std::string& what) {
    throw std::runtime_error("line " + std::to_string(line) + ": " + what);
}

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
        std::size_t from = at_;
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
                std::size_t after = ++at_;
                x = nfa_.then(x, nfa_.star(again(from, after)));
            } else if (c == '{' && at_ + 1 < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_ + 1]))) {
                std::size_t close = text_.find('}', at_);
                if (close == std::string::npos) fail(line_, "missing } in: " + text_);
                int low = 0, high = 0;
                std::string bounds = text_.substr(at_ + 1, close - at_ - 1);
                if (std::sscanf(bounds.c_str(), "%d,%d", &low, &high) != 2) {
                    low = high = std::stoi(bounds);
                }
                at_ = close + 1;
                std::size_t after = at_;
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

    Fragment again(std::size_t from, std::size_t after) {  // a second copy of the atom that starts at `from`
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
            std::size_t close = text_.find('}', at_);
            std::string name = text_.substr(at_ + 1, close - at_ - 1);
            at_ = close + 1;
            auto definition = definitions_.find(name);
            if (definition == definitions_.end()) fail(line_, "no definition of {" + name + "}");
            return PatternParser(nfa_, definitions_, definition->second, line_).parse();
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
            if (text_[at_] == '{' &&
                std::isalpha(static_cast<unsigned char>(text_[at_ + 1]))) {  // a definition that is itself one class
                std::size_t close = text_.find('}', at_);
                auto definition = definitions_.find(text_.substr(at_ + 1, close - at_ - 1));
                if (definition == definitions_.end()) fail(line_, "no definition for a class in: " + text_);
                CharSet inner = PatternParser(nfa_, definitions_, definition->second, line_).char_class();
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
    std::size_t at_ = 0;
};

// Cuts `text` at the first `mark` that stands outside quotes and classes; returns npos if there is none.
std::size_t find_outside(const std::string& text, char mark) {
    bool quoted = false, in_class = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
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
    std::size_t from = text.find_first_not_of(" \t\n");
    return from == std::string::npos ? "" : text.substr(from, text.find_last_not_of(" \t\n") - from + 1);
}

}  // namespace

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
        std::size_t colon = find_outside(text, ':'), equals = find_outside(text, '=');
        if (colon == std::string::npos && equals == std::string::npos) fail(number, "neither definition nor rule");
        if (equals < colon) {
            out.definitions[trimmed(text.substr(0, equals))] = trimmed(text.substr(equals + 1));
        } else {
            std::string pattern = text.substr(colon + 1);
            std::size_t slash = find_outside(pattern, '/');
            Rule rule{trimmed(text.substr(0, colon)), trimmed(pattern.substr(0, slash)), "", number};
            if (slash != std::string::npos) rule.tail = trimmed(pattern.substr(slash + 1));
            out.rules.push_back(rule);
        }
    }
}

Fragment parse_pattern(Nfa& nfa, const std::map<std::string, std::string>& definitions, const std::string& text,
                       int line) {
    return PatternParser(nfa, definitions, text, line).parse();
}

}  // namespace lexgen
