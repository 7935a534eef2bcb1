// Actions on matched text, as named in english.lex.
#pragma once

#include <string>
#include <string_view>

#include "ptb_tables.inc"  // made from unicode.lex and english.lex by lexgen

namespace captious::ptb {

// Appends a word lower-cased. A capital sigma becomes the final form behind the last letter with case.
void append_lower(std::string_view text, std::string& out);

// Appends what `text` becomes under `action`; nothing for spaces.
void append_token(Action action, std::string_view text, std::string& out);

}  // namespace captious::ptb
