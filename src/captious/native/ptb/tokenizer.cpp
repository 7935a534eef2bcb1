// Runs the tables generated from the rules by lexgen: longest match, look-ahead, next token.
#include "ptb/tokenizer.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <unordered_set>

#include "ptb/normalization.hpp"
#include "ptb/utf8.hpp"
#include "ptb_tables.inc"  // generated from unicode.lex and english.lex by lexgen

namespace captious::ptb {
namespace {

// The original reads UTF-16, in which a character above the basic plane is two units.
constexpr std::int32_t kSurrogate = 0xD800;

int class_of(std::int32_t code) { return kPages[kPageOf[code >> 8] * 256 + (code & 0xFF)]; }

const std::array<std::uint8_t, 128> kAsciiClass = [] {
    std::array<std::uint8_t, 128> table{};
    for (int c = 0; c < 128; ++c) table[c] = static_cast<std::uint8_t>(class_of(c));
    return table;
}();

// One step of an automaton over the character at `at`. Sets `accepted` to the rule accepted after it, or 0.
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

// Finds the longest match at a position. Rules such as e-mail look far ahead before they fail; so that a long
// caption without spaces does not cost the square of its length, states from which a scan has failed are remembered
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
            } else if (state == 0 ||
                       (at - match.end > kScanLimit && at / 64 != before / 64 && is_hopeless(at, state, match.end))) {
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
    static constexpr std::size_t kScanLimit = 256;

    // Whether a scan in this state at this position is known to fail; otherwise it is recorded in case it does.
    bool is_hopeless(std::size_t at, std::uint32_t state, std::size_t accepted_at) {
        if (accepted_at != trail_after_) trail_.clear();  // the earlier steps did not fail
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

}  // namespace

void tokenize(std::string_view caption, TokenBuffer& tokens) {
    tokens.clear();
    std::string scratch;
    std::string_view text = one_line(caption, scratch);
    Scanner scanner(text);
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == ' ' && at + 1 < text.size() && text[at + 1] > ' ') {  // the common space, without the automaton
            ++at;
        }
        tokens.pulse(16);
        Scanner::Match match = scanner.longest(at);
        if (match.rule == 0) {  // a character without a rule is dropped
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
    static constexpr std::string_view kDropped[] = {"''", "'", "``", "`",  ".",   "?", "!",
                                                    ",",  ":", "-",  "--", "...", ";"};
    if (token.size() > 3 || (token[0] >= 'a' && token[0] <= 'z')) return false;  // most tokens need no search
    return std::find(std::begin(kDropped), std::end(kDropped), token) != std::end(kDropped);
}

}  // namespace captious::ptb
