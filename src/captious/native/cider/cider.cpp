// Weighted references of CIDEr, and candidates against them; cider.hpp says what each function promises.
#include "cider/cider.hpp"

#include <cmath>
#include <stdexcept>

#include "ngrams/candidate_ngrams.hpp"
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

}  // namespace

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
        Pulse pulse;
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
                pulse(16 * image.count);
                for (std::size_t k = image.begin; k < image.begin + image.count; ++k) {
                    double weight = idf((*documents_)[block.first_ngram + k]);
                    int order = block.order(k) - 1;
                    block.for_each_posting(k, [&](Posting p) {
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

double CiderReferences::length_penalty(std::size_t words, std::size_t others) const {
    auto length = [&](std::size_t n) { return static_cast<double>(options_.length_in_words || n == 0 ? n : n - 1); };
    double delta = length(words) - length(others);
    return std::exp(-(delta * delta) / (2 * options_.sigma * options_.sigma));
}

std::size_t CiderReferences::pairs() const {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < images(); ++i) {
        std::size_t n = references_.first_reference(i + 1) - references_.first_reference(i);
        sum += n * n;
    }
    return sum;
}

void CiderReferences::score_within(int threads, double* out) const {
    if (options_.relative) throw std::invalid_argument("relative counts are not compared within images");
    std::vector<double*> matrix_of{out};
    for (std::size_t i = 0; i < images(); ++i) {
        std::size_t n = references_.first_reference(i + 1) - references_.first_reference(i);
        matrix_of.push_back(matrix_of.back() + n * n);
    }
    parallel_for(references_.images(), threads, 64, [&](std::size_t begin, std::size_t end) {
        std::vector<std::array<double, kMaxOrder>> similarity;  // [n * n]
        std::vector<Posting> postings;
        Pulse pulse;
        for (std::size_t i = begin; i < end; ++i) {
            std::size_t r0 = references_.first_reference(i), n = references_.first_reference(i + 1) - r0;
            ReferenceNgrams::Image image = references_.image(i);
            similarity.assign(n * n, {});
            for (std::size_t k = image.begin; k < image.begin + image.count; ++k) {
                double weight = idf((*documents_)[image.block->first_ngram + k]);
                int order = image.block->order(k) - 1;
                postings.clear();
                image.block->for_each_posting(k, [&](Posting p) { postings.push_back(p); });
                pulse(16 + postings.size() * postings.size());
                for (Posting p : postings) {
                    double mine = p.count * weight;
                    for (Posting q : postings) {
                        double theirs = q.count * weight;
                        similarity[p.reference * n + q.reference][order] +=
                            (options_.clip ? std::min(mine, theirs) : mine) * theirs;
                    }
                }
            }
            auto words = [&](std::size_t r) { return references_.references()[r0 + r].size(); };
            for (std::size_t p = 0; p < n; ++p) {
                for (std::size_t q = 0; q < n; ++q) {
                    double penalty = length_penalty(words(p), words(q)), sum = 0.0;
                    for (int order = 0; order < kMaxOrder; ++order) {
                        double norms = norms_[r0 + p][order] * norms_[r0 + q][order];
                        if (norms != 0.0) sum += similarity[p * n + q][order] / norms * penalty;
                    }
                    matrix_of[i][p * n + q] = sum / kMaxOrder;
                }
            }
        }
    });
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
        std::vector<Ngram> unknown_ngrams;
        Pulse pulse;
        for (std::size_t c = begin; c < end; ++c) {
            auto row = static_cast<std::size_t>(rows[c]);
            if (c + 1 < end) prefetch(static_cast<std::size_t>(rows[c + 1]));
            std::span<const std::int32_t> words = candidates[c];
            ReferenceNgrams::Image image = references_.image(row);
            pulse(32 * words.size() + image.count);
            candidate.collect(image, words, true);
            unknown_ngrams.clear();
            hashes.clear();
            for (const CandidateNgrams::UnknownNgram& s : candidate.unknown_ngrams()) {
                unknown_ngrams.push_back(word_map.empty() ? s.ngram : mapped(s.ngram, word_map));
                hashes.push_back(word_map.empty() ? s.hash : unknown_ngrams.back().hash());
                frequencies_.prefetch_slot(hashes.back());
            }

            std::size_t r0 = references_.first_reference(row), n_references = references_.first_reference(row + 1) - r0;
            similarity.assign(n_references, {});
            std::array<double, kMaxOrder> squares{};
            for (const CandidateNgrams::Match& match : candidate.matches()) {
                int order = match.order - 1;
                double weight = idf((*documents_)[image.block->first_ngram + match.ngram]);
                double value = match.count * weight;
                squares[order] += value * value;
                image.block->for_each_posting(match.ngram, [&](Posting p) {
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
            for (std::size_t s = 0; s < unknown_ngrams.size(); ++s) {
                double value = candidate.unknown_ngrams()[s].count * idf(frequencies_.of(unknown_ngrams[s], hashes[s]));
                squares[unknown_ngrams[s].order() - 1] += value * value;
            }

            double sum = 0.0;
            for (std::size_t r = 0; r < n_references; ++r) {
                std::size_t n_words = references_.references()[r0 + r].size();
                double penalty = length_penalty(words.size(), n_words);
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
