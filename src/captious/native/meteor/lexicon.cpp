// Facts about words: hashes, synonym sets.
#include "meteor/lexicon.hpp"

#include <cstddef>
#include <stdexcept>

#include "ptb/utf8.hpp"

namespace captious::meteor {
namespace {

// hashCode of Java's String, in which characters above the basic plane are two units.
std::int32_t java_hash(std::string_view word) {
    std::uint32_t hash = 0;
    for (std::size_t at = 0; at < word.size();) {
        ptb::Decoded c = ptb::decode(word.data() + at);
        at += c.length;
        auto code = static_cast<std::uint32_t>(c.code);
        if (code >= 0x10000) {
            hash = hash * 31 + (0xD800 + ((code - 0x10000) >> 10));
            code = 0xDC00 + ((code - 0x10000) & 0x3FF);
        }
        hash = hash * 31 + code;
    }
    return static_cast<std::int32_t>(hash);
}

}  // namespace

void Lexicon::learn(std::string_view text, std::string_view stem) {
    Word word{};
    word.hash = java_hash(text);
    word.stem_hash = java_hash(stem);
    word.number = tables_.find(text);
    word.is_function_word = word.number != kNoWord && tables_.is_function_word(word.number);
    word.first_synset = static_cast<std::uint32_t>(synsets_.size());
    tables_.add_synsets(text, synsets_);
    add(word);
}

void Lexicon::restore(Word word, std::span<const std::int32_t> synsets) {
    if (word.number != kNoWord && word.number >= tables_.n_words())
        throw std::invalid_argument("words that the tables do not have");
    word.synset_bits = {};
    word.first_synset = static_cast<std::uint32_t>(synsets_.size());
    synsets_.insert(synsets_.end(), synsets.begin(), synsets.end());
    add(word);
}

// The next word; its sets are the last.
void Lexicon::add(Word word) {
    word.last_synset = static_cast<std::uint32_t>(synsets_.size());
    for (std::int32_t set : synsets(word)) {
        std::uint32_t bit = static_cast<std::uint32_t>(set) * 0x9E3779B1u >> 24;
        word.synset_bits[bit / 64] |= std::uint64_t{1} << (bit % 64);
    }
    words_.push_back(word);
}

bool Lexicon::share_a_synset(const Word& a, const Word& b) const {
    std::span<const std::int32_t> left = synsets(a), right = synsets(b);
    for (std::size_t i = 0, j = 0; i < left.size() && j < right.size();) {
        if (left[i] == right[j]) return true;
        left[i] < right[j] ? ++i : ++j;
    }
    return false;
}

}  // namespace captious::meteor
