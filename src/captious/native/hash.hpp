// Hash functions of the kernels. Tables compare keys in full, so a collision costs time and never an answer.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace captious {

// Folds the 128-bit product of two words: every input bit reaches every output bit.
inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    unsigned __int128 product = static_cast<unsigned __int128>(a ^ 0x9E3779B97F4A7C15ULL) * (b ^ 0xD1B54A32D192ED03ULL);
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline std::uint64_t hash_bytes(std::string_view text) {
    std::uint64_t hash = text.size();
    while (text.size() >= 8) {
        std::uint64_t word;
        std::memcpy(&word, text.data(), 8);
        hash = mix(hash, word);
        text.remove_prefix(8);
    }
    std::uint64_t rest = 0;
    std::memcpy(&rest, text.data(), text.size());
    return mix(hash, rest);
}

}  // namespace captious
