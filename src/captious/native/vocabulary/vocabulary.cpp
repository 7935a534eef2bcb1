// Splitting captions into tokens and numbering the words.
#include "vocabulary/vocabulary.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "hash.hpp"
#include "parallel.hpp"
#include "ptb/tokenizer.hpp"

namespace captious::vocabulary {
namespace {

constexpr std::size_t kCaptionsPerThread = 512;

// Length in bytes of the white-space character at the start of `text`, or 0: the set of Python's str.split().
std::size_t white_space(std::string_view text) {
    auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    unsigned first = byte(0);
    if (first < 0x80) return first == ' ' || (first >= 9 && first <= 13) || (first >= 0x1C && first <= 0x1F) ? 1 : 0;
    if (first == 0xC2) return byte(1) == 0x85 || byte(1) == 0xA0 ? 2 : 0;
    unsigned code = (first & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    if (first < 0xE1 || first > 0xE3) return 0;
    bool blank = code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 ||
                 code == 0x202F || code == 0x205F || code == 0x3000;
    return blank ? 3 : 0;
}

// Calls emit(piece) for the text between white space.
template <typename Emit>
void cut_at_white_space(std::string_view text, const Emit& emit) {
    std::size_t from = 0;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t blank = white_space(text.substr(at));
        if (blank != 0) {
            if (at > from) emit(text.substr(from, at - from));
            from = at + blank;
        }
        at += std::max<std::size_t>(blank, 1);
    }
    if (from < text.size()) emit(text.substr(from));
}

// Calls emit(token) for every token of the caption.
template <typename Emit>
void cut_caption(std::string_view caption, TokenizerRule rule, ptb::TokenBuffer& buffer, const Emit& emit) {
    if (rule == TokenizerRule::kPtb || rule == TokenizerRule::kPtbRaw) {
        ptb::tokenize(caption, buffer);
        for (std::size_t i = 0; i < buffer.size(); ++i)
            if (rule == TokenizerRule::kPtbRaw || !ptb::is_dropped_punctuation(buffer[i])) emit(buffer[i]);
    } else if (rule == TokenizerRule::kSpaces) {
        for (std::size_t from = 0, to; from != std::string_view::npos;
             from = to == std::string_view::npos ? to : to + 1) {
            to = caption.find(' ', from);
            emit(caption.substr(from, to - from));
        }
    } else {
        cut_at_white_space(caption, emit);
    }
}

}  // namespace

std::size_t Vocabulary::slot_of(std::string_view word, std::uint64_t hash) const {
    std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash & mask;
    auto tag = static_cast<std::uint32_t>(hash >> 32);
    for (; slots_[slot].word != 0; slot = (slot + 1) & mask)
        if (slots_[slot].tag == tag && same_bytes(this->word(slots_[slot].word - 1), word)) break;
    return slot;
}

std::int32_t Vocabulary::find(std::string_view word) const {
    return static_cast<std::int32_t>(slots_[slot_of(word, hash_bytes(word))].word) - 1;
}

std::int32_t Vocabulary::add(std::string_view word) {
    std::uint64_t hash = hash_bytes(word);
    std::size_t slot = slot_of(word, hash);
    if (slots_[slot].word != 0) return static_cast<std::int32_t>(slots_[slot].word) - 1;
    if (size() >= 0x7FFFFFFE) throw std::length_error("more than 2 billion distinct words");
    text_ += word;
    ends_.push_back(text_.size());
    slots_[slot] = {static_cast<std::uint32_t>(size()), static_cast<std::uint32_t>(hash >> 32)};
    if (size() * 2 > slots_.size()) grow();
    return static_cast<std::int32_t>(size()) - 1;
}

void Vocabulary::grow() {
    slots_.assign(slots_.size() * 2, {});
    std::size_t mask = slots_.size() - 1;
    for (std::size_t id = 0; id < size(); ++id) {
        std::uint64_t hash = hash_bytes(word(id));
        std::size_t slot = hash & mask;
        while (slots_[slot].word != 0) slot = (slot + 1) & mask;
        slots_[slot] = {static_cast<std::uint32_t>(id + 1), static_cast<std::uint32_t>(hash >> 32)};
    }
}

std::vector<std::int32_t> Vocabulary::ids_in(const Vocabulary& other) const {
    std::vector<std::int32_t> ids(size());
    for (std::size_t id = 0; id < size(); ++id) ids[id] = other.find(word(id));
    return ids;
}

std::vector<std::int32_t> Vocabulary::divisible() const {
    std::vector<std::int32_t> ids;
    for (std::size_t id = 0; id < size(); ++id) {
        std::string_view word = this->word(id);
        bool divisible = word.empty();
        for (std::size_t at = 0; at < word.size() && !divisible; ++at) divisible = white_space(word.substr(at)) != 0;
        if (divisible) ids.push_back(static_cast<std::int32_t>(id));
    }
    return ids;
}

FlatTokens Vocabulary::encode(const std::vector<std::string_view>& captions, TokenizerRule rule, int threads) {
    // Each piece numbers its own words; the pieces are then joined in order, which numbers all words in order.
    struct Piece {
        std::size_t begin;
        Vocabulary words;
        FlatTokens tokens;
    };
    std::size_t n = captions.size();
    std::size_t count = std::max<std::size_t>(1, std::min<std::size_t>(std::max(threads, 1), n / kCaptionsPerThread));
    if (count == 1) {
        FlatTokens out;
        ptb::TokenBuffer buffer;
        std::size_t bytes = 0;
        for (std::string_view caption : captions) bytes += caption.size();
        out.offsets.reserve(n + 1);
        out.ids.reserve(bytes / 5);  // typical of English; a larger estimate would waste memory
        for (std::string_view caption : captions) {
            cut_caption(caption, rule, buffer, [&](std::string_view token) { out.ids.push_back(add(token)); });
            out.offsets.push_back(static_cast<std::int64_t>(out.ids.size()));
        }
        return out;
    }
    std::vector<Piece> pieces(count);
    parallel_for(count, static_cast<int>(count), 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t p = begin; p < end; ++p) {
            std::vector<std::string_view> mine(captions.begin() + n * p / count,
                                               captions.begin() + n * (p + 1) / count);
            pieces[p].tokens = pieces[p].words.encode(mine, rule, 1);
        }
    });
    FlatTokens out;
    std::size_t total = 0;
    for (const Piece& piece : pieces) total += piece.tokens.ids.size();
    out.offsets.reserve(n + 1);
    out.ids.reserve(total);
    for (const Piece& piece : pieces) {
        std::vector<std::int32_t> global(piece.words.size());
        for (std::size_t id = 0; id < global.size(); ++id) global[id] = add(piece.words.word(id));
        auto shift = static_cast<std::int64_t>(out.ids.size());
        for (std::int32_t id : piece.tokens.ids) out.ids.push_back(global[id]);
        for (std::size_t i = 1; i < piece.tokens.offsets.size(); ++i)
            out.offsets.push_back(piece.tokens.offsets[i] + shift);
    }
    return out;
}

