"""The drop-ins of pycocoevalcap, pyciderevalcap and ``evaluation``, by the names that programs import.

Values, printed lines, warnings and errors of their classes and functions on a few sentences.
"""

from __future__ import annotations

import importlib
import pickle
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import captious.compat
from tests.golden.command_line import EXAMPLES, clean, environment
from tests.golden.names import describe_all
from tests.golden.outcomes import call, value
from tests.golden.record import Record
from tests.support.tables import tables

GTS = {
    5: ["dog"],
    1: ["a dog is running in the park", "a brown dog runs on grass"],
    2: ["two men are playing guitars on stage", "a band performs"],
    3: ["a cat sleeps on a sofa"],
    4: ["a red bus on the street"],
}
RES = {5: ["dog"], 1: ["a dog runs in the park"], 2: ["two men play guitar"], 3: ["a cat"], 4: [""]}
ROWS = [{"image_id": image, "caption": texts} for image, texts in RES.items()]
#: Pairs of references and candidates that are wrong in one way each.
WRONG: dict[str, tuple[Any, Any]] = {
    "other images": (GTS, {1: ["a dog"]}),
    "two candidates": (GTS, RES | {3: ["a cat", "the cat"]}),
    "no candidate": (GTS, RES | {3: []}),
    "no references": (GTS | {3: []}, RES),
    "a string of references": (GTS | {3: "a cat"}, RES),
    "a number": (GTS, RES | {3: [7]}),
    "a caption not in a list": (GTS, RES | {3: "a cat"}),
    "nothing": ({}, {}),
    "None": (None, None),
    "a surrogate": (GTS, RES | {3: ["a \ud83d cat"]}),
}
RAW = {
    "7": [{"caption": "A dog's running, fast!"}, {"caption": 'He said: "no" (twice)...'}],
    "9": [{"caption": "Two men -- with T-shirts; 3.5% of $10\nin the U.S."}, {"caption": ""}],
}
#: Toolkit -> module -> the names that programs import from it.
MODULES = tables(__file__)["modules"]


class Coco:
    """As much of ``pycocotools.coco.COCO`` as the toolkit reads."""

    def __init__(self, captions: dict[Any, list[str]]) -> None:
        self.imgToAnns = {
            image: [{"image_id": image, "id": number, "caption": text} for number, text in enumerate(texts)]
            for image, texts in captions.items()
        }

    def getImgIds(self) -> list[Any]:  # noqa: N802
        return list(self.imgToAnns)


Import = Callable[[str], ModuleType]


@pytest.fixture
def toolkit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Import]:
    """``toolkit("pycocoevalcap.bleu.bleu")``: a module that is replaced, by the name of the toolkit's own."""
    environment(tmp_path, monkeypatch)
    monkeypatch.setenv("CAPTIOUS_VECTORS", str(EXAMPLES / "captions-12d.txt"))
    monkeypatch.chdir(tmp_path)
    before = {*sys.modules}
    with captious.compat.redirected(), captious.compat.redirected("evaluation"):
        yield importlib.import_module
    for name in [name for name in sys.modules if name not in before and name.partition(".")[0] in MODULES]:
        del sys.modules[name]


@pytest.mark.parametrize("package", MODULES)
def test_modules_have_the_recorded_names(package: str, toolkit: Import, record: Record) -> None:
    found = {}
    for module, names in MODULES[package].items():
        name = f"{package}.{module}".rstrip(".")
        found[name] = describe_all(toolkit(name), names.split())
    record(f"toolkits/{package}-names", clean(found, {}))


def scorers(toolkit: Import) -> dict[str, Callable[[], Any]]:
    """Return constructors of the scorers of the COCO toolkit."""
    bleu, cider = toolkit("pycocoevalcap.bleu.bleu").Bleu, toolkit("pycocoevalcap.cider.cider").Cider
    return {
        "Bleu": bleu,
        "Bleu(2)": lambda: bleu(2),
        "Cider": cider,
        "Cider(sigma=3.0)": lambda: cider(sigma=3.0),
        "Cider(n=2)": lambda: cider(n=2),
        "Meteor": toolkit("pycocoevalcap.meteor.meteor").Meteor,
        "Rouge": toolkit("pycocoevalcap.rouge.rouge").Rouge,
        "Spice": toolkit("pycocoevalcap.spice.spice").Spice,
        "WMD": toolkit("pycocoevalcap.wmd.wmd").WMD,
    }


