// Passes, the thresholds between them, and the derivation at the end.
#include "parsing/parser.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

namespace captious::parsing {
namespace {

// Scores with potentials and offsets are 32-bit sums taken in different orders: their maximum difference, per
// word, and per unit of the sum.
constexpr float kRoundingPerWord = 0.002f, kRounding = 1e-5f;
// Only speed depends on these. The distance from the best of its cell allowed when a derivation is searched
// among common rules, first and if nothing is found; the distance of that derivation below the bound, per word, and the
// length of a sentence up to which bounds are worth their time.
constexpr float kBeams[] = {10.0f, 20.0f};
constexpr float kWorstSlack = 2.0f;
constexpr std::size_t kLongestGuided = 40;
// The distance from the best of its cell allowed when only some spans are searched, first and if nothing is found.
// Ten loses 2 % of captions, twelve 1 %, fourteen none of 2,000 but 1 % of texts of 100 words, which twenty parses.
constexpr float kWidths[] = {14.0f, 20.0f};

// Items over a word: its tags and the chains above them.
class ItemMaker {
public:
    explicit ItemMaker(const Grammar& grammar) : grammar_(grammar), places_(grammar.n_states(), kNone) {}

    // The items in the order of discovery, valid until the next call.
    std::vector<WordItem>& make(std::span<const Tag> tags) {
        items_.clear();
        for (const Tag& tag : tags) {
            WordItem& item = of(tag.state);
            item.base = std::max(item.base, tag.score);
        }
        std::size_t n_tags = items_.size();
        for (std::size_t i = 0; i < n_tags; ++i) items_[i].score = items_[i].base;
        for (std::size_t i = 0; i < n_tags; ++i)
            for (const Grammar::Chain& chain : grammar_.chains(items_[i].state)) {
                float score = items_[i].base + chain.score;
                WordItem& above = of(chain.parent);
                above.score = std::max(above.score, score);
            }
        for (const WordItem& item : items_) places_[item.state] = kNone;
        return items_;
    }

private:
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;

    WordItem& of(State state) {
        if (places_[state] == kNone) {
            places_[state] = static_cast<std::uint32_t>(items_.size());
            items_.push_back({state, kNever, kNever});
        }
        return items_[places_[state]];
    }

    const Grammar& grammar_;
    std::vector<std::uint32_t> places_;  // by state, among the items
    std::vector<WordItem> items_;
};

}  // namespace

Pcfg::Pcfg(std::size_t n_states, std::vector<BinaryRule> binary, std::vector<UnaryRule> unary, std::vector<Goal> goals,
           Projection projection, std::span<const std::uint8_t> is_common)
    : unary_(std::move(unary)),
      closure_(close_unary(n_states, unary_)),
      grammar_(n_states, {std::move(binary), closure_.rules, std::move(goals)}),
      coarsening_(grammar_, std::move(projection.symbols), projection.n_symbols, std::move(projection.potentials)),
      is_common_(is_common.begin(), is_common.end()),
      common_(take_common()) {}

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
        if (std::all_of(closure_.chains[i].begin(), closure_.chains[i].end(), common))
            rules.unary.push_back(all.unary[i]);
    }
    return Grammar(grammar_.n_states(), std::move(rules));
}

WordTable::WordTable(const Pcfg& pcfg, std::span<const std::int64_t> offsets, std::span<const Tag> tags, Use use) {
    const Coarsening& coarsening = pcfg.coarsening();
    ItemMaker all(pcfg.grammar()), common(pcfg.common());
    std::vector<std::uint32_t> seed_of(coarsening.n_symbols());
    for (std::size_t word = 0; word + 1 < offsets.size(); ++word) {
        auto first = static_cast<std::size_t>(offsets[word]), end = static_cast<std::size_t>(offsets[word + 1]);
        std::span<const Tag> of_word = tags.subspan(first, end - first);
        const std::vector<WordItem>& items = all.make(of_word);
        if (use == Use::kPlain)
            items_.add(items);
        else
            add_by_symbol(coarsening, items, seed_of);
        if (use == Use::kGuided) add_reached(coarsening, common.make(of_word));
    }
}

