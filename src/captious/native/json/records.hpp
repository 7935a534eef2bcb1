// JSON documents that hold long lists of objects, of which a few fields are read without building the rest.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace captious::json {

// A value of the document: the value of a key of the object, or the document itself.
struct JsonValue {
    std::string_view key;    // as written, without quotes
    std::size_t start, end;  // its position in the text
    std::size_t first_end;   // end of the first object of the list; 0 if this is not a list of objects
    std::size_t n_objects;   // number of objects in the list
};

// The values of an object, or the document itself if it is a list; nothing if the text is not JSON by RFC 8259, is
// nested deeply, or is neither an object nor a list.
std::optional<std::vector<JsonValue>> json_outline(std::string_view text);

// A field of an object: text without escapes, text with escapes, or an integer.
struct JsonField {
    enum class Kind { kMissing, kText, kEscaped, kInteger, kOther } kind = Kind::kMissing;
    std::string_view written;  // without quotes
    long long number = 0;
};

// Reads the objects of a list found by json_outline one by one.
class JsonObjects {
public:
    // A list, from its bracket on, and the names of fields as written.
    JsonObjects(std::string_view list, std::vector<std::string_view> names)
        : text_(list), names_(std::move(names)), fields_(names_.size()) {}

    // The fields of the next object, the last one if a name is repeated; nothing at the end of the list.
    const std::vector<JsonField>* next();

    // Whether only the end of the list remains.
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

// The characters of text with escapes as UTF-8; lone surrogates are encoded as if they were
// characters.
std::string json_unescaped(std::string_view written);

}  // namespace captious::json
