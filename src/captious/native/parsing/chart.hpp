// The chart of one sentence: the states that may stand over words, with their scores.
//
// Items whose score, with the best outside score in a coarser chart, is below a threshold are left out. Since the
// coarser scores are bounds, no item of a derivation with at least that score is lost.
//
// Charts keep scores only. The first step of the best derivation is recomputed from them for the few items that
// need it: storing it for all would take longer than everything else.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "interrupt.hpp"
#include "parsing/coarse.hpp"
#include "parsing/grammar.hpp"

namespace captious::parsing {

// A state over a word: the scores of its best derivation without a chain on top (kNever if there is none), and of its
// best derivation.
struct WordItem {
    State state;
    float base, score;
};

// A sentence in a coarse chart.
struct Guide {
    const Coarsening& grammar;
    const CoarseChart& chart;
    std::size_t lane;
    CoarseChart::Words seeds;        // of the words, with the ranges of items of each symbol
    std::span<const float> offsets;  // [n_words + 1], cumulative offsets of the bounds of the words before
    float threshold;                 // for scores
    Bound bound;                     // the threshold for bounds
};

// The spans of several words that may be constituents: the words they may begin and end with, and their maximum length
// unless they reach an end of the sentence, whose last word may be its period.
struct Spans {
    static constexpr std::uint8_t kMayBegin = 1, kMayEnd = 2;

    std::span<const std::uint8_t> words = {};  // none if all words may
    std::size_t longest = std::numeric_limits<std::size_t>::max();

    bool has(std::size_t begin, std::size_t end) const {
        if (words.empty() || begin + 1 == end) return true;
        return (words[begin] & kMayBegin) && (words[end - 1] & kMayEnd) &&
               (end - begin <= longest || begin == 0 || end + 1 >= words.size());
    }
};

// A block of rules whose driver is in a cell: the index of its first rule, and the driver's score.
struct Drive {
    std::uint32_t first;
    float score;
};

class Chart {
public:
    // Items over each word of a sentence.
    using Words = std::span<const std::span<const WordItem>>;
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;

    // First step of the best derivation of an item: a chain or none, and below that a binary rule or a word.
    struct Step {
        std::uint32_t chain, rule;  // their indices in Rules::unary and Rules::binary, or kNone
        std::size_t split;          // boundary between the children of the binary rule
    };

    explicit Chart(const Grammar& grammar);

    // Fills all cells, with these items over the words. The first `n_kept` words are those of the last call,
    // which was of this function, and their cells are reused.
    void fill(Words words, std::size_t n_kept = 0);
    // Fills cells with only the items that reach the threshold by a coarser chart, whose outside bounds are known.
    void fill(Words words, const Guide& guide);
    // Fills cells with only the items that, with their potentials, are within `width` of the best of their
    // cell, and only the cells of some spans. The best derivation may be lost.
    void fill_beam(Words words, const Coarsening& coarsening, float width, const Spans& spans = {});

    // The best score of the whole sentence, or kNever, and the state at its top.
    Goal best() const;

    // The blocks of rules that filling the chart looked at.
    std::uint64_t work() const { return work_; }

    // The step of an item, which must be there.
    Step step(std::size_t begin, std::size_t end, State state) const;

private:
    struct Cell {
        std::size_t set = 0;                             // index of the set of its states; the first one is empty
        std::uint32_t begin = 0, end = 0;                // range of items, in the order of their states
        std::uint32_t first_buried = 0, end_buried = 0;  // range in buried_
        std::uint32_t left_drives = 0, right_drives = 0,
                      end_drives = 0;  // of its items as left children, then as right ones
    };
    // The best rule over an item's words, and its score.
    struct Base {
        float score = kNever;
        std::uint32_t rule = kNone;
        std::size_t split = 0;
    };

    // The cells of the first words precede all others, however many words follow.
    static std::size_t index(std::size_t begin, std::size_t end) { return end * (end - 1) / 2 + begin; }
    const Cell& cell(std::size_t begin, std::size_t end) const { return cells_[index(begin, end)]; }
    const std::uint64_t* bits(std::size_t cell) const { return bits_.data() + cells_[cell].set * n_words_; }
    const std::uint16_t* ranks(std::size_t cell) const { return ranks_.data() + cells_[cell].set * n_words_; }
    float score(std::size_t cell, State state) const {
        std::uint64_t here = bits(cell)[state / 64u], member = std::uint64_t{1} << state % 64;
        if ((here & member) == 0) return kNever;
        return scores_[cells_[cell].begin + ranks(cell)[state / 64u] +
                       static_cast<std::uint32_t>(std::popcount(here & (member - 1)))];
    }
    Base base(std::size_t begin, std::size_t end, State state) const;
    bool may_be_made_by(std::size_t cell, const Grammar::Under& chain, float target) const;

    void begin(Words words, std::size_t n_kept);
    template <typename Wants, typename Close>
    void fill_cells(std::size_t n_kept, const Wants& wants, const Close& close);
    void combine(std::size_t begin, std::size_t end);
    void take(std::span<const WordItem> items);
    template <typename Reaches>
    void take_listed(const Reaches& reaches);
    template <typename Reaches>
    void store(std::size_t begin, std::size_t end, const Reaches& reaches);
    void add_drives(const Cell& cell, const Grammar::Side& side);

    const Grammar& grammar_;
    std::size_t n_words_;  // of 64 bits, for a set of states
    Words words_;
    std::vector<Cell> cells_;
    std::size_t n_sets_ = 1;
    std::vector<std::uint64_t> bits_;   // by index, with spare room: the set of the states of a cell
    std::vector<std::uint16_t> ranks_;  // parallel to bits: number of earlier items of the cell
    // By index, with spare room: the state and the score of its best derivation.
    std::uint32_t n_items_ = 0;
    std::vector<State> states_;
    std::vector<float> scores_;
    // States that are not items, since they are useful only below a chain; by cell and in order.
    std::uint32_t n_buried_ = 0;
    std::vector<State> buried_;
    // The blocks of rules that items drive, as Grammar::Side has them; with room for more.
    std::uint32_t n_drives_ = 0;
    std::vector<std::uint64_t> drive_mates_;
    std::vector<std::uint16_t> drive_words_;
    std::vector<Drive> drives_;
    // Of the cell that is being filled, by state; kNever between cells, and the empty sets.
    std::vector<float> base_, score_;
    std::vector<std::uint64_t> touched_, reached_;
    std::vector<State> list_;  // of states, with room for all and kPiece more
    std::size_t n_listed_ = 0;
    std::vector<std::uint32_t> meetings_;  // drives that have mates, with room for all
    std::uint64_t work_ = 0;
    Pulse pulse_;
};

}  // namespace captious::parsing
