// Actions on matched text, as named in english.lex.
#pragma once

#include <string>
#include <string_view>

#include "ptb_tables.inc"  // generated from unicode.lex and english.lex by lexgen

namespace captious::ptb {

// Appends a word in lower case. A capital sigma becomes the final form after the last cased letter.
void append_lower(std::string_view text, std::string& out);

// Appends the result of `action` on `text`; nothing for spaces.
void append_token(Action action, std::string_view text, std::string& out);

}  // namespace captious::ptb
