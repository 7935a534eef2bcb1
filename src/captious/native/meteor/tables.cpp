// Lookup of words and phrases. Every position from the file is checked before use.
#include "meteor/tables.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "hash.hpp"

namespace captious::meteor {
namespace {

// Rules from an inflected form to a base form, in METEOR's order.
struct Suffix {
    std::string_view ending, instead;
};
constexpr Suffix kSuffixes[] = {
    {"s", ""},    {"ses", "s"}, {"xes", "x"}, {"zes", "z"}, {"ches", "ch"}, {"shes", "sh"}, {"men", "man"},
    {"ies", "y"}, {"s", ""},    {"ies", "y"}, {"es", "e"},  {"es", ""},     {"ed", "e"},    {"ed", ""},
    {"ing", "e"}, {"ing", ""},  {"er", ""},   {"est", ""},  {"er", "e"},    {"est", "e"},
};

template <typename T>
std::span<const T> range(std::span<const T> values, std::span<const std::uint32_t> starts, std::size_t i) {
    std::size_t begin = starts[i], end = starts[i + 1];
    if (begin > end || end > values.size()) return {};
    return values.subspan(begin, end - begin);
}

}  // namespace

Tables::Tables(const TableArrays& arrays) : arrays_(arrays) {
    std::size_t words = arrays.word_ends.size(), nodes = arrays.node_words.size(), slots = arrays.word_slots.size();
    bool fits = words > 0 && nodes > 0 && slots > words && (slots & (slots - 1)) == 0 &&
                arrays.function_words.size() == words && arrays.synset_starts.size() == words + 1 &&
                arrays.base_starts.size() == words + 1 && arrays.node_children.size() == nodes + 1 &&
                arrays.node_targets.size() == nodes + 1;
    if (!fits) throw std::invalid_argument("the tables do not fit each other");
}

std::string_view Tables::text(std::uint32_t word) const {
    std::size_t begin = word == 0 ? 0 : arrays_.word_ends[word - 1], end = arrays_.word_ends[word];
    if (begin > end || end > arrays_.word_text.size()) return {};
    return {reinterpret_cast<const char*>(arrays_.word_text.data()) + begin, end - begin};
}

std::uint32_t Tables::find(std::string_view word) const {
    std::size_t mask = arrays_.word_slots.size() - 1, slot = hash_bytes(word) & mask;
    for (std::size_t tried = 0; tried <= mask; ++tried, slot = (slot + 1) & mask) {
        std::uint32_t number = arrays_.word_slots[slot];
        if (number == 0 || number > arrays_.word_ends.size()) return kNoWord;
        if (text(number - 1) == word) return number - 1;
    }
    return kNoWord;
}

std::span<const std::int32_t> Tables::synsets(std::uint32_t word) const {
    return word == kNoWord ? std::span<const std::int32_t>() : range(arrays_.synsets, arrays_.synset_starts, word);
}

// The sets of the first base form that has any; words that end in "ss" or have two letters are their own base form.
std::span<const std::int32_t> Tables::synsets_of_stem(std::string_view word) const {
    if (word.ends_with("ss") || word.size() <= 2) return synsets(find(word));
    std::string base;
    for (const Suffix& suffix : kSuffixes) {
        if (!word.ends_with(suffix.ending)) continue;
        base = word.substr(0, word.size() - suffix.ending.size());
        base += suffix.instead;
        if (std::span<const std::int32_t> sets = synsets(find(base)); !sets.empty()) return sets;
    }
    return {};
}

void Tables::add_synsets(std::string_view word, std::vector<std::int32_t>& out) const {
    auto first = static_cast<std::ptrdiff_t>(out.size());
    std::uint32_t number = find(word);
    std::span<const std::int32_t> direct = synsets(number);
    out.insert(out.end(), direct.begin(), direct.end());
    std::span<const std::uint32_t> irregular;
    if (number != kNoWord) irregular = range(arrays_.bases, arrays_.base_starts, number);
    if (irregular.empty()) {
        std::span<const std::int32_t> stem = synsets_of_stem(word);
        out.insert(out.end(), stem.begin(), stem.end());
    }
    for (std::uint32_t base : irregular) {
        std::span<const std::int32_t> sets =
            base < arrays_.word_ends.size() ? synsets(base) : std::span<const std::int32_t>();
        out.insert(out.end(), sets.begin(), sets.end());
    }
    std::sort(out.begin() + first, out.end());
    out.erase(std::unique(out.begin() + first, out.end()), out.end());
}

std::uint32_t Tables::child(std::uint32_t node, std::uint32_t word) const {
    std::size_t nodes = arrays_.node_words.size();
    if (word > 0xFFFF || node >= nodes) return kNoNode;
    std::size_t begin = arrays_.node_children[node], end = arrays_.node_children[node + 1];
    if (begin > end || end > nodes) return kNoNode;
    auto from = arrays_.node_words.begin() + static_cast<std::ptrdiff_t>(begin);
    auto to = arrays_.node_words.begin() + static_cast<std::ptrdiff_t>(end);
    auto child = std::lower_bound(from, to, static_cast<std::uint16_t>(word));
    if (child == to || *child != word) return kNoNode;
    return static_cast<std::uint32_t>(child - arrays_.node_words.begin());
}

std::span<const std::uint16_t> Tables::targets(std::uint32_t node) const {
    return range(arrays_.targets, arrays_.node_targets, node);
}

}  // namespace captious::meteor
