// Compiles METEOR's published files to the arrays of tables.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vocabulary/vocabulary.hpp"

namespace captious::meteor {

// Owner of the data that TableArrays views.
struct CompiledTables {
    std::vector<std::uint8_t> word_text;
    std::vector<std::uint32_t> word_ends, word_slots;
    std::vector<std::uint8_t> function_words;
    std::vector<std::uint32_t> synset_starts;
    std::vector<std::int32_t> synsets;
    std::vector<std::uint32_t> base_starts, bases;
    std::vector<std::uint16_t> node_words;
    std::vector<std::uint32_t> node_children, node_targets;
    std::vector<std::uint16_t> targets;
};

// Converts the text of the files to arrays. Paraphrases come first, in pieces of any size, as they are
// unpacked. All methods throw std::invalid_argument for text that is not of the published form.
class TablesCompiler {
public:
    // The next bytes of the paraphrase table: a line with a probability, one with a phrase, one with a paraphrase.
    void add_paraphrases(std::string_view bytes);
    // Compiles the added text with the other files: word, then numbers of its sets; base form, then its irregular
    // forms; one function word a line.
    CompiledTables finish(std::string_view synsets, std::string_view exceptions, std::string_view function_words);

private:
    void add_line(std::string_view line);
    std::uint32_t phrase_of(std::string_view line);
    void lay_out_phrases(CompiledTables& out) const;

    struct Node {
        std::uint32_t parent;
        std::uint16_t word;
    };

    vocabulary::Vocabulary words_;
    std::string rest_;  // of an incomplete line
    std::size_t lines_ = 0;
    std::vector<Node> nodes_{{0, 0}};
    std::unordered_map<std::uint64_t, std::uint32_t> children_;  // (parent, word) -> node
    std::uint32_t phrase_ = 0;                                   // phrase of the paraphrase on the next line
    std::vector<std::uint32_t> sources_;                         // phrase of each paraphrase
    std::vector<std::uint16_t> targets_;                         // length and words of each paraphrase
};

}  // namespace captious::meteor
