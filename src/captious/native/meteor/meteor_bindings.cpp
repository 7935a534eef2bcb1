// Python bindings of METEOR's kernels.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "meteor/compiler.hpp"
#include "meteor/meteor.hpp"
#include "vocabulary/shared_vocabulary.hpp"

using namespace nanobind::literals;

namespace captious {
namespace {

using namespace captious::meteor;

// A lexicon, the tables that keep its arrays alive, and a lock: readers wait for writers.
struct SharedLexicon {
    nb::object tables;
    std::unique_ptr<Lexicon> lexicon;
    mutable SharedMutex mutex;
};

TableArrays arrays_of(const nb::dict& tables) {
    return {array_of<std::uint8_t>(tables, "word_text"),      array_of<std::uint32_t>(tables, "word_ends"),
            array_of<std::uint32_t>(tables, "word_slots"),    array_of<std::uint8_t>(tables, "function_words"),
            array_of<std::uint32_t>(tables, "synset_starts"), array_of<std::int32_t>(tables, "synsets"),
            array_of<std::uint32_t>(tables, "base_starts"),   array_of<std::uint32_t>(tables, "bases"),
            array_of<std::uint16_t>(tables, "node_words"),    array_of<std::uint32_t>(tables, "node_children"),
            array_of<std::uint32_t>(tables, "node_targets"),  array_of<std::uint16_t>(tables, "targets")};
}

nb::dict to_dict(CompiledTables&& tables) {
    nb::dict out;
    out["word_text"] = to_numpy(std::move(tables.word_text));
    out["word_ends"] = to_numpy(std::move(tables.word_ends));
    out["word_slots"] = to_numpy(std::move(tables.word_slots));
    out["function_words"] = to_numpy(std::move(tables.function_words));
    out["synset_starts"] = to_numpy(std::move(tables.synset_starts));
    out["synsets"] = to_numpy(std::move(tables.synsets));
    out["base_starts"] = to_numpy(std::move(tables.base_starts));
    out["bases"] = to_numpy(std::move(tables.bases));
    out["node_words"] = to_numpy(std::move(tables.node_words));
    out["node_children"] = to_numpy(std::move(tables.node_children));
    out["node_targets"] = to_numpy(std::move(tables.node_targets));
    out["targets"] = to_numpy(std::move(tables.targets));
    return out;
}

std::string_view bytes_view(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

void check_ids(const Int32In& ids, std::size_t n) {
    if (std::any_of(ids.data(), ids.data() + ids.size(),
                    [n](std::int32_t id) { return static_cast<std::size_t>(id) >= n; }))
        throw nb::value_error("ids do not fit the words that are known");
}

ModuleSet check_modules(unsigned modules) {
    if (modules == 0 || modules >> kModules != 0) throw nb::value_error("modules are 1 to 15, a bit for each");
    return modules;
}

// Calls count(), and turns TooManyMatches into an OverflowError of Python that holds the row of the reference.
template <typename Count>
void counting(const Count& count) {
    try {
        count();
    } catch (const TooManyMatches& error) {
        nb::gil_scoped_acquire acquire;
        PyErr_SetObject(PyExc_OverflowError, nb::int_(error.reference).ptr());
        throw nb::python_error();
    }
}

}  // namespace

void bind_meteor(nb::module_& m) {
    nb::class_<TablesCompiler>(m, "MeteorTablesCompiler", "METEOR's published files, compiled to arrays.")
        .def(nb::init<>())
        .def(
            "add_paraphrases",
            [](TablesCompiler& self, nb::bytes bytes) {
                std::string_view view = bytes_view(bytes);
                nb::gil_scoped_release release;
                self.add_paraphrases(view);
            },
            "bytes"_a, "Add the next bytes of the unpacked paraphrase table. Raises ValueError if it is malformed.")
        .def(
            "finish",
            [](TablesCompiler& self, nb::bytes synsets, nb::bytes exceptions, nb::bytes function_words) {
                std::string_view a = bytes_view(synsets), b = bytes_view(exceptions), c = bytes_view(function_words);
                return to_dict(without_gil([&] { return self.finish(a, b, c); }));
            },
            nb::kw_only(), "synsets"_a, "exceptions"_a, "function_words"_a,
            nb::sig("def finish(self, *, synsets: bytes, exceptions: bytes, function_words: bytes) -> " ARRAYS),
            "The arrays of MeteorLexicon by name. Can be called once. Raises as `add_paraphrases` does.");

    auto lexicon_class =
        nb::class_<SharedLexicon>(m, "MeteorLexicon", "METEOR's facts about the words of one vocabulary.");
    lexicon_class
        .def(
            "__init__",
            [](SharedLexicon* self, nb::dict tables) {
                auto lexicon = std::make_unique<Lexicon>(arrays_of(tables));
                new (self) SharedLexicon{tables, std::move(lexicon), {}};
            },
            "tables"_a, nb::sig("def __init__(self, tables: " ARRAYS ") -> None"))
        .def(
            "copy",
            [](const SharedLexicon& self) {
                std::shared_lock lock(self.mutex);
                return new SharedLexicon{self.tables, std::make_unique<Lexicon>(*self.lexicon), {}};
            },
            nb::rv_policy::take_ownership, "A copy with the same words.")
        .def("__len__",
             [](const SharedLexicon& self) {
                 std::shared_lock lock(self.mutex);
                 return self.lexicon->size();
             })
        .def(
            "learn",
            [](SharedLexicon& self, std::size_t first, Strings words, Strings stems) {
                std::vector<std::string_view> texts = utf8(words), bases = utf8(stems);
                if (texts.size() != bases.size()) throw nb::value_error("not one stem per word");
                std::unique_lock lock(self.mutex);
                if (first > self.lexicon->size()) throw nb::value_error("words before these are not known yet");
                for (std::size_t i = self.lexicon->size() - first; i < texts.size(); ++i)
                    self.lexicon->learn(texts[i], bases[i]);
            },
            "first"_a, "words"_a, "stems"_a,
            "Add words of the vocabulary from the id `first` on, with their stems. Known words are skipped.");

    lexicon_class
        .def(
            "arrays",
            [](const SharedLexicon& self) {
                std::vector<std::int32_t> hashes, stem_hashes, synsets;
                std::vector<std::uint32_t> numbers;
                std::vector<std::uint8_t> function_words;
                std::vector<std::int64_t> synset_ends;
                std::shared_lock lock(self.mutex);
                for (std::size_t id = 0; id < self.lexicon->size(); ++id) {
                    const Word& word = (*self.lexicon)[id];
                    hashes.push_back(word.hash);
                    stem_hashes.push_back(word.stem_hash);
                    numbers.push_back(word.number);
                    function_words.push_back(word.is_function_word);
                    std::span<const std::int32_t> sets = self.lexicon->synsets(word);
                    synsets.insert(synsets.end(), sets.begin(), sets.end());
                    synset_ends.push_back(static_cast<std::int64_t>(synsets.size()));
                }
                nb::dict out;
                out["hashes"] = to_numpy(std::move(hashes));
                out["stem_hashes"] = to_numpy(std::move(stem_hashes));
                out["numbers"] = to_numpy(std::move(numbers));
                out["function_words"] = to_numpy(std::move(function_words));
                out["synsets"] = to_numpy(std::move(synsets));
                out["synset_ends"] = to_numpy(std::move(synset_ends));
                return out;
            },
            nb::sig("def arrays(self) -> " ARRAYS), "The facts as arrays to save.")
        .def_static(
            "of_arrays",
            [](nb::dict tables, nb::dict arrays) {
                auto lexicon = std::make_unique<Lexicon>(arrays_of(tables));
                auto hashes = array_of<std::int32_t>(arrays, "hashes"),
                     stem_hashes = array_of<std::int32_t>(arrays, "stem_hashes");
                auto numbers = array_of<std::uint32_t>(arrays, "numbers");
                auto function_words = array_of<std::uint8_t>(arrays, "function_words");
                auto synsets = array_of<std::int32_t>(arrays, "synsets");
                auto synset_ends = array_of<std::int64_t>(arrays, "synset_ends");
                std::size_t n = hashes.size(), from = 0;
                for (std::size_t size : {stem_hashes.size(), numbers.size(), function_words.size(), synset_ends.size()})
                    if (size != n) throw nb::value_error("not one value per word");
                for (std::size_t i = 0; i < n; ++i) {
                    auto to = static_cast<std::size_t>(synset_ends[i]);
                    if (synset_ends[i] < 0 || to < from || to > synsets.size())
                        throw nb::value_error("ends do not fit the synonym sets");
                    Word word{hashes[i], stem_hashes[i], numbers[i], 0, 0, {}, function_words[i] != 0};
                    lexicon->restore(word, synsets.subspan(from, to - from));
                    from = to;
                }
                return new SharedLexicon{tables, std::move(lexicon), {}};
            },
            "tables"_a, "arrays"_a, nb::rv_policy::take_ownership,
            nb::sig("def of_arrays(tables: " ARRAYS ", arrays: " ARRAYS ") -> MeteorLexicon"),
            "The lexicon saved as `arrays`, given the same tables. Raises ValueError for arrays that do\n"
            "not fit.");

    m.def(
        "meteor_normalize",
        [](const vocabulary::SharedVocabulary& source, Int32In ids, Int64In offsets,
           vocabulary::SharedVocabulary& target) {
            TokensView captions = view(ids, offsets);
            if (&source == &target) throw nb::value_error("source and target are one vocabulary");
            return to_numpy(without_gil([&] {
                std::shared_lock lock(source.mutex);
                std::unique_lock target_lock(target.mutex);
                if (std::any_of(ids.data(), ids.data() + ids.size(),
                                [&](std::int32_t id) { return static_cast<std::size_t>(id) >= source.size(); }))
                    throw std::invalid_argument("ids do not fit the vocabulary");
                return normalize_captions(source, captions, target);
            }));
        },
        "source"_a, "ids"_a, "offsets"_a, "target"_a,
        nb::sig("def meteor_normalize(source: Vocabulary, ids: " INT32S ", offsets: " INT64S ", target: Vocabulary) "
                "-> tuple[" INT32S ", " INT64S "]"),
        "Captions of words of one vocabulary after METEOR's normalization, as ids in another and offsets. Words\n"
        "missing from the other are added to it.");
    m.def(
        "meteor_counts",
        [](const SharedLexicon& lexicon, Int32In ids, Int64In offsets, Int32In reference_ids, Int64In reference_offsets,
           Int64In image_offsets, unsigned modules, int threads) {
            TokensView candidates = view(ids, offsets), references = view(reference_ids, reference_offsets);
            check_images(candidates, references, image_offsets);
            check_modules(modules);
            return fill_array<std::int32_t>(references.count, kCounts, [&](std::int32_t* out) {
                std::shared_lock lock(lexicon.mutex);
                check_ids(ids, lexicon.lexicon->size());
                check_ids(reference_ids, lexicon.lexicon->size());
                counting([&] {
                    count_pairs(*lexicon.lexicon, modules, candidates, references, span(image_offsets), threads, out);
                });
            });
        },
        "lexicon"_a, "ids"_a, "offsets"_a, "reference_ids"_a, "reference_offsets"_a, "image_offsets"_a, "modules"_a,
        "threads"_a,
        "Per reference, of its alignment with the candidate: words of candidate and reference, function words of\n"
        "both; for each module matched content words of both, matched function words of both; chunks, matched words\n"
        "of both; int32[n_references, 23]. `modules` has bit 0 for exact, 1 for stem, 2 for synonym, 3 for\n"
        "paraphrase. Raises OverflowError(row) for a reference with more than 16,777,216 matches of paraphrases.");
    m.def(
        "meteor_alignment",
        [](const SharedLexicon& lexicon, Int32In ids, Int32In reference_ids, unsigned modules) {
            std::shared_lock lock(lexicon.mutex);
            check_ids(ids, lexicon.lexicon->size());
            check_ids(reference_ids, lexicon.lexicon->size());
            MatchFinder matches(*lexicon.lexicon, check_modules(modules));
            matches.set_candidate({ids.data(), ids.size()}, {reference_ids.data(), reference_ids.size()});
            counting([&] { matches.set_reference({reference_ids.data(), reference_ids.size()}); });
            Aligner aligner;
            std::vector<std::int32_t> out;
            for (const Link& link : aligner.align(matches))
                for (std::uint32_t value :
                     {link.match.start, std::uint32_t{link.match.length}, link.reference_start,
                      std::uint32_t{link.match.reference_length}, std::uint32_t{link.match.module}})
                    out.push_back(static_cast<std::int32_t>(value));
            return to_numpy(std::move(out), 5);
        },
        "lexicon"_a, "ids"_a, "reference_ids"_a, "modules"_a,
        "The alignment of one pair: candidate start and length, reference start and length, module (0..3), in the\n"
        "order of the reference; int32[n_matches, 5].");
}

}  // namespace captious
