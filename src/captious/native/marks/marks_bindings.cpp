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
    using marks::Marks;
    nb::class_<Marks>(
        m, "Marks",
        "At most 64 groups of marks that are looked for in texts all at once. An empty mark stands for any\n"
        "character beyond ASCII.")
        .def(
            "__init__",
            [](Marks* self, nb::typed<nb::tuple, Strings, nb::ellipsis> groups) {
                if (groups.size() > 64) throw nb::value_error("there are more than 64 groups of marks");
                std::vector<std::vector<std::string_view>> marks;
                for (nb::handle group : groups) marks.push_back(utf8(nb::cast<nb::tuple>(group)));
                new (self) Marks(marks);
            },
            "groups"_a, nb::sig("def __init__(self, groups: tuple[tuple[str, ...], ...]) -> None"))
        .def(
            "groups_in",
            [](const Marks& self, Strings texts) {
                std::vector<std::string_view> views = utf8(texts);
                return fill_array<std::uint64_t>(views.size(), [&](std::uint64_t* out) {
                    for (std::size_t i = 0; i < views.size(); ++i) out[i] = self.in(views[i]);
                });
            },
            "texts"_a, nb::sig("def groups_in(self, texts: tuple[str, ...]) -> " UINT64S),
            "The groups that have a mark in each text: bit i for group i, uint64[n].");
}

}  // namespace captious