def test_scores_of_the_coco_toolkit_are_as_recorded(toolkit: Import, record: Record) -> None:
    found = {}
    for name, scorer in scorers(toolkit).items():
        found[name] = call(lambda scorer=scorer: [scorer().method(), scorer().compute_score(GTS, RES)])  # type: ignore[misc]
    bleu = toolkit("pycocoevalcap.bleu.bleu").Bleu
    found["Bleu, verbose=0"] = call(lambda: bleu().compute_score(GTS, RES, verbose=0))
    for name in ("Bleu", "Rouge", "Cider", "Meteor"):
        ids = {image + 0.5: texts for image, texts in GTS.items()}, {image + 0.5: texts for image, texts in RES.items()}
        found[f"{name}, other ids"] = call(lambda name=name, ids=ids: scorers(toolkit)[name]().compute_score(*ids))  # type: ignore[misc]
    record("toolkits/scorers", clean(found, {}))


def test_errors_of_the_coco_toolkit_are_as_recorded(toolkit: Import, record: Record) -> None:
    found = {}
    for name, scorer in scorers(toolkit).items():
        if "(" not in name:
            for case, (gts, res) in WRONG.items():
                found[f"{name}, {case}"] = call(lambda s=scorer, gts=gts, res=res: s().compute_score(gts, res))  # type: ignore[misc]
    bleu, cider = toolkit("pycocoevalcap.bleu.bleu").Bleu, toolkit("pycocoevalcap.cider.cider").Cider
    for n in (0, 5, "4"):
        found[f"Bleu({n!r})"] = call(lambda n=n: bleu(n).compute_score(GTS, RES))  # type: ignore[misc]
        found[f"Cider(n={n!r})"] = call(lambda n=n: cider(n=n).compute_score(GTS, RES))  # type: ignore[misc]
    found["Cider(sigma=0)"] = call(lambda: cider(sigma=0).compute_score(GTS, RES))
    record("toolkits/scorer-errors", clean(found, {}))


def test_counting_functions_are_as_recorded(toolkit: Import, record: Record) -> None:
    bleu = toolkit("pycocoevalcap.bleu.bleu_scorer")
    cider = toolkit("pycocoevalcap.cider.cider_scorer")
    rouge = toolkit("pycocoevalcap.rouge.rouge")

    def filled(scorer: Any) -> Any:
        for image, texts in RES.items():
            scorer += (texts[0], GTS[image])
        return scorer

    def states() -> list[Any]:
        scorer = filled(bleu.BleuScorer(n=4))
        options = ("shortest", "average", "closest")
        return [*([scorer.testlen(), scorer.reflen(option)] for option in options), scorer.size()]

    found = {
        "bleu precook": call(lambda: bleu.precook("a b a", 2)),
        "bleu cook_refs": call(lambda: bleu.cook_refs(["a b a", "b b"], n=2)),
        "bleu cook_test": call(lambda: bleu.cook_test("a b", bleu.cook_refs(["a b a", "b b"], n=2), n=2)),
        **{
            f"BleuScorer {option}": call(lambda o=option: filled(bleu.BleuScorer(n=4)).compute_score(option=o))  # type: ignore[misc]
            for option in ("shortest", "average", "closest", None, "other")
        },
        "BleuScorer verbose": call(lambda: filled(bleu.BleuScorer(n=2)).compute_score(option="closest", verbose=1)),
        "BleuScorer lengths": call(states),
        "BleuScorer rescore": call(lambda: filled(bleu.BleuScorer(n=2)).rescore(["a dog"] * 5)),
        "BleuScorer compatible": call(lambda: bleu.BleuScorer(n=2).compatible(bleu.BleuScorer(n=4))),
        "BleuScorer without captions": call(lambda: bleu.BleuScorer(n=4).compute_score()),
        "cider precook": call(lambda: cider.precook("a b a", 2)),
        "cider cook_refs": call(lambda: cider.cook_refs(["a b", "b"], 2)),
        "CiderScorer": call(lambda: filled(cider.CiderScorer(n=4, sigma=6.0)).compute_score()),
        "CiderScorer size": call(lambda: filled(cider.CiderScorer()).size()),
        "CiderScorer without captions": call(lambda: cider.CiderScorer().compute_score()),
        "my_lcs": call(lambda: [rouge.my_lcs("abcde", "badce"), rouge.my_lcs(["a", "b"], ["b"])]),
        "calc_score": call(lambda: rouge.Rouge().calc_score(["a dog runs"], GTS[1])),
        "calc_score of two": call(lambda: rouge.Rouge().calc_score(["a", "b"], GTS[1])),
        "calc_score without references": call(lambda: rouge.Rouge().calc_score(["a"], [])),
    }
    record("toolkits/counting", clean(found, {}))


