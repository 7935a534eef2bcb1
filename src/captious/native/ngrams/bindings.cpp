// Python bindings of what captions share: n-grams, subsequences, skip-bigrams.
#include "bindings.hpp"
#include "ngrams/ngrams.hpp"
#include "ngrams/sequences.hpp"

using namespace nanobind::literals;

namespace captious {

void bind_ngrams(nb::module_& m) {
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
}

}  // namespace captious