// Adds the items of a word, grouped by coarse symbol, and its seeds. `seed_of` is scratch memory for a number
// by symbol.
void WordTable::add_by_symbol(const Coarsening& coarsening, std::span<const WordItem> items,
                              std::vector<std::uint32_t>& seed_of) {
    struct Scores {
        float base = kNever, score = kNever;
    };
    std::vector<Seed> seeds;
    std::vector<Scores> scores;
    float best = kNever;
    for (const WordItem& item : items) {
        State symbol = coarsening.of(item.state);
        std::uint32_t& number = seed_of[symbol];
        if (number >= seeds.size() || seeds[number].symbol != symbol) {
            number = static_cast<std::uint32_t>(seeds.size());
            seeds.push_back({symbol, kBottom, kBottom, 0, 0});
            scores.emplace_back();
        }
        scores[number].base = std::max(scores[number].base, item.base + coarsening.potential(item.state));
        scores[number].score = std::max(scores[number].score, item.score + coarsening.potential(item.state));
        best = std::max(best, scores[number].score);
        ++seeds[number].size;
    }
    std::uint32_t first = 0;
    for (std::size_t number = 0; number < seeds.size(); ++number) {
        Seed& seed = seeds[number];
        seed.base = rounded_up(scores[number].base - best);
        seed.score = rounded_up(scores[number].score - best);
        seed.first = first;
        first += std::exchange(seed.size, 0);
    }
    std::size_t begin = items_.values.size();
    items_.values.resize(begin + items.size());
    for (const WordItem& item : items) {
        Seed& seed = seeds[seed_of[coarsening.of(item.state)]];
        items_.values[begin + seed.first + seed.size++] = item;
    }
    items_.starts.push_back(items_.values.size());
    seeds_.add(seeds);
    offsets_.push_back(seeds.empty() ? 0.0f : best);
}

// Adds the items of a word that are within the beam.
void WordTable::add_reached(const Coarsening& coarsening, std::vector<WordItem>& items) {
    auto bound = [&](const WordItem& item) { return item.score + coarsening.potential(item.state); };
    float best = kNever;
    for (const WordItem& item : items) best = std::max(best, bound(item));
    std::erase_if(items, [&](const WordItem& item) { return bound(item) < best - kBeams[1]; });
    common_items_.add(items);
}

void Worker::take(const WordTable& table, Sentence words) {
    items_.clear();
    for (std::int32_t word : words) items_.push_back(table.items(word));
}

std::vector<std::vector<std::size_t>> batches_of(const TokensView& sentences, std::size_t n_rounds) {
    std::vector<std::size_t> order(sentences.count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return sentences[a].size() < sentences[b].size(); });
    std::vector<std::vector<std::size_t>> batches;
    for (std::size_t round = 0; round < n_rounds; ++round)
        for (std::size_t first = round * Worker::kMost; first < order.size(); first += n_rounds * Worker::kMost) {
            std::span<const std::size_t> batch =
                std::span(order).subspan(first, std::min(Worker::kMost, order.size() - first));
            batches.emplace_back(batch.begin(), batch.end());
        }
    return batches;
}

void Worker::parse(const WordTable& table, const TokensView& sentences, std::span<const std::size_t> batch,
                   std::span<Derivation> derivations) {
    guided_.clear();
    for (std::size_t sentence : batch) {
        Sentence words = sentences[sentence];
        bool guided = words.size() <= kLongestGuided && pcfg_.coarsening().sound();
        float score = guided ? find_one(table, words, derivations[sentence].work) : kNever;
        if (score == kNever)
            parse_plainly(table, words, derivations[sentence]);
        else
            guided_.push_back(
                {sentence, words,
                 score - kRoundingPerWord * static_cast<float>(words.size()) - kRounding * std::abs(score)});
    }
    if (!guided_.empty()) parse_guided(table, derivations);
}

