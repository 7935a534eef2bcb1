#include "cider.hpp"

#include <bit>
#include <cmath>
#include <stdexcept>

#include "parallel.hpp"

namespace captious {
namespace {

constexpr std::size_t kAhead = 8;  // how many steps before its use memory is asked for

// The n-gram in the word ids of the frequencies. A word that they do not know must not look like padding.
Ngram mapped(const Ngram& ngram, std::span<const std::int32_t> word_map) {
    constexpr std::int32_t kNoWord = 0x7FFFFFFF;
    Ngram out;
    for (int i = 0; i < kMaxOrder && ngram.words[i] >= 0; ++i) {
        auto word = static_cast<std::size_t>(ngram.words[i]);
        std::int32_t to = word < word_map.size() ? word_map[word] : -1;
        out.words[i] = to < 0 ? kNoWord : to;
    }
    return out;
}

// Calls visit(block, image, number in the block) for every n-gram of an order.
template <typename Visit>
void each_of_order(const ReferenceNgrams& references, int order, const Visit& visit) {
    for (std::size_t i = 0; i < references.images(); ++i) {
        ReferenceNgrams::Image image = references.image(i);
        for (std::size_t k = image.order_begin[order - 1]; k < image.order_begin[order]; ++k) visit(*image.block, image, k);
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

void NgramFrequencies::count(const ReferenceNgrams& references) {
    if (counted_ != nullptr || !entries_.empty()) throw std::logic_error("frequencies can count references only once");
    counted_ = &references;
    documents_.resize(references.size());

    // Words have small numbers: no table needed.
    std::vector<std::uint32_t> by_word;
    each_of_order(references, 1, [&](const ReferenceNgrams::Block& block, const ReferenceNgrams::Image&, std::size_t k) {
        auto word = static_cast<std::size_t>(*block.words(k));
        if (word >= by_word.size()) by_word.resize(word + 1);
        ++by_word[word];
    });
    each_of_order(references, 1, [&](const ReferenceNgrams::Block& block, const ReferenceNgrams::Image&, std::size_t k) {
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
        each_of_order(references, order, [&](const ReferenceNgrams::Block& block, const ReferenceNgrams::Image& image, std::size_t k) {
            auto is_single = [&](const std::int32_t* part, std::uint64_t hash) {
                auto number = static_cast<std::size_t>(image.find(part, order - 1, hash));
                return documents_[block.first_ngram + image.begin + number] == 1;
            };
            const std::int32_t* words = block.words(k);
            std::uint64_t head = 0, tail = 0;
            for (int i = 0; i + 1 < order; ++i) {
                head = hash_step(head, words[i]);
                tail = hash_step(tail, words[i + 1]);
            }
            if (is_single(words, head) || is_single(words + 1, tail)) {
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

CiderReferences::CiderReferences(const ReferenceNgrams& references, const NgramFrequencies& frequencies,
                                 std::span<const std::int32_t> word_map, CiderOptions options, int threads)
    : references_(references), frequencies_(frequencies), options_(options) {
    for (int documents = 0; documents < 4096; ++documents)
        idf_of_.push_back(options_.log_documents - std::log(std::max(1.0, static_cast<double>(documents))));
    documents_ = frequencies.of_references(references);
    if (documents_ == nullptr) {
        looked_up_.resize(references.size());
        documents_ = &looked_up_;
    }
    norms_.resize(references_.references().count);
    parallel_for(references_.blocks().size(), threads, 1, [&](std::size_t begin, std::size_t end) {
        std::vector<Ngram> ngrams;
        std::vector<std::uint64_t> hashes;
        for (std::size_t b = begin; b < end; ++b) {
            const ReferenceNgrams::Block& block = references_.blocks()[b];
            std::size_t first = b * ReferenceNgrams::kBlockImages;
            std::size_t last = std::min(references_.images(), first + ReferenceNgrams::kBlockImages);
            if (documents_ == &looked_up_) {
                ngrams.clear();
                hashes.clear();
                for (std::size_t k = 0; k < block.size(); ++k) {
                    ngrams.push_back(word_map.empty() ? block.ngram(k) : mapped(block.ngram(k), word_map));
                    hashes.push_back(ngrams.back().hash());
                }
                for (std::size_t k = 0; k < block.size(); ++k) {
                    if (k + 2 * kAhead < block.size()) frequencies_.prefetch_slot(hashes[k + 2 * kAhead]);
                    if (k + kAhead < block.size()) frequencies_.prefetch_entry(hashes[k + kAhead]);
                    looked_up_[block.first_ngram + k] = frequencies_.of(ngrams[k], hashes[k]);
                }
            }
            for (std::size_t i = first; i < last; ++i) {
                std::size_t r0 = references_.first_reference(i);
                ReferenceNgrams::Image image = references_.image(i);
                for (std::size_t k = image.begin; k < image.begin + image.count; ++k) {
                    double weight = idf((*documents_)[block.first_ngram + k]);
                    int order = block.order(k) - 1;
                    block.each_posting(k, [&](Posting p) {
                        double value = p.count * weight;
                        norms_[r0 + p.reference][order] += value * value;
                    });
                }
                for (std::size_t r = r0; r < references_.first_reference(i + 1); ++r)
                    for (double& norm : norms_[r]) norm = std::sqrt(norm);
            }
        }
    });
}

double CiderReferences::idf(std::uint32_t documents) const {
    if (documents < idf_of_.size()) return idf_of_[documents];
    return options_.log_documents - std::log(static_cast<double>(documents));
}

void CiderReferences::prefetch(std::size_t row) const {
    auto lines = [](const auto* from, const auto* to) {
        for (const char* at = reinterpret_cast<const char*>(from); at < reinterpret_cast<const char*>(to); at += 64)
            __builtin_prefetch(at);
    };
    ReferenceNgrams::Image image = references_.image(row);
    const ReferenceNgrams::Block& block = *image.block;
    std::uint32_t end = image.begin + image.count;
    lines(image.slots, image.slots + image.n_slots);
    lines(block.first_at.data() + image.begin, block.first_at.data() + end);
    lines(block.postings_at.data() + image.begin, block.postings_at.data() + end);
    lines(documents_->data() + block.first_ngram + image.begin, documents_->data() + block.first_ngram + end);
    lines(norms_.data() + references_.first_reference(row), norms_.data() + references_.first_reference(row + 1));
}

void CiderReferences::score(TokensView candidates, std::span<const std::int64_t> rows,
                            std::span<const std::int32_t> word_map, int threads, double* out) const {
    parallel_for(candidates.count, threads, 64, [&](std::size_t begin, std::size_t end) {
        CandidateNgrams candidate;
        std::vector<std::array<double, kMaxOrder>> similarity;
        std::vector<std::uint64_t> hashes;
        std::vector<Ngram> strangers;
        for (std::size_t c = begin; c < end; ++c) {
            auto row = static_cast<std::size_t>(rows[c]);
            if (c + 1 < end) prefetch(static_cast<std::size_t>(rows[c + 1]));
            std::span<const std::int32_t> words = candidates[c];
            ReferenceNgrams::Image image = references_.image(row);
            candidate.collect(image, words, true);
            strangers.clear();
            hashes.clear();
            for (const CandidateNgrams::Stranger& s : candidate.strangers()) {
                strangers.push_back(word_map.empty() ? s.ngram : mapped(s.ngram, word_map));
                hashes.push_back(word_map.empty() ? s.hash : strangers.back().hash());
                frequencies_.prefetch_slot(hashes.back());
            }

            std::size_t r0 = references_.first_reference(row), n_references = references_.first_reference(row + 1) - r0;
            similarity.assign(n_references, {});
            std::array<double, kMaxOrder> squares{};
            for (const CandidateNgrams::Known& known : candidate.known()) {
                int order = known.order - 1;
                double weight = idf((*documents_)[image.block->first_ngram + known.ngram]);
                double value = known.count * weight;
                squares[order] += value * value;
                image.block->each_posting(known.ngram, [&](Posting p) {
                    double mine = value, theirs = p.count * weight;
                    if (options_.relative) {
                        // Both counts times the number of n-grams of the reference, which the cosine below cancels.
                        auto n_theirs = static_cast<double>(references_.references()[r0 + p.reference].size()) - order;
                        mine *= n_theirs / (static_cast<double>(words.size()) - order);
                    }
                    similarity[p.reference][order] += (options_.clip ? std::min(mine, theirs) : mine) * theirs;
                });
            }
            for (std::uint64_t hash : hashes) frequencies_.prefetch_entry(hash);
            for (std::size_t s = 0; s < strangers.size(); ++s) {
                double value = candidate.strangers()[s].count * idf(frequencies_.of(strangers[s], hashes[s]));
                squares[strangers[s].order() - 1] += value * value;
            }

            auto length = [&](std::size_t n_words) {
                return static_cast<double>(options_.length_in_words || n_words == 0 ? n_words : n_words - 1);
            };
            double sum = 0.0;
            for (std::size_t r = 0; r < n_references; ++r) {
                std::size_t n_words = references_.references()[r0 + r].size();
                double delta = length(words.size()) - length(n_words);
                double penalty = std::exp(-(delta * delta) / (2 * options_.sigma * options_.sigma));
                for (int order = 0; order < kMaxOrder; ++order) {
                    double mine = std::sqrt(squares[order]), theirs = norms_[r0 + r][order];
                    double value = similarity[r][order];
                    if (options_.relative && mine != 0.0)
                        mine *= (static_cast<double>(n_words) - order) / (static_cast<double>(words.size()) - order);
                    if (mine != 0.0 && theirs != 0.0) value /= mine * theirs;
                    sum += value * penalty;
                }
            }
            out[c] = sum / kMaxOrder / static_cast<double>(n_references);
        }
    });
}

}  // namespace captious
