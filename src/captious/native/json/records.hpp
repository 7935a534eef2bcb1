// JSON documents that hold long lists of objects, of which a few fields are read without building the rest.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace captious::json {

// A value of the document: that of a key of the object, or the document itself.
struct JsonValue {
    std::string_view key;    // as it is written, without quotes
    std::size_t start, end;  // its place in the text
    std::size_t first_end;   // where the first object of the list ends; 0 if this is no list of objects
    std::size_t n_objects;   // how many there are in the list
};

// The values of an object, or the one list that the document is; nothing if the text is not JSON as RFC 8259 has it, is
// nested deeply, or is neither an object nor a list.
std::optional<std::vector<JsonValue>> json_outline(std::string_view text);

// A field of an object: text without escapes, text with escapes, or an integer.
struct JsonField {
    enum class Kind { kMissing, kText, kEscaped, kInteger, kOther } kind = Kind::kMissing;
    std::string_view written;  // without quotes
    long long number = 0;
};

// Reads objects of a list that json_outline found, one after the other.
class JsonObjects {
public:
    // A list, from its bracket on, and the names of fields as they are written.
    JsonObjects(std::string_view list, std::vector<std::string_view> names)
        : text_(list), names_(std::move(names)), fields_(names_.size()) {}

    // The fields of the next object, the last where a name is repeated; nothing at the end of the list.
    const std::vector<JsonField>* next();

    // Whether only the end of the list is left.
    bool at_end() const;

    // Whether an object had a key with escapes, which may be one of the names.
    bool has_escaped_key() const { return has_escaped_key_; }

private:
    std::string_view text_;
    std::vector<std::string_view> names_;
    std::vector<JsonField> fields_;
    std::size_t at_ = 1;
    bool has_escaped_key_ = false;
};

// The characters of text with escapes as UTF-8; halves of surrogate pairs that are alone are encoded as if they were
// characters.
std::string json_unescaped(std::string_view written);

}  // namespace captious::json
