// METEOR over a table of captions.
#include "meteor/meteor.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "meteor/normalizer.hpp"
#include "parallel.hpp"

namespace captious::meteor {
namespace {

constexpr std::size_t kPairsPerThread = 64;

// The protocol of the COCO harness separates captions by three bars and drops them from candidates; here from both.
void drop_separators(std::string& line) {
    for (std::size_t at = line.find("|||"); at != std::string::npos; at = line.find("|||", at)) line.erase(at, 3);
}

}  // namespace

FlatTokens normalize_captions(const vocabulary::Vocabulary& source, TokensView captions,
                              vocabulary::Vocabulary& target) {
    // Most words are plain: they stay unchanged, and their id in the target is looked up once.
    constexpr std::int32_t kUnresolved = -1, kNotPlain = -2;
    std::vector<std::int32_t> plain(source.size(), kUnresolved);
    auto plain_id = [&](std::int32_t id) {
        std::int32_t& id_in_target = plain[static_cast<std::size_t>(id)];
        if (id_in_target == kUnresolved) {
            std::string_view word = source.word(static_cast<std::size_t>(id));
            id_in_target = is_plain(word) ? target.add(word) : kNotPlain;
        }
        return id_in_target;
    };
    FlatTokens out;
    out.offsets.reserve(captions.count + 1);
    out.ids.reserve(static_cast<std::size_t>(captions.count == 0 ? 0 : captions.offsets[captions.count]));
    std::string line;
    std::vector<std::string> words;
    for (std::size_t c = 0; c < captions.count; ++c) {
        std::span<const std::int32_t> caption = captions[c];
        if (std::all_of(caption.begin(), caption.end(), [&](std::int32_t id) { return plain_id(id) != kNotPlain; })) {
            for (std::int32_t id : caption) out.ids.push_back(plain_id(id));
        } else {
            line.clear();
            for (std::int32_t id : caption) {
                if (!line.empty()) line += ' ';
                line += source.word(static_cast<std::size_t>(id));
            }
            drop_separators(line);
            normalize(line, words);
            for (const std::string& word : words) out.ids.push_back(target.add(word));
        }
        out.offsets.push_back(static_cast<std::int64_t>(out.ids.size()));
    }
    return out;
}

void count_pairs(const Lexicon& lexicon, ModuleSet modules, TokensView candidates, TokensView references,
                 std::span<const std::int64_t> image_offsets, int threads, std::int32_t* out) {
    parallel_for(candidates.count, threads, kPairsPerThread, [&](std::size_t begin, std::size_t end) {
        MatchFinder matches(lexicon, modules);
        Aligner aligner;
        for (std::size_t i = begin; i < end; ++i) {
            auto words_of = [&](std::size_t image) {
                return references.ids + references.offsets[image_offsets[image]];
            };
            matches.set_candidate(candidates[i], {words_of(i), words_of(i + 1)});
            for (auto r = static_cast<std::size_t>(image_offsets[i]);
                 r < static_cast<std::size_t>(image_offsets[i + 1]); ++r) {
                try {
                    matches.set_reference(references[r]);
                } catch (const TooManyMatches&) {
                    throw TooManyMatches(r);
                }
                Counts counts = count(aligner.align(matches), candidates[i], references[r], lexicon);
                std::copy(counts.begin(), counts.end(), out + r * kCounts);
            }
        }
    });
}

}  // namespace captious::meteor
