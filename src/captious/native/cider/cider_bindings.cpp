// Python bindings of document frequencies and CIDEr.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "cider/cider.hpp"
#include "cider/frequencies.hpp"

using namespace nanobind::literals;

namespace captious {
namespace {

using namespace captious::cider;

using NgramsIn = nb::ndarray<const std::int32_t, nb::shape<-1, kMaxOrder>, nb::c_contig, nb::device::cpu>;

}  // namespace

void bind_cider(nb::module_& m) {
    nb::class_<NgramFrequencies>(m, "NgramFrequencies", "The number of documents in which each n-gram occurs.")
        .def(nb::init<>())
        .def("__len__", &NgramFrequencies::size, "Number of distinct n-grams.")
        .def("count", &NgramFrequencies::count, "references"_a, "threads"_a, nb::keep_alive<1, 2>(),
             nb::call_guard<nb::gil_scoped_release>(),
             "Count every image's references as one document. Can be called once, if nothing was added.")
        .def(
            "add",
            [](NgramFrequencies& self, NgramsIn ngrams, Int64In counts) {
                if (ngrams.shape(0) != counts.size()) throw nb::value_error("not one count per n-gram");
                for (std::size_t i = 0; i < counts.size(); ++i)
                    if (counts.data()[i] < 0 || counts.data()[i] > 0x7FFFFFFF)
                        throw nb::value_error("counts do not fit 31 bits");
                for (std::size_t i = 0; i < counts.size(); ++i) {
                    Ngram ngram;
                    std::copy(ngrams.data() + i * kMaxOrder, ngrams.data() + (i + 1) * kMaxOrder, ngram.words.begin());
                    self.add(ngram, static_cast<std::uint32_t>(counts.data()[i]));
                }
            },
            "ngrams"_a, "counts"_a, "Add counts: ngrams int32[n, 4] of word ids padded with -1, counts int64[n].")
        .def(
            "entries",
            [](const NgramFrequencies& self) {
                std::vector<std::int32_t> ngrams;
                std::vector<std::int64_t> counts;
                for (const NgramFrequencies::Entry& entry : self.entries()) {
                    ngrams.insert(ngrams.end(), entry.ngram.words.begin(), entry.ngram.words.end());
                    counts.push_back(entry.count);
                }
                return nb::make_tuple(to_numpy(std::move(ngrams), kMaxOrder), to_numpy(std::move(counts)));
            },
            nb::sig("def entries(self) -> tuple[" INT32S ", " INT64S "]"),
            "All n-grams and their counts, as `add` takes them.")
        .def(
            "arrays",
            [](const NgramFrequencies& self) {
                std::vector<std::int32_t> ngrams;
                std::vector<std::uint32_t> counts, documents = self.documents();
                for (const NgramFrequencies::Entry& entry : self.common()) {
                    ngrams.insert(ngrams.end(), entry.ngram.words.begin(), entry.ngram.words.end());
                    counts.push_back(entry.count);
                }
                nb::dict out;
                out["ngrams"] = to_numpy(std::move(ngrams));
                out["counts"] = to_numpy(std::move(counts));
                out["documents"] = to_numpy(std::move(documents));
                return out;
            },
            nb::sig("def arrays(self) -> " ARRAYS), "The counts of `count` as arrays to save.")
        .def_static(
            "of_arrays",
            [](const ReferenceNgrams& references, nb::dict arrays) {
                auto ngrams = array_of<std::int32_t>(arrays, "ngrams");
                auto counts = array_of<std::uint32_t>(arrays, "counts"),
                     documents = array_of<std::uint32_t>(arrays, "documents");
                if (ngrams.size() != counts.size() * kMaxOrder) throw nb::value_error("not one count per n-gram");
                auto frequencies = std::make_unique<NgramFrequencies>();
                {
                    nb::gil_scoped_release release;
                    std::vector<NgramFrequencies::Entry> entries(counts.size());
                    for (std::size_t i = 0; i < counts.size(); ++i) {
                        std::copy_n(ngrams.data() + i * kMaxOrder, kMaxOrder, entries[i].ngram.words.begin());
                        entries[i].count = counts[i];
                    }
                    frequencies->restore(references, std::move(entries), documents);
                }
                return frequencies.release();
            },
            "references"_a, "arrays"_a, nb::rv_policy::take_ownership, nb::keep_alive<0, 1>(),
            nb::sig("def of_arrays(references: ReferenceNgrams, arrays: " ARRAYS ") -> NgramFrequencies"),
            "The frequencies of these references saved as `arrays`. Raises ValueError for arrays that do\n"
            "not fit.");

    nb::class_<CiderReferences>(m, "CiderReferences", "References of all images, weighted for CIDEr.")
        .def(
            "__init__",
            [](CiderReferences* self, const ReferenceNgrams& references, const NgramFrequencies& frequencies,
               Int32In word_map, double log_documents, double sigma, bool clip, bool relative, bool length_in_words,
               int threads) {
                CiderOptions options{log_documents, sigma, clip, relative, length_in_words};
                nb::gil_scoped_release release;
                new (self)
                    CiderReferences(references, frequencies, {word_map.data(), word_map.size()}, options, threads);
            },
            "references"_a, "frequencies"_a, "word_map"_a, "log_documents"_a, nb::kw_only(), "sigma"_a, "clip"_a,
            "relative"_a, "length_in_words"_a, "threads"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def(
            "score",
            [](const CiderReferences& self, Int32In ids, Int64In offsets, Int64In rows, Int32In word_map, int threads) {
                TokensView candidates = view(ids, offsets);
                if (rows.size() != candidates.count) throw nb::value_error("not one row per candidate");
                for (std::size_t i = 0; i < rows.size(); ++i)
                    if (rows.data()[i] < 0 || rows.data()[i] >= static_cast<std::int64_t>(self.images()))
                        throw nb::index_error("a row that no image has");
                return fill_array<double>(candidates.count, [&](double* out) {
                    self.score(candidates, span(rows), {word_map.data(), word_map.size()}, threads, out);
                });
            },
            "ids"_a, "offsets"_a, "rows"_a, "word_map"_a, "threads"_a,
            "Similarity, 0..1, of each candidate with the references of the image in its row; float64[n_candidates].")
        .def(
            "score_within",
            [](const CiderReferences& self, int threads) {
                return fill_array<double>(self.pairs(), [&](double* out) { self.score_within(threads, out); });
            },
            "threads"_a,
            "Similarity, 0..1, of each reference with each reference of its image: for every image a matrix of\n"
            "candidates by references, one after the other; float64[n_pairs]. Raises ValueError for\n"
            "relative counts.");
}

}  // namespace captious
