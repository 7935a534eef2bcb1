#include "marks/marks.hpp"

#include <algorithm>

namespace captious::marks {
namespace {

constexpr std::size_t kPairs = 1 << 16;

std::size_t pair_of(std::string_view text) {
    return static_cast<std::size_t>(static_cast<unsigned char>(text[0])) << 8 | static_cast<unsigned char>(text[1]);
}

}  // namespace

Marks::Marks(const std::vector<std::vector<std::string_view>>& groups) : pairs_(kPairs), longer_(kPairs + 1) {
    for (std::size_t i = 0; i < groups.size(); ++i) {
        std::uint64_t group = std::uint64_t{1} << i;
        for (std::string_view mark : groups[i]) {
            if (mark.empty())
                std::for_each(bytes_.begin() + 0x80, bytes_.end(), [&](std::uint64_t& bits) { bits |= group; });
            else if (mark.size() == 1)
                bytes_[static_cast<unsigned char>(mark[0])] |= group;
            else if (mark.size() == 2)
                pairs_[pair_of(mark)] |= group;
            else
                marks_.push_back({std::string(mark), group});
        }
    }
    std::stable_sort(marks_.begin(), marks_.end(),
                     [](const Mark& a, const Mark& b) { return pair_of(a.text) < pair_of(b.text); });
    for (const Mark& mark : marks_) ++longer_[pair_of(mark.text) + 1];
    for (std::size_t pair = 0; pair < kPairs; ++pair) longer_[pair + 1] += longer_[pair];
}

std::uint64_t Marks::in(std::string_view text) const {
    std::uint64_t found = 0;
    for (; text.size() > 1; text.remove_prefix(1)) {
        std::size_t pair = pair_of(text);
        found |= bytes_[pair >> 8] | pairs_[pair];
        for (std::size_t i = longer_[pair]; i < longer_[pair + 1]; ++i)
            if ((found & marks_[i].groups) == 0 && text.starts_with(marks_[i].text)) found |= marks_[i].groups;
    }
    if (!text.empty()) found |= bytes_[static_cast<unsigned char>(text[0])];
    return found;
}

}  // namespace captious::marks
