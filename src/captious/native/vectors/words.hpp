// Words of vector files: lines of text, lookup of sorted words, and the subwords of fastText.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace captious::vectors {

// Faults of a line.
enum class LineFault { kNone, kEmpty, kNoWord, kWrongCount, kNoNumber, kNotFinite };

// Lines "word number number ..." in file order, up to the first invalid one.
struct VectorLines {
    std::vector<std::uint8_t> text;  // of all words, back to back
    std::vector<std::int64_t> ends;  // of each word in `text`
    std::vector<float> values;       // [lines][width]
    LineFault fault = LineFault::kNone;
    std::size_t n_numbers = 0;  // of wrong_count: the count of numbers
    std::string field;          // of no_number and not_finite: the text of the field
};

// Lines end with '\n'; fields are separated by spaces or tabs. A word may contain spaces, as some of GloVe's do, as
// long as no further piece of it is a number.
VectorLines parse_vector_lines(std::string_view lines, std::size_t width);

// Words back to back in `text`, each up to its entry in `ends`. Ends are checked at access, so that only the accessed
// parts of a mapped file are read.
struct WordList {
    const std::uint8_t* text;
    std::size_t length;  // of text
    const std::int64_t* ends;
    std::size_t size;

    std::string_view operator[](std::size_t i) const {
        std::int64_t from = i == 0 ? 0 : ends[i - 1];
        if (from < 0 || ends[i] < from || static_cast<std::size_t>(ends[i]) > length)
            throw std::out_of_range("ends do not fit text");
        return {reinterpret_cast<const char*>(text) + from, static_cast<std::size_t>(ends[i] - from)};
    }
};

// The order of the words by their bytes; the sort is stable.
std::vector<std::int64_t> sorted_order(const WordList& words);

// The position of a word in a sorted list, or -1.
std::int64_t find_sorted(const WordList& sorted, std::string_view word);

// Appends the buckets of the character n-grams of a word in angle brackets, as fastText hashes them.
void subword_buckets(std::string_view word, std::size_t shortest, std::size_t longest, std::uint32_t buckets,
                     std::vector<std::int32_t>& out);

}  // namespace captious::vectors
