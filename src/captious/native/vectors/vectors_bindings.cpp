// Python bindings of the kernels of word vectors.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "vectors/closest_words.hpp"
#include "vectors/transport.hpp"
#include "vectors/word_mover.hpp"
#include "vectors/words.hpp"

using namespace nanobind::literals;

namespace captious {
namespace {

using namespace captious::vectors;

using BytesIn = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using VectorsIn = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using CostsIn = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr std::size_t kWidest = 1 << 16;
constexpr std::int64_t kLargestWeight = 1 << 30;  // products of two of them are far from the largest number

WordTable table_of(const VectorsIn& vectors) { return {vectors.data(), vectors.shape(0), vectors.shape(1)}; }

void check_words(const Int32In& words, const VectorsIn& vectors) {
    for (std::size_t i = 0; i < words.size(); ++i)
        if (words.data()[i] < 0 || static_cast<std::size_t>(words.data()[i]) >= vectors.shape(0))
            throw nb::index_error("a word that has no vector");
}

Bags bags_of(const Int32In& words, const Int32In& counts, const Int64In& offsets, const VectorsIn& vectors) {
    if (words.size() != counts.size() || !rise_to(offsets, words.size(), 0))
        throw nb::value_error("words, counts and offsets do not fit");
    check_words(words, vectors);
    if (std::any_of(counts.data(), counts.data() + counts.size(), [](std::int32_t count) { return count < 1; }))
        throw nb::value_error("counts are 1 or more");
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
        if (std::accumulate(counts.data() + offsets.data()[i], counts.data() + offsets.data()[i + 1], std::int64_t{0}) >
            kLargestWeight)
            throw nb::value_error("counts do not fit: a caption has more than 1 billion words");
    return {words.data(), counts.data(), offsets.data(), offsets.size() - 1};
}

WordList list_of(const BytesIn& text, const Int64In& ends) {
    std::int64_t last = ends.size() == 0 ? 0 : ends.data()[ends.size() - 1];
    if (last != static_cast<std::int64_t>(text.size())) throw nb::value_error("ends do not fit text");
    return {text.data(), text.size(), ends.data(), ends.size()};
}

const char* name_of(LineFault fault) {
    switch (fault) {
        case LineFault::kNone: return "";
        case LineFault::kEmpty: return "empty";
        case LineFault::kNoWord: return "no word";
        case LineFault::kWrongCount: return "wrong count";
        case LineFault::kNoNumber: return "no number";
        case LineFault::kNotFinite: return "not finite";
    }
    return "";
}

std::vector<std::int64_t> weights_of(const Int64In& weights) {
    std::vector<std::int64_t> out(weights.data(), weights.data() + weights.size());
    if (out.empty() || std::any_of(out.begin(), out.end(), [](std::int64_t w) { return w < 1 || w > kLargestWeight; }))
        throw nb::value_error("weights are whole numbers from 1 on");
    return out;
}

}  // namespace

void bind_vectors(nb::module_& m) {
    m.def(
        "parse_vector_lines",
        [](nb::bytes lines, std::size_t width) {
            if (width < 1 || width > kWidest) throw nb::value_error("no such width");
            std::string_view text(lines.c_str(), lines.size());
            VectorLines parsed = without_gil([&] { return parse_vector_lines(text, width); });
            nb::bytes field(parsed.field.data(), parsed.field.size());
            return nb::make_tuple(to_numpy(std::move(parsed.text)), to_numpy(std::move(parsed.ends)),
                                  to_numpy(std::move(parsed.values), width), name_of(parsed.fault), parsed.n_numbers,
                                  field);
        },
        "lines"_a, "width"_a,
        nb::sig("def parse_vector_lines(lines: bytes, width: int) -> tuple[" UINT8S ", " INT64S ", " FLOAT32S ", "
                "str, int, bytes]"),
        "Parse lines of words with `width` numbers each: text of the words, their ends, the numbers float32[n_lines,\n"
        "width]; then what is wrong with the line after these, if anything is (\"\", \"empty\", \"no word\",\n"
        "\"wrong count\", \"no number\" or \"not finite\"), how many numbers it has, and what it has in place of a\n"
        "number.");
    m.def(
        "sorted_words",
        [](BytesIn text, Int64In ends) {
            WordList words = list_of(text, ends);
            return to_numpy(without_gil([&] { return sorted_order(words); }));
        },
        "text"_a, "ends"_a, "Stable order of words by their bytes; int64[n_words].");
    m.def(
        "find_words",
        [](BytesIn text, Int64In ends, Strings words) {
            WordList sorted = list_of(text, ends);
            std::vector<std::string_view> texts = utf8(words);
            return fill_array<std::int64_t>(texts.size(), [&](std::int64_t* out) {
                for (std::size_t i = 0; i < texts.size(); ++i) out[i] = find_sorted(sorted, texts[i]);
            });
        },
        "text"_a, "ends"_a, "words"_a, "Positions of words in a sorted list, -1 for missing words; int64[n_words].");
    m.def(
        "subword_buckets",
        [](BytesIn text, Int64In ends, std::size_t shortest, std::size_t longest, std::uint32_t buckets) {
            WordList words = list_of(text, ends);
            if (buckets < 1 || buckets > 0x7FFFFFFF || shortest < 1) throw nb::value_error("no such n-grams");
            return to_numpy(without_gil([&] {
                FlatTokens out;
                for (std::size_t i = 0; i < words.size; ++i) {
                    subword_buckets(words[i], shortest, longest, buckets, out.ids);
                    out.offsets.push_back(static_cast<std::int64_t>(out.ids.size()));
                }
                return out;
            }));
        },
        "text"_a, "ends"_a, "shortest"_a, "longest"_a, "buckets"_a,
        nb::sig("def subword_buckets(text: " UINT8S ", ends: " INT64S ", shortest: int, longest: int, buckets: int) "
                "-> tuple[" INT32S ", " INT64S "]"),
        "Buckets of fastText's character n-grams of words: buckets int32[n], offsets int64[n_words + 1].");
    m.def(
        "transport_plan",
        [](CostsIn costs, Int64In supplies, Int64In demands) {
            if (costs.shape(0) != supplies.size() || costs.shape(1) != demands.size())
                throw nb::value_error("costs do not fit weights");
            std::vector<std::int64_t> from = weights_of(supplies), to = weights_of(demands);
            if (std::accumulate(from.begin(), from.end(), std::int64_t{0}) !=
                std::accumulate(to.begin(), to.end(), std::int64_t{0}))
                throw nb::value_error("supplies and demands have different sums");
            if (!std::all_of(costs.data(), costs.data() + costs.size(),
                             [](double cost) { return cost >= 0.0 && cost < 1e300; }))
                throw nb::value_error("costs must be finite and 0 or more");
            std::vector<std::int64_t> flows = without_gil([&] {
                Transport transport;
                transport.solve({costs.data(), costs.size()}, from, to);
                return transport.flows();
            });
            return to_numpy(std::move(flows), to.size());
        },
        "costs"_a, "supplies"_a, "demands"_a,
        "Amounts moved when all supplies (rows) go to demands (columns) at the least cost; int64[n_rows,\n"
        "n_columns].");
    m.def(
        "word_distances",
        [](VectorsIn vectors, Int32In a, Int32In b) {
            check_words(a, vectors);
            check_words(b, vectors);
            std::vector<double> out(a.size() * b.size());
            word_distances(table_of(vectors), {a.data(), a.size()}, {b.data(), b.size()}, out.data());
            return to_numpy(std::move(out), std::max<std::size_t>(1, b.size()));
        },
        "vectors"_a, "a"_a, "b"_a, "Euclidean distances between words; float64[len(a), len(b)].");

    auto distances = [](auto kernel, bool of_images) {
        return [kernel, of_images](VectorsIn vectors, Int32In words, Int32In counts, Int64In offsets,
                                   Int32In reference_words, Int32In reference_counts, Int64In reference_offsets,
                                   Int64In image_offsets, int threads) {
            Bags candidates = bags_of(words, counts, offsets, vectors);
            Bags references = bags_of(reference_words, reference_counts, reference_offsets, vectors);
            if (image_offsets.size() != candidates.count + 1 || !rise_to(image_offsets, references.count, 1))
                throw nb::value_error("image_offsets do not fit candidates and references");
            return fill_array<double>(of_images ? candidates.count : references.count, [&](double* out) {
                kernel(table_of(vectors), candidates, references, span(image_offsets), threads, out);
            });
        };
    };
    m.def("word_mover_distances", distances(word_mover_distances, false), "vectors"_a, "words"_a, "counts"_a,
          "offsets"_a, "reference_words"_a, "reference_counts"_a, "reference_offsets"_a, "image_offsets"_a, "threads"_a,
          "Word mover's distance of each reference from its candidate; float64[n_references]. Bags are distinct\n"
          "words, rows of vectors, with their counts.");
    m.def("nearest_word_mover_distances", distances(nearest_word_mover_distances, true), "vectors"_a, "words"_a,
          "counts"_a, "offsets"_a, "reference_words"_a, "reference_counts"_a, "reference_offsets"_a, "image_offsets"_a,
          "threads"_a, "Smallest word mover's distance for each image; float64[n_images].");
    m.def(
        "mean_vectors",
        [](VectorsIn vectors, Int32In words, Int64In offsets, int threads) {
            if (!rise_to(offsets, words.size(), 0)) throw nb::value_error("offsets do not fit words");
            check_words(words, vectors);
            if (vectors.shape(1) < 1) throw nb::value_error("vectors have no numbers");
            return fill_array<double>((offsets.size() - 1), vectors.shape(1), [&](double* out) {
                mean_vectors(table_of(vectors), {words.data(), words.size()}, span(offsets), threads, out);
            });
        },
        "vectors"_a, "words"_a, "offsets"_a, "threads"_a,
        "Mean of the vectors of each caption's words, zeros without words; float64[n_captions, width].");
    m.def(
        "closest_words",
        [](VectorsIn vectors, Int32In words, Int64In offsets, Int32In other_words, Int64In other_offsets, int threads) {
            if (!rise_to(offsets, words.size(), 0) || !rise_to(other_offsets, other_words.size(), 0) ||
                offsets.size() != other_offsets.size())
                throw nb::value_error("offsets do not fit words");
            check_words(words, vectors);
            check_words(other_words, vectors);
            std::vector<std::int32_t> closest(words.size());
            std::vector<float> products = fill_vector<float>(words.size(), [&](float* out) {
                closest_words(table_of(vectors), {{words.data(), words.size()}, span(offsets)},
                              {{other_words.data(), other_words.size()}, span(other_offsets)}, threads, out,
                              closest.data());
            });
            return nb::make_tuple(to_numpy(std::move(products)), to_numpy(std::move(closest)));
        },
        "vectors"_a, "words"_a, "offsets"_a, "other_words"_a, "other_offsets"_a, "threads"_a,
        nb::sig("def closest_words(vectors: " FLOAT32S ", words: " INT32S ", offsets: " INT64S ", other_words: " INT32S
                ", other_offsets: " INT64S ", threads: int) -> tuple[" FLOAT32S ", " INT32S "]"),
        "The largest dot product of each word with the others of its group, float32[n_words], and the first of the\n"
        "others that has it, int32[n_words]; 0 and -1 in a group without others.");
}

}  // namespace captious
