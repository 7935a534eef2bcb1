#include "ngrams.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <stdexcept>

#include "parallel.hpp"

namespace captious {
namespace {

constexpr std::uint32_t kWide = 0xFFFF;  // images with more n-grams take two half-words per slot

std::uint32_t read_slot(const std::uint16_t* slots, std::uint32_t slot, bool wide) {
    if (!wide) return slots[slot];
    return slots[2 * slot] | static_cast<std::uint32_t>(slots[2 * slot + 1]) << 16;
}

// Numbers the distinct n-grams of one image.
class Numbering {
public:
    void clear(std::size_t most) {
        std::size_t size = std::bit_ceil(std::max<std::size_t>(64, most * 2));
        if (slots_.size() < size) {
            slots_.assign(size, {0, 0});
            stamp_ = 0;
        }
        ++stamp_;
        ngrams.clear();
        hashes.clear();
    }

    std::uint32_t number(const Ngram& ngram, bool& fresh) {
        std::uint64_t hash = ngram.hash();
        std::size_t mask = slots_.size() - 1;
        for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
            Slot& s = slots_[slot];
            fresh = s.stamp != stamp_;
            if (fresh) {
                s = {stamp_, static_cast<std::uint32_t>(ngrams.size())};
                ngrams.push_back(ngram);
                hashes.push_back(hash);
                return s.number;
            }
            if (ngrams[s.number] == ngram) return s.number;
        }
    }

    std::vector<Ngram> ngrams;
    std::vector<std::uint64_t> hashes;

private:
    struct Slot {
        std::uint32_t stamp, number;
    };
    std::vector<Slot> slots_;
    std::uint32_t stamp_ = 0;
};

template <typename T>
void shrink(std::vector<T>& values) {
    values.shrink_to_fit();
}

}  // namespace

ReferenceNgrams::ReferenceNgrams(TokensView references, std::span<const std::int64_t> image_offsets, int threads)
    : references_(references), image_offsets_(image_offsets.begin(), image_offsets.end()) {
    blocks_.resize((images() + kBlockImages - 1) / kBlockImages);
    parallel_for(blocks_.size(), threads, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t b = begin; b < end; ++b)
            blocks_[b] = build(b * kBlockImages, std::min(images(), (b + 1) * kBlockImages));
    });
}

ReferenceNgrams::Block ReferenceNgrams::build(std::size_t first_image, std::size_t last_image) const {
    struct Occurrence {
        std::uint32_t ngram;
        Posting posting;
    };
    Block block;
    Numbering numbering;
    std::vector<Occurrence> occurrences;       // one per n-gram and reference, in order of reference
    std::vector<std::uint32_t> latest, fill;   // per n-gram: its latest occurrence + 1; where its next posting goes
    for (std::size_t image = first_image; image < last_image; ++image) {
        std::size_t first = first_reference(image), last = first_reference(image + 1);
        const std::int32_t* tokens = references_.ids + references_.offsets[first];
        auto n_tokens = static_cast<std::size_t>(references_.offsets[last] - references_.offsets[first]);
        if (n_tokens >= 0x3FFFFFFF) throw std::length_error("more than a thousand million words describe one image");
        numbering.clear(n_tokens * kMaxOrder);
        occurrences.clear();
        latest.clear();
        for (std::size_t r = first; r < last; ++r) {
            std::span<const std::int32_t> words = references_[r];
            for (int order = 1; order <= kMaxOrder; ++order) {
                for (std::size_t at = 0; at + order <= words.size(); ++at) {
                    bool fresh;
                    std::uint32_t k = numbering.number(Ngram(&words[at], order), fresh);
                    if (fresh) {
                        latest.push_back(0);
                        auto token = static_cast<std::uint32_t>(&words[at] - tokens);
                        block.first_at.push_back(token * kMaxOrder + static_cast<std::uint32_t>(order) - 1);
                    }
                    auto reference = static_cast<std::uint32_t>(r - first);
                    if (latest[k] != 0 && occurrences[latest[k] - 1].posting.reference == reference) {
                        ++occurrences[latest[k] - 1].posting.count;
                    } else {
                        occurrences.push_back({k, {reference, 1}});
                        latest[k] = static_cast<std::uint32_t>(occurrences.size());
                    }
                }
            }
        }

        // Sort the occurrences by n-gram: count, sum up, place.
        std::size_t count = numbering.ngrams.size();
        fill.assign(count, 0);
        for (const Occurrence& o : occurrences) ++fill[o.ngram];
        auto base = static_cast<std::uint32_t>(block.postings.size());
        for (std::size_t k = 0, sum = 0; k < count; ++k) {
            std::size_t n = fill[k];
            fill[k] = static_cast<std::uint32_t>(sum);
            sum += n;
            block.postings_begin.push_back(base + static_cast<std::uint32_t>(sum));
        }
        block.postings.resize(base + occurrences.size());
        for (const Occurrence& o : occurrences) block.postings[base + fill[o.ngram]++] = o.posting;

        bool wide = count >= kWide;
        std::size_t size = std::bit_ceil(count + count / 2 + 1);
        std::size_t slots_at = block.slots.size();
        block.slots.resize(slots_at + size * (wide ? 2 : 1));
        std::uint16_t* slots = block.slots.data() + slots_at;
        for (std::size_t k = 0; k < count; ++k) {
            auto slot = static_cast<std::uint32_t>(numbering.hashes[k] & (size - 1));
            while (read_slot(slots, slot, wide) != 0) slot = (slot + 1) & (size - 1);
            if (wide) {
                slots[2 * slot] = static_cast<std::uint16_t>(k + 1);
                slots[2 * slot + 1] = static_cast<std::uint16_t>((k + 1) >> 16);
            } else {
                slots[slot] = static_cast<std::uint16_t>(k + 1);
            }
        }
        block.image_begin.push_back(static_cast<std::uint32_t>(block.first_at.size()));
        block.slots_begin.push_back(static_cast<std::uint32_t>(block.slots.size()));
    }
    shrink(block.first_at);
    shrink(block.postings_begin);
    shrink(block.postings);
    shrink(block.slots);
    return block;
}

