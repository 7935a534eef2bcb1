// The PTB tokenizer: one caption in, its lower-cased Penn Treebank tokens out.
//
// The rules are in english.lex; this is the automaton that runs them and the normalization of each kind of token.
// A caption is tokenized alone, and a line break or control character in it counts as a space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "interrupt.hpp"

namespace captious::ptb {

// Tokens of one caption, back to back in a buffer that is reused for the next caption.
struct TokenBuffer {
    std::string text;
    std::vector<std::uint32_t> ends;
    Pulse pulse;

    void clear() {
        text.clear();
        ends.clear();
    }
    std::size_t size() const { return ends.size(); }
    std::string_view operator[](std::size_t i) const {
        std::size_t from = i == 0 ? 0 : ends[i - 1];
        return std::string_view(text).substr(from, ends[i] - from);
    }
};

// Replaces the content of `tokens` with the tokens of `caption` (valid UTF-8), punctuation included.
void tokenize(std::string_view caption, TokenBuffer& tokens);

// Whether the COCO caption harness drops this (lower-cased) token. Its list names -LRB- and its like in upper case,
// so brackets, which are lower-cased before the filter, are never dropped.
bool is_dropped_punctuation(std::string_view token);

}  // namespace captious::ptb
