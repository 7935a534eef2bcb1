// Words and their ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokens.hpp"

namespace captious::vocabulary {

// Rules that split a caption into tokens.
enum class TokenizerRule {
    kPtb,         // Penn Treebank tokens, lower-cased, without the punctuation that the COCO harness drops
    kPtbRaw,      // with punctuation
    kWhitespace,  // pieces between Unicode white space, like Python's str.split()
    kSpaces,      // pieces between single spaces, empty ones too, like Python's str.split(" ")
};

// A set of words numbered in order of insertion. Words are never removed.
class Vocabulary {
public:
    static constexpr std::int32_t kUnknown = -1;

    std::size_t size() const { return ends_.size(); }
    std::string_view word(std::size_t id) const {
        std::size_t from = id == 0 ? 0 : ends_[id - 1];
        return std::string_view(text_).substr(from, ends_[id] - from);
    }
    std::int32_t find(std::string_view word) const;  // its id, or kUnknown
    std::int32_t add(std::string_view word);         // its id, new or not

    // Tokenizes captions and adds their words, numbered by first occurrence whatever the number of threads.
    FlatTokens encode(const std::vector<std::string_view>& captions, TokenizerRule rule, int threads);

    // For each of these words, its id in `other`, or kUnknown.
    std::vector<std::int32_t> ids_in(const Vocabulary& other) const;

    // Ids of words that are empty or contain white space, which Python's str.split() would split again.
    std::vector<std::int32_t> divisible() const;

    // Words of captions, with tokens split again at white space. None is added: an unknown word gets an id from
    // size() on, and counting starts over in every caption.
    FlatTokens lookup(const std::vector<std::string_view>& captions, TokenizerRule rule, int threads) const;

private:
    std::size_t slot_of(std::string_view word, std::uint64_t hash) const;
    void grow();

    struct Slot {
        std::uint32_t word = 0;  // its id + 1, or 0
        std::uint32_t tag = 0;   // upper half of its hash, so that only the right word is compared
    };

    std::string text_;  // of all words, back to back
    std::vector<std::size_t> ends_;
    std::vector<Slot> slots_ = std::vector<Slot>(256);
};

}  // namespace captious::vocabulary