ReferenceNgrams::Image ReferenceNgrams::image(std::size_t i) const {
    const Block& block = blocks_[i / kBlockImages];
    std::size_t at = i % kBlockImages;
    std::uint32_t begin = block.image_begin[at], count = block.image_begin[at + 1] - begin;
    std::uint32_t slots = block.slots_begin[at + 1] - block.slots_begin[at];
    return {&block, begin, count, references_.ids + references_.offsets[first_reference(i)],
            block.slots.data() + block.slots_begin[at], (count >= kWide ? slots / 2 : slots) - 1};
}

std::int64_t ReferenceNgrams::Image::find(const Ngram& wanted) const {
    bool wide = count >= kWide;
    for (std::uint32_t slot = static_cast<std::uint32_t>(wanted.hash()) & slot_mask;; slot = (slot + 1) & slot_mask) {
        std::uint32_t k = read_slot(slots, slot, wide);
        if (k == 0) return -1;
        if (ngram(k - 1) == wanted) return k - 1;
    }
}

void CandidateNgrams::collect(const ReferenceNgrams::Image& image, std::span<const std::int32_t> words,
                              bool with_strangers) {
    for (const Known& k : known_) index_of_[k.ngram] = 0;
    known_.clear();
    strangers_.clear();
    if (index_of_.size() < image.count) index_of_.resize(image.count);
    if (with_strangers) slots_.assign(std::bit_ceil(words.size() * kMaxOrder * 2 + 1), 0);
    matched_before_.assign(words.size() + 1, 1);
    for (int order = 1; order <= kMaxOrder; ++order) {
        matched_.assign(words.size() + 1, 0);
        for (std::size_t at = 0; at + order <= words.size(); ++at) {
            Ngram ngram(&words[at], order);
            // An n-gram can be known only if both n-grams within it that are one word shorter are.
            std::int64_t k = matched_before_[at] && matched_before_[at + 1] ? image.find(ngram) : -1;
            if (k < 0) {
                if (with_strangers) add_stranger(ngram);
                continue;
            }
            matched_[at] = 1;
            std::uint32_t& index = index_of_[static_cast<std::size_t>(k)];
            if (index == 0) {
                known_.push_back({static_cast<std::uint32_t>(k), 0, order});
                index = static_cast<std::uint32_t>(known_.size());
            }
            ++known_[index - 1].count;
        }
        if (order == 1) matched_[words.size()] = 1;
        std::swap(matched_, matched_before_);
    }
}

void CandidateNgrams::add_stranger(const Ngram& ngram) {
    std::size_t mask = slots_.size() - 1;
    std::size_t slot = ngram.hash() & mask;
    for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
        Stranger& s = strangers_[slots_[slot] - 1];
        if (s.ngram == ngram) {
            ++s.count;
            return;
        }
    }
    strangers_.push_back({ngram, 1});
    slots_[slot] = static_cast<std::uint32_t>(strangers_.size());
}

void bleu_statistics(const ReferenceNgrams& references, TokensView candidates, int threads, double* out) {
    parallel_for(references.images(), threads, 64, [&](std::size_t begin, std::size_t end) {
        CandidateNgrams candidate;
        for (std::size_t i = begin; i < end; ++i) {
            std::span<const std::int32_t> words = candidates[i];
            ReferenceNgrams::Image image = references.image(i);
            candidate.collect(image, words, false);
            double* row = out + i * 10;
            std::fill(row, row + 10, 0.0);
            for (const CandidateNgrams::Known& known : candidate.known()) {
                std::uint32_t most = 0;
                for (const Posting& posting : image.postings(known.ngram)) most = std::max(most, posting.count);
                row[known.order - 1] += std::min(known.count, most);
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

void ngram_matches(const ReferenceNgrams& references, TokensView candidates, int threads, std::int64_t* out) {
    parallel_for(references.images(), threads, 64, [&](std::size_t begin, std::size_t end) {
        CandidateNgrams candidate;
        for (std::size_t i = begin; i < end; ++i) {
            ReferenceNgrams::Image image = references.image(i);
            candidate.collect(image, candidates[i], false);
            std::size_t first = references.first_reference(i);
            std::fill(out + first * kMaxOrder, out + references.first_reference(i + 1) * kMaxOrder, 0);
            for (const CandidateNgrams::Known& known : candidate.known())
                for (const Posting& p : image.postings(known.ngram))
                    out[(first + p.reference) * kMaxOrder + known.order - 1] += std::min(known.count, p.count);
        }
    });
}

}  // namespace captious
