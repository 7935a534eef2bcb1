// METEOR's own normalization of a line of English: separates punctuation, splits contractions, lowers case.
//
// It is applied after the tokenizer: "t-shirt" becomes two words, "n't" becomes "n" and "'t". Published as the option
// -norm of METEOR 1.5, as the COCO caption harness runs it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace captious::meteor {

// Whether a word stays unchanged in any context and does not affect its neighbors: lower-case ASCII letters
// and digits only.
bool is_plain(std::string_view word);

// The words of a line (valid UTF-8), which replace the content of `words`.
void normalize(std::string_view line, std::vector<std::string>& words);

}  // namespace captious::meteor
