// The beam search and the counts of its result.
#include "meteor/alignment.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace captious::meteor {
namespace {

constexpr std::size_t kBeam = 40;
constexpr std::size_t kMostPaths = 4096;  // maximum number before the best are selected

std::uint64_t distance_between(std::uint32_t i, std::uint32_t j) { return i > j ? i - j : j - i; }

void set_bits(std::uint64_t* row, const Match& match) {
    for (std::size_t i = match.start; i < match.start + match.length; ++i) row[i / 64] |= std::uint64_t{1} << (i % 64);
}

}  // namespace

// Number of words that a match adds to a path. METEOR weights inexact matches by one half and rounds down.
inline std::uint32_t Aligner::weighted_words(const Match& match) {
    if (match.module == kExact) return match.length + match.reference_length;
    return match.length / 2u + match.reference_length / 2u;
}

const std::vector<Link>& Aligner::align(const MatchFinder& matches) {
    auto n = static_cast<std::uint32_t>(matches.reference_length());
    blocks_ = (matches.candidate_length() + 63) / 64;
    trail_.clear();
    links_.clear();
    used_.assign(blocks_, 0);
    fix_certain_matches(matches);
    beam_.assign(1, Path{});
    for (std::uint32_t j = 0; j < n; ++j) {
        if (certain_[j] != Certain::kNo || matches.count(j) == 0) {
            pulse_(beam_.size());
            extend_paths(j);
            continue;
        }
        paths_.clear();
        for (const Path& path : beam_) {
            pulse_(blocks_ + 4 * matches.count(j) + 16);
            extend(path, j, matches);
        }
        if (paths_.empty()) paths_.push_back(beam_[0]);
        keep_best();
    }
    for (Path& path : beam_) path.close_chunk();
    // The first of equally good ones.
    auto best =
        std::min_element(beam_.begin(), beam_.end(), [](const Path& a, const Path& b) { return a.is_better_than(b); });
    for (std::int64_t at = best->trail; at != kNone; at = trail_[static_cast<std::size_t>(at)].before)
        links_.push_back(trail_[static_cast<std::size_t>(at)].link);
    for (std::uint32_t j = 0; j < n; ++j)
        if (certain_[j] == Certain::kBegins) links_.push_back({certain_match_[j], j});
    std::sort(links_.begin(), links_.end(),
              [](const Link& a, const Link& b) { return a.reference_start < b.reference_start; });
    return links_;
}

// A match is certain if it is the only one at its reference word and no other covers any word of it.
void Aligner::fix_certain_matches(const MatchFinder& matches) {
    std::size_t n = matches.reference_length();
    certain_.assign(n, Certain::kNo);
    certain_match_.resize(n);
    for (std::size_t j = 0; j < n; ++j) {
        if (matches.count(j) != 1) continue;
        matches.for_each(j, [&](const Match& match) {
            for (std::size_t k = 0; k < match.reference_length; ++k)
                if (matches.reference_coverage()[j + k] != 1) return;
            for (std::size_t k = 0; k < match.length; ++k)
                if (matches.candidate_coverage()[match.start + k] != 1) return;
            certain_match_[j] = match;
            for (std::size_t k = 0; k < match.reference_length; ++k)
                certain_[j + k] = k == 0 ? Certain::kBegins : Certain::kInside;
            set_bits(used_.data(), match);
        });
    }
}

bool Aligner::is_free(const Path& path, std::uint32_t j, const Match& match) const {
    for (std::size_t k = 1; k < match.reference_length; ++k)
        if (certain_[j + k] != Certain::kNo) return false;
    const std::uint64_t* row = used_.data() + path.used * blocks_;
    for (std::size_t i = match.start; i < match.start + match.length; ++i)
        if (row[i / 64] >> (i % 64) & 1) return false;
    return true;
}

// Advance all paths over a reference word without a choice: nothing matches it, or one match is certain.
void Aligner::extend_paths(std::uint32_t j) {
    if (certain_[j] == Certain::kInside) return;  // all have taken the match that it is in
    for (Path& path : beam_) {
        if (j < path.next) continue;
        if (certain_[j] == Certain::kBegins) {
            path.take(certain_match_[j]);
            path.distance += distance_between(certain_match_[j].start, j);
        } else {
            path.close_chunk();
            ++path.next;
        }
    }
    order_beam();
}

