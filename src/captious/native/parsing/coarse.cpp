// Coarse rules from finer ones, and dense loops over them.
#include "parsing/coarse.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "interrupt.hpp"
#include "parsing/clones.hpp"

namespace captious::parsing {
namespace {

constexpr std::size_t kLanes = CoarseChart::kLanes;
constexpr float kLargestPotential = 1024.0f;
#pragma GCC diagnostic ignored "-Wpsabi"  // Lanes never leave this file
typedef Bound Lanes __attribute__((vector_size(kLanes * sizeof(Bound))));

CAPTIOUS_INLINE Lanes load(const Bound* from) {
    Lanes lanes;
    std::memcpy(&lanes, from, sizeof lanes);
    return lanes;
}

CAPTIOUS_INLINE void store(Bound* to, Lanes lanes) { std::memcpy(to, &lanes, sizeof lanes); }

CAPTIOUS_INLINE Lanes larger(Lanes a, Lanes b) { return a > b ? a : b; }

CAPTIOUS_INLINE Lanes smaller(Lanes a, Lanes b) { return a < b ? a : b; }

CAPTIOUS_INLINE Lanes all(Bound bound) { return Lanes{} + bound; }

CAPTIOUS_INLINE bool any(decltype(std::declval<Lanes>() >= std::declval<Lanes>()) lanes) {
    std::uint64_t parts[4];
    static_assert(sizeof parts == sizeof lanes);
    std::memcpy(parts, &lanes, sizeof lanes);
    return (parts[0] | parts[1] | parts[2] | parts[3]) != 0;
}

// Keeps the outside bounds of a symbol that reach the thresholds with the inside ones, and returns whether there are
// any. `highest` is over all, `best` over the kept ones.
CAPTIOUS_INLINE bool cut(Lanes thresholds, const Bound* inside, Bound* outside, Lanes& highest, Lanes& best) {
    Lanes bounds = load(outside), within = load(inside);
    highest = larger(bounds, highest);
    bounds = smaller(bounds, all(kTop));
    auto reached = bounds + within >= thresholds;
    bounds = reached ? bounds : all(kBottom);
    store(outside, bounds);
    if (!any(reached)) return false;
    best = larger(bounds + within, best);
    return true;
}

// Binary rules over a pair of cells. No sum of two bounds and a rule leaves 16 bits: each is from kBottom to kTop, and
// sums of two are kBottom or more again when the third comes.
CAPTIOUS_INLINE void combine(std::span<const Coarsening::Group> groups, const Coarsening::Binary* rules,
                             const Bound* left, const Bound* right, Bound* bases) {
    for (const Coarsening::Group& group : groups) {
        Lanes best = all(kBottom);
        for (std::uint32_t rule = group.first; rule < group.end; ++rule)
            best = larger(rules[rule].score + load(right + rules[rule].right * kLanes), best);
        Bound* base = bases + group.parent * kLanes;
        store(base, larger(best + load(left + group.left * kLanes), load(base)));
    }
}

// Binary rules from a parent down to its pair of cells: `above` marks parents with outside bounds.
CAPTIOUS_INLINE void raise(std::span<const Coarsening::Group> groups, const Coarsening::Binary* rules,
                           const std::uint8_t* above, const Bound* outside, const Bound* left, const Bound* right,
                           Bound* left_outside, Bound* right_outside, Coarsening::Group* active) {
    std::size_t n = 0;
    for (const Coarsening::Group& group : groups) {
        active[n] = group;
        n += above[group.parent];
    }
    for (std::size_t i = 0; i < n; ++i) {
        Coarsening::Group group = active[i];
        Lanes of_parent = load(outside + group.parent * kLanes), best = all(kBottom);
        Lanes with_left = larger(of_parent + load(left + group.left * kLanes), all(kBottom));
        for (std::uint32_t rule = group.first; rule < group.end; ++rule) {
            std::size_t row = rules[rule].right * kLanes;
            best = larger(rules[rule].score + load(right + row), best);
            store(right_outside + row, larger(rules[rule].score + with_left, load(right_outside + row)));
        }
        Bound* of_left = left_outside + group.left * kLanes;
        store(of_left, larger(best + of_parent, load(of_left)));
    }
}

}  // namespace

Bound rounded_up(float score) {
    return static_cast<Bound>(std::clamp(std::ceil(score * kUnits), float{kBottom}, float{kTop}));
}

Bound rounded_down(float score) {
    return static_cast<Bound>(std::clamp(std::floor(score * kUnits), float{kBottom}, float{kTop}));
}

Coarsening::Coarsening(const Grammar& fine, std::vector<State> symbols, std::size_t n_symbols,
                       std::vector<float> potentials)
    : symbols_(std::move(symbols)), n_symbols_(n_symbols), potentials_(std::move(potentials)) {
    number_phrases_first(fine.rules());
    std::map<std::pair<State, State>, std::map<State, std::uint32_t>> binary[2];  // by parent and left; by right child
    auto number_of = [&](const BinaryRule& rule) -> std::uint32_t& {
        return binary[of(rule.right) >= n_phrases_][{of(rule.parent), of(rule.left)}][of(rule.right)];
    };
    for (const BinaryRule& rule : fine.rules().binary) number_of(rule) = 0;
    for (auto& of_kind : binary) {
        std::size_t most = 0;
        for (const auto& [above, rights] : of_kind) most = std::max(most, rights.size());
        for (std::size_t size = 1; size <= most; ++size)
            for (auto& [above, rights] : of_kind) {
                if (rights.size() != size) continue;
                auto first = static_cast<std::uint32_t>(binary_.size());
                groups_.push_back({above.first, above.second, first, first + static_cast<std::uint32_t>(size)});
                for (auto& [right, number] : rights) {
                    number = static_cast<std::uint32_t>(binary_.size());
                    binary_.push_back({kBottom, right});
                }
            }
        if (&of_kind == binary) n_phrase_groups_ = groups_.size();
    }
    for (const BinaryRule& rule : fine.rules().binary) binary_of_.push_back(number_of(rule));
    groups_of_.resize(n_symbols);
    for (std::uint32_t group = 0; group < groups_.size(); ++group) groups_of_[groups_[group].parent].push_back(group);
    std::map<std::pair<State, State>, std::uint32_t> unary;  // by parent and child
    for (const UnaryRule& rule : fine.rules().unary) unary[{of(rule.parent), of(rule.child)}] = 0;
    unary_starts_.assign(n_symbols + 1, 0);
    for (auto& [key, number] : unary) {
        number = static_cast<std::uint32_t>(unary_.size());
        unary_.push_back({key.first, key.second, kBottom});
        ++unary_starts_[key.first + 1u];
    }
    std::partial_sum(unary_starts_.begin(), unary_starts_.end(), unary_starts_.begin());
    for (const UnaryRule& rule : fine.rules().unary) unary_of_.push_back(unary[{of(rule.parent), of(rule.child)}]);
    update(fine);
}

void Coarsening::number_phrases_first(const Rules& fine) {
    std::vector<bool> phrase(n_symbols_);
    for (const BinaryRule& rule : fine.binary) phrase[of(rule.parent)] = true;
    for (const UnaryRule& rule : fine.unary) phrase[of(rule.parent)] = true;
    n_phrases_ = static_cast<std::size_t>(std::count(phrase.begin(), phrase.end(), true));
    std::vector<State> number(n_symbols_);
    std::size_t phrases = 0, words = n_phrases_;
    for (std::size_t symbol = 0; symbol < n_symbols_; ++symbol)
        number[symbol] = static_cast<State>(phrase[symbol] ? phrases++ : words++);
    for (State& symbol : symbols_) symbol = number[symbol];
}

void Coarsening::update(const Grammar& fine) {
    best_binary_.assign(binary_.size(), 0);
    best_unary_.assign(unary_.size(), 0);
    std::vector<float> binary(binary_.size(), kNever), unary(unary_.size(), kNever);
    for (std::uint32_t i = 0; i < binary_of_.size(); ++i) {
        const BinaryRule& rule = fine.rules().binary[i];
        float score = rule.score + potential(rule.parent) - potential(rule.left) - potential(rule.right);
        if (score > binary[binary_of_[i]]) {
            binary[binary_of_[i]] = score;
            best_binary_[binary_of_[i]] = i;
        }
    }
    for (std::uint32_t i = 0; i < unary_of_.size(); ++i) {
        const UnaryRule& rule = fine.rules().unary[i];
        float score = rule.score + potential(rule.parent) - potential(rule.child);
        if (score > unary[unary_of_[i]]) {
            unary[unary_of_[i]] = score;
            best_unary_[unary_of_[i]] = i;
        }
    }
    for (std::size_t i = 0; i < binary.size(); ++i) binary_[i].score = rounded_up(binary[i]);
    for (std::size_t i = 0; i < unary.size(); ++i) unary_[i].score = rounded_up(unary[i]);
    phrase_unary_.clear();
    std::copy_if(unary_.begin(), unary_.end(), std::back_inserter(phrase_unary_),
                 [&](const Unary& rule) { return rule.child < n_phrases_; });
    goals_.clear();
    for (const parsing::Goal& goal : fine.goals()) {
        Bound score = rounded_up(goal.score - potential(goal.state));
        auto goal_of_symbol = std::find_if(goals_.begin(), goals_.end(),
                                           [&](const Goal& other) { return other.symbol == of(goal.state); });
        if (goal_of_symbol == goals_.end())
            goals_.push_back({of(goal.state), score});
        else
            goal_of_symbol->score = std::max(goal_of_symbol->score, score);
    }
    auto holds = [](const auto& rule) { return rule.score < kTop; };
    auto small = [](float potential) { return std::abs(potential) <= kLargestPotential; };
    sound_ = std::all_of(potentials_.begin(), potentials_.end(), small) &&
             std::all_of(binary_.begin(), binary_.end(), holds) && std::all_of(unary_.begin(), unary_.end(), holds) &&
             std::all_of(goals_.begin(), goals_.end(), holds);
}

void CoarseChart::seed(std::span<const Words> sentences) {
    lengths_.clear();
    for (const Words& words : sentences) lengths_.push_back(words.size());
    n_ = *std::max_element(lengths_.begin(), lengths_.end());
    places_.clear();
    std::size_t place = 0;
    for (std::size_t end = 1; end <= n_; ++end)
        for (std::size_t begin = 0; begin < end; ++begin) {
            places_.push_back(place);
            place += n_rows(begin, end) * kLanes;
        }
    bases_.assign(place, kBottom);
    scores_.resize(place);
    highest_.assign(kLanes, kBottom);
    seeded_.assign(n_ * grammar_.n_symbols(), 0);
    for (std::size_t word = 0; word < n_; ++word) {
        Bound *bases = bases_.data() + places_[index(word, word + 1)],
              *scores = scores_.data() + places_[index(word, word + 1)];
        std::fill(scores, scores + grammar_.n_symbols() * kLanes, kBottom);
        for (std::size_t lane = 0; lane < sentences.size(); ++lane) {
            if (word >= lengths_[lane]) continue;
            for (const Seed& seed : sentences[lane][word]) {
                bases[seed.symbol * kLanes + lane] = seed.base;
                scores[seed.symbol * kLanes + lane] = seed.score;
                seeded_[word * grammar_.n_symbols() + seed.symbol] = 1;
            }
        }
    }
}

// Adds chains above the results of binary rules.
CAPTIOUS_INLINE void CoarseChart::close(std::size_t begin, std::size_t end) {
    Bound *bases = bases_.data() + places_[index(begin, end)], *scores = scores_.data() + places_[index(begin, end)];
    Lanes highest = load(highest_.data());
    for (std::size_t symbol = 0; symbol < grammar_.n_phrases(); ++symbol) {
        Lanes base = smaller(load(bases + symbol * kLanes), all(kTop));
        store(bases + symbol * kLanes, base);
        store(scores + symbol * kLanes, base);
    }
    for (const Coarsening::Unary& chain : grammar_.phrase_unary()) {
        Bound* score = scores + chain.parent * kLanes;
        store(score, larger(chain.score + load(bases + chain.child * kLanes), load(score)));
    }
    for (std::size_t symbol = 0; symbol < grammar_.n_phrases(); ++symbol) {
        Lanes score = load(scores + symbol * kLanes);
        highest = larger(score, highest);
        store(scores + symbol * kLanes, smaller(score, all(kTop)));
    }
    store(highest_.data(), highest);
}

template <typename Alive>
void CoarseChart::find_live(const Alive& alive, Live& live) const {
    const std::vector<Coarsening::Group>& groups = grammar_.groups();
    live.groups.resize(groups.size() + 1);
    live.n_phrase = 0;
    std::size_t n = 0;
    for (std::size_t group = 0; group < groups.size(); ++group) {
        live.groups[n] = groups[group];
        n += alive(groups[group].left);
        if (group < grammar_.n_phrase_groups()) live.n_phrase = n;
    }
    live.groups.resize(n);
}

CoarseChart::CoarseChart(const Coarsening& grammar) : grammar_(grammar) {
    find_live([&](State symbol) { return symbol < grammar.n_phrases(); }, over_several_);
}

const CoarseChart::Live& CoarseChart::live(std::size_t begin, std::size_t end) {
    if (begin + 1 < end) return over_several_;
    const std::uint8_t* seeded = seeded_.data() + begin * grammar_.n_symbols();
    find_live([&](State symbol) { return seeded[symbol]; }, over_word_);
    return over_word_;
}

CAPTIOUS_CLONES void CoarseChart::fill(std::span<const Words> sentences) {
    seed(sentences);
    const Coarsening::Binary* rules = grammar_.binary().data();
    for (std::size_t begin = n_; begin-- > 0;) {
        poll();
        for (std::size_t split = begin + 1; split <= n_; ++split) {
            if (split > begin + 1) close(begin, split);
            if (split == n_) continue;
            const Live& live = this->live(begin, split);
            const Bound* left = scores_.data() + places_[index(begin, split)];
            for (std::size_t end = split + 1; end <= n_; ++end) {
                const Bound* right = scores_.data() + places_[index(split, end)];
                Bound* bases = bases_.data() + places_[index(begin, end)];
                combine(live.beside(split + 1 == end), rules, left, right, bases);
            }
        }
    }
}

Bound CoarseChart::best(std::size_t lane) const {
    int best = kBottom;
    for (const Coarsening::Goal& goal : grammar_.goals())
        best = std::max(best, goal.score + score(lane, goal.symbol, 0, lengths_[lane]));
    return static_cast<Bound>(best);
}

CoarseChart::Step CoarseChart::step(std::size_t lane, State symbol, std::size_t begin, std::size_t end) const {
    Step step{kNone, kNone, 0};
    int bound = score(lane, symbol, begin, end);
    if (base(lane, symbol, begin, end) != bound) {
        std::span<const Coarsening::Unary> chains = grammar_.unary(symbol);
        auto makes = [&](const Coarsening::Unary& rule) {
            return base(lane, rule.child, begin, end) + rule.score == bound;
        };
        auto chain = std::find_if(chains.begin(), chains.end(), makes);
        step.chain = static_cast<std::uint32_t>(&*chain - grammar_.unary().data());
        symbol = chain->child;
        bound = base(lane, symbol, begin, end);
    }
    for (step.split = begin + 1; step.split < end; ++step.split)
        for (std::uint32_t group : grammar_.groups_of(symbol)) {
            const Coarsening::Group& rules = grammar_.groups()[group];
            int of_left = score(lane, rules.left, begin, step.split);
            for (step.rule = rules.first; step.rule < rules.end; ++step.rule) {
                const Coarsening::Binary& rule = grammar_.binary()[step.rule];
                if (of_left + rule.score + score(lane, rule.right, step.split, end) == bound) return step;
            }
        }
    step.rule = kNone;
    return step;
}

// Prunes the outside bounds of the items of a cell once they are complete; `above` marks phrases with
// outside bounds that rules may use.
CAPTIOUS_INLINE void CoarseChart::close_outside(std::size_t begin, std::size_t end, const Bound* thresholds,
                                                std::uint8_t* above) {
    std::size_t place = places_[index(begin, end)], n_rows = this->n_rows(begin, end);
    const Bound *bases = bases_.data() + place, *scores = scores_.data() + place;
    Bound *outside_bases = outside_bases_.data() + place, *outside_scores = outside_scores_.data() + place;
    Lanes threshold = load(thresholds), highest = load(highest_.data()), best = all(kBottom);
    std::fill(outside_bases, outside_bases + n_rows * kLanes, kBottom);
    for (std::size_t symbol = 0; symbol < n_rows; ++symbol) {
        if (!cut(threshold, scores + symbol * kLanes, outside_scores + symbol * kLanes, highest, best)) continue;
        Lanes outside = load(outside_scores + symbol * kLanes);
        Bound* base = outside_bases + symbol * kLanes;
        store(base, larger(outside, load(base)));
        for (const Coarsening::Unary& chain : grammar_.unary(symbol)) {
            if (chain.child >= n_rows) break;
            Bound* below = outside_bases + chain.child * kLanes;
            store(below, larger(chain.score + outside, load(below)));
        }
    }
    for (std::size_t symbol = 0; symbol < n_rows; ++symbol) {
        bool reached = cut(threshold, bases + symbol * kLanes, outside_bases + symbol * kLanes, highest, best);
        if (symbol < grammar_.n_phrases()) above[symbol] = reached;
    }
    store(cell_bests_.data() + index(begin, end) * kLanes, best);
    store(highest_.data(), highest);
}

CAPTIOUS_CLONES void CoarseChart::fill_outside(std::span<const Bound> thresholds) {
    outside_bases_.resize(bases_.size());
    outside_scores_.assign(scores_.size(), kBottom);
    cell_bests_.resize(places_.size() * kLanes);
    Bound of_lanes[kLanes];
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        of_lanes[lane] = kTop;
        if (lane >= lengths_.size()) continue;
        of_lanes[lane] = thresholds[lane];
        for (const Coarsening::Goal& goal : grammar_.goals())
            if (goal.symbol < n_rows(0, lengths_[lane])) {
                Bound& outside = outside_scores_[places_[index(0, lengths_[lane])] + goal.symbol * kLanes + lane];
                outside = std::max(outside, goal.score);
            }
    }
    const Coarsening::Binary* rules = grammar_.binary().data();
    std::vector<std::uint8_t> above((n_ + 1) * grammar_.n_phrases());  // by the end of the cell
    std::vector<Coarsening::Group> active(grammar_.groups().size() + 1);
    for (std::size_t begin = 0; begin < n_; ++begin) {
        poll();
        for (std::size_t split = n_; split > begin; --split) {
            std::size_t left = places_[index(begin, split)];
            const Live& live = this->live(begin, split);
            for (std::size_t end = split + 1; end <= n_; ++end) {
                std::size_t right = places_[index(split, end)];
                raise(live.beside(split + 1 == end), rules, above.data() + end * grammar_.n_phrases(),
                      outside_bases_.data() + places_[index(begin, end)], scores_.data() + left, scores_.data() + right,
                      outside_scores_.data() + left, outside_scores_.data() + right, active.data());
            }
            close_outside(begin, split, of_lanes, above.data() + split * grammar_.n_phrases());
        }
    }
}

}  // namespace captious::parsing
