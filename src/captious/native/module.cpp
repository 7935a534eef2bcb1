// Python bindings of the kernels: arrays in, arrays out, the GIL released while they run.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "cider.hpp"
#include "correlation.hpp"
#include "ngrams.hpp"
#include "sequences.hpp"
#include "vocabulary.hpp"

#include <memory>

namespace nb = nanobind;
using namespace nb::literals;
using namespace captious;

namespace {

template <typename T>
using TableIn = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr std::size_t kMostDrawn = std::size_t{1} << 31;  // ratings in a resample; pairs of them are numbers of 64 bits

bool below(const Int32In& values, std::size_t end) {
    return std::all_of(values.data(), values.data() + values.size(), [end](std::int32_t v) { return v >= 0 && static_cast<std::size_t>(v) < end; });
}

// Judged rows, checked; scores are ranks below twice the number of rows plus one.
JudgedRows judged_rows(const Int32In& offsets, const Int32In& ratings, const Int32In& groups, std::size_t n_groups) {
    std::size_t n = groups.size();
    bool fits = offsets.size() == n + 1 && offsets.data()[0] == 0 && offsets.data()[n] == static_cast<std::int32_t>(ratings.size()) &&
                std::is_sorted(offsets.data(), offsets.data() + n + 1) && below(groups, n_groups) && below(ratings, ratings.size());
    if (!fits) throw nb::value_error("offsets, ratings and groups do not fit each other");
    return {{offsets.data(), offsets.size()}, {ratings.data(), ratings.size()}, {groups.data(), n}};
}

std::span<const std::int32_t> score_ranks(const Int32In& scores, const JudgedRows& rows) {
    if (scores.size() != rows.groups.size() || !below(scores, 2 * scores.size() + 1)) throw nb::value_error("scores do not fit the rows");
    return {scores.data(), scores.size()};
}

using NgramsIn = nb::ndarray<const std::int32_t, nb::shape<-1, kMaxOrder>, nb::c_contig, nb::device::cpu>;

}  // namespace

