// METEOR's own normalization of a line of English: punctuation apart, contractions cut, lower case.
//
// It comes on top of the tokenizer's: "t-shirt" becomes two words, "n't" becomes "n" and "'t". Published as the option
// -norm of METEOR 1.5, as the COCO caption harness runs it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace captious::meteor {

// Whether a word goes through unchanged, whatever stands beside it, and changes nothing there: ASCII letters in lower
// case and digits only.
bool is_plain(std::string_view word);

// The words of a line, valid UTF-8, in place of what `words` held.
void normalize(std::string_view line, std::vector<std::string>& words);

}  // namespace captious::meteor
