// Subgradient descent: where a coarse derivation joins rules of different states, their potentials move.
#include "parsing/tuning.hpp"

#include <algorithm>
#include <cmath>

#include "interrupt.hpp"

namespace captious::parsing {
namespace {

constexpr std::size_t kBatch = 10;
constexpr float kRate = 0.4f;
constexpr float kFirstSquare = 1e-3f;

class Descent {
public:
    explicit Descent(Pcfg& pcfg)
        : grammar_(pcfg.grammar()), coarsening_(pcfg.coarsening()), slopes_(grammar_.n_states()), squares_(grammar_.n_states(), kFirstSquare) {
        rules_of_.resize(coarsening_.n_symbols());
        for (const Coarsening::Group& group : coarsening_.groups())
            for (std::uint32_t rule = group.first; rule < group.end; ++rule) rules_of_[group.parent].push_back({rule, group.left});
    }

    // Adds the subgradient of the best coarse score of a sentence, whose chart it is.
    void add(const CoarseChart& chart, const WordTable& table, std::span<const std::int32_t> words) {
        chart_ = &chart;
        table_ = &table;
        words_ = words;
        const Goal* best = nullptr;
        float most = kNever;
        for (const Goal& goal : grammar_.goals()) {
            float score = goal.score - coarsening_.potential(goal.state) + chart.score(coarsening_.of(goal.state), 0, words.size());
            if (score > most) {
                best = &goal;
                most = score;
            }
        }
        if (best != nullptr) descend(best->state, 0, words.size());
    }

    void step() {
        std::vector<float>& potentials = coarsening_.potentials();
        for (std::size_t state = 0; state < potentials.size(); ++state) {
            float& slope = slopes_[state];
            if (slope == 0) continue;
            squares_[state] += slope * slope;
            potentials[state] -= kRate * slope / std::sqrt(squares_[state]);
            slope = 0;
        }
        coarsening_.update(grammar_);
    }

private:
    // `above` is the state that the rule above was made with.
    void descend(State above, std::size_t begin, std::size_t end) {
        const Rules& rules = grammar_.rules();
        State symbol = coarsening_.of(above);
        if (begin + 1 == end) {
            join(above, best_over_word(symbol, words_[begin]));
            return;
        }
        float base = chart_->base(symbol, begin, end), score = chart_->score(symbol, begin, end);
        if (score > base) {
            auto off = [&](const UnaryRule& rule) { return std::abs(chart_->base(rule.child, begin, end) + rule.score - score); };
            std::span<const UnaryRule> chains = coarsening_.unary(symbol);
            auto nearest = std::min_element(chains.begin(), chains.end(), [&](const UnaryRule& a, const UnaryRule& b) { return off(a) < off(b); });
            auto best = static_cast<std::size_t>(&*nearest - coarsening_.unary().data());
            const UnaryRule& rule = rules.unary[coarsening_.best_unary(best)];
            join(above, rule.parent);
            above = rule.child;
            symbol = coarsening_.of(above);
            base = chart_->base(symbol, begin, end);
        }
        std::size_t split = 0;
        float least = std::numeric_limits<float>::infinity();
        std::uint32_t best = 0;
        for (std::size_t k = begin + 1; k < end; ++k)
            for (auto [rule, left] : rules_of_[symbol]) {
                const Coarsening::Binary& binary = coarsening_.binary()[rule];
                float off = std::abs(binary.score + chart_->score(left, begin, k) + chart_->score(binary.right, k, end) - base);
                if (off < least) {
                    least = off;
                    best = rule;
                    split = k;
                }
            }
        const BinaryRule& rule = rules.binary[coarsening_.best_binary(best)];
        join(above, rule.parent);
        descend(rule.left, begin, split);
        descend(rule.right, split, end);
    }

    State best_over_word(State symbol, std::int32_t word) const {
        State best = 0;
        float most = kNever;
        for (const WordItem& item : table_->items(word)) {
            if (coarsening_.of(item.state) != symbol || item.score + coarsening_.potential(item.state) <= most) continue;
            most = item.score + coarsening_.potential(item.state);
            best = item.state;
        }
        return best;
    }

    void join(State above, State below) {
        slopes_[above] -= 1;
        slopes_[below] += 1;
    }

    const Grammar& grammar_;
    Coarsening& coarsening_;
    std::vector<float> slopes_, squares_;  // by state
    std::vector<std::vector<std::pair<std::uint32_t, State>>> rules_of_;  // by coarse parent, with the left child
    const CoarseChart* chart_ = nullptr;
    const WordTable* table_ = nullptr;
    std::span<const std::int32_t> words_;
};

}  // namespace

std::vector<float> tune(Pcfg& pcfg, std::span<const std::int64_t> tag_offsets, std::span<const Tag> tags, std::span<const std::int32_t> words,
                        std::span<const std::int64_t> offsets, int passes) {
    std::vector<float> means;
    Descent descent(pcfg);
    Worker worker(pcfg);
    std::size_t n = offsets.size() - 1;
    std::vector<std::int32_t> local;
    for (int pass = 0; pass < passes; ++pass) {
        double sum = 0;
        for (std::size_t batch = 0; batch < n; batch += kBatch) {
            // Tags of the words of these sentences, under the potentials as they are now.
            std::vector<std::int64_t> starts{0};
            std::vector<Tag> these;
            auto from = static_cast<std::size_t>(offsets[batch]), to = static_cast<std::size_t>(offsets[std::min(n, batch + kBatch)]);
            for (std::size_t at = from; at < to; ++at) {
                auto word = static_cast<std::size_t>(words[at]);
                these.insert(these.end(), tags.begin() + tag_offsets[word], tags.begin() + tag_offsets[word + 1]);
                starts.push_back(static_cast<std::int64_t>(these.size()));
            }
            WordTable table(pcfg, starts, these, true);
            for (std::size_t sentence = batch; sentence < std::min(n, batch + kBatch); ++sentence) {
                local.clear();
                for (std::int64_t at = offsets[sentence]; at < offsets[sentence + 1]; ++at) local.push_back(static_cast<std::int32_t>(at - static_cast<std::int64_t>(from)));
                float best = local.empty() ? kNever : worker.fill_coarse(table, local);
                if (best == kNever) continue;
                sum += best;
                descent.add(worker.coarse(), table, local);
            }
            descent.step();
            poll();
        }
        means.push_back(static_cast<float>(sum / static_cast<double>(n)));
    }
    return means;
}

}  // namespace captious::parsing