// Sentences with a known derivation.
void Worker::parse_guided(const WordTable& table, std::span<Derivation> derivations) {
    words_.clear();
    for (const Guided& sentence : guided_) words_.push_back(sentence.words);
    fill_coarse(table, words_);
    Bound thresholds[kMost];  // kTop for sentences to be parsed plainly
    for (std::size_t lane = 0; lane < guided_.size(); ++lane) {
        find_offsets(table, words_[lane]);
        thresholds[lane] = rounded_down(guided_[lane].least - offsets_.back());
        float slack = static_cast<float>(coarse_.best(lane) - thresholds[lane]) / kUnits;
        bool guided = coarse_.sound(lane) && thresholds[lane] > kBottom && slack >= 0 &&
                      slack <= kWorstSlack * static_cast<float>(words_[lane].size());
        if (!guided) thresholds[lane] = kTop;
    }
    coarse_.fill_outside({thresholds, guided_.size()});
    for (std::size_t lane = 0; lane < guided_.size(); ++lane) {
        Derivation& derivation = derivations[guided_[lane].sentence];
        if (thresholds[lane] == kTop || !coarse_.sound(lane)) {
            parse_plainly(table, words_[lane], derivation);
            continue;
        }
        take(table, words_[lane]);
        find_offsets(table, words_[lane]);
        plain_.clear();
        chart_.fill(items_, {pcfg_.coarsening(), coarse_, lane, seeds_of_[lane], offsets_, guided_[lane].least,
                             thresholds[lane]});
        read_off(derivation);
    }
}

void Worker::parse_plainly(const WordTable& table, Sentence words, Derivation& derivation) {
    take(table, words);
    std::size_t n_kept = 0;
    if (plain_table_ == &table && !plain_.empty()) {
        auto last = plain_.end() - 1;  // charts omit items that only a longer sentence needs
        n_kept = static_cast<std::size_t>(std::mismatch(plain_.begin(), last, words.begin(), words.end()).first -
                                          plain_.begin());
    }
    plain_.assign(words.begin(), words.end());
    plain_table_ = &table;
    chart_.fill(items_, n_kept);
    read_off(derivation);
}

void Worker::parse_spans(const WordTable& table, Sentence words, const Spans& spans, Derivation& derivation) {
    take(table, words);
    plain_.clear();
    for (float width : kWidths) {
        chart_.fill_beam(items_, pcfg_.coarsening(), width, spans);
        read_off(derivation);
        if (derivation.score != kNever) return;
    }
}

// The score of a derivation found by a quick search, or kNever.
float Worker::find_one(const WordTable& table, Sentence words, std::uint64_t& work) {
    common_items_.clear();
    for (std::int32_t word : words) common_items_.push_back(table.common_items(word));
    for (float width : kBeams) {
        common_.fill_beam(common_items_, pcfg_.coarsening(), width);
        work += common_.work();
        if (float score = common_.best().score; score != kNever) return score;
    }
    return kNever;
}

void Worker::find_offsets(const WordTable& table, Sentence words) {
    offsets_.assign(1, 0.0f);
    for (std::int32_t word : words) offsets_.push_back(offsets_.back() + table.offset(word));
}

const CoarseChart& Worker::fill_coarse(const WordTable& table, std::span<const Sentence> sentences) {
    seeds_.clear();
    seeds_of_.clear();
    for (Sentence words : sentences)
        for (std::int32_t word : words) seeds_.push_back(table.seeds(word));
    std::size_t first = 0;
    for (Sentence words : sentences) {
        seeds_of_.push_back(CoarseChart::Words(seeds_).subspan(first, words.size()));
        first += words.size();
    }
    coarse_.fill(seeds_of_);
    return coarse_;
}

// The best derivation in the chart.
void Worker::read_off(Derivation& derivation) const {
    derivation.nodes.clear();
    derivation.work += chart_.work();
    Goal best = chart_.best();
    derivation.score = best.score;
    if (best.score != kNever) walk(best.state, 0, items_.size(), derivation.nodes);
}

void Worker::walk(State state, std::size_t begin, std::size_t end, std::vector<Node>& nodes) const {
    const Rules& rules = pcfg_.grammar().rules();
    auto from = static_cast<std::int32_t>(begin), to = static_cast<std::int32_t>(end);
    Chart::Step step = chart_.step(begin, end, state);
    if (step.chain != Chart::kNone) {
        pcfg_.for_each_rule(step.chain, [&](std::uint32_t rule, State parent) {
            nodes.push_back({parent, static_cast<std::int32_t>(rules.binary.size() + rule), from, to});
        });
        state = rules.unary[step.chain].child;
    }
    nodes.push_back({state, step.rule == Chart::kNone ? -1 : static_cast<std::int32_t>(step.rule), from, to});
    if (step.rule == Chart::kNone) return;
    const BinaryRule& rule = rules.binary[step.rule];
    walk(rule.left, begin, step.split, nodes);
    walk(rule.right, step.split, end, nodes);
}

}  // namespace captious::parsing
