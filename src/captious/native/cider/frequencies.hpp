// Document frequencies of n-grams: the number of images whose references contain each n-gram.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ngrams/reference_ngrams.hpp"

namespace captious::cider {

using ngrams::kMaxOrder;
using ngrams::Ngram;
using ngrams::ReferenceNgrams;

constexpr std::size_t kAhead = 8;  // steps from a prefetch hint to the lookup: twice as many for slots

// N-grams with a count each, found by their hash.
class NgramTable {
public:
    struct Entry {
        Ngram ngram;
        std::uint32_t count;
    };

    std::uint32_t entry_of(const Ngram& ngram, std::uint64_t hash);        // its number, created if new
    std::uint32_t count_of(const Ngram& ngram, std::uint64_t hash) const;  // 0 if it has no entry
    std::vector<Entry>& entries() { return entries_; }
    const std::vector<Entry>& entries() const { return entries_; }
    void reindex();  // after a change of the entries

    // Prefetch hints for a loop that will soon look up a hash: first its slot, then, some steps later, its entry.
    void prefetch_slot(std::uint64_t hash) const { __builtin_prefetch(slots_.data() + (hash & (slots_.size() - 1))); }
    void prefetch_entry(std::uint64_t hash) const {
        const Slot& slot = slots_[hash & (slots_.size() - 1)];
        if (slot.entry != 0) __builtin_prefetch(entries_.data() + slot.entry - 1);
    }

private:
    struct Slot {
        std::uint32_t entry = 0;  // its number + 1, or 0
        std::uint32_t tag = 0;    // upper half of its hash, so that only the right entry is compared
    };

    std::size_t slot_of(const Ngram& ngram, std::uint64_t hash) const;

    std::vector<Entry> entries_;
    std::vector<Slot> slots_ = std::vector<Slot>(16);
};

// Number of documents (images, with all their references) in which each n-gram occurs.
//
// Most n-grams of a corpus occur in one document only. When references are counted, these are kept out of the hash
// table and are listed from the references when all entries are requested: CIDEr weights an n-gram of no document like
// one of a single document.
class NgramFrequencies {
public:
    using Entry = NgramTable::Entry;

    // Counts every image's references as one document. The object must be empty; the references must outlive it. The
    // number of threads changes nothing, not even the order of the entries.
    void count(const ReferenceNgrams& references, int threads);
    void add(const Ngram& ngram, std::uint32_t count);

    // Number of documents with an n-gram, or 0 if it is in at most one.
    std::uint32_t of(const Ngram& ngram, std::uint64_t hash) const { return table_.count_of(ngram, hash); }
    void prefetch_slot(std::uint64_t hash) const { table_.prefetch_slot(hash); }
    void prefetch_entry(std::uint64_t hash) const { table_.prefetch_entry(hash); }
    // Number of documents with each n-gram of these references, if they were the counted ones, by n-gram number.
    const std::vector<std::uint32_t>* of_references(const ReferenceNgrams& references) const;

    std::size_t size() const { return table_.entries().size() + singles_; }
    std::vector<Entry> entries() const;

    // The counts as saved: the n-grams of several documents, and the documents of each n-gram of the
    // references.
    const std::vector<Entry>& common() const { return table_.entries(); }
    const std::vector<std::uint32_t>& documents() const { return documents_; }
    // Restores the saved counts of these references. The object must be empty; the references must outlive it.
    void restore(const ReferenceNgrams& references, std::vector<Entry> entries,
                 std::span<const std::uint32_t> documents);

private:
    void count_order(int order, std::span<const std::uint32_t> by_word, int threads);

    NgramTable table_;
    const ReferenceNgrams* counted_ = nullptr;
    std::vector<std::uint32_t> documents_;  // per n-gram of the counted references
    std::size_t singles_ = 0;               // n-grams of the counted references that are in one document
};

}  // namespace captious::cider
