#include "json/records.hpp"

#include <charconv>
#include <cstdint>
#include <cstring>
#include <system_error>

namespace captious::json {
namespace {

constexpr int kDeepest = 64;
constexpr std::size_t kLongestNumber = 256;  // Python refuses integers of thousands of digits

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Four hexadecimal digits; -1 if they are something else.
int hexadecimal(std::string_view digits) {
    int value = -1;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    return digits.size() == 4 && !is_blank(digits[0]) && digits[0] != '-' && end == digits.data() + 4 ? value : -1;
}

// Validates JSON from a position on; every function advances past its element and returns whether it was present.
class Scanner {
public:
    Scanner(std::string_view text, std::size_t at) : text_(text), at(at) {}

    void white_space() {
        while (at < text_.size() && is_blank(text_[at])) ++at;
    }

    bool take(char c) {
        if (at >= text_.size() || text_[at] != c) return false;
        ++at;
        return true;
    }

    // A string; `escaped` is set if it has escapes.
    bool string(bool& escaped) {
        if (!take('"')) return false;
        while (true) {
            plain_characters();
            if (at >= text_.size()) return false;
            char c = text_[at];
            if (c == '"') return ++at, true;
            if (c != '\\' || at + 1 >= text_.size()) return false;  // a control character, or the end
            escaped = true;
            char letter = text_[at + 1];
            if (letter == 'u') {
                if (hexadecimal(text_.substr(at + 2, 4)) < 0) return false;
                at += 6;
            } else {
                if (std::memchr("\"\\/bfnrt", letter, 8) == nullptr) return false;
                at += 2;
            }
        }
    }

    bool number(bool& integer) {
        std::size_t start = at;
        take('-');
        if (!take('0') && !digits()) return false;
        integer = true;
        if (take('.')) {
            if (!digits()) return false;
            integer = false;
        }
        if (take('e') || take('E')) {
            if (!take('+')) take('-');
            if (!digits()) return false;
            integer = false;
        }
        return at - start <= kLongestNumber;
    }

    bool value(int depth) {
        if (at >= text_.size()) return false;
        bool ignored = false;
        switch (text_[at]) {
            case '"': return string(ignored);
            case '{': return container(depth, true);
            case '[': return container(depth, false);
            case 't': return word("true");
            case 'f': return word("false");
            case 'n': return word("null");
            default: return number(ignored);
        }
    }

    // A list, and what JsonValue says of its objects.
    bool list(JsonValue& found) {
        std::size_t others = 0;
        found.n_objects = found.first_end = 0;
        ++at;
        white_space();
        if (take(']')) return true;
        do {
            white_space();
            bool object = at < text_.size() && text_[at] == '{';
            if (!value(1)) return false;
            ++(object ? found.n_objects : others);
            if (found.n_objects == 1 && found.first_end == 0) found.first_end = at;
            white_space();
        } while (take(','));
        if (others) found.n_objects = found.first_end = 0;
        return take(']');
    }

private:
    // Advances to the first quote, backslash or control character, eight bytes at a time.
    void plain_characters() {
        constexpr std::uint64_t ones = 0x0101010101010101ULL, high = 0x8080808080808080ULL;
        while (at + 8 <= text_.size()) {
            std::uint64_t bytes;
            std::memcpy(&bytes, text_.data() + at, 8);
            std::uint64_t quote = bytes ^ (ones * '"'), backslash = bytes ^ (ones * '\\');
            std::uint64_t special =
                ((quote - ones) & ~quote) | ((backslash - ones) & ~backslash) | ((bytes - ones * 0x20) & ~bytes);
            if ((special & high) != 0) break;
            at += 8;
        }
        while (at < text_.size() && text_[at] != '"' && text_[at] != '\\' &&
               static_cast<unsigned char>(text_[at]) >= 0x20)
            ++at;
    }

    bool digits() {
        std::size_t start = at;
        while (at < text_.size() && is_digit(text_[at])) ++at;
        return at > start;
    }

    bool word(std::string_view name) {
        if (text_.substr(at, name.size()) != name) return false;
        at += name.size();
        return true;
    }

    bool container(int depth, bool object) {
        char closing = object ? '}' : ']';
        if (depth >= kDeepest) return false;
        ++at;
        white_space();
        if (take(closing)) return true;
        do {
            white_space();
            bool ignored = false;
            if (object) {
                if (!string(ignored)) return false;
                white_space();
                if (!take(':')) return false;
                white_space();
            }
            if (!value(depth + 1)) return false;
            white_space();
        } while (take(','));
        return take(closing);
    }

