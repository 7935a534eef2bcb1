// CIDEr and CIDEr-D: document frequencies of n-grams, and candidates against weighted references.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ngrams.hpp"

namespace captious {

// In how many documents (images, with all their references) each n-gram occurs. A hash table in parts, so that
// counting touches little memory at a time and parts can be filled side by side.
class DocumentFrequencies {
public:
    struct Entry {
        Ngram ngram;
        std::uint32_t count;
    };

    void count(const ReferenceNgrams& references, int threads);  // one document per image
    void add(const Ngram& ngram, std::uint32_t count);
    std::uint32_t of(const Ngram& ngram) const { return of(ngram, ngram.hash()); }
    std::uint32_t of(const Ngram& ngram, std::uint64_t hash) const;
    void prefetch(std::uint64_t hash) const;

    std::size_t size() const;
    std::vector<Entry> entries() const;

private:
    static constexpr int kPartBits = 6;

    struct Part {
        std::vector<Entry> entries;
        std::vector<std::uint32_t> slots = std::vector<std::uint32_t>(16);  // entry + 1, or 0

        void add(const Ngram& ngram, std::uint64_t hash, std::uint32_t count);
        std::size_t slot_of(const Ngram& ngram, std::uint64_t hash) const;
    };
    static std::size_t part_of(std::uint64_t hash) { return hash >> (64 - kPartBits); }

    std::vector<Part> parts_ = std::vector<Part>(std::size_t{1} << kPartBits);
};

struct CiderOptions {
    double log_documents;    // ln of the number of documents
    double sigma;            // of the Gaussian length penalty; infinity for none
    bool clip;               // CIDEr-D: a candidate's weight counts at most as much as the reference's
    bool relative;           // divide counts by the number of n-grams of the caption
    bool length_in_words;    // lengths of the penalty in words; otherwise in bigrams, as the official code has it
};

// References of all images, weighted: built once, asked for any number of candidates.
class CiderReferences {
public:
    // `word_map` translates word ids of captions to those of `frequencies` (-1: no such word); empty if they are the
    // same. References and frequencies must outlive the object.
    CiderReferences(const ReferenceNgrams& references, const DocumentFrequencies& frequencies,
                    std::span<const std::int32_t> word_map, CiderOptions options, int threads);

    std::size_t images() const { return references_.images(); }

    // Mean over n and references of the similarity of candidate c with the references of image rows[c]; `out` is
    // [candidates], in 0..1.
    void score(TokensView candidates, std::span<const std::int64_t> rows, std::span<const std::int32_t> word_map,
               int threads, double* out) const;

private:
    double idf(std::uint32_t documents) const;

    const ReferenceNgrams& references_;
    const DocumentFrequencies& frequencies_;
    CiderOptions options_;
    std::vector<double> idf_of_;                          // [documents] for small numbers of documents
    std::vector<std::vector<std::uint32_t>> documents_;   // [block][n-gram] documents that hold it
    std::vector<std::array<double, kMaxOrder>> norms_;    // [references]
};

}  // namespace captious
