// Weighted references of CIDEr, and candidates against them; see cider.hpp for the functions.
#include "cider/cider.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <stdexcept>

#include "ngrams/candidate_ngrams.hpp"
#include "parallel.hpp"

namespace captious::cider {

using ngrams::CandidateNgrams;
using ngrams::Posting;

namespace {

constexpr int kTabulatedDocuments = 4096;  // numbers of documents whose logarithms are computed once

// The n-gram in the word ids of the frequencies. An unknown word must not look like padding.
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
    for (int documents = 0; documents < kTabulatedDocuments; ++documents)
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

// Buffer of a thread, refilled for each candidate.
struct CiderReferences::Workspace {
    CandidateNgrams candidate;
    std::vector<Ngram> unknown_ngrams;  // n-grams in no reference of the image, in word ids of the frequencies
    std::vector<std::uint64_t> hashes;  // theirs
    std::vector<std::array<double, kMaxOrder>> similarity;  // [references of the image]
    std::array<double, kMaxOrder> squares;                  // of the candidate's norms
};

void CiderReferences::score(TokensView candidates, std::span<const std::int64_t> rows,
                            std::span<const std::int32_t> word_map, int threads, double* out) const {
    parallel_for(candidates.count, threads, 64, [&](std::size_t begin, std::size_t end) {
        Workspace workspace;
        Pulse pulse;
        for (std::size_t c = begin; c < end; ++c) {
            auto row = static_cast<std::size_t>(rows[c]);
            if (c + 1 < end) prefetch(static_cast<std::size_t>(rows[c + 1]));
            std::span<const std::int32_t> words = candidates[c];
            pulse(32 * words.size() + references_.image(row).count);
            collect(workspace, row, words, word_map);
            add_matches(workspace, row, words.size());
            add_unknown(workspace);
            out[c] = mean_similarity(workspace, row, words.size());
        }
    });
}

void CiderReferences::collect(Workspace& workspace, std::size_t row, std::span<const std::int32_t> words,
                              std::span<const std::int32_t> word_map) const {
    workspace.candidate.collect(references_.image(row), words, true);
    workspace.unknown_ngrams.clear();
    workspace.hashes.clear();
    for (const CandidateNgrams::UnknownNgram& unknown : workspace.candidate.unknown_ngrams()) {
        Ngram ngram = word_map.empty() ? unknown.ngram : mapped(unknown.ngram, word_map);
        workspace.hashes.push_back(word_map.empty() ? unknown.hash : ngram.hash());
        workspace.unknown_ngrams.push_back(ngram);
        frequencies_.prefetch_slot(workspace.hashes.back());
    }
    workspace.similarity.assign(references_.first_reference(row + 1) - references_.first_reference(row), {});
}

void CiderReferences::add_matches(Workspace& workspace, std::size_t row, std::size_t n_words) const {
    ReferenceNgrams::Image image = references_.image(row);
    std::size_t r0 = references_.first_reference(row);
    std::array<double, kMaxOrder>* similarity = workspace.similarity.data();
    std::array<double, kMaxOrder> squares{};
    for (const CandidateNgrams::Match& match : workspace.candidate.matches()) {
        int order = match.order - 1;
        double weight = idf((*documents_)[image.block->first_ngram + match.ngram]);
        double value = match.count * weight;
        squares[order] += value * value;
        image.block->for_each_posting(match.ngram, [&](Posting p) {
            double mine = value, theirs = p.count * weight;
            if (options_.relative) {
                // Both counts times the number of n-grams of the reference, which the cosine below cancels.
                auto n_theirs = static_cast<double>(references_.references()[r0 + p.reference].size()) - order;
                mine *= n_theirs / (static_cast<double>(n_words) - order);
            }
            similarity[p.reference][order] += (options_.clip ? std::min(mine, theirs) : mine) * theirs;
        });
    }
    workspace.squares = squares;
}

void CiderReferences::add_unknown(Workspace& workspace) const {
    for (std::uint64_t hash : workspace.hashes) frequencies_.prefetch_entry(hash);
    for (std::size_t s = 0; s < workspace.unknown_ngrams.size(); ++s) {
        const Ngram& ngram = workspace.unknown_ngrams[s];
        double weight = idf(frequencies_.of(ngram, workspace.hashes[s]));
        double value = workspace.candidate.unknown_ngrams()[s].count * weight;
        workspace.squares[ngram.order() - 1] += value * value;
    }
}

double CiderReferences::mean_similarity(const Workspace& workspace, std::size_t row, std::size_t n_words) const {
    std::size_t r0 = references_.first_reference(row), n_references = workspace.similarity.size();
    double sum = 0.0;
    for (std::size_t r = 0; r < n_references; ++r) {
        std::size_t n_theirs = references_.references()[r0 + r].size();
        double penalty = length_penalty(n_words, n_theirs);
        for (int order = 0; order < kMaxOrder; ++order) {
            double mine = std::sqrt(workspace.squares[order]), theirs = norms_[r0 + r][order];
            double value = workspace.similarity[r][order];
            if (options_.relative && mine != 0.0)
                mine *= (static_cast<double>(n_theirs) - order) / (static_cast<double>(n_words) - order);
            if (mine != 0.0 && theirs != 0.0) value /= mine * theirs;
            sum += value * penalty;
        }
    }
    return sum / kMaxOrder / static_cast<double>(n_references);
}

}  // namespace captious::cider
