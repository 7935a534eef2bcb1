// Exact Viterbi parsing with a state-split PCFG, guided by a coarser grammar.
//
// The best outside score of an item in the coarser grammar bounds its derivations: items that cannot be part of
// a derivation as good as a known one are left out, and the best derivation never is (admissible bounds as in the
// A* parsing of Klein and Manning 2003, taken from a coarse pass as in Charniak et al. 2006). The known derivation is
// built from a small part of the rules by a beam search, and is usually the best of all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parsing/chart.hpp"
#include "parsing/coarse.hpp"
#include "parsing/grammar.hpp"
#include "tokens.hpp"

namespace captious::parsing {

// A tag of a word with its score.
struct Tag {
    State state;
    float score;
};

// One node of a derivation, in preorder: a binary rule has two nodes below it, a unary one, a word none.
struct Node {
    State state;
    std::int32_t rule;  // binary rules first, then unary ones; -1 above a word
    std::int32_t begin, end;
};

// Coarse symbols of states, below `n_symbols`, and potentials of states.
struct Projection {
    std::vector<State> symbols;
    std::size_t n_symbols;
    std::vector<float> potentials;
};

// A grammar, a coarser one, and some of its rules.
class Pcfg {
public:
    // `is_common` marks the binary, then the unary rules of the part that is tried first.
    Pcfg(std::size_t n_states, std::vector<BinaryRule> binary, std::vector<UnaryRule> unary, std::vector<Goal> goals,
         Projection projection, std::span<const std::uint8_t> is_common);

    // Replaces the scores of the rules.
    void set_scores(std::span<const float> binary, std::span<const float> unary, std::span<const Goal> goals);

    const Grammar& grammar() const { return grammar_; }
    const Grammar& common() const { return common_; }
    const Coarsening& coarsening() const { return coarsening_; }
    Coarsening& coarsening() { return coarsening_; }
    // Calls emit(rule, state) for the unary rules of a chain and the states that they make, from the top.
    template <typename Emit>
    void for_each_rule(std::uint32_t chain, const Emit& emit) const {
        for (std::uint32_t rule : closure_.chains[chain]) emit(rule, unary_[rule].parent);
    }

private:
    Grammar take_common() const;

    std::vector<UnaryRule> unary_;  // as given
    Closure closure_;
    Grammar grammar_;
    Coarsening coarsening_;
    std::vector<std::uint8_t> is_common_;
    Grammar common_;
};

// Items over distinct words: items of the grammar and of its common part, and the items of the coarser grammar
// for them.
class WordTable {
public:
    enum class Use { kPlain, kCoarse, kGuided };  // parsing plainly, coarse charts only, all

    // offsets [n_words + 1] of the tags of each word.
    WordTable(const Pcfg& pcfg, std::span<const std::int64_t> offsets, std::span<const Tag> tags, Use use);
    std::span<const WordItem> items(std::int32_t word) const { return items_.of(word); }  // by coarse symbol
    std::span<const WordItem> common_items(std::int32_t word) const {
        return common_items_.of(word);
    }  // that beams reach
    // Bounds are below the scores by an offset, so that the best is 0.
    std::span<const Seed> seeds(std::int32_t word) const { return seeds_.of(word); }
    float offset(std::int32_t word) const { return offsets_[static_cast<std::size_t>(word)]; }

private:
    template <typename T>
    struct Lists {
        std::vector<T> values;
        std::vector<std::size_t> starts{0};
        std::span<const T> of(std::int32_t list) const {
            auto place = static_cast<std::size_t>(list);
            return {values.data() + starts[place], values.data() + starts[place + 1]};
        }
        void add(std::span<const T> list) {
            values.insert(values.end(), list.begin(), list.end());
            starts.push_back(values.size());
        }
    };

    void add_by_symbol(const Coarsening& coarsening, std::span<const WordItem> items,
                       std::vector<std::uint32_t>& seed_of);
    void add_reached(const Coarsening& coarsening, std::vector<WordItem>& items);

    Lists<WordItem> items_, common_items_;
    Lists<Seed> seeds_;
    std::vector<float> offsets_;
};

using Sentence = std::span<const std::int32_t>;  // words of a table

struct Derivation {
    std::vector<Node> nodes;
    float score = kNever;
    std::uint64_t work = 0;  // blocks of rules that charts looked at
};

// Sentences in batches of similar lengths that a worker parses at once. Batches come by length in `n_rounds` rounds,
// so that every part of the sequence has all lengths.
std::vector<std::vector<std::size_t>> batches_of(const TokensView& sentences, std::size_t n_rounds);

// Parses sentences in its own memory. Where plainly parsed sentences begin with the words of the one
// before, the cells over these words are computed once.
class Worker {
public:
    static constexpr std::size_t kMost = CoarseChart::kLanes;

    explicit Worker(const Pcfg& pcfg)
        : pcfg_(pcfg), coarse_(pcfg.coarsening()), chart_(pcfg.grammar()), common_(pcfg.common()) {}

    // The best derivations of up to kMost sentences, which should be of similar lengths.
    void parse(const WordTable& table, const TokensView& sentences, std::span<const std::size_t> batch,
               std::span<Derivation> derivations);
    // The best derivation of one sentence without the coarser grammar, which takes several times as long; long
    // sentences are always parsed this way.
    void parse_plainly(const WordTable& table, Sentence words, Derivation& derivation);
    // A derivation that is nearly always the best one of a sentence, in linear time, or none.
    void parse_spans(const WordTable& table, Sentence words, const Spans& spans, Derivation& derivation);
    // Fills a coarse chart, with up to kMost sentences.
    const CoarseChart& fill_coarse(const WordTable& table, std::span<const Sentence> sentences);

private:
    struct Guided {
        std::size_t sentence;
        Sentence words;
        float least;  // lower bound of the best score
    };

    float find_one(const WordTable& table, Sentence words, std::uint64_t& work);
    void parse_guided(const WordTable& table, std::span<Derivation> derivations);
    void find_offsets(const WordTable& table, Sentence words);
    void take(const WordTable& table, Sentence words);
    void read_off(Derivation& derivation) const;
    void walk(State state, std::size_t begin, std::size_t end, std::vector<Node>& nodes) const;

    const Pcfg& pcfg_;
    CoarseChart coarse_;
    Chart chart_, common_;
    std::vector<Guided> guided_;
    std::vector<Sentence> words_;
    std::vector<std::span<const WordItem>> items_, common_items_;
    std::vector<float> offsets_;
    std::vector<std::span<const Seed>> seeds_;  // of all sentences in the coarse chart
    std::vector<CoarseChart::Words> seeds_of_;  // by lane
    const WordTable* plain_table_ = nullptr;
    std::vector<std::int32_t> plain_;  // the words whose cells are in the chart, if it was filled plainly
};

}  // namespace captious::parsing
