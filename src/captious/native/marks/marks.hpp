// Marks, such as "<", "sorry" or "://", that are looked for in texts all at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace captious::marks {

// Up to 64 groups of marks; bit i stands for group i. An empty mark stands for any character beyond ASCII.
class Marks {
public:
    explicit Marks(const std::vector<std::vector<std::string_view>>& groups);

    // The groups of which a text contains a mark.
    std::uint64_t in(std::string_view text) const;

private:
    struct Mark {
        std::string text;
        std::uint64_t groups;
    };

    std::array<std::uint64_t, 256> bytes_{};  // groups that have a byte as a mark
    std::vector<std::uint64_t> pairs_;        // and those that have two bytes
    std::vector<std::uint32_t> longer_;       // by the first two bytes: where longer marks begin in `marks_`
    std::vector<Mark> marks_;                 // sorted by their first two bytes
};

}  // namespace captious::marks