    std::string_view text_;

public:
    std::size_t at;
};

void append_utf8(std::string& out, unsigned code) {
    if (code < 0x80) {
        out += static_cast<char>(code);
    } else if (code < 0x800) {
        out += static_cast<char>(0xC0 | code >> 6);
        out += static_cast<char>(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        out += static_cast<char>(0xE0 | code >> 12);
        out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
        out += static_cast<char>(0x80 | (code & 0x3F));
    } else {
        out += static_cast<char>(0xF0 | code >> 18);
        out += static_cast<char>(0x80 | (code >> 12 & 0x3F));
        out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
        out += static_cast<char>(0x80 | (code & 0x3F));
    }
}

}  // namespace

std::optional<std::vector<JsonValue>> json_outline(std::string_view text) {
    Scanner scan(text, 0);
    std::vector<JsonValue> values;
    auto read = [&](std::string_view key) {
        JsonValue found{key, scan.at, 0, 0, 0};
        bool list = scan.at < text.size() && text[scan.at] == '[';
        if (!(list ? scan.list(found) : scan.value(1))) return false;
        found.end = scan.at;
        values.push_back(found);
        scan.white_space();
        return true;
    };
    scan.white_space();
    if (scan.at < text.size() && text[scan.at] == '[') {
        if (!read({})) return std::nullopt;
    } else {
        if (!scan.take('{')) return std::nullopt;
        do {
            scan.white_space();
            std::size_t start = scan.at + 1;
            bool ignored = false;
            if (!scan.string(ignored)) return std::nullopt;  // {} has nothing to read either
            std::string_view key = text.substr(start, scan.at - 1 - start);
            scan.white_space();
            if (!scan.take(':')) return std::nullopt;
            scan.white_space();
            if (!read(key)) return std::nullopt;
        } while (scan.take(','));
        if (!scan.take('}')) return std::nullopt;
        scan.white_space();
    }
    if (scan.at != text.size()) return std::nullopt;
    return values;
}

const std::vector<JsonField>* JsonObjects::next() {
    Scanner scan(text_, at_);
    scan.white_space();
    scan.take(',');
    scan.white_space();
    if (!scan.take('{')) return nullptr;
    fields_.assign(names_.size(), {});
    scan.white_space();
    while (!scan.take('}')) {
        std::size_t start = scan.at + 1;
        bool escaped = false;
        if (!scan.string(escaped)) return nullptr;
        has_escaped_key_ = has_escaped_key_ || escaped;
        std::string_view key = text_.substr(start, scan.at - 1 - start);
        scan.white_space();
        scan.take(':');
        scan.white_space();
        std::size_t value = scan.at;
        if (value >= text_.size()) return nullptr;
        JsonField field{JsonField::Kind::kOther, {}, 0};
        if (text_[value] == '"') {
            bool escapes = false;
            scan.string(escapes);
            field.kind = escapes ? JsonField::Kind::kEscaped : JsonField::Kind::kText;
            field.written = text_.substr(value + 1, scan.at - value - 2);
        } else if (is_digit(text_[value]) || text_[value] == '-') {
            bool integer = false;
            scan.number(integer);
            auto [end, error] = std::from_chars(text_.data() + value, text_.data() + scan.at, field.number);
            if (integer && error == std::errc()) field.kind = JsonField::Kind::kInteger;
        } else if (!scan.value(2)) {
            return nullptr;
        }
        for (std::size_t i = 0; i < names_.size(); ++i)
            if (names_[i] == key) fields_[i] = field;
        scan.white_space();
        scan.take(',');
        scan.white_space();
    }
    at_ = scan.at;
    return &fields_;
}

bool JsonObjects::at_end() const {
    Scanner scan(text_, at_);
    scan.white_space();
    return scan.take(']') && scan.at == text_.size();
}

std::string json_unescaped(std::string_view written) {
    std::string out;
    out.reserve(written.size());
    for (std::size_t at = 0; at < written.size();) {
        if (written[at] != '\\') {
            out += written[at++];
            continue;
        }
        char letter = written[at + 1];
        if (letter != 'u') {
            constexpr std::string_view letters = "bfnrt", characters = "\b\f\n\r\t";
            std::size_t place = letters.find(letter);
            out += place == std::string_view::npos ? letter : characters[place];
            at += 2;
            continue;
        }
        auto code = static_cast<unsigned>(hexadecimal(written.substr(at + 2, 4)));
        at += 6;
        if (code >= 0xD800 && code < 0xDC00 && written.substr(at, 2) == "\\u") {
            auto low = static_cast<unsigned>(hexadecimal(written.substr(at + 2, 4)));
            if (low >= 0xDC00 && low < 0xE000) {
                code = 0x10000 + ((code - 0xD800) << 10 | (low - 0xDC00));
                at += 6;
            }
        }
        append_utf8(out, code);
    }
    return out;
}

}  // namespace captious::json
