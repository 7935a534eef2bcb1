// The chart of one sentence: which states may stand over which words, with what scores.
//
// Items whose score, with the best that a coarser chart has outside of them, stays below a threshold are left out. The
// coarser scores being bounds, nothing is lost that could be part of a derivation of at least that score.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "interrupt.hpp"
#include "parsing/coarse.hpp"
#include "parsing/grammar.hpp"

namespace captious::parsing {

// A tag of a word with its score.
struct Tag {
    State state;
    float score;
};

// A driver in one cell, by its place there, with mates in another cell, in one of its blocks.
struct Meeting {
    std::uint32_t driver, block;
};

class Chart {
public:
    using Words = std::span<const std::span<const Tag>>;
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;

    // How the best derivation of an item begins: with a chain, or, as its base does, with a binary rule or a word.
    struct Step {
        std::uint32_t rule = kNone;   // its place in Rules::binary
        std::uint32_t split = 0;      // where its children meet
        std::uint32_t chain = kNone;  // its place in Rules::unary
    };
    struct Cell {
        std::uint32_t begin = 0, end = 0;  // places of items, in the order of their states
    };

    explicit Chart(const Grammar& grammar);

    // Fills all cells for words with these tags. The first `n_kept` words are those of the last call, which was of this
    // function, and their cells stay as they are.
    void fill(Words words, std::size_t n_kept = 0);
    // The same with only the items that reach `threshold` by a coarser chart, whose outside scores are known.
    void fill(Words words, const CoarseChart& coarse, const Coarsening& coarsening, float threshold);
    // The same with only the items that, with their potentials, are not further than `width` from the best of their
    // cell. The best derivation may be lost.
    void fill_beam(Words words, const Coarsening& coarsening, float width);

    // The best score of the whole sentence, or kNever, and what is at its top.
    Goal best() const;

    Cell cell(std::size_t begin, std::size_t end) const { return cells_[index(begin, end)]; }
    // The step of an item, which must be there; of its base if wanted.
    Step step(std::size_t begin, std::size_t end, State state, bool of_base) const;

private:
    // The cells of the first words are before all others, however many words follow.
    static std::size_t index(std::size_t begin, std::size_t end) { return end * (end - 1) / 2 + begin; }
    const std::uint64_t* bits(std::size_t cell) const { return bits_.data() + cell * n_words_; }
    const std::uint16_t* ranks(std::size_t cell) const { return ranks_.data() + cell * n_words_; }
    template <typename Wants, typename Require>
    void fill_cells(Words words, std::size_t n_kept, const Coarsening* coarsening, const Wants& wants, const Require& require);
    void add_tags(std::span<const Tag> tags);
    void combine(std::size_t begin, std::size_t end);
    float best_touched(const Coarsening& coarsening) const;
    void make_room(std::size_t n_items);
    void close(std::size_t cell, const Coarsening* coarsening);

    const Grammar& grammar_;
    std::size_t n_words_;  // of 64 bits, for a set of states
    std::size_t length_ = 0;
    std::vector<Cell> cells_;
    std::vector<std::uint64_t> bits_;   // by cell: the set of its states
    std::vector<std::uint16_t> ranks_;  // beside bits: how many items of the cell are before
    std::uint32_t n_items_ = 0;
    // By place, with room for more: the state, the score of its best derivation and how that begins.
    std::vector<State> states_;
    std::vector<float> scores_;
    std::vector<Step> steps_;
    // Of the cell that is being filled, by state; kNever between cells, and the empty set.
    std::vector<float> base_, score_;
    std::vector<Step> step_;
    std::vector<std::uint64_t> touched_;
    std::vector<Meeting> meetings_;
    Pulse pulse_;
    std::vector<float> base_required_, score_required_;  // by coarse symbol
};

}  // namespace captious::parsing
