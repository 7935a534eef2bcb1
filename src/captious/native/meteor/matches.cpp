// Finding matches: words by comparing all with all, paraphrases by walking the table from both sides.
#include "meteor/matches.hpp"

#include <algorithm>
#include <bit>

namespace captious::meteor {
namespace {

// Calls visit(i) for every position where the words of `phrase` stand.
template <typename Visit>
void each_place(std::span<const std::uint16_t> phrase, const std::vector<const Word*>& words, const Visit& visit) {
    for (std::size_t i = 0; i + phrase.size() <= words.size(); ++i) {
        std::size_t k = 0;
        while (k < phrase.size() && words[i + k]->number == phrase[k]) ++k;
        if (k == phrase.size()) visit(i);
    }
}

}  // namespace

void MatchFinder::set_candidate(std::span<const std::int32_t> words) {
    for (const Word* word : candidate_) candidate_words_.clear(word->number);
    candidate_.clear();
    for (std::int32_t id : words) candidate_.push_back(&lexicon_[static_cast<std::size_t>(id)]);
    for (const Word* word : candidate_)
        if (word->number <= 0xFFFF) candidate_words_.add(word->number);
    candidate_occurrences_.clear();
    if (modules_ >> kParaphrase & 1) find_occurrences(candidate_, candidate_occurrences_);
}

void MatchFinder::set_reference(std::span<const std::int32_t> words) {
    for (const Word* word : reference_) reference_words_.clear(word->number);
    reference_.clear();
    reference_ids_ = words;
    for (std::int32_t id : words) reference_.push_back(&lexicon_[static_cast<std::size_t>(id)]);
    ++pair_;
    blocks_.clear();
    phrases_.clear();
    candidate_coverage_.assign(candidate_.size(), 0);
    reference_coverage_.assign(reference_.size(), 0);
    alike_ = std::equal(candidate_.begin(), candidate_.end(), reference_.begin(), reference_.end(),
                        [](const Word* a, const Word* b) { return a->hash == b->hash; });
    match_words();
    phrase_begins_.assign(reference_.size() + 1, 0);
    bool asked = modules_ >> kParaphrase & 1 && (!alike_ || modules_ == 1u << kParaphrase);
    if (asked) match_paraphrases();
}

void MatchFinder::match_words() {
    ModuleSet modules = alike_ ? 1u << std::countr_zero(modules_) : modules_;
    bool exact = modules >> kExact & 1, stem = modules >> kStem & 1, synonym = modules >> kSynonym & 1;
    std::size_t n = reference_.size();
    block_begins_.resize(n);
    block_ends_.resize(n);
    for (std::size_t j = 0; j < n; ++j) {
        const Word& word = *reference_[j];
        Block& block = blocks_of_[static_cast<std::size_t>(reference_ids_[j])];
        if (block.pair != pair_) {
            block = {pair_, static_cast<std::uint32_t>(blocks_.size()), 0};
            auto file = [&](Module module, auto matches) {
                pulse_(candidate_.size());
                for (std::size_t i = 0; i < candidate_.size(); ++i)
                    if (matches(*candidate_[i])) blocks_.push_back({static_cast<std::uint32_t>(i), 1, 1, module});
            };
            if (exact) file(kExact, [&](const Word& other) { return word.hash == other.hash; });
            if (stem) file(kStem, [&](const Word& other) { return word.stem_hash == other.stem_hash && word.hash != other.hash; });
            if (synonym && word.first_synset != word.last_synset)
                file(kSynonym, [&](const Word& other) { return word.hash != other.hash && lexicon_.are_synonyms(word, other); });
            block.end = static_cast<std::uint32_t>(blocks_.size());
        }
        block_begins_[j] = block.begin;
        block_ends_[j] = block.end;
        pulse_(block.end - block.begin);
        reference_coverage_[j] += block.end - block.begin;
        for (std::size_t m = block.begin; m < block.end; ++m) ++candidate_coverage_[blocks_[m].start];
    }
}

void MatchFinder::find_occurrences(const std::vector<const Word*>& words, std::vector<Occurrence>& out) const {
    const Tables& tables = lexicon_.tables();
    for (std::size_t i = 0; i < words.size(); ++i) {
        std::uint32_t node = words[i]->phrase;
        std::size_t last = std::min(words.size(), i + kLongestPhrase);
        for (std::size_t end = i + 1; node != kNoNode; ++end) {
            if (tables.has_paraphrases(node))
                out.push_back({static_cast<std::uint32_t>(i), node, static_cast<std::uint8_t>(end - i)});
            if (end == last) break;
            node = tables.child(node, words[end]->number);
        }
    }
}

void MatchFinder::add_phrase(std::size_t reference_start, const Match& match) {
    if (phrases_.size() == kMostPhraseMatches) throw TooManyMatches(0);
    phrases_.push_back({static_cast<std::uint32_t>(reference_start), match});
}

void MatchFinder::match_paraphrases() {
    const Tables& tables = lexicon_.tables();
    reference_occurrences_.clear();
    find_occurrences(reference_, reference_occurrences_);
    for (const Word* word : reference_)
        if (word->number <= 0xFFFF) reference_words_.add(word->number);

    // Calls visit(paraphrase) for those of a phrase whose first word is in `words`.
    auto each_paraphrase = [&](std::uint32_t node, const WordSet& words, const auto& visit) {
        tables.each_paraphrase(node, [&](std::span<const std::uint16_t> paraphrase) {
            pulse_(1);
            if (words.has(paraphrase[0])) visit(paraphrase);
        });
    };
    for (const Occurrence& phrase : reference_occurrences_)
        each_paraphrase(phrase.node, candidate_words_, [&](std::span<const std::uint16_t> paraphrase) {
            pulse_(candidate_.size());
            each_place(paraphrase, candidate_, [&](std::size_t i) {
                add_phrase(phrase.start, {static_cast<std::uint32_t>(i), static_cast<std::uint8_t>(paraphrase.size()), phrase.length, kParaphrase});
            });
        });
    for (const Occurrence& phrase : candidate_occurrences_)
        each_paraphrase(phrase.node, reference_words_, [&](std::span<const std::uint16_t> paraphrase) {
            pulse_(reference_.size());
            each_place(paraphrase, reference_, [&](std::size_t j) {
                add_phrase(j, {phrase.start, phrase.length, static_cast<std::uint8_t>(paraphrase.size()), kParaphrase});
            });
        });
    if (phrases_.empty()) return;
    std::stable_sort(phrases_.begin(), phrases_.end(), [](const auto& a, const auto& b) { return a.reference_start < b.reference_start; });
    for (const PhraseMatch& found : phrases_) {
        ++phrase_begins_[found.reference_start + 1];
        for (std::size_t k = 0; k < found.match.length; ++k) ++candidate_coverage_[found.match.start + k];
        for (std::size_t k = 0; k < found.match.reference_length; ++k) ++reference_coverage_[found.reference_start + k];
    }
    for (std::size_t j = 0; j < reference_.size(); ++j) phrase_begins_[j + 1] += phrase_begins_[j];
}

}  // namespace captious::meteor
