// Counting the images of each n-gram.
#include "cider/frequencies.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "interrupt.hpp"
#include "parallel.hpp"

namespace captious::cider {

using ngrams::hash_step;
namespace {

constexpr std::size_t kBlocks = 16;  // blocks of images whose n-grams are buffered at a time
constexpr std::size_t kTables = 16;  // among which n-grams are distributed by the upper bits of their hash
constexpr std::uint32_t kIsEntry = 0x80000000;

// An n-gram that may be in several documents, buffered for its table.
struct Waiting {
    std::size_t number;  // among all of the references
    Ngram ngram;
    std::uint64_t hash;
};

std::size_t table_of(std::uint64_t hash) { return hash >> 60; }

void count_waiting(const std::vector<Waiting>& waiting, std::size_t table_number, NgramTable& table,
                   std::vector<std::uint32_t>& documents) {
    for (std::size_t i = 0; i < waiting.size(); ++i) {
        if (i + 2 * kAhead < waiting.size()) table.prefetch_slot(waiting[i + 2 * kAhead].hash);
        if (i + kAhead < waiting.size()) table.prefetch_entry(waiting[i + kAhead].hash);
        std::uint32_t entry = table.entry_of(waiting[i].ngram, waiting[i].hash);
        if (entry >= kIsEntry / kTables)
            throw std::length_error("too many distinct n-grams: one of 16 tables has more than 134 million");
        ++table.entries()[entry].count;
        documents[waiting[i].number] =
            kIsEntry | static_cast<std::uint32_t>(entry * kTables + table_number);  // both are needed again
    }
}

}  // namespace

std::size_t NgramTable::slot_of(const Ngram& ngram, std::uint64_t hash) const {
    std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash & mask;
    auto tag = static_cast<std::uint32_t>(hash >> 32);
    for (; slots_[slot].entry != 0; slot = (slot + 1) & mask)
        if (slots_[slot].tag == tag && entries_[slots_[slot].entry - 1].ngram == ngram) break;
    return slot;
}

void NgramTable::reindex() {
    slots_.assign(std::bit_ceil(std::max(entries_.capacity(), entries_.size() * 3 / 2) + 16), {});
    std::size_t mask = slots_.size() - 1;
    for (std::size_t e = 0; e < entries_.size(); ++e) {
        std::uint64_t hash = entries_[e].ngram.hash();
        std::size_t slot = hash & mask;
        while (slots_[slot].entry != 0) slot = (slot + 1) & mask;
        slots_[slot] = {static_cast<std::uint32_t>(e + 1), static_cast<std::uint32_t>(hash >> 32)};
    }
}

std::uint32_t NgramTable::entry_of(const Ngram& ngram, std::uint64_t hash) {
    std::size_t slot = slot_of(ngram, hash);
    if (slots_[slot].entry != 0) return slots_[slot].entry - 1;
    entries_.push_back({ngram, 0});
    slots_[slot] = {static_cast<std::uint32_t>(entries_.size()), static_cast<std::uint32_t>(hash >> 32)};
    if (entries_.size() * 3 > slots_.size() * 2) reindex();
    return static_cast<std::uint32_t>(entries_.size()) - 1;
}

std::uint32_t NgramTable::count_of(const Ngram& ngram, std::uint64_t hash) const {
    std::uint32_t entry = slots_[slot_of(ngram, hash)].entry;
    return entry == 0 ? 0 : entries_[entry - 1].count;
}

void NgramFrequencies::add(const Ngram& ngram, std::uint32_t count) {
    if (counted_ != nullptr) throw std::logic_error("frequencies that were counted from references cannot be added to");
    table_.entries()[table_.entry_of(ngram, ngram.hash())].count += count;
}

const std::vector<std::uint32_t>* NgramFrequencies::of_references(const ReferenceNgrams& references) const {
    return &references == counted_ ? &documents_ : nullptr;
}

std::vector<NgramFrequencies::Entry> NgramFrequencies::entries() const {
    std::vector<Entry> all = table_.entries();
    all.reserve(size());
    if (counted_ != nullptr)
        for (const ReferenceNgrams::Block& block : counted_->blocks())
            for (std::size_t k = 0; k < block.size(); ++k)
                if (documents_[block.first_ngram + k] == 1) all.push_back({block.ngram(k), 1});
    return all;
}

void NgramFrequencies::restore(const ReferenceNgrams& references, std::vector<Entry> entries,
                               std::span<const std::uint32_t> documents) {
    if (counted_ != nullptr || !table_.entries().empty())
        throw std::logic_error("frequencies can count references only once");
    if (documents.size() != references.size()) throw std::invalid_argument("not one number of documents per n-gram");
    counted_ = &references;
    table_.entries() = std::move(entries);
    documents_.assign(documents.begin(), documents.end());
    singles_ = static_cast<std::size_t>(std::count(documents_.begin(), documents_.end(), 1u));
    table_.reindex();
}

void NgramFrequencies::count(const ReferenceNgrams& references, int threads) {
    if (counted_ != nullptr || !table_.entries().empty())
        throw std::logic_error("frequencies can count references only once");
    counted_ = &references;
    documents_.resize(references.size());

    // Words have small numbers: no table needed.
    std::vector<std::uint32_t> by_word;
    auto for_each_word = [&](const auto& visit) {
        Pulse pulse;
        for (std::size_t i = 0; i < references.images(); ++i) {
            ReferenceNgrams::Image image = references.image(i);
            pulse(16 * image.count);
            for (std::size_t k = image.order_begin[0]; k < image.order_begin[1]; ++k)
                visit(image.block->first_ngram + k, static_cast<std::size_t>(*image.block->words(k)));
        }
    };
    for_each_word([&](std::size_t, std::size_t word) {
        if (word >= by_word.size()) by_word.resize(word + 1);
        ++by_word[word];
    });
    for_each_word([&](std::size_t number, std::size_t word) { documents_[number] = by_word[word]; });

    for (int order = 2; order <= kMaxOrder; ++order) count_order(order, by_word, threads);

    std::vector<Entry>& entries = table_.entries();
    for (std::size_t word = 0; word < by_word.size(); ++word) {
        auto id = static_cast<std::int32_t>(word);
        if (by_word[word] > 1) entries.push_back({Ngram(&id, 1), by_word[word]});
    }
    entries.shrink_to_fit();
    table_.reindex();
    singles_ = static_cast<std::size_t>(std::count(documents_.begin(), documents_.end(), 1u));
}

// Longer n-grams, order by order. One that contains an n-gram of a single document is only in that document, which
// keeps most of them out of the tables (Agrawal and Srikant 1994). Threads share the images first, then the tables.
void NgramFrequencies::count_order(int order, std::span<const std::uint32_t> by_word, int threads) {
    const ReferenceNgrams& references = *counted_;
    std::vector<NgramTable> tables(kTables);
    std::vector<std::vector<Waiting>> waiting(kBlocks * kTables);  // block by block
    auto collect = [&](std::size_t block, std::vector<Waiting>* out) {
        Pulse pulse;
        std::size_t first = block * ReferenceNgrams::kBlockImages;
        for (std::size_t i = first; i < std::min(references.images(), first + ReferenceNgrams::kBlockImages); ++i) {
            ReferenceNgrams::Image image = references.image(i);
            pulse(16 * image.count);
            auto is_single = [&](const std::int32_t* part, std::uint64_t hash) {
                std::int64_t number = image.find(part, order - 1, hash);
                if (number < 0) throw std::invalid_argument("an index of n-grams without the parts of its n-grams");
                return documents_[image.block->first_ngram + image.begin + static_cast<std::size_t>(number)] == 1;
            };
            for (std::size_t k = image.order_begin[order - 1]; k < image.order_begin[order]; ++k) {
                const std::int32_t* words = image.block->words(k);
                std::uint64_t head = 0, tail = 0;
                for (int w = 0; w + 1 < order; ++w) {
                    head = hash_step(head, words[w]);
                    tail = hash_step(tail, words[w + 1]);
                }
                bool single = order == 2 ? by_word[static_cast<std::size_t>(words[0])] == 1 ||
                                               by_word[static_cast<std::size_t>(words[1])] == 1
                                         : is_single(words, head) || is_single(words + 1, tail);
                if (single) {
                    documents_[image.block->first_ngram + k] = 1;
                    continue;
                }
                std::uint64_t hash = hash_step(head, words[order - 1]);
                out[table_of(hash)].push_back({image.block->first_ngram + k, Ngram(words, order), hash});
            }
        }
    };
    std::size_t n_blocks = references.blocks().size();
    for (std::size_t first = 0; first < n_blocks; first += kBlocks) {
        std::size_t n = std::min(kBlocks, n_blocks - first);
        parallel_for(n, threads, 1, [&](std::size_t begin, std::size_t end) {
            for (std::size_t b = begin; b < end; ++b) collect(first + b, &waiting[b * kTables]);
        });
        parallel_for(kTables, threads, 1, [&](std::size_t begin, std::size_t end) {
            for (std::size_t t = begin; t < end; ++t)
                for (std::size_t b = 0; b < n; ++b) {
                    count_waiting(waiting[b * kTables + t], t, tables[t], documents_);
                    waiting[b * kTables + t].clear();
                }
        });
    }
    parallel_for(documents_.size(), threads, 1 << 16, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k)
            if (std::uint32_t at = documents_[k] ^ kIsEntry; documents_[k] & kIsEntry)
                documents_[k] = tables[at % kTables].entries()[at / kTables].count;
    });
    for (const NgramTable& table : tables)
        std::copy_if(table.entries().begin(), table.entries().end(), std::back_inserter(table_.entries()),
                     [](const Entry& entry) { return entry.count > 1; });
}

}  // namespace captious::cider
