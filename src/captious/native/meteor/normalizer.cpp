// The passes of the normalizer, one after the other over the whole line. A pass reads from left to right and continues
// after its replacement, so of two overlapping matches only the first changes.
#include "meteor/normalizer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ptb/normalization.hpp"
#include "ptb/utf8.hpp"

namespace captious::meteor {
namespace {

using Line = std::u32string;
using Char = char32_t;

constexpr Char kKeptDot = 0x110000;  // not a character: a dot in a run of dots, which no rule may change

bool is_digit(Char c) { return c >= '0' && c <= '9'; }
bool is_ascii_lower(Char c) { return c >= 'a' && c <= 'z'; }

// Latin, Cyrillic and phonetic letters; all others count as signs.
bool is_letter(Char c) {
    if (c < 0x80) return is_ascii_lower(c) || (c >= 'A' && c <= 'Z');
    return (c >= 0xC0 && c <= 0x17E && c != 0xD7 && c != 0xF7) || (c >= 0x400 && c <= 0x527) ||
           (c >= 0xA640 && c <= 0xA66E) || (c >= 0xA67E && c <= 0xA697) || (c >= 0x1D00 && c <= 0x1D7F);
}

bool is_ascii_space(Char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool separates(Char c) { return is_ascii_space(c) && c != '\v'; }  // the separators of Java's StringTokenizer
bool is_other_space(Char c) {
    return c == 0xA0 || (c >= 0x2000 && c <= 0x200A) || c == 0x202F || c == 0x205F || c == 0x3000;
}

// Rewrites "left middle right" to "left, instead, right".
template <typename Left, typename Right>
void rewrite(Line& line, const Left& left, Char middle, const Right& right, std::u32string_view instead) {
    if (line.find(middle) == Line::npos) return;
    Line out;
    for (std::size_t i = 0; i < line.size();) {
        if (i + 2 < line.size() && line[i + 1] == middle && left(line[i]) && right(line[i + 2])) {
            out += line[i];
            out += instead;
            out += line[i + 2];
            i += 3;
        } else {
            out += line[i++];
        }
    }
    line.swap(out);
}

// Rewrites every `from` to `to`.
void replace(Line& line, std::u32string_view from, std::u32string_view to) {
    for (std::size_t at = line.find(from); at != Line::npos; at = line.find(from, at + to.size()))
        line.replace(at, from.size(), to);
}

void set_signs_apart(Line& line) {
    Line out;
    for (Char c : line) {
        bool stays = is_letter(c) || is_digit(c) || is_ascii_space(c) || c == '.' || c == '\'' || c == '`' ||
                     c == ',' || c == '-' || c == 0x2018 || c == 0x2019;
        if (!stays) out += U' ';
        out += c;
        if (!stays) out += U' ';
    }
    line.swap(out);
}

void set_runs_of_dots_apart(Line& line) {
    if (line.find(U"..") == Line::npos) return;
    Line out;
    for (std::size_t i = 0; i < line.size();) {
        std::size_t end = std::min(line.find_first_not_of(U'.', i), line.size());
        if (end - i < 2) {
            out += line[i++];
            continue;
        }
        out += U' ';
        out.append(end - i, kKeptDot);
        out += U' ';
        i = end;
    }
    line.swap(out);
}

void set_commas_apart(Line& line) {
    auto digit = is_digit;
    auto no_digit = [](Char c) { return !is_digit(c); };
    rewrite(line, no_digit, U',', no_digit, U" , ");
    rewrite(line, digit, U',', no_digit, U" , ");
    rewrite(line, no_digit, U',', digit, U" , ");
}

void unify_quotes_and_dashes(Line& line) {
    for (Char& c : line)
        if (c == '`' || c == 0x2018 || c == 0x2019) c = '\'';
    replace(line, U"\u201C", U" \" ");
    replace(line, U"\u201D", U" \" ");
    replace(line, U"''", U" \" ");
    replace(line, U"\u2013", U"-");
    replace(line, U"--", U"-");
    rewrite(
        line, [](Char c) { return is_letter(c) || is_digit(c) || c == '.'; }, U'-',
        [](Char c) { return is_letter(c) || is_digit(c); }, U" ");
}

void cut_contractions(Line& line) {
    auto letter = is_letter;
    auto no_letter = [](Char c) { return !is_letter(c); };
    auto neither = [](Char c) { return !is_letter(c) && !is_digit(c); };
    rewrite(line, no_letter, U'\'', no_letter, U" ' ");
    rewrite(line, neither, U'\'', letter, U" ' ");
    rewrite(line, letter, U'\'', no_letter, U" ' ");
    rewrite(line, letter, U'\'', letter, U" '");
    rewrite(line, is_digit, U'\'', [](Char c) { return c == 's'; }, U" '");
}

enum class Abbreviation { kNone, kAlways, kBeforeNumber };

// Whether a dot after this word belongs to it. METEOR's case-sensitive list of English abbreviations.
Abbreviation abbreviation(const Line& word) {
    static const std::u32string_view kAlways[] = {
        U"Adj",   U"Adm", U"Adv",  U"Asst", U"Bart", U"Bldg", U"Brig", U"Bros", U"Capt", U"Cmdr",   U"Col",
        U"Comdr", U"Con", U"Corp", U"Cpl",  U"DR",   U"Dr",   U"Drs",  U"Ens",  U"Gen",  U"Gov",    U"Hon",
        U"Hosp",  U"Hr",  U"Insp", U"Lt",   U"MM",   U"MR",   U"MRS",  U"MS",   U"Maj",  U"Messrs", U"Mlle",
        U"Mme",   U"Mr",  U"Mrs",  U"Ms",   U"Msgr", U"Nos",  U"Nr",   U"Op",   U"Ord",  U"Pfc",    U"Ph",
        U"Prof",  U"Pvt", U"Rep",  U"Reps", U"Res",  U"Rev",  U"Rt",   U"Sen",  U"Sens", U"Sfc",    U"Sgt",
        U"Sr",    U"St",  U"Supt", U"Surg", U"e.g",  U"i.e",  U"rev",  U"v",    U"vs"};
    if (word.size() == 1 && word[0] >= 'A' && word[0] <= 'Z') return Abbreviation::kAlways;
    if (word == U"No" || word == U"Art" || word == U"pp") return Abbreviation::kBeforeNumber;
    bool listed = std::find(std::begin(kAlways), std::end(kAlways), word) != std::end(kAlways);
    return listed ? Abbreviation::kAlways : Abbreviation::kNone;
}

std::vector<Line> cut(const Line& line) {
    std::vector<Line> pieces;
    for (std::size_t i = 0; i < line.size();) {
        std::size_t from = i;
        while (i < line.size() && !separates(line[i])) ++i;
        if (i > from) pieces.push_back(line.substr(from, i - from));
        while (i < line.size() && separates(line[i])) ++i;
    }
    return pieces;
}

// A dot at the end of a word: removed with all others of an acronym, kept after an abbreviation, otherwise split off.
Line settle_final_dots(const std::vector<Line>& pieces) {
    Line out;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        Line piece = pieces[i];
        if (piece.size() > 1 && piece.back() == '.') {
            Line head = piece.substr(0, piece.size() - 1);
            Abbreviation kind = abbreviation(head);
            Char next = i + 1 < pieces.size() ? pieces[i + 1][0] : U'\0';
            bool acronym = head.find(U'.') != Line::npos && std::any_of(head.begin(), head.end(), is_letter);
            bool kept = kind == Abbreviation::kAlways || is_ascii_lower(next) ||
                        (kind == Abbreviation::kBeforeNumber && is_digit(next));
            if (acronym) {
                std::erase(piece, U'.');
            } else if (!kept) {
                piece = head + U" .";
            }
        }
        out += piece;
        out += U' ';
    }
    return out;
}

}  // namespace

bool is_plain(std::string_view word) {
    return !word.empty() && std::all_of(word.begin(), word.end(),
                                        [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
}

void normalize(std::string_view text, std::vector<std::string>& words) {
    Line line = U" ";
    for (std::size_t at = 0; at < text.size();) {
        ptb::Decoded c = ptb::decode(text.data() + at);
        line += static_cast<Char>(c.code);
        at += c.length;
    }
    line += U' ';
    set_signs_apart(line);
    set_runs_of_dots_apart(line);
    set_commas_apart(line);
    unify_quotes_and_dashes(line);
    cut_contractions(line);
    line = settle_final_dots(cut(line));
    for (Char& c : line)
        if (is_other_space(c)) c = U' ';
    words.clear();
    std::string utf8;
    for (const Line& word : cut(line)) {
        utf8.clear();
        for (Char c : word) ptb::encode(c == kKeptDot ? '.' : static_cast<std::int32_t>(c), utf8);
        words.emplace_back();
        ptb::append_lower(utf8, words.back());
    }
}

}  // namespace captious::meteor
