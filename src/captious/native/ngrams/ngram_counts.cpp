// Clipped matches, lengths and distinct n-grams, image by image.
#include "ngrams/ngram_counts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <vector>

#include "ngrams/candidate_ngrams.hpp"
#include "parallel.hpp"

namespace captious::ngrams {

void bleu_statistics(const ReferenceNgrams& references, TokensView candidates, int threads, double* out) {
    parallel_for(references.images(), threads, 64, [&](std::size_t begin, std::size_t end) {
        CandidateNgrams candidate;
        Pulse pulse;
        for (std::size_t i = begin; i < end; ++i) {
            std::span<const std::int32_t> words = candidates[i];
            ReferenceNgrams::Image image = references.image(i);
            pulse(16 * words.size() + image.count);
            candidate.collect(image, words, false);
            double* row = out + i * 10;
            std::fill(row, row + 10, 0.0);
            for (const CandidateNgrams::Match& match : candidate.matches()) {
                std::uint32_t most = 0;
                image.block->for_each_posting(match.ngram, [&](Posting p) { most = std::max(most, p.count); });
                row[match.order - 1] += std::min(match.count, most);
            }
            auto length = static_cast<std::int64_t>(words.size());
            for (int order = 1; order <= kMaxOrder; ++order)
                row[3 + order] = static_cast<double>(std::max<std::int64_t>(0, length - order + 1));
            std::int64_t closest = -1;
            for (std::size_t r = references.first_reference(i); r < references.first_reference(i + 1); ++r) {
                auto l = static_cast<std::int64_t>(references.references()[r].size());
                std::int64_t distance = std::abs(l - length), best = std::abs(closest - length);
                if (closest < 0 || distance < best || (distance == best && l < closest)) closest = l;
            }
            row[8] = static_cast<double>(length);
            row[9] = static_cast<double>(closest);
        }
    });
}

void bleu_statistics_within(const ReferenceNgrams& captions, int threads, double* out) {
    parallel_for(captions.images(), threads, 64, [&](std::size_t begin, std::size_t end) {
        std::vector<std::int64_t> lengths;
        Pulse pulse;
        for (std::size_t i = begin; i < end; ++i) {
            std::size_t first = captions.first_reference(i), last = captions.first_reference(i + 1);
            ReferenceNgrams::Image image = captions.image(i);
            pulse(16 * image.count);
            std::fill(out + first * 10, out + last * 10, 0.0);
            for (std::size_t k = image.begin; k < image.begin + image.count; ++k) {
                // The largest count in any caption, and the largest in the others.
                Posting most{0, 0};
                std::uint32_t next = 0;
                image.block->for_each_posting(k, [&](Posting p) {
                    if (p.count > most.count) {
                        next = most.count;
                        most = p;
                    } else {
                        next = std::max(next, p.count);
                    }
                });
                int order = image.block->order(k) - 1;
                image.block->for_each_posting(k, [&](Posting p) {
                    out[(first + p.reference) * 10 + order] +=
                        std::min(p.count, p.reference == most.reference ? next : most.count);
                });
            }
            lengths.clear();
            for (std::size_t r = first; r < last; ++r)
                lengths.push_back(static_cast<std::int64_t>(captions.references()[r].size()));
            std::sort(lengths.begin(), lengths.end());
            for (std::size_t r = first; r < last; ++r) {
                auto length = static_cast<std::int64_t>(captions.references()[r].size());
                auto [same, above] = std::equal_range(lengths.begin(), lengths.end(), length);
                std::int64_t closest = 0;
                if (above - same > 1) {
                    closest = length;
                } else if (lengths.size() > 1) {
                    bool shorter = same != lengths.begin(), longer = above != lengths.end();
                    bool take_shorter = shorter && (!longer || length - *(same - 1) <= *above - length);
                    closest = take_shorter ? *(same - 1) : *above;
                }
                double* row = out + r * 10;
                for (int order = 1; order <= kMaxOrder; ++order)
                    row[3 + order] = static_cast<double>(std::max<std::int64_t>(0, length - order + 1));
                row[8] = static_cast<double>(length);
                row[9] = static_cast<double>(closest);
            }
        }
    });
}

void distinct_ngrams(const ReferenceNgrams& references, std::int64_t* out) {
    for (std::size_t i = 0; i < references.images(); ++i) {
        const std::uint32_t* begin = references.image(i).order_begin;
        for (int order = 0; order < kMaxOrder; ++order) out[i * kMaxOrder + order] = begin[order + 1] - begin[order];
    }
}

void ngram_matches(const ReferenceNgrams& references, TokensView candidates, int threads, std::int64_t* out) {
    parallel_for(references.images(), threads, 64, [&](std::size_t begin, std::size_t end) {
        CandidateNgrams candidate;
        Pulse pulse;
        for (std::size_t i = begin; i < end; ++i) {
            ReferenceNgrams::Image image = references.image(i);
            pulse(16 * candidates[i].size() + image.count);
            candidate.collect(image, candidates[i], false);
            std::size_t first = references.first_reference(i);
            std::fill(out + first * kMaxOrder, out + references.first_reference(i + 1) * kMaxOrder, 0);
            for (const CandidateNgrams::Match& match : candidate.matches())
                image.block->for_each_posting(match.ngram, [&](Posting p) {
                    out[(first + p.reference) * kMaxOrder + match.order - 1] += std::min(match.count, p.count);
                });
        }
    });
}

}  // namespace captious::ngrams
