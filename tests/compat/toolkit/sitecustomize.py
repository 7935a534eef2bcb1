"""Imports of the programs in the neighboring folder, from the toolkit itself; Python runs this when it starts.

The forks are not on PyPI. Their names lead to pycocoevalcap, with the arguments that forks have added to COCOEvalCap;
their rewards are those of benchmarks/toolkit_rewards.py, which uses the toolkit's scorer. SPICE is left out, because
its Java program runs on few machines.
"""

import importlib
import pkgutil
import sys
import types

import pycocoevalcap.bleu.bleu
import pycocoevalcap.eval
import pycocoevalcap.meteor.meteor
import pycocoevalcap.rouge.rouge

import toolkit_rewards


class NoSpice:
    def method(self):
        return "SPICE"

    def compute_score(self, gts, res):
        return 0.0, [0.0] * len(gts)


class COCOEvalCap(pycocoevalcap.eval.COCOEvalCap):
    """With a third argument, which is a list of scorers or "corpus", a tokenizer, and ``verbose``."""

    def __init__(self, coco, results, third="corpus", tokenization_fn=None, verbose=True):
        super().__init__(coco, results)
        self.types = None if third == "corpus" else third
        self.tokenization_fn = tokenization_fn

    def evaluate(self):
        if self.types is None:
            return super().evaluate()
        images = self.params["image_id"]
        raw = [{i: each.imgToAnns[i] for i in images} for each in (self.coco, self.cocoRes)]
        if self.tokenization_fn is None:
            gts, res = (pycocoevalcap.eval.PTBTokenizer().tokenize(each) for each in raw)
        else:
            gts, res = (
                {i: [" ".join(self.tokenization_fn(one["caption"])) for one in group] for i, group in each.items()}
                for each in raw
            )
        scorers = {
            "BLEU": ["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4"],
            "METEOR": ["METEOR"],
            "ROUGE_L": ["ROUGE_L"],
            "CIDEr": ["CIDEr"],
        }
        classes = {"BLEU": "Bleu", "METEOR": "Meteor", "ROUGE_L": "Rouge", "CIDEr": "Cider"}
        for name in self.types:
            score, _ = getattr(pycocoevalcap.eval, classes[name])().compute_score(gts, res)
            for output, value in zip(scorers[name], score if name == "BLEU" else [score]):
                self.setEval(value, output)


def compute_scores(gts, gen):
    """As ``evaluation`` has it."""
    scorers = {"BLEU": "Bleu", "METEOR": "Meteor", "ROUGE": "Rouge", "CIDEr": "Cider"}
    found = {key: getattr(pycocoevalcap.eval, name)().compute_score(gts, gen) for key, name in scorers.items()}
    return {key: score for key, (score, _) in found.items()}, {key: scores for key, (_, scores) in found.items()}


class PTBTokenizer(toolkit_rewards.PTBTokenizer):
    """Of lists, and of captions by id."""

    @classmethod
    def tokenize(cls, corpus):
        if isinstance(corpus, list):
            return super().tokenize(corpus)
        return pycocoevalcap.eval.PTBTokenizer().tokenize(
            {i: [{"caption": text} for text in texts] for i, texts in corpus.items()}
        )


class CiderD(toolkit_rewards.CiderD):
    """With df="corpus", too, where every candidate is a document."""

    def __init__(self, df="corpus"):
        self.df = df
        if df != "corpus":
            super().__init__(df)

    def compute_score(self, gts, res):
        if self.df != "corpus":
            return super().compute_score(gts, res)
        scorer = toolkit_rewards.CiderScorer()
        for each in res:
            scorer += (each["caption"][0], gts[each["image_id"]])
        return scorer.compute_score()


toolkit = pycocoevalcap.eval
toolkit.Spice, toolkit.COCOEvalCap = NoSpice, COCOEvalCap
pycocoevalcap.meteor.Meteor, pycocoevalcap.rouge.Rouge = toolkit.Meteor, toolkit.Rouge
for parent in ("nlgeval", "coco_caption_py3"):
    sys.modules[parent] = types.ModuleType(parent)
    sys.modules[parent].__path__ = []
    for found in pkgutil.walk_packages(pycocoevalcap.__path__, "pycocoevalcap."):
        if "example" not in found.name:
            sys.modules[f"{parent}.{found.name}"] = importlib.import_module(found.name)
    sys.modules[f"{parent}.pycocoevalcap"] = pycocoevalcap
fork = types.ModuleType("ciderD")
fork.CiderD, fork.__path__ = CiderD, []
for parent in ("pyciderevalcap", "oscar.utils.cider.pyciderevalcap"):
    for name in ("", ".ciderD", ".ciderD.ciderD"):
        sys.modules[parent + name] = fork
for name in ("oscar", "oscar.utils", "oscar.utils.cider"):
    sys.modules[name] = fork
evaluation = types.ModuleType("evaluation")
evaluation.Cider, evaluation.PTBTokenizer, evaluation.compute_scores = (
    toolkit_rewards.Cider,
    PTBTokenizer,
    compute_scores,
)
sys.modules["evaluation"] = evaluation
