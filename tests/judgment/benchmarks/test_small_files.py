"""Benchmarks on small files of their forms: judgments of files that are not ours to have, and what is refused."""

from __future__ import annotations

import os
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from captious.errors import CaptionFileError, CaptiousError, EmptyInputError, ParameterError, ResourceError
from captious.judgment import judge
from captious.judgment.benchmarks import names
from captious.judgment.judgments import CaptionJudgments, CaptionPairs, RatedCaptions
from tests.golden.record import Record
from tests.support.judgments import load, write, write_jsonl


def fill(folder: Path, files: dict[str, Any]) -> None:
    """Write files, of which .jsonl and .parquet have records, and .pkl any object."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif path.suffix == ".parquet":
            pl.DataFrame(content).write_parquet(path)
        elif path.suffix == ".pkl":
            path.write_bytes(pickle.dumps(content))
        elif path.suffix == ".jsonl" or name == "thumb/mscoco_references.json":
            write_jsonl(folder, name, content)
        else:
            write(folder, name, content)


def coco(*captions: tuple[int, str]) -> dict[str, Any]:
    return {"annotations": [{"image_id": image, "caption": caption} for image, caption in captions]}


def distractor(image: int, task: str, correct: str, other: str) -> dict[str, Any]:
    return {"image": image, "task": task, "correct": correct, "distractor": other, "refs": ["a dog in a park"]}


def foil(key: int, image: int, caption: str, is_foil: bool) -> dict[str, Any]:
    return {"id": key, "image_id": image, "caption": caption, "foil": is_foil, "foil_word": "x", "target_word": "y"}


def hat(image: str, caption: str, label: object) -> dict[str, Any]:
    record = {"image_path": image, "caption": caption, "references": ["a dog on a sofa", "the dog"]}
    return {**record, "contains_hallucination": label, "grounding": [["a", False]]}


def nebula(image: str, candidate: str, references: list[str], score: float) -> dict[str, Any]:
    return {"file_name": image, "image": b"\x00\xff", "refs": references, "mt": candidate, "human_score": score}


def thumb(system: str, key: str, caption: str, p: object, r: float, total: float) -> dict[str, Any]:
    rating = {"SYS": system, "seg_id": key, "hyp": caption, "image": f"x_{key}.jpg"}
    return {**rating, "P": p, "R": r, "human_score": total}


def sounds(**change: Any) -> dict[str, Any]:
    kinds = {"HC": ["r1", "r2", "x", "y", [1, 1, -1, 1]], "HI": ["r1", "other", "x", "y", [1, 1, 1, 1]]}
    kinds |= {"HM": ["r3", "machine", "x", "y", [-1, -1, 0, 0]], "MM_1": ["m1", "m2", "x", "y", [1, 1, 1, 1]]}
    kinds["MM_4"] = ["m1", "m3", "x", "y", [1, -1, 0, 0]]  # undecided
    return {**kinds, "raw_name": "a.wav", "references": ["r1", "r2", "r3", "r4", "r5"], **change}


def paragraph(score: object, *sentences: str) -> dict[str, Any]:
    return {"paragraph_score": score, "sentences": list(sentences)}


def verdicts(*texts: str) -> dict[str, str]:
    criteria = ("Comprehensiveness", "Specificity", "Hallucination", "First few line(s) as tldr", "Human Like")
    return {f"metrics/{criterion}": text for criterion, text in zip(criteria, texts, strict=True)}


def valse(image: str, caption: str, votes: int = 3, **more: str) -> dict[str, Any]:
    people = {"foil": 3 - votes, "caption": votes, "other": 0}
    return {"image_file": image, "caption": caption, "foil": "many dogs", "mturk": people, **more}


def vatex(scores: Any) -> dict[str, Any]:
    references = [[f"a man runs {n}" for n in range(9)], ["she sings"] * 9, ["a café"] * 9, ["a man sits"] * 9]
    files = {"candidates_list": ["a man runs", "a woman sings", "un café", "a man"], "gts_list": references}
    files |= {"human_scores": np.array(scores, float).ravel(), "video_ids": ["v1", "v1", "v2", "v3"]}
    return {f"vatex_eval/{name}.pkl": np.array(values) for name, values in files.items()}


def pascal(part: str, label: int = 0, **more: int) -> dict[str, Any]:
    captions = {"image": "a", "sent": ["a dog", "a cat"], "refs5_fleur": ["the dog"]}
    return {**captions, "category": part, "label48": label, **more}


ENTRY = {"filename": "000000000001.jpg", "caption": "a dog", "negative_caption": "a blue dog"}
SUGAR = {f"sugarcrepe/{part}.json": {"0": ENTRY} for part in names.get("sugarcrepe").protocol().part_order}
TRIPLE = {"id": 0, **ENTRY, "caption2": "one dog"}
#: A small file of every form, by benchmark.
FILES: dict[str, dict[str, Any]] = {
    "distractors": {
        "distractors/pairs.jsonl": [
            distractor(1, "JS", "a dog in a park", "a park"),
            distractor(1, "SP", "a dog in a park", "a man in a park"),
            distractor(2, "SP", "the dog", "a dog in a park"),
            distractor(2, "SS", "a dog in a park", "a dog on a beach"),
            distractor(2, "JP", "a dog in a park", "a dog in a park"),
            distractor(3, "RS", "a dog in a park", "a dog on a beach"),
            distractor(3, "RP", "a dog in a park", "a dog in a park"),
        ]
    },
    "foil-coco": {
        "foil/foilv1.0_test_2017.json": {
            "annotations": [
                foil(10, 1, "a dog runs ", False),
                foil(10, 1, "a cat runs", True),
                foil(10, 1, "a cow runs", True),
                foil(11, 2, "a bus", False),  # without a wrong one
            ],
            "images": [{"id": 1, "file_name": "x"}],
        },
        "coco/captions_val2014.json": coco(
            (1, "a dog runs"), (1, "the dog "), (1, "dogs"), (2, "a bus"), (2, "the bus")
        ),
    },
    "hat": {"aloha/hat-trainval.json": [hat("1", "a dog on a sofa", False), hat("2", "a cow on a cow", True)]},
    "nebula": {  # parts in the order of their names
        "nebula/test-00001-of-00002.parquet": [nebula("b.jpg", "a  cat", ["the cat", "a cow"], 0.25)],
        "nebula/test-00000-of-00002.parquet": [nebula("a.jpg", "a dog", ["the dog"], 1.0)],
        "nebula/train-00000-of-00001.parquet": [nebula("c.jpg", "a fox", ["the fox"], 1.0)],
        "nebula/spica_train.csv": "imgid,mt,score\nb.jpg,a cat,1.0\n",
        "nebula/spica_val.csv": 'imgid,mt,score\nb,"a cat",0.5\n',
        "nebula/spica_test.csv": "imgid,mt,score\nc.jpg,a dog,0.1\n",
    },
    "polaris": {
        "polaris/polaris_test.csv": "imgid,mt,refs,score\n"
        '1.jpg,a dog,"[\'a dog""s\', ""it\'s a dog""]",0.75\n2.jpg,,[\'a cat\'],0\n'
    },
    "thumb": {
        "thumb/mscoco_THumB-1.0.jsonl": [
            thumb("Up-Down", "7", "A dog.", 4.0, 3.0, 3.5),
            thumb("Human", "7", "A red dog.", 5.0, 5.0, 4.7),
            thumb("Up-Down", "9", "A cat.", 1.0, 2.0, 1.5),
            thumb("VinVL", "9", "A red cat.", 2.0, 2.5, 2.25),
            thumb("Unified-VLP", "9", "A cow.", 3.0, 2.0, 2.5),
        ],
        "thumb/mscoco_references.json": [
            {"seg_id": "9", "refs": ["a cow"]},
            {"seg_id": "7", "refs": ["a dog runs", "the dog"]},
        ],
    },
    "vatex-eval": vatex([[5, 3, 1, 2], [4, 4, 2, 1], [5, 1, 2, 3]]),
    "audiocaps-eval": {"fense/audiocaps_eval.json": [sounds(MM_1=None, HI=None), sounds()]},
    "clotho-eval": {  # fewer references are repeated
        "fense/clotho_eval.json": [sounds(references=["r1", "r2", "r1", "r4", "r5"], MM_4=None)]
    },
    "pascal-50s": {
        "pascal50s/pairs.jsonl": [
            pascal(part, votes11_sum=n) for part, n in zip(("MM", "HC", "HI", "HM"), (-11, 1, -1, 3), strict=True)
        ],
        "pascal50s/refs.json": {"a": [f"reference {n}" for n in range(7)]},
    },
    "sugarcrepe-pp": {
        **{f"scpp/{part}.json": [TRIPLE] for part in names.get("sugarcrepe-pp").protocol().part_order},
        "coco/captions_val2014.json": coco((1, "A dog!"), (1, "the dog")),
    },
    "sugarcrepe": {**SUGAR, "coco/captions_val2014.json": coco((1, "a dog "), (1, "the dog"), (3, "a cat"))},
    "valse": {
        "valse/plurals.json": {
            "1": valse("000000000001.jpg", "exactly one dog", orig_caption="A dog"),
            "2": valse("000000000001.jpg", "a dog", votes=1),
        },
        "valse/relations.json": {"1": valse("000000000001.jpg", "the dog", votes=2)},
        "valse/foil-it.json": {"1": valse("COCO_val2014_000000000001.jpg", "a big dog")},
        "coco/captions_val2014.json": coco((1, "a dog"), (1, "the dog.")),
    },
    "factvc": {
        "factvc/activitynet_factuality_annotation.json": {
            "v1": {"A": paragraph(4, "a dog runs .", "it [barks] ."), "B": paragraph(1, "[a cat] ."), "C": paragraph(2)}
        },
        "factvc/youcook2_factuality_annotation.json": {"y1": {name: paragraph(3, "mix .") for name in "ABC"}},
        "factvc/activitynet_gt_1_para.json": {"v1": "A dog runs.", "v3": "A cat."},
        "factvc/activitynet_gt_2_para.json": {"v1": "The dog."},
        "factvc/youcook2_gt_para.json": {"y1": "mix it."},
    },
}

_VERDICTS = ("IIW-Human is marginally better", "IIW-P5B is substantially better", "Neutral")
_COMPARED = {"IIW": "a long text about a dog", "IIW-P5B": "a dog"}
FILES["iiw"] = {
    "iiw/IIW-400.jsonl": [
        _COMPARED | {"image/key": key, "iiw-human-sxs-iiw-p5b": verdicts(*(_VERDICTS[i] for i in places))}
        for key, places in (("1", (0, 0, 1, 2, 1)), ("2", (2, 2, 2, 0, 2)))
    ]
    + [{"IIW": "a cat", "image/key": "3"}],
    "iiw/DOCCI_Test.jsonl": [
        {"IIW": "a long text", "DOCCI": "short", "image": "test_1"}
        | verdicts("DOCCI is marginally better", *["IIW is marginally better"] * 4)
    ],
}


def described(judgments: CaptionJudgments) -> dict[str, Any]:
    """Return what judgments consist of, and their statistic of lengths, of which some are equal."""
    table = judgments.captions
    ends = table.references.offsets.tolist()
    scores = np.array([len(text) // 3 for text in table.candidates], float)
    found: dict[str, Any] = {
        "protocol": judgments.protocol.facts() | {"statistic": judgments.protocol.statistic},
        "parts": [*judgments.part_names],
        "captions": [
            [text, *table.references.texts[a:b]] for text, a, b in zip(table.candidates, ends, ends[1:], strict=False)
        ],
        "images": [*table.references.images],
        "units": judgments.units.tolist(),
        "files": sorted(judgments.data),
    }
    if isinstance(judgments, CaptionPairs):
        found |= {"preferred": judgments.preferred.tolist(), "of parts": judgments.parts.tolist()}
    elif isinstance(judgments, RatedCaptions):
        found["ratings"] = [each.tolist() for each in judgments.ratings]
    return {**found, "values": judgments.values(scores).tolist()}


@pytest.mark.parametrize("name", FILES)
def test_judgments_of_small_files_are_as_recorded(name: str, record: Record, tmp_path: Path) -> None:
    fill(tmp_path, FILES[name])
    found: dict[str, Any] = {}
    for protocol in names.get(name).protocols:
        try:
            judgments = load(tmp_path, protocol.full_name)
            assert isinstance(judgments, CaptionJudgments)
            found[protocol.name] = described(judgments)
        except CaptiousError as error:
            found[protocol.name] = {"error": error.message}
    record(f"files/{name}", found)


def flickr(ratings: str, captions: str) -> dict[str, str]:
    return {"flickr8k/ExpertAnnotations.txt": ratings, "flickr8k/Flickr8k.token.txt": captions}


RATED = "a.jpg\ta.jpg#0\t1\t2\t4"
TOKENS = "a.jpg#0\ta dog\na.jpg#1\ta cat\n"
CROWD = ["a.jpg\ta.jpg#0\t1\t3\t0", "a.jpg\ta.jpg#1\t1\t3\t0"]
JUDGED = r"a\.jpg are judged"
COPY = {"image": "a.jpg", "caption_id": "1", "candidate": "the dog", "scores": [1, 2, 3], "refs": ["a dog", "the dog"]}
SHARIF = {"distractors/pairs.jsonl": [distractor(1, task, "a", "b") for task in ("SP", "SS", "JP", "JS")]}
IIW = {"IIW": "a", "DOCCI": "b", "image": "1", **verdicts("DCI is marginally better", *["Neutral"] * 4)}
BROKEN_ENTRIES = [
    ({"filename": "000000000001.jpg", "caption": "a dog"}, "no negative_caption"),
    (ENTRY | {"filename": "cat.jpg"}, "'cat' is not a number"),
    (ENTRY | {"filename": "000000000002.jpg"}, "2 has no caption"),
    (ENTRY | {"caption": "A  CAT!", "filename": "000000000003.jpg"}, "no other caption"),
    ("a cat", "no filename"),
]
CELLS = ["a cat", "[]", "[1]", "__import__('os').getcwd()", "['a' * 9]", "[" * 300, "-" * 9000, "'a cat'"]
#: Protocol, files that differ from those above, the message, and what it says about the place.
BROKEN: list[tuple[str, dict[str, Any], str, str]] = [
    *(
        ("coco-2015", {"coco2015/teams.json": {"A": wrong}}, "do not have the expected format", "teams.json")
        for wrong in (["A"], {}, [], {"cap_c40": 3})
    ),
    ("coco-2015", {"coco2015/teams.json": "A"}, "not JSON", "teams.json"),
    ("conll14-gec", {"conll14_gec/systems.json": {"outputs": ["X"]}}, "do not have the expected format", ""),
    ("distractors", {"distractors/pairs.jsonl": [distractor(1, "XX", "a", "b")]}, "'XX' is not a task", "line 1"),
    ("distractors@sharif2019", SHARIF, "no pairs of RP, RS", ""),
    *(
        ("clotho-eval", {"fense/clotho_eval.json": [sounds(), sounds(HM=["a", "b", "x", "y", votes])]}, *said)
        for votes, said in (([2, 1], ("the votes of HM are not", "record 2")), ("yes", ("the votes of HM", "")))
    ),
    ("clotho-eval", {"fense/clotho_eval.json": [sounds(HM=["a", "b", "x", "y", [1, None]])]}, "the votes of HM", ""),
    *(
        ("foil-coco", {"foil/foilv1.0_test_2017.json": {"annotations": [foil(10, 1, "a", False), wrong]}}, *said)
        for wrong, said in (
            (foil(12, 1, "a cow", True), ("12 has no caption", "annotation 12")),
            (foil(10, 3, "a cow", True), ("3 has no caption", "annotation 10")),
        )
    ),
    ("hat", {"aloha/hat-trainval.json": [hat("1", "a", False), hat("2", "a", "no")]}, "neither true nor", "record 2"),
    ("iiw", {"iiw/DOCCI_Test.jsonl": [IIW], "iiw/IIW-400.jsonl": []}, "not a judgment of IIW and DOCCI", "line 1"),
    ("nebula", {"nebula/test-00001-of-00002.parquet": [{"file_name": "a", "mt": "b"}]}, "no column refs", "test-00001"),
    ("nebula", {"nebula/test-00001-of-00002.parquet": b"PAR1"}, "parquet", "test-00001"),
    *(
        ("polaris", {"polaris/polaris_test.csv": f'imgid,mt,refs,score\n1,a,"{cell}",1\n'}, "not a list", "csv, line 2")
        for cell in CELLS
    ),
    *(
        ("sugarcrepe", {"sugarcrepe/add_obj.json": {"0": ENTRY, "7": wrong}}, message, "add_obj.json, entry '7'")
        for wrong, message in BROKEN_ENTRIES
    ),
    (
        "sugarcrepe-pp@forced-choice",
        {"coco/captions_val2014.json": coco((2, "a"))},
        "1 has no caption",
        "replace_att.json, record 1",
    ),
    *(
        ("thumb", {"thumb/mscoco_THumB-1.0.jsonl": [thumb("A", "7", "a", 1, 1, 1), wrong]}, message, "jsonl, line 2")
        for wrong, message in (
            (thumb("A", "8", "a", 1, 1, 1), "8 has no caption"),
            (thumb("A", "7", "a", "high", 1, 1), "'high' is not a number"),
        )
    ),
    ("valse", {"coco/captions_val2014.json": coco((1, "a dog!"))}, "image 1 has no other", "plurals.json, entry '1'"),
    ("vatex-eval", vatex([[1, 2], [1, 2], [1, 2]]), r"4 candidates.*ratings of 2", ""),
    ("pascal-50s", {"pascal50s/pairs.jsonl": [pascal("MM", 2)]}, "neither 0 nor 1", ""),
    (
        "factvc",
        {"factvc/youcook2_factuality_annotation.json": {"y1": {"A": paragraph(7, "a .")}}},
        "7 is not a number between 1 and 5",
        "entry 'y1', A",
    ),
    ("factvc", {"factvc/youcook2_factuality_annotation.json": {"y2": {"A": paragraph(3)}}}, "y2 has no caption", ""),
    *(
        ("flickr8k-expert", flickr(ratings, captions), "", place)
        for ratings, captions, place in (
            (f"{RATED}\na.jpg\ta.jpg#0\t1\t2", TOKENS, "ExpertAnnotations.txt, line 2"),
            (f"{RATED}\n\na.jpg\ta.jpg#0\t1\t2\tx", TOKENS, "ExpertAnnotations.txt, line 3"),
            ("a.jpg\ta.jpg#0\t1\t2\t5", TOKENS, "ExpertAnnotations.txt, line 1"),
            ("a.jpg\ta.jpg#0\t1\tnan\t4", TOKENS, "ExpertAnnotations.txt, line 1"),
            ("a.jpg\tb.jpg#0\t1\t2\t4", TOKENS, "ExpertAnnotations.txt, line 1"),
            ("b.jpg\ta.jpg#0\t1\t2\t4", TOKENS, "ExpertAnnotations.txt, line 1"),
            (RATED, TOKENS + "a.jpg#1\ta cat\n", "Flickr8k.token.txt, line 3"),
            (RATED, TOKENS + "a.jpg\ta cat\n", "Flickr8k.token.txt, line 3"),
            (RATED, TOKENS + "a.jpg#2 a cat\n", "Flickr8k.token.txt, line 3"),
        )
    ),
    ("flickr8k-cf", {"flickr8k/CrowdFlowerAnnotations.txt": CROWD, "flickr8k/Flickr8k.token.txt": TOKENS}, JUDGED, ""),
]


#: The same of files without judgments.
EMPTY: list[tuple[str, dict[str, Any], str, str]] = [
    ("flickr8k-expert", flickr("\n", TOKENS), "", "ExpertAnnotations.txt"),
    ("flickr8k-expert", {"flickr8k/expert.jsonl": [COPY]}, "after excluding candidates that are among the", ""),
]
#: The same of files that are missing: those of None, or others than the protocol needs.
MISSING: list[tuple[str, dict[str, Any], str, str]] = [
    ("nebula", dict.fromkeys(FILES["nebula"]), "files of nebula are missing", "nebula/test-*.parquet"),
    ("nebula@corrected-tau-c", {"nebula/spica_train.csv": None}, r"spica_train\.csv was not found", ""),
    ("sugarcrepe", dict.fromkeys(SUGAR), "files of sugarcrepe are missing", "sugarcrepe/swap_obj.jsonl"),
    ("sugarcrepe", {"coco/captions_val2014.json": None}, "are missing", "or coco/captions_val2017.json"),
    ("sugarcrepe-pp@forced-choice", {"coco/captions_val2014.json": None}, r"val2017\.json was not found", ""),
    ("pascal-50s@sharif2019", {"pascal50s/pairs.jsonl": [pascal("MM")]}, "eleven votes of each pair are missing", ""),
    *(
        ("flickr8k-expert", {"flickr8k/ExpertAnnotations.txt": [RATED]}, "are missing", place)
        for place in ("flickr8k/expert.jsonl", "or flickr8k/Flickr8k.token.txt")
    ),
]


@pytest.mark.parametrize(
    ("kind", "name", "change", "message", "place"),
    [
        *((CaptionFileError, *case) for case in BROKEN),
        *((EmptyInputError, *case) for case in EMPTY),
        *((ResourceError, *case) for case in MISSING),
    ],
)
def test_files_of_other_forms_are_refused(
    kind: type[CaptiousError], name: str, change: dict[str, Any], message: str, place: str, tmp_path: Path
) -> None:
    files = {**FILES.get(name.partition("@")[0], {}), **change}
    fill(tmp_path, {file: content for file, content in files.items() if content is not None})
    with pytest.raises(kind, match=message or None) as caught:
        load(tmp_path, name)
    assert re.search(rf"{re.escape(place)}(?!\d)", caught.value.where)
    assert caught.value.hint


def test_protocols_of_a_benchmark_may_need_different_files(tmp_path: Path) -> None:
    def letters(candidate: str, references: list[str]) -> int:
        return len(candidate)

    fill(tmp_path, FILES["sugarcrepe-pp"])
    assert len(judge(["sugarcrepe-pp", "sugarcrepe-pp@forced-choice"], letters, data=tmp_path, resamples=5)) == 2


def test_metrics_get_no_references_where_there_are_none(tmp_path: Path) -> None:
    def n_words(candidates: list[str], references: list[list[str]]) -> list[int]:
        assert not any(references)
        return [len(text.split()) for text in candidates]

    fill(tmp_path, FILES["iiw"])
    values = {"iiw@docci-specificity": 1.0, "iiw@docci-comprehensiveness": 0.0}
    judgment = judge([*values], n_words, data=tmp_path, resamples=10)
    assert {name: result["n_words"].value for name, result in judgment.items()} == values
    assert "references" not in judgment["iiw@docci-specificity"]["n_words"].signature
    with pytest.raises(ParameterError, match="cider-d cannot be computed without references"):
        judge("iiw@iiw-400", "cider-d", data=tmp_path)


@pytest.mark.parametrize("kind", [None, object])
@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_pickles_of_all_protocols_are_read(protocol: int, kind: Any, tmp_path: Path) -> None:
    arrays = FILES["vatex-eval"]
    kinds = {name: array.dtype if array.dtype == float else kind for name, array in arrays.items()}
    found = [
        {name: pickle.dumps(np.array(arrays[name].tolist(), of), protocol) for name, of in kinds.items()},
        arrays,
    ]
    described_as = []
    for files in found:
        fill(tmp_path, files)
        judgments = load(tmp_path, "vatex-eval")
        assert isinstance(judgments, RatedCaptions)
        described_as.append(described(judgments))
    assert described_as[0] == described_as[1]


class Malicious:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("pwned",)


def test_pickles_are_not_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for value in (Malicious(), np.array([Malicious()], dtype=object)):
        fill(tmp_path, FILES["vatex-eval"] | {"vatex_eval/video_ids.pkl": value})
        with pytest.raises(CaptionFileError, match="this pickle cannot be read"):
            load(tmp_path, "vatex-eval")
    assert not Path("pwned").exists()
