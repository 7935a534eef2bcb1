// N-grams (n = 1..4) of the references of each image, indexed once and used by every n-gram metric.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tokens.hpp"

namespace captious::ngrams {

constexpr int kMaxOrder = 4;

// The hash of an n-gram grows word by word, so hashing all n-grams at a position takes one step each.
inline std::uint64_t hash_step(std::uint64_t hash, std::int32_t word) {
    hash = (hash ^ (static_cast<std::uint32_t>(word) + 1ULL)) * 0x9E3779B97F4A7C15ULL;
    return hash ^ hash >> 31;
}

// Whether two n-grams of the same order are the same; too short for a call of memcmp to pay.
inline bool same_words(const std::int32_t* a, const std::int32_t* b, int order) {
    for (int i = 0; i < order; ++i)
        if (a[i] != b[i]) return false;
    return true;
}

// One n-gram: its words, padded with -1.
struct Ngram {
    std::array<std::int32_t, kMaxOrder> words{-1, -1, -1, -1};

    Ngram() = default;
    Ngram(const std::int32_t* first, int order) {
        for (int i = 0; i < kMaxOrder; ++i) words[i] = i < order ? first[i] : -1;
    }
    bool operator==(const Ngram& other) const { return same_words(words.data(), other.words.data(), kMaxOrder); }
    int order() const { return 1 + (words[1] >= 0) + (words[2] >= 0) + (words[3] >= 0); }
    std::uint64_t hash() const {
        std::uint64_t hash = 0;
        for (int i = 0; i < kMaxOrder && words[i] >= 0; ++i) hash = hash_step(hash, words[i]);
        return hash;
    }
};

constexpr std::uint32_t kLarge = 0xFFFF;  // images with as many n-grams take two half-words per slot

inline std::uint32_t read_slot(const std::uint16_t* slots, std::uint32_t slot, bool large) {
    if (!large) return slots[slot];
    return slots[2 * slot] | static_cast<std::uint32_t>(slots[2 * slot + 1]) << 16;
}

// The start of the search for a hash in a table of any size.
inline std::uint32_t first_slot(std::uint64_t hash, std::uint64_t size) {
    return static_cast<std::uint32_t>((hash >> 32) * size >> 32);
}

// A reference (by its number within the image) and how often an n-gram occurs in it.
struct Posting {
    std::uint32_t reference;
    std::uint32_t count;
};

// For each image its distinct n-grams, and for each of these the references that contain it.
//
// Images are kept in blocks of a fixed size, each built by one thread. The tokens must outlive the index.
class ReferenceNgrams {
public:
    static constexpr std::size_t kBlockImages = 256;
    static constexpr std::uint32_t kOnce = 0x80000000, kLast = 0x80000000;

    // Memory of a built block; a saved block is a view of memory owned elsewhere.
    struct Built {
        std::vector<std::uint32_t> order_begin{0}, first_at, postings_at, postings, slots_begin{0};
        std::vector<std::uint16_t> slots;
    };

    // The n-grams of a block are numbered from 0, image by image, within an image order by order.
    struct Block {
        const std::int32_t* tokens = nullptr;        // of all its references, back to back
        std::size_t first_ngram = 0;                 // number of n-grams in the blocks before
        std::span<const std::uint32_t> order_begin;  // [images * 4 + 1] where each order of each image begins
        std::span<const std::uint32_t> first_at;     // [n-grams] where it first occurs: 4 * token + order - 1
        std::span<const std::uint32_t> postings_at;  // [n-grams] where its postings begin; or kOnce | reference
        std::span<const std::uint32_t> postings;     // kLast at the last of an n-gram | reference << 16 | count
        std::span<const std::uint32_t> slots_begin;  // [images + 1] hash table of image i
        std::span<const std::uint16_t> slots;        // n-gram of the image + 1, or 0; two of them for a large image
        bool wide = false;                           // too large for 15 and 16 bits: postings take two numbers each

