#include "tokenizer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_set>

#include "lowercase.hpp"
#include "ptb_tables.inc"  // made from unicode.lex and english.lex by lexgen

namespace captious::ptb {
namespace {

constexpr std::int32_t kSurrogate = 0xD800;  // the original reads UTF-16: above the basic plane a character is two units

struct Decoded {
    std::int32_t code;
    std::size_t length;
};

Decoded decode(const char* p) {
    auto b = [p](int i) { return static_cast<std::int32_t>(static_cast<unsigned char>(p[i])); };
    if (b(0) < 0x80) return {b(0), 1};
    if (b(0) < 0xE0) return {(b(0) & 0x1F) << 6 | (b(1) & 0x3F), 2};
    if (b(0) < 0xF0) return {(b(0) & 0x0F) << 12 | (b(1) & 0x3F) << 6 | (b(2) & 0x3F), 3};
    return {(b(0) & 0x07) << 18 | (b(1) & 0x3F) << 12 | (b(2) & 0x3F) << 6 | (b(3) & 0x3F), 4};
}

void encode(std::int32_t c, std::string& out) {
    if (c < 0x80) {
        out += static_cast<char>(c);
    } else if (c < 0x800) {
        out += static_cast<char>(0xC0 | c >> 6);
        out += static_cast<char>(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        out += static_cast<char>(0xE0 | c >> 12);
        out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
        out += static_cast<char>(0x80 | (c & 0x3F));
    } else {
        out += static_cast<char>(0xF0 | c >> 18);
        out += static_cast<char>(0x80 | (c >> 12 & 0x3F));
        out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
        out += static_cast<char>(0x80 | (c & 0x3F));
    }
}

int class_of(std::int32_t code) { return kPages[kPageOf[code >> 8] * 256 + (code & 0xFF)]; }

const std::array<std::uint8_t, 128> kAsciiClass = [] {
    std::array<std::uint8_t, 128> table{};
    for (int c = 0; c < 128; ++c) table[c] = static_cast<std::uint8_t>(class_of(c));
    return table;
}();

// One step of an automaton over the character at `at`. Sets `accepted` to the rule accepted behind it, or 0.
struct Step {
    std::uint32_t state;
    std::size_t next;
    std::uint8_t accepted;
};

Step step(const std::uint16_t* next, const std::uint8_t* accept, std::uint32_t state, std::string_view text,
          std::size_t at) {
    auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) {
        state = next[state * kStride + kAsciiClass[byte]];
        return {state, at + 1, accept[state]};
    }
    Decoded c = decode(text.data() + at);
    if (c.length < 4) {
        state = next[state * kStride + class_of(c.code)];
        return {state, at + c.length, accept[state]};
    }
    int unit = class_of(kSurrogate);
    std::uint32_t half = next[state * kStride + unit];
    state = next[half * kStride + unit];
    return {state, at + 4, accept[state] ? accept[state] : accept[half]};
}

// Finds the longest match at a position. Rules such as e-mail look far ahead before they give up; so that a long
// caption without blanks does not cost the square of its length, states from which a scan has failed are remembered
// at the first character of every 64 bytes.
class Scanner {
public:
    explicit Scanner(std::string_view text) : text_(text) {}

    struct Match {
        std::size_t end = 0;
        int rule = 0;  // from 1; 0 is no match
    };

    Match longest(std::size_t from) {
        Match match{from, 0};
        std::uint32_t state = 1;
        for (std::size_t at = from; at < text_.size();) {
            std::size_t before = at;
            std::uint8_t accepted;
            if (auto byte = static_cast<unsigned char>(text_[at]); byte < 0x80) {
                state = kMain_next[state * kStride + kAsciiClass[byte]];
                accepted = kMain_accept[state];
                ++at;
            } else {
                Step s = step(kMain_next, kMain_accept, state, text_, at);
                state = s.state;
                accepted = s.accepted;
                at = s.next;
            }
            if (accepted) {
                match = {at, accepted};
            } else if (state == 0 || (at - match.end > kPatience && at / 64 != before / 64 && is_hopeless(at, state, match.end))) {
                break;
            }
        }
        if (!trail_.empty()) {
            hopeless_.insert(trail_.begin(), trail_.end());
            trail_.clear();
        }
        return match;
    }

    // Where the token of a look-ahead rule ends: its longest head whose tail reaches exactly to `end`.
    std::size_t head_end(const LexRule& rule, std::size_t from, std::size_t end) {
        heads_.clear();
        std::uint32_t state = 1;
        for (std::size_t at = from; at < end && state != 0;) {
            Step s = step(rule.head_next, rule.head_accept, state, text_, at);
            state = s.state;
            at = s.next;
            if (s.accepted) heads_.push_back(at);
        }
        for (auto head = heads_.rbegin(); head != heads_.rend(); ++head) {
            bool accepted = false;
            std::uint32_t tail = 1;
            for (std::size_t at = *head; at < end && tail != 0;) {
                Step s = step(rule.tail_next, rule.tail_accept, tail, text_, at);
                tail = s.state;
                at = s.next;
                accepted = s.accepted && at == end;
            }
            if (accepted) return *head;
        }
        return end;  // not reached: the whole pattern matched
    }

private:
    static constexpr std::size_t kPatience = 256;

    // Whether a scan in this state at this position is known to fail; otherwise it is noted, for the case that it does.
    bool is_hopeless(std::size_t at, std::uint32_t state, std::size_t accepted_at) {
        if (accepted_at != trail_after_) trail_.clear();  // what went before was no failure
        trail_after_ = accepted_at;
        std::uint64_t here = static_cast<std::uint64_t>(at) << 16 | state;
        if (hopeless_.contains(here)) return true;
        trail_.push_back(here);
        return false;
    }

