// Reads lines of numbers, sorts and finds words, and hashes n-grams of characters as fastText does.
#include "vectors/words.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <system_error>

#include "decimal.hpp"
#include "interrupt.hpp"

namespace captious::vectors {
namespace {

constexpr std::string_view kSeparators = " \t", kTrailing = " \t\r";

// The number in a field, rounded to single precision via double precision, as in other readers.
std::optional<double> number(std::string_view field) {
    if (field.size() > 1 && field[0] == '+' && field[1] != '-') field.remove_prefix(1);
    double value = 0.0;
    auto [end, error] = read_decimal(field.data(), field.data() + field.size(), value);
    if (end != field.data() + field.size()) return std::nullopt;
    if (error == std::errc::result_out_of_range) return std::abs(value) < 1.0 ? 0.0 : HUGE_VAL;
    return error == std::errc() ? std::optional(value) : std::nullopt;
}

std::vector<std::string_view> fields_of(std::string_view line) {
    std::vector<std::string_view> fields;
    for (std::size_t from = 0; from < line.size();) {
        std::size_t to = std::min(line.find_first_of(kSeparators, from), line.size());
        fields.push_back(line.substr(from, to - from));
        from = std::min(line.find_first_not_of(kSeparators, to), line.size());
    }
    return fields;
}

class LineParser {
public:
    LineParser(std::size_t width, VectorLines& out) : width_(width), out_(out) {}

    // Adds a line; false if it is invalid.
    bool parse(std::string_view line) {
        line = line.substr(0, line.find_last_not_of(kTrailing) + 1);
        if (line.empty()) return fail(LineFault::kEmpty);
        if (kSeparators.find(line[0]) != std::string_view::npos) return fail(LineFault::kNoWord);
        std::size_t start = out_.values.size();
        if (quick(line)) return true;
        out_.values.resize(start);
        return careful(line);
    }

private:
    bool fail(LineFault fault, std::size_t n_numbers = 0, std::string_view field = {}) {
        out_.fault = fault;
        out_.n_numbers = n_numbers;
        out_.field = field;
        return false;
    }

    void add_word(std::string_view word) {
        out_.text.insert(out_.text.end(), word.begin(), word.end());
        out_.ends.push_back(static_cast<std::int64_t>(out_.text.size()));
    }

    // A word without spaces, and numbers separated by one character each.
    bool quick(std::string_view line) {
        std::size_t at = line.find_first_of(kSeparators);
        if (at == std::string_view::npos) return false;
        std::string_view word = line.substr(0, at);
        const char* place = line.data() + at;
        const char* end = line.data() + line.size();
        for (std::size_t k = 0; k < width_; ++k) {
            if (place == end || kSeparators.find(*place) == std::string_view::npos) return false;
            double value = 0.0;
            auto [next, error] = read_decimal(place + 1, end, value);
            if (error != std::errc() || !std::isfinite(static_cast<float>(value))) return false;
            out_.values.push_back(static_cast<float>(value));
            place = next;
        }
        if (place != end) return false;
        add_word(word);
        return true;
    }

    bool careful(std::string_view line) {
        std::vector<std::string_view> fields = fields_of(line);
        if (fields.size() <= width_) return fail(LineFault::kWrongCount, fields.size() - 1);
        std::size_t first = fields.size() - width_;
        for (std::size_t k = 1; k < first; ++k)
            if (number(fields[k])) return fail(LineFault::kWrongCount, fields.size() - 1);
        for (std::size_t k = first; k < fields.size(); ++k) {
            std::optional<double> value = number(fields[k]);
            if (!value) return fail(LineFault::kNoNumber, 0, fields[k]);
            if (!std::isfinite(static_cast<float>(*value))) return fail(LineFault::kNotFinite, 0, fields[k]);
            out_.values.push_back(static_cast<float>(*value));
        }
        const char* end = fields[first - 1].data() + fields[first - 1].size();
        add_word(line.substr(0, static_cast<std::size_t>(end - line.data())));
        return true;
    }

    std::size_t width_;
    VectorLines& out_;
};

}  // namespace

VectorLines parse_vector_lines(std::string_view lines, std::size_t width) {
    VectorLines out;
    LineParser parser(width, out);
    while (!lines.empty()) {
        std::size_t end = std::min(lines.find('\n'), lines.size());
        if (!parser.parse(lines.substr(0, end))) {
            out.values.resize(out.ends.size() * width);
            break;
        }
        lines.remove_prefix(std::min(end + 1, lines.size()));
    }
    return out;
}

std::vector<std::int64_t> sorted_order(const WordList& words) {
    std::vector<std::int64_t> order(words.size);
    std::iota(order.begin(), order.end(), 0);
    Pulse pulse;
    std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        pulse(16);
        int compared = words[static_cast<std::size_t>(a)].compare(words[static_cast<std::size_t>(b)]);
        return compared < 0 || (compared == 0 && a < b);
    });
    return order;
}

std::int64_t find_sorted(const WordList& sorted, std::string_view word) {
    std::size_t low = 0, high = sorted.size;
    while (low < high) {
        std::size_t middle = low + (high - low) / 2;
        if (sorted[middle] < word)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sorted.size && sorted[low] == word ? static_cast<std::int64_t>(low) : -1;
}

void subword_buckets(std::string_view word, std::size_t shortest, std::size_t longest, std::uint32_t buckets,
                     std::vector<std::int32_t>& out) {
    std::string text = "<" + std::string(word) + ">";
    auto continues = [&](std::size_t i) { return (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80; };
    for (std::size_t begin = 0; begin < text.size(); ++begin) {
        if (continues(begin)) continue;
        std::uint32_t hash = 2166136261U;  // FNV-1a; fastText treats bytes as signed
        std::size_t end = begin;
        for (std::size_t n = 1; n <= longest && end < text.size(); ++n) {
            do {
                hash ^= static_cast<std::uint32_t>(static_cast<std::int8_t>(text[end++]));
                hash *= 16777619U;
            } while (end < text.size() && continues(end));
            bool bracket = n == 1 && (begin == 0 || end == text.size());
            if (n >= shortest && !bracket) out.push_back(static_cast<std::int32_t>(hash % buckets));
        }
    }
}

}  // namespace captious::vectors
