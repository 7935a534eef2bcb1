// Python bindings of vocabularies and of the tokenizers that fill them.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "vocabulary/shared_vocabulary.hpp"

using namespace nanobind::literals;

namespace captious {

using namespace captious::vocabulary;

void bind_vocabulary(nb::module_& m) {
    nb::enum_<TokenizerRule>(m, "TokenizerRule", "Rules that split a caption into tokens.")
        .value("ptb", TokenizerRule::kPtb,
               "Penn Treebank tokens, lower-cased, without the punctuation the COCO harness drops")
        .value("ptb_raw", TokenizerRule::kPtbRaw, "Penn Treebank tokens, lower-cased, with punctuation")
        .value("whitespace", TokenizerRule::kWhitespace, "pieces between white space, as str.split()")
        .value("spaces", TokenizerRule::kSpaces,
               "pieces between single spaces, empty ones included, as str.split(' ')");

    nb::class_<SharedVocabulary>(m, "Vocabulary", "Words numbered from 0 in order of addition.")
        .def(nb::init<>())
        .def(
            "copy",
            [](const SharedVocabulary& self) {
                auto copy = std::make_unique<SharedVocabulary>();
                std::shared_lock lock(self.mutex);
                static_cast<Vocabulary&>(*copy) = self;
                return copy.release();
            },
            nb::rv_policy::take_ownership, "A copy with the same words and ids.")
        .def(
            "arrays",
            [](const SharedVocabulary& self) {
                std::shared_lock lock(self.mutex);
                std::vector<std::uint8_t> text;
                std::vector<std::int64_t> ends;
                for (std::size_t id = 0; id < self.size(); ++id) {
                    std::string_view word = self.word(id);
                    text.insert(text.end(), word.begin(), word.end());
                    ends.push_back(static_cast<std::int64_t>(text.size()));
                }
                nb::dict out;
                out["text"] = to_numpy(std::move(text));
                out["ends"] = to_numpy(std::move(ends));
                return out;
            },
            nb::sig("def arrays(self) -> " ARRAYS),
            "The words as arrays to save: their concatenated UTF-8, and the end of each.")
        .def_static(
            "of_arrays",
            [](nb::dict arrays) {
                auto text = array_of<std::uint8_t>(arrays, "text");
                auto ends = array_of<std::int64_t>(arrays, "ends");
                auto words = std::make_unique<SharedVocabulary>();
                const char* bytes = reinterpret_cast<const char*>(text.data());
                // Python validates UTF-8; words that begin at character boundaries are then UTF-8 too.
                PyObject* checked = PyUnicode_DecodeUTF8(bytes, static_cast<Py_ssize_t>(text.size()), nullptr);
                if (checked == nullptr) throw nb::python_error();
                Py_DECREF(checked);
                std::size_t from = 0;
                for (std::int64_t end : ends) {
                    auto to = static_cast<std::size_t>(end);
                    if (end < 0 || to < from || to > text.size() || (to < text.size() && (text[to] & 0xC0) == 0x80))
                        throw nb::value_error("ends do not fit the text");
                    std::size_t before = words->size();
                    words->add(std::string_view(bytes + from, to - from));
                    if (words->size() == before) throw nb::value_error("a word occurs twice");
                    from = to;
                }
                if (from != text.size()) throw nb::value_error("ends do not fit the text");
                return words.release();
            },
            "arrays"_a, nb::rv_policy::take_ownership, nb::sig("def of_arrays(arrays: " ARRAYS ") -> Vocabulary"),
            "The vocabulary saved as `arrays`. Raises ValueError for arrays that contradict each other.")
        .def("__len__",
             [](const SharedVocabulary& self) {
                 std::shared_lock lock(self.mutex);
                 return self.size();
             })
        .def(
            "words",
            [](const SharedVocabulary& self, std::size_t first) {
                std::shared_lock lock(self.mutex);
                nb::list out;
                for (std::size_t id = first; id < self.size(); ++id) {
                    std::string_view word = self.word(id);
                    out.append(nb::str(word.data(), word.size()));
                }
                return nb::typed<nb::list, nb::str>(out);
            },
            "first"_a = 0, "Words from the id `first` on, in the order of their ids.")
        .def(
            "find",
            [](const SharedVocabulary& self, Strings words) {
                std::vector<std::int32_t> ids;
                std::vector<std::string_view> texts = utf8(words);
                std::shared_lock lock(self.mutex);
                for (std::string_view word : texts) ids.push_back(self.find(word));
                return to_numpy(std::move(ids));
            },
            "words"_a, "Ids of words; -1 for an unknown word.")
        .def(
            "add",
            [](SharedVocabulary& self, Strings words) {
                std::vector<std::int32_t> ids;
                std::vector<std::string_view> texts = utf8(words);
                std::unique_lock lock(self.mutex);
                for (std::string_view word : texts) ids.push_back(self.add(word));
                return to_numpy(std::move(ids));
            },
            "words"_a, "Ids of words, which are added if they are new.")
        .def(
            "ids_in",
            [](const SharedVocabulary& self, const SharedVocabulary& other) {
                std::shared_lock lock(self.mutex), other_lock(other.mutex);
                return to_numpy(self.ids_in(other));
            },
            "other"_a, "Id of each word in another vocabulary, or -1; int32[len(self)].")
        .def(
            "divisible",
            [](const SharedVocabulary& self) {
                std::shared_lock lock(self.mutex);
                return to_numpy(self.divisible());
            },
            "Ids of words that are empty or contain white space, which str.split() would split again.")
        .def(
            "word",
            [](const SharedVocabulary& self, std::size_t id) {
                std::shared_lock lock(self.mutex);
                if (id >= self.size()) throw nb::index_error("no word has that id");
                return nb::str(self.word(id).data(), self.word(id).size());
            },
            "id"_a)
        .def(
            "encode",
            [](SharedVocabulary& self, Strings captions, TokenizerRule rule, int threads) {
                std::vector<std::string_view> texts = utf8(captions);
                return to_numpy(without_gil([&] {
                    std::unique_lock lock(self.mutex);
                    return self.encode(texts, rule, threads);
                }));
            },
            "captions"_a, "rule"_a, "threads"_a,
            nb::sig("def encode(self, captions: tuple[str, ...], rule: TokenizerRule, threads: int) -> tuple[" INT32S
                    ", " INT64S "]"),
            "Tokenize captions and add their words: ids int32[n_tokens], offsets int64[n_captions + 1].")
        .def(
            "lookup",
            [](const SharedVocabulary& self, Strings captions, TokenizerRule rule, int threads) {
                std::vector<std::string_view> texts = utf8(captions);
                return to_numpy(without_gil([&] {
                    std::shared_lock lock(self.mutex);
                    return self.lookup(texts, rule, threads);
                }));
            },
            "captions"_a, "rule"_a, "threads"_a,
            nb::sig("def lookup(self, captions: tuple[str, ...], rule: TokenizerRule, threads: int) -> tuple[" INT32S
                    ", " INT64S "]"),
            "Words of captions, where tokens are split at white space; unknown words are not added, but numbered from\n"
            "len(self) on, starting over in every caption.");
}

}  // namespace captious
