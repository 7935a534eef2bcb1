// Builds the index of reference n-grams, and checks one that was saved.
#include "ngrams/reference_ngrams.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <stdexcept>

#include "parallel.hpp"

namespace captious::ngrams {
namespace {

// Numbers the distinct n-grams of one image; reused for the next.
class Numbering {
public:
    void clear(std::size_t most) {
        std::size_t size = std::bit_ceil(std::max<std::size_t>(256, most * 2));
        if (slots_.size() < size) {
            slots_.assign(size, {});
            stamp_ = 0;
        }
        ++stamp_;
        hashes.clear();
    }

    // The number of an n-gram; same(number) says whether an n-gram of equal hash is the same.
    template <typename Same>
    std::uint32_t number(std::uint64_t hash, const Same& same) {
        std::size_t mask = slots_.size() - 1;
        for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
            Slot& s = slots_[slot];
            if (s.stamp != stamp_) {
                s = {hash, stamp_, static_cast<std::uint32_t>(hashes.size())};
                hashes.push_back(hash);
                return s.number;
            }
            if (s.hash == hash && same(s.number)) return s.number;
        }
    }

    std::vector<std::uint64_t> hashes;  // by number

private:
    struct Slot {
        std::uint64_t hash = 0;
        std::uint32_t stamp = 0, number = 0;
    };
    std::vector<Slot> slots_;
    std::uint32_t stamp_ = 0;
};

}  // namespace

ReferenceNgrams::ReferenceNgrams(TokensView references, std::span<const std::int64_t> image_offsets, int threads)
    : references_(references), image_offsets_(image_offsets.begin(), image_offsets.end()) {
    blocks_.resize((images() + kBlockImages - 1) / kBlockImages);
    built_.resize(blocks_.size());
    parallel_for(blocks_.size(), threads, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t b = begin; b < end; ++b)
            build(b * kBlockImages, std::min(images(), (b + 1) * kBlockImages), built_[b], blocks_[b]);
    });
    number_blocks();
}

ReferenceNgrams::ReferenceNgrams(TokensView references, std::span<const std::int64_t> image_offsets, const Saved& saved,
                                 int threads)
    : references_(references), image_offsets_(image_offsets.begin(), image_offsets.end()) {
    blocks_.resize((images() + kBlockImages - 1) / kBlockImages);
    if (saved.sizes.size() != blocks_.size() * 4) throw std::invalid_argument("not one row of sizes per block");
    auto take = [](auto& from, std::size_t n) {
        if (n > from.size()) throw std::invalid_argument("sizes do not fit the arrays");
        auto part = from.first(n);
        from = from.subspan(n);
        return part;
    };
    Saved rest = saved;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
        auto size = take(rest.sizes, 4);
        for (std::int64_t value : size)
            if (value < 0) throw std::invalid_argument("a negative size");
        std::size_t n_images = std::min(images(), (b + 1) * kBlockImages) - b * kBlockImages;
        auto n = static_cast<std::size_t>(size[0]);
        Block& block = blocks_[b];
        block.tokens = references_.ids + references_.offsets[first_reference(b * kBlockImages)];
        block.order_begin = take(rest.order_begin, n_images * kMaxOrder + 1);
        block.first_at = take(rest.first_at, n);
        block.postings_at = take(rest.postings_at, n);
        block.postings = take(rest.postings, static_cast<std::size_t>(size[1]));
        block.slots_begin = take(rest.slots_begin, n_images + 1);
        block.slots = take(rest.slots, static_cast<std::size_t>(size[2]));
        block.wide = size[3] != 0;
    }
    if (!rest.order_begin.empty() || !rest.first_at.empty() || !rest.postings_at.empty() || !rest.postings.empty() ||
        !rest.slots_begin.empty() || !rest.slots.empty())
        throw std::invalid_argument("sizes do not fit the arrays");
    parallel_for(blocks_.size(), threads, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t b = begin; b < end; ++b)
            check(b * kBlockImages, std::min(images(), (b + 1) * kBlockImages), blocks_[b]);
    });
    number_blocks();
}

void ReferenceNgrams::number_blocks() {
    std::size_t sum = 0;
    for (Block& block : blocks_) {
        block.first_ngram = sum;
        sum += block.size();
    }
}

