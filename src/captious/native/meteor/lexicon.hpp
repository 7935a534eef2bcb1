// METEOR's facts about each word of a vocabulary, computed once per distinct word.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "meteor/tables.hpp"

namespace captious::meteor {

// Words and stems are compared by the hash of Java's strings, as METEOR does it.
struct Word {
    std::int32_t hash, stem_hash;
    std::uint32_t number;  // in the tables, or kNoWord
    std::uint32_t first_synset, last_synset;
    std::array<std::uint64_t, 4> synset_bits;  // of the sets' hashes: words without a common bit have no common set
    bool is_function_word;
};

class Lexicon {
public:
    explicit Lexicon(const TableArrays& arrays) : tables_(arrays) {}

    const Tables& tables() const { return tables_; }
    std::size_t size() const { return words_.size(); }
    const Word& operator[](std::size_t id) const { return words_[id]; }

    // The next word of the vocabulary and its stem.
    void learn(std::string_view word, std::string_view stem);
    // Adds the next word from facts learned earlier with the same tables. Throws std::invalid_argument for facts that
    // they lack.
    void restore(Word word, std::span<const std::int32_t> synsets);

    std::span<const std::int32_t> synsets(const Word& word) const {
        return {synsets_.data() + word.first_synset, synsets_.data() + word.last_synset};
    }
    bool are_synonyms(const Word& a, const Word& b) const {
        std::uint64_t common = 0;
        for (std::size_t k = 0; k < a.synset_bits.size(); ++k) common |= a.synset_bits[k] & b.synset_bits[k];
        return common != 0 && share_a_synset(a, b);
    }

private:
    void add(Word word);
    bool share_a_synset(const Word& a, const Word& b) const;

    Tables tables_;
    std::vector<Word> words_;
    std::vector<std::int32_t> synsets_;
};

}  // namespace captious::meteor
