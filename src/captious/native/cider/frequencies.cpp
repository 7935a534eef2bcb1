// Counting in how many images each n-gram occurs.
#include "cider/frequencies.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "interrupt.hpp"

namespace captious {
namespace {

constexpr std::size_t kAhead = 8;  // how many steps before its use memory is asked for

// Calls visit(block, image, number in the block) for every n-gram of an order.
template <typename Visit>
void for_each_ngram(const ReferenceNgrams& references, int order, const Visit& visit) {
    Pulse pulse;
    for (std::size_t i = 0; i < references.images(); ++i) {
        ReferenceNgrams::Image image = references.image(i);
        pulse(16 * image.count);
        for (std::size_t k = image.order_begin[order - 1]; k < image.order_begin[order]; ++k)
            visit(*image.block, image, k);
    }
}

}  // namespace

std::size_t NgramFrequencies::slot_of(const Ngram& ngram, std::uint64_t hash) const {
    std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash & mask;
    auto tag = static_cast<std::uint32_t>(hash >> 32);
    for (; slots_[slot].entry != 0; slot = (slot + 1) & mask)
        if (slots_[slot].tag == tag && entries_[slots_[slot].entry - 1].ngram == ngram) break;
    return slot;
}

void NgramFrequencies::resize_slots() {
    slots_.assign(std::bit_ceil(std::max(entries_.capacity(), entries_.size() * 3 / 2) + 16), {});
    std::size_t mask = slots_.size() - 1;
    for (std::size_t e = 0; e < entries_.size(); ++e) {
        std::uint64_t hash = entries_[e].ngram.hash();
        std::size_t slot = hash & mask;
        while (slots_[slot].entry != 0) slot = (slot + 1) & mask;
        slots_[slot] = {static_cast<std::uint32_t>(e + 1), static_cast<std::uint32_t>(hash >> 32)};
    }
}

std::uint32_t NgramFrequencies::entry_of(const Ngram& ngram, std::uint64_t hash) {
    std::size_t slot = slot_of(ngram, hash);
    if (slots_[slot].entry != 0) return slots_[slot].entry - 1;
    entries_.push_back({ngram, 0});
    slots_[slot] = {static_cast<std::uint32_t>(entries_.size()), static_cast<std::uint32_t>(hash >> 32)};
    if (entries_.size() * 3 > slots_.size() * 2) resize_slots();
    return static_cast<std::uint32_t>(entries_.size()) - 1;
}

void NgramFrequencies::add(const Ngram& ngram, std::uint32_t count) {
    if (counted_ != nullptr) throw std::logic_error("frequencies that were counted from references cannot be added to");
    entries_[entry_of(ngram, ngram.hash())].count += count;
}

std::uint32_t NgramFrequencies::of(const Ngram& ngram, std::uint64_t hash) const {
    std::uint32_t entry = slots_[slot_of(ngram, hash)].entry;
    return entry == 0 ? 0 : entries_[entry - 1].count;
}

const std::vector<std::uint32_t>* NgramFrequencies::of_references(const ReferenceNgrams& references) const {
    return &references == counted_ ? &documents_ : nullptr;
}

std::vector<NgramFrequencies::Entry> NgramFrequencies::entries() const {
    std::vector<Entry> all = entries_;
    all.reserve(size());
    if (counted_ != nullptr)
        for (const ReferenceNgrams::Block& block : counted_->blocks())
            for (std::size_t k = 0; k < block.size(); ++k)
                if (documents_[block.first_ngram + k] == 1) all.push_back({block.ngram(k), 1});
    return all;
}

std::vector<NgramFrequencies::Entry> NgramFrequencies::common() const { return entries_; }

void NgramFrequencies::restore(const ReferenceNgrams& references, std::vector<Entry> entries,
                               std::span<const std::uint32_t> documents) {
    if (counted_ != nullptr || !entries_.empty()) throw std::logic_error("frequencies can count references only once");
    if (documents.size() != references.size()) throw std::invalid_argument("not one number of documents per n-gram");
    counted_ = &references;
    entries_ = std::move(entries);
    documents_.assign(documents.begin(), documents.end());
    singles_ = static_cast<std::size_t>(std::count(documents_.begin(), documents_.end(), 1u));
    resize_slots();
}

void NgramFrequencies::count(const ReferenceNgrams& references) {
    if (counted_ != nullptr || !entries_.empty()) throw std::logic_error("frequencies can count references only once");
    counted_ = &references;
    documents_.resize(references.size());

    // Words have small numbers: no table needed.
    std::vector<std::uint32_t> by_word;
    for_each_ngram(references, 1,
                   [&](const ReferenceNgrams::Block& block, const ReferenceNgrams::Image&, std::size_t k) {
                       auto word = static_cast<std::size_t>(*block.words(k));
                       if (word >= by_word.size()) by_word.resize(word + 1);
                       ++by_word[word];
                   });
    for_each_ngram(references, 1,
                   [&](const ReferenceNgrams::Block& block, const ReferenceNgrams::Image&, std::size_t k) {
                       documents_[block.first_ngram + k] = by_word[static_cast<std::size_t>(*block.words(k))];
                   });

    // Longer n-grams, order by order. One that contains an n-gram of a single document is in that document only, which
    // spares most of them the table (Agrawal and Srikant 1994).
    struct Waiting {
        std::size_t number;
        Ngram ngram;
        std::uint64_t hash;
    };
    constexpr std::uint32_t kIsEntry = 0x80000000;
    constexpr std::size_t kBatch = 1024;
    std::vector<Waiting> waiting;
    auto count_waiting = [&] {
        for (std::size_t i = 0; i < waiting.size(); ++i) {
            if (i + 2 * kAhead < waiting.size()) prefetch_slot(waiting[i + 2 * kAhead].hash);
            if (i + kAhead < waiting.size()) prefetch_entry(waiting[i + kAhead].hash);
            std::uint32_t entry = entry_of(waiting[i].ngram, waiting[i].hash);
            ++entries_[entry].count;
            documents_[waiting[i].number] = kIsEntry | entry;
        }
        waiting.clear();
    };
    for (int order = 2; order <= kMaxOrder; ++order) {
        for_each_ngram(
            references, order,
            [&](const ReferenceNgrams::Block& block, const ReferenceNgrams::Image& image, std::size_t k) {
                auto is_single = [&](const std::int32_t* part, std::uint64_t hash) {
                    std::int64_t number = image.find(part, order - 1, hash);
                    if (number < 0) throw std::invalid_argument("an index of n-grams without the parts of its n-grams");
                    return documents_[block.first_ngram + image.begin + static_cast<std::size_t>(number)] == 1;
                };
                const std::int32_t* words = block.words(k);
                std::uint64_t head = 0, tail = 0;
                for (int i = 0; i + 1 < order; ++i) {
                    head = hash_step(head, words[i]);
                    tail = hash_step(tail, words[i + 1]);
                }
                bool single = order == 2 ? by_word[static_cast<std::size_t>(words[0])] == 1 ||
                                               by_word[static_cast<std::size_t>(words[1])] == 1
                                         : is_single(words, head) || is_single(words + 1, tail);
                if (single) {
                    documents_[block.first_ngram + k] = 1;
                    return;
                }
                waiting.push_back({block.first_ngram + k, Ngram(words, order), hash_step(head, words[order - 1])});
                if (waiting.size() == kBatch) count_waiting();
            });
        count_waiting();
        for (std::uint32_t& documents : documents_)
            if (documents & kIsEntry) documents = entries_[documents & ~kIsEntry].count;
        std::erase_if(entries_, [](const Entry& entry) { return entry.count == 1; });
        resize_slots();
    }

    for (std::size_t word = 0; word < by_word.size(); ++word) {
        auto id = static_cast<std::int32_t>(word);
        if (by_word[word] > 1) entries_.push_back({Ngram(&id, 1), by_word[word]});
    }
    entries_.shrink_to_fit();
    resize_slots();
    singles_ = static_cast<std::size_t>(std::count(documents_.begin(), documents_.end(), 1u));
}

}  // namespace captious
