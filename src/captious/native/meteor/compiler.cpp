// The published files are text of two or three lines per entry, split as in Java: lines end in a line feed, words
// at spaces.
#include "meteor/compiler.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "decimal.hpp"
#include "hash.hpp"
#include "meteor/tables.hpp"

namespace captious::meteor {
namespace {

constexpr std::string_view kBlanks = " \t\r\f";

template <typename Visit>
void for_each_word(std::string_view line, const Visit& visit) {
    for (std::size_t from = line.find_first_not_of(kBlanks); from != std::string_view::npos;) {
        std::size_t to = line.find_first_of(kBlanks, from);
        visit(line.substr(from, to - from));
        from = line.find_first_not_of(kBlanks, to);
    }
}

template <typename Visit>
void for_each_line(std::string_view text, const Visit& visit) {
    while (!text.empty()) {
        std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        visit(line);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
}

// Lists of values per word, with those of equal words next to each other.
template <typename T>
void lay_out(std::vector<std::pair<std::uint32_t, T>> entries, std::size_t words, std::vector<std::uint32_t>& starts,
             std::vector<T>& values) {
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    starts.assign(words + 1, 0);
    for (const auto& [word, value] : entries) {
        ++starts[word + 1];
        values.push_back(value);
    }
    for (std::size_t word = 0; word < words; ++word) starts[word + 1] += starts[word];
}

}  // namespace

void TablesCompiler::add_paraphrases(std::string_view bytes) {
    for (std::size_t end; (end = bytes.find('\n')) != std::string_view::npos; bytes.remove_prefix(end + 1)) {
        if (rest_.empty()) {
            add_line(bytes.substr(0, end));
        } else {
            rest_ += bytes.substr(0, end);
            add_line(rest_);
            rest_.clear();
        }
    }
    rest_ += bytes;
}

void TablesCompiler::add_line(std::string_view line) {
    switch (lines_++ % 3) {
        case 0: {
            double probability;
            auto [end, error] = read_decimal(line.data(), line.data() + line.size(), probability);
            if (error != std::errc() ||
                std::string_view(end, line.data() + line.size()).find_first_not_of(kBlanks) != std::string_view::npos)
                throw std::invalid_argument("line " + std::to_string(lines_) +
                                            " of the paraphrases is not a probability");
            break;
        }
        case 1: phrase_ = phrase_of(line); break;
        default: {
            std::size_t length_at = targets_.size();
            targets_.push_back(0);
            for_each_word(
                line, [&](std::string_view word) { targets_.push_back(static_cast<std::uint16_t>(words_.add(word))); });
            std::size_t length = targets_.size() - length_at - 1;
            if (length == 0 || length > kLongestPhrase)
                throw std::invalid_argument("line " + std::to_string(lines_) + " of the paraphrases is not a phrase");
            targets_[length_at] = static_cast<std::uint16_t>(length);
            sources_.push_back(phrase_);
        }
    }
    if (words_.size() > 0xFFFF) throw std::invalid_argument("the paraphrases have more than 65,535 distinct words");
}

std::uint32_t TablesCompiler::phrase_of(std::string_view line) {
    std::uint32_t node = 0;
    std::size_t length = 0;
    for_each_word(line, [&](std::string_view text) {
        auto word = static_cast<std::uint16_t>(words_.add(text));
        auto [child, added] =
            children_.try_emplace(std::uint64_t{node} << 16 | word, static_cast<std::uint32_t>(nodes_.size()));
        if (added) nodes_.push_back({node, word});
        node = child->second;
        ++length;
    });
    if (length == 0 || length > kLongestPhrase)
        throw std::invalid_argument("line " + std::to_string(lines_) + " of the paraphrases is not a phrase");
    return node;
}

// Numbers the nodes level by level, children of a node in a row and sorted by word, and sorts paraphrases by phrase.
void TablesCompiler::lay_out_phrases(CompiledTables& out) const {
    std::size_t n = nodes_.size();
    std::vector<std::uint32_t> depth(n, 0), order(n), place(n);
    for (std::size_t i = 1; i < n; ++i) depth[i] = depth[nodes_[i].parent] + 1;  // a parent comes before its children
    for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::uint32_t>(i);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return depth[a] < depth[b]; });
    for (std::size_t level = 0; level < n;) {  // the parents are placed when a level is sorted
        std::size_t end = level;
        while (end < n && depth[order[end]] == depth[order[level]]) ++end;
        std::sort(order.begin() + static_cast<std::ptrdiff_t>(level), order.begin() + static_cast<std::ptrdiff_t>(end),
                  [&](auto a, auto b) {
                      std::uint32_t parent_a = place[nodes_[a].parent], parent_b = place[nodes_[b].parent];
                      return parent_a != parent_b ? parent_a < parent_b : nodes_[a].word < nodes_[b].word;
                  });
        for (; level < end; ++level) place[order[level]] = static_cast<std::uint32_t>(level);
    }
    out.node_words.resize(n);
    out.node_children.assign(n + 1, 0);
    for (std::size_t i = 0; i < n; ++i) {
        out.node_words[place[i]] = nodes_[i].word;
        if (i > 0) ++out.node_children[place[nodes_[i].parent] + 1];
    }
    out.node_children[0] = 1;  // after the root
    for (std::size_t i = 0; i < n; ++i) out.node_children[i + 1] += out.node_children[i];

