// Python bindings of overlaps between captions: n-grams, subsequences, skip-bigrams.
#include "bindings.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>
#include "ngrams/ngram_counts.hpp"
#include "ngrams/reference_ngrams.hpp"
#include "ngrams/sequences.hpp"

using namespace nanobind::literals;

namespace captious {
namespace {

using namespace captious::ngrams;

// The arrays of all blocks, back to back.
template <typename T>
Vector<T> joined(const ReferenceNgrams& index, std::span<const T> ReferenceNgrams::Block::* part) {
    std::vector<T> all;
    for (const ReferenceNgrams::Block& block : index.blocks())
        all.insert(all.end(), (block.*part).begin(), (block.*part).end());
    return to_numpy(std::move(all));
}

nb::dict arrays_of(const ReferenceNgrams& index) {
    using Block = ReferenceNgrams::Block;
    std::vector<std::int64_t> sizes;
    for (const Block& block : index.blocks())
        for (std::size_t size : {block.size(), block.postings.size(), block.slots.size(), std::size_t{block.wide}})
            sizes.push_back(static_cast<std::int64_t>(size));
    nb::dict out;
    out["sizes"] = to_numpy(std::move(sizes));
    out["order_begin"] = joined(index, &Block::order_begin);
    out["first_at"] = joined(index, &Block::first_at);
    out["postings_at"] = joined(index, &Block::postings_at);
    out["postings"] = joined(index, &Block::postings);
    out["slots_begin"] = joined(index, &Block::slots_begin);
    out["slots"] = joined(index, &Block::slots);
    return out;
}

}  // namespace

void bind_ngrams(nb::module_& m) {
    nb::class_<ReferenceNgrams>(m, "ReferenceNgrams", "The n-grams (n = 1..4) of the references of each image.")
        .def(
            "__init__",
            [](ReferenceNgrams* self, Int32In ids, Int64In offsets, Int64In image_offsets, int threads) {
                TokensView tokens = view(ids, offsets);
                if (!rise_to(image_offsets, tokens.count, 1)) throw nb::value_error("image_offsets do not fit offsets");
                nb::gil_scoped_release release;
                new (self) ReferenceNgrams(tokens, span(image_offsets), threads);
            },
            "ids"_a, "offsets"_a, "image_offsets"_a, "threads"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def("__len__", &ReferenceNgrams::images, "Number of images.")
        .def(
            "arrays", [](const ReferenceNgrams& self) { return arrays_of(self); },
            nb::sig("def arrays(self) -> " ARRAYS), "The index as arrays to save.")
        .def_static(
            "of_arrays",
            [](Int32In ids, Int64In offsets, Int64In image_offsets, nb::dict arrays, int threads) {
                TokensView tokens = view(ids, offsets);
                if (!rise_to(image_offsets, tokens.count, 1)) throw nb::value_error("image_offsets do not fit offsets");
                ReferenceNgrams::Saved saved{
                    array_of<std::int64_t>(arrays, "sizes"),     array_of<std::uint32_t>(arrays, "order_begin"),
                    array_of<std::uint32_t>(arrays, "first_at"), array_of<std::uint32_t>(arrays, "postings_at"),
                    array_of<std::uint32_t>(arrays, "postings"), array_of<std::uint32_t>(arrays, "slots_begin"),
                    array_of<std::uint16_t>(arrays, "slots")};
                nb::gil_scoped_release release;
                return new ReferenceNgrams(tokens, span(image_offsets), saved, threads);
            },
            "ids"_a.noconvert(), "offsets"_a.noconvert(), "image_offsets"_a.noconvert(), "arrays"_a, "threads"_a,
            nb::rv_policy::take_ownership, nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), nb::keep_alive<0, 4>(),
            nb::sig("def of_arrays(ids: " INT32S ", offsets: " INT64S ", image_offsets: " INT64S ", "
                    "arrays: " ARRAYS ", threads: int) -> ReferenceNgrams"),
            "The index of these references saved as `arrays`, which it uses in place. Raises ValueError\n"
            "for arrays that contradict each other; whether they belong to these references is not checked.");

    m.def(
        "bleu_statistics",
        [](const ReferenceNgrams& references, Int32In ids, Int64In offsets, int threads) {
            TokensView candidates = view(ids, offsets);
            if (candidates.count != references.images()) throw nb::value_error("not one candidate per image");
            return fill_array<double>(candidates.count, 10,
                                      [&](double* out) { bleu_statistics(references, candidates, threads, out); });
        },
        "references"_a, "ids"_a, "offsets"_a, "threads"_a,
        "Per image: clipped matches and n-grams of order 1..4, candidate length, closest reference length;\n"
        "float64[n_images, 10].");
    m.def(
        "bleu_statistics_within",
        [](const ReferenceNgrams& captions, int threads) {
            return fill_array<double>(captions.references().count, 10,
                                      [&](double* out) { bleu_statistics_within(captions, threads, out); });
        },
        "captions"_a, "threads"_a,
        "The statistics of bleu_statistics per caption, with the other captions of its image as references;\n"
        "float64[n_captions, 10]. A single caption has no matches and the reference length 0.");
    m.def(
        "distinct_ngrams",
        [](const ReferenceNgrams& references) {
            return fill_array<std::int64_t>(references.images(), kMaxOrder,
                                            [&](std::int64_t* out) { distinct_ngrams(references, out); });
        },
        "references"_a, "Per image: distinct n-grams of order 1..4; int64[n_images, 4].");
    m.def(
        "ngram_matches",
        [](const ReferenceNgrams& references, Int32In ids, Int64In offsets, int threads) {
            TokensView candidates = view(ids, offsets);
            if (candidates.count != references.images()) throw nb::value_error("not one candidate per image");
            return fill_array<std::int64_t>(references.references().count, kMaxOrder, [&](std::int64_t* out) {
                ngram_matches(references, candidates, threads, out);
            });
        },
        "references"_a, "ids"_a, "offsets"_a, "threads"_a,
        "Per reference: n-grams of order 1..4 that it shares with its candidate; int64[n_references, 4].");
    m.def(
        "lcs_lengths",
        [](Int32In ids, Int64In offsets, Int32In reference_ids, Int64In reference_offsets, Int64In image_offsets,
           int threads) {
            TokensView candidates = view(ids, offsets), references = view(reference_ids, reference_offsets);
            check_images(candidates, references, image_offsets);
            return fill_array<std::int64_t>(references.count, [&](std::int64_t* out) {
                lcs_lengths(candidates, references, span(image_offsets), threads, out);
            });
        },
        "ids"_a, "offsets"_a, "reference_ids"_a, "reference_offsets"_a, "image_offsets"_a, "threads"_a,
        "Per reference: length of the longest common subsequence with its candidate; int64[n_references].");
    m.def(
        "subsequence_places",
        [](Int32In ids, Int64In offsets, Int32In other_ids, Int64In other_offsets, int threads) {
            TokensView captions = view(ids, offsets), others = view(other_ids, other_offsets);
            if (captions.count != others.count) throw nb::value_error("not as many captions as others");
            return fill_array<std::int32_t>(
                ids.size(), [&](std::int32_t* out) { subsequence_places(captions, others, threads, out); });
        },
        "ids"_a, "offsets"_a, "other_ids"_a, "other_offsets"_a, "threads"_a,
        "Per word of a caption: its place in the other caption by a longest common subsequence, the one with the most "
        "neighbors, or -1; int32[n_tokens]. Captions of more than 2,048 words on average have none.");
    m.def(
        "skip_bigram_matches",
        [](Int32In ids, Int64In offsets, Int32In reference_ids, Int64In reference_offsets, Int64In image_offsets,
           std::int64_t gap, int threads) {
            TokensView candidates = view(ids, offsets), references = view(reference_ids, reference_offsets);
            check_images(candidates, references, image_offsets);
            return fill_array<std::int64_t>(references.count, [&](std::int64_t* out) {
                skip_bigram_matches(candidates, references, span(image_offsets), gap, threads, out);
            });
        },
        "ids"_a, "offsets"_a, "reference_ids"_a, "reference_offsets"_a, "image_offsets"_a, "gap"_a, "threads"_a,
        "Per reference: skip-bigrams at most `gap` positions apart that it shares with its candidate; "
        "int64[n_references].");
}

}  // namespace captious
