// Cells from left to right by their last word, from short to long.
#include "parsing/chart.hpp"

#include <algorithm>
#include <bit>

#include "parsing/clones.hpp"

namespace captious::parsing {
namespace {

// A cell as the loops over rules see it.
struct CellView {
    const std::uint64_t* bits;
    const std::uint16_t* ranks;
    const State* states;
    const float* scores;
    std::size_t size;
};

struct Accumulators {
    float* base;
    std::uint64_t* touched;
    Chart::Step* step;
};

// Finds the blocks of the drivers in one cell that have mates in the other. `found` has room for all blocks: to write
// each and keep it if it has mates is faster than to branch at each.
CAPTIOUS_INLINE std::size_t find_meetings(const Grammar::Side& side, std::size_t n_drivers, const CellView& drivers, const CellView& mates, Meeting* found) {
    std::size_t n = 0;
    for (std::uint32_t i = 0; i < drivers.size && drivers.states[i] < n_drivers; ++i) {
        std::uint32_t end = side.starts[drivers.states[i] + 1u];
        for (std::uint32_t block = side.starts[drivers.states[i]]; block < end; ++block) {
            found[n] = {i, block};
            n += (side.blocks[block].mates & mates.bits[side.blocks[block].word]) != 0;
        }
    }
    return n;
}

// Binary rules over a pair of cells, with drivers in one of them.
template <bool kRight>
CAPTIOUS_INLINE void combine_side(const Grammar::Side& side, std::size_t n_drivers, const CellView& drivers, const CellView& mates, std::uint32_t split,
                                  const Accumulators& to, Meeting* meetings) {
    std::size_t n = find_meetings(side, n_drivers, drivers, mates, meetings);
    for (std::size_t i = 0; i < n; ++i) {
        const Block& block = side.blocks[meetings[i].block];
        float driver = drivers.scores[meetings[i].driver];
        std::uint64_t here = mates.bits[block.word];
        for (std::uint64_t both = block.mates & here; both != 0; both &= both - 1) {
            std::uint64_t before = (both & -both) - 1;
            std::size_t rule = block.first + static_cast<std::size_t>(std::popcount(block.mates & before));
            float mate = mates.scores[mates.ranks[block.word] + std::popcount(here & before)];
            float score = kRight ? side.rules[rule].score + mate + driver : side.rules[rule].score + driver + mate;
            State parent = side.rules[rule].parent;
            if (score <= to.base[parent]) continue;
            to.base[parent] = score;
            to.touched[parent / 64] |= std::uint64_t{1} << parent % 64;
            to.step[parent] = {side.order[rule], split, Chart::kNone};
        }
    }
}

CAPTIOUS_CLONES void combine_cells(const Grammar& grammar, const CellView& left, const CellView& right, std::uint32_t split, const Accumulators& to,
                                   Meeting* meetings) {
    combine_side<true>(grammar.by_right(), grammar.n_drivers(), right, left, split, to, meetings);
    combine_side<false>(grammar.by_left(), grammar.n_drivers(), left, right, split, to, meetings);
}

}  // namespace

Chart::Chart(const Grammar& grammar)
    : grammar_(grammar), n_words_((grammar.n_states() + 63) / 64), base_(grammar.n_states(), kNever), score_(grammar.n_states(), kNever),
      step_(grammar.n_states()), touched_(n_words_),
      meetings_(std::max(grammar.by_left().blocks.size(), grammar.by_right().blocks.size()) + 1) {}

// Fills the cells for which wants(begin, end) is true; require(begin, end) then sets what items must score there. All
// cells of the first `n_kept` words are there.
template <typename Wants, typename Require>
void Chart::fill_cells(Words words, std::size_t n_kept, const Coarsening* coarsening, const Wants& wants, const Require& require) {
    length_ = words.size();
    std::size_t n_cells = index(0, length_ + 1), kept = index(0, n_kept + 1);
    cells_.resize(kept);
    cells_.resize(n_cells);
    bits_.resize(kept * n_words_);
    bits_.resize(n_cells * n_words_);
    ranks_.resize(n_cells * n_words_);
    n_items_ = n_kept == 0 ? 0 : cell(0, n_kept).end;  // it was filled after the others of these words
    if (coarsening != nullptr) {
        base_required_.resize(coarsening->n_symbols());
        score_required_.resize(coarsening->n_symbols());
    }
    for (std::size_t end = n_kept + 1; end <= length_; ++end) {
        for (std::size_t begin = end; begin-- > 0;) {
            if (!wants(begin, end)) continue;
            if (begin + 1 == end) add_tags(words[begin]);
            combine(begin, end);
            require(begin, end);
            close(index(begin, end), coarsening);
        }
    }
}

void Chart::fill(Words words, std::size_t n_kept) {
    auto all = [](std::size_t, std::size_t) { return true; };
    fill_cells(words, n_kept, nullptr, all, all);
}

void Chart::fill(Words words, const CoarseChart& coarse, const Coarsening& coarsening, float threshold) {
    auto wants = [&](std::size_t begin, std::size_t end) { return coarse.best_with(begin, end) >= threshold; };
    fill_cells(words, 0, &coarsening, wants, [&](std::size_t begin, std::size_t end) {
        coarse.requirements(begin, end, threshold, base_required_.data(), score_required_.data());
    });
}

void Chart::fill_beam(Words words, const Coarsening& coarsening, float width) {
    auto all = [](std::size_t, std::size_t) { return true; };
    fill_cells(words, 0, &coarsening, all, [&](std::size_t, std::size_t) {
        float least = best_touched(coarsening) - width;
        std::fill(base_required_.begin(), base_required_.end(), least);
        std::fill(score_required_.begin(), score_required_.end(), least);
    });
}

// The best score and potential of what the cell that is being filled has.
float Chart::best_touched(const Coarsening& coarsening) const {
    float best = kNever;
    for (std::size_t word = 0; word < n_words_; ++word)
        for (std::uint64_t left = touched_[word]; left != 0; left &= left - 1) {
            std::size_t state = word * 64 + static_cast<std::size_t>(std::countr_zero(left));
            best = std::max(best, base_[state] + coarsening.potential(static_cast<State>(state)));
        }
    return best;
}

void Chart::add_tags(std::span<const Tag> tags) {
    for (const Tag& tag : tags) {
        if (tag.score <= base_[tag.state]) continue;
        base_[tag.state] = tag.score;
        touched_[tag.state / 64] |= std::uint64_t{1} << tag.state % 64;
        step_[tag.state] = {};
    }
}

void Chart::combine(std::size_t begin, std::size_t end) {
    Accumulators to{base_.data(), touched_.data(), step_.data()};
    auto view = [&](std::size_t cell) {
        std::uint32_t first = cells_[cell].begin;
        return CellView{bits(cell), ranks(cell), states_.data() + first, scores_.data() + first, cells_[cell].end - first};
    };
    for (std::size_t split = begin + 1; split < end; ++split) {
        CellView left = view(index(begin, split)), right = view(index(split, end));
        if (left.size == 0 || right.size == 0) continue;
        pulse_(256 * left.size);
        combine_cells(grammar_, left, right, static_cast<std::uint32_t>(split), to, meetings_.data());
    }
}

// Chains over a cell; what reaches the threshold becomes items.
void Chart::close(std::size_t cell, const Coarsening* coarsening) {
    auto reaches = [&](State state, float score, const std::vector<float>& required) {
        return coarsening == nullptr || score + coarsening->potential(state) >= required[coarsening->of(state)];
    };
    std::uint64_t* reached = bits_.data() + cell * n_words_;
    for (std::size_t word = 0; word < n_words_; ++word) {
        for (std::uint64_t left = touched_[word]; left != 0; left &= left - 1) {
            auto state = static_cast<State>(word * 64 + static_cast<std::size_t>(std::countr_zero(left)));
            float base = base_[state];
            if (!reaches(state, base, base_required_)) {
                base_[state] = kNever;
                continue;
            }
            reached[word] |= left & -left;
            if (base >= score_[state]) {
                score_[state] = base;
                step_[state].chain = kNone;
            }
            std::uint32_t number = grammar_.first_chain(state);
            for (const Grammar::Chain& chain : grammar_.chains(state)) {
                if (base + chain.score > score_[chain.parent]) {
                    score_[chain.parent] = base + chain.score;
                    step_[chain.parent].chain = number;
                    reached[chain.parent / 64] |= std::uint64_t{1} << chain.parent % 64;
                }
                ++number;
            }
        }
        touched_[word] = 0;
    }
    std::uint32_t first = n_items_;
    std::uint16_t* ranks = ranks_.data() + cell * n_words_;
    make_room(first + grammar_.n_states());
    for (std::size_t word = 0; word < n_words_; ++word) {
        ranks[word] = static_cast<std::uint16_t>(n_items_ - first);
        for (std::uint64_t left = reached[word]; left != 0; left &= left - 1) {
            auto state = static_cast<State>(word * 64 + static_cast<std::size_t>(std::countr_zero(left)));
            states_[n_items_] = state;
            scores_[n_items_] = score_[state];
            steps_[n_items_] = step_[state];
            if (base_[state] != kNever || reaches(state, score_[state], score_required_))
                ++n_items_;
            else
                reached[word] ^= left & -left;
            base_[state] = score_[state] = kNever;
        }
    }
    cells_[cell] = {first, n_items_};
}

void Chart::make_room(std::size_t n_items) {
    if (n_items <= states_.size()) return;
    n_items = std::max(n_items, 2 * states_.size());
    states_.resize(n_items);
    scores_.resize(n_items);
    steps_.resize(n_items);
}

Goal Chart::best() const {
    Goal best{0, kNever};
    if (length_ == 0) return best;
    Cell whole = cell(0, length_);
    for (const Goal& goal : grammar_.goals())
        for (std::uint32_t place = whole.begin; place < whole.end; ++place)
            if (states_[place] == goal.state && goal.score + scores_[place] > best.score) best = {goal.state, goal.score + scores_[place]};
    return best;
}

Chart::Step Chart::step(std::size_t begin, std::size_t end, State state, bool of_base) const {
    std::size_t cell = index(begin, end), word = state / 64u;
    std::uint64_t before = (std::uint64_t{1} << state % 64) - 1;
    Step step = steps_[cells_[cell].begin + ranks(cell)[word] + static_cast<std::uint32_t>(std::popcount(bits(cell)[word] & before))];
    if (of_base)
        step.chain = kNone;
    else if (step.chain != kNone)
        step.chain = grammar_.unary_rule(step.chain);
    return step;
}

}  // namespace captious::parsing
