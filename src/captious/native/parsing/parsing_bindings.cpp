// Python bindings of the parser.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "parallel.hpp"
#include "parsing/descent.hpp"
#include "parsing/parser.hpp"

using namespace nanobind::literals;

namespace captious {
namespace {

using namespace captious::parsing;

template <std::size_t kColumns>
using RulesIn = nb::ndarray<const std::int32_t, nb::shape<-1, kColumns>, nb::c_contig, nb::device::cpu>;

constexpr std::size_t kGrain = 16;  // sentences that are worth a thread
constexpr std::size_t kMostStates = 16384;

// A grammar in the numbering of its user. Charts have their own order of states, and leave out the rule that
// puts the boundary after the sentence.
struct SharedPcfg {
    std::size_t n_states = 0, n_binary = 0, n_unary = 0;
    State root = 0;
    bool bounded = false;
    std::vector<State> number, original;                      // chart number by user number, and the inverse
    std::vector<std::uint32_t> rules;                         // the binary rules of the user that charts have
    std::vector<std::pair<State, std::uint32_t>> goal_rules;  // those above the boundary, by left child
    std::unique_ptr<Pcfg> pcfg;
    mutable SharedMutex mutex;
    mutable std::atomic<std::uint64_t> work{0};

    // The user's number of a rule of a derivation.
    std::int32_t rule(std::int32_t rule) const {
        if (rule < 0) return -1;
        auto place = static_cast<std::size_t>(rule);
        return static_cast<std::int32_t>(place < rules.size() ? rules[place] : place - rules.size() + n_binary);
    }
};

bool all_below(const std::int32_t* values, std::size_t n, std::size_t end) {
    return std::all_of(values, values + n,
                       [end](std::int32_t value) { return value >= 0 && static_cast<std::size_t>(value) < end; });
}

std::vector<Goal> goals_of(const SharedPcfg& shared, const float* scores) {
    std::vector<Goal> goals;
    for (auto [state, rule] : shared.goal_rules) goals.push_back({state, scores[rule]});
    if (!shared.bounded) goals.push_back({shared.number[shared.root], 0.0f});
    return goals;
}

void make_pcfg(SharedPcfg& shared, const RulesIn<3>& binary_rules, const ArrayIn<float>& binary_scores,
               const RulesIn<2>& unary_rules, const ArrayIn<float>& unary_scores, std::int32_t boundary,
               const Int32In& symbols, const ArrayIn<float>& potentials, const ArrayIn<std::uint8_t>& common) {
    std::vector<BinaryRule> binary;
    std::vector<UnaryRule> unary;
    std::vector<std::uint8_t> is_common;
    std::vector<std::pair<State, std::uint32_t>> goals;
    for (std::uint32_t i = 0; i < shared.n_binary; ++i) {
        const std::int32_t* rule = binary_rules.data() + 3 * i;
        if (boundary >= 0 && (rule[1] == boundary || rule[2] == boundary)) {
            if (rule[0] == shared.root && rule[1] != boundary) goals.emplace_back(static_cast<State>(rule[1]), i);
            continue;
        }
        binary.push_back({static_cast<State>(rule[0]), static_cast<State>(rule[1]), static_cast<State>(rule[2]),
                          binary_scores.data()[i]});
        shared.rules.push_back(i);
        is_common.push_back(common.data()[i]);
    }
    for (std::size_t i = 0; i < shared.n_unary; ++i)
        unary.push_back({static_cast<State>(unary_rules.data()[2 * i]),
                         static_cast<State>(unary_rules.data()[2 * i + 1]), unary_scores.data()[i]});
    is_common.insert(is_common.end(), common.data() + shared.n_binary, common.data() + common.size());
    shared.number = good_order(shared.n_states, binary);
    shared.original.resize(shared.n_states);
    Projection projection{std::vector<State>(shared.n_states), 0, std::vector<float>(shared.n_states)};
    for (std::size_t state = 0; state < shared.n_states; ++state) {
        shared.original[shared.number[state]] = static_cast<State>(state);
        projection.symbols[shared.number[state]] = static_cast<State>(symbols.data()[state]);
        projection.potentials[shared.number[state]] = potentials.data()[state];
        projection.n_symbols =
            std::max<std::size_t>(projection.n_symbols, static_cast<std::size_t>(symbols.data()[state]) + 1);
    }
    for (BinaryRule& rule : binary)
        rule = {shared.number[rule.parent], shared.number[rule.left], shared.number[rule.right], rule.score};
    for (UnaryRule& rule : unary) rule = {shared.number[rule.parent], shared.number[rule.child], rule.score};
    for (auto& [state, rule] : goals) shared.goal_rules.emplace_back(shared.number[state], rule);
    shared.pcfg = std::make_unique<Pcfg>(shared.n_states, std::move(binary), std::move(unary),
                                         goals_of(shared, binary_scores.data()), std::move(projection), is_common);
}

// Tags of words as the chart numbers them.
std::vector<Tag> tags_of(const SharedPcfg& shared, const Int64In& offsets, const Int32In& states,
                         const ArrayIn<float>& scores) {
    if (states.size() != scores.size() || !rise_to(offsets, states.size(), 0))
        throw nb::value_error("tags, scores and offsets do not fit each other");
    if (!all_below(states.data(), states.size(), shared.n_states)) throw nb::value_error("a tag that is not a state");
    std::vector<Tag> tags;
    tags.reserve(states.size());
    for (std::size_t i = 0; i < states.size(); ++i)
        tags.push_back({shared.number[static_cast<std::size_t>(states.data()[i])], scores.data()[i]});
    return tags;
}

// Derivations as arrays, found by parse(table, sentences, derivations).
template <typename Parse>
nb::tuple derive(const SharedPcfg& shared, const Int64In& tag_offsets, const Int32In& tag_states,
                 const ArrayIn<float>& tag_scores, const Int32In& words, const Int64In& offsets, WordTable::Use use,
                 const Parse& parse) {
    TokensView sentences = view(words, offsets);
    std::vector<Tag> tags = tags_of(shared, tag_offsets, tag_states, tag_scores);
    if (!all_below(words.data(), words.size(), tag_offsets.size() - 1)) throw nb::value_error("words without tags");
    std::vector<Derivation> derivations(sentences.count);
    std::vector<float> scores;
    std::vector<std::int32_t> columns[4];
    std::vector<std::int64_t> node_offsets{0};
    {
        nb::gil_scoped_release release;
        std::shared_lock lock(shared.mutex);
        WordTable table(*shared.pcfg, span(tag_offsets), tags, use);
        parse(table, sentences, std::span(derivations));
        for (std::size_t i = 0; i < sentences.count; ++i) {
            auto add = [&](State state, std::int32_t rule, std::int32_t from, std::int32_t to) {
                columns[0].push_back(state);
                columns[1].push_back(rule);
                columns[2].push_back(from);
                columns[3].push_back(to);
            };
            if (!derivations[i].nodes.empty() && shared.bounded) {
                const Node& top = derivations[i].nodes.front();
                for (auto [state, rule] : shared.goal_rules)
                    if (state == top.state) add(shared.root, static_cast<std::int32_t>(rule), 0, top.end);
            }
            for (const Node& node : derivations[i].nodes)
                add(shared.original[node.state], shared.rule(node.rule), node.begin, node.end);
            node_offsets.push_back(static_cast<std::int64_t>(columns[0].size()));
            scores.push_back(derivations[i].score);
            shared.work += derivations[i].work;
        }
    }
    return nb::make_tuple(to_numpy(std::move(node_offsets)), to_numpy(std::move(columns[0])),
                          to_numpy(std::move(columns[1])), to_numpy(std::move(columns[2])),
                          to_numpy(std::move(columns[3])), to_numpy(std::move(scores)));
}

nb::tuple parse_all(const SharedPcfg& shared, Int64In tag_offsets, Int32In tag_states, ArrayIn<float> tag_scores,
                    Int32In words, Int64In offsets, bool plainly, int threads) {
    auto use = plainly ? WordTable::Use::kPlain : WordTable::Use::kGuided;
    return derive(shared, tag_offsets, tag_states, tag_scores, words, offsets, use,
                  [&](const WordTable& table, const TokensView& sentences, std::span<Derivation> derivations) {
                      if (plainly) {
                          parallel_for(sentences.count, threads, kGrain, [&](std::size_t begin, std::size_t end) {
                              Worker worker(*shared.pcfg);
                              for (std::size_t i = begin; i < end; ++i)
                                  worker.parse_plainly(table, sentences[i], derivations[i]);
                          });
                          return;
                      }
                      std::vector<std::vector<std::size_t>> batches =
                          batches_of(sentences, static_cast<std::size_t>(std::max(1, threads)));
                      parallel_for(batches.size(), threads, 1, [&](std::size_t begin, std::size_t end) {
                          Worker worker(*shared.pcfg);
                          for (std::size_t i = begin; i < end; ++i)
                              worker.parse(table, sentences, batches[i], derivations);
                      });
                  });
}

nb::tuple parse_spans(const SharedPcfg& shared, Int64In tag_offsets, Int32In tag_states, ArrayIn<float> tag_scores,
                      Int32In words, Int64In offsets, ArrayIn<std::uint8_t> may, std::size_t longest, int threads) {
    if (may.size() != words.size()) throw nb::value_error("not one number of spans per word");
    return derive(shared, tag_offsets, tag_states, tag_scores, words, offsets, WordTable::Use::kPlain,
                  [&](const WordTable& table, const TokensView& sentences, std::span<Derivation> derivations) {
                      parallel_for(sentences.count, threads, 1, [&](std::size_t begin, std::size_t end) {
                          Worker worker(*shared.pcfg);
                          for (std::size_t i = begin; i < end; ++i) {
                              auto first = static_cast<std::size_t>(sentences.offsets[i]);
                              Spans spans{{may.data() + first, sentences[i].size()}, longest};
                              worker.parse_spans(table, sentences[i], spans, derivations[i]);
                          }
                      });
                  });
}

// Derivations without the nodes of binarization: the labeled nodes, with the parent of each.
nb::tuple visible_nodes(Int64In offsets, Int32In states, Int32In begins, Int32In ends, Int32In labels) {
    std::size_t n = states.size();
    if (!rise_to(offsets, n, 0) || begins.size() != n || ends.size() != n)
        throw nb::value_error("the arrays of derivations do not fit each other");
    if (!all_below(states.data(), n, labels.size())) throw nb::value_error("states without labels");
    std::vector<std::int64_t> out_offsets{0};
    std::vector<std::int32_t> columns[4];
    std::vector<std::pair<std::int32_t, std::int32_t>> open;  // nodes around the next one: number and end
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
        open.clear();
        std::size_t first = columns[0].size();
        for (std::int64_t at = offsets.data()[i]; at < offsets.data()[i + 1]; ++at) {
            std::int32_t label = labels.data()[states.data()[at]], begin = begins.data()[at], end = ends.data()[at];
            if (label < 0) continue;
            while (!open.empty() && open.back().second <= begin) open.pop_back();
            columns[0].push_back(label);
            columns[1].push_back(open.empty() ? -1 : open.back().first);
            columns[2].push_back(begin);
            columns[3].push_back(end);
            open.emplace_back(static_cast<std::int32_t>(columns[0].size() - first) - 1, end);
        }
        out_offsets.push_back(static_cast<std::int64_t>(columns[0].size()));
    }
    return nb::make_tuple(to_numpy(std::move(out_offsets)), to_numpy(std::move(columns[0])),
                          to_numpy(std::move(columns[1])), to_numpy(std::move(columns[2])),
                          to_numpy(std::move(columns[3])));
}

}  // namespace

