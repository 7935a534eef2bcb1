"""Copies of toolkits for tests: the toolkit of PyPI under other names, with changes, and small ones of our own.

Nothing of a toolkit is kept here. ``AUTHORS`` and ``MESHED_MEMORY`` have the shapes of packages that are not on PyPI;
their CIDEr-D is written from the paper, and ``known_shapes`` makes it known.
"""

from __future__ import annotations

import ast
import importlib
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from captious.compat import replacements
from captious.compat.copies import known_bodies
from captious.compat.copies.known_bodies import Body
from captious.compat.copies.normal_form import functions
from captious.resources.fetch import installed_folder

#: Classes of the toolkit by their modules.
CLASSES = {
    "bleu.bleu": "Bleu",
    "bleu.bleu_scorer": "BleuScorer",
    "cider.cider": "Cider",
    "cider.cider_scorer": "CiderScorer",
    "meteor.meteor": "Meteor",
    "rouge.rouge": "Rouge",
    "spice.spice": "Spice",
    "tokenizer.ptbtokenizer": "PTBTokenizer",
}

#: CIDEr-D of images, written from its paper; the names are those of the toolkits.
_COUNTS = """
import numpy as np

def grams(text, n):
    words = text.split()
    return [" ".join(words[i : i + n]) for i in range(len(words) - n + 1)]

def vector(text, n, df, documents):
    found = grams(text, n)
    return {gram: found.count(gram) * (np.log(documents) - np.log(max(1.0, df.get(gram, 0)))) for gram in set(found)}

def similarity(candidate, reference, n, df, documents, sigma):
    a, b = (vector(text, n, df, documents) for text in (candidate, reference))
    norms = [np.sqrt(sum(x * x for x in v.values())) for v in (a, b)]
    value = sum(min(x, b.get(gram, 0.0)) * b.get(gram, 0.0) for gram, x in a.items())
    value = value / (norms[0] * norms[1]) if all(norms) else value
    lengths = [max(len(text.split()) - 1, 0) for text in (candidate, reference)]
    return value * np.exp(-((lengths[0] - lengths[1]) ** 2) / (2 * sigma**2))

def score(images, sigma=6.0):
    df = {}
    for _, references in images:
        for gram in {gram for text in references for n in (1, 2, 3, 4) for gram in grams(text, n)}:
            df[gram] = df.get(gram, 0) + 1
    scores = [
        10 * np.mean([[similarity(candidate, text, n, df, float(len(images)), sigma) for n in (1, 2, 3, 4)]
                      for text in references])
        for candidate, references in images
    ]
    return np.mean(scores), np.array(scores)
"""
#: The rewards of the authors' code: path -> source.
AUTHORS = {
    "counts.py": _COUNTS,
    "ciderD/ciderD.py": """
from .ciderD_scorer import CiderScorer

class CiderD:
    def __init__(self, n=4, sigma=6.0, df="corpus"):
        self._n, self._sigma, self._df = n, sigma, df
        self.cider_scorer = CiderScorer(n=n, df_mode=df)
    def compute_score(self, gts, res):
        self.cider_scorer.clear()
        for candidate in res:
            self.cider_scorer += (candidate["caption"][0], gts[candidate["image_id"]])
        return self.cider_scorer.compute_score()
    def method(self):
        return "CIDEr-D"
""",
    "ciderD/ciderD_scorer.py": """
from ..counts import score

class CiderScorer(object):
    def __init__(self, df_mode="corpus", test=None, refs=None, n=4, sigma=6.0):
        self.images, self.sigma, self.n, self.df_mode = [], sigma, n, df_mode
    def __iadd__(self, other):
        self.images.append(other)
        return self
    def clear(self):
        self.images = []
    def compute_score(self, df_mode=None, option=None, verbose=0):
        return score(self.images, self.sigma)
""",
}
#: The package of the meshed-memory transformer's code.
MESHED_MEMORY = {
    "__init__.py": "from .cider import Cider\nfrom .tokenizer import PTBTokenizer\n",
    "counts.py": _COUNTS,
    "cider/__init__.py": "from .cider import Cider\n",
    "cider/cider.py": """
from .cider_scorer import CiderScorer

class Cider:
    def __init__(self, gts=None, n=4, sigma=6.0):
        self._n, self._sigma, self.doc_frequency, self.ref_len = n, sigma, None, None
    def compute_score(self, gts, res):
        assert gts.keys() == res.keys()
        assert all(type(texts) is list and len(texts) == 1 and type(texts[0]) is str for texts in res.values())
        return CiderScorer(gts, test=res, n=self._n, sigma=self._sigma).compute_score()
    def __str__(self):
        return "CIDEr"
""",
    "cider/cider_scorer.py": """
from ..counts import score

class CiderScorer(object):
    def __init__(self, refs, test=None, n=4, sigma=6.0, doc_frequency=None, ref_len=None):
        self.images, self.sigma = [(test[key][0], refs[key]) for key in refs], sigma
    def compute_score(self):
        return score(self.images, self.sigma)
""",
    "tokenizer.py": """
import os
import subprocess
import tempfile

class PTBTokenizer(object):
    dropped = ["''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-", ".", "?", "!", ",", ":", "-", "--", "...", ";"]
    @classmethod
    def tokenize(cls, corpus):
        groups = {i: [group] if isinstance(group, str) else group for i, group in enumerate(corpus)}
        with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False) as file:
            file.write("\\n".join(text for group in groups.values() for text in group))
        command = ["java", "-cp", "stanford-corenlp-3.4.1.jar", "edu.stanford.nlp.process.PTBTokenizer"]
        process = subprocess.Popen(command + ["-preserveLines", "-lowerCase", file.name], stdout=subprocess.PIPE)
        lines = iter(process.communicate()[0].decode().split("\\n"))
        os.remove(file.name)
        kept = lambda line: " ".join(word for word in line.split() if word not in cls.dropped)
        return {i: [kept(next(lines)) for _ in group] for i, group in groups.items()}
""",
}


