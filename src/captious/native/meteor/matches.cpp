// Finding matches: words by pairwise comparison, paraphrases by walking the table from both sides.
#include "meteor/matches.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace captious::meteor {
namespace {

// Calls visit(i) for every position where the words of `phrase` stand.
template <typename Visit>
void for_each_place(std::span<const std::uint16_t> phrase, const std::vector<const Word*>& words, const Visit& visit) {
    for (std::size_t i = 0; i + phrase.size() <= words.size(); ++i) {
        std::size_t k = 0;
        while (k < phrase.size() && words[i + k]->number == phrase[k]) ++k;
        if (k == phrase.size()) visit(i);
    }
}

}  // namespace

void MatchFinder::set_candidate(std::span<const std::int32_t> words, std::span<const std::int32_t> reference_words) {
    for (const Word* word : candidate_) candidate_words_.clear(word->number);
    candidate_.clear();
    hashes_.clear();
    stem_hashes_.clear();
    with_synsets_.clear();
    for (std::int32_t id : words) {
        const Word& word = lexicon_[static_cast<std::size_t>(id)];
        if (word.first_synset != word.last_synset)
            with_synsets_.push_back(static_cast<std::uint32_t>(candidate_.size()));
        candidate_.push_back(&word);
        hashes_.push_back(word.hash);
        stem_hashes_.push_back(word.stem_hash);
        if (word.number <= 0xFFFF) candidate_words_.add(word.number);
    }
    ++round_;
    blocks_.clear();
    places_.clear();
    paraphrases_.clear();
    candidate_phrases_.clear();
    if (!(modules_ >> kParaphrase & 1)) return;
    auto for_each_number = [&](const auto& visit) {
        for (std::int32_t id : reference_words)
            if (std::uint32_t number = lexicon_[static_cast<std::size_t>(id)].number; number <= 0xFFFF) visit(number);
    };
    for_each_number([&](std::uint32_t number) { reference_words_.add(number); });
    find_occurrences(candidate_);
    for (const Occurrence& phrase : occurrences_) {
        auto paraphrases = paraphrases_.of(phrase.node, [&](auto& all) {
            lexicon_.tables().for_each_paraphrase(phrase.node, [&](std::span<const std::uint16_t> paraphrase) {
                pulse_(1);
                if (reference_words_.has(paraphrase[0])) all.push_back(paraphrase);
            });
        });
        if (paraphrases.begin != paraphrases.end) candidate_phrases_.push_back({phrase, paraphrases});
    }
    for_each_number([&](std::uint32_t number) { reference_words_.clear(number); });
}

void MatchFinder::set_reference(std::span<const std::int32_t> words) {
    for (const Word* word : reference_) reference_words_.clear(word->number);
    reference_.clear();
    reference_ids_ = words;
    for (std::int32_t id : words) reference_.push_back(&lexicon_[static_cast<std::size_t>(id)]);
    phrases_.clear();
    candidate_coverage_.assign(candidate_.size(), 0);
    reference_coverage_.assign(reference_.size(), 0);
    alike_ = std::equal(candidate_.begin(), candidate_.end(), reference_.begin(), reference_.end(),
                        [](const Word* a, const Word* b) { return a->hash == b->hash; });
    if (alike_) ++round_;  // other modules are used: results before and now are valid for this pair only
    match_words();
    if (alike_) ++round_;
    phrase_begins_.assign(reference_.size() + 1, 0);
    bool paraphrases = modules_ >> kParaphrase & 1 && (!alike_ || modules_ == 1u << kParaphrase);
    if (paraphrases) match_paraphrases();
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
        if (block.round != round_) {
            block = {round_, static_cast<std::uint32_t>(blocks_.size()), 0};
            auto file = [&](std::size_t i, Module module) {
                blocks_.push_back({static_cast<std::uint32_t>(i), 1, 1, module});
            };
            pulse_(3 * candidate_.size());
            if (exact)
                for (std::size_t i = 0; i < hashes_.size(); ++i)
                    if (hashes_[i] == word.hash) file(i, kExact);
            if (stem)
                for (std::size_t i = 0; i < stem_hashes_.size(); ++i)
                    if (stem_hashes_[i] == word.stem_hash && hashes_[i] != word.hash) file(i, kStem);
            if (synonym && word.first_synset != word.last_synset)
                for (std::uint32_t i : with_synsets_)
                    if (hashes_[i] != word.hash && lexicon_.are_synonyms(word, *candidate_[i])) file(i, kSynonym);
            block.end = static_cast<std::uint32_t>(blocks_.size());
        }
        block_begins_[j] = block.begin;
        block_ends_[j] = block.end;
        pulse_(block.end - block.begin);
        reference_coverage_[j] += block.end - block.begin;
        for (std::size_t m = block.begin; m < block.end; ++m) ++candidate_coverage_[blocks_[m].start];
    }
}