        std::size_t size() const { return first_at.size(); }
        int order(std::size_t k) const { return static_cast<int>(first_at[k] % kMaxOrder) + 1; }
        const std::int32_t* words(std::size_t k) const { return tokens + first_at[k] / kMaxOrder; }
        Ngram ngram(std::size_t k) const { return Ngram(words(k), order(k)); }
        bool is(std::size_t k, const std::int32_t* other, int other_order) const {
            return order(k) == other_order && same_words(words(k), other, other_order);
        }

        template <typename Visit>  // visit(Posting) for every reference that holds n-gram k
        void for_each_posting(std::size_t k, const Visit& visit) const {
            std::uint32_t at = postings_at[k];
            if (at & kOnce) {  // most n-grams occur once in one reference
                visit(Posting{at & ~kOnce, 1});
                return;
            }
            for (bool last = false; !last; at += wide ? 2 : 1) {
                std::uint32_t posting = postings[at];
                last = (posting & kLast) != 0;
                posting &= ~kLast;
                visit(wide ? Posting{posting, postings[at + 1]} : Posting{posting >> 16, posting & 0xFFFF});
            }
        }
    };

    // Parts of a saved index: the arrays of all blocks, back to back, and the size of each in every block.
    struct Saved {
        std::span<const std::int64_t> sizes;  // [blocks][4]: n-grams, postings, slots, whether it is wide
        std::span<const std::uint32_t> order_begin, first_at, postings_at, postings, slots_begin;
        std::span<const std::uint16_t> slots;
    };

    ReferenceNgrams(TokensView references, std::span<const std::int64_t> image_offsets, int threads);
    // A saved index; its arrays must outlive it. Throws std::invalid_argument for arrays that would lead out
    // of bounds or into an endless search. Whether they are the n-grams of these references is not checked.
    ReferenceNgrams(TokensView references, std::span<const std::int64_t> image_offsets, const Saved& saved,
                    int threads);

    ReferenceNgrams(const ReferenceNgrams&) = delete;  // blocks point into it
    ReferenceNgrams& operator=(const ReferenceNgrams&) = delete;

    std::size_t images() const { return image_offsets_.size() - 1; }
    std::size_t size() const { return blocks_.empty() ? 0 : blocks_.back().first_ngram + blocks_.back().size(); }
    const TokensView& references() const { return references_; }
    const std::vector<Block>& blocks() const { return blocks_; }
    // References of image i: first_reference(i) .. first_reference(i + 1).
    std::size_t first_reference(std::size_t image) const { return static_cast<std::size_t>(image_offsets_[image]); }

    // One image of the index; its n-grams are begin .. begin + count of its block.
    struct Image {
        const Block* block;
        std::uint32_t begin;
        std::uint32_t count;
        const std::uint32_t* order_begin;  // [5]
        const std::uint16_t* slots;
        std::uint32_t n_slots;

        // The number within the image of the n-gram of `order` words from `words` on, or -1.
        std::int64_t find(const std::int32_t* words, int order, std::uint64_t hash) const;
    };
    Image image(std::size_t i) const;

private:
    void build(std::size_t first_image, std::size_t last_image, Built& built, Block& block) const;
    void check(std::size_t first_image, std::size_t last_image, const Block& block) const;
    void number_blocks();

    TokensView references_;
    std::vector<std::int64_t> image_offsets_;
    std::vector<Built> built_;
    std::vector<Block> blocks_;
};

inline std::int64_t ReferenceNgrams::Image::find(const std::int32_t* words, int order, std::uint64_t hash) const {
    bool large = count >= kLarge;
    for (std::uint32_t slot = first_slot(hash, n_slots);; slot = slot + 1 < n_slots ? slot + 1 : 0) {
        std::uint32_t k = read_slot(slots, slot, large);
        if (k == 0) return -1;
        --k;
        if (block->is(begin + k, words, order)) return k;
    }
}

}  // namespace captious::ngrams
