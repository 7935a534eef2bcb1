#include "cider.hpp"

#include <algorithm>
#include <cmath>

#include "parallel.hpp"

namespace captious {
namespace {

// The n-gram in the word ids of the frequencies. A word that they do not know must not look like padding.
Ngram mapped(const Ngram& ngram, std::span<const std::int32_t> word_map) {
    constexpr std::int32_t kNoWord = 0x7FFFFFFF;
    if (word_map.empty()) return ngram;
    Ngram out;
    for (int i = 0; i < kMaxOrder && ngram.words[i] >= 0; ++i) {
        auto word = static_cast<std::size_t>(ngram.words[i]);
        std::int32_t to = word < word_map.size() ? word_map[word] : -1;
        out.words[i] = to < 0 ? kNoWord : to;
    }
    return out;
}

}  // namespace

std::size_t DocumentFrequencies::Part::slot_of(const Ngram& ngram, std::uint64_t hash) const {
    std::size_t mask = slots.size() - 1;
    std::size_t slot = hash & mask;
    while (slots[slot] != 0 && !(entries[slots[slot] - 1].ngram == ngram)) slot = (slot + 1) & mask;
    return slot;
}

void DocumentFrequencies::Part::add(const Ngram& ngram, std::uint64_t hash, std::uint32_t count) {
    std::size_t slot = slot_of(ngram, hash);
    if (slots[slot] != 0) {
        entries[slots[slot] - 1].count += count;
        return;
    }
    entries.push_back({ngram, count});
    slots[slot] = static_cast<std::uint32_t>(entries.size());
    if (entries.size() * 3 < slots.size() * 2) return;
    std::vector<std::uint32_t> larger(slots.size() * 2);
    std::size_t mask = larger.size() - 1;
    for (std::size_t e = 0; e < entries.size(); ++e) {
        std::size_t free = entries[e].ngram.hash() & mask;
        while (larger[free] != 0) free = (free + 1) & mask;
        larger[free] = static_cast<std::uint32_t>(e + 1);
    }
    slots = std::move(larger);
}

void DocumentFrequencies::add(const Ngram& ngram, std::uint32_t count) {
    std::uint64_t hash = ngram.hash();
    parts_[part_of(hash)].add(ngram, hash, count);
}

void DocumentFrequencies::prefetch(std::uint64_t hash) const {
    const Part& part = parts_[part_of(hash)];
    __builtin_prefetch(part.slots.data() + (hash & (part.slots.size() - 1)));
}

std::uint32_t DocumentFrequencies::of(const Ngram& ngram, std::uint64_t hash) const {
    const Part& part = parts_[part_of(hash)];
    std::uint32_t entry = part.slots[part.slot_of(ngram, hash)];
    return entry == 0 ? 0 : part.entries[entry - 1].count;
}

std::size_t DocumentFrequencies::size() const {
    std::size_t sum = 0;
    for (const Part& part : parts_) sum += part.entries.size();
    return sum;
}

std::vector<DocumentFrequencies::Entry> DocumentFrequencies::entries() const {
    std::vector<Entry> all;
    all.reserve(size());
    for (const Part& part : parts_) all.insert(all.end(), part.entries.begin(), part.entries.end());
    return all;
}

void DocumentFrequencies::count(const ReferenceNgrams& references, int threads) {
    // Sort the n-grams of some images into their parts, then fill each part from its own list: the order in which a
    // part sees its n-grams, and so the table, does not depend on the number of threads.
    constexpr std::size_t kImages = 2048;
    std::vector<std::vector<Ngram>> lists(parts_.size());
    for (std::size_t first = 0; first < references.images(); first += kImages) {
        std::size_t last = std::min(references.images(), first + kImages);
        for (auto& list : lists) list.clear();
        for (std::size_t i = first; i < last; ++i) {
            ReferenceNgrams::Image image = references.image(i);
            for (std::uint32_t k = 0; k < image.count; ++k) {
                Ngram ngram = image.ngram(k);
                lists[part_of(ngram.hash())].push_back(ngram);
            }
        }
        parallel_for(parts_.size(), threads, 1, [&](std::size_t begin, std::size_t end) {
            for (std::size_t p = begin; p < end; ++p)
                for (const Ngram& ngram : lists[p]) parts_[p].add(ngram, ngram.hash(), 1);
        });
    }
}

CiderReferences::CiderReferences(const ReferenceNgrams& references, const DocumentFrequencies& frequencies,
                                 std::span<const std::int32_t> word_map, CiderOptions options, int threads)
    : references_(references), frequencies_(frequencies), options_(options) {
    for (int documents = 0; documents < 4096; ++documents)
        idf_of_.push_back(options_.log_documents - std::log(std::max(1.0, static_cast<double>(documents))));
    documents_.resize(references_.blocks().size());
    norms_.resize(references_.references().count);
    parallel_for(documents_.size(), threads, 1, [&](std::size_t begin, std::size_t end) {
        std::vector<Ngram> ngrams;
        std::vector<std::uint64_t> hashes;
        for (std::size_t b = begin; b < end; ++b) {
            std::vector<std::uint32_t>& documents = documents_[b];
            documents.resize(references_.blocks()[b].first_at.size());
            std::size_t first = b * ReferenceNgrams::kBlockImages;
            std::size_t last = std::min(references_.images(), first + ReferenceNgrams::kBlockImages);
            for (std::size_t i = first; i < last; ++i) {
                ReferenceNgrams::Image image = references_.image(i);
                ngrams.clear();
                hashes.clear();
                for (std::uint32_t k = 0; k < image.count; ++k) {
                    ngrams.push_back(mapped(image.ngram(k), word_map));
                    hashes.push_back(ngrams.back().hash());
                    frequencies_.prefetch(hashes.back());
                }
                std::size_t r0 = references_.first_reference(i);
                for (std::uint32_t k = 0; k < image.count; ++k) {
                    std::uint32_t n = documents[image.begin + k] = frequencies_.of(ngrams[k], hashes[k]);
                    int order = static_cast<int>(image.block->first_at[image.begin + k] % kMaxOrder);
                    double weight = idf(n);
                    for (const Posting& p : image.postings(k)) {
                        double value = p.count * weight;
                        norms_[r0 + p.reference][order] += value * value;
                    }
                }
            }
            std::size_t r_last = references_.first_reference(last);
            for (std::size_t r = references_.first_reference(first); r < r_last; ++r)
                for (double& norm : norms_[r]) norm = std::sqrt(norm);
        }
    });
}

double CiderReferences::idf(std::uint32_t documents) const {
    if (documents < idf_of_.size()) return idf_of_[documents];
    return options_.log_documents - std::log(static_cast<double>(documents));
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
            std::span<const std::int32_t> words = candidates[c];
            ReferenceNgrams::Image image = references_.image(row);
            const std::vector<std::uint32_t>& documents = documents_[row / ReferenceNgrams::kBlockImages];
            candidate.collect(image, words, true);
            strangers.clear();
            hashes.clear();
            for (const CandidateNgrams::Stranger& s : candidate.strangers()) {
                strangers.push_back(mapped(s.ngram, word_map));
                hashes.push_back(strangers.back().hash());
                frequencies_.prefetch(hashes.back());
            }

            std::size_t r0 = references_.first_reference(row), n_references = references_.first_reference(row + 1) - r0;
            similarity.assign(n_references, {});
            std::array<double, kMaxOrder> squares{};
            for (const CandidateNgrams::Known& known : candidate.known()) {
                double weight = idf(documents[image.begin + known.ngram]);
                double value = known.count * weight;
                squares[known.order - 1] += value * value;
                // Counts are compared as they are, or each divided by the number of n-grams of its caption.
                double share = options_.relative ? static_cast<double>(words.size()) - known.order + 1 : 1.0;
                for (const Posting& p : image.postings(known.ngram)) {
                    double theirs = p.count * weight, mine = value;
                    if (options_.relative) {
                        double their_share = static_cast<double>(references_.references()[r0 + p.reference].size()) - known.order + 1;
                        mine *= their_share / share;  // both times their_share; cancels in the cosine below
                    }
                    similarity[p.reference][known.order - 1] += (options_.clip ? std::min(mine, theirs) : mine) * theirs;
                }
            }
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