def test_tokenizers_are_as_recorded(toolkit: Import, record: Record) -> None:
    ptb = toolkit("pycocoevalcap.tokenizer.ptbtokenizer")
    authors = toolkit("pyciderevalcap.tokenizer.ptbtokenizer")
    meshed = toolkit("evaluation").PTBTokenizer
    wrong: tuple[Any, ...] = ({}, {1: []}, {1: ["a"]}, {1: [{"text": "a"}]}, {1: [{"caption": 3}]}, [], None, "a dog")
    rows = [{"image_id": "7", "caption": ["A dog's running, fast!"]}, {"image_id": "9", "caption": ["T-shirts; 3.5%"]}]
    found = {
        "punctuation": ptb.PUNCTUATIONS,
        "pycocoevalcap": call(lambda: ptb.PTBTokenizer().tokenize(RAW)),
        "pyciderevalcap": call(lambda: authors.PTBTokenizer("gts").tokenize(RAW)),
        "pyciderevalcap, candidates": call(lambda: authors.PTBTokenizer("res").tokenize(rows)),
        "pyciderevalcap, other": call(lambda: authors.PTBTokenizer("other").tokenize(rows)),
        "evaluation": call(lambda: meshed.tokenize(["A dog's.", "Two -- men!"])),
        "evaluation, lists": call(lambda: meshed.tokenize([["A dog's.", "Dogs"], ["(Two)"]])),
        "evaluation, end": call(lambda: meshed().tokenize(["A dog."], add_eos=True)),
    }
    for number, texts in enumerate(wrong):
        found[f"pycocoevalcap {texts!r}"] = call(lambda texts=texts: ptb.PTBTokenizer().tokenize(texts))  # type: ignore[misc]
        if number > 1:
            found[f"evaluation {texts!r}"] = call(lambda texts=texts: meshed.tokenize(texts))  # type: ignore[misc]
    record("toolkits/tokenizers", {name: value(item) for name, item in found.items()})


def evaluated(evaluation: Any) -> list[Any]:
    evaluation.evaluate()
    return [evaluation.eval, evaluation.imgToEval, [record["image_id"] for record in evaluation.evalImgs]]


def test_evaluations_are_as_recorded(toolkit: Import, record: Record) -> None:
    evaluation = toolkit("pycocoevalcap.eval").COCOEvalCap
    spice = toolkit("pycocoevalcap.eval_spice").COCOEvalCapSpice
    authors = toolkit("pyciderevalcap.eval").CIDErEvalCap
    gts, res = Coco(GTS), Coco(RES)
    some = [*GTS][:2]

    def of_images() -> Any:
        made = evaluation(gts, res)
        made.params["image_id"] = some
        return evaluated(made)

    found = {
        "COCOEvalCap": call(lambda: evaluated(evaluation(gts, res))),
        "COCOEvalCap of two images": call(of_images),
        "COCOEvalCap use_scorers": call(lambda: evaluated(evaluation(gts, res, use_scorers=["Bleu", "CIDEr"]))),
        "COCOEvalCap corpus": call(lambda: evaluated(evaluation(gts, res, "corpus"))),
        "COCOEvalCap unknown argument": call(lambda: evaluation(gts, res, nope=1)),
        "COCOEvalCap unknown scorer": call(lambda: evaluated(evaluation(gts, res, use_scorers=["nope"]))),
        "COCOEvalCap without a result": call(lambda: evaluated(evaluation(gts, Coco({1: RES[1]})))),
        "COCOEvalCap None": call(lambda: evaluated(evaluation(gts, None))),
        "COCOEvalCapSpice": call(lambda: evaluated(spice(gts, res))),
        "CIDErEvalCap": call(lambda: authors(GTS_RAW, ROWS, "corpus").evaluate()),
        "CIDErEvalCap without a result": call(lambda: authors(GTS_RAW, [], "corpus").evaluate()),
    }
    record("toolkits/evaluations", clean(found, {}))


GTS_RAW = {image: [{"caption": text} for text in texts] for image, texts in GTS.items()}