// Adds the continuations of a path at reference word j.
void Aligner::extend(Path path, std::uint32_t j, const MatchFinder& matches) {
    if (j < path.next) {
        paths_.push_back(path);
        return;
    }
    std::uint64_t kind = 0;  // words and chunks of the last child
    std::size_t of_kind = 0;
    matches.for_each(j, [&](const Match& match) {
        if (!is_free(path, j, match)) return;
        std::uint64_t distance = path.distance;
        // As in METEOR, the distance is added to the parent path, not to the child.
        path.distance += distance_between(match.start, j);
        std::uint64_t words_and_chunks = std::uint64_t{weighted_words(match)} << 32 | path.chunks_after(match);
        of_kind = words_and_chunks == kind ? of_kind + 1 : 1;
        kind = words_and_chunks;
        if (of_kind > kBeam) return;  // a full beam of earlier siblings is at least as good
        Path child = path;
        child.distance = distance;
        child.take(match);
        child.has_new = true;
        child.link = {match, j};
        paths_.push_back(child);
        if (paths_.size() == kMostPaths) {
            order_best();
            // Earlier paths stay first.
            std::sort(order_.begin(), order_.end(), [](const Rank& a, const Rank& b) { return a.path < b.path; });
            for (std::size_t k = 0; k < order_.size(); ++k) paths_[k] = paths_[order_[k].path];
            paths_.resize(order_.size());
        }
    });
    path.close_chunk();
    ++path.next;
    paths_.push_back(path);
}

// Sorts the best of paths_ into order_, best first.
void Aligner::order_best() {
    order_.clear();
    for (std::size_t k = 0; k < paths_.size(); ++k) {
        order_.push_back({paths_[k].words_and_chunks(), paths_[k].distance, static_cast<std::uint32_t>(k)});
    }
    if (order_.size() > kBeam) {
        std::nth_element(order_.begin(), order_.begin() + kBeam, order_.end());
        order_.resize(kBeam);
    }
    std::sort(order_.begin(), order_.end());
}

// Stable sort of beam_, best first. It is nearly sorted.
void Aligner::order_beam() {
    for (std::size_t k = 1; k < beam_.size(); ++k) {
        if (!beam_[k].is_better_than(beam_[k - 1])) continue;
        Path path = beam_[k];
        std::size_t to = k;
        for (; to > 0 && path.is_better_than(beam_[to - 1]); --to) beam_[to] = beam_[to - 1];
        beam_[to] = path;
    }
}

// Moves the best of paths_ to beam_, best first, and records their new links.
void Aligner::keep_best() {
    order_best();
    beam_.clear();
    kept_.resize(order_.size() * blocks_);
    for (const Rank& rank : order_) {
        Path path = paths_[rank.path];
        std::uint64_t* row = kept_.data() + beam_.size() * blocks_;
        std::copy_n(used_.data() + path.used * blocks_, blocks_, row);
        path.used = static_cast<std::uint32_t>(beam_.size());
        if (path.has_new) {
            set_bits(row, path.link.match);
            trail_.push_back({path.link, path.trail});
            path.trail = static_cast<std::int64_t>(trail_.size()) - 1;
            path.has_new = false;
        }
        beam_.push_back(path);
    }
    used_.swap(kept_);
    paths_.clear();
}

Counts count(const std::vector<Link>& links, std::span<const std::int32_t> candidate,
             std::span<const std::int32_t> reference, const Lexicon& lexicon) {
    Counts counts{};
    auto is_function = [&](std::span<const std::int32_t> words, std::size_t i) {
        return lexicon[static_cast<std::size_t>(words[i])].is_function_word;
    };
    counts[0] = static_cast<std::int32_t>(candidate.size());
    counts[1] = static_cast<std::int32_t>(reference.size());
    for (std::size_t i = 0; i < candidate.size(); ++i) counts[2] += is_function(candidate, i);
    for (std::size_t j = 0; j < reference.size(); ++j) counts[3] += is_function(reference, j);
    std::int32_t& chunks = counts[kCounts - 3];
    std::size_t candidate_end = 0, reference_end = 0;
    for (const Link& link : links) {
        std::int32_t* of_module = counts.data() + 4 + 4 * link.match.module;
        for (std::size_t k = 0; k < link.match.length; ++k)
            ++of_module[is_function(candidate, link.match.start + k) ? 2 : 0];
        for (std::size_t k = 0; k < link.match.reference_length; ++k)
            ++of_module[is_function(reference, link.reference_start + k) ? 3 : 1];
        bool goes_on = chunks > 0 && link.match.start == candidate_end && link.reference_start == reference_end;
        if (!goes_on) ++chunks;
        candidate_end = link.match.start + link.match.length;
        reference_end = link.reference_start + link.match.reference_length;
        counts[kCounts - 2] += link.match.length;
        counts[kCounts - 1] += link.match.reference_length;
    }
    return counts;
}

}  // namespace captious::meteor
