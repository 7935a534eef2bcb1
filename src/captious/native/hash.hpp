// Hash functions of the kernels. Tables compare full keys, so collisions cost time but never change a result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace captious {

// The 128-bit product of two words, folded into 64 bits: bits of both words spread over the whole result.
inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    unsigned __int128 product = static_cast<unsigned __int128>(a ^ 0x9E3779B97F4A7C15ULL) * (b ^ 0xD1B54A32D192ED03ULL);
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Up to eight bytes as one number; texts of the same length differ exactly where their numbers do.
inline std::uint64_t load_bytes(const char* text, std::size_t size) {
    std::uint64_t low = 0, high = 0;
    if (size == 8) {
        std::memcpy(&low, text, 8);
    } else if (size >= 4) {
        std::memcpy(&low, text, 4);
        std::memcpy(&high, text + size - 4, 4);
    } else if (size > 0) {
        low = static_cast<unsigned char>(text[0]);
        high = static_cast<std::uint64_t>(static_cast<unsigned char>(text[size / 2])) << 8 |
               static_cast<unsigned char>(text[size - 1]);
    }
    return low | high << 32;
}

inline std::uint64_t hash_bytes(std::string_view text) {
    std::uint64_t hash = text.size();
    for (; text.size() > 8; text.remove_prefix(8)) hash = mix(hash, load_bytes(text.data(), 8));
    return mix(hash, load_bytes(text.data(), text.size()));
}

inline bool same_bytes(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    if (a.size() <= 8) return load_bytes(a.data(), a.size()) == load_bytes(b.data(), b.size());
    return a == b;
}

}  // namespace captious
