"""Writes src/captious/learned/abstract.txt: words that name nothing which can be seen, by WordNet.

    python training/concur/abstract.py /usr/share/wordnet

The folder is that of synonyms.py. Of the frequent words of English that captions hardly use, these are adjectives,
adverbs, and nouns whose first senses are attributes, feelings, states and the like. Sentences about a picture as a
whole consist of them ("evokes a sense of nostalgia"), and the metric concur leaves such sentences out.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import fill

from wordfreq import top_n_list

from captious.learned.caption_weights import CaptionWeights
from synonyms import PLURALS, SENSES, frequencies, read_license, senses

_FILE = Path(__file__).parents[2] / "src" / "captious" / "learned" / "abstract.txt"
_WORDS = 30_000  # frequent ones of English
_OF_CAPTIONS = 2_000  # most frequent words of captions, which describe what is seen
#: Lexicographer files of nouns that name nothing which can be seen, by number.
_ABSTRACT = {
    **{7: "attribute", 9: "cognition", 12: "feeling", 16: "motive"},
    **{22: "process", 24: "relation", 26: "state", 28: "time"},
}


def _nouns(folder: Path) -> Mapping[str, list[int]]:
    """Return the numbers of the lexicographer files of the senses of each noun, the most frequent first."""
    lines = (folder / "data.noun").read_text("utf-8").splitlines()
    files = {line.split(" ", 1)[0]: int(line.split(" ", 2)[1]) for line in lines if not line.startswith(" ")}
    return {lemma: [files[offset] for offset in offsets] for lemma, offsets in senses(folder, "noun").items()}


def _forms(word: str) -> Iterator[str]:
    """Yield a word, and what it may be the plural of."""
    yield word
    yield from (word[: -len(s)] + r for s, r in PLURALS if word.endswith(s))


def _words(folder: Path) -> list[str]:
    of_captions = {*CaptionWeights.load().words[:_OF_CAPTIONS]}
    nouns, uses = _nouns(folder), frequencies(folder)
    described = senses(folder, "adj").keys() | senses(folder, "adv").keys()
    found = []
    for word in top_n_list("en", _WORDS):
        lemma = next((form for form in _forms(word) if form in nouns or form in described), "")
        if not lemma or word in of_captions or not re.fullmatch(r"[a-z]+(?:-[a-z]+)*", word):
            continue
        of = uses[lemma]
        is_verb = of["2"] > max(of["1"], of["3"] + of["5"], of["4"])
        if _ABSTRACT.keys() >= {*nouns.get(lemma, [])[:SENSES]} and not (lemma == word and is_verb):
            found.append(word)
    return sorted(found)


if __name__ == "__main__":
    words = _words(Path(sys.argv[1]))
    header = [f"Words that name nothing which can be seen, made by {Path(__file__).name} from WordNet 3.0."]
    lines = [f"# {line}".rstrip() for line in header + read_license().splitlines()[1:]]
    text = fill(" ".join(words), 120, break_on_hyphens=False)
    _FILE.write_text("\n".join([*lines, "", "[abstract]", text, ""]), "utf-8")
    print(f"{_FILE}: {len(words):,} words")
