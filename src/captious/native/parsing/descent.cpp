// Subgradient descent: where a coarse derivation joins rules of different states, their potentials change.
#include "parsing/descent.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "interrupt.hpp"

namespace captious::parsing {
namespace {

constexpr std::size_t kRounds = 20;
constexpr float kRate = 0.4f;
constexpr float kFirstSquare = 1e-3f;

class Descent {
public:
    explicit Descent(Pcfg& pcfg)
        : grammar_(pcfg.grammar()),
          coarsening_(pcfg.coarsening()),
          slopes_(grammar_.n_states()),
          squares_(grammar_.n_states(), kFirstSquare) {}

    // Adds the subgradient of the best coarse score of the sentence of a chart.
    void add(const CoarseChart& chart, std::size_t lane, const WordTable& table, Sentence words) {
        chart_ = &chart;
        lane_ = lane;
        table_ = &table;
        words_ = words;
        auto total = [&](const Goal& goal) {
            return goal.score - coarsening_.potential(goal.state) +
                   chart.score(lane, coarsening_.of(goal.state), 0, words.size()) / kUnits;
        };
        std::span<const Goal> goals = grammar_.goals();
        descend(std::max_element(goals.begin(), goals.end(),
                                 [&](const Goal& a, const Goal& b) { return total(a) < total(b); })
                    ->state,
                0, words.size());
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
        CoarseChart::Step step = chart_->step(lane_, symbol, begin, end);
        if (step.chain != CoarseChart::kNone) {
            const UnaryRule& rule = rules.unary[coarsening_.best_unary(step.chain)];
            join(above, rule.parent);
            above = rule.child;
        }
        if (step.rule == CoarseChart::kNone) return;
        const BinaryRule& rule = rules.binary[coarsening_.best_binary(step.rule)];
        join(above, rule.parent);
        descend(rule.left, begin, step.split);
        descend(rule.right, step.split, end);
    }

    State best_over_word(State symbol, std::int32_t word) const {
        State best = 0;
        float most = kNever;
        for (const WordItem& item : table_->items(word)) {
            if (coarsening_.of(item.state) != symbol || item.score + coarsening_.potential(item.state) <= most)
                continue;
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
    const CoarseChart* chart_ = nullptr;
    std::size_t lane_ = 0;
    const WordTable* table_ = nullptr;
    std::span<const std::int32_t> words_;
};

}  // namespace

void tune(Pcfg& pcfg, std::span<const std::int64_t> tag_offsets, std::span<const Tag> tags, const TokensView& sentences,
          int passes) {
    Descent descent(pcfg);
    Worker worker(pcfg);
    std::vector<std::vector<std::size_t>> batches = batches_of(sentences, kRounds);
    for (int pass = 0; pass < passes; ++pass) {
        for (const std::vector<std::size_t>& batch : batches) {
            // Tags of the words of these sentences, under the current potentials.
            std::vector<std::int64_t> starts{0};
            std::vector<Tag> these;
            for (std::size_t sentence : batch)
                for (std::int32_t word : sentences[sentence]) {
                    these.insert(these.end(), tags.begin() + tag_offsets[static_cast<std::size_t>(word)],
                                 tags.begin() + tag_offsets[static_cast<std::size_t>(word) + 1]);
                    starts.push_back(static_cast<std::int64_t>(these.size()));
                }
            std::vector<std::int32_t> words(starts.size() - 1);
            std::iota(words.begin(), words.end(), 0);
            std::vector<Sentence> few;
            std::size_t first = 0;
            for (std::size_t sentence : batch) {
                few.push_back(Sentence(words).subspan(first, sentences[sentence].size()));
                first += few.back().size();
            }
            WordTable table(pcfg, starts, these, WordTable::Use::kCoarse);
            const CoarseChart& chart = worker.fill_coarse(table, few);
            for (std::size_t lane = 0; lane < few.size(); ++lane) {
                if (few[lane].empty() || !chart.sound(lane) || chart.best(lane) == kBottom) continue;
                descent.add(chart, lane, table, few[lane]);
            }
            descent.step();
            poll();
        }
    }
}

}  // namespace captious::parsing
