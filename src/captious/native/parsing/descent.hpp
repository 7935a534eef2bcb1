// Potentials that make the bounds of a coarse grammar tight.
#pragma once

#include <cstdint>
#include <span>

#include "parsing/parser.hpp"

namespace captious::parsing {

// Changes the potentials so that the best coarse scores over these sentences decrease toward the best finer ones:
// subgradient descent on their sum, which is convex in the potentials.
void tune(Pcfg& pcfg, std::span<const std::int64_t> tag_offsets, std::span<const Tag> tags, const TokensView& sentences,
          int passes);

}  // namespace captious::parsing
