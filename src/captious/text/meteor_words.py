"""Words of captions for METEOR: tokens with its own normalization, and the lexicon of these words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References, Stored, stored_key
from captious.native import MeteorLexicon, Vocabulary, meteor_normalize
from captious.resources.meteor_tables import MeteorTables
from captious.text.languages import BY_NAME, ENGLISH, Language
from captious.text.stems import snowball_stems, snowball_version
from captious.text.tokenizers import Tokenizer
from captious.text.tokens import TokenLayer, Tokens


@dataclass(frozen=True, eq=False)
class MeteorWords:
    """Normalized captions as word ids, with a lexicon.

    Args:
        ids: int32[n_words].
        offsets: int64[n_captions + 1]; caption i is ``ids[offsets[i]:offsets[i + 1]]``.
        vocabulary: the words; the vocabulary of candidates begins with that of their references.
        lexicon: stems, synonym sets and phrases of all words of the vocabulary.
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    vocabulary: Vocabulary
    lexicon: MeteorLexicon


@dataclass(frozen=True)
class MeteorLayer:
    """Words of references and candidates as in METEOR 1.5: English normalized (its option -norm), other languages in
    lower case.
    """

    tokenizer: Tokenizer
    tables: MeteorTables

    @property
    def language(self) -> Language:
        """Language of the tables."""
        return BY_NAME[self.tables.language]

    @property
    def stored_as(self) -> str | None:
        return stored_key("meteor-1", self.tokenizer.stored_as, self.tables.fingerprint, snowball_version())

    def to_stored(self, annotation: MeteorWords, references: References) -> Stored:
        arrays = {**annotation.vocabulary.arrays(), **annotation.lexicon.arrays()}
        return Stored({"ids": annotation.ids, "offsets": annotation.offsets, **arrays})

    def from_stored(self, stored: Stored, references: References) -> MeteorWords:
        arrays = {**stored.arrays}
        vocabulary = Vocabulary.of_arrays({name: arrays.pop(name) for name in ("text", "ends")})
        words = Tokens.checked(arrays.pop("ids"), arrays.pop("offsets"), vocabulary, len(references.texts))
        lexicon = MeteorLexicon.of_arrays(self.tables.arrays(), arrays)
        if len(lexicon) != len(vocabulary):
            raise ValueError("a lexicon of other words")
        return MeteorWords(words.ids, words.offsets, vocabulary, lexicon)

    def of_references(self, references: References) -> MeteorWords:
        tokens: Tokens = references.layer(TokenLayer(self.tokenizer))
        return _normalized(tokens, Vocabulary(), MeteorLexicon(self.tables.arrays()), self.language)

    def of_candidates(self, captions: Captions, references: MeteorWords) -> MeteorWords:
        tokens: Tokens = captions.layer(TokenLayer(self.tokenizer))[0]
        return _normalized(tokens, references.vocabulary.copy(), references.lexicon.copy(), self.language)


def _normalized(tokens: Tokens, vocabulary: Vocabulary, lexicon: MeteorLexicon, language: Language) -> MeteorWords:
    """Convert captions to METEOR's words, which are added to the vocabulary and the lexicon."""
    if language == ENGLISH:
        ids, offsets = meteor_normalize(tokens.vocabulary, tokens.ids, tokens.offsets, vocabulary)
    else:
        split = tokens.split()  # at white space, as METEOR does
        distinct, places = np.unique(split.ids, return_inverse=True)
        lower = vocabulary.add(tuple(split.vocabulary.word(number).lower() for number in distinct.tolist()))
        ids, offsets = lower[places].astype(np.int32), split.offsets
    words = vocabulary.words(len(lexicon))
    lexicon.learn(len(lexicon), tuple(words), tuple(snowball_stems(words, language)))
    return MeteorWords(ids, offsets, vocabulary, lexicon)