    std::string_view text_;
    std::vector<std::uint64_t> trail_;  // positions and states since the last accepted position
    std::size_t trail_after_ = 0;
    std::vector<std::size_t> heads_;
    std::unordered_set<std::uint64_t> hopeless_;
};

bool is_line_break_or_control(std::string_view text, std::size_t at, std::size_t& length) {
    auto byte = static_cast<unsigned char>(text[at]);
    length = 1;
    if (byte < 0x20) return byte != '\t';
    if (byte == 0x7F) return true;
    if (byte != 0xE2) return false;
    length = 3;
    return text[at + 1] == '\x80' && (text[at + 2] == '\xA8' || text[at + 2] == '\xA9');  // U+2028, U+2029
}

// The caption with line breaks and control characters turned into spaces; `scratch` holds it if anything changed.
std::string_view one_line(std::string_view caption, std::string& scratch) {
    std::size_t length = 1;
    bool clean = std::none_of(caption.begin(), caption.end(), [](char c) {
        auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && byte != '\t') || byte == 0x7F || byte == 0xE2;
    });
    if (clean) return caption;
    scratch.clear();
    for (std::size_t at = 0; at < caption.size();) {
        if (is_line_break_or_control(caption, at, length)) {
            scratch += ' ';
        } else {
            scratch.append(caption, at, length);
        }
        at += length;
    }
    return scratch;
}

// Appends `text` lower-cased. A capital sigma becomes the final form behind the last letter with case.
void append_lower(std::string_view text, std::string& out) {
    bool cased_before = false;
    std::size_t last_cased = std::string_view::npos;  // where the last such letter begins; found when first needed
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
        case 0x91: case 0x2018: case 0x201B: case 0x2039: return "`";
        case 0x92: case 0x2019: case 0x203A: return "'";
        case 0x93: case 0x201C: case 0xAB: return "``";
        case 0x94: case 0x201D: case 0xBB: return "''";
        default: return {};
    }
}

char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

constexpr std::string_view kNoBreakSpace = "\xC2\xA0";
constexpr std::string_view kSoftHyphen = "\xC2\xAD";

// Text of a token that is more than lower-case letters: inner spaces become unbreakable, soft hyphens go, and
// parentheses are spelled out if asked.
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
            std::size_t run = at + length;  // one run, because the case of a sigma depends on its neighbours
            while (run < text.size() && text[run] != ' ' && text[run] != '(' && text[run] != ')' && text.substr(run, 2) != kSoftHyphen)
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

// 's, n't: the apostrophe is normalised as a quotation mark, so that n\u2018t becomes n`t.
void append_clitic(std::string_view text, std::string& out) {
    std::size_t start = out.size();
    if (std::size_t entity = text.find("&apos;"); entity != text.npos) {
        out += text.substr(0, entity);
        out += '\'';
        out += text.substr(entity + 6);
    } else {
        append_quotes(text, out);
    }
    std::transform(out.begin() + static_cast<std::ptrdiff_t>(start), out.end(), out.begin() + static_cast<std::ptrdiff_t>(start), ascii_lower);
}

void append_ampersands(std::string_view text, std::string& out) {  // AT&amp;T
    constexpr std::string_view kEntity = "&amp;";
    auto find = [&] {
        auto found = std::search(text.begin(), text.end(), kEntity.begin(), kEntity.end(), [](char a, char b) { return ascii_lower(a) == b; });
        return found == text.end() ? text.npos : static_cast<std::size_t>(found - text.begin());
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

// Appends what `text` becomes under `action`; nothing for blanks.
void append_token(Action action, std::string_view text, std::string& out) {
    switch (action) {
        case Action::text: append_text(text, out); break;
        case Action::verbatim: append_lower(text, out); break;
        case Action::bracket: out += bracket_name(text[0]); break;
        case Action::bracketed: append_odd_text(text, true, out); break;
        case Action::dotted: append_text(text, out); break;
        case Action::initial: append_lower(text.substr(0, 1), out); break;
        case Action::clitic: append_clitic(text, out); break;
        case Action::quote: append_quotes(text == "&apos;" ? "'" : text, out); break;
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

}  // namespace

void tokenize(std::string_view caption, TokenBuffer& tokens) {
    tokens.clear();
    std::string scratch;
    std::string_view text = one_line(caption, scratch);
    Scanner scanner(text);
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == ' ' && at + 1 < text.size() && text[at + 1] > ' ') {  // the common blank, without the automaton
            ++at;
        }
        Scanner::Match match = scanner.longest(at);
        if (match.rule == 0) {  // a character that no rule knows is dropped
            at += decode(text.data() + at).length;
            continue;
        }
        const LexRule& rule = kRules[match.rule - 1];
        std::size_t end = rule.head_next ? scanner.head_end(rule, at, match.end) : match.end;
        std::size_t before = tokens.text.size();
        append_token(rule.action, text.substr(at, end - at), tokens.text);
        if (tokens.text.size() > before) tokens.ends.push_back(static_cast<std::uint32_t>(tokens.text.size()));
        bool dot_again = rule.action == Action::dotted || rule.action == Action::initial;  // it also ends the sentence
        at = dot_again ? end - 1 : end;
    }
}

bool is_dropped_punctuation(std::string_view token) {
    static constexpr std::string_view kDropped[] = {"''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "...", ";"};
    return token.size() <= 3 && std::find(std::begin(kDropped), std::end(kDropped), token) != std::end(kDropped);
}

}  // namespace captious::ptb
