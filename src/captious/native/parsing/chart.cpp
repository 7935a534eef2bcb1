// Cells from left to right by their last word, from short to long.
#include "parsing/chart.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <utility>

#include "parsing/clones.hpp"

namespace captious::parsing {
namespace {

constexpr std::size_t kPiece = Grammar::kPiece;

// A cell for the loops over rules.
struct CellView {
    const std::uint64_t* bits;
    const std::uint16_t* ranks;
    const float* scores;
};

struct DrivesView {
    const std::uint64_t* mates;
    const std::uint16_t* words;
    const Drive* drives;
    std::uint32_t size;
};

// Finds the drives that have mates in a cell. `found` has room for all: writing each and keeping it if it has mates is
// faster than branching.
CAPTIOUS_INLINE std::size_t find_meetings(const DrivesView& from, const std::uint64_t* mates, std::uint32_t* meetings) {
    std::size_t n = 0;
    for (std::uint32_t i = 0; i < from.size; ++i) {
        meetings[n] = i;
        n += (from.mates[i] & mates[from.words[i]]) != 0;
    }
    return n;
}

// Binary rules over a pair of cells, with drivers in one of them.
template <bool kRight>
CAPTIOUS_INLINE void combine_side(const Grammar::Side& side, const DrivesView& from, const CellView& mates, float* base,
                                  std::uint64_t* touched, std::uint32_t* meetings) {
    std::size_t n = find_meetings(from, mates.bits, meetings);
    for (std::size_t i = 0; i < n; ++i) {
        std::uint32_t at = meetings[i];
        Drive drive = from.drives[at];
        std::uint64_t all = from.mates[at], here = mates.bits[from.words[at]];
        std::size_t first = mates.ranks[from.words[at]];
        for (std::uint64_t both = all & here; both != 0; both &= both - 1) {
            std::uint64_t before = (both & -both) - 1;
            const Driven& rule = side.rules[drive.first + static_cast<std::size_t>(std::popcount(all & before))];
            float mate = mates.scores[first + static_cast<std::size_t>(std::popcount(here & before))];
            float score = kRight ? rule.score + mate + drive.score : rule.score + drive.score + mate;
            base[rule.parent] = std::max(base[rule.parent], score);
            touched[rule.parent / 64] |= std::uint64_t{1} << rule.parent % 64;
        }
    }
}

CAPTIOUS_INLINE void combine_cells(const Grammar& grammar, const DrivesView& by_left, const CellView& left,
                                   const DrivesView& by_right, const CellView& right, float* base,
                                   std::uint64_t* touched, std::uint32_t* meetings) {
    combine_side<true>(grammar.by_right(), by_right, left, base, touched, meetings);
    combine_side<false>(grammar.by_left(), by_left, right, base, touched, meetings);
}

// Moves the members of a set of states into a sorted list, and returns their number.
CAPTIOUS_INLINE std::size_t move_members(std::span<std::uint64_t> set, State* list) {
    std::size_t n = 0;
    for (std::size_t word = 0; word < set.size(); ++word) {
        std::uint64_t left = std::exchange(set[word], 0);
        if (left == 0) continue;
        std::size_t size = static_cast<std::size_t>(std::popcount(left));
        for (std::size_t begin = n; begin < n + size; begin += kPiece)
            for (std::size_t i = begin; i < begin + kPiece; ++i, left &= left - 1)
                list[i] = static_cast<State>(word * 64 + static_cast<std::size_t>(std::countr_zero(left)));
        n += size;
    }
    return n;
}

}  // namespace

Chart::Chart(const Grammar& grammar)
    : grammar_(grammar),
      n_words_((grammar.n_states() + 63) / 64),
      bits_(n_words_),
      ranks_(n_words_),
      base_(grammar.n_states(), kNever),
      score_(grammar.n_states(), kNever),
      touched_(n_words_),
      reached_(n_words_),
      list_(grammar.n_states() + kPiece),
      meetings_(std::max(grammar.by_left().mates.size(), grammar.by_right().mates.size()) + 1) {}

void Chart::begin(Words words, std::size_t n_kept) {
    words_ = words;
    work_ = 0;
    std::size_t n_cells = index(0, words.size() + 1), kept = index(0, n_kept + 1);
    cells_.resize(kept);
    cells_.resize(n_cells);
    const Cell last = n_kept == 0 ? Cell{} : cell(0, n_kept);  // filled after the other cells of these words
    n_sets_ = last.set + 1;
    n_items_ = last.end;
    n_drives_ = last.end_drives;
    n_buried_ = last.end_buried;
}

CAPTIOUS_INLINE void Chart::combine(std::size_t begin, std::size_t end) {
    auto view = [&](std::size_t cell) {
        return CellView{bits(cell), ranks(cell), scores_.data() + cells_[cell].begin};
    };
    auto drives = [&](std::uint32_t first, std::uint32_t last) {
        return DrivesView{drive_mates_.data() + first, drive_words_.data() + first, drives_.data() + first,
                          last - first};
    };
    for (std::size_t split = begin + 1; split < end; ++split) {
        const Cell &left = cell(begin, split), &right = cell(split, end);
        if (left.begin == left.end || right.begin == right.end) continue;
        pulse_(256 * (left.end - left.begin));
        work_ += left.right_drives - left.left_drives + right.end_drives - right.right_drives;
        combine_cells(grammar_, drives(left.left_drives, left.right_drives), view(index(begin, split)),
                      drives(right.right_drives, right.end_drives), view(index(split, end)), base_.data(),
                      touched_.data(), meetings_.data());
    }
}

// Adds items over a word, chains included, to the cell.
CAPTIOUS_INLINE void Chart::take(std::span<const WordItem> items) {
    for (const WordItem& item : items) {
        base_[item.state] = item.base;
        score_[item.state] = item.score;
        reached_[item.state / 64] |= std::uint64_t{1} << item.state % 64;
    }
}

// Keeps the listed bases that reach their thresholds, and the chains above them.
template <typename Reaches>
CAPTIOUS_INLINE void Chart::take_listed(const Reaches& reaches) {
    for (std::size_t i = 0; i < n_listed_; ++i) {
        State state = list_[i];
        float base = base_[state];
        if (!reaches(state, base)) {
            base_[state] = kNever;
            continue;
        }
        score_[state] = std::max(score_[state], base);
        reached_[state / 64] |= std::uint64_t{1} << state % 64;
        for (const Grammar::Chain& chain : grammar_.chains(state)) {
            score_[chain.parent] = std::max(score_[chain.parent], base + chain.score);
            reached_[chain.parent / 64] |= std::uint64_t{1} << chain.parent % 64;
        }
    }
}

// Makes items of states that reach their thresholds.
template <typename Reaches>
CAPTIOUS_INLINE void Chart::store(std::size_t begin, std::size_t end, const Reaches& reaches) {
    Cell& current = cells_[index(begin, end)];
    current.set = n_sets_++;
    if (bits_.size() < n_sets_ * n_words_) {
        bits_.resize(2 * n_sets_ * n_words_);
        ranks_.resize(bits_.size());
    }
    std::uint64_t* bits = bits_.data() + current.set * n_words_;
    std::copy(reached_.begin(), reached_.end(), bits);
    std::size_t n = move_members(reached_, list_.data());
    if (states_.size() < n_items_ + n + 1) {
        states_.resize(2 * (n_items_ + n) + 1);
        scores_.resize(states_.size());
    }
    if (buried_.size() < n_buried_ + n + 1) buried_.resize(2 * (n_buried_ + n) + 1);
    current.begin = n_items_;
    current.first_buried = n_buried_;
    for (std::size_t i = 0; i < n; ++i) {
        State state = list_[i];
        float score = std::exchange(score_[state], kNever);
        bool has_base = std::exchange(base_[state], kNever) != kNever;
        std::uint64_t kept = reaches(state, score);
        buried_[n_buried_] = state;
        n_buried_ += static_cast<std::uint32_t>(has_base && kept == 0);
        states_[n_items_] = state;
        scores_[n_items_] = score;
        n_items_ += static_cast<std::uint32_t>(kept);
        bits[state / 64] ^= (kept ^ 1) << state % 64;
    }
    std::uint16_t* ranks = ranks_.data() + current.set * n_words_;
    std::size_t rank = 0;
    for (std::size_t word = 0; word < n_words_; ++word) {
        ranks[word] = static_cast<std::uint16_t>(rank);
        rank += static_cast<std::size_t>(std::popcount(bits[word]));
    }
    current.end = n_items_;
    current.end_buried = n_buried_;
    current.left_drives = n_drives_;
    if (end < words_.size()) add_drives(current, grammar_.by_left());
    current.right_drives = n_drives_;
    if (begin > 0) add_drives(current, grammar_.by_right());
    current.end_drives = n_drives_;
}

CAPTIOUS_INLINE void Chart::add_drives(const Cell& cell, const Grammar::Side& side) {
    if (std::size_t most = n_drives_ + side.mates.size(); drives_.size() < most) {
        most += most / 2;
        drives_.resize(most);
        drive_mates_.resize(most);
        drive_words_.resize(most);
    }
    for (std::uint32_t place = cell.begin; place < cell.end && states_[place] < grammar_.n_drivers(); ++place) {
        std::uint32_t from = side.starts[states_[place]], size = side.starts[states_[place] + 1u] - from;
        for (std::uint32_t begin = 0; begin < size; begin += kPiece)
            for (std::uint32_t i = begin; i < begin + kPiece; ++i) {
                drive_mates_[n_drives_ + i] = side.mates[from + i];
                drive_words_[n_drives_ + i] = side.words[from + i];
                drives_[n_drives_ + i] = {side.firsts[from + i], scores_[place]};
            }
        n_drives_ += size;
    }
}

// Fills the cells of the words from `n_kept` on for which wants(begin, end) is true; close(begin, end) makes items of
// the results of binary rules, and of words.
template <typename Wants, typename Close>
CAPTIOUS_INLINE void Chart::fill_cells(std::size_t n_kept, const Wants& wants, const Close& close) {
    for (std::size_t end = n_kept + 1; end <= words_.size(); ++end)
        for (std::size_t begin = end; begin-- > 0;) {
            if (!wants(begin, end)) continue;
            combine(begin, end);
            close(begin, end);
        }
}

CAPTIOUS_CLONES void Chart::fill(Words words, std::size_t n_kept) {
    begin(words, n_kept);
    auto any = [](State, float) CAPTIOUS_INLINE_LAMBDA { return true; };
    fill_cells(
        n_kept, [](std::size_t, std::size_t) { return true; },
        [&](std::size_t begin, std::size_t end) CAPTIOUS_INLINE_LAMBDA {
            if (begin + 1 == end) take(words[begin]);
            n_listed_ = move_members(touched_, list_.data());
            take_listed(any);
            store(begin, end, any);
        });
}

CAPTIOUS_CLONES void Chart::fill(Words words, const Guide& guide) {
    begin(words, 0);
    auto wants = [&](std::size_t begin, std::size_t end) {
        return guide.chart.best_with(guide.lane, begin, end) >= guide.bound;
    };
    fill_cells(0, wants, [&](std::size_t begin, std::size_t end) CAPTIOUS_INLINE_LAMBDA {
        CoarseChart::Outside outside = guide.chart.outside(guide.lane, begin, end);
        float least = guide.threshold - (guide.offsets.back() - guide.offsets[end] + guide.offsets[begin]);
        auto base_reaches = [&](State state, float base) CAPTIOUS_INLINE_LAMBDA {
            return base + guide.grammar.potential(state) >=
                   least - outside.base(guide.grammar.of(state)) * (1 / kUnits);
        };
        auto reaches = [&](State state, float score) CAPTIOUS_INLINE_LAMBDA {
            return score + guide.grammar.potential(state) >=
                   least - outside.score(guide.grammar.of(state)) * (1 / kUnits);
        };
        if (begin + 1 == end)
            for (const Seed& seed : guide.seeds[begin])
                if (seed.base + outside.base(seed.symbol) >= guide.bound ||
                    seed.score + outside.score(seed.symbol) >= guide.bound)
                    take(words[begin].subspan(seed.first, seed.size));
        n_listed_ = move_members(touched_, list_.data());
        take_listed(base_reaches);
        store(begin, end, reaches);
    });
}

CAPTIOUS_CLONES void Chart::fill_beam(Words words, const Coarsening& coarsening, float width, const Spans& spans) {
    begin(words, 0);
    auto bound = [&](State state, float score) CAPTIOUS_INLINE_LAMBDA { return score + coarsening.potential(state); };
    fill_cells(
        0, [&](std::size_t begin, std::size_t end) { return spans.has(begin, end); },
        [&](std::size_t begin, std::size_t end) CAPTIOUS_INLINE_LAMBDA {
            float best = kNever;
            if (begin + 1 == end)
                for (const WordItem& item : words[begin]) best = std::max(best, bound(item.state, item.score));
            n_listed_ = move_members(touched_, list_.data());
            for (std::size_t i = 0; i < n_listed_; ++i) best = std::max(best, bound(list_[i], base_[list_[i]]));
            auto reaches = [&](State state, float score)
                               CAPTIOUS_INLINE_LAMBDA { return bound(state, score) >= best - width; };
            if (begin + 1 == end)
                for (const WordItem& item : words[begin])
                    if (reaches(item.state, item.score)) take({&item, 1});
            take_listed(reaches);
            store(begin, end, reaches);
        });
}

Goal Chart::best() const {
    Goal best{0, kNever};
    if (words_.empty()) return best;
    for (const Goal& goal : grammar_.goals())
        if (float total = goal.score + score(index(0, words_.size()), goal.state); total > best.score)
            best = {goal.state, total};
    return best;
}

Chart::Step Chart::step(std::size_t begin, std::size_t end, State state) const {
    std::size_t cell = index(begin, end);
    float target = score(cell, state);
    for (const Grammar::Under& chain : grammar_.chains_to(state)) {
        if (!may_be_made_by(cell, chain, target)) continue;
        if (Base below = base(begin, end, chain.child); below.score + chain.score == target)
            return {chain.rule, below.rule, below.split};
    }
    Base own = base(begin, end, state);
    return {kNone, own.rule, own.split};
}

// Whether an item with this score may have been made by this chain.
bool Chart::may_be_made_by(std::size_t cell, const Grammar::Under& chain, float target) const {
    if (score(cell, chain.child) + chain.score >= target) return true;
    auto first = buried_.begin() + cells_[cell].first_buried, end = buried_.begin() + cells_[cell].end_buried;
    return std::binary_search(first, end, chain.child);
}

// The best rule over an item's words. The score is that of the chart; 64-bit sums decide which rule it is,
// as in CoreNLP.
Chart::Base Chart::base(std::size_t begin, std::size_t end, State state) const {
    Base best;
    if (begin + 1 == end) {
        for (const WordItem& item : words_[begin])
            if (item.state == state) best.score = item.base;
        return best;
    }
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t split = begin + 1; split < end; ++split) {
        std::size_t left = index(begin, split), right = index(split, end);
        for (const Grammar::Made& rule : grammar_.made(state)) {
            float of_left = score(left, rule.left);
            if (of_left == kNever) continue;
            float of_right = score(right, rule.right);
            if (of_right == kNever) continue;
            best.score = std::max(best.score, rule.score + of_left + of_right);
            double sum = static_cast<double>(rule.score) + static_cast<double>(of_left) + static_cast<double>(of_right);
            if (sum <= most) continue;
            most = sum;
            best.rule = rule.rule;
            best.split = split;
        }
    }
    return best;
}

}  // namespace captious::parsing