def copy_toolkit(folder: Path, changes: Mapping[str, tuple[str, str]] | None = None, *, flat: bool = False) -> None:
    """Copy the installed toolkit, without its jars.

    Args:
        folder: where to.
        changes: path in the toolkit -> text and what it is replaced by.
        flat: all files in one folder.
    """
    installed = installed_folder("pycocoevalcap")
    if installed is None:
        pytest.skip("no pycocoevalcap")
    left_out = shutil.ignore_patterns("*.jar", "*.gz", "lib", "example", "__pycache__")
    shutil.copytree(installed, folder, ignore=left_out, dirs_exist_ok=True)
    for path, (old, new) in (changes or {}).items():
        text = (folder / path).read_text()
        assert old in text, f"{path} has no {old!r}"
        (folder / path).write_text(text.replace(old, new))
    if flat:
        for path in [*folder.glob("*/*.py")]:
            if path.name != "__init__.py":
                path.rename(folder / path.name)
        for path in [path for path in folder.iterdir() if path.is_dir()]:
            shutil.rmtree(path)


#: Files of the two -> modules of the published toolkits.
_ROLES = {
    "ciderD/ciderD.py": "ciderD",
    "ciderD/ciderD_scorer.py": "ciderD_scorer",
    "cider/cider.py": "m2_cider",
    "cider/cider_scorer.py": "m2_cider_scorer",
}


@contextmanager
def known_shapes() -> Iterator[None]:
    """Return a context in which the bodies of ``AUTHORS`` and ``MESHED_MEMORY`` are known."""
    added = {}
    for path, source in [*AUTHORS.items(), *MESHED_MEMORY.items()]:
        for function in functions(ast.parse(source)).values():
            roles = [_ROLES[path]] if path in _ROLES else [*_ROLES.values()]
            added[function.digest] = [Body(f"{role}.{function.name}", {}, function.marks) for role in roles]
    with mock.patch.dict(known_bodies.by_digest(), added):
        yield


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write a copy, with an ``__init__.py`` in every folder."""
    for path, source in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source)
        for above in (file.parent, folder):
            (above / "__init__.py").touch()


def imported(module: str, name: str) -> Any:
    """Return a class of a module."""
    return getattr(importlib.import_module(module), name)


def ours(module: str) -> Any:
    """Return the class of captious for a module of the toolkit."""
    return imported(f"captious.compat.pycocoevalcap.{module}", CLASSES[module])


def what_became_of(module: str, name: str) -> tuple[str, str]:
    """Return whether a class was "replaced" or "kept", with the reason; the last that was said of it."""
    events = [event for event in replacements() if (event.get("module"), event.get("name")) == (module, name)]
    return (events[-1]["event"], events[-1].get("reason", "")) if events else ("", "")


#: Classes by the names of their files.
BY_FILE = {module.partition(".")[2]: name for module, name in CLASSES.items()}


def is_replaced(module: str) -> bool:
    """Import a module of a copy, and return whether captious computes its class."""
    name = BY_FILE[module.rpartition(".")[2]]
    imported(module, name)
    return what_became_of(module, name)[0] == "replaced"
