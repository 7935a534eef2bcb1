// Python bindings of the search for marks.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bindings.hpp"
#include "marks/marks.hpp"

using namespace nanobind::literals;

namespace captious {

void bind_marks(nb::module_& m) {
    m.def(
        "groups_with_marks",
        [](Strings texts, nb::typed<nb::tuple, Strings, nb::ellipsis> groups) {
            if (groups.size() > 64) throw nb::value_error("there are more than 64 groups of marks");
            std::vector<std::vector<std::string_view>> marks;
            for (nb::handle group : groups) marks.push_back(utf8(nb::cast<nb::tuple>(group)));
            std::vector<std::string_view> views = utf8(texts);
            return fill_array<std::uint64_t>(views.size(), [&](std::uint64_t* out) {
                marks::Marks search(marks);
                for (std::size_t i = 0; i < views.size(); ++i) out[i] = search.in(views[i]);
            });
        },
        "texts"_a, "groups"_a,
        nb::sig("def groups_with_marks(texts: tuple[str, ...], groups: tuple[tuple[str, ...], ...]) -> " UINT64S),
        "Which of at most 64 groups of marks have one in each text: bit i for group i, uint64[n]. An empty mark stands\n"
        "for any character beyond ASCII.");
}

}  // namespace captious