def test_rewards_and_frequency_files_are_as_recorded(toolkit: Import, record: Record) -> None:
    plain, clipped = toolkit("pyciderevalcap.cider.cider").Cider, toolkit("pyciderevalcap.ciderD.ciderD").CiderD
    counted = {
        "cider": toolkit("pyciderevalcap.cider.cider_scorer").CiderScorer,
        "ciderD": toolkit("pyciderevalcap.ciderD.ciderD_scorer").CiderScorer,
    }
    found: dict[str, Any] = {}
    for name, scorer in counted.items():
        made = scorer(df_mode="corpus")
        for texts in GTS.values():
            made.cook_append(None, texts)
        made.compute_doc_freq()
        frequencies = {" ".join(ngram): number for ngram, number in sorted(made.document_frequency.items())}
        found[f"{name} frequencies"] = value(frequencies)
        content = {"document_frequency": defaultdict(float, made.document_frequency), "ref_len": len(GTS)}
        Path(f"{name}.p").write_bytes(pickle.dumps(content, protocol=2))
    Path("data").mkdir()
    Path("data/words.p").write_bytes(Path("ciderD.p").read_bytes())
    Path("broken.p").write_bytes(b"\x80\x02}q")
    Path("other.p").write_bytes(pickle.dumps({"a": 1}))
    for name, class_ in (("Cider", plain), ("CiderD", clipped)):
        for df in ("corpus", "ciderD.p", "words", "none", "broken.p", "other.p", 3, None):
            found[f"{name}(df={df!r})"] = call(lambda c=class_, df=df: c(df=df).compute_score(GTS, ROWS))  # type: ignore[misc]
        for case, rows in {
            "no rows": [],
            "unknown image": [{"image_id": 77, "caption": ["a"]}],
            "no list": [{"image_id": 1, "caption": "a"}],
            "no caption": [{"image_id": 1}],
            "a mapping": RES,
        }.items():
            found[f"{name}, {case}"] = call(lambda c=class_, rows=rows: c().compute_score(GTS, rows))  # type: ignore[misc]
        found[f"{name}().method()"] = call(lambda c=class_: c().method())  # type: ignore[misc]
    record("toolkits/rewards", clean(found, {}))


def test_the_package_evaluation_is_as_recorded(toolkit: Import, record: Record) -> None:
    evaluation = toolkit("evaluation")
    found = {"compute_scores": call(lambda: evaluation.compute_scores(GTS, RES))}
    for name in ("Bleu", "Meteor", "Rouge", "Cider"):
        class_ = getattr(evaluation, name)
        found[name] = call(lambda c=class_: [str(c()), c().compute_score(GTS, RES)])  # type: ignore[misc]
        for case in ("other images", "a number", "nothing"):
            found[f"{name}, {case}"] = call(lambda c=class_, case=case: c().compute_score(*WRONG[case]))  # type: ignore[misc]
    found["Cider of references"] = call(lambda: evaluation.Cider(GTS).compute_score(GTS, RES))
    found["Cider of other references"] = call(lambda: evaluation.Cider(None).compute_score(GTS, RES))
    record("toolkits/evaluation", clean(found, {}))


def test_prepared_references_are_as_recorded(toolkit: Import, record: Record) -> None:
    package: Any = importlib.import_module("captious.compat.pycocoevalcap")
    bleu = toolkit("pycocoevalcap.bleu.bleu").Bleu
    try:
        found = {
            "prepare": call(lambda: package.prepare_references(GTS, "gts.prepared")),
            "use": call(lambda: package.use_prepared_references("gts.prepared")),
            "score": call(lambda: bleu().compute_score(GTS, RES, verbose=0)),
            "prepare nothing": call(lambda: package.prepare_references({}, "none.prepared")),
            "prepare strings": call(lambda: package.prepare_references({1: "a dog"}, "none.prepared")),
            "use none": call(lambda: package.use_prepared_references("none.prepared")),
        }
    finally:
        package.use_prepared_references()
    record("toolkits/prepared", clean(found, {}))


def test_redirection_is_as_recorded(toolkit: Import, record: Record) -> None:
    compat = captious.compat
    names = ("bleu", "meshed_memory", "nope", "", "a.b", 3)
    found = {f"install({name!r})": call(lambda name=name: compat.install(name)) for name in names}  # type: ignore[misc]
    found |= {
        "install as": call(lambda: compat.install("metrics_of_mine", toolkit="pycocoevalcap")),
        "install as none": call(lambda: compat.install("metrics_of_mine", toolkit="nope")),
        "uninstall": call(lambda: compat.uninstall("metrics_of_mine")),
        "uninstall none": call(lambda: compat.uninstall("nope")),
    }
    record("toolkits/redirection", clean(found, {}))