NB_MODULE(_kernels, m) {
    // Objects that live until the interpreter ends, in a user's globals or a cache, are no reason to print anything.
    nb::set_leak_warnings(false);
    m.doc() = "Kernels over arrays of integers. `captious.text` and `captious.metrics` are their users.";

    nb::enum_<Cut>(m, "Cut", "How a caption is cut into tokens.")
        .value("ptb", Cut::ptb, "Penn Treebank tokens, lower-cased, without the punctuation the COCO harness drops")
        .value("ptb_raw", Cut::ptb_raw, "the same, punctuation included")
        .value("whitespace", Cut::whitespace, "pieces between white space, as str.split()")
        .value("spaces", Cut::spaces, "pieces between single spaces, empty ones included, as str.split(' ')");

    nb::class_<SharedVocabulary>(m, "Vocabulary", "Words, numbered from 0 in the order in which they came.")
        .def(nb::init<>())
        .def("copy",
             [](const SharedVocabulary& self) {
                 auto copy = std::make_unique<SharedVocabulary>();
                 std::shared_lock lock(self.mutex);
                 static_cast<Vocabulary&>(*copy) = self;
                 return copy.release();
             },
             nb::rv_policy::take_ownership, "Another vocabulary with the same words under the same ids.")
        .def("__len__", [](const SharedVocabulary& self) {
                 std::shared_lock lock(self.mutex);
                 return self.size();
             })
        .def("words",
             [](const SharedVocabulary& self, std::size_t first) {
                 std::shared_lock lock(self.mutex);
                 nb::list out;
                 for (std::size_t id = first; id < self.size(); ++id) {
                     std::string_view word = self.word(id);
                     out.append(nb::str(word.data(), word.size()));
                 }
                 return nb::typed<nb::list, nb::str>(out);
             },
             "first"_a = 0, "Words from the id `first` on, in the order of their ids.")
        .def("find",
             [](const SharedVocabulary& self, nb::typed<nb::tuple, nb::str, nb::ellipsis> words) {
                 std::vector<std::int32_t> ids;
                 std::vector<std::string_view> texts = utf8(words);
                 std::shared_lock lock(self.mutex);
                 for (std::string_view word : texts) ids.push_back(self.find(word));
                 return to_numpy(std::move(ids));
             },
             "words"_a, "Ids of words; -1 for a word that is not known.")
        .def("add",
             [](SharedVocabulary& self, nb::typed<nb::tuple, nb::str, nb::ellipsis> words) {
                 std::vector<std::int32_t> ids;
                 std::vector<std::string_view> texts = utf8(words);
                 std::unique_lock lock(self.mutex);
                 for (std::string_view word : texts) ids.push_back(self.add(word));
                 return to_numpy(std::move(ids));
             },
             "words"_a, "Ids of words, which are added if they are new.")
        .def("ids_in",
             [](const SharedVocabulary& self, const SharedVocabulary& other) {
                 std::shared_lock lock(self.mutex), other_lock(other.mutex);
                 return to_numpy(self.ids_in(other));
             },
             "other"_a, "For each word its id in another vocabulary, or -1; int32[len(self)].")
        .def("divisible",
             [](const SharedVocabulary& self) {
                 std::shared_lock lock(self.mutex);
                 return to_numpy(self.divisible());
              },
             "Ids of words that are empty or hold white space, which str.split() would cut again.")
        .def("word",
             [](const SharedVocabulary& self, std::size_t id) {
                 std::shared_lock lock(self.mutex);
                 if (id >= self.size()) throw nb::index_error("no word has that id");
                 return nb::str(self.word(id).data(), self.word(id).size());
             },
             "id"_a)
        .def("encode",
             [](SharedVocabulary& self, nb::typed<nb::tuple, nb::str, nb::ellipsis> captions, Cut cut, int threads) {
                 std::vector<std::string_view> texts = utf8(captions);
                 FlatTokens tokens;
                 {
                     nb::gil_scoped_release release;
                     std::unique_lock lock(self.mutex);
                     tokens = self.encode(texts, cut, threads);
                 }
                 return to_numpy(std::move(tokens));
             },
             "captions"_a, "cut"_a, "threads"_a, nb::sig("def encode(self, captions: tuple[str, ...], cut: Cut, threads: int) -> tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int64]]"),
             "Tokenize captions and add their words: ids int32[n_tokens], offsets int64[n_captions + 1].")
        .def("lookup",
             [](const SharedVocabulary& self, nb::typed<nb::tuple, nb::str, nb::ellipsis> captions, Cut cut, int threads) {
                 std::vector<std::string_view> texts = utf8(captions);
                 FlatTokens tokens;
                 {
                     nb::gil_scoped_release release;
                     std::shared_lock lock(self.mutex);
                     tokens = self.lookup(texts, cut, threads);
                 }
                 return to_numpy(std::move(tokens));
             },
             "captions"_a, "cut"_a, "threads"_a, nb::sig("def lookup(self, captions: tuple[str, ...], cut: Cut, threads: int) -> tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int64]]"),
             "Words of captions, tokens being cut again at white space; unknown ones are not added but numbered from len(self)\n"
             "on, anew in every caption.");

    nb::class_<ReferenceNgrams>(m, "ReferenceNgrams", "The n-grams (n = 1..4) of the references of each image.")
        .def("__init__",
             [](ReferenceNgrams* self, Int32In ids, Int64In offsets, Int64In image_offsets, int threads) {
                 TokensView tokens = view(ids, offsets);
                 if (!rise_to(image_offsets, tokens.count, 1))
                     throw nb::value_error("image_offsets do not fit offsets");
                 nb::gil_scoped_release release;
                 new (self) ReferenceNgrams(tokens, span(image_offsets), threads);
             },
             "ids"_a, "offsets"_a, "image_offsets"_a, "threads"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def("__len__", &ReferenceNgrams::images, "Number of images.");

    m.def("bleu_statistics",
          [](const ReferenceNgrams& references, Int32In ids, Int64In offsets, int threads) {
              TokensView candidates = view(ids, offsets);
              if (candidates.count != references.images()) throw nb::value_error("not one candidate per image");
              std::vector<double> out(candidates.count * 10);
              {
                  nb::gil_scoped_release release;
                  bleu_statistics(references, candidates, threads, out.data());
              }
              return to_numpy(std::move(out), 10);
          },
          "references"_a, "ids"_a, "offsets"_a, "threads"_a,
          "Per image: clipped matches and n-grams of order 1..4, candidate length, closest reference length;\n"
          "float64[n_images, 10].");
    m.def("ngram_matches",
          [](const ReferenceNgrams& references, Int32In ids, Int64In offsets, int threads) {
              TokensView candidates = view(ids, offsets);
              if (candidates.count != references.images()) throw nb::value_error("not one candidate per image");
              std::vector<std::int64_t> out(references.references().count * kMaxOrder);
              {
                  nb::gil_scoped_release release;
                  ngram_matches(references, candidates, threads, out.data());
              }
              return to_numpy(std::move(out), kMaxOrder);
          },
          "references"_a, "ids"_a, "offsets"_a, "threads"_a,
          "Per reference: n-grams of order 1..4 that it shares with its candidate; int64[n_references, 4].");
    m.def("lcs_lengths",
          [](Int32In ids, Int64In offsets, Int32In reference_ids, Int64In reference_offsets, Int64In image_offsets,
             int threads) {
              TokensView candidates = view(ids, offsets), references = view(reference_ids, reference_offsets);
              check_images(candidates, references, image_offsets);
              std::vector<std::int64_t> out(references.count);
              {
                  nb::gil_scoped_release release;
                  lcs_lengths(candidates, references, span(image_offsets), threads, out.data());
              }
              return to_numpy(std::move(out));
          },
          "ids"_a, "offsets"_a, "reference_ids"_a, "reference_offsets"_a, "image_offsets"_a, "threads"_a,
          "Per reference: length of the longest common subsequence with its candidate; int64[n_references].");
    m.def("skip_bigram_matches",
          [](Int32In ids, Int64In offsets, Int32In reference_ids, Int64In reference_offsets, Int64In image_offsets,
             std::int64_t gap, int threads) {
              TokensView candidates = view(ids, offsets), references = view(reference_ids, reference_offsets);
              check_images(candidates, references, image_offsets);
              std::vector<std::int64_t> out(references.count);
              {
                  nb::gil_scoped_release release;
                  skip_bigram_matches(candidates, references, span(image_offsets), gap, threads, out.data());
              }
              return to_numpy(std::move(out));
          },
          "ids"_a, "offsets"_a, "reference_ids"_a, "reference_offsets"_a, "image_offsets"_a, "gap"_a, "threads"_a,
          "Per reference: skip-bigrams at most `gap` positions apart that it shares with its candidate; "
          "int64[n_references].");

    nb::class_<NgramFrequencies>(m, "NgramFrequencies", "In how many documents each n-gram occurs.")
        .def(nb::init<>())
        .def("__len__", &NgramFrequencies::size, "Number of distinct n-grams.")
        .def("count", &NgramFrequencies::count, "references"_a, nb::keep_alive<1, 2>(),
             nb::call_guard<nb::gil_scoped_release>(),
             "Count every image's references as one document. Only once, and only if nothing was added.")
        .def("add",
             [](NgramFrequencies& self, NgramsIn ngrams, Int64In counts) {
                 if (ngrams.shape(0) != counts.size()) throw nb::value_error("not one count per n-gram");
                 for (std::size_t i = 0; i < counts.size(); ++i)
                     if (counts.data()[i] < 0 || counts.data()[i] > 0x7FFFFFFF) throw nb::value_error("counts do not fit 31 bits");
                 for (std::size_t i = 0; i < counts.size(); ++i) {
                     Ngram ngram;
                     std::copy(ngrams.data() + i * kMaxOrder, ngrams.data() + (i + 1) * kMaxOrder, ngram.words.begin());
                     self.add(ngram, static_cast<std::uint32_t>(counts.data()[i]));
                 }
             },
             "ngrams"_a, "counts"_a, "Add counts: ngrams int32[n, 4] of word ids padded with -1, counts int64[n].")
        .def("entries",
             [](const NgramFrequencies& self) {
                 std::vector<std::int32_t> ngrams;
                 std::vector<std::int64_t> counts;
                 for (const NgramFrequencies::Entry& entry : self.entries()) {
                     ngrams.insert(ngrams.end(), entry.ngram.words.begin(), entry.ngram.words.end());
                     counts.push_back(entry.count);
                 }
                 return nb::make_tuple(to_numpy(std::move(ngrams), kMaxOrder), to_numpy(std::move(counts)));
             },
             nb::sig("def entries(self) -> tuple[numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int64]]"),
             "All n-grams and their counts, as `add` takes them.");

    nb::class_<CiderReferences>(m, "CiderReferences", "References of all images, weighted for CIDEr.")
        .def("__init__",
             [](CiderReferences* self, const ReferenceNgrams& references, const NgramFrequencies& frequencies,
                Int32In word_map, double log_documents, double sigma, bool clip, bool relative, bool length_in_words,
                int threads) {
                 CiderOptions options{log_documents, sigma, clip, relative, length_in_words};
                 nb::gil_scoped_release release;
                 new (self) CiderReferences(references, frequencies, {word_map.data(), word_map.size()}, options, threads);
             },
             "references"_a, "frequencies"_a, "word_map"_a, "log_documents"_a, nb::kw_only(), "sigma"_a, "clip"_a, "relative"_a,
             "length_in_words"_a, "threads"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def("score",
             [](const CiderReferences& self, Int32In ids, Int64In offsets, Int64In rows, Int32In word_map, int threads) {
                 TokensView candidates = view(ids, offsets);
                 if (rows.size() != candidates.count) throw nb::value_error("not one row per candidate");
                 for (std::size_t i = 0; i < rows.size(); ++i)
                     if (rows.data()[i] < 0 || rows.data()[i] >= static_cast<std::int64_t>(self.images()))
                         throw nb::index_error("a row that no image has");
                 std::vector<double> out(candidates.count);
                 {
                     nb::gil_scoped_release release;
                     self.score(candidates, span(rows), {word_map.data(), word_map.size()}, threads, out.data());
                 }
                 return to_numpy(std::move(out));
             },
             "ids"_a, "offsets"_a, "rows"_a, "word_map"_a, "threads"_a,
             "Similarity, 0..1, of each candidate with the references of the image in its row; float64[n_candidates].");

    m.def("kendall_resampled",
          [](Int32In offsets, Int32In ratings, Int32In groups, Int32In scores, TableIn<std::int32_t> counts, int threads) {
              JudgedRows rows = judged_rows(offsets, ratings, groups, counts.shape(1));
              std::span<const std::int32_t> ranks = score_ranks(scores, rows);
              std::size_t most = kMostDrawn / std::max<std::size_t>(1, ratings.size());
              if (std::any_of(counts.data(), counts.data() + counts.size(), [most](std::int32_t c) { return c < 0 || static_cast<std::size_t>(c) > most; }))
                  throw nb::value_error("counts do not fit: one is negative or too large");
              std::vector<std::int64_t> out(counts.shape(0) * kTally);
              {
                  nb::gil_scoped_release release;
                  kendall_resampled(rows, ranks, counts.data(), counts.shape(0), counts.shape(1), threads, out.data());
              }
              return to_numpy(std::move(out), kTally);
          },
          "offsets"_a, "ratings"_a, "groups"_a, "scores"_a, "counts"_a, "threads"_a,
          "What Kendall's tau of scores with ratings is made of, for each resample: concordant less discordant pairs, all\n"
          "pairs, pairs tied in score, pairs tied in rating, distinct scores, distinct ratings; int64[n_resamples, 6].\n"
          "ratings and scores are ranks from 0; counts int32[n_resamples, n_groups] says how often each group was drawn.");
    m.def("kendall_exchanged",
          [](Int32In offsets, Int32In ratings, Int32In groups, Int32In a, Int32In b, TableIn<std::uint8_t> swaps, int threads) {
              JudgedRows rows = judged_rows(offsets, ratings, groups, swaps.shape(1));
              std::span<const std::int32_t> first = score_ranks(a, rows), second = score_ranks(b, rows);
              std::vector<std::int64_t> out(swaps.shape(0) * 2 * kTally);
              {
                  nb::gil_scoped_release release;
                  kendall_exchanged(rows, first, second, swaps.data(), swaps.shape(0), swaps.shape(1), threads, out.data());
              }
              return to_numpy(std::move(out), 2 * kTally);
          },
          "offsets"_a, "ratings"_a, "groups"_a, "a"_a, "b"_a, "swaps"_a, "threads"_a,
          "The same of two metrics' scores, after those of the groups where swaps uint8[n, n_groups] is not 0 were\n"
          "exchanged; int64[n, 12], first of a, then of b.");

    bind_meteor(m);
    bind_parsing(m);
    bind_vectors(m);
}
