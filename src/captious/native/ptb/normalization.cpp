// Normalization of the text of each kind of token: lower case, quotes, brackets, dashes.
#include "ptb/normalization.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ptb/lowercase.hpp"
#include "ptb/utf8.hpp"

namespace captious::ptb {

void append_lower(std::string_view text, std::string& out) {
    bool cased_before = false;
    std::size_t last_cased = std::string_view::npos;  // start of the last such letter, computed when first needed
    for (std::size_t at = 0; at < text.size();) {
        auto byte = static_cast<unsigned char>(text[at]);
        Decoded c = byte < 0x80 ? Decoded{byte, 1} : decode(text.data() + at);
        if (byte < 0x80) {
            out += static_cast<char>(byte >= 'A' && byte <= 'Z' ? byte + 32 : byte);
        } else if (c.code == 0x130) {
            out += "i\xCC\x87";
        } else if (c.code == 0x3A3) {
            if (last_cased == std::string_view::npos) {
                last_cased = at;
                for (std::size_t i = 0; i < text.size(); i += decode(text.data() + i).length) {
                    if (!is_cased(decode(text.data() + i).code)) continue;
                    cased_before |= i < at;
                    last_cased = i;
                }
            }
            encode(cased_before && last_cased <= at ? 0x3C2 : 0x3C3, out);
            cased_before = true;
        } else {
            encode(lower_code_point(c.code), out);
        }
        at += c.length;
    }
}

namespace {

std::string_view bracket_name(char c) {
    switch (c) {
        case '(': return "-lrb-";
        case ')': return "-rrb-";
        case '{': return "-lcb-";
        case '}': return "-rcb-";
        case '[': return "-lsb-";
        case ']': return "-rsb-";
        default: return {};
    }
}

std::string_view latex_quote(std::int32_t c) {
    switch (c) {
        case 0x91:
        case 0x2018:
        case 0x201B:
        case 0x2039: return "`";
        case 0x92:
        case 0x2019:
        case 0x203A: return "'";
        case 0x93:
        case 0x201C:
        case 0xAB: return "``";
        case 0x94:
        case 0x201D:
        case 0xBB: return "''";
        default: return {};
    }
}

char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

constexpr std::string_view kNoBreakSpace = "\xC2\xA0";
constexpr std::string_view kSoftHyphen = "\xC2\xAD";

// Text of a token with other characters than lower-case letters: inner spaces become non-breaking, soft hyphens are
// removed, and parentheses are spelled out if requested.
void append_odd_text(std::string_view text, bool spell_parentheses, std::string& out) {
    std::size_t start = out.size();
    for (std::size_t at = 0; at < text.size();) {
        char c = text[at];
        std::size_t length = decode(text.data() + at).length;
        if (c == ' ') {
            out += kNoBreakSpace;
        } else if (spell_parentheses && (c == '(' || c == ')')) {
            out += bracket_name(c);
        } else if (text.substr(at, 2) == kSoftHyphen) {
            // nothing
        } else {
            std::size_t run = at + length;  // one run, because the case of a sigma depends on its neighbors
            while (run < text.size() && text[run] != ' ' && text[run] != '(' && text[run] != ')' &&
                   text.substr(run, 2) != kSoftHyphen)
                run += decode(text.data() + run).length;
            append_lower(text.substr(at, run - at), out);
            length = run - at;
        }
        at += length;
    }
    if (out.size() == start) out += '-';  // nothing but soft hyphens
}

// Plain text of a token, lower-cased.
void append_text(std::string_view text, std::string& out) {
    std::size_t start = out.size();
    out += text;
    for (std::size_t i = start; i < out.size(); ++i) {
        char& c = out[i];
        if (c >= 'A' && c <= 'Z') {
            c = static_cast<char>(c + 32);
        } else if (c == ' ' || static_cast<unsigned char>(c) >= 0x80) {
            out.resize(start);
            append_odd_text(text, false, out);
            return;
        }
    }
}

void append_quotes(std::string_view text, std::string& out) {
    for (std::size_t at = 0; at < text.size();) {
        Decoded c = decode(text.data() + at);
        std::string_view quote = latex_quote(c.code);
        out += quote.empty() ? text.substr(at, c.length) : quote;
        at += c.length;
    }
}

// 's, n't: the apostrophe is normalized as a quotation mark, so that n\u2018t becomes n`t.
void append_clitic(std::string_view text, std::string& out) {
    std::size_t start = out.size();
    if (std::size_t entity = text.find("&apos;"); entity != text.npos) {
        out += text.substr(0, entity);
        out += '\'';
        out += text.substr(entity + 6);
    } else {
        append_quotes(text, out);
    }
    std::transform(out.begin() + static_cast<std::ptrdiff_t>(start), out.end(),
                   out.begin() + static_cast<std::ptrdiff_t>(start), ascii_lower);
}

void append_ampersands(std::string_view text, std::string& out) {  // AT&amp;T
    constexpr std::string_view kEntity = "&amp;";
    auto find = [&] {
        auto entity = std::search(text.begin(), text.end(), kEntity.begin(), kEntity.end(),
                                  [](char a, char b) { return ascii_lower(a) == b; });
        return entity == text.end() ? text.npos : static_cast<std::size_t>(entity - text.begin());
    };
    for (std::size_t entity; (entity = find()) != text.npos; text.remove_prefix(entity + kEntity.size())) {
        append_text(text.substr(0, entity), out);
        out += '&';
    }
    append_text(text, out);
}

// A double quotation mark, or its entity; the original leaves the entity alone if it is not in lower case.
void append_double_quote(std::string_view text, std::string_view latex, std::string& out) {
    if (text == "\"" || text == "&quot;") {
        out += latex;
    } else {
        append_text(text, out);
    }
}

}  // namespace

void append_token(Action action, std::string_view text, std::string& out) {
    switch (action) {
        case Action::text: append_text(text, out); break;
        case Action::verbatim: append_lower(text, out); break;
        case Action::bracket: out += bracket_name(text[0]); break;
        case Action::bracketed: append_odd_text(text, true, out); break;
        case Action::dotted: append_text(text, out); break;
        case Action::initial: append_lower(text.substr(0, 1), out); break;
        case Action::clitic: append_clitic(text, out); break;
        case Action::quote: append_clitic(text, out); break;
        case Action::open_quote: append_double_quote(text, "``", out); break;
        case Action::close_quote: append_double_quote(text, "''", out); break;
        case Action::opening_apostrophe: out += '`'; break;
        case Action::ampersands: append_ampersands(text, out); break;
        case Action::ampersand: out += '&'; break;
        case Action::less: out += '<'; break;
        case Action::greater: out += '>'; break;
        case Action::dash: out += "--"; break;
        case Action::hyphens: out += text.size() == 3 || text.size() == 4 ? "--" : text; break;
        case Action::ellipsis: out += "..."; break;
        case Action::currency: {
            std::int32_t c = decode(text.data()).code;
            if (c == 0xA2) {
                out += "cents";
            } else if (c == 0xA3) {
                out += '#';
            } else {
                out += c == 0x80 || c == 0xA4 || c == 0x20A0 || c == 0x20AC ? "$" : text;
            }
            break;
        }
        case Action::vulgar_fraction:
            switch (decode(text.data()).code) {
                case 0xBC: out += "1/4"; break;
                case 0xBD: out += "1/2"; break;
                case 0xBE: out += "3/4"; break;
                case 0x2153: out += "1/3"; break;
                case 0x2154: out += "2/3"; break;
                default: out += text;
            }
            break;
        case Action::nothing: break;
    }
}

}  // namespace captious::ptb
