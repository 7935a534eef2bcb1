"""Sources of small copies of a toolkit, in the shapes that repositories carry along.

They have the names, signatures and constants by which a copy is recognized. What they compute is not the toolkit's:
whoever calls a method of them gets ``RAN``, so a test sees whether the copy or captious did the work.
"""

from __future__ import annotations

from pathlib import Path

RAN = "the copy ran"

_BLEU = f"""
from .bleu_scorer import BleuScorer

class Bleu:
    def __init__(self, n=4):
        self._n = n
    def compute_score(self, gts, res, verbose=1):
        scorer = BleuScorer(n=self._n)
        for image in gts.keys():
            scorer += (res[image][0], gts[image])
        option = "closest"
        return "{RAN}", scorer
    def method(self):
        return "Bleu"
"""
_BLEU_SCORER = f"""
class BleuScorer(object):
    __slots__ = "n", "crefs", "ctest"
    def __init__(self, test=None, refs=None, n=4, special_reflen=None):
        self.small, self.tiny, self.options = 1e-9, 1e-15, ("shortest", "average", "closest")
    def cook_append(self, test, refs):
        pass
    def compute_score(self, option=None, verbose=0):
        return "{RAN}"
"""
_CIDER = f"""
from .cider_scorer import CiderScorer

class Cider:
    def __init__(self, test=None, refs=None, n=4, sigma=6.0):
        self._n, self._sigma = n, sigma
    def compute_score(self, gts, res):
        return "{RAN}", CiderScorer(n=self._n, sigma=self._sigma)
    def method(self):
        return "CIDEr"
"""
_CIDER_SCORER = f"""
class CiderScorer(object):
    def __init__(self, test=None, refs=None, n=4, sigma=6.0):
        self.n, self.sigma = n, sigma
    def cook_append(self, test, refs):
        pass
    def compute_cider(self):
        return [10.0 * min(0, 1)]
    def compute_score(self, option=None, verbose=0):
        return "{RAN}", self.compute_cider()
"""
_CIDER_D = f"""
from .ciderD_scorer import CiderScorer

class CiderD:
    def __init__(self, n=4, sigma=6.0, df="corpus"):
        self.cider_scorer = CiderScorer(n=n, df_mode=df)
    def compute_score(self, gts, res):
        images = [candidate["image_id"] for candidate in res]
        return "{RAN}", images
"""
_CIDER_D_SCORER = _CIDER_SCORER.replace("self, test=None", 'self, df_mode="corpus", test=None')
_METEOR = f"""
import subprocess
METEOR_JAR = "/opt/jars/meteor-1.5.jar"

class Meteor:
    def __init__(self, meteor_jar=METEOR_JAR):
        self.command = ["java", "-jar", meteor_jar, "-", "-", "-stdio", "-l", "en", "-norm"]
    def compute_score(self, gts, res):
        return "{RAN}", []
    def __del__(self):
        raise RuntimeError("{RAN}")
"""
_ROUGE = f"""
def my_lcs(string, sub):
    return 0

class Rouge():
    def __init__(self):
        self.beta = 1.2
    def calc_score(self, candidate, refs):
        return 0.0
    def compute_score(self, gts, res):
        return "{RAN}", []
    def of_its_own(self):
        return self.beta
"""
_SPICE = f"""
class Spice:
    def __init__(self, get_stanford_models_path=None):
        raise RuntimeError("{RAN}")
    def compute_score(self, gts, res):
        command = ["java", "-cache", "cache", "-subset"]
        return "{RAN}", []
"""
_TOKENIZER = f"""
STANFORD_CORENLP_3_4_1_JAR = "stanford-corenlp-3.4.1.jar"
PUNCTUATIONS = ["''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-",
                ".", "?", "!", ",", ":", "-", "--", "...", ";"]

class PTBTokenizer:
    def tokenize(self, captions_for_image):
        command = ["java", "-preserveLines", "-lowerCase"]
        return "{RAN}"
"""
_EVALUATION = """
from .bleu.bleu import Bleu
from .cider.cider import Cider
from .rouge.rouge import Rouge
from .tokenizer.ptbtokenizer import PTBTokenizer

class COCOEvalCap:
    # Without METEOR and ROUGE_L: what a copy leaves out stays out.
    def __init__(self, gts, res):
        self.gts, self.res = gts, res
    def evaluate(self):
        tokenizer = PTBTokenizer()
        gts, res = tokenizer.tokenize(self.gts), tokenizer.tokenize(self.res)
        return {scorer.method(): scorer.compute_score(gts, res)[0] for scorer in (Bleu(4), Cider())}
"""

#: A copy in the toolkit's folders: path -> source.
TOOLKIT = {
    "bleu/bleu.py": _BLEU,
    "bleu/bleu_scorer.py": _BLEU_SCORER,
    "cider/cider.py": _CIDER,
    "cider/cider_scorer.py": _CIDER_SCORER,
    "meteor/meteor.py": _METEOR,
    "rouge/rouge.py": _ROUGE,
    "spice/spice.py": _SPICE,
    "tokenizer/ptbtokenizer.py": _TOKENIZER,
    "eval.py": _EVALUATION,
}
#: The rewards of the authors' code.
REWARDS = {"ciderD/ciderD.py": _CIDER_D, "ciderD/ciderD_scorer.py": _CIDER_D_SCORER}
#: All files in one folder.
FLAT = {Path(path).name: source for path, source in TOOLKIT.items() if path != "eval.py"}


def write(folder: Path, files: dict[str, str], *, packages: bool = True) -> Path:
    """Write a copy, with an ``__init__.py`` in every folder unless it is to do without."""
    for path, source in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source)
        if packages:
            (file.parent / "__init__.py").touch()
    return folder


#: The package of the meshed-memory transformer's code.
MESHED_MEMORY = {
    "__init__.py": "from .cider import Cider\nfrom .tokenizer import PTBTokenizer\n",
    "cider/__init__.py": "from .cider import Cider\n",
    "cider/cider.py": f"""
from .cider_scorer import CiderScorer

class Cider:
    def __init__(self, gts=None, n=4, sigma=6.0):
        self._n, self._sigma = n, sigma
    def compute_score(self, gts, res):
        return "{RAN}", CiderScorer(gts, test=res, n=self._n, sigma=self._sigma)
    def __str__(self):
        return "CIDEr"
""",
    "cider/cider_scorer.py": f"""
class CiderScorer(object):
    def __init__(self, refs, test=None, n=4, sigma=6.0, doc_frequency=None, ref_len=None):
        self.n, self.sigma = n, sigma
    def compute_cider(self):
        return [10.0 * min(0, 1)]
    def compute_score(self):
        return "{RAN}", self.compute_cider()
""",
    "tokenizer.py": f"""
class PTBTokenizer(object):
    corenlp_jar = "stanford-corenlp-3.4.1.jar"
    @classmethod
    def tokenize(cls, corpus):
        command = ["java", "-preserveLines", "-lowerCase"]
        return "{RAN}"
""",
}
