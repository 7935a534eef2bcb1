// Captions as flat arrays of word ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace captious {

// Captions as flat arrays: caption i is ids[offsets[i] .. offsets[i + 1]).
struct FlatTokens {
    std::vector<std::int32_t> ids;
    std::vector<std::int64_t> offsets{0};
};

// A view of captions as flat arrays: caption i is ids[offsets[i] .. offsets[i + 1]).
struct TokensView {
    const std::int32_t* ids;
    const std::int64_t* offsets;
    std::size_t count;

    std::span<const std::int32_t> operator[](std::size_t i) const {
        return {ids + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
    }
};

}  // namespace captious