    out.node_targets.assign(n + 1, 0);
    std::size_t at = 0;
    for (std::uint32_t source : sources_) {
        out.node_targets[place[source] + 1] += targets_[at] + 1u;
        at += targets_[at] + 1u;
    }
    for (std::size_t i = 0; i < n; ++i) out.node_targets[i + 1] += out.node_targets[i];
    out.targets.resize(targets_.size());
    std::vector<std::uint32_t> next(out.node_targets.begin(), out.node_targets.end() - 1);
    at = 0;
    for (std::uint32_t source : sources_) {
        std::size_t size = targets_[at] + 1u;
        std::copy_n(targets_.begin() + static_cast<std::ptrdiff_t>(at), size,
                    out.targets.begin() + next[place[source]]);
        next[place[source]] += static_cast<std::uint32_t>(size);
        at += size;
    }
}

CompiledTables TablesCompiler::finish(std::string_view synsets, std::string_view exceptions,
                                      std::string_view function_words) {
    if (!rest_.empty()) {
        add_line(rest_);
        rest_.clear();
    }
    if (lines_ % 3 != 0 || lines_ == 0) throw std::invalid_argument("the paraphrases end in the middle of an entry");
    CompiledTables out;
    lay_out_phrases(out);

    std::vector<std::pair<std::uint32_t, std::int32_t>> sets;
    std::vector<bool> has_synonyms;
    std::uint32_t word = 0;
    std::size_t line_number = 0;
    for_each_line(synsets, [&](std::string_view line) {
        if (line_number++ % 2 == 0) {
            word = static_cast<std::uint32_t>(words_.add(line));
            has_synonyms.resize(std::max<std::size_t>(has_synonyms.size(), words_.size()));
            if (has_synonyms[word])
                throw std::invalid_argument("the synonyms have the word " + std::string(line) + " twice");
            has_synonyms[word] = true;
            return;
        }
        for_each_word(line, [&](std::string_view number) {
            std::int32_t set;
            auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), set);
            if (error != std::errc() || end != number.data() + number.size())
                throw std::invalid_argument("line " + std::to_string(line_number) +
                                            " of the synonyms is not a list of numbers");
            sets.emplace_back(word, set);
        });
    });
    if (line_number == 0 || line_number % 2 != 0)
        throw std::invalid_argument("the synonyms end in the middle of an entry");

    std::vector<std::pair<std::uint32_t, std::uint32_t>> bases;
    line_number = 0;
    for_each_line(exceptions, [&](std::string_view line) {
        if (line_number++ % 2 == 0) {
            word = static_cast<std::uint32_t>(words_.add(line));
            return;
        }
        for_each_word(line, [&](std::string_view form) {
            bases.emplace_back(static_cast<std::uint32_t>(words_.add(form)), word);
        });
    });
    if (line_number == 0 || line_number % 2 != 0)
        throw std::invalid_argument("the exceptions end in the middle of an entry");

    std::vector<std::uint32_t> functions;
    for_each_line(function_words,
                  [&](std::string_view line) { functions.push_back(static_cast<std::uint32_t>(words_.add(line))); });
    if (functions.empty()) throw std::invalid_argument("there are no function words");

    std::size_t n = words_.size();
    std::sort(sets.begin(), sets.end());
    lay_out(std::move(sets), n, out.synset_starts, out.synsets);
    lay_out(std::move(bases), n, out.base_starts, out.bases);
    out.function_words.assign(n, 0);
    for (std::uint32_t function : functions) out.function_words[function] = 1;
    std::size_t slots = 1;
    while (slots < n * 2) slots *= 2;
    out.word_slots.assign(slots, 0);
    for (std::size_t id = 0; id < n; ++id) {
        std::string_view text = words_.word(id);
        out.word_text.insert(out.word_text.end(), text.begin(), text.end());
        out.word_ends.push_back(static_cast<std::uint32_t>(out.word_text.size()));
        std::size_t slot = hash_bytes(text) & (slots - 1);
        while (out.word_slots[slot] != 0) slot = (slot + 1) & (slots - 1);
        out.word_slots[slot] = static_cast<std::uint32_t>(id + 1);
    }
    return out;
}

}  // namespace captious::meteor