FlatTokens Vocabulary::lookup(const std::vector<std::string_view>& captions, TokenizerRule rule, int threads) const {
    std::vector<FlatTokens> pieces(
        std::max<std::size_t>(1, std::min<std::size_t>(std::max(threads, 1), captions.size() / kCaptionsPerThread)));
    std::size_t n = captions.size(), count = pieces.size();
    parallel_for(count, static_cast<int>(count), 1, [&](std::size_t begin, std::size_t end) {
        ptb::TokenBuffer buffer;
        Vocabulary unknown_words;
        for (std::size_t p = begin; p < end; ++p) {
            FlatTokens& out = pieces[p];
            for (std::size_t i = n * p / count; i < n * (p + 1) / count; ++i) {
                if (unknown_words.size() > 0) unknown_words = Vocabulary();
                auto look_up = [&](std::string_view word) {
                    std::int32_t id = find(word);
                    if (id == kUnknown) id = static_cast<std::int32_t>(size()) + unknown_words.add(word);
                    out.ids.push_back(id);
                };
                cut_caption(captions[i], rule, buffer,
                            [&](std::string_view token) { cut_at_white_space(token, look_up); });
                out.offsets.push_back(static_cast<std::int64_t>(out.ids.size()));
            }
        }
    });
    FlatTokens out = std::move(pieces[0]);
    for (std::size_t p = 1; p < count; ++p) {
        auto shift = static_cast<std::int64_t>(out.ids.size());
        out.ids.insert(out.ids.end(), pieces[p].ids.begin(), pieces[p].ids.end());
        for (std::size_t i = 1; i < pieces[p].offsets.size(); ++i) out.offsets.push_back(pieces[p].offsets[i] + shift);
    }
    return out;
}

}  // namespace captious::vocabulary