void ReferenceNgrams::check(std::size_t first_image, std::size_t last_image, const Block& block) const {
    auto insist = [](bool sound) {
        if (!sound) throw std::invalid_argument("an index of n-grams contradicts itself");
    };
    auto rises = [](std::span<const std::uint32_t> values, std::size_t last) {
        return values.front() == 0 && values.back() == last && std::is_sorted(values.begin(), values.end());
    };
    insist(block.size() < kOnce && block.postings.size() < kOnce && block.slots.size() <= 0xFFFFFFFF);
    insist(rises(block.order_begin, block.size()) && rises(block.slots_begin, block.slots.size()));
    auto n_tokens = static_cast<std::size_t>(references_.offsets[first_reference(last_image)] -
                                             references_.offsets[first_reference(first_image)]);
    std::size_t past = 0;
    std::uint32_t wrong = 0;
    for (std::size_t run = 0; run + 1 < block.order_begin.size(); ++run)
        for (std::size_t k = block.order_begin[run]; k < block.order_begin[run + 1]; ++k) {
            std::uint32_t at = block.first_at[k];
            past = std::max<std::size_t>(past, at / kMaxOrder + at % kMaxOrder + 1);
            wrong |= (at ^ static_cast<std::uint32_t>(run)) % kMaxOrder;
        }
    insist(past <= n_tokens && wrong == 0);
    std::size_t width = block.wide ? 2 : 1, walked = 0;
    for (std::size_t i = first_image; i < last_image; ++i) {
        Image at = image(i);
        std::size_t n_references = first_reference(i + 1) - first_reference(i);
        for (std::size_t k = at.begin; k < at.begin + at.count; ++k) {
            std::uint32_t posting = block.postings_at[k];
            if (posting & kOnce) {
                insist((posting & ~kOnce) < n_references);
                continue;
            }
            for (std::size_t p = posting;; p += width) {  // each posting belongs to one n-gram, so the walk is short
                insist(p + width <= block.postings.size() && (walked += width) <= block.postings.size());
                std::uint32_t value = block.postings[p] & ~kLast;
                insist((block.wide ? value : value >> 16) < n_references);
                if (block.postings[p] & kLast) break;
            }
        }
        bool large = at.count >= kLarge, free = false;
        for (std::uint32_t slot = 0; slot < at.n_slots; ++slot) {
            std::uint32_t number = read_slot(at.slots, slot, large);
            insist(number <= at.count);
            free |= number == 0;
        }
        insist(free);  // end of the search for an unknown n-gram
    }
}

