// Python bindings of the reader of JSON.
#include "bindings.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>
#include "json/records.hpp"

using namespace nanobind::literals;

namespace captious {
namespace {

using namespace captious::json;

nb::object string_of(std::string_view utf8, const char* errors) {
    PyObject* text = PyUnicode_DecodeUTF8(utf8.data(), static_cast<Py_ssize_t>(utf8.size()), errors);
    if (text == nullptr) throw nb::python_error();
    return nb::steal(text);
}

// The value of a field as from Python's json; nothing if it is neither text nor an integer.
nb::object object_of(const JsonField& field) {
    switch (field.kind) {
        case JsonField::Kind::kText: return string_of(field.written, nullptr);
        case JsonField::Kind::kEscaped: return string_of(json_unescaped(field.written), "surrogatepass");
        case JsonField::Kind::kInteger: return nb::steal(PyLong_FromLongLong(field.number));
        default: return {};
    }
}

nb::object key_of(const JsonValue& value) {
    return value.key.data() ? string_of(json_unescaped(value.key), "surrogatepass") : nb::none();
}

std::string_view view(const nb::bytes& bytes) { return {static_cast<const char*>(bytes.data()), bytes.size()}; }

}  // namespace

void bind_json(nb::module_& m) {
    m.def(
        "json_outline",
        [](nb::bytes text, std::size_t start) -> nb::object {
            std::string_view bytes = view(text).substr(std::min(start, text.size()));
            auto values = without_gil([&] { return json_outline(bytes); });
            if (!values) return nb::none();
            nb::list out;
            for (const JsonValue& value : *values)
                out.append(nb::make_tuple(key_of(value), start + value.start, start + value.end,
                                          value.n_objects ? start + value.first_end : 0, value.n_objects));
            return out;
        },
        "text"_a, "start"_a = 0,
        nb::sig("def json_outline(text: bytes, start: int = 0) -> list[tuple[str | None, int, int, int, int]] | None"),
        "The values of a JSON object, or of a document that is a list, with the key None: key, start, end, end of the\n"
        "first object of a list of objects, and the number of objects, or 0 and 0. None for text, UTF-8 from\n"
        "`start` on, that is neither, not JSON, or nested deeply.");
    m.def(
        "json_columns",
        [](nb::bytes text, std::size_t start, std::size_t end, Strings names) -> nb::object {
            std::string_view bytes = view(text);
            if (start >= end || end > bytes.size() || bytes[start] != '[') throw nb::value_error("there is no list");
            JsonObjects objects(bytes.substr(start, end - start), utf8(names));
            nb::list columns;
            std::vector<nb::list> lists(names.size());
            for (const nb::list& list : lists) columns.append(list);
            while (const std::vector<JsonField>* fields = objects.next()) {
                for (std::size_t i = 0; i < fields->size(); ++i) {
                    nb::object value = object_of((*fields)[i]);
                    if (!value.is_valid()) return nb::none();
                    lists[i].append(value);
                }
            }
            if (!objects.at_end()) throw nb::value_error("this is not a list of objects");
            return objects.has_escaped_key() ? nb::none() : nb::object(columns);
        },
        "text"_a, "start"_a, "end"_a, "names"_a,
        nb::sig("def json_columns(text: bytes, start: int, end: int, names: tuple[str, ...]) -> "
                "list[list[str | int]] | None"),
        "Fields of the objects of a list of json_outline: the value of each name in every object. None if a\n"
        "value is missing or neither text nor an integer of 64 bits. Raises ValueError if it is no list of objects.");
}

}  // namespace captious
