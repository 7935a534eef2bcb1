// Passes, the thresholds between them, and the derivation at the end.
#include "parsing/parser.hpp"

#include <algorithm>
#include <cmath>

namespace captious::parsing {
namespace {

// Bounds and scores are sums of 32 bits taken in different orders: what may be lost between them, per word, and per
// unit of the sum.
constexpr float kRoundingPerWord = 0.002f, kRounding = 1e-5f;
// Only speed depends on these. How far from the best of its cell something may be when a derivation is looked for
// among common rules, first and if nothing is found; how far that derivation may be below the bound, per word, and how
// long a sentence may be, for bounds to be worth their time.
constexpr float kBeams[] = {10.0f, 20.0f};
constexpr float kWorstSlack = 2.0f;
constexpr std::size_t kLongestGuided = 40;

}  // namespace

Pcfg::Pcfg(std::size_t n_states, std::vector<BinaryRule> binary, std::vector<UnaryRule> unary, std::vector<Goal> goals, Projection projection,
           std::span<const std::uint8_t> is_common)
    : unary_(std::move(unary)), closure_(close_unary(n_states, unary_)), grammar_(n_states, {std::move(binary), closure_.rules, std::move(goals)}),
      coarsening_(grammar_, std::move(projection.symbols), projection.n_symbols, std::move(projection.potentials)),
      is_common_(is_common.begin(), is_common.end()), common_(take_common()) {}

void Pcfg::set_scores(std::span<const float> binary, std::span<const float> unary, std::span<const Goal> goals) {
    Rules rules = grammar_.rules();
    for (std::size_t i = 0; i < binary.size(); ++i) rules.binary[i].score = binary[i];
    for (std::size_t i = 0; i < unary.size(); ++i) unary_[i].score = unary[i];
    closure_ = close_unary(grammar_.n_states(), unary_);
    rules.unary = closure_.rules;
    rules.goals.assign(goals.begin(), goals.end());
    grammar_.set_scores(std::move(rules));
    coarsening_.update(grammar_);
    common_ = take_common();
}

Grammar Pcfg::take_common() const {
    const Rules& all = grammar_.rules();
    Rules rules{{}, {}, all.goals};
    for (std::size_t i = 0; i < all.binary.size(); ++i)
        if (is_common_[i]) rules.binary.push_back(all.binary[i]);
    for (std::size_t i = 0; i < all.unary.size(); ++i) {
        auto common = [&](std::uint32_t rule) { return is_common_[all.binary.size() + rule] != 0; };
        if (std::all_of(closure_.chains[i].begin(), closure_.chains[i].end(), common)) rules.unary.push_back(all.unary[i]);
    }
    return Grammar(grammar_.n_states(), std::move(rules));
}

WordTable::WordTable(const Pcfg& pcfg, std::span<const std::int64_t> offsets, std::span<const Tag> tags)
    : tags_{{tags.begin(), tags.end()}, {offsets.begin(), offsets.end()}} {
    const Coarsening& coarsening = pcfg.coarsening();
    std::vector<Seed> best(coarsening.n_symbols(), {0, kNever, kNever});
    std::vector<State> found;
    auto seed_of = [&](State state) -> Seed& {
        Seed& seed = best[coarsening.of(state)];
        if (seed.score == kNever) found.push_back(coarsening.of(state));
        return seed;
    };
    seeds_.starts.push_back(0);
    for (std::int32_t word = 0; static_cast<std::size_t>(word) + 1 < offsets.size(); ++word) {
        for (const Tag& tag : this->tags(word)) {
            Seed& seed = seed_of(tag.state);
            float score = tag.score + coarsening.potential(tag.state);
            seed.base = std::max(seed.base, score);
            seed.score = std::max(seed.score, score);
            for (const Grammar::Chain& chain : pcfg.grammar().chains(tag.state)) {
                Seed& above = seed_of(chain.parent);
                above.score = std::max(above.score, tag.score + chain.score + coarsening.potential(chain.parent));
            }
        }
        for (State symbol : found) {
            seeds_.values.push_back({symbol, best[symbol].base, best[symbol].score});
            best[symbol] = {0, kNever, kNever};
        }
        found.clear();
        seeds_.starts.push_back(seeds_.values.size());
    }
}

void Worker::take(const WordTable& table, std::span<const std::int32_t> words) {
    tags_.clear();
    for (std::int32_t word : words) tags_.push_back(table.tags(word));
}

float Worker::parse(const WordTable& table, std::span<const std::int32_t> words, std::vector<Node>& nodes) {
    if (words.empty() || words.size() > kLongestGuided) return parse_plainly(table, words, nodes);
    take(table, words);
    auto n = static_cast<float>(words.size());
    float known = find_one();
    if (known == kNever) return parse_plainly(table, words, nodes);
    float bound = fill_coarse(table, words), rounding = kRoundingPerWord * n + kRounding * std::abs(bound);
    if (known < bound - kWorstSlack * n) return parse_plainly(table, words, nodes);
    coarse_.fill_outside(known - rounding);
    plain_.clear();
    chart_.fill(tags_, coarse_, pcfg_.coarsening(), known - rounding);
    return read_off(nodes);
}

float Worker::parse_plainly(const WordTable& table, std::span<const std::int32_t> words, std::vector<Node>& nodes) {
    take(table, words);
    std::size_t n_kept = 0;
    if (plain_table_ == &table) n_kept = static_cast<std::size_t>(std::mismatch(plain_.begin(), plain_.end(), words.begin(), words.end()).first - plain_.begin());
    plain_.assign(words.begin(), words.end());
    plain_table_ = &table;
    chart_.fill(tags_, n_kept);
    return read_off(nodes);
}

// The score of a derivation that is easily found, or kNever.
float Worker::find_one() {
    for (float width : kBeams) {
        common_.fill_beam(tags_, pcfg_.coarsening(), width);
        if (float score = common_.best().score; score != kNever) return score;
    }
    return kNever;
}

float Worker::fill_coarse(const WordTable& table, std::span<const std::int32_t> words) {
    coarse_.begin(words.size());
    for (std::size_t i = 0; i < words.size(); ++i) coarse_.seed(i, table.seeds(words[i]));
    coarse_.fill();
    return coarse_.best();
}

// The best derivation in the chart into `nodes`, and its score.
float Worker::read_off(std::vector<Node>& nodes) const {
    nodes.clear();
    Goal best = chart_.best();
    if (best.score != kNever) walk(best.state, 0, tags_.size(), nodes);
    return best.score;
}

void Worker::walk(State state, std::size_t begin, std::size_t end, std::vector<Node>& nodes) const {
    const Rules& rules = pcfg_.grammar().rules();
    auto from = static_cast<std::int32_t>(begin), to = static_cast<std::int32_t>(end);
    Chart::Step step = chart_.step(begin, end, state, false);
    if (step.chain != Chart::kNone) {
        pcfg_.each_of_chain(step.chain, [&](std::uint32_t rule, State parent) {
            nodes.push_back({parent, static_cast<std::int32_t>(rules.binary.size() + rule), from, to});
        });
        state = rules.unary[step.chain].child;
        step = chart_.step(begin, end, state, true);
    }
    nodes.push_back({state, step.rule == Chart::kNone ? -1 : static_cast<std::int32_t>(step.rule), from, to});
    if (step.rule == Chart::kNone) return;
    const BinaryRule& rule = rules.binary[step.rule];
    walk(rule.left, begin, step.split, nodes);
    walk(rule.right, step.split, end, nodes);
}

}  // namespace captious::parsing