void ReferenceNgrams::build(std::size_t first_image, std::size_t last_image, Built& built, Block& view) const {
    struct Occurrence {  // of an n-gram of the image in one reference
        std::uint32_t ngram;
        Posting posting;
    };
    struct Tally {
        std::uint32_t latest, holders, count;  // latest occurrence, number of references, number of occurrences
    };
    std::size_t first = first_reference(first_image), last = first_reference(last_image);
    view.tokens = references_.ids + references_.offsets[first];
    auto token_of = [this](std::size_t r) { return static_cast<std::size_t>(references_.offsets[r]); };
    std::size_t n_tokens = token_of(last) - token_of(first);
    if (n_tokens >= 0x3FFFFFFF) throw std::length_error("more than 1 billion words in the references of 256 images");
    for (std::size_t i = first_image; i < last_image; ++i)
        view.wide |= first_reference(i + 1) - first_reference(i) > 0x7FFF;
    for (std::size_t r = first; r < last; ++r) view.wide |= references_[r].size() > 0xFFFF;

    built.first_at.reserve(n_tokens * 5 / 2);
    built.postings_at.reserve(n_tokens * 5 / 2);

    Pulse pulse;
    Numbering numbering;
    std::vector<Occurrence> occurrences;  // in order of reference
    std::vector<Tally> tallies;           // per n-gram of the image
    std::vector<std::uint64_t> hashes;    // per word of the image: of the n-gram that begins there
    auto is = [&](std::size_t k, const std::int32_t* other, int order) {
        return static_cast<int>(built.first_at[k] % kMaxOrder) + 1 == order &&
               same_words(view.tokens + built.first_at[k] / kMaxOrder, other, order);
    };
    for (std::size_t image = first_image; image < last_image; ++image) {
        std::size_t image_first = first_reference(image), image_last = first_reference(image + 1);
        std::size_t begin = built.first_at.size();
        numbering.clear((token_of(image_last) - token_of(image_first)) * kMaxOrder);
        occurrences.clear();
        tallies.clear();
        hashes.assign(token_of(image_last) - token_of(image_first), 0);
        for (int order = 1; order <= kMaxOrder; ++order) {
            for (std::size_t r = image_first; r < image_last; ++r) {
                std::span<const std::int32_t> words = references_[r];
                pulse(8 * words.size());
                std::uint64_t* hash = hashes.data() + (token_of(r) - token_of(image_first));
                auto token = static_cast<std::uint32_t>(token_of(r) - token_of(first));
                auto reference = static_cast<std::uint32_t>(r - image_first);
                for (std::size_t at = 0; at + static_cast<std::size_t>(order) <= words.size(); ++at) {
                    const std::int32_t* here = &words[at];
                    hash[at] = hash_step(hash[at], here[order - 1]);
                    std::uint32_t k =
                        numbering.number(hash[at], [&](std::uint32_t other) { return is(begin + other, here, order); });
                    if (k == tallies.size()) {
                        built.first_at.push_back((token + static_cast<std::uint32_t>(at)) * kMaxOrder +
                                                 static_cast<std::uint32_t>(order) - 1);
                        tallies.push_back({static_cast<std::uint32_t>(occurrences.size()), 1, 1});
                        occurrences.push_back({k, {reference, 1}});
                        continue;
                    }
                    Tally& tally = tallies[k];
                    ++tally.count;
                    if (occurrences[tally.latest].posting.reference == reference) {
                        ++occurrences[tally.latest].posting.count;
                    } else {
                        ++tally.holders;
                        tally.latest = static_cast<std::uint32_t>(occurrences.size());
                        occurrences.push_back({k, {reference, 1}});
                    }
                }
            }
            built.order_begin.push_back(static_cast<std::uint32_t>(built.first_at.size()));
        }

        // Counting sort of the occurrences by n-gram. A single occurrence needs no posting.
        std::size_t count = tallies.size();
        std::uint32_t width = view.wide ? 2 : 1;
        auto next = static_cast<std::uint32_t>(built.postings.size());
        for (Tally& tally : tallies) {
            bool once = tally.count == 1;
            built.postings_at.push_back(once ? kOnce | occurrences[tally.latest].posting.reference : next);
            tally.latest = next;  // from here on, the position of its next posting
            if (!once) next += width * tally.holders;
        }
        if (next >= kOnce) throw std::length_error("more than 2 billion n-grams in the references of 256 images");
        built.postings.resize(next);
        for (const Occurrence& o : occurrences) {
            Tally& tally = tallies[o.ngram];
            if (tally.count == 1) continue;
            std::uint32_t last = --tally.holders == 0 ? kLast : 0;
            if (view.wide) {
                built.postings[tally.latest] = last | o.posting.reference;
                built.postings[tally.latest + 1] = o.posting.count;
            } else {
                built.postings[tally.latest] = last | o.posting.reference << 16 | o.posting.count;
            }
            tally.latest += width;
        }

        bool large = count >= kLarge;
        std::size_t size = count * 2 + 1;
        std::size_t slots_at = built.slots.size();
        built.slots.resize(slots_at + size * (large ? 2 : 1));
        std::uint16_t* slots = built.slots.data() + slots_at;
        for (std::size_t k = 0; k < count; ++k) {
            std::uint32_t slot = first_slot(numbering.hashes[k], size);
            while (read_slot(slots, slot, large) != 0) slot = slot + 1 < size ? slot + 1 : 0;
            if (large) {
                slots[2 * slot] = static_cast<std::uint16_t>(k + 1);
                slots[2 * slot + 1] = static_cast<std::uint16_t>((k + 1) >> 16);
            } else {
                slots[slot] = static_cast<std::uint16_t>(k + 1);
            }
        }
        built.slots_begin.push_back(static_cast<std::uint32_t>(built.slots.size()));
    }
    built.first_at.shrink_to_fit();
    built.postings_at.shrink_to_fit();
    built.postings.shrink_to_fit();
    built.slots.shrink_to_fit();
    view.order_begin = built.order_begin;
    view.first_at = built.first_at;
    view.postings_at = built.postings_at;
    view.postings = built.postings;
    view.slots_begin = built.slots_begin;
    view.slots = built.slots;
}

ReferenceNgrams::Image ReferenceNgrams::image(std::size_t i) const {
    const Block& block = blocks_[i / kBlockImages];
    std::size_t at = i % kBlockImages;
    const std::uint32_t* order_begin = block.order_begin.data() + at * kMaxOrder;
    std::uint32_t begin = order_begin[0], count = order_begin[kMaxOrder] - begin;
    std::uint32_t slots = block.slots_begin[at + 1] - block.slots_begin[at];
    return {&block,
            begin,
            count,
            order_begin,
            block.slots.data() + block.slots_begin[at],
            count >= kLarge ? slots / 2 : slots};
}

}  // namespace captious::ngrams