void bind_parsing(nb::module_& m) {
    nb::class_<SharedPcfg>(m, "Pcfg", "A probabilistic context-free grammar to parse with.")
        .def(
            "__init__",
            [](SharedPcfg* self, RulesIn<3> binary_rules, ArrayIn<float> binary_scores, RulesIn<2> unary_rules,
               ArrayIn<float> unary_scores, std::int32_t root, std::int32_t boundary, Int32In symbols,
               ArrayIn<float> potentials, ArrayIn<std::uint8_t> common) {
                std::size_t n = symbols.size(), n_binary = binary_rules.shape(0), n_unary = unary_rules.shape(0);
                if (n > kMostStates) throw nb::value_error("more than 16,384 states");
                if (binary_scores.size() != n_binary || unary_scores.size() != n_unary ||
                    common.size() != n_binary + n_unary || potentials.size() != n)
                    throw nb::value_error("the arrays of the grammar do not fit each other");
                if (!all_below(binary_rules.data(), 3 * n_binary, n) ||
                    !all_below(unary_rules.data(), 2 * n_unary, n) || !all_below(&root, 1, n) ||
                    boundary >= static_cast<std::int32_t>(n) || !all_below(symbols.data(), n, n))
                    throw nb::value_error("a rule or symbol of no state");
                new (self) SharedPcfg;
                self->n_states = n;
                self->n_binary = n_binary;
                self->n_unary = n_unary;
                self->root = static_cast<State>(root);
                self->bounded = boundary >= 0;
                nb::gil_scoped_release release;
                make_pcfg(*self, binary_rules, binary_scores, unary_rules, unary_scores, boundary, symbols, potentials,
                          common);
            },
            "binary_rules"_a, "binary_scores"_a, "unary_rules"_a, "unary_scores"_a, nb::kw_only(), "root"_a,
            "boundary"_a, "symbols"_a, "potentials"_a, "common"_a,
            "binary_rules int32[n, 3]: parent, left and right child; unary_rules int32[m, 2]: parent and child;\n"
            "scores float32. Without a boundary (-1) sentences are derived from the root; else from what comes\n"
            "before the boundary in a rule of the root. symbols int32[n_states] and potentials float32[n_states]\n"
            "define the coarser grammar that guides the search; common uint8[n + m] is not 0 for rules that are\n"
            "tried first. No result depends on these three.")
        .def("parse", &parse_all, "tag_offsets"_a, "tag_states"_a, "tag_scores"_a, "words"_a, "offsets"_a,
             nb::kw_only(), "plainly"_a, "threads"_a,
             nb::sig("def parse(self, tag_offsets: " INT64S ", tag_states: " INT32S ", tag_scores: " FLOAT32S ", "
                     "words: " INT32S ", offsets: " INT64S ", *, plainly: bool, threads: int) -> tuple[" INT64S
                     ", " INT32S ", " INT32S ", " INT32S ", " INT32S ", " FLOAT32S "]"),
             "The best derivation of each sentence: offsets of nodes, then states, rules, begins and ends in\n"
             "preorder, and the score of each sentence, -inf where there is none. Rules are numbers of binary rules,\n"
             "then of unary ones; -1 above a word. Word i has the tags from tag_offsets[i] on. `plainly` does not\n"
             "use the coarser grammar.")
        .def("parse_spans", &parse_spans, "tag_offsets"_a, "tag_states"_a, "tag_scores"_a, "words"_a, "offsets"_a,
             nb::kw_only(), "may"_a, "longest"_a, "threads"_a,
             nb::sig("def parse_spans(self, tag_offsets: " INT64S ", tag_states: " INT32S ", tag_scores: " FLOAT32S
                     ", words: " INT32S ", offsets: " INT64S ", *, may: numpy.typing.NDArray[numpy.uint8], "
                     "longest: int, threads: int) -> tuple[" INT64S ", " INT32S ", " INT32S ", " INT32S ", " INT32S
                     ", " FLOAT32S "]"),
             "As parse(), for long sentences, in a time that grows with their length: only some spans of words may be\n"
             "constituents, and the best derivation may be lost, or all of them. may[i] is the sum of 1 if several\n"
             "words may begin with word i of all sentences, and 2 if they may end with it. Spans of more than\n"
             "`longest` words begin with the first word of a sentence or end with one of its last two.")
        .def_prop_ro(
            "work", [](const SharedPcfg& self) { return self.work.load(); },
            "The number of blocks of rules that charts have looked at so far: time, but the same on every machine.")
        .def(
            "set_scores",
            [](SharedPcfg& self, ArrayIn<float> binary_scores, ArrayIn<float> unary_scores) {
                if (binary_scores.size() != self.n_binary || unary_scores.size() != self.n_unary)
                    throw nb::value_error("not one score per rule");
                nb::gil_scoped_release release;
                std::unique_lock lock(self.mutex);
                std::vector<float> scores;
                for (std::uint32_t rule : self.rules) scores.push_back(binary_scores.data()[rule]);
                self.pcfg->set_scores(scores, {unary_scores.data(), unary_scores.size()},
                                      goals_of(self, binary_scores.data()));
            },
            "binary_scores"_a, "unary_scores"_a, "Replace the scores of the rules.")
        .def(
            "tune",
            [](SharedPcfg& self, Int64In tag_offsets, Int32In tag_states, ArrayIn<float> tag_scores, Int32In words,
               Int64In offsets, int passes) {
                TokensView sentences = view(words, offsets);
                std::vector<Tag> tags = tags_of(self, tag_offsets, tag_states, tag_scores);
                if (!all_below(words.data(), words.size(), tag_offsets.size() - 1))
                    throw nb::value_error("words without tags");
                return fill_array<float>(self.n_states, [&](float* potentials) {
                    std::unique_lock lock(self.mutex);
                    tune(*self.pcfg, span(tag_offsets), tags, sentences, passes);
                    for (std::size_t state = 0; state < self.n_states; ++state)
                        potentials[state] = self.pcfg->coarsening().potential(self.number[state]);
                });
            },
            "tag_offsets"_a, "tag_states"_a, "tag_scores"_a, "words"_a, "offsets"_a, nb::kw_only(), "passes"_a,
            "Potentials that make the coarser grammar a good guide for sentences like these; float32[n_states].");
    m.def("visible_nodes", &visible_nodes, "offsets"_a, "states"_a, "begins"_a, "ends"_a, "labels"_a,
          nb::sig("def visible_nodes(offsets: " INT64S ", states: " INT32S ", begins: " INT32S ", ends: " INT32S ", "
                  "labels: " INT32S ") -> tuple[" INT64S ", " INT32S ", " INT32S ", " INT32S ", " INT32S "]"),
          "Trees of derivations, without the nodes whose state has a negative label: offsets of nodes, then in\n"
          "preorder their labels, the number of the node above in its tree (-1 for the top), begins and ends.");
}

}  // namespace captious
