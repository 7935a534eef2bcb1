// METEOR's word lists as one set of read-only arrays: synonyms, inflections, function words, paraphrases.
//
// compiler.cpp makes the arrays from the published files; they are stored in a memory-mapped file, so opening
// them costs nothing and only the accessed parts are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace captious::meteor {

// The arrays, under their names in the index file. Words are numbered; those in paraphrases
// come first, so that 16 bits suffice for them. Phrases are the nodes of a tree of words, children of a node next to
// each other and sorted by word; node 0 is the root.
struct TableArrays {
    std::span<const std::uint8_t> word_text;       // all words, back to back
    std::span<const std::uint32_t> word_ends;      // [n_words]
    std::span<const std::uint32_t> word_slots;     // hash table: word + 1, or 0
    std::span<const std::uint8_t> function_words;  // [n_words], 1 for a function word
    std::span<const std::uint32_t> synset_starts;  // [n_words + 1], into synsets
    std::span<const std::int32_t> synsets;         // of each word, sorted
    std::span<const std::uint32_t> base_starts;    // [n_words + 1], into bases
    std::span<const std::uint32_t> bases;          // words that an irregular form comes from
    std::span<const std::uint16_t> node_words;     // [n_nodes]
    std::span<const std::uint32_t> node_children;  // [n_nodes + 1], first child of each node
    std::span<const std::uint32_t> node_targets;   // [n_nodes + 1], into targets
    std::span<const std::uint16_t> targets;        // paraphrases of a node in published order: length, words
};

constexpr std::uint32_t kNoWord = 0xFFFFFFFF;
constexpr std::uint32_t kNoNode = 0;         // the root is not a phrase
constexpr std::size_t kLongestPhrase = 255;  // words of a phrase or paraphrase

class Tables {
public:
    // Throws std::invalid_argument for arrays that do not fit each other.
    explicit Tables(const TableArrays& arrays);

    std::size_t n_words() const { return arrays_.word_ends.size(); }
    std::uint32_t find(std::string_view word) const;  // its number, or kNoWord
    bool is_function_word(std::uint32_t word) const { return arrays_.function_words[word] != 0; }

    // Appends the synonym sets that a word belongs to, sorted and each once: those of the word as it stands, and those
    // of the words that it is an inflection of.
    void add_synsets(std::string_view word, std::vector<std::int32_t>& out) const;

    // The node of the phrase at `node` followed by `word`, or kNoNode.
    std::uint32_t child(std::uint32_t node, std::uint32_t word) const;
    // Whether the phrase that ends at a node has paraphrases.
    bool has_paraphrases(std::uint32_t node) const { return !targets(node).empty(); }
    // Calls visit(words) for the paraphrases of the phrase that ends at a node, each of 1 to kLongestPhrase words.
    template <typename Visit>
    void for_each_paraphrase(std::uint32_t node, const Visit& visit) const {
        std::span<const std::uint16_t> rest = targets(node);
        while (!rest.empty()) {
            std::size_t length = rest[0];
            if (length == 0 || length > kLongestPhrase || length >= rest.size()) return;  // not as compiled
            visit(rest.subspan(1, length));
            rest = rest.subspan(length + 1);
        }
    }

private:
    std::string_view text(std::uint32_t word) const;
    std::span<const std::int32_t> synsets(std::uint32_t word) const;
    std::span<const std::int32_t> synsets_of_stem(std::string_view word) const;
    std::span<const std::uint16_t> targets(std::uint32_t node) const;

    TableArrays arrays_;
};

}  // namespace captious::meteor
