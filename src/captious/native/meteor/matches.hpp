// All possible matches in a pair of captions: equal words, equal stems, synonyms, paraphrases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "interrupt.hpp"
#include "meteor/lexicon.hpp"

namespace captious::meteor {

enum Module : std::uint8_t { kExact, kStem, kSynonym, kParaphrase };
constexpr int kModules = 4;

// Which modules take part: bit 1 << module.
using ModuleSet = unsigned;

// A span of the candidate that matches a span of the reference, which begins at the word of the match.
struct Match {
    std::uint32_t start;  // in the candidate
    std::uint8_t length;  // in the candidate
    std::uint8_t reference_length;
    Module module;
};

// A pair of captions with more matches of paraphrases than there is memory for.
struct TooManyMatches : std::length_error {
    explicit TooManyMatches(std::size_t reference)
        : std::length_error("too many matches of paraphrases"), reference(reference) {}
    std::size_t reference;  // its row, where there are many
};
constexpr std::size_t kMostPhraseMatches = std::size_t{1} << 24;

// Lists of nodes of the table, each made once until `clear`.
template <typename T>
class NodeLists {
public:
    struct Range {
        std::uint32_t begin, end;
    };

    void clear() {
        ++round_;
        n_ = 0;
        values_.clear();
    }
    std::size_t size() const { return values_.size(); }
    const T& operator[](std::size_t place) const { return values_[place]; }

    // The list of a node; append(values) makes it at the end of all values.
    template <typename Append>
    Range of(std::uint32_t node, const Append& append) {
        std::size_t slot = slot_of(node);
        if (slots_[slot].round == round_) return slots_[slot].range;
        auto begin = static_cast<std::uint32_t>(values_.size());
        append(values_);
        Range range{begin, static_cast<std::uint32_t>(values_.size())};
        slots_[slot] = {round_, node, range};
        if (++n_ * 2 > slots_.size()) grow();
        return range;
    }

private:
    struct Slot {
        std::uint64_t round = 0;
        std::uint32_t node = 0;
        Range range{};
    };

    std::size_t slot_of(std::uint32_t node) const {
        std::size_t mask = slots_.size() - 1, slot = (node * 0x9E3779B1u >> 8) & mask;
        while (slots_[slot].round == round_ && slots_[slot].node != node) slot = (slot + 1) & mask;
        return slot;
    }
    void grow() {
        std::vector<Slot> all(slots_.size() * 2);
        std::swap(all, slots_);
        for (const Slot& slot : all)
            if (slot.round == round_) slots_[slot_of(slot.node)] = slot;
    }

    std::uint64_t round_ = 1;
    std::size_t n_ = 0;
    std::vector<Slot> slots_ = std::vector<Slot>(256);
    std::vector<T> values_;
};

// All matches of pairs, one pair after the other. Results about a candidate and a word or phrase are shared by all its
// references. The order of the matches at a reference word, and how many cover each
// word, decide between equally good alignments, so both are METEOR's own.
class MatchFinder {
public:
    MatchFinder(const Lexicon& lexicon, ModuleSet modules)
        : lexicon_(lexicon), modules_(modules), blocks_of_(lexicon.size(), {0, 0, 0}) {}

    // Sets the candidate of the next pairs, and the words of all references that it will be paired with.
    void set_candidate(std::span<const std::int32_t> words, std::span<const std::int32_t> reference_words);
    // Sets the reference of the pair and drops earlier matches. Throws TooManyMatches for more paraphrase matches than
    // kMostPhraseMatches.
    void set_reference(std::span<const std::int32_t> words);

    std::size_t candidate_length() const { return candidate_.size(); }
    std::size_t reference_length() const { return reference_.size(); }

    // Number of matches that begin at a reference word, and calls visit(match) for each, in METEOR's order.
    std::size_t count(std::size_t j) const {
        return block_ends_[j] - block_begins_[j] + phrase_begins_[j + 1] - phrase_begins_[j];
    }
    template <typename Visit>
    void for_each(std::size_t j, const Visit& visit) const {
        for (std::size_t m = block_begins_[j]; m < block_ends_[j]; ++m) visit(blocks_[m]);
        for (std::size_t m = phrase_begins_[j]; m < phrase_begins_[j + 1]; ++m) visit(phrases_[m].match);
    }

    // Number of matches that cover each word.
    std::span<const std::uint32_t> candidate_coverage() const { return candidate_coverage_; }
    std::span<const std::uint32_t> reference_coverage() const { return reference_coverage_; }

private:
    struct Occurrence {  // of a phrase of the table
        std::uint32_t start, node;
        std::uint8_t length;
    };
    struct PhraseMatch {
        std::uint32_t reference_start;
        Match match;
    };
    struct Block {  // matches of a reference word, if `round` is the current one
        std::uint64_t round;
        std::uint32_t begin, end;
    };
    struct Place {  // where a paraphrase stands in the candidate
        std::uint32_t start;
        std::uint8_t length;
    };
    struct CandidatePhrase {  // a phrase in the candidate, and its paraphrases in paraphrases_
        Occurrence phrase;
        NodeLists<std::span<const std::uint16_t>>::Range paraphrases;
    };
    struct Step {  // from a node of the table by a word
        std::uint32_t node = kNoWord, word = 0, child = 0;
        bool has_paraphrases = false;
    };
    struct WordSet {  // of words that phrases are made of, emptied word by word
        std::vector<std::uint64_t> bits = std::vector<std::uint64_t>(1024);
        void add(std::uint32_t word) { bits[word >> 6 & 1023] |= std::uint64_t{1} << (word & 63); }
        void clear(std::uint32_t word) { bits[word >> 6 & 1023] = 0; }
        bool has(std::uint32_t word) const { return bits[word >> 6 & 1023] >> (word & 63) & 1; }
    };

    void find_occurrences(const std::vector<const Word*>& words);
    const Step& step(std::uint32_t node, std::uint32_t word);
    void match_words();
    void match_paraphrases();
    void add_phrase(std::size_t reference_start, const Match& match);

    const Lexicon& lexicon_;
    ModuleSet modules_;
    std::vector<const Word*> candidate_, reference_;
    std::span<const std::int32_t> reference_ids_;
    bool alike_ = false;  // all words are equal: METEOR then uses its first module only
    std::vector<Match> blocks_;
    std::vector<std::uint32_t> block_begins_, block_ends_, phrase_begins_;
    std::vector<Block> blocks_of_;                    // by word id
    std::uint64_t round_ = 0;                         // counts candidates, and pairs that are alike
    std::vector<std::int32_t> hashes_, stem_hashes_;  // of the words of the candidate
    std::vector<std::uint32_t> with_synsets_;         // words of the candidate that are in synonym sets
    std::vector<PhraseMatch> phrases_;
    std::vector<Occurrence> occurrences_;
    std::vector<CandidatePhrase> candidate_phrases_;
    NodeLists<std::span<const std::uint16_t>>
        paraphrases_;          // of phrases of the candidate: those that may stand in a reference
    NodeLists<Place> places_;  // where paraphrases of phrases of references stand
    std::vector<Step> steps_ = std::vector<Step>(8192);  // the last step of each hash
    WordSet candidate_words_, reference_words_;
    std::vector<std::uint32_t> candidate_coverage_, reference_coverage_;
    Pulse pulse_;
};

}  // namespace captious::meteor