// Caches steps in the table, which captions repeat often and which each take a search.
const MatchFinder::Step& MatchFinder::step(std::uint32_t node, std::uint32_t word) {
    Step& kept = steps_[((node * 0x9E3779B1u) ^ (word * 0x85EBCA6Bu)) >> 19];
    if (kept.node != node || kept.word != word) {
        std::uint32_t child = lexicon_.tables().child(node, word);
        kept = {node, word, child, child != kNoNode && lexicon_.tables().has_paraphrases(child)};
    }
    return kept;
}

void MatchFinder::find_occurrences(const std::vector<const Word*>& words) {
    occurrences_.clear();
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i]->number == kNoWord) continue;
        std::uint32_t node = kNoNode;  // the root, which is not a phrase
        std::size_t last = std::min(words.size(), i + kLongestPhrase);
        for (std::size_t end = i; end < last; ++end) {
            const Step& next = step(node, words[end]->number);
            node = next.child;
            if (node == kNoNode) break;
            if (next.has_paraphrases)
                occurrences_.push_back({static_cast<std::uint32_t>(i), node, static_cast<std::uint8_t>(end + 1 - i)});
        }
    }
}

void MatchFinder::add_phrase(std::size_t reference_start, const Match& match) {
    if (phrases_.size() == kMostPhraseMatches) throw TooManyMatches(0);
    phrases_.push_back({static_cast<std::uint32_t>(reference_start), match});
}

void MatchFinder::match_paraphrases() {
    find_occurrences(reference_);
    for (const Word* word : reference_)
        if (word->number <= 0xFFFF) reference_words_.add(word->number);
    for (const Occurrence& phrase : occurrences_) {
        if (places_.size() > kMostPhraseMatches) places_.clear();  // those of one reference are never more
        auto places = places_.of(phrase.node, [&](auto& all) {
            std::size_t before = all.size();
            lexicon_.tables().for_each_paraphrase(phrase.node, [&](std::span<const std::uint16_t> paraphrase) {
                pulse_(1);
                if (!candidate_words_.has(paraphrase[0])) return;
                pulse_(candidate_.size());
                for_each_place(paraphrase, candidate_, [&](std::size_t i) {
                    if (all.size() - before == kMostPhraseMatches) throw TooManyMatches(0);
                    all.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint8_t>(paraphrase.size())});
                });
            });
        });
        pulse_(places.end - places.begin);
        for (std::uint32_t k = places.begin; k < places.end; ++k)
            add_phrase(phrase.start, {places_[k].start, places_[k].length, phrase.length, kParaphrase});
    }
    for (const auto& [phrase, paraphrases] : candidate_phrases_)
        for (std::uint32_t k = paraphrases.begin; k < paraphrases.end; ++k) {
            std::span<const std::uint16_t> words = paraphrases_[k];
            pulse_(1);
            if (!reference_words_.has(words[0])) continue;
            pulse_(reference_.size());
            for_each_place(words, reference_, [&](std::size_t j) {
                add_phrase(j, {phrase.start, phrase.length, static_cast<std::uint8_t>(words.size()), kParaphrase});
            });
        }
    if (phrases_.empty()) return;
    std::stable_sort(phrases_.begin(), phrases_.end(),
                     [](const auto& a, const auto& b) { return a.reference_start < b.reference_start; });
    for (const PhraseMatch& phrase_match : phrases_) {
        ++phrase_begins_[phrase_match.reference_start + 1];
        for (std::size_t k = 0; k < phrase_match.match.length; ++k) ++candidate_coverage_[phrase_match.match.start + k];
        for (std::size_t k = 0; k < phrase_match.match.reference_length; ++k)
            ++reference_coverage_[phrase_match.reference_start + k];
    }
    for (std::size_t j = 0; j < reference_.size(); ++j) phrase_begins_[j + 1] += phrase_begins_[j];
}

}  // namespace captious::meteor
