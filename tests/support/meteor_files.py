"""METEOR's files in small: a jar and a paraphrase table with a few made-up words, of the published form."""

from __future__ import annotations

import gzip
import zipfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.oracles.meteor import Phrase, Tables

JAR = "meteor-1.5.jar"
PARAPHRASES = "paraphrase-en.gz"
SYNSETS, EXCEPTIONS = "synonym/english.synsets", "synonym/english.exceptions"
FUNCTION_WORDS = "function/english.words"


@dataclass(frozen=True)
class MeteorFiles:
    """Content of the files of METEOR.

    Args:
        synsets: numbers of the synonym sets of words.
        exceptions: base forms and their irregular forms.
        function_words: one or more.
        pairs: phrases and paraphrases, in the order of the table; one or more.
    """

    synsets: Mapping[str, Sequence[int]] = field(default_factory=lambda: {"car": [1], "automobile": [1, 2]})
    exceptions: Mapping[str, Sequence[str]] = field(default_factory=lambda: {"go": ["went"]})
    function_words: Sequence[str] = ("the", "of")
    pairs: Sequence[tuple[str, str]] = (("in front of", "before"), ("before", "in front of"))

    def members(self) -> dict[str, bytes]:
        """Return the files in the jar."""
        synsets = [line for word, ids in self.synsets.items() for line in (word, " ".join(map(str, ids)))]
        exceptions = [line for base, forms in self.exceptions.items() for line in (base, " ".join(forms))]
        lines = {SYNSETS: synsets, EXCEPTIONS: exceptions, FUNCTION_WORDS: self.function_words}
        return {name: "".join(f"{line}\n" for line in of_file).encode() for name, of_file in lines.items()}

    def table(self) -> bytes:
        """Return the paraphrase table, unpacked."""
        return "".join(f"0.25\n{left}\n{right}\n" for left, right in self.pairs).encode()

    def write(self, folder: Path, *, data: str = "data") -> Path:
        """Write both files as pycocoevalcap lays them out; ``data=""`` puts the table beside the jar."""
        (folder / data).mkdir(parents=True, exist_ok=True)
        write_jar(folder / JAR, self.members())
        (folder / data / PARAPHRASES).write_bytes(gzip.compress(self.table(), mtime=0))
        return folder

    def oracle(self) -> Tables:
        """Return the same for the oracle."""
        bases: dict[str, list[str]] = defaultdict(list)
        for base, forms in self.exceptions.items():
            for form in forms:
                bases[form].append(base)
        paraphrases: dict[Phrase, list[Phrase]] = defaultdict(list)
        for left, right in self.pairs:
            paraphrases[tuple(left.split())].append(tuple(right.split()))
        synsets = {word: set(ids) for word, ids in self.synsets.items()}
        return Tables(synsets, dict(bases), frozenset(self.function_words), dict(paraphrases))


def write_jar(path: Path, members: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as jar:
        for name, content in members.items():
            jar.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
