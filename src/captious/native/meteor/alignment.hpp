// METEOR's alignment: chooses among all possible matches by a beam search along the reference.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "interrupt.hpp"
#include "meteor/matches.hpp"

namespace captious::meteor {

// A chosen match.
struct Link {
    Match match;
    std::uint32_t reference_start;
};

// The search of METEOR 1.5, including its tie-breaking. Paths through the reference grow word by word; the 40
// best continue. The best have the most matched words, then the fewest chunks, then the least distance, then came
// first.
class Aligner {
public:
    // The chosen matches, in the order of the reference.
    const std::vector<Link>& align(const MatchFinder& matches);

private:
    struct Path {
        std::uint64_t distance = 0;
        std::int64_t last_end = kNone;  // end of the open chunk in the candidate, if there is one
        std::int64_t trail = kNone;     // the last of its links in trail_
        std::uint32_t words = 0;        // matched on both sides, weighted
        std::uint32_t chunks = 0;       // closed ones
        std::uint32_t next = 0;         // the next reference word
        std::uint32_t used = 0;         // row of used_: the candidate words that are taken
        bool has_new = false;           // whether there is a link of this step, not yet in used_ and trail_
        Link link{};

        // Sort key of paths, least first: more words, fewer chunks, less distance.
        std::uint64_t words_and_chunks() const { return std::uint64_t{~words} << 32 | chunks; }
        bool is_better_than(const Path& other) const {
            std::uint64_t mine = words_and_chunks(), theirs = other.words_and_chunks();
            return mine != theirs ? mine < theirs : distance < other.distance;
        }
        void take(const Match& match) {
            words += weighted_words(match);
            chunks = chunks_after(match);
            next += match.reference_length;
            last_end = match.start + match.length;
        }
        std::uint32_t chunks_after(const Match& match) const {
            return chunks + (last_end != kNone && last_end != match.start);
        }
        void close_chunk() {
            if (last_end != kNone) ++chunks;
            last_end = kNone;
        }
    };
    struct Step {  // a link, and the index in trail_ of the one before
        Link link;
        std::int64_t before;
    };
    struct Rank {  // the order of a path: as above, then order of arrival
        std::uint64_t words_and_chunks, distance;
        std::uint32_t path;

        friend bool operator<(const Rank& a, const Rank& b) {
            if (a.words_and_chunks != b.words_and_chunks) return a.words_and_chunks < b.words_and_chunks;
            return a.distance != b.distance ? a.distance < b.distance : a.path < b.path;
        }
    };
    enum class Certain : std::uint8_t {
        kNo,
        kBegins,
        kInside
    };  // whether a reference word is in the only possible match

    static constexpr std::int64_t kNone = -1;

    static std::uint32_t weighted_words(const Match& match);

    void fix_certain_matches(const MatchFinder& matches);
    void extend_paths(std::uint32_t j);
    void extend(Path path, std::uint32_t j, const MatchFinder& matches);
    void keep_best();
    void order_best();
    void order_beam();
    bool is_free(const Path& path, std::uint32_t j, const Match& match) const;

    std::size_t blocks_ = 0;                  // 64-bit words per row of used_
    std::vector<std::uint64_t> used_, kept_;  // bits of candidate words, a row per path of the beam
    std::vector<Path> paths_, beam_;          // of this step and of the one before
    std::vector<Rank> order_;
    std::vector<Step> trail_;
    std::vector<Certain> certain_;      // by reference word
    std::vector<Match> certain_match_;  // of reference words where one begins
    std::vector<Link> links_;
    Pulse pulse_;
};

// Statistics of METEOR's score, per pair: words of candidate and reference; function words of both; for each module
// matched content words of both and matched function words of both; chunks; matched words of both.
constexpr std::size_t kCounts = 4 + 4 * kModules + 3;
using Counts = std::array<std::int32_t, kCounts>;

Counts count(const std::vector<Link>& links, std::span<const std::int32_t> candidate,
             std::span<const std::int32_t> reference, const Lexicon& lexicon);

}  // namespace captious::meteor
