// N-grams (n = 1..4) of the references of each image, indexed once and asked by every n-gram metric.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "hash.hpp"

namespace captious {

constexpr int kMaxOrder = 4;

// Captions as flat arrays that somebody else owns: caption i is ids[offsets[i] .. offsets[i + 1]).
struct TokensView {
    const std::int32_t* ids;
    const std::int64_t* offsets;
    std::size_t count;

    std::span<const std::int32_t> operator[](std::size_t i) const {
        return {ids + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
    }
};

// One n-gram: its words, padded with -1.
struct Ngram {
    std::array<std::int32_t, kMaxOrder> words{-1, -1, -1, -1};

    Ngram() = default;
    Ngram(const std::int32_t* first, int order) { std::copy(first, first + order, words.begin()); }
    bool operator==(const Ngram&) const = default;
    int order() const { return 1 + (words[1] >= 0) + (words[2] >= 0) + (words[3] >= 0); }
    std::uint64_t hash() const {
        auto pair = [this](int i) {
            return static_cast<std::uint64_t>(static_cast<std::uint32_t>(words[i])) << 32 |
                   static_cast<std::uint32_t>(words[i + 1]);
        };
        return mix(pair(0), pair(2));
    }
};

// A reference (by its number within the image) and how often an n-gram occurs in it.
struct Posting {
    std::uint32_t reference;
    std::uint32_t count;
};

// For each image its distinct n-grams, and for each of these the references that hold it.
//
// Images are kept in blocks of a fixed size, each built by one thread; n-grams of a block are numbered from 0, image
// by image. The tokens must outlive the index.
class ReferenceNgrams {
public:
    static constexpr std::size_t kBlockImages = 256;

    struct Block {
        std::vector<std::uint32_t> image_begin{0};    // [images + 1] n-grams of image i: image_begin[i] .. [i + 1]
        std::vector<std::uint32_t> first_at;          // [n-grams] where it first occurs: token of the image * 4 + order - 1
        std::vector<std::uint32_t> postings_begin{0}; // [n-grams + 1]
        std::vector<Posting> postings;
        std::vector<std::uint32_t> slots_begin{0};    // [images + 1] hash table of image i
        std::vector<std::uint16_t> slots;             // n-gram of the image + 1, or 0; two of them for a large image
    };

    ReferenceNgrams(TokensView references, std::span<const std::int64_t> image_offsets, int threads);

    std::size_t images() const { return image_offsets_.size() - 1; }
    const TokensView& references() const { return references_; }
    const std::vector<Block>& blocks() const { return blocks_; }
    // References of image i: first_reference(i) .. first_reference(i + 1).
    std::size_t first_reference(std::size_t image) const { return static_cast<std::size_t>(image_offsets_[image]); }

    // One image of the index.
    struct Image {
        const Block* block;
        std::uint32_t begin;             // its first n-gram in the block
        std::uint32_t count;             // its number of n-grams
        const std::int32_t* tokens;      // of all its references, back to back
        const std::uint16_t* slots;
        std::uint32_t slot_mask;

        Ngram ngram(std::uint32_t k) const {
            std::uint32_t at = block->first_at[begin + k];
            return Ngram(tokens + at / kMaxOrder, static_cast<int>(at % kMaxOrder) + 1);
        }
        std::span<const Posting> postings(std::uint32_t k) const {
            const std::uint32_t* bounds = block->postings_begin.data() + begin + k;
            return {block->postings.data() + bounds[0], bounds[1] - bounds[0]};
        }
        std::int64_t find(const Ngram& ngram) const;  // its number within the image, or -1
    };
    Image image(std::size_t i) const;

private:
    Block build(std::size_t first_image, std::size_t last_image) const;

    TokensView references_;
    std::vector<std::int64_t> image_offsets_;
    std::vector<Block> blocks_;
};

// The distinct n-grams of one candidate with their counts: those that its references have, and the strangers.
class CandidateNgrams {
public:
    struct Known {
        std::uint32_t ngram;  // number within the image
        std::uint32_t count;
        int order;
    };
    struct Stranger {
        Ngram ngram;
        std::uint32_t count;
    };

    // Replaces the content. Without `with_strangers` these are not listed.
    void collect(const ReferenceNgrams::Image& image, std::span<const std::int32_t> words, bool with_strangers);

    const std::vector<Known>& known() const { return known_; }
    const std::vector<Stranger>& strangers() const { return strangers_; }

private:
    void add_stranger(const Ngram& ngram);

    std::vector<Known> known_;
    std::vector<Stranger> strangers_;
    std::vector<std::uint32_t> index_of_;  // [n-grams of the image] index in known_ + 1, or 0; zero between calls
    std::vector<std::uint32_t> slots_;     // hash table of strangers_
    std::vector<char> matched_, matched_before_;
};

// Per image: clipped matches of order 1..4, n-grams of order 1..4, words of the candidate, words of the reference whose
// length is closest (of two equally close ones the shorter). `out` is [images][10].
void bleu_statistics(const ReferenceNgrams& references, TokensView candidates, int threads, double* out);

// Per reference: clipped n-gram matches with the candidate of its image, order 1..4. `out` is [references][4].
void ngram_matches(const ReferenceNgrams& references, TokensView candidates, int threads, std::int64_t* out);

}  // namespace captious
