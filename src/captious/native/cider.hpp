// CIDEr and CIDEr-D: document frequencies of n-grams, and candidates against weighted references.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ngrams.hpp"

namespace captious {

// In how many documents (images, with all their references) each n-gram occurs.
//
// Most n-grams of a corpus occur in one document only. When references are counted, these stay out of the hash table
// and are listed from the references when all entries are asked for: CIDEr weighs an n-gram of no document like one
// of a single document.
class NgramFrequencies {
public:
    struct Entry {
        Ngram ngram;
        std::uint32_t count;
    };

    // Counts every image's references as one document. The object must be empty; the references must outlive it.
    void count(const ReferenceNgrams& references);
    void add(const Ngram& ngram, std::uint32_t count);

    // Documents that hold an n-gram, or 0 if it is known to be in at most one.
    std::uint32_t of(const Ngram& ngram, std::uint64_t hash) const;
    // Hints for a loop that will soon ask for a hash: first where its slot is, then, some steps later, its entry.
    void prefetch_slot(std::uint64_t hash) const { __builtin_prefetch(slots_.data() + (hash & (slots_.size() - 1))); }
    void prefetch_entry(std::uint64_t hash) const {
        const Slot& slot = slots_[hash & (slots_.size() - 1)];
        if (slot.entry != 0) __builtin_prefetch(entries_.data() + slot.entry - 1);
    }
    // Documents that hold each n-gram of these references, if it was these that were counted, by n-gram number.
    const std::vector<std::uint32_t>* of_references(const ReferenceNgrams& references) const;

    std::size_t size() const { return entries_.size() + singles_; }
    std::vector<Entry> entries() const;

private:
    struct Slot {
        std::uint32_t entry = 0;  // its number + 1, or 0
        std::uint32_t tag = 0;    // upper half of its hash, so that only the right entry is looked at
    };

    std::size_t slot_of(const Ngram& ngram, std::uint64_t hash) const;
    std::uint32_t entry_of(const Ngram& ngram, std::uint64_t hash);  // its entry, made if it is new
    void resize_slots();

    std::vector<Entry> entries_;
    std::vector<Slot> slots_ = std::vector<Slot>(16);
    const ReferenceNgrams* counted_ = nullptr;
    std::vector<std::uint32_t> documents_;  // per n-gram of the counted references
    std::size_t singles_ = 0;               // n-grams of the counted references that are in one document
};

struct CiderOptions {
    double log_documents;  // ln of the number of documents
    double sigma;          // of the Gaussian length penalty; infinity for none
    bool clip;             // CIDEr-D: a candidate's weight counts at most as much as the reference's
    bool relative;         // divide counts by the number of n-grams of the caption
    bool length_in_words;  // lengths of the penalty in words; otherwise in bigrams, as the official code has it
};

// References of all images, weighted: built once, asked for any number of candidates.
class CiderReferences {
public:
    // `word_map` translates word ids of captions to those of `frequencies` (-1: no such word); empty if they are the
    // same. References and frequencies must outlive the object.
    CiderReferences(const ReferenceNgrams& references, const NgramFrequencies& frequencies,
                    std::span<const std::int32_t> word_map, CiderOptions options, int threads);

    std::size_t images() const { return references_.images(); }

    // Mean over n and references of the similarity of candidate c with the references of image rows[c]; `out` is
    // [candidates], in 0..1.
    void score(TokensView candidates, std::span<const std::int64_t> rows, std::span<const std::int32_t> word_map,
               int threads, double* out) const;

private:
    double idf(std::uint32_t documents) const;
    void prefetch(std::size_t row) const;  // asks for the memory of an image that is scored next

    const ReferenceNgrams& references_;
    const NgramFrequencies& frequencies_;
    CiderOptions options_;
    std::vector<double> idf_of_;                        // [documents], for small numbers of documents
    std::vector<std::uint32_t> looked_up_;              // documents per n-gram, if frequencies came from elsewhere
    const std::vector<std::uint32_t>* documents_;       // documents per n-gram of the references
    std::vector<std::array<double, kMaxOrder>> norms_;  // [references]
};

}  // namespace captious
